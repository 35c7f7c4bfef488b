"""The agenda of an exploration: open questions about actions, and guesses at goals."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, combinations, permutations, starmap
from random import Random
from typing import NamedTuple

from rpms.induction.conclusions.conclude import Learned, conclude, reconsidered
from rpms.induction.conclusions.goal_models import GoalModel
from rpms.induction.conclusions.learned_manual import manual_from, sampled
from rpms.induction.conclusions.ledger import Ledger
from rpms.induction.conclusions.needs import needs_of
from rpms.induction.evidence.attempts import Book
from rpms.induction.evidence.literals import row_of
from rpms.induction.evidence.templates import template_of, verb_of
from rpms.induction.evidence.wants import (
    FIELDS,
    NOT,
    GoalBook,
    State,
    atom_of,
    fields_of,
    literal_in,
)
from rpms.induction.exploring.first_guesses import WorkingAction
from rpms.induction.exploring.first_trials import Untried
from rpms.induction.exploring.goal_guesses import guesses, says_all, words_of, words_said
from rpms.induction.exploring.laboratory import Laboratory, laboratory_of
from rpms.induction.exploring.past_outcomes import Past
from rpms.induction.exploring.questions import Question
from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import ActionSchema
from rpms.logic.belief import Situation
from rpms.logic.facts import Atom, Clause, Literal, Sort, kind_of
from rpms.logic.goal import Goal
from rpms.logic.rules import Predicate, Purpose, RuleManual, Stage
from rpms.planning.plan_graph import Plan
from rpms.planning.reason import Reasoner, reasoner_of
from rpms.store.evidence import Label


@dataclass(frozen=True, slots=True)
class Exploring:
    """Settings of an exploration."""

    steps: int = 20_000
    per_episode: int = 0
    """Steps of an episode at most; as many as the world gives a player where it is 0."""
    seed: int = 0
    imagined: int = 12  # Actions that are imagined at a step
    pursued: int = 10  # Steps that an experiment, or a guess at a goal, may take to prepare
    goals: float = 0.6  # Share of episodes, of goal types not settled yet, that are about the goal
    astray: float = 0.15  # Probability of departing from the plan
    looking: float = 0.2  # Probability of looking at something unknown, without changing anything
    listing: float = 0.5
    """Probability of asking the game for its commands, to find actions that were never seen."""
    played: float = 0.1  # Share of the steps, the last ones, in which the learned manual plays
    aside: int = 10  # One episode in so many is kept aside for verification; none where it is 0
    growth: float = 1.2  # Factor by which the steps have to grow until conclusions are drawn anew


class _ByInterest(NamedTuple):
    """Questions, with the sum of the interest in each and those before it."""

    questions: list[Question]
    sums: list[float]


@dataclass
class Agenda:
    """Questions of sessions: drawn from the ledger anew where enough was seen since the last
    time.
    """

    ledger: Ledger
    exploring: Exploring = field(default_factory=Exploring)
    learned: Learned | None = None
    _due: int = 10  # The number of steps at which conclusions are drawn next
    questions: list[Question] = field(default_factory=list)
    laboratories: list[Laboratory] = field(default_factory=list)
    _pursued_facts: dict[str, Counter[Literal]] = field(default_factory=dict)
    untried: list[Untried] = field(default_factory=list)
    """Declared actions that had not worked by then."""
    looks: list[ActionSchema] = field(default_factory=list)
    """Actions that make things known and change nothing."""
    deadly: dict[str, Past] = field(default_factory=dict)
    """Actions that often ended the task for good, by template."""
    _deadly_verbs: frozenset[str] = frozenset()
    """First words of commands that often did so, whatever they named."""
    _manual: RuleManual = field(default_factory=RuleManual)
    _effects: list[frozenset[Sort]] = field(default_factory=list)
    """By action, the sorts of facts that it makes true."""
    changing: frozenset[str] = frozenset()  # Predicates of facts that actions change
    _purposes: dict[object, Purpose] = field(default_factory=dict)
    """By the facts to be brought about."""
    pursued: Counter[tuple[str, State]] = field(default_factory=Counter)
    """By goal type and guess at what it wants, the episodes with steps towards it."""
    _by_interest: _ByInterest | None = None
    """The last questions, with the sums of the interest in them."""
    listings: int = 0  # Times that a game was asked for its commands
    novelties: int = 0  # And those at which one was new
    new_verbs: Counter[str] = field(default_factory=Counter)
    """By the first word of a command, how often it was tried since it was new."""

    def __post_init__(self) -> None:
        self._look_for_untried()

    def _look_for_untried(self) -> None:
        books = self.ledger.books.values()
        known = self._known_actions()
        before = {untried.book.template: untried for untried in self.untried}
        self.untried = []
        for book in books:
            if book.declared and not book.settled:
                untried = before.get(book.template) or Untried(book, self.ledger.names)
                untried.others = known
                self.untried.append(untried)

    def _known_actions(self) -> list[WorkingAction]:
        """The actions that have worked, with what they need and make."""
        if self.learned is None:
            return []
        models = {model.template: model for model in self.learned.actions}
        found = []
        for laboratory in self.laboratories:
            effects = [fact.literal for fact in models[laboratory.book.template].effects]
            makes = [effect.atom for effect in effects if not effect.negated]
            found.append(WorkingAction(laboratory.odds.needs, makes))
        return found

    def draw_conclusions(self) -> None:
        """Conclude anew where enough was seen since the last time."""
        if self.ledger.steps < self._due:
            return
        while self._due <= self.ledger.steps:
            self._due = int(self._due * self.exploring.growth) + 1
        self.adopt(conclude(self.ledger))

    def reconsider(self, command: str) -> None:
        """Draw conclusions about one action anew, so that the next trial knows how the last one
        ended.
        """
        template = self.ledger.names.read(command).template
        if template not in self.ledger.books:
            return
        if self.learned is None:
            self.adopt(conclude(self.ledger))
        elif self._was_expected(template):
            self._set_up_laboratories(self.learned)
        else:
            self._plan_with(reconsidered(self.learned, self.ledger, template))

    def review(self, command: str, dice: Random) -> None:
        """Draw conclusions anew about an action that was just tried and has hardly ever worked,
        and plan by these: what was refused for want of a doubtful need is not planned again.
        """
        template = self.ledger.names.read(command).template
        before = self.question_about(template)
        if self.learned is None or before is None or before.is_familiar:
            return
        self.learned = reconsidered(self.learned, self.ledger, template)
        question = Question(before.schema, before.book)
        question.asked = before.asked
        self.questions = [question if each is before else each for each in self.questions]
        self.imagine(dice)

    def question_about(self, template: str) -> Question | None:
        """The open questions about an action; None if it is not known yet."""
        for question in self.questions:
            if question.book.template == template:
                return question
        return None

    def _was_expected(self, template: str) -> bool:
        """True if the last attempt of an action ended as its needs foretold: plans stay as they
        are.
        """
        book = self.ledger.books[template]
        needs = None
        for laboratory in self.laboratories:
            if laboratory.book is book:
                needs = laboratory.odds.needs
                break
        if needs is None or needs.table.size != len(book.facts):
            return False
        last = row_of(book.attempts[-1], needs.table.size)
        if last.attempt.refused:
            return bool(last.fails & needs.explanations.explaining)
        return book.succeeded > LIMITS.several and not last.fails & needs.bound.safe

    def adopt(self, learned: Learned) -> None:
        """Ask about conclusions from now on."""
        self._plan_with(learned)
        books = {action.name: self.ledger.books[action.template] for action in learned.actions}
        schemas = self._manual.actions
        self.questions = [Question(schema, books[schema.name]) for schema in schemas]
        self.heed_ruin()

    def heed_ruin(self) -> None:
        """Note which actions often ended the task: the next episode is not to end by them."""
        books = self.ledger.books.values()
        self.deadly = {}
        for book in books:
            if _ends_tasks(book.losses, book.succeeded):
                self.deadly[book.template] = Past(book, lambda attempt: attempt.lost)
        self._deadly_verbs = _deadly_verbs(books)

    @property
    def by_interest(self) -> _ByInterest:
        """The questions, to be drawn by the interest in each."""
        if self._by_interest is None or self._by_interest.questions is not self.questions:
            interests = [question.interest for question in self.questions]
            self._by_interest = _ByInterest(self.questions, list(accumulate(interests)))
        return self._by_interest

    def imagine(self, dice: Random) -> None:
        """Plan an episode by conclusions as they may well be: what is doubted is left out now and
        then, so that a need that held by chance does not bar the way for good.

        Where the world declares its commands, trials settle such doubts one by one.
        """
        if self.learned is not None and not self.ledger.names.signatures:
            self._manual = manual_from(sampled(self.learned, dice), guessing=True)
            self._purposes.clear()

    def _plan_with(self, learned: Learned) -> None:
        """Plan trials, and ways to them, by conclusions from now on."""
        self.learned = learned
        self._manual = manual_from(learned, guessing=True)
        self._purposes.clear()
        schemas = self._manual.actions
        self._effects = []
        for schema in schemas:
            self._effects.append(frozenset(effect.signed for effect in schema.effects))
        self._set_up_laboratories(learned)
        self._look_for_untried()
        every = (*schemas, *self._manual.lore.processes)
        changing: set[str] = set()
        for schema in every:
            changing.update(effect.atom.predicate for effect in schema.effects)
        self.changing = frozenset(changing)
        self.looks = _only_looking(every)

    def _set_up_laboratories(self, learned: Learned) -> None:
        """Make ready to try actions that have worked; one of which nothing was seen since then
        stays as it is.
        """
        before = {laboratory.book.template: laboratory for laboratory in self.laboratories}
        self.laboratories = []
        for action in learned.actions:
            book = self.ledger.books[action.template]
            if not book.slots:
                continue
            known = before.get(action.template)
            if known is None or len(known.odds.needs.table.rows) != len(book.attempts):
                pursued = self._pursued_facts.setdefault(action.template, Counter())
                known = laboratory_of(needs_of(book), pursued)
            known.asked.clear()
            self.laboratories.append(known)

    @property
    def has_deadly(self) -> bool:
        """True if any action often ended the task."""
        return bool(self.deadly or self._deadly_verbs)

    def is_deadly_verb(self, template: str) -> bool:
        """True if commands with a template's first word often ended the task, and little is known
        of the template itself: a name that nobody knows makes a template of its own.
        """
        book = self.ledger.books.get(template)
        is_known = book is not None and book.succeeded >= LIMITS.deadly_often
        return not is_known and verb_of(template) in self._deadly_verbs

    def chance_of_scoring(self, book: Book, type_: str, topic: str, names: Sequence[str]) -> float:
        """How likely an action scores with things of some kinds where goals have a topic: before
        it was tried there, about as often as with such things elsewhere.
        """
        kinds = tuple(map(kind_of, names))
        here: list[bool] = []
        elsewhere: list[bool] = []
        for attempt in book.attempts:
            if attempt.kinds != kinds or attempt.refused:
                continue
            if attempt.goal == type_ and attempt.topic == topic:
                here.append(attempt.scored)
            else:
                elsewhere.append(attempt.scored)
        prior = LIMITS.telling
        usual = (sum(elsewhere) + prior * LIMITS.new_fact) / (len(elsewhere) + prior)
        return (sum(here) + usual) / (len(here) + 1)

    @property
    def schemas(self) -> tuple[ActionSchema, ...]:
        """The actions as they were concluded."""
        return self._manual.actions

    def goal_model(self, type_: str) -> GoalModel | None:
        """Conclusion about a type of goals."""
        if self.learned is None:
            return None
        for model in self.learned.goals:
            if model.type == type_:
                return model
        return None

    def guesses(self, goal: Goal) -> Iterator[State]:
        """Possible wants of a goal, best first.

        Wins that share nothing about a field of the goal may have come about by a side way: then
        guesses go on.
        """
        model = self.goal_model(goal.type)
        if model is not None:
            yield from _wants_of(model)
        if model is None or not says_all(model.state, self.ledger.goals[goal.type]):
            yield from self._unwon_guesses(goal)

    def _unwon_guesses(self, goal: Goal) -> list[State]:
        """Possible wants of a goal of which no win tells.

        First those with facts that all wins had that were set aside; of the others, those that
        say most of the goal's own words: whoever wants something cooled says so.
        """
        book = self.ledger.goals.setdefault(goal.type, GoalBook(goal.type, self.ledger.vocabulary))
        refuted = self.learned.refuted if self.learned else ()
        hints: set[Atom] = set()
        for each in refuted:
            if each.type == goal.type:
                hints |= each.state
        possible = []
        for state in guesses(book, self._made(goal)):
            if not any(starmap(self._at_odds, combinations(state, 2))):
                possible.append(state)
            if len(possible) == LIMITS.guesses:
                break
        words = words_of(goal)

        def rank(state: State) -> tuple[bool, int]:
            return hints.isdisjoint(state), -len(words_said(state, words))

        return sorted(possible, key=rank)

    def _made(self, goal: Goal) -> list[Atom]:
        """Facts about the goal's things that actions make, as far as their roles allow."""
        roles: dict[str, set[str]] = {}
        for name, variables in FIELDS.items():
            word = goal.named(name)
            first, _ = variables
            if word:
                roles[first] = self._roles_of_kind(word)
        found: dict[Atom, None] = {}
        for schema in (*self._manual.actions, *self._manual.lore.processes):
            for effect in schema.effects:
                found |= dict.fromkeys(self._with_roles(effect, roles))
        deeds = self._manual.active("").deeds
        words = words_of(goal)

        def rank(atom: Atom) -> tuple[bool, bool, int, bool]:
            negated = atom.predicate.startswith(NOT)
            unsaid = not words_said((atom,), words)
            return negated, unsaid, -len(atom.args), atom.predicate not in deeds

        return sorted(found, key=rank)

    def _with_roles(self, effect: Literal, roles: Mapping[str, set[str]]) -> Iterator[Atom]:
        """An effect over the goal's variables, in every way that their roles allow."""
        declared = self.ledger.vocabulary.predicates.get(effect.atom.predicate)
        if declared is None or not declared.args:
            return
        for args in self._arguments(declared, roles):
            yield atom_of(Literal(Atom(declared.name, args), effect.negated))

    def _roles_of_kind(self, kind: str) -> set[str]:
        """The roles that any thing of a kind was known to have."""
        found: set[str] = set()
        for name, roles in self.ledger.names.roles.items():
            if kind_of(name) == kind:
                found |= roles
        return found

    def _arguments(
        self, predicate: Predicate, roles: Mapping[str, set[str]]
    ) -> Iterator[tuple[str, ...]]:
        """Ways to put variables into a predicate, by the roles of what they stand for."""
        for args in permutations(roles, len(predicate.args)):
            pairs = zip(predicate.args, args, strict=True)
            if all(self._may_have(roles[name], role) for role, name in pairs):
                yield args

    def _may_have(self, roles: set[str], role: str) -> bool:
        """True unless a thing whose roles are known has others."""
        return not roles or role in roles or role not in self.ledger.names.order

    def _at_odds(self, one: Atom, other: Atom) -> bool:
        """True if each fact is unmade by all actions that make the other: what is put down is
        not held.
        """
        return self._always_unmakes(one, other) and self._always_unmakes(other, one)

    def _always_unmakes(self, one: Atom, other: Atom) -> bool:
        """True if every action that makes a fact unmakes another, and there is such an action."""
        made = Literal(one).signed
        undone = Literal(other, negated=True).signed
        makers = [effects for effects in self._effects if made in effects]
        if not makers:
            return False
        return all(undone in effects for effects in makers)

    def settled(self, type_: str) -> bool:
        """True if nothing is left to be asked about what goals of a type want."""
        model = self.goal_model(type_)
        return model is not None and model.wins >= LIMITS.enough_wins

    def reasoner(self, goal: str = "") -> Reasoner:
        """Plans with what was concluded, towards goals of a type, or anything: each uses what
        others derived.
        """
        return reasoner_of(self._manual.active(goal))

    def towards(
        self, wanted: State | tuple[Clause, ...], situation: Situation, *, best: bool
    ) -> Plan:
        """Plan towards facts about the goal's things, or about things by their names; or its
        best option alone.
        """
        if wanted not in self._purposes:
            self._purposes[wanted] = self._purpose_of(wanted)
        purpose = self._purposes[wanted]
        return self.reasoner().plan(situation, seek=False, purpose=purpose, best=best)

    def _purpose_of(self, wanted: State | tuple[Clause, ...]) -> Purpose:
        """Facts to be brought about, those about where the agent is last."""
        if isinstance(wanted, tuple):
            return Purpose("guess", {}, tuple(Stage("", (need,)) for need in wanted))
        positional = self.reasoner().achievers.positional

        def rank(atom: Atom) -> tuple[bool, int, str]:
            return atom.predicate in positional, len(atom.args), str(atom)

        stages = [Stage("", (Clause((literal_in(atom),)),)) for atom in sorted(wanted, key=rank)]
        return Purpose("guess", fields_of(wanted), tuple(stages))


