"""The record of all episodes from which conclusions are drawn: attempts, sights, wins, names."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from random import Random
from typing import NamedTuple

from rpms.induction.conclusions.looks_around import brings_into_sight
from rpms.induction.conclusions.place_maps import PlaceMap, unlisted_role
from rpms.induction.conclusions.scores import Tie
from rpms.induction.evidence.attempts import Attempt, Book, without_facts
from rpms.induction.evidence.contexts import Contexts
from rpms.induction.evidence.linked_attempts import Linked
from rpms.induction.evidence.literals import bits_of
from rpms.induction.evidence.revelations import SeenStep, slots_of
from rpms.induction.evidence.templates import SLOT, Names, ReadCommand, pattern_of, verb_of
from rpms.induction.evidence.vocabulary import Vocabulary
from rpms.induction.evidence.wants import NOT, GoalBook, Story
from rpms.induction.thresholds import LIMITS
from rpms.logic.belief import Belief, Done, FactBelief
from rpms.logic.bits import bits
from rpms.logic.facts import Atom, Truth, kind_of
from rpms.logic.goal import Goal, is_named
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
        others = holding - set(named)
        self.always[template] = self.always.get(template, others) & others
        self.episodes.setdefault(template, set()).add(episode)
        if len(self.episodes[template]) < LIMITS.fewest_successes:
            return
        seldom = LIMITS.seldom_in_hand * self.total
        for name in sorted(self.always[template]):
            if self.held[name] <= seldom:
                yield name


# The fact of a world that asks back: its question is neither a success nor a refusal
_ASKED = Atom("asked", ())


def vocabulary_of(world: World) -> Vocabulary:
    """Part of a world's manual that is taken over: its facts and their words, not what they
    follow from.
    """
    manual = manual_of(world)
    listed = manual.lore.facts
    companions = set()
    for name, predicate in manual.predicates.items():
        if not predicate.lasting and name not in listed:
            companions.add(predicate.exclusive)
    taken_over = {}
    for name, predicate in manual.predicates.items():
        # a companion is taken over in any case: without it, `exclusive` would name nothing
        if not predicate.lasting and (name not in listed or name in companions):
            taken_over[name] = predicate
    decisive = 1 if world.nothing_hidden else LIMITS.decisive
    return Vocabulary(taken_over, positive=world.positive_needs, decisive=decisive)


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
    done: Counter[str] = field(default_factory=Counter)
    """By the first word of a command, how often it worked."""
    showing: Counter[str] = field(default_factory=Counter)
    """By command that names nothing, how often it brought new things of a place into sight."""
    endings: dict[str, set[str]] = field(default_factory=dict)
    """By the beginning of a command in which no name is known, the last words that worked."""
    tried_to_look: Counter[str] = field(default_factory=Counter)
    """By such a command, how often it was given to see what it shows at a place just reached."""
    moving: Counter[str] = field(default_factory=Counter)
    """By the first word of a command, how often it took the agent somewhere else."""
    opening: Counter[str] = field(default_factory=Counter)
    """By the first word of a command, how often a move followed it that has a word in common."""
    maps: dict[str, PlaceMap] = field(default_factory=dict)
    """By role, the places that the belief does not list among its names."""
    unlisted: bool = False  # True if there are such places: what scores may be out of sight
    ties: dict[str, dict[Tie, None]] = field(default_factory=dict)
    """By name, what it is tied to for good."""
    in_hand: InHand = field(default_factory=InHand)
    contexts: Contexts = field(default_factory=Contexts)
    apart: bool = False  # True if of an episode only the names are taken over
    orders: Book = field(init=False)  # Commands that were names themselves

    def __post_init__(self) -> None:
        self.orders = Book(SLOT, self.vocabulary, plain=True)
        self.names.declare(self.world.signatures)
        for signature in self.names.signatures:
            self.books[signature.template] = Book(
                signature.template, self.vocabulary, declared=signature.parameters
            )

    @property
    def hardly_won(self) -> bool:
        """True if tasks score on the way, and of several hardly any was won; also where places are
        unlisted and nothing was won or scored yet.
        """
        wins = sum(len(book.wins) for book in self.goals.values())
        if not self.scores:
            return self.unlisted and not wins
        too_early_to_tell = self.episodes < LIMITS.episodes_for_a_win and not self.unlisted
        if too_early_to_tell:
            return False
        return wins * LIMITS.episodes_for_a_win <= self.episodes

    def topic_of(self, goal: Goal) -> str:
        """A goal's object that nothing was ever called: it divides a type of goals, and names no
        thing; nothing where it names one.
        """
        return "" if goal.object in self.names.kinds else goal.object

    def add_form(self, template: str) -> None:
        """Read commands about nothing known as a template says, also those of earlier attempts: of
        these, nothing is known but how they ended.
        """
        if not self.names.add_form(template):
            return
        form = pattern_of(template)
        for each in [*self.books]:
            match = form.fullmatch(each)
            if match is None or SLOT in each:
                continue
            book = self.books.setdefault(template, Book(template, self.vocabulary))
            book.widen(match.groups(), self.names)
            kinds = tuple(map(kind_of, match.groups()))
            for attempt in self.books.pop(each).attempts:
                earlier = without_facts(attempt)
                book.add(earlier._replace(names=match.groups(), kinds=kinds), self.names)
            self.linked.pop(each, None)

    def read(self, trace: Trace) -> None:
        """Take over a whole episode."""
        diary = Diary(self, trace.episode, trace.opening)
        for step in trace.steps:
            diary.add(step)


def _is_about_same(before: str, move: str) -> bool:
    """True if a command says all that a move says after its first word, and little else."""
    said = _long_words(before)
    wanted = _long_words(move)
    return bool(wanted) and wanted <= said and len(said) <= len(wanted) + 1


def _long_words(command: str) -> set[str]:
    """The words after the first, without form words."""
    return {word for word in command.split()[1:] if len(word) >= LIMITS.stem}


class Mention(NamedTuple):
    """The slots of an action whose things a goal speaks of, as bits."""

    objects: int  # Those whose kind the goal's object is
    destinations: int
    said: int  # Those whose kind the goal's text names


def mention_of(goal: Goal, kinds: Sequence[str]) -> Mention:
    """The slots with things of some kinds that a goal speaks of."""
    objects = [kind == goal.object for kind in kinds]
    destinations = [kind == goal.destination for kind in kinds]
    named = [is_named(kind, goal.text) for kind in kinds]
    return Mention(bits_of(objects), bits_of(destinations), bits_of(named))


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
        self._score = 0.0
        self._best = 0.0
        self.past: tuple[Done, ...] = ()
        self._done_here: list[str] = []  # Commands that worked since the agent came to its place
        self._counted: set[str] = set()
        digest = hashlib.sha256(episode.encode("utf-8", "surrogatepass")).digest()
        self._dice = Random(int.from_bytes(digest[:8]))  # noqa: S311  no secret
        book = ledger.goals.setdefault(self.goal.type, GoalBook(self.goal.type, ledger.vocabulary))
        self._story = Story(book, self.goal)
        ledger.names.begin()
        ledger.episodes += 1
        self._know(self.belief)
        self._know_place(self.belief)

    @property
    def learns(self) -> bool:
        """True if anything is learned from the episode but names."""
        return not self._ledger.apart

    def add(self, step: Spoken) -> bool:
        """Take over a step; whether the world refused it."""
        ledger = self._ledger
        before = self.belief
        self.steps.append(step)
        ledger.steps += 1
        after: Belief = ledger.world.update(before, step.command, step.answer)
        self.belief = after
        if isinstance(after, FactBelief) or after.names != before.names:
            self._know(after)
        if after.location != before.location:
            self._know_place(after)
        refused = ledger.world.infeasible(step.answer)
        if before.value(*_ASKED) or after.value(*_ASKED):
            return refused
        if not ledger.apart:
            witness = Witness(self.episode, len(self.steps))
            self._take_over(step, SeenStep(before, after, witness, refused))
        self._count_score(step, refused=refused)
        return refused

    def _take_over(self, said: Spoken, step: SeenStep) -> None:
        """Learn from a step."""
        ledger = self._ledger
        ledger.vocabulary.seen.add(self.episode, step.after)
        self._imagine(step.after)
        self._attempt(said, step)
        self._story.add(
            step.after, said, step.witness, ledger.changing, ledger.names, refused=step.refused
        )

    def _count_score(self, step: Spoken, *, refused: bool) -> None:
        """Remember the score, and the step among those that were done."""
        rose = step.score > self._score
        if rose and not step.won:
            self._ledger.scores = True
        if not refused:
            self.past += (Done(step.command, rose),)
        self._score = step.score
        self._best = max(step.score, self._best)

    def _know(self, belief: Belief) -> None:
        """Learn the names that a belief knows."""
        self._ledger.names.learn(belief.names)
        if isinstance(belief, FactBelief):
            self._ledger.names.learn(self._spoken_of(belief))
        new: dict[str, None] = {}
        for known in belief.names.values():
            new |= dict.fromkeys(name for name in known if name not in self._counted)
        self._counted.update(new)
        self._tie(new, belief)
        self._ledger.names.spread.update(list(new))

    def _know_place(self, belief: Belief) -> None:
        """Learn the name of the agent's place where the belief does not list it."""
        role = unlisted_role(self._ledger.vocabulary, belief)
        if role is not None and belief.location is not None:
            self._ledger.unlisted = True
            self._ledger.names.learn({role: [belief.location]})

    def _spoken_of(self, belief: FactBelief) -> dict[str, list[str]]:
        """By role, names that facts speak of and nothing else was known to have: an app's
        permissions.
        """
        found: dict[str, list[str]] = {}
        for atom in belief.known:
            declared = self._ledger.vocabulary.predicates.get(atom.predicate)
            if declared is None:
                continue
            for arg, role in zip(atom.args, declared.args, strict=False):
                if arg != ANYTHING and arg not in self._ledger.names.roles:
                    found.setdefault(role, []).append(arg)
        return found

    def _tie(self, names: Iterable[str], belief: Belief) -> None:
        """Find what else a name says: facts about it that the belief knew before anything was
        seen.
        """
        ledger = self._ledger
        if not ledger.scores:
            return
        for name in names:
            for tie in self._ties_of(name, belief):
                ledger.ties.setdefault(name, {}).setdefault(tie)

    def _ties_of(self, name: str, belief: Belief) -> Iterator[Tie]:
        """The ties that a name had before anything was seen."""
        roles = self._ledger.names.roles[name]
        for predicate in self._ledger.vocabulary.predicates.values():
            if len(predicate.args) != 2:
                continue
            own_role, role = predicate.args
            if own_role not in roles:
                continue
            for other in belief.names.get(role, ()):
                if self._unseen.truth(Atom(predicate.name, (name, other))) is Truth.TRUE:
                    yield Tie(predicate.name, role, other)

    def _attempt(self, said: Spoken, step: SeenStep) -> None:
        """Record a step in the book of its action, with what it changed and where it found
        things.
        """
        ledger = self._ledger
        orders = ledger.orders
        is_order = said.command in ledger.names.roles
        if is_order and (orders.slots or not step.refused):
            orders.add(self._recorded(orders, said, (said.command,), step), ledger.names)
        if not step.refused:
            self._count_by_verb(said.command, step)
        reading = ledger.names.read(said.command)
        ledger.contexts.add(reading, step)
        if not reading.names and brings_into_sight(step.before, step.after):
            ledger.showing[said.command] += 1
        nonsense = step.refused and reading.template not in ledger.books
        if not nonsense:
            self._add_attempt(said, reading, step)

    def _add_attempt(self, said: Spoken, reading: ReadCommand, step: SeenStep) -> None:
        """Record a step in the book of its action, which is begun where there is none."""
        ledger = self._ledger
        template = reading.template
        if template not in ledger.books:
            ledger.books[template] = Book(template, ledger.vocabulary)
        book = ledger.books[template]
        attempt = self._recorded(book, said, reading.names, step)
        book.add(attempt, ledger.names)
        if template not in ledger.linked:
            ledger.linked[template] = Linked(template, ledger.vocabulary)
        linked = ledger.linked[template]
        linked.add(attempt, step, ledger.names, self._dice)
        if step.refused:
            return
        self._note_form(said.command, reading)
        holding = step.before.holding
        in_hand = ledger.in_hand.add(template, reading.names, holding, self.episode)
        ledger.names.in_hand |= dict.fromkeys(in_hand)
        self._note_changes(book, step.witness)
        self._note_changes(linked.near, step.witness)
        self._sight(book, attempt, step.after)

    def _note_form(self, command: str, reading: ReadCommand) -> None:
        """Note how a command about one thing is written, where a belief does not list all things:
        one that names a known thing at its end, or two that differ in nothing but their last word.
        """
        ledger = self._ledger
        if not ledger.unlisted:
            return
        if len(reading.names) == 1 and reading.template.endswith(SLOT):
            ledger.add_form(reading.template)
        beginning, _, last = command.rpartition(" ")
        if not reading.names and " " in beginning:
            ledger.endings.setdefault(beginning, set()).add(last)
            if len(ledger.endings[beginning]) >= LIMITS.fewest_successes:
                ledger.add_form(f"{beginning} {SLOT}")

    def _count_by_verb(self, command: str, step: SeenStep) -> None:
        """Count a command that worked by its first word, whatever names it has."""
        ledger = self._ledger
        verb = verb_of(command)
        ledger.done[verb] += 1
        here = step.before.location
        there = step.after.location
        if here == there:
            self._done_here.append(command)
            return
        ledger.moving[verb] += 1
        opening = set()
        for before in self._done_here:
            if _is_about_same(before, command):
                opening.add(verb_of(before))
        ledger.opening.update(opening)
        self._done_here.clear()
        role = unlisted_role(ledger.vocabulary, step.after)
        if role is not None and here and there:
            ledger.maps.setdefault(role, PlaceMap(role)).add(here, there, step.witness)

    def _note_changes(self, book: Book, witness: Witness) -> None:
        """Note the predicates that a step made true or false, if it is the last in a book."""
        if not book.attempts or book.attempts[-1].witness != witness:
            return
        last = book.attempts[-1]
        made = last.true_after & ~last.true
        unmade = last.true & last.false_after
        for bit in bits(made):
            self._ledger.changing.add(book.facts[bit].predicate)
        for bit in bits(unmade):
            self._ledger.changing.add(NOT + book.facts[bit].predicate)

    def _recorded(
        self, book: Book, said: Spoken, names: tuple[str, ...], step: SeenStep
    ) -> Attempt:
        """An attempt as the book has it, with what it meant for the goal: a win, a loss, a better
        score.
        """
        goal = self.goal
        attempt = book.record(step, names, self._ledger.names, self._dice)
        all_listed = all(name in self._ledger.names.roles for name in names)
        if not all_listed and not book.declared:
            attempt = without_facts(attempt)  # a belief knows nothing of what it does not list
        mention = mention_of(goal, attempt.kinds)
        return attempt._replace(
            lost=said.lost,
            won=said.won,
            goal=goal.type,
            topic=self._ledger.topic_of(goal),
            scored=said.score > self._score,
            further=said.score > self._best,
            goal_objects=mention.objects,
            goal_destinations=mention.destinations,
            said=mention.said,
            gain=max(0.0, said.score) - max(0.0, self._score),
        )

    def _imagine(self, belief: Belief) -> None:
        """Look at actions that could be tried now, with what is held or with any names in their
        roles.
        """
        books = list(self._ledger.books.values())
        if not books:
            return
        names_around = self._ledger.vocabulary.answers(belief).names_around
        for _ in range(LIMITS.imagined_at_step):
            book = self._dice.choice(books)
            if not book.slots or len(book.imagined) >= LIMITS.most_imagined:
                continue
            names = names_around.draw(_roles_of(book), self._dice, twice=bool(book.declared))
            if names is not None:
                book.imagined.append(book.measure(belief, names))

    def _sight(self, book: Book, attempt: Attempt, after: Belief) -> None:
        """Count what was found where, at the moment in which it became known."""
        fresh = attempt.revealed_after & ~attempt.revealed
        slots = slots_of(attempt.names)
        for bit in bits(fresh):
            atom = book.revelations[bit]
            places = [slots[arg] for arg in atom.args if arg != ANYTHING]
            if len(atom.args) != 2 or not places:
                continue
            if atom.predicate not in book.vocabulary.companions:
                things = self._things_found(book, attempt, atom, after)
                sights = self._ledger.sights.setdefault(atom.predicate, Sights())
                sights.add(places[0], things, attempt.witness)

    def _things_found(self, book: Book, attempt: Attempt, atom: Atom, after: Belief) -> list[str]:
        """Names that `_` in a revelation stands for truly: the things that are in a place."""
        answers = book.vocabulary.answers(after)
        slots = slots_of(attempt.names)
        named = {slots.get(arg) for arg in atom.args}
        found = []
        for name in dict.fromkeys(chain.from_iterable(after.names.values())):
            slots[ANYTHING] = name
            if name not in named and answers[atom.bind(slots)]:
                found.append(name)
        return found


def _roles_of(book: Book) -> list[tuple[str, ...]]:
    """For each slot of an action, the roles that names in it may have."""
    if book.declared:
        return [(parameter,) for parameter in book.declared]
    return [tuple(sorted(roles or ())) for roles in book.roles]
