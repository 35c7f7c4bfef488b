"""From `provider/name` to a model that answers."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from rpms.core.errors import InputError, ModelUnavailable, RPMSError
from rpms.foreign.files import is_there
from rpms.foreign.limits import LONGEST_NUMBER
from rpms.foreign.shown import excerpt
from rpms.models.base import Model, Scalar, ShorteningModel
from rpms.models.patience import Patience
from rpms.models.policy import PolicyModel, follow_plan, menu_best, menu_first, menu_random, read_script
from rpms.models.providers import (
    ENTRY_POINTS,
    IN_PROCESS,
    NO_LLM,
    Backend,
    ModelName,
    Provider,
    base_url_of,
    missing_extra,
    parse_model_name,
)
from rpms.models.recorded import AnswerStore, RecordedModel, ReplayModel
from rpms.models.secrets import check_base_url


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options, beside its name, by which a model is reached."""

    base_url: str | None = None
    """Address of the server; the provider's own and its environment variable give way to it."""
    patience: Patience = field(default_factory=Patience)
    batch: int = 256
    """`hf/`: prompts computed together at most; the device's memory may allow fewer."""
    context: int = 8_192
    """`gguf/`: tokens of context, prompt and answer together."""
    contexts: int = 8
    """`gguf/`: episodes whose computed prefix is kept at most."""
    replay_model: str | None = None
    """`replay/`: whose answers to replay, where a record holds those of several models."""


def open_model(
    text: str,
    options: ModelOptions | None = None,
    *,
    open_answers: Callable[[Path], AnswerStore] | None = None,
    record: AnswerStore | None = None,
) -> Model:
    """Open the model that `provider/name` names. `open_answers`: for `replay/`; `record`: keeps answers."""
    name = parse_model_name(text)
    options = options or ModelOptions()
    if name.provider.backend in NO_LLM and record is not None:
        raise InputError(
            f"--model {name}: only answers of an LLM can be recorded, since only they follow from the prompt"
        )
    match name.provider.backend:
        case Backend.PLANNER:
            return PolicyModel(str(name), follow_plan)
        case Backend.SCRIPTED:
            return read_script(Path(name.rest), str(name))
        case Backend.REPLAY:
            if open_answers is None:
                raise InputError("--model replay/…: no store of answers can be opened here")
            return ReplayModel(str(name), open_answers(Path(name.rest)), options.replay_model)
        case Backend.MENU_RANDOM:
            return menu_random(str(name), name.rest or "0")
        case Backend.MENU_FIRST | Backend.MENU_BEST:
            return (menu_first if name.provider.backend is Backend.MENU_FIRST else menu_best)(str(name))
        case Backend.HUMAN:
            raise InputError("--model human: a person plays one episode at a terminal, with `rpms play` alone")
        case _:
            model = ShorteningModel(_open_llm(name, options))
            return model if record is None else RecordedModel(model, record)


def check_openable(text: str, options: ModelOptions | None = None, **stores: Any) -> None:
    """Raise what opening a model would, as far as that is known at once: no weights are loaded, and nobody is asked."""
    name = parse_model_name(text)
    if name.provider.backend not in IN_PROCESS:
        open_model(text, options, **stores).close()
        return
    _check_weights(name)
    if lacking := missing_extra(name.provider):
        raise ModelUnavailable(f"{name} {lacking}")


def _open_llm(name: ModelName, options: ModelOptions) -> Model:
    provider = name.provider
    if provider.backend in IN_PROCESS:
        _check_weights(name)
    if provider.backend is Backend.INSTALLED:
        return _load_installed(name)
    if provider.backend is Backend.HF:
        from rpms.models.hf.model import HFModel  # noqa: PLC0415  an extra

        return HFModel(str(name), name.rest, most_prompts=options.batch)
    if provider.backend is Backend.GGUF:
        from rpms.models.local_gguf import GGUFModel  # noqa: PLC0415  an extra

        return GGUFModel(str(name), Path(name.rest).expanduser(), context=options.context, contexts=options.contexts)
    from rpms.models.remote import ClaudeModel, RemoteModel  # noqa: PLC0415  what few commands need

    claude = provider.backend is Backend.ANTHROPIC
    opened: Callable[..., Model] = ClaudeModel if claude else partial(RemoteModel, forms=provider.forms)
    url, key = _base_url(provider, options.base_url), _key(provider)
    return opened(str(name), name.rest, url, key=key, key_variable=provider.key_variable, patience=options.patience)


def _load_installed(name: ModelName) -> Model:
    """The model of another package: its entry point is called with what follows the provider's name."""
    point = next(point for point in entry_points(group=ENTRY_POINTS) if point.name == name.provider.name)
    try:
        made: Model = point.load()(name.rest)
    except RPMSError:
        raise
    except Exception as error:  # noqa: BLE001  a stranger's package may raise anything
        raise ModelUnavailable(f"{name} cannot be opened: {excerpt(f'{type(error).__name__}: {error}')}") from None
    if lacking := [each for each in ("answer", "close", "name") if not hasattr(made, each)]:
        raise ModelUnavailable(f"{name} is no model: what {point.value} makes has no {lacking[0]}")
    return made


def _check_weights(name: ModelName) -> None:
    """Refuse a path at which there is nothing; what transformers is given may be a name on a hub instead."""
    path = Path(name.rest).expanduser()
    on_a_hub = name.provider.backend is Backend.HF and name.rest[0] not in "/.~" and path.suffix != ".gguf"
    if not on_a_hub and not is_there(path):
        raise InputError(f"{name}: there is no such file or folder")


def _base_url(provider: Provider, given: str | None) -> str:
    url = base_url_of(provider, given)
    if url is None:
        raise InputError(f"{provider.form} needs --base-url, such as http://localhost:8000/v1")
    check_base_url(url)
    return url


def _key(provider: Provider) -> str | None:
    """The key, from the environment alone. No error text ever holds it."""
    variable = provider.key_variable
    key = os.environ.get(variable, "").strip() if variable else ""
    if key and not (key.isascii() and key.isprintable()):
        raise ModelUnavailable(f"the environment variable {variable} holds characters that no key has")
    if not key and provider.key_needed:
        raise ModelUnavailable(f"{provider.name} needs a key: set the environment variable {variable}")
    return key or None


def parse_parameter(text: str) -> tuple[str, Scalar]:
    """Read `name=value`, a provider's own decoding parameter; numbers and true or false are read as such."""
    name, sign, value = text.partition("=")
    name, value = name.strip(), value.strip()
    if not sign or not name.isidentifier():
        raise InputError(f"{text[:60]!r}: write a decoding parameter as name=value, such as top_k=20")
    if value.lower() in {"true", "false"}:
        return name, value.lower() == "true"
    for number in (int, float):
        try:
            found = number(value)
        except ValueError:
            continue
        if not abs(found) <= LONGEST_NUMBER:  # infinity and what is no number too
            raise InputError(f"{name}={value[:40]}: the number is too large")
        return name, found
    return name, value
