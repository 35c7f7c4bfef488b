"""One episode of an exploration as it stands: what was tried in vain, what has to wait, and the
plan that is followed.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, partial
from random import Random
from typing import NamedTuple

from rpms.induction.conclusions.ledger import Diary
from rpms.induction.evidence.attempts import NOTHING_KNOWN
from rpms.induction.evidence.drawing import NamesAround
from rpms.induction.evidence.templates import fill, verb_of
from rpms.induction.evidence.wants import State
from rpms.induction.exploring.agenda import Agenda
from rpms.induction.exploring.questions import Question, TrialWorth
from rpms.induction.exploring.ventures import Ventures
from rpms.induction.exploring.wandering import Wandering
from rpms.induction.thresholds import LIMITS
from rpms.logic.belief import Situation
from rpms.logic.facts import Clause, Truth, kind_of
from rpms.logic.goal import is_named
from rpms.planning.edges import Option
from rpms.worlds.base import Game


class ImaginedTrial(NamedTuple):
    """An action with names that it may be tried with."""

    question: Question
    names: tuple[str, ...]


class _WorthyTrial(NamedTuple):
    """A command worth trying, and what would be settled of the questions about its action."""

    command: str
    question: Question
    about: object


@dataclass
class Standing:
    """One episode as it stands."""

    agenda: Agenda
    diary: Diary
    game: Game
    dice: Random
    patience: int = 0  # Steps that are left for what is prepared or pursued now
    refused: set[str] = field(default_factory=set)
    """Commands that were refused since anything changed."""
    failures: Counter[str] = field(default_factory=Counter)
    """Refusals of each command in the whole episode."""
    ahead: list[str] = field(default_factory=list)  # Remaining commands of the current plan
    scored_with: str = ""
    """The thing that last scored when handled as the goal's sentence says: its "it"."""
    about_goal: bool = False
    scoring: bool = False  # True if actions known to score are pursued
    left: int = 0  # Steps that are left of the episode
    ventures: Ventures = field(init=False)
    wandering: Wandering = field(init=False)

    def __post_init__(self) -> None:
        agenda = self.agenda
        goal = self.diary.goal
        too_early = partial(self.too_early, venture=True)
        self.ventures = Ventures(agenda, goal.type, self.dice, too_early)
        self.wandering = Wandering(agenda.ledger.vocabulary)
        self.wandering.told(self.diary.belief)
        self._before = self.diary.belief
        self._heard = len(self.diary.past)
        if not self.about_goal and not agenda.settled(goal.type):
            often = LIMITS.about_hardly_won if self.gropes else agenda.exploring.goals
            self.about_goal = self.dice.random() < often
        learned = agenda.learned
        self.scoring = self.about_goal and learned is not None and goal.type in learned.scoring

    @property
    def names_around(self) -> NamesAround:
        """What is known to be there, to draw names from."""
        return self.agenda.ledger.vocabulary.answers(self.diary.belief).names_around

    @property
    def situation(self) -> Situation:
        return Situation(self.diary.belief, self.diary.goal, past=self.diary.past)

    def told(self, command: str, *, refused: bool) -> None:
        """Take in the result of a command, which the diary has already."""
        before = self._before
        self._before = self.diary.belief
        new = self.diary.past[self._heard :]
        self._heard = len(self.diary.past)
        scored = any(done.gained for done in new)
        self.ventures.told(before, self._before, scored=scored)
        if scored and is_named(verb_of(command), self.diary.goal.text):
            names = self.agenda.ledger.names.read(command).names
            if names:
                self.scored_with = names[0]
        self.wandering.told(self._before)
        if refused:
            self.refused.add(command)
            self.failures[command] += 1
        elif command not in ("look", "inventory"):
            self.refused.clear()

    @property
    def dares(self) -> bool:
        """True if by now the episode is a cheap thing to lose, in a type that is hardly won.

        Where places are unlisted, what is worth a try may be anywhere: each episode is careful for
        a number of steps drawn by chance, since the beginning of the next is worth as much as its
        end. Elsewhere it waits for the end.
        """
        if not self.is_hardly_won:
            return False
        if self.agenda.ledger.unlisted:
            return len(self.diary.steps) >= self._careful
        return self.left <= LIMITS.late

    @property
    def gropes(self) -> bool:
        """True if goals of this type are hardly won and places are unlisted: nobody knows where
        anything is that scores.
        """
        return self.is_hardly_won and self.agenda.ledger.unlisted

    @cached_property
    def _careful(self) -> float:
        """Steps before anything is tried that may end the task."""
        return self.dice.expovariate(1 / LIMITS.careful)

    @property
    def is_hardly_won(self) -> bool:
        """True if tasks score on the way, or may, and hardly any of this goal's type was won."""
        ledger = self.agenda.ledger
        book = ledger.goals.get(self.diary.goal.type)
        may_score = ledger.scores or ledger.unlisted
        if not may_score:
            return False
        return book is None or book.hardly_won

    def too_early(self, command: str, *, venture: bool = False, daring: bool = False) -> bool:
        """True if an action that may end the task should wait, as long as there is something to
        lose by that.
        """
        if daring and self.dares:
            return False
        if not self.agenda.has_deadly or self.left <= LIMITS.last_steps:
            return False
        return self._is_deadly(command, is_careful=self.scoring and not venture)

    def _is_deadly(self, command: str, *, is_careful: bool) -> bool:
        """True if an action that often ends tasks has ended them where as much held as now, with
        such things; if one is careful, also one that seldom does.
        """
        parts = self.agenda.ledger.names.read(command)
        past = self.agenda.deadly.get(parts.template)
        if past is None:
            return self.agenda.is_deadly_verb(parts.template)
        if past.usual < LIMITS.deadly and not is_careful:
            return False
        known = NOTHING_KNOWN
        if past.own:
            known = past.book.measure(self.diary.belief, parts.names, past.own)
        kinds = tuple(map(kind_of, parts.names))
        return past.share(known.true, known.false, kinds) >= LIMITS.deadly

    def vain(self, command: str) -> bool:
        """True if a command was refused since anything changed, or again and again.

        Where the world declares its commands, what they need is judged by what was refused.
        """
        return command in self.refused or self._again_and_again(command)

    def _again_and_again(self, command: str) -> bool:
        return self.failures[command] > 1 and not self.agenda.ledger.names.signatures

    def best_trial(
        self,
        trials: Iterable[ImaginedTrial],
        worth: Callable[[ImaginedTrial, float], TrialWorth],
        least: float,
    ) -> str:
        """The command of the trial that is worth more than the others and the least; empty where
        none is. What it would settle counts as asked once more.

        `worth` is given the best value so far: a trial that cannot be worth more needs no look.
        """
        best = least
        chosen: _WorthyTrial | None = None
        for trial in trials:
            found = worth(trial, best)
            if found.value <= best:
                continue
            command = fill(trial.question.book.template, trial.names)
            if not self.vain(command) and not self.too_early(command):
                best = found.value
                chosen = _WorthyTrial(command, trial.question, found.about)
        if chosen is None:
            return ""
        chosen.question.asked[chosen.about] += 1
        return chosen.command

    # Plans.

    def begin(self, wanted: State | tuple[Clause, ...]) -> str:
        """The first step of the best plan in which nothing is known to be vain; nothing where
        all holds.
        """
        plan = self.agenda.towards(wanted, self.situation, best=True)
        if any(map(self._leads_nowhere, plan.options)):
            plan = self.agenda.towards(wanted, self.situation, best=False)
        if plan.cost <= 0:
            return ""
        for option in plan.options:
            if not self._leads_nowhere(option):
                return self.follow(option)
        return ""

    def _leads_nowhere(self, option: Option) -> bool:
        """True if a plan begins with what was just refused, or comes to what was refused again
        and again, or may end the task too early.
        """
        if self.vain(option.command):
            return True
        commands = [link.command for link in option.chain]
        if any(map(self._again_and_again, commands)):
            return True
        return any(map(self.too_early, commands))

    def follow(self, option: Option) -> str:
        """The first step of an option; what comes after it is kept for later, unless the step
        shows something.
        """
        first, *rest = option.chain
        self.ahead = [] if first.reveals else [link.command for link in rest]
        return option.command

    def go_on(self) -> str:
        """The next action of the plan that was made, where it can be done; no new plan is
        needed then.
        """
        if not self.ahead:
            return ""
        command, *rest = self.ahead
        if not self._is_possible(command):
            self.ahead = []
            return ""
        self.ahead = rest
        return command

    def _is_possible(self, command: str) -> bool:
        """True if a command is not in vain, and all that it needs is known to hold."""
        instance = self.agenda.reasoner().rules.instance(command)
        if instance is None or self.vain(command):
            return False
        return instance.feasible(self.situation) is Truth.TRUE


def first_of(ways: Iterable[Callable[[], str]]) -> str:
    """The first command that any of some ways to choose one finds."""
    for choose in ways:
        command = choose()
        if command:
            return command
    return ""
