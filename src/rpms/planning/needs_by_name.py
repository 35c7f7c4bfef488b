"""What comes of one need with every name that a parameter may have, each judged once in a step:
doubts of an action repeat most of its needs, and other facts leave the same parameter open.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from rpms.planning.wanted_facts import Judged, Need


class JudgedWith(NamedTuple):
    """A need, judged with one name."""

    judged: Judged
    read: Sequence[tuple[Any, Any]]
    """The answers from which this follows."""


Judge = Callable[[Need, Mapping[str, str]], JudgedWith]


class NeedByName(dict[str, JudgedWith]):
    """A need of a parameter that has no name yet: by name, judged when first asked for."""

    def __init__(
        self, need: Need, parameter: str, binding: Mapping[str, str], judge: Judge
    ) -> None:
        """`binding`: the names of the need's other parameters."""
        super().__init__()
        self.moving = need.moving
        self._need = need
        self._parameter = parameter
        self._binding = binding
        self._judge = judge

    def __missing__(self, name: str) -> JudgedWith:
        found = self._judge(self._need, {**self._binding, self._parameter: name})
        self[name] = found
        return found