def _deadly_verbs(books: Iterable[Book]) -> frozenset[str]:
    """First words of commands that often ended the task for good."""
    done: Counter[str] = Counter()
    lost: Counter[str] = Counter()
    for book in books:
        verb = verb_of(book.template)
        done[verb] += book.succeeded
        lost[verb] += book.losses
    often = []
    for verb, count in lost.items():
        if _ends_tasks(count, done[verb]) and count >= LIMITS.deadly * done[verb]:
            often.append(verb)
    return frozenset(often)


def _ends_tasks(losses: int, done: int) -> bool:
    """True if what was done so often ended tasks for good several times, or mostly.

    Every such episode is one that showed nothing more: two of three are warning enough.
    """
    mostly = losses >= LIMITS.fewest_losses and 2 * losses > done
    return mostly or losses >= LIMITS.deadly_often


def _wants_of(model: GoalModel) -> Iterator[State]:
    """Wants as wins tell them: first without one that may not be needed."""
    for fact in model.holds:
        rest = model.state - {atom_of(fact.literal)}
        if rest and fact.label is Label.POSSIBLE:
            yield rest
    yield model.state


def _only_looking(schemas: Iterable[ActionSchema]) -> list[ActionSchema]:
    """Schemas of commands that show something and change nothing, in any use that is known."""
    acting: set[str] = set()
    seeing: list[ActionSchema] = []
    for schema in schemas:
        if schema.effects:
            acting.add(template_of(schema))
        if schema.observes and not schema.others:
            seeing.append(schema)
    return [schema for schema in seeing if template_of(schema) not in acting]
