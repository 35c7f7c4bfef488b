"""Settings past the paper: how far executability is enforced rather than advised.

All off is the paper. Every part can be switched on alone; `rpms.planning` acts on them.
"""

from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Any

from rpms.logic.errors import InputError, nearest


class GuardMode(StrEnum):
    """Treatment of an action known to be infeasible."""

    OFF = "off"
    ADVISE = "advise"
    """It is done, and the world's bare refusal is followed by the reason."""
    BLOCK = "block"
    """It is not done: the model is told the reason and asked again."""


class Consistency(StrEnum):
    """Comparison of an experience with the present state."""

    WORLD = "world"
    """The paper's: hand occupancy, or the world's own conditions."""
    PRECONDITION = "precondition"
    """It suits if its actions, simulated from here, need nothing that is known to be false."""


class JudgedBy(StrEnum):
    """Scope in which arbitration judges an entry."""

    ENTRY = "entry"
    """The paper's: dropped for what breaks a rule in whatever room and state it is used."""
    HERE = "here"
    """The whole entry, followed from the present state: dropped too if it cannot be done here."""
    ACTION = "action"
    """Each action, followed from the present state: actions that cannot be done are cut, the rest
    is kept."""


class Repair(StrEnum):
    """Corrections of an action before it reaches the world."""

    OFF = "off"
    """Nothing."""
    FORM = "form"
    """Letter case, signs, articles, synonyms of the same command."""
    BELIEF = "belief"
    """Also what the belief can add: a missing number, place or tool, where only one fits."""


class Calls(StrEnum):
    """Form of the calls in a world whose actions are tool calls."""

    TEXT = "text"
    """After `Action:`, as every other action."""
    NATIVE = "native"
    """Tool calls of its server; with a menu, of the tools and values on the menu alone."""


class Constrained(StrEnum):
    """Constrained decoding of the action: to the menu, or without one to the manual's actions."""

    OFF = "off"
    AUTO = "auto"
    """If the model's backend can."""
    ON = "on"
    """It must: a backend that cannot is an error."""


@dataclass(frozen=True)
class Enforcement:
    """The options. All off is the paper."""

    guard: GuardMode = GuardMode.OFF
    reasks: int = 2
    """Number of re-asks at one step before the answer is taken as it is; each is a request."""
    replace: bool = False
    """True if an answer that still fails is replaced by the menu's best entry; otherwise it is
    executed."""
    menu: int = 0
    """Entries of the menu; 0 for none."""
    slack: int = 0
    """Steps a plan may be longer than the best one for the menu to hold its first action; 0 for
    any number."""
    ranked: bool = True
    """True if the menu's entries are chosen by the sub-goal; otherwise they are taken as they
    come."""
    constrained: Constrained = Constrained.OFF
    guidance: bool = False
    """True if the goal block says where to look, what was achieved and what already failed."""
    loops: bool = False
    """True if a repeated failure or a cycle of states is named to the model."""
    unstick: bool = False
    """True if a stuck episode falls back on the menu's best entry; reported when used."""
    consistency: Consistency = Consistency.WORLD
    judged_by: JudgedBy = JudgedBy.ENTRY
    adapt: bool = False
    """True if experience is bound to the present room, and lessons act; otherwise it is shown
    as it was stored."""
    compact: bool = False
    """True if only the rules and actions that matter at the current sub-goal are shown."""
    recent: int = 0
    """Past turns that are shown, without their thoughts; 0 for all of them as they were. The
    belief knows the rest."""
    doubt: bool = False
    """True if lines of the manual that were contradicted are trusted less, and no refused
    command is repeated."""


PAPER = Enforcement()
STRICT = Enforcement(
    guard=GuardMode.BLOCK,
    menu=5,
    slack=4,
    constrained=Constrained.AUTO,
    guidance=True,
    loops=True,
    adapt=True,
    compact=True,
    recent=3,
    doubt=True,
)
PRESETS = {"paper": PAPER, "strict": STRICT}
PARTS = tuple(field.name for field in fields(Enforcement))
_MOST = {"menu": 100, "slack": 100, "reasks": 10, "recent": 1_000_000}


def with_part(enforcement: Enforcement, name: str, value: object) -> Enforcement:
    """The options with one part changed to a value, given as text or as YAML reads it; a wrong one
    is an InputError.
    """
    if name not in PARTS:
        raise InputError(f"there is no part {name!r}; {nearest(name, PARTS)}")
    kind = type(getattr(PAPER, name))
    text = str(value).lower()
    chosen: Any
    if kind is int:
        most = _MOST[name]
        words = f"a whole number from 0 to {most:,}"
        chosen = _number(text, most)
    else:
        choices = _choices(kind)
        *others, last = choices
        words = f"{', '.join(others)} or {last}"
        text = {"true": "on", "false": "off"}.get(text, text)
        chosen = choices.get(text)
    if chosen is None:
        given = value if isinstance(value, str) else text
        raise InputError(f"{given!r} is no value of {name}: choose {words}")
    return replace(enforcement, **{name: chosen})


def _number(text: str, most: int) -> int | None:
    """The number that digits say; None for any other text, and above the most."""
    if not text.isdecimal() or len(text) > len(str(most)):
        return None
    return int(text) if int(text) <= most else None


def _choices(kind: type) -> dict[str, object]:
    """The values of a part by their names."""
    if issubclass(kind, StrEnum):
        return {str(each): each for each in kind}
    return {"on": True, "off": False}
