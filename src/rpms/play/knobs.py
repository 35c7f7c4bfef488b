"""The knobs of an experiment as a command line's help tells them: light, so that a typing error
is answered at once.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class Knob(NamedTuple):
    """A knob in words: what it does, and the values that may be given."""

    doc: str
    values: str
    tasks: bool = False
    """True if it chooses what is played."""
    paper: str | None = None
    strict: str | None = None
    """Values that the presets give it."""


_TOLD = tomllib.loads(Path(__file__).with_name("knobs.toml").read_text(encoding="utf-8"))
KNOBS: Mapping[str, Knob] = {name: Knob(**told) for name, told in _TOLD.items()}
