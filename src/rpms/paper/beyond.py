"""The one door for what goes past the paper: adapt, notice, advise.

The paper does none of it, and its object here answers so. `rpms.planning` has the other one, which
plans, binds memories to the room, offers menus and doubts the manual.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, Self

from rpms.logic.belief import Belief, Situation, StateSignature
from rpms.logic.goal import NOTHING_DONE, Progress
from rpms.logic.rules import ActiveRules
from rpms.paper.enforcement import PAPER, Enforcement
from rpms.paper.prompt import Turn
from rpms.paper.recall import Recollection
from rpms.paper.review import Refusal, review
from rpms.paper.verdict import NO_MASK, Candidate, Mask


def turn_state(belief: Belief, progress: Progress) -> str:
    """Key of the state a turn was decided in: if equal, nothing was achieved since."""
    return f"{belief.signature()}|{progress.text}|{progress.done}|{belief.fingerprint}"


@dataclass(frozen=True)
class StepContext:
    """The step at hand as the world's whole manual tells it, so that it is the same in every
    condition.
    """

    situation: Situation
    schemas: ActiveRules
    """The part of the manual that bears on the goal: syntax of commands, and effects that tell
    if one is done."""
    progress: Progress = NOTHING_DONE
    history: Sequence[Turn] = ()
    mask: Mask = NO_MASK
    """Entries hidden at random in this episode; they push no other entry out."""
    experience: Recollection = field(default_factory=Recollection)

    @property
    def belief(self) -> Belief:
        return self.situation.belief

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """Values derived from this step, for all that ask for them."""
        return {}

    @cached_property
    def signature(self) -> StateSignature:
        """σ(b_t), with the stage of the goal's procedure, if it has one."""
        plain = self.belief.signature()
        stage = self.situation.stage
        if stage is None:
            return plain
        return StateSignature((*plain.fields, ("progress", (str(stage),))))

    @cached_property
    def state(self) -> str:
        """Key of the present state, as turns of the history keep it."""
        return turn_state(self.belief, self.progress)


@dataclass(frozen=True, slots=True)
class Surprise:
    """A difference between an answer and what was foretold, with the line of the manual or the
    entry of memory that it speaks against.
    """

    kind: str
    line: str
    text: str

    def __str__(self) -> str:
        line = f" [{self.line}]" if self.line else ""
        return f"surprise, {self.kind}: {self.text}{line}"


class Noticed:
    """Evidence about the manual from the answers so far. The paper looks for none."""

    surprises: tuple[Surprise, ...] = ()
    """Surprises of the last answer."""

    @property
    def against_goal(self) -> str:
        """The surprise that speaks against the goal as it is understood; empty if there is none."""
        return ""

    def in_last_step(self, before: "Advice", command: str, *, refused: bool) -> Sequence[Surprise]:
        """Surprises that belong to the step before: what its command did against its advice."""
        return self.surprises

    def for_another_goal(self) -> Self:
        """The evidence without what only the present goal has shown."""
        return self


NOTHING_NOTICED = Noticed()


