"""Open questions about actions, guesses at goals, and ventures: actions that may score."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice, permutations, product, starmap
from random import Random
from typing import NamedTuple

from rpms.core.actions import PARAMETER, ActionSchema, Instance
from rpms.core.belief import Belief, Situation
from rpms.core.facts import Atom, Clause, Literal, Truth, kind_of
from rpms.core.goal import Goal
from rpms.core.planning.reason import Plan, Reasoner, reasoner_of
from rpms.core.rules import Predicate, Purpose, RuleManual, Stage
from rpms.learn.rules.attempts import Attempt, Book
from rpms.learn.rules.conclude import Learned, bolder, conclude, manual_from
from rpms.learn.rules.ledger import Ledger
from rpms.learn.rules.needs import bits, needs_of, signed, union
from rpms.learn.rules.templates import SLOT, fill
from rpms.learn.rules.thresholds import LIMITS
from rpms.learn.rules.wants import FIELDS, NOT, GoalBook, GoalModel, State, atom_of, fields_of, guesses, literal_in
from rpms.store.evidence import Label


class Question:
    """Open questions about an action, ready to be asked of many states."""

    def __init__(self, schema: ActionSchema, book: Book) -> None:
        self.schema = schema
        self.book = book
        self.needs = needs = needs_of(book)
        self.decisive = {bit: len(needs.decisive(bit)) for bit in bits(needs.explaining)}
        """Refusals that show that a fact is needed, by its bit."""
        self.faultless = Counter(attempt.kinds for attempt in needs.faultless)  # Which only the kinds can explain
        successes = len(book.successes)
        self.wanted = needs.required if successes < LIMITS.few_successes else needs.explaining
        """The best guess at what it needs."""
        self.places = tuple(sorted({bit % needs.size for bit in bits(self.wanted | needs.required)}))
        """Places of the facts that decide what a trial of it would settle."""
        usual = Counter(bit for _, true, _ in needs.wins for bit in bits(true))
        own = [bool(fact.args) == bool(book.slots) and all(map(str.isdigit, fact.args)) for fact in book.facts] * 2
        self.unusual = sum(1 << bit for bit, holds in enumerate(own) if holds and usual[bit] < LIMITS.several)
        """Facts about its things with which it has hardly ever succeeded: who knows what it does to them."""
        self.rare = min(1.0, LIMITS.many_successes / max(1, successes))
        self.interest = 1 / (1 + successes / LIMITS.half_interest) if book.slots else 0.0
        """Weight among other actions: an action of nothing has nothing to be settled."""
        known = min((self.decisive.get(bit, 0) for bit in bits(self.wanted)), default=LIMITS.decisive * 2)
        self._by_facts = 5.0 if needs.required & ~self.wanted else 4.0 / (1 + known)
        """The most that a fact that is missing can be worth."""
        self.asked: Counter[object] = Counter()  # Trials since conclusions were drawn, by what each was to settle

    def rarity(self, true: int, false: int) -> tuple[float, int]:
        """Rarity of its trials where such facts are so, unless one that explains refusals is false, and the facts."""
        holds, fails = signed(true, false, self.needs.size)
        unusual = holds & self.unusual
        return (1 / (1 + self.asked[unusual]) if unusual and not fails & self.needs.explaining else 0.0), unusual

    def gain(self, true: int, false: int, kinds: tuple[str, ...]) -> tuple[float, object]:
        """Value of doing it where some facts are true and some false, and the question it would settle."""
        needs = self.needs
        holds, fails = signed(true, false, needs.size)
        missing, fits = self.wanted & ~holds, self.fits(kinds)
        if missing:
            single = missing & (missing - 1) == 0 and fails & missing
            if not single or not fits or (needs.paired and not self.book.worked[kinds]):
                return 0.0, None
            known = self.decisive.get(missing.bit_length() - 1, 0) + self.asked[missing]
            return (4.0 / (1 + known) if known < 2 * LIMITS.decisive else 0.0), missing
        open_ = needs.required & ~holds
        if open_:
            # what was never seen to be missing alone, and is missing now
            known = self.asked[open_]
            return (5.0 / (1 + known) if fits and fails & open_ else 0.0), open_
        return self._by_kinds(kinds), kinds

    def most(self, kinds: tuple[str, ...]) -> float:
        """The most that doing it with things of some kinds can be worth, whatever is so of them."""
        return max(self._by_kinds(kinds), self._by_facts if self.fits(kinds) else 0.0)

    def fits(self, kinds: tuple[str, ...]) -> bool:
        """True if it has worked with each of some kinds in its slot."""
        return all(map(set.__contains__, self.needs.fit, kinds))

    def fitting(self, kinds: tuple[str, ...]) -> float:
        """Likelihood that it works with things of some kinds at all, by the number of kinds that did and did not."""
        share = 1.0
        for slot, (kind, fit) in enumerate(zip(kinds, self.needs.fit, strict=True)):
            if kind not in fit:
                refused = {those[slot] for those in self.faultless} - fit
                share *= (len(fit) + 1) / (len(fit) + len(refused) + 2)
        return share

    def _by_kinds(self, kinds: tuple[str, ...]) -> float:
        """Value of doing it with things of some kinds where no fact is missing."""
        worked, tried = self.book.worked[kinds], self.faultless.get(kinds, 0) + self.asked[kinds]
        if not worked and tried < LIMITS.refused_kinds:
            return (4.0 if not self.fits(kinds) else 3.0) / (1 + tried) * self.rare
        return self.rare / (1 + worked + self.asked[kinds])


@dataclass(frozen=True, slots=True)
class Exploring:
    """Settings of an exploration."""

    steps: int = 20_000
    per_episode: int = 0  # Steps of an episode at most; as many as the world gives a player where it is 0
    seed: int = 0
    imagined: int = 12  # Actions that are imagined at a step
    pursued: int = 10  # Steps that an experiment, or a guess at a goal, may take to prepare
    goals: float = 0.6  # How many of the episodes whose goal type is not settled are about the goal
    astray: float = 0.15  # How many steps are not what was planned
    looking: float = 0.2  # How often one looks, without changing anything, at what is unknown
    listing: float = 0.5  # How often the game is asked which commands it takes, to find actions that were never seen
    growth: float = 1.2  # How much more has to be seen until conclusions are drawn anew


@dataclass
class Agenda:
    """Questions of sessions: drawn from the ledger anew where enough was seen since the last time."""

    ledger: Ledger
    how: Exploring = field(default_factory=Exploring)
    learned: Learned | None = None
    bold: bool = False  # True to doubt all that may be doubted: for types that are not won with it
    _due: int = 40  # The number of steps at which conclusions are drawn next
    questions: list[Question] = field(default_factory=list)
    looks: list[ActionSchema] = field(default_factory=list)  # What makes things known and changes nothing
    deadly: dict[str, Past] = field(default_factory=dict)  # Actions that often ended the task for good, by template
    _manual: RuleManual = field(default_factory=RuleManual)
    _effects: list[frozenset[tuple[str, bool]]] = field(default_factory=list)  # By action, predicates and signs
    changing: frozenset[str] = frozenset()  # Predicates of facts that actions change
    _purposes: dict[object, Purpose] = field(default_factory=dict)  # By the facts to be brought about
    pursued: Counter[tuple[str, State]] = field(default_factory=Counter)

    def draw_conclusions(self) -> None:
        """Conclude anew where enough was seen since the last time."""
        if self.ledger.steps < self._due:
            return
        while self._due <= self.ledger.steps:
            self._due = int(self._due * self.how.growth) + 1
        self.adopt(conclude(self.ledger))

    def adopt(self, learned: Learned) -> None:
        """Ask about conclusions from now on. A guess at a goal that nothing came of may be within reach now."""
        self.learned = learned
        self._manual = manual_from(bolder(learned) if self.bold else learned, guessing=True)
        schemas = self._manual.actions
        self._effects = [frozenset((each.atom.predicate, each.negated) for each in one.effects) for one in schemas]
        self._purposes.clear()
        self.pursued.clear()
        books = {action.name: self.ledger.books[action.template] for action in learned.actions}
        self.questions = [Question(schema, books[schema.name]) for schema in schemas]
        every = (*schemas, *self._manual.lore.processes)
        self.changing = frozenset(effect.atom.predicate for each in every for effect in each.effects)
        acting = {PARAMETER.sub(SLOT, each.syntax[0]) for each in every if each.effects}
        seeing = [each for each in every if each.observes and not each.others]
        self.looks = [each for each in seeing if PARAMETER.sub(SLOT, each.syntax[0]) not in acting]
        often = [book for book in self.ledger.books.values() if book.losses >= LIMITS.deadly_often]
        self.deadly = {book.template: Past(book, lambda attempt: attempt.lost) for book in often}

    def goal_model(self, type_: str) -> GoalModel | None:
        """Conclusion about a type of goals."""
        return next((each for each in self.learned.goals if each.type == type_), None) if self.learned else None

    def guesses(self, goal: Goal) -> Iterator[State]:
        """Possible wants of a goal, best first."""
        model = self.goal_model(goal.type)
        book = self.ledger.goals.setdefault(goal.type, GoalBook(goal.type, self.ledger.vocabulary))
        if model is None:
            refuted = self.learned.refuted if self.learned else ()
            hints = {atom for each in refuted if each.type == goal.type for atom in each.state}  # all wins had these
            made = guesses(book, self._made(goal))
            some = (state for state in made if not any(starmap(self._at_odds, combinations(state, 2))))
            yield from sorted(islice(some, LIMITS.guesses), key=hints.isdisjoint)
            return
        for fact in model.holds:
            rest = model.state - {atom_of(fact.clause.literals[0])}
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
        for schema in (*self._manual.actions, *self._manual.lore.processes):
            for effect in schema.effects:
                declared = self.ledger.vocabulary.predicates.get(effect.atom.predicate, Predicate(""))
                for args in permutations(roles, len(declared.args)) if declared.args else ():
                    slots = [(role, roles[name]) for role, name in zip(declared.args, args, strict=True)]
                    if all(role not in self.ledger.names.order or role in has or not has for role, has in slots):
                        found[atom_of(Literal(Atom(declared.name, args), effect.negated))] = None
        deeds = self._manual.active("").deeds
        return sorted(
            found, key=lambda atom: (atom.predicate.startswith(NOT), -len(atom.args), atom.predicate not in deeds)
        )

    def _at_odds(self, one: Atom, other: Atom) -> bool:
        """True if each fact is unmade by all actions that make the other: what is put down is not held."""
        for made, undone in ((one.predicate, other.predicate), (other.predicate, one.predicate)):
            makers = [each for each in self._effects if (made, False) in each]
            if not makers or not all((undone, True) in each for each in makers):
                return False
        return True

    def settled(self, type_: str) -> bool:
        """True if nothing is left to be asked about what goals of a type want."""
        model = self.goal_model(type_)
        return model is not None and model.wins >= LIMITS.enough_wins

    def reasoner(self, goal: str = "") -> Reasoner:
        """Plans with what was concluded, towards goals of a type, or anything: each uses what others derived."""
        return reasoner_of(self._manual.active(goal))

    def towards(self, wanted: State | tuple[Clause, ...], situation: Situation, *, best: bool) -> Plan:
        """Plan towards facts about the goal's things, or about things by their names; or its best option alone."""
        if wanted not in self._purposes:
            if isinstance(wanted, tuple):
                needs, over = wanted, dict[str, str]()
            else:
                positional = self.reasoner().positional
                first = sorted(wanted, key=lambda atom: (atom.predicate in positional, len(atom.args), str(atom)))
                needs = tuple(Clause((literal_in(atom),)) for atom in first)
                over = fields_of({arg for atom in wanted for arg in atom.args})
            self._purposes[wanted] = Purpose("guess", over, tuple(Stage("", (need,)) for need in needs))
        return self.reasoner().plan(situation, seek=False, purpose=self._purposes[wanted], best=best)


