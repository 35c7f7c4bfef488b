"""Names of weights, `BASE` or `BASE+ADAPTER`, and the record of what a taught model was taught
on.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rpms.foreign.file_reader import is_there, read_text
from rpms.foreign.json_text import NotJson, as_object, from_json, loads
from rpms.foreign.limits import LARGEST_TABLE
from rpms.logic.errors import FileError, InputError

MODEL_CONFIG = "config.json"
"""The file by which transformers knows a model's folder."""
ADAPTER_CONFIG = "adapter_config.json"
"""The file by which PEFT knows an adapter's folder."""
TAUGHT = "teaching.json"
"""The file in which a taught model says what it was taught."""


class WeightsName(NamedTuple):
    """Weights by their places: a folder, a `.gguf` file, or a name on a hub."""

    base: str
    adapter: str = ""
    """Low-rank weights to be added to the base; empty for none."""

    @property
    def last(self) -> str:
        """The place of what was trained last."""
        return self.adapter or self.base


def read_weights(text: str) -> WeightsName:
    """Take `BASE+ADAPTER` apart.

    A path that is there as it is written is no pair; an adapter alone names its base.
    """
    path = Path(text).expanduser()
    if not is_there(path):
        base, plus, adapter = text.rpartition("+")
        if plus and base and adapter:
            return WeightsName(base, adapter)
    if is_there(path / ADAPTER_CONFIG) and not is_there(path / MODEL_CONFIG):
        return WeightsName(_base_of(path), text)
    return WeightsName(text)


def _base_of(adapter: Path) -> str:
    file = adapter / ADAPTER_CONFIG
    with suppress(NotJson):
        base = as_object(loads(read_text(file, LARGEST_TABLE))).get("base_model_name_or_path")
        if isinstance(base, str) and base:
            return base
    raise FileError(
        file, None, "does not say which model it is an adapter of: write hf/BASE+ADAPTER"
    )


@dataclass(frozen=True)
class Taught:
    """The record of a model's teaching, kept beside its weights."""

    world: str
    base: str
    tasks: tuple[str, ...]
    splits: tuple[str, ...]
    conditions: tuple[str, ...]
    pairs: int
    corrections: int
    """Pairs that correct a student."""
    hash: str
    """SHA-256 of the weights."""
    settings: dict[str, str | int | float | bool]
    versions: dict[str, str]
    seconds: float
    """The seconds that the training took. After a stop, those since it went on."""
    tokens: int
    losses: tuple[tuple[int, float], ...]
    """Mean loss of the completions, by step."""
    rounds: int = 0
    """Students that were corrected, one after the other."""
    thoughts: tuple[str, ...] = ()
    """The ways in which its thoughts say the sub-goal; empty if the pairs do not tell."""


def taught_of(name: str) -> Taught | None:
    """The record of a taught model, by its name after `hf/`; None for weights without one."""
    file = Path(read_weights(name).last).expanduser() / TAUGHT
    if not is_there(file):
        return None
    try:
        return from_json(Taught, loads(read_text(file, LARGEST_TABLE)))
    except NotJson as error:
        raise FileError(file, None, f"is no record of teaching: {error}") from None


def check_weights(name: str, text: str) -> None:
    """Refuse paths at which there is nothing, and folders that hold no weights. Names on a hub are
    not looked at.

    `name`: for the message.
    """
    weights = read_weights(text)
    for place in (weights.base, weights.adapter):
        path = Path(place).expanduser()
        on_a_hub = place[:1] not in "/.~" and path.suffix != ".gguf"
        if place and not on_a_hub and not is_there(path):
            raise InputError(f"{name}: there is no such file or folder as {place}")
    base = Path(weights.base).expanduser()
    if base.is_dir() and not is_there(base / MODEL_CONFIG):
        raise InputError(f"{weights.base}: is no model: it has no {MODEL_CONFIG}")
    if weights.adapter:
        _check_adapter(name, weights.adapter)


def _check_adapter(name: str, adapter: str) -> None:
    """Refuse a folder that holds no adapter, and a name that no adapter on a hub can have."""
    folder = Path(adapter).expanduser()
    if "/" not in adapter and not is_there(folder):
        raise InputError(
            f"{name}: there is no folder {adapter} here, and an adapter on the hub is called"
            " OWNER/NAME"
        )
    if folder.is_dir() and not is_there(folder / ADAPTER_CONFIG):
        raise InputError(f"{name}: {adapter} is no adapter: it has no {ADAPTER_CONFIG}")
