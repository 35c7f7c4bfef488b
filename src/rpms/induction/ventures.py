"""Ventures: actions that may score, tried once all that is known to score is done."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import NamedTuple

from rpms.induction.agenda import Agenda, Question
from rpms.induction.conditions import Past
from rpms.induction.templates import fill
from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import Instance
from rpms.logic.belief import Belief, Situation
from rpms.logic.facts import Clause, Truth, kind_of


class Prospect(NamedTuple):
    """An action that may score."""

    worth: float
    command: str
    needs: tuple[Clause, ...] = ()  # Clauses that have to hold first, as far as is known


@dataclass
class Ventures:
    """Trials of one episode after all that is known to score."""

    agenda: Agenda
    goal: str
    dice: Random
    too_early: Callable[
        [str], bool
    ]  # True if a command that may end the task should wait until little is lost by that
    pursued: Prospect | None = None
    given_up: set[str] = field(default_factory=set)
    born: dict[str, None] = field(
        default_factory=dict
    )  # Names of things that appeared with a step that scored

    def told(self, before: Belief, after: Belief, *, scored: bool) -> None:
        """Hear what became of a step."""
        if scored:
            known = {*before.holding, *before.last_seen}
            self.born |= dict.fromkeys(
                each for each in (*after.holding, *after.last_seen) if each not in known
            )
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
        learned, changing = self.agenda.learned, self.agenda.changing
        rare = {each.name: each.circumstances for each in learned.actions} if learned else {}
        for question in self.agenda.questions:
            restored = tuple(Clause((literal,)) for literal in rare.get(question.schema.name, ()))
            past = Past(question.book, lambda attempt: attempt.scored, self.goal)
            for names in self._names(question, past, situation.belief):
                command = fill(question.book.template, names)
                if command in self.given_up:
                    continue
                instance = Instance(
                    question.schema, dict(zip(question.schema.variables, names, strict=True))
                )
                truths = {
                    clause: clause.truth(situation)
                    for clause in (*restored, *instance.preconditions)
                }
                needs = tuple(
                    each
                    for each in truths
                    if any(one.atom.predicate in changing for one in each.literals)
                )
                if any(
                    truth is Truth.FALSE for clause, truth in truths.items() if clause not in needs
                ):
                    continue
                worth = self._worth(
                    question,
                    past,
                    names,
                    situation.belief,
                    ready=Truth.FALSE not in truths.values(),
                )
                if worth >= LIMITS.hopeless:
                    found[command] = Prospect(worth, command, needs)
        every = list(found.values())
        self.dice.shuffle(every)
        return sorted(every, key=lambda each: -each.worth)[: LIMITS.choices]

    def _names(self, question: Question, past: Past, belief: Belief) -> Iterator[tuple[str, ...]]:
        """Names for an action: what is in hand or just came into being, such as have worked,
        such as are remarkable.
        """
        slots, near = [], {*belief.holding, *self.born}
        lasting = [
            fact for fact in past.rare.values() if fact.predicate not in self.agenda.changing
        ]
        for slot, (role, fit) in enumerate(
            zip(question.schema.variables, question.needs.fit, strict=True)
        ):
            known = belief.names.get(role, ())
            own = [fact for fact in lasting if [*filter(str.isdigit, fact.args)] == [str(slot)]]
            facts = {name: [fact.bind({str(slot): name}) for fact in own] for name in known}
            remarkable = [name for name in known if Truth.TRUE in map(belief.truth, facts[name])]
            some = [name for name in known if name in near or kind_of(name) in fit]
            every = dict.fromkeys((*filter(known.__contains__, self.born), *remarkable, *some))
            slots.append(list(every)[: LIMITS.names_tried])
        yield from (names for names in product(*slots) if len(set(names)) == len(names))

    def _worth(
        self, question: Question, past: Past, names: tuple[str, ...], belief: Belief, *, ready: bool
    ) -> float:
        kinds, discount = tuple(map(kind_of, names)), 1.0 if ready else LIMITS.not_yet
        known = past.usual >= LIMITS.hopeless
        places = past.own if known else past.rare
        true, false = question.book.measure(belief, names, places) if places else (0, 0)
        if (
            not self.born.keys().isdisjoint(names)
            and question.book.worked[kinds] < LIMITS.known_past
        ):
            return LIMITS.new_thing / len(kinds) * discount
        lasting = [
            bit
            for bit, fact in past.rare.items()
            if ready or fact.predicate not in self.agenda.changing
        ]
        untried, deadly = (
            past.untried(true, kinds, lasting),
            self.agenda.deadly.get(question.book.template),
        )
        safe = (
            deadly is None
            or deadly.usual < past.usual
            or not self.too_early(fill(question.book.template, names))
        )
        if untried and safe:
            return (
                (LIMITS.new_fact + (1 - LIMITS.new_fact) * untried)
                * question.fitting(kinds)
                * discount
            )
        needed, size = question.wanted, question.needs.size  # its needs are met before it is done
        seen_to = needed & (1 << size) - 1 | needed >> size
        true, false = true & ~seen_to | needed & (1 << size) - 1, false & ~seen_to | needed >> size
        return (past.share(true, false, kinds, worst=True) if known else past.usual) * discount