class Past:
    """The last successes of an action: which of them came to something, with which facts and kinds."""

    def __init__(self, book: Book, came: Callable[[Attempt], bool], goal: str | None = None) -> None:
        rows = [row for row in book.attempts if not row.refused and goal in (None, row.goal)][-LIMITS.recent :]
        self.book, self.usual = book, (sum(map(came, rows)) + 1) / (len(rows) + 2)
        self._size = size = len(book.facts)
        # facts about the action's things; of one that has none, facts about nothing by its name
        slots = [list(map(str.isdigit, fact.args)) for fact in book.facts]
        self.own = [bit for bit, of_slots in enumerate(slots) if (any(of_slots) if book.slots else not of_slots)]
        self._mask = mask = sum(1 << bit for bit in self.own)
        self._rows = [(signed(row.true & mask, row.false & mask, size)[0], row.kinds, came(row)) for row in rows]
        held = Counter(bit for features, _, _ in self._rows for bit in bits(features & mask))
        often = max(LIMITS.known_past, LIMITS.sometimes * len(rows))
        self.rare = {bit: book.facts[bit] for bit in self.own if held[bit] < often or not all(slots[bit])}
        """Facts that hardly ever held when it was done, or say what a thing is for: nobody knows what comes of it."""

    def untried(self, true: int, kinds: Sequence[str], facts: Sequence[int]) -> float:
        """Likelihood that it comes to something with a fact and other things that it was hardly ever done with."""
        most = 0.0  # as likely as it usually is, less for each time that nothing came of it; 0 where nothing is new
        for bit in [bit for bit in facts if true >> bit & 1]:
            others = [slot for slot in range(len(kinds)) if str(slot) not in self.rare[bit].args]
            tried = [(those, came) for features, those, came in self._rows if features >> bit & 1]
            alike = [came for those, came in tried if all(those[slot] == kinds[slot] for slot in others)]
            if len(alike) < LIMITS.known_past:
                most = max(most, (sum(alike) + self.usual) / (len(alike) + 1))
        return most

    def share(self, true: int, false: int, kinds: Sequence[str], *, worst: bool = False) -> float:
        """Likelihood that it comes to something now, by facts and kinds that tell most, or speak against it most."""
        worth = usual = self.usual
        now, _ = signed(true & self._mask, false & self._mask, self._size)
        left: dict[int, tuple[int, int]] = {}  # by what a success has in common with now, good ones and all
        for features, those, came in self._rows:
            alike = sum(1 << slot for slot, kind in enumerate(kinds) if those[slot] == kind)
            mask = features & now | alike << 2 * self._size
            good, tried = left.get(mask, (0, 0))
            left[mask] = good + came, tried + 1
        for _ in range(LIMITS.deep):
            most, choice, found, every = 0.0, -1, worth, sum(tried for _, tried in left.values())
            for bit in bits(union(left)):
                held = [counts for mask, counts in left.items() if mask >> bit & 1]
                tried = sum(count for _, count in held)
                share = (sum(good for good, _ in held) + usual) / (tried + 1)
                tells = worth - share if worst else tried * (share - worth) ** 2
                if tried < every and tells > most:
                    most, choice, found = tells, bit, share
            if choice < 0:
                break
            worth, left = found, {mask: counts for mask, counts in left.items() if mask >> choice & 1}
        return worth


