"""From `provider/name` to a model that answers: providers, from `known.toml`, and what each
needs to be there.
"""

import importlib.util
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from rapidfuzz import process

from rpms.foreign.limits import LONGEST_NUMBER
from rpms.foreign.own_code import error_in_words, names_code
from rpms.logic.errors import ANY_ERROR, InputError, ModelUnavailable, RPMSError
from rpms.models.accounting import KNOWN
from rpms.models.base import Model, Scalar, ShorteningModel
from rpms.models.constraint import LLAMACPP, OPENAI, VLLM, ConstraintForm
from rpms.models.hf.adapters import Taught, check_weights, taught_of
from rpms.models.own import open_own
from rpms.models.patience import Patience
from rpms.models.policy import (
    PolicyModel,
    follow_plan,
    menu_best,
    menu_first,
    menu_random,
    read_script,
)
from rpms.models.recorded import AnswerStore, RecordedModel, ReplayModel
from rpms.models.secrets import check_base_url, is_loopback, shown_url

Backend = Enum(
    "Backend",
    "OPENAI ANTHROPIC HF INSTALLED PLANNER SCRIPTED REPLAY HUMAN MENU_RANDOM MENU_FIRST MENU_BEST",
)
"""Protocols by which providers are asked; INSTALLED: registered by another package under
`rpms.models`."""
ENTRY_POINTS = "rpms.models"
IN_PROCESS = frozenset({Backend.HF})
"""Backends that load weights, which takes long."""
FROM_MENU = frozenset({Backend.MENU_RANDOM, Backend.MENU_FIRST, Backend.MENU_BEST})
"""Backends that choose from a step's menu, and can do nothing without one."""
NO_LLM = frozenset({Backend.PLANNER, Backend.SCRIPTED, Backend.REPLAY, Backend.HUMAN}) | FROM_MENU
"""Backends that read no tokens and cost nothing."""
NO_PROMPT = FROM_MENU | {Backend.PLANNER, Backend.SCRIPTED}
"""Backends whose answers do not depend on the words of a prompt."""


@dataclass(frozen=True, slots=True)
class Provider:
    """One way to get answers."""

    name: str
    what: str
    backend: Backend = Backend.OPENAI
    rest: str = "MODEL"
    """Text after the slash; empty if the provider's name is the whole name."""
    base_url: str | None = None
    """Default address; None for a provider that has no address, or none to guess."""
    key_needed: bool = True
    extra: str | None = None
    package: str | None = None
    """The module that the extra brings."""
    forms: tuple[ConstraintForm, ...] = ()
    """Ways to hold the action to choices, tried in this order."""
    rest_optional: bool = False
    base_url_variable: str | None = None
    """The environment variable that moves it to another address."""
    key_variable: str | None = None

    @property
    def form(self) -> str:
        if self.rest_optional:
            return f"{self.name}[/{self.rest}]"
        return f"{self.name}/{self.rest}" if self.rest else self.name


def _provider(name: str, backend: str = "openai", forms: str = "", **given: Any) -> Provider:
    ways = {"openai": OPENAI, "vllm": VLLM, "llamacpp": LLAMACPP, "": ()}
    if backend in ("openai", "anthropic"):
        variable = name.upper().replace("-", "_")
        given = {
            "base_url_variable": f"{variable}_BASE_URL",
            "key_variable": f"{variable}_API_KEY",
            **given,
        }
    return Provider(name, backend=Backend[backend.upper()], forms=ways[forms], **given)


PROVIDERS: dict[str, Provider] = {
    name: _provider(name, **fields) for name, fields in KNOWN["providers"].items()
}


OWN = Provider("", "a model in a Python module of your own", Backend.INSTALLED, "MODULE:NAME")


@dataclass(frozen=True, slots=True)
class ModelName:
    """`provider/name`, taken apart."""

    provider: Provider
    rest: str
    """The model, path or folder after the first slash; it may hold slashes itself."""

    def __str__(self) -> str:
        if self.provider is OWN:
            return self.rest
        return f"{self.provider.name}/{self.rest}" if self.rest else self.provider.name


def parse_model_name(text: str) -> ModelName:
    """Take `provider/name` apart; an unknown provider is an InputError that lists the known
    ones, nearest first. `module:name` is one of the user's own: nothing is imported here.
    """
    if names_code(text):
        return ModelName(OWN, text)
    name, _, rest = text.strip().partition("/")
    provider = PROVIDERS.get(name.lower()) or _installed(name)
    if provider is None:
        raise _no_provider(text, name)
    if provider.rest and not rest and not provider.rest_optional:
        raise InputError(f"--model {text[:80]!r}: write {provider.form}")
    if rest and not provider.rest:
        raise InputError(f"--model {text[:80]!r}: write {provider.name} alone")
    return ModelName(provider, rest)


