"""Dialects of ALFWorld's games, and proof that a game's texts mean what the engine does.

The engine does not interpret actions: it implements ALFWorld's. So what each action of a file means and says is
compared with this project's own texts, and a file with any other action or wording is refused. The two releases differ
in four places, each recognised on its own, so a mixture of them plays as its texts say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from rpms.worlds.alfworld.engine import domain as domains
from rpms.worlds.alfworld.engine import grammar as grammars
from rpms.worlds.alfworld.engine import texts
from rpms.worlds.alfworld.engine.domain import Domain, Meaning
from rpms.worlds.alfworld.engine.errors import Damage, quoted
from rpms.worlds.alfworld.engine.grammar import Grammar
from rpms.worlds.alfworld.engine.texts import DIALECTS, ReleaseName

_TASK = "\n\nYour task is to: "


@dataclass(frozen=True, slots=True)
class Dialect:
    """Differences between games of the two releases."""

    name: ReleaseName
    arrives_at_location: bool
    """`go to` answers with the location's name (0.3) or the receptacle's (0.4)."""
    any_sink: bool
    """A receptacle of type Sink cleans too (0.3), not only a SinkBasin."""
    help: str | None
    """Answer to `help`, where it is a command."""


@cache
def _meant(dialect: ReleaseName) -> Mapping[str, Meaning]:
    """What each action needs and does, by this project's own domain."""
    return domains.read(texts.domain(dialect)).actions


@cache
def _worded(dialect: ReleaseName) -> Mapping[str, Meaning]:
    """What each action says, by this project's own grammar."""
    return _said(_meant(dialect), grammars.read(texts.grammar(dialect, "")))[0]


@lru_cache(maxsize=8)
def read_domain(text: str) -> Domain:
    """Read a domain and refuse it unless its actions are ALFWorld's. Remembered, since games share their domain."""
    domain = domains.read(text)
    for action in _meant("0.4"):
        if action == "help" and action not in domain.actions:
            continue
        if action not in domain.actions:
            raise Damage(f"lacks ALFWorld's action {action!r}")
        if domain.actions[action] not in [_meant(dialect).get(action) for dialect in DIALECTS]:
            raise Damage(f"defines action {action!r} in another way than ALFWorld")
    if unknown := sorted(domain.actions.keys() - _meant("0.4").keys()):
        raise Damage(f"has an action {quoted(unknown[0])} that ALFWorld does not have")
    return domain


def recognise(domain: Domain, grammar: Grammar) -> tuple[Dialect, str]:
    """The dialect of a game and its goal sentence. Raises Damage when its wording is not ALFWorld's."""
    said, helped, goal = _said(domain.actions, grammar)
    old = _worded("0.3")
    for action, seen in said.items():
        if seen not in (old[action], _worded("0.4")[action]):
            raise Damage(f"words {action!r} in another way than ALFWorld")
    dialect = Dialect(
        name="0.3" if said["putobject"] == old["putobject"] else "0.4",
        arrives_at_location=said["gotolocation"] == old["gotolocation"],
        any_sink=domain.actions["cleanobject"] == _meant("0.3")["cleanobject"],
        help=helped,
    )
    return dialect, goal


def _said(actions: Mapping[str, Meaning], grammar: Grammar) -> tuple[dict[str, Meaning], str | None, str]:
    """The command and the answer of each action and the intro without its goal; the answer to `help`; the goal."""
    said: dict[str, Meaning] = {}
    helped: str | None = None
    for action in actions:
        text = grammar.actions.get(action)
        if text is None:
            raise Damage(f"has no texts for action {action!r}")
        answer = grammar.meaning(text.feedback)
        if action == "help":
            helped = answer[0] if len(answer) == 1 and isinstance(answer[0], str) else None
            if helped is None or text.template != "help":
                raise Damage("words action 'help' in another way than ALFWorld")
        else:
            said[action] = (grammar.meaning(text.template), answer)
    *intro, last = grammar.meaning("#intro#") or (None,)
    if not isinstance(last, str) or not last.startswith(_TASK):
        raise Damage("does not end its intro with a plain 'Your task is to: …'")
    said["intro"] = tuple(intro)
    return said, helped, last.removeprefix(_TASK)