@dataclass(frozen=True, slots=True)
class MenuItem:
    """One entry of a menu."""

    command: str
    rank: int
    """Rank by relevance, from 0; the menu's own order hides it."""
    reason: str = ""
    """The reason for the entry: the rest of the plan it begins, or the experience it comes from."""

    def record(self) -> dict[str, str]:
        """The entry for an episode's file."""
        return {"command": self.command, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Menu:
    """Actions to choose from, as they are shown: grouped by what they do, so that the first is
    not simply the best. The paper's is empty.
    """

    items: tuple[MenuItem, ...] = ()

    @property
    def commands(self) -> tuple[str, ...]:
        return tuple(item.command for item in self.items)

    @property
    def best(self) -> str | None:
        """The entry that is nearest to the goal."""
        return min(self.items, key=lambda item: item.rank).command if self.items else None

    @property
    def choices(self) -> tuple[str, ...]:
        """The entries as a model is to answer: the number comes first and decides, whatever
        entries have in common.
        """
        return tuple(f"{number}. {item.command}" for number, item in enumerate(self.items, 1))

    def lines(self) -> list[str]:
        """The entries for a prompt, each with what it is for."""
        lines: list[str] = []
        for choice, item in zip(self.choices, self.items, strict=True):
            purpose = f" ({item.reason})" if item.reason else ""
            lines.append(f"  {choice}{purpose}")
        return lines

    def command_for(self, action: str) -> str:
        """The command that an answer means: an entry by its number, with or without its words;
        else the answer.
        """
        number, _, rest = action.partition(".")
        if not number.isdecimal() or not 0 < int(number[:4]) < 1000:
            return action
        chosen = self.items[int(number) - 1 : int(number)]
        if not chosen or action in self.commands:
            return action
        words = rest.strip()
        if words and not words.startswith(chosen[0].command):
            return action
        return chosen[0].command


@dataclass(frozen=True)
class Advice:
    """Words and objections of one step beyond the paper's prompt. Here there are none."""

    step: StepContext
    rules: ActiveRules
    """The condition's, for this goal."""
    memories: Sequence[Candidate] = ()

    @property
    def noticed(self) -> Noticed:
        """Evidence about the manual after this step, which the next one is given."""
        return NOTHING_NOTICED

    @property
    def shown(self) -> ActiveRules:
        """The rules that the prompt shows: all that are active."""
        return self.rules

    @property
    def left_out(self) -> tuple[str, ...]:
        """The active rules and actions, by id and name, that the prompt does not show."""
        return ()

    @property
    def guidance(self) -> tuple[str, ...]:
        """Lines for the goal block."""
        return ()

    @property
    def notice(self) -> str:
        """A sentence for the model, such as that it goes in a circle."""
        return ""

    @property
    def menu(self) -> Menu:
        return _NO_MENU

    def review(self, command: str) -> Refusal | None:
        """Refuse a command that is known to fail, by the world's whole manual."""
        return review(command, self.step.schemas, self.step.situation)

    def bars(self, command: str) -> bool:
        """True if a command is not to be given again: it was refused, and nothing it depends on
        has changed.
        """
        return False

    def defies(self, command: str) -> bool:
        """True if a plan means to do a command against a line of the manual, so that the guard
        lets it pass.
        """
        return False

    def caution(self, command: str, candidates: Iterable[Candidate]) -> Refusal | None:
        """Objection of a critical failure in memory to a command."""
        return None

    def chain(self, command: str) -> tuple[str, ...]:
        """The plan that a command begins, from the goal back to it."""
        return ()


_NO_MENU = Menu()


class Beyond(Protocol):
    """All that `decide` asks of anything past the paper."""

    @property
    def enforcement(self) -> Enforcement:
        """The parts past the paper that are on and that the condition has the knowledge for."""
        ...

    def adapt(self, candidates: Iterable[Candidate], now: StepContext) -> Iterator[Candidate]:
        """Bind recalled snippets to the present room, one at a time as they are asked for."""
        ...

    def notice(
        self, earlier: Noticed, now: StepContext, before: Situation, *, won: bool = False
    ) -> Noticed:
        """Compare the answer to the last command with the one that was foretold."""
        ...

    def advise(
        self,
        now: StepContext,
        rules: ActiveRules,
        memories: Sequence[Candidate],
        noticed: Noticed,
    ) -> Advice:
        """Advise the model that chooses."""
        ...


class PaperAlone:
    """The null object: memories stay as stored, nothing is compared, nothing is said."""

    enforcement = PAPER

    def adapt(self, candidates: Iterable[Candidate], now: StepContext) -> Iterator[Candidate]:
        return iter(candidates)

    def notice(
        self,
        earlier: Noticed,
        now: StepContext,
        before: Situation,
        *,
        won: bool = False,
    ) -> Noticed:
        return earlier

    def advise(
        self,
        now: StepContext,
        rules: ActiveRules,
        memories: Sequence[Candidate],
        noticed: Noticed,
    ) -> Advice:
        return Advice(now, rules, memories)


PAPER_ALONE = PaperAlone()