def _no_provider(text: str, name: str) -> InputError:
    matches = process.extract(name.lower(), list(PROVIDERS), limit=2, score_cutoff=75)
    near = [provider for provider, _, _ in matches]
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return InputError(
        f"--model {text[:80]!r}: there is no provider {name[:40]!r}.{hint} Known:"
        f" {', '.join(PROVIDERS)}; or MODULE:NAME, a model of your own"
    )


def backend_of(model: str) -> Backend | None:
    """Kind of a model by its name; None for one that only Python code knows, and for no name."""
    if not model:
        return None
    with suppress(InputError):
        return parse_model_name(model).provider.backend
    return None


def _installed(name: str) -> Provider | None:
    """A provider that another package registers: its entry point is called with the rest of the
    name.
    """
    found = next((point for point in entry_points(group=ENTRY_POINTS) if point.name == name), None)
    if found is None:
        return None
    package = found.dist.name if found.dist else found.module
    return Provider(name, f"of the package {package}", Backend.INSTALLED, rest_optional=True)


def base_url_of(provider: Provider, given: str | None = None) -> str | None:
    """The address in force: the one given, the environment's, or the default."""
    return given or os.environ.get(provider.base_url_variable or "") or provider.base_url


def missing_extra(provider: Provider) -> str:
    """Packages to install, in words; empty if all is here."""
    if not provider.package or importlib.util.find_spec(provider.package) is not None:
        return ""
    return f"needs pip install 'rpms[{provider.extra}]'"


class _Access(NamedTuple):
    """The address in force, and the key, which no error text ever holds."""

    url: str
    key: str | None


def _access_to(provider: Provider, given: str | None = None) -> _Access:
    """The way to a provider; its key comes from the environment alone."""
    url = base_url_of(provider, given)
    if url is None:
        either = f"--base-url or {provider.base_url_variable}"
        raise InputError(f"{provider.form} needs {either}, such as http://localhost:8000/v1")
    check_base_url(url)
    return _Access(url, _key_of(provider))


def _key_of(provider: Provider) -> str | None:
    """The key for a provider, from the environment; None if there is none. A provider that needs
    one is unavailable then.
    """
    variable = provider.key_variable
    key = os.environ.get(variable, "").strip() if variable else ""
    if key and not (key.isascii() and key.isprintable()):
        raise ModelUnavailable(
            f"the environment variable {variable} holds characters that no key has"
        )
    if not key and provider.key_needed:
        raise ModelUnavailable(
            f"{provider.name} needs a key: set the environment variable {variable}"
        )
    return key or None


class Availability(NamedTuple):
    """State of a provider: ready if nothing is known to be missing."""

    ready: bool
    why: str


def available(provider: Provider) -> Availability:
    """Look if a provider can be used. No key is tried, and only servers on this machine are
    called.
    """
    lacking = missing_extra(provider)
    if lacking:
        return Availability(False, lacking)
    if provider.base_url_variable is None:
        return Availability(True, f"rpms[{provider.extra}] is installed" if provider.extra else "")
    try:
        url = _access_to(provider).url
    except RPMSError as error:
        return Availability(False, str(error))
    if not is_loopback(url):
        key = f"{provider.key_variable} is set, " if provider.key_needed else ""
        return Availability(True, f"{key}{shown_url(url)}")
    if not _listens(url):
        return Availability(False, f"no server listens at {shown_url(url)}")
    return Availability(True, f"a server listens at {shown_url(url)}")


def _listens(url: str) -> bool:
    parts = urlsplit(url)
    usual = 443 if parts.scheme == "https" else 80
    address = (parts.hostname or "localhost", parts.port or usual)
    try:
        socket.create_connection(address, timeout=0.5).close()
    except OSError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options, beside its name, by which a model is reached."""

    base_url: str | None = None
    """Address of the server; the provider's own and its environment variable give way to it."""
    patience: Patience = field(default_factory=Patience)
    batch: int = 256
    """`hf/`: prompts computed together at most; the device's memory may allow fewer."""
    replay_model: str | None = None
    """`replay/`: the model whose answers are replayed, if a record holds those of several."""


