"""The record of all episodes from which conclusions are drawn: attempts, sights, wins, names."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from random import Random

from rpms.induction.attempts import Attempt, Book
from rpms.induction.linked_attempts import Linked
from rpms.induction.literals import bits
from rpms.induction.revelations import SeenStep, slots_of
from rpms.induction.scores import Tie
from rpms.induction.templates import SLOT, Names, draw
from rpms.induction.thresholds import LIMITS
from rpms.induction.vocabulary import SeenState, Vocabulary
from rpms.induction.wants import NOT, GoalBook, Story
from rpms.logic.belief import Belief, Done, FactBelief
from rpms.logic.facts import Atom, Truth, kind_of
from rpms.logic.goal import Goal
from rpms.logic.rules import ANYTHING
from rpms.play.sources import manual_of
from rpms.store.evidence import Spoken, Trace, Witness
from rpms.worlds.base import World


@dataclass
class Sights:
    """Places of finds: looks into each kind of place, and finds of each kind of thing there."""

    looked: Counter[str] = field(default_factory=Counter)
    found: dict[tuple[str, str], list[Witness]] = field(default_factory=dict)
    """By kind of thing and of place."""

    def add(self, place: str, things: Iterable[str], witness: Witness) -> None:
        """Take over what a place was seen to hold."""
        where = kind_of(place)
        self.looked[where] += 1
        for kind in dict.fromkeys(map(kind_of, things)):
            self.found.setdefault((kind, where), []).append(witness)


@dataclass
class InHand:
    """Things in hand when actions worked: whoever lit a lamp had matches in hand."""

    held: Counter[str] = field(default_factory=Counter)
    """By name, how often something was in hand when anything worked."""
    total: int = 0
    always: dict[str, set[str]] = field(default_factory=dict)
    """By action, what was in hand whenever it worked, and is not what it was done to."""
    episodes: dict[str, set[str]] = field(default_factory=dict)

    def add(
        self, template: str, named: Iterable[str], holding: Iterable[str], episode: str
    ) -> Iterator[str]:
        """Take over a success; which names were in hand in all of them, and seldom with other
        actions.
        """
        holding = set(holding)
        self.held.update(holding)
        self.total += 1
        rest = holding - set(named)
        self.always[template] = self.always.get(template, rest) & rest
        self.episodes.setdefault(template, set()).add(episode)
        if len(self.episodes[template]) >= LIMITS.fewest_successes:
            seldom = LIMITS.seldom_in_hand * self.total
            yield from (name for name in sorted(self.always[template]) if self.held[name] <= seldom)


# The fact of a world that asks back: its question is neither a success nor a refusal
_ASKED = Atom("asked", ())


def vocabulary_of(world: World) -> Vocabulary:
    """Part of a world's manual that is taken over: its facts and their words, not what they
    follow from.
    """
    manual = manual_of(world)
    told = {name: each for name, each in manual.predicates.items() if not each.lasting}
    answered = {name: each for name, each in told.items() if name not in manual.lore.facts}
    # without them, `exclusive` would name nothing
    companions = {each.exclusive for each in answered.values()}
    return Vocabulary(
        {name: each for name, each in told.items() if name in answered or name in companions},
        positive=world.positive_needs,
    )


@dataclass
class Ledger:
    """Record of all episodes so far."""

    world: World
    vocabulary: Vocabulary
    names: Names = field(default_factory=Names)
    books: dict[str, Book] = field(default_factory=dict)
    sights: dict[str, Sights] = field(default_factory=dict)
    """By the predicate that says what is where."""
    goals: dict[str, GoalBook] = field(default_factory=dict)
    episodes: int = 0
    steps: int = 0
    changing: set[str] = field(default_factory=set)  # The predicates that some action has made true
    linked: dict[str, Linked] = field(default_factory=dict)
    """By template, attempts with what it does not name."""
    scores: bool = False  # True if parts of tasks were seen to score
    ties: dict[str, dict[Tie, None]] = field(default_factory=dict)
    """By name, what it is tied to for good."""
    in_hand: InHand = field(default_factory=InHand)
    apart: bool = False  # True if of an episode only the names are taken over
    orders: Book = field(init=False)  # Commands that were names themselves

    def __post_init__(self) -> None:
        self.orders = Book(SLOT, self.vocabulary, plain=True)
        self.names.declare(self.world.signatures)
        for signature in self.names.signatures:
            self.books[signature.template] = Book(
                signature.template, self.vocabulary, declared=signature.parameters
            )

    def read(self, trace: Trace) -> None:
        """Take over a whole episode."""
        diary = Diary(self, trace.episode, trace.opening)
        for step in trace.steps:
            diary.add(step)


class Diary:
    """One episode as it is taken over."""

    def __init__(self, ledger: Ledger, episode: str, opening: str) -> None:
        world = ledger.world
        self._ledger = ledger
        self.episode = episode
        self.goal: Goal = world.goal(opening)
        self._unseen = world.start(self.goal)
        self.belief: Belief = world.update(self._unseen, None, opening)
        self.steps: list[Spoken] = []
        self._score = self._best = 0.0
        self.past: tuple[Done, ...] = ()
        self._counted: set[str] = set()
        digest = hashlib.sha256(episode.encode("utf-8", "surrogatepass")).digest()
        self._dice = Random(int.from_bytes(digest[:8]))  # noqa: S311  no secret
        book = ledger.goals.setdefault(self.goal.type, GoalBook(self.goal.type, ledger.vocabulary))
        self._story = Story(book, self.goal)
        ledger.names.begin()
        ledger.episodes += 1
        self._know(self.belief)

    def add(self, step: Spoken) -> bool:
        """Take over a step; whether the world refused it."""
        ledger, before = self._ledger, self.belief
        self.steps.append(step)
        ledger.steps += 1
        after: Belief = ledger.world.update(before, step.command, step.answer)
        self.belief = after
        if isinstance(after, FactBelief) or after.names != before.names:
            self._know(after)
        refused = ledger.world.infeasible(step.answer)
        if before.value(*_ASKED) or after.value(*_ASKED):
            return refused
        witness = Witness(self.episode, len(self.steps))
        if not ledger.apart:
            ledger.vocabulary.seen.add(SeenState(self.episode, after))
            self._imagine(after)
            self._attempt(step, SeenStep(before, after, witness, refused))
            self._story.add(after, step, witness, ledger.changing, ledger.names, refused=refused)
        ledger.scores |= step.score > self._score and not step.won
        if not refused:
            self.past += (Done(step.command, step.score > self._score),)
        self._score, self._best = step.score, max(step.score, self._best)
        return refused

    def _know(self, belief: Belief) -> None:
        self._ledger.names.learn(belief.names)
        # facts may speak of what nothing was known to have: an app's permissions
        if isinstance(belief, FactBelief):
            found: dict[str, list[str]] = {}
            for atom in belief.known:
                declared = self._ledger.vocabulary.predicates.get(atom.predicate)
                for arg, role in zip(atom.args, declared.args if declared else (), strict=False):
                    if arg != ANYTHING and arg not in self._ledger.names.roles:
                        found.setdefault(role, []).append(arg)
            self._ledger.names.learn(found)
        new = list(
            {
                name: None
                for some in belief.names.values()
                for name in some
                if name not in self._counted
            }
        )
        self._counted.update(new)
        self._tie(new, belief)
        self._ledger.names.spread.update(new)

    def _tie(self, names: Iterable[str], belief: Belief) -> None:
        """Find what else a name says: facts about it that the belief knew before anything was
        seen.
        """
        ledger = self._ledger
        for name in names if ledger.scores else ():
            roles = ledger.names.roles[name]
            for predicate in ledger.vocabulary.predicates.values():
                if len(predicate.args) != 2 or predicate.args[0] not in roles:
                    continue
                for other in belief.names.get(predicate.args[1], ()):
                    tie = Tie(predicate.name, predicate.args[1], other)
                    known = ledger.ties.get(name, {})
                    if (
                        tie not in known
                        and self._unseen.truth(Atom(predicate.name, (name, other))) is Truth.TRUE
                    ):
                        ledger.ties.setdefault(name, {})[tie] = None

    def _attempt(self, said: Spoken, step: SeenStep) -> None:
        ledger, (before, after, _, refused) = self._ledger, step
        if said.command in ledger.names.roles and (ledger.orders.slots or not refused):
            ledger.orders.add(
                self._recorded(ledger.orders, said, (said.command,), step), ledger.names
            )
        reading = ledger.names.read(said.command)
        book = ledger.books.get(reading.template)
        if book is None:
            if refused:
                return  # nonsense is no action
            book = ledger.books[reading.template] = Book(reading.template, ledger.vocabulary)
        attempt = self._recorded(book, said, reading.names, step)
        book.add(attempt, ledger.names)
        linked = ledger.linked.setdefault(
            reading.template, Linked(reading.template, ledger.vocabulary)
        )
        linked.add(attempt, step, ledger.names, self._dice)
        if refused:
            return
        in_hand = ledger.in_hand.add(reading.template, reading.names, before.holding, self.episode)
        ledger.names.in_hand |= dict.fromkeys(in_hand)
        for each in (book, linked.near):
            last = each.attempts[-1] if each.attempts else None
            if last is not None and last.witness == attempt.witness:
                made = last.true_after & ~last.true
                unmade = last.true & last.false_after
                ledger.changing |= {each.facts[bit].predicate for bit in bits(made)}
                ledger.changing |= {NOT + each.facts[bit].predicate for bit in bits(unmade)}
        self._sight(book, attempt, after)

    def _recorded(
        self, book: Book, said: Spoken, names: tuple[str, ...], step: SeenStep
    ) -> Attempt:
        goal = self.goal
        attempt = book.record(step, names, self._ledger.names, self._dice)
        meant = 0
        for slot, kind in enumerate(attempt.kinds):
            meant |= ((kind == goal.object) | (kind == goal.destination) << 1) << 2 * slot
        scored = said.score > self._score
        further = said.score > self._best
        return attempt._replace(
            lost=said.lost,
            won=said.won,
            goal=goal.type,
            scored=scored,
            further=further,
            meant=meant,
        )

    def _imagine(self, belief: Belief) -> None:
        """Look at actions that could be tried now, with what is held or with any names in their
        roles.
        """
        books = list(self._ledger.books.values())
        for _ in range(LIMITS.imagined_at_step):
            book = self._dice.choice(books) if books else None
            if book is None or not book.slots or len(book.imagined) >= LIMITS.most_imagined:
                continue
            roles: list[Collection[str]] = [roles or () for roles in book.roles]
            if book.declared:
                roles = [(parameter,) for parameter in book.declared]
            names = draw(belief, roles, self._dice, twice=bool(book.declared))
            if names is not None:
                book.imagined.append(book.measure(belief, names))

    def _sight(self, book: Book, attempt: Attempt, after: Belief) -> None:
        """Count what was found where, at the moment in which it became known."""
        fresh = attempt.known_after & ~attempt.known
        slots = slots_of(attempt.names)
        companions = (
            {each.exclusive for each in book.vocabulary.predicates.values()} if fresh else ()
        )
        answers = book.vocabulary.answers(after)
        for place, atom in enumerate(book.revelations):
            if not fresh >> place & 1 or len(atom.args) != 2 or atom.predicate in companions:
                continue
            where = next((slots[arg] for arg in atom.args if arg != ANYTHING), None)
            if where is not None:
                known = dict.fromkeys(
                    name for names in after.names.values() for name in names if name != where
                )
                true = [each for each in known if answers[atom.bind({**slots, ANYTHING: each})]]
                self._ledger.sights.setdefault(atom.predicate, Sights()).add(
                    where, true, attempt.witness
                )
