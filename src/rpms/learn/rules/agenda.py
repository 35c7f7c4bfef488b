"""What is open after what was seen so far: the questions, and what plans and guesses about goals are made with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from rpms.core.facts import Atom, Clause, Literal, kind_of
from rpms.core.goal import Goal
from rpms.core.planning.reason import Reasoner
from rpms.core.rules import PARAMETER, ActionSchema, Instance, Purpose, RuleManual, Stage
from rpms.learn.rules.conclude import Learned, conclude, manual_from
from rpms.learn.rules.goals import GoalModel, guesses
from rpms.learn.rules.ledger import Ledger
from rpms.learn.rules.question import Question
from rpms.learn.rules.templates import SLOT
from rpms.learn.rules.wins import FIELDS, GoalBook, State
from rpms.store.evidence import Label

DEADLY, DEADLY_OFTEN = 1 / 3, 5
"""Share of its successes that ended the task for good, and their number, that make an action one to put off."""
ENOUGH_WINS = 12
"""Wins of a goal type after which its episodes serve other questions."""


@dataclass(frozen=True, slots=True)
class Exploring:
    """How it is explored."""

    steps: int = 20_000
    per_episode: int = 0
    """Steps of an episode at most; as many as the world gives a player where it is 0."""
    seed: int = 0
    imagined: int = 12
    """Actions that are imagined at a step."""
    pursued: int = 10
    """Steps that an experiment, or a guess at a goal, may take to prepare."""
    goals: float = 0.6
    """How many of the episodes whose goal type is not settled are about the goal."""
    astray: float = 0.15
    """How many steps are not what was planned."""
    looking: float = 0.2
    """How often one looks, without changing anything, at what is unknown."""
    listing: float = 0.5
    """How often the game is asked which commands it takes, to find actions that were never seen."""
    growth: float = 1.2
    """How much more has to be seen until conclusions are drawn anew."""


@dataclass
class Agenda:
    """What sessions ask: drawn from the ledger anew where enough was seen since the last time."""

    ledger: Ledger
    how: Exploring = field(default_factory=Exploring)
    learned: Learned | None = None
    _due: int = 40
    """The number of steps at which conclusions are drawn next."""
    questions: list[Question] = field(default_factory=list)
    interest: list[float] = field(default_factory=list)
    """How often each question is to come up, compared with the others."""
    looks: list[ActionSchema] = field(default_factory=list)
    """What makes things known and does nothing else."""
    deadly: frozenset[str] = frozenset()
    """Actions that often ended the task for good, as they are written: put off until an episode is nearly over."""
    _manual: RuleManual = field(default_factory=RuleManual)
    _reasoners: dict[State, Reasoner] = field(default_factory=dict)
    _players: dict[str, Reasoner] = field(default_factory=dict)
    pursued: Counter[tuple[str, State]] = field(default_factory=Counter)

    def draw_conclusions(self) -> None:
        """Conclude anew where enough was seen since the last time."""
        if self.ledger.steps < self._due:
            return
        while self._due <= self.ledger.steps:
            self._due = int(self._due * self.how.growth) + 1
        self.learned = conclude(self.ledger)
        self._manual = manual_from(self.learned, guessing=True)
        self._reasoners.clear()
        self._players.clear()
        books = {action.name: self.ledger.books[action.template] for action in self.learned.actions}
        self.questions = [Question(schema, books[schema.name]) for schema in self._manual.actions]
        self.looks = self._seeing()
        self.interest = [question.interest for question in self.questions]
        self.deadly = frozenset(
            book.template
            for book in self.ledger.books.values()
            if book.losses >= max(DEADLY_OFTEN, DEADLY * book.worked.total())
        )

    def _seeing(self) -> list[ActionSchema]:
        """Actions and processes that make things known, of commands that are not known to change anything."""
        every = (*self._manual.actions, *self._manual.lore.processes)
        changing = {PARAMETER.sub(SLOT, each.syntax[0]) for each in every if each.effects}
        return [
            each
            for each in every
            if each.observes and not each.others and PARAMETER.sub(SLOT, each.syntax[0]) not in changing
        ]

    def goal_model(self, goal: Goal) -> GoalModel | None:
        """What was concluded about a type of goals."""
        return next((each for each in self.learned.goals if each.type == goal.type), None) if self.learned else None

    def guesses(self, goal: Goal) -> Iterator[State]:
        """What a goal may want, best first."""
        model = self.goal_model(goal)
        book = self.ledger.goals.setdefault(goal.type, GoalBook(goal.type, self.ledger.vocabulary))
        if model is None:
            yield from (state for state in guesses(book, self._made(goal)) if not self._at_odds(state))
            return
        for fact in model.holds:
            rest = model.state - {fact.clause.literals[0].atom}
            if rest and fact.label is Label.POSSIBLE:
                yield rest
        yield model.state

    def _made(self, goal: Goal) -> list[Atom]:
        """Facts about the goal's things that actions make, as far as their roles allow."""
        roles: dict[str, set[str]] = {}
        for name, variables in FIELDS.items():
            word = goal.named(name)
            if word:
                named = [self.ledger.names.roles[each] for each in self.ledger.names.roles if kind_of(each) == word]
                roles[variables[0]] = set().union(*named)
        found: dict[Atom, None] = {}
        for schema in self._manual.actions:
            for effect in schema.effects:
                declared = self.ledger.vocabulary.predicates[effect.atom.predicate]
                if effect.negated or not declared.args:
                    continue
                for args in _assignments(declared.args, roles, self.ledger.names.order):
                    found[Atom(declared.name, args)] = None
        deeds = self._manual.active("").deeds
        return sorted(found, key=lambda atom: (-len(atom.args), atom.predicate not in deeds))

    def _at_odds(self, state: State) -> bool:
        """Whether of two facts each is unmade by all actions that make the other: what is put down is not held."""
        return any(
            self._unmakes(one.predicate, other.predicate) and self._unmakes(other.predicate, one.predicate)
            for one, other in combinations(state, 2)
        )

    def _unmakes(self, made: str, undone: str) -> bool:
        """Whether every action that makes facts of one predicate unmakes those of another."""
        effects = [{(each.atom.predicate, each.negated) for each in schema.effects} for schema in self._manual.actions]
        makers = [each for each in effects if (made, False) in each]
        return bool(makers) and all((undone, True) in each for each in makers)

    def settled(self, goal: Goal) -> bool:
        """Whether nothing is left to be asked about what goals of a type want."""
        model = self.goal_model(goal)
        return model is not None and model.wins >= ENOUGH_WINS

    def reasoner(self, wanted: State) -> Reasoner:
        """Plans towards facts about the goal's things."""
        if wanted not in self._reasoners:
            positional = Reasoner(self._manual.active("")).positional
            ordered = sorted(wanted, key=lambda atom: (atom.predicate in positional, len(atom.args), str(atom)))
            used = {arg for atom in wanted for arg in atom.args}
            over = {name: field_ for field_, names in FIELDS.items() for name in names if name in used}
            purpose = Purpose("guess", over, tuple(Stage("", (Clause((Literal(atom),)),)) for atom in ordered))
            self._reasoners[wanted] = Reasoner(replace(self._manual.active(""), purpose=purpose))
        return self._reasoners[wanted]

    def circumstances(self, schema: ActionSchema) -> tuple[Clause, ...]:
        """What may be needed for an action that has hardly ever worked, beside what its schema says."""
        action = next(each for each in self.learned.actions if each.name == schema.name) if self.learned else None
        return tuple(Clause((literal,)) for literal in action.circumstances) if action is not None else ()

    def towards(self, needs: tuple[Clause, ...]) -> Reasoner:
        """Plans towards some facts about things by their names."""
        purpose = Purpose("venture", {}, (Stage("", needs),))
        return Reasoner(replace(self._manual.active(""), purpose=purpose))

    def player(self, goal: Goal) -> Reasoner:
        """Plans towards all that is known of goals of a type."""
        if goal.type not in self._players:
            self._players[goal.type] = Reasoner(self._manual.active(goal.type))
        return self._players[goal.type]

    def instance(self, command: str) -> Instance | None:
        """A command as an instance of what was learned."""
        return self._manual.active("").instance(command)


def _assignments(args: Sequence[str], roles: dict[str, set[str]], known: dict[str, int]) -> Iterator[tuple[str, ...]]:
    """Ways to put the goal's variables in place of a predicate's arguments, each at most once."""
    ways: list[tuple[str, ...]] = [()]
    for role in args:
        ways = [
            (*way, name)
            for way in ways
            for name, has in roles.items()
            if name not in way and (role not in known or role in has or not has)
        ]
    yield from ways
