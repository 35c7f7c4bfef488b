"""The entries of a manual as people write them, section by section.

What has no default must be given.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class _Timed:
    steps: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.steps <= 1_000:
            raise ValueError("steps: should be above 0 and at most 1,000")


@dataclass(frozen=True)
class ForbidsForm:
    """A prohibition of a rule, and its conditions."""

    action: str
    when: tuple[str, ...] = ()


@dataclass(frozen=True)
class RuleForm:
    """An entry of tier 1 or 2."""

    text: str
    goals: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    forbids: tuple[ForbidsForm, ...] = ()
    category: str = ""
    objects: tuple[str, ...] = ()
    places: tuple[str, ...] = ()


@dataclass(frozen=True)
class ActionForm(_Timed):
    """An entry of tier 3."""

    syntax: tuple[str, ...]
    preconditions: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    critical: tuple[str, ...] = ()
    id: str = ""
    observes: tuple[str, ...] = ()
    plan: tuple[str, ...] = ()
    told: bool = True


@dataclass(frozen=True)
class ProcessForm(_Timed):
    """An effect of time."""

    command: str
    needs: tuple[str, ...] = ()
    effects: tuple[str, ...] = ()
    observes: tuple[str, ...] = ()
    once: tuple[str, ...] = ()


@dataclass(frozen=True)
class DriveForm:
    """Devices that drive a number one way."""

    fact: str
    direction: str
    devices: tuple[str, ...]
    at: str
    on: tuple[str, ...] = ()
    fit: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    gently: tuple[str, ...] = ()
    when: tuple[str, ...] = ()


@dataclass(frozen=True)
class TurnForm:
    """A fact about the number at which a thing changes its state, and the states on both sides."""

    fact: str
    below: tuple[str, ...]
    above: tuple[str, ...]


@dataclass(frozen=True)
class QuantityForm:
    """A number that is measured and that devices drive."""

    of: str
    drives: tuple[DriveForm, ...] = ()
    wait: int = 1
    precision: float = 1.0
    drift: float = 0.0
    fast: float | None = None
    watched: tuple[str, ...] = ()
    current: str = ""
    seen: str = ""
    careful: str = ""
    side: str = ""
    at_least: str = ""
    at_most: str = ""
    turns: TurnForm | None = None


Kinds = tuple[str, ...] | Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class KindsForm:
    """The kinds with which something works, and those with which it does not."""

    yes: Kinds = ()
    no: Kinds = ()


@dataclass(frozen=True)
class GoalForm:
    """The facts that a goal wants."""

    over: Mapping[str, str]
    holds: tuple[str, ...]


@dataclass(frozen=True)
class ProcedureForm:
    """The stages in which a goal is reached."""

    goals: tuple[str, ...]
    steps: tuple[Mapping[str, str | tuple[str, ...]], ...]
    objects: tuple[str, ...] = ()
    over: Mapping[str, str] = field(default_factory=dict)
    each: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PredicateForm:
    """A fact, and how to say it."""

    args: tuple[str, ...] = ()
    yes: str = ""
    no: str = ""
    exclusive: str = ""
    lasting: bool = False