class Prospect(NamedTuple):
    """An action that may score."""

    worth: float
    command: str
    needs: tuple[Clause, ...] = ()  # What has to hold first, as far as anybody knows


@dataclass
class Ventures:
    """Trials of one episode after all that is known to score."""

    agenda: Agenda
    goal: str
    dice: Random
    too_early: Callable[[str], bool]  # What is new, and may end the task, waits until little is lost by that
    pursued: Prospect | None = None
    given_up: set[str] = field(default_factory=set)
    born: dict[str, None] = field(default_factory=dict)  # What came into being with a step that scored

    def told(self, before: Belief, after: Belief, *, scored: bool) -> None:
        """Hear what became of a step."""
        if scored:
            known = {*before.holding, *before.last_seen}
            self.born |= dict.fromkeys(each for each in (*after.holding, *after.last_seen) if each not in known)
            self.pursued = None
            self.given_up.clear()

    def give_up(self, prospect: Prospect) -> None:
        """Try something else, until anything scores."""
        self.pursued = None
        self.given_up.add(prospect.command)

    def prospects(self, situation: Situation) -> list[Prospect]:
        """Actions that may score, most promising first, without those given up since anything scored."""
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
                instance = Instance(question.schema, dict(zip(question.schema.variables, names, strict=True)))
                truths = {clause: clause.truth(situation) for clause in (*restored, *instance.preconditions)}
                needs = tuple(each for each in truths if any(one.atom.predicate in changing for one in each.literals))
                if any(truth is Truth.FALSE for clause, truth in truths.items() if clause not in needs):
                    continue
                ready = Truth.FALSE not in truths.values()
                worth = self._worth(question, past, names, situation.belief, ready=ready)
                if worth >= LIMITS.hopeless:
                    found[command] = Prospect(worth, command, needs)
        every = list(found.values())
        self.dice.shuffle(every)
        return sorted(every, key=lambda each: -each.worth)[: LIMITS.choices]

    def _names(self, question: Question, past: Past, belief: Belief) -> Iterator[tuple[str, ...]]:
        """Names for an action: what is in hand or just came into being, such as have worked, such as are remarkable."""
        slots, near = [], {*belief.holding, *self.born}
        lasting = [fact for fact in past.rare.values() if fact.predicate not in self.agenda.changing]
        for slot, (role, fit) in enumerate(zip(question.schema.variables, question.needs.fit, strict=True)):
            known = belief.names.get(role, ())
            own = [fact for fact in lasting if [*filter(str.isdigit, fact.args)] == [str(slot)]]
            facts = {name: [fact.bind({str(slot): name}) for fact in own] for name in known}
            remarkable = [name for name in known if Truth.TRUE in map(belief.truth, facts[name])]
            some = [name for name in known if name in near or kind_of(name) in fit]
            every = dict.fromkeys((*filter(known.__contains__, self.born), *remarkable, *some))
            slots.append(list(every)[: LIMITS.names_tried])
        yield from (names for names in product(*slots) if len(set(names)) == len(names))

    def _worth(self, question: Question, past: Past, names: tuple[str, ...], belief: Belief, *, ready: bool) -> float:
        kinds, discount = tuple(map(kind_of, names)), 1.0 if ready else LIMITS.not_yet
        known = past.usual >= LIMITS.hopeless
        places = past.own if known else past.rare
        true, false = question.book.measure(belief, names, places) if places else (0, 0)
        if not self.born.keys().isdisjoint(names) and question.book.worked[kinds] < LIMITS.known_past:
            return LIMITS.new_thing / len(kinds) * discount
        lasting = [bit for bit, fact in past.rare.items() if ready or fact.predicate not in self.agenda.changing]
        untried, deadly = past.untried(true, kinds, lasting), self.agenda.deadly.get(question.book.template)
        safe = deadly is None or deadly.usual < past.usual or not self.too_early(fill(question.book.template, names))
        if untried and safe:
            return (LIMITS.new_fact + (1 - LIMITS.new_fact) * untried) * question.fitting(kinds) * discount
        needed, size = question.wanted, question.needs.size  # what it needs is seen to before it is done
        seen_to = needed & (1 << size) - 1 | needed >> size
        true, false = true & ~seen_to | needed & (1 << size) - 1, false & ~seen_to | needed >> size
        return (past.share(true, false, kinds, worst=True) if known else past.usual) * discount