def open_model(
    text: str,
    options: ModelOptions | None = None,
    *,
    open_answers: Callable[[Path], AnswerStore] | None = None,
    record: AnswerStore | None = None,
) -> Model:
    """Open the model that `provider/name` names.

    `open_answers`: for `replay/`; `record`: keeps answers.
    """
    name = parse_model_name(text)
    options = options or ModelOptions()
    if name.provider.backend not in NO_LLM:
        model = ShorteningModel(_open_llm(name, options))
        return model if record is None else RecordedModel(model, record)
    if record is not None:
        raise InputError(
            f"--model {name}: only answers of an LLM can be recorded, since only they follow from"
            " the prompt"
        )
    return _open_policy(name, options, open_answers)


def _open_policy(
    name: ModelName, options: ModelOptions, open_answers: Callable[[Path], AnswerStore] | None
) -> Model:
    """A program, a script or a record that answers in place of a language model."""
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
        case Backend.MENU_FIRST:
            return menu_first(str(name))
        case Backend.MENU_BEST:
            return menu_best(str(name))
        case _:
            raise InputError(
                "--model human: a person plays one episode at a terminal, with `rpms play` alone"
            )


def check_openable(text: str, options: ModelOptions | None = None, **stores: Any) -> None:
    """Raise what opening a model would raise, if that shows without loading weights or asking a
    server.
    """
    name = parse_model_name(text)
    if name.provider.backend not in IN_PROCESS:
        open_model(text, options, **stores).close()
        return
    check_weights(str(name), name.rest)
    if lacking := missing_extra(name.provider):
        raise ModelUnavailable(f"{name} {lacking}")


def _open_llm(name: ModelName, options: ModelOptions) -> Model:
    """A language model: one's own, an installed one, weights in this process, or one that a server
    answers for.
    """
    provider = name.provider
    if provider.backend in IN_PROCESS:
        check_weights(str(name), name.rest)
    if provider is OWN:
        return open_own(name.rest)
    if provider.backend is Backend.INSTALLED:
        return _load_installed(name)
    if provider.backend is Backend.HF:
        from rpms.models.hf.model import HFModel  # noqa: PLC0415  an extra

        return HFModel(str(name), name.rest, most_prompts=options.batch)
    from rpms.models.claude import ClaudeModel  # noqa: PLC0415  what few commands need
    from rpms.models.remote import RemoteModel  # noqa: PLC0415  what few commands need

    url, key = _access_to(provider, options.base_url)
    reached: Any = {"key": key, "key_variable": provider.key_variable, "patience": options.patience}
    if provider.backend is Backend.ANTHROPIC:
        return ClaudeModel(str(name), name.rest, url, **reached)
    return RemoteModel(str(name), name.rest, url, forms=provider.forms, **reached)


def _load_installed(name: ModelName) -> Model:
    """The model of another package: its entry point is called with what follows the provider's
    name.
    """
    (point, *_) = entry_points(group=ENTRY_POINTS, name=name.provider.name)
    try:
        made: Model = point.load()(name.rest)
    except RPMSError:
        raise
    except ANY_ERROR as error:  # a stranger's package may raise anything
        raise ModelUnavailable(f"{name} cannot be opened: {error_in_words(error)}") from None
    for each in ("answer", "close", "name"):
        if not hasattr(made, each):
            raise ModelUnavailable(f"{name} is no model: what {point.value} makes has no {each}")
    return made


def taught_on(model: str) -> Taught | None:
    """The record of what a model was taught on, by its name as after `--model`.

    None where nobody taught it, or nothing says so.
    """
    try:
        name = parse_model_name(model)
    except InputError:  # a model that only Python code knows
        return None
    return taught_of(name.rest) if name.provider.backend is Backend.HF else None


def parse_parameter(text: str) -> tuple[str, Scalar]:
    """Read `name=value`, a decoding parameter of the provider's own; numbers, true and false are
    read as such.
    """
    name, sign, value = map(str.strip, text.partition("="))
    if not sign or not name.isidentifier():
        raise InputError(
            f"{text[:60]!r}: write a decoding parameter as name=value, such as top_k=20"
        )
    if value.lower() in {"true", "false"}:
        return name, value.lower() == "true"
    for number in (int, float):
        with suppress(ValueError):
            found = number(value)
            if not abs(found) <= LONGEST_NUMBER:  # infinity and what is no number too
                raise InputError(f"{name}={value[:40]}: the number is too large")
            return name, found
    return name, value
