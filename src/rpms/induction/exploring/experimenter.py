"""The next experiment of an episode: here, or after a plan that leads to it."""

from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import NamedTuple, Protocol

from rpms.induction.exploring.agenda import Agenda
from rpms.induction.exploring.first_trials import Untried
from rpms.induction.exploring.forward_search import ForwardSearch
from rpms.induction.exploring.laboratory import Aim, Laboratory, Reach, Trial
from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import names_for
from rpms.logic.belief import Belief, Situation
from rpms.logic.facts import Atom, Clause, Truth


class OngoingEpisode(Protocol):
    """What an experimenter asks of the episode that it is in."""

    dice: Random
    ahead: list[str]

    @property
    def situation(self) -> Situation: ...

    def vain(self, command: str) -> bool:
        """True if a command was refused since anything changed."""
        ...

    def begin(self, wanted: tuple[Clause, ...]) -> str:
        """The first step of a plan towards facts; empty where there is none."""
        ...

    def go_on(self) -> str:
        """The next step of the plan that was made, where it can be done."""
        ...


class _RankedDoubt(NamedTuple):
    """An open fact, with the place of the laboratory that asks about it."""

    rank: float
    laboratory: int
    fact: int


@dataclass
class Experimenter:
    """Chooses trials of declared actions: first tries, near misses, and plans towards either."""

    agenda: Agenda
    episode: OngoingEpisode
    aim: Aim | None = None
    _patience: int = 0
    _walked: int = 0  # Steps since anything was tried
    _given_up: set[Aim] = field(default_factory=set)
    _begun: Counter[str] = field(default_factory=Counter)  # Commands given for the aim
    _way: list[str] = field(default_factory=list)  # Commands that are left to the aim
    _last: str = ""  # The last of these that was given

    def __post_init__(self) -> None:
        self._search = ForwardSearch(self.agenda.ledger.vocabulary)

    def choose(self) -> str:
        """The next command; empty where nothing is to be tried."""
        command = self._pursue()
        if not command:
            trial = self._best_trial()
            if trial.worth > LIMITS.informative:
                command = trial.command
            else:
                command = self._new_aim() or trial.command
        if command:
            self._walked = 0
            return command
        self._walked += 1
        return self._walk() if self.agenda.untried else ""

    @property
    def idle(self) -> bool:
        """True if nothing was found to be tried for some steps: another episode may offer more."""
        return self._walked > LIMITS.walks

    @property
    def _belief(self) -> Belief:
        return self.episode.situation.belief

    def _untried(self) -> list[Untried]:
        """The declared actions that never worked, in any order."""
        dice = self.episode.dice
        some = []
        for untried in self.agenda.untried:
            # one that worked with a name in two slots has still to be tried with others
            often = LIMITS.untwisting if untried.book.succeeded else 1.0
            if not untried.book.settled and dice.random() < often:
                some.append(untried)
        dice.shuffle(some)
        return some

    # Here.

    def _best_trial(self) -> Trial:
        """The trial that would tell most, of all that can be made now."""
        best = Trial("", 0.0)
        chosen: Laboratory | None = None
        reach = self._reach()
        for untried in self._untried():
            trial = untried.trial(self._belief, reach, self.episode.dice)
            if trial is not None and self._is_better(trial, best):
                best = trial
        for laboratory in self.agenda.laboratories:
            for trial in laboratory.trials(self._belief, self.episode.dice):
                if self._is_better(trial, best):
                    best = trial
                    chosen = laboratory
        if chosen is not None:
            chosen.asked[best.about] += 1
        return best

    def _is_better(self, trial: Trial, best: Trial) -> bool:
        return trial.worth > best.worth and not self.episode.vain(trial.command)

    def _walk(self) -> str:
        """Something that will probably succeed, of actions that did so least."""
        dice = self.episode.dice
        commands: list[str] = []
        weights: list[float] = []
        for laboratory in self.agenda.laboratories:
            likely = []
            for trial in laboratory.trials(self._belief, dice):
                if trial.success > LIMITS.probable and not self.episode.vain(trial.command):
                    likely.append(trial.command)
            if likely:
                commands.append(dice.choice(likely))
                weights.append(1 / (1 + laboratory.book.succeeded))
        if not commands:
            return ""
        [command] = dice.choices(commands, weights)
        return command

    # Elsewhere.

    def _pursue(self) -> str:
        """The next step towards the aim; the trial itself once all that it wants holds."""
        aim = self.aim
        if aim is None:
            return ""
        situation = self.episode.situation
        if all(clause.truth(situation) is Truth.TRUE for clause in aim.wanted):
            self.aim = None
            self.episode.ahead = []
            return "" if self.episode.vain(aim.command) else aim.command
        command = self._next_step(aim)
        if not command:
            self._given_up.add(aim)
            self.aim = None
        return command

    def _next_step(self, aim: Aim) -> str:
        """The next step of the way to an aim; empty where it leads round and round."""
        if self._sees_all:
            return self._go_on() or self._begin(aim)
        self._patience -= 1
        if self._patience <= 0:
            return ""
        command = self.episode.go_on() or self.episode.begin(aim.wanted)
        self._begun[command] += 1
        return command if self._begun[command] < LIMITS.several else ""

    @property
    def _sees_all(self) -> bool:
        """True if nothing is hidden, so that a way can be searched state by state."""
        return self.agenda.ledger.world.nothing_hidden

    def _begin(self, aim: Aim) -> str:
        """The first step of a way to an aim; empty where none is found, or too often."""
        self._patience -= 1
        if self._patience < 0:
            return ""
        way = self._search.way(self.agenda.schemas, self.agenda.changing, self._belief, aim.wanted)
        self._way = list(way)
        return self._go_on()

    def _go_on(self) -> str:
        """The next step of the way, unless the last one was refused."""
        if not self._way or (self._last and self.episode.vain(self._last)):
            self._last = ""
            self._way = []
            return ""
        self._last = self._way.pop(0)
        return self._last

    def _new_aim(self) -> str:
        """The first step towards a trial that cannot be made here."""
        changing = self.agenda.changing
        dice = self.episode.dice
        reach = self._reach()
        for untried in self._untried()[: LIMITS.aims]:
            for aim in untried.aims(self._belief, changing, reach, dice):
                command = self._take(aim)
                if command:
                    return command
        for laboratory, doubt in self._doubts()[: LIMITS.aims]:
            for aim in laboratory.aims(doubt, self._belief, changing, reach, dice):
                command = self._take(aim)
                if command:
                    return command
        return ""

    def _reach(self) -> Reach:
        """What known actions can bring about: from here, where nothing is hidden."""
        if not self._sees_all:
            return Reach(self._is_made)
        agenda = self.agenda
        belief = self._belief
        meeting = self._search.meeting(agenda.schemas, agenda.changing, belief)

        @cache
        def reachable() -> frozenset[Atom]:
            return self._search.reachable(agenda.schemas, agenda.changing, belief)

        def makeable(atom: Atom) -> bool:
            return atom in reachable()

        return Reach(makeable, meeting)

    def _is_made(self, atom: Atom) -> bool:
        """True if some action is known to make a fact true of such things."""
        for schema in self.agenda.schemas:
            for effect in schema.effects:
                if not effect.negated and self._may_be_about(effect.atom, atom):
                    return True
        return False

    def _may_be_about(self, effect: Atom, atom: Atom) -> bool:
        """True if an effect is of the same predicate, and the names of a fact may fill it."""
        if effect.predicate != atom.predicate:
            return False
        names = self._belief.names
        pairs = zip(effect.args, atom.args, strict=True)
        return all(name in names_for(parameter, names) for parameter, name in pairs)

    def _doubts(self) -> list[tuple[Laboratory, int]]:
        """Open facts that a trial could settle, those that tell most rather first."""
        ranked: list[_RankedDoubt] = []
        laboratories = self.agenda.laboratories
        for place, laboratory in enumerate(laboratories):
            for doubt, worth in laboratory.doubts().items():
                if worth > LIMITS.informative:
                    rank = worth * self.episode.dice.random()
                    ranked.append(_RankedDoubt(rank, place, doubt))
        ranked.sort(reverse=True)
        return [(laboratories[each.laboratory], each.fact) for each in ranked]

    def _take(self, aim: Aim) -> str:
        """The first step of a plan towards an aim; empty where there is none."""
        if aim in self._given_up or not aim.wanted:
            return ""
        self._begun.clear()
        self._way = []
        self._patience = LIMITS.several if self._sees_all else 2 * self.agenda.exploring.pursued
        command = self._begin(aim) if self._sees_all else self.episode.begin(aim.wanted)
        if command:
            self.aim = aim
        else:
            self._given_up.add(aim)
        return command
