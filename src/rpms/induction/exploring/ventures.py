"""Ventures: actions that may score, tried once all that is known to score is done."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import NamedTuple

from rpms.induction.evidence.attempts import NOTHING_KNOWN, Known
from rpms.induction.evidence.columns import all_of
from rpms.induction.evidence.literals import slots_in
from rpms.induction.evidence.templates import fill
from rpms.induction.exploring.agenda import Agenda
from rpms.induction.exploring.past_outcomes import Past
from rpms.induction.exploring.questions import Question
from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import Instance
from rpms.logic.belief import Belief, Situation
from rpms.logic.facts import Atom, Clause, Truth, kind_of


class Prospect(NamedTuple):
    """An action that may score."""

    worth: float
    command: str
    needs: tuple[Clause, ...] = ()  # Clauses that have to hold first, as far as is known


class _Use(NamedTuple):
    """An action with some names, and what came of it until now."""

    question: Question
    past: Past
    names: tuple[str, ...]

    def needs(self) -> tuple[Clause, ...]:
        """What it needs, as far as is known."""
        schema = self.question.schema
        binding = dict(zip(schema.variables, self.names, strict=True))
        return Instance(schema, binding).preconditions


@dataclass
class Ventures:
    """Trials of one episode after all that is known to score."""

    agenda: Agenda
    goal: str
    dice: Random
    too_early: Callable[[str], bool]
    """True if a command that may end the task should wait until little is lost by that."""
    pursued: Prospect | None = None
    given_up: set[str] = field(default_factory=set)
    born: dict[str, None] = field(default_factory=dict)
    """Names of things that appeared with a step that scored."""

    def told(self, before: Belief, after: Belief, *, scored: bool) -> None:
        """Hear what became of a step."""
        if not scored:
            return
        known = {*before.holding, *before.last_seen}
        for name in (*after.holding, *after.last_seen):
            if name not in known:
                self.born[name] = None
        self.pursued = None
        self.given_up.clear()

    def give_up(self, prospect: Prospect) -> None:
        """Try something else, until anything scores."""
        self.pursued = None
        self.given_up.add(prospect.command)

    def prospects(self, situation: Situation) -> list[Prospect]:
        """Actions that may score, most promising first, without those given up since anything
        scored.
        """
        found: dict[str, Prospect] = {}
        for question in self.agenda.questions:
            past = Past(question.book, lambda attempt: attempt.scored, self.goal)
            rare = self._rare_surroundings(question)
            for names in self._names(question, past, situation.belief):
                command = fill(question.book.template, names)
                if command in self.given_up:
                    continue
                use = _Use(question, past, names)
                prospect = self._judge(command, use, rare, situation)
                if prospect is not None:
                    found[command] = prospect
        every = list(found.values())
        self.dice.shuffle(every)
        return sorted(every, key=lambda each: -each.worth)[: LIMITS.choices]

    def _judge(
        self, command: str, use: _Use, rare: Iterable[Clause], situation: Situation
    ) -> Prospect | None:
        """An action with some names, and what has to hold first that actions change; None where
        it is hopeless, or something else is known to be missing.
        """
        changing: list[Clause] = []
        ready = True
        for clause in dict.fromkeys((*rare, *use.needs())):
            is_changing = self._is_changing(clause)
            is_missing = clause.truth(situation) is Truth.FALSE
            if is_missing and not is_changing:
                return None
            if is_changing:
                changing.append(clause)
            ready = ready and not is_missing
        worth = self._worth(use, situation.belief, ready=ready)
        if worth < LIMITS.hopeless:
            return None
        return Prospect(worth, command, tuple(changing))

    def _rare_surroundings(self, question: Question) -> list[Clause]:
        """Facts that held in the few successes of an action."""
        if self.agenda.learned is None:
            return []
        found: list[Clause] = []
        for action in self.agenda.learned.actions:
            if action.name == question.schema.name:
                found = [Clause((literal,)) for literal in action.surroundings]
        return found

    def _is_changing(self, clause: Clause) -> bool:
        """True if actions can change it."""
        return any(one.atom.predicate in self.agenda.changing for one in clause.literals)

    def _names(self, question: Question, past: Past, belief: Belief) -> Iterator[tuple[str, ...]]:
        """Names for an action: what is in hand or just came into being, such as have worked,
        such as are remarkable.
        """
        rare = past.rare.values()
        lasting = [fact for fact in rare if fact.predicate not in self.agenda.changing]
        slots: list[list[str]] = []
        for slot, role in enumerate(question.schema.variables):
            known = belief.names.get(role, ())
            new = [name for name in self.born if name in known]
            remarkable = _remarkable(known, str(slot), lasting, belief)
            some = self._at_hand_or_fit(known, question.needs.table.fit[slot], belief)
            every = dict.fromkeys((*new, *remarkable, *some))
            slots.append(list(every)[: LIMITS.names_tried])
        for names in product(*slots):
            if len(set(names)) == len(names):
                yield names

    def _at_hand_or_fit(
        self, known: Iterable[str], fit: Collection[str], belief: Belief
    ) -> list[str]:
        """Names of what is in hand or just came into being, and of kinds that have worked."""
        near = {*belief.holding, *self.born}
        found: list[str] = []
        for name in known:
            if name in near or kind_of(name) in fit:
                found.append(name)
        return found

    def _worth(self, use: _Use, belief: Belief, *, ready: bool) -> float:
        """How likely an action with some names is to score, more for what was never tried."""
        question, past, names = use
        book = question.book
        kinds = tuple(map(kind_of, names))
        discount = 1.0 if ready else LIMITS.not_yet
        is_new = not self.born.keys().isdisjoint(names)
        if is_new and book.worked[kinds] < LIMITS.known_past:
            return LIMITS.new_thing / len(kinds) * discount
        is_known = past.usual >= LIMITS.hopeless
        places = past.own if is_known else past.rare
        now = book.measure(belief, names, places) if places else NOTHING_KNOWN
        untried = past.untried(now.true, kinds, self._rare_facts(past, ready=ready))
        if untried and self._is_safe(question, past, names):
            curious = LIMITS.new_fact + (1 - LIMITS.new_fact) * untried
            return curious * question.fitting(kinds) * discount
        return _usual_share(use, now) * discount

    def _rare_facts(self, past: Past, *, ready: bool) -> list[int]:
        """The facts that hardly ever held; while needs are to be met, those that stay as they
        are.
        """
        changing = self.agenda.changing
        found: list[int] = []
        for bit, fact in past.rare.items():
            if ready or fact.predicate not in changing:
                found.append(bit)
        return found

    def _is_safe(self, question: Question, past: Past, names: Sequence[str]) -> bool:
        """True unless an action ends tasks more often than it scores, and it is early for that."""
        deadly = self.agenda.deadly.get(question.book.template)
        if deadly is None or deadly.usual < past.usual:
            return True
        return not self.too_early(fill(question.book.template, names))


def _usual_share(use: _Use, now: Known) -> float:
    """How often an action has scored; where it did so several times, under facts as these."""
    if use.past.usual < LIMITS.hopeless:
        return use.past.usual
    then = _with_needs_met(use.question, now)
    kinds = tuple(map(kind_of, use.names))
    return use.past.share(then.true, then.false, kinds, worst=True)


def _with_needs_met(question: Question, now: Known) -> Known:
    """Facts as they will be when an action is done: what it is thought to need is seen to."""
    size = question.needs.table.size
    needed_true = question.wanted & all_of(size)
    needed_false = question.wanted >> size
    left_alone = ~(needed_true | needed_false)
    return Known(now.true & left_alone | needed_true, now.false & left_alone | needed_false)


def _remarkable(
    known: Iterable[str], slot: str, facts: Iterable[Atom], belief: Belief
) -> list[str]:
    """Names of which a fact is known to hold that is about one slot alone."""
    own = [fact for fact in facts if slots_in(fact) == {int(slot)}]
    found: list[str] = []
    for name in known:
        truths = [belief.truth(fact.bind({slot: name})) for fact in own]
        if Truth.TRUE in truths:
            found.append(name)
    return found
