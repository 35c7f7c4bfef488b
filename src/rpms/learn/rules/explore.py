"""Exploration by experiment: actions are chosen to settle what is open. No LLM is asked.

At each step some actions are imagined with names that are known. Worth trying is one of which everything that it may
need is true with kinds never tried, or of which one fact alone is false whose part is not settled yet. Where nothing of
the sort is at hand, a plan leads towards one; the plans are the engine's, over what was learned so far. In some
episodes the goal itself is the question: facts about the goal's things are brought about until one of them wins.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from random import Random

from rpms.core.belief import Situation
from rpms.core.errors import FileError, WorldError
from rpms.core.facts import Atom, Clause, Literal, Truth, kind_of
from rpms.core.goal import Goal
from rpms.core.reason import Plan, Reasoner
from rpms.core.rules import ActionSchema, Instance, Purpose, RuleManual, Step
from rpms.learn.rules.attempts import Book
from rpms.learn.rules.conclude import FEW, Learned, conclude, manual_from
from rpms.learn.rules.goals import GoalModel, guesses
from rpms.learn.rules.induce import DECISIVE, REFUSED_KINDS, Needs
from rpms.learn.rules.ledger import Diary, Ledger
from rpms.learn.rules.wins import FIELDS, GoalBook, State
from rpms.learn.rules.words import draw, fill
from rpms.play.world_walk import by_verb
from rpms.store.evidence import Label
from rpms.store.traces import Spoken, Trace
from rpms.worlds.base import Game, Setting, Task, World

ASIDE = 10
"""One episode in so many is kept aside: nothing is learned from it, and the manual is verified on it."""
_GUESSES = 60
"""Guesses at what a goal wants that are weighed against each other."""
_AGAIN = 5
"""How many simpler guesses a guess lets go first for each time that it was pursued already."""
_FAMILIAR = 4
"""Kinds with which an action has worked, from which on it is no novelty."""
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
    listing: float = 0.5
    """How often the game is asked which commands it takes, to find actions that were never seen."""
    growth: float = 1.2
    """How much more has to be seen until conclusions are drawn anew."""


@dataclass
class _Question:
    """What is open about an action, ready to be asked of many states."""

    schema: ActionSchema
    book: Book
    needs: Needs
    decisive: dict[int, int]
    faultless: dict[tuple[str, ...], int]
    fit: list[set[str]]

    wanted: int = 0
    """The best guess at what it needs."""
    asked: Counter[object] = field(default_factory=Counter)
    """What was tried since conclusions were drawn, by what it was to settle."""

    def gain(self, true: int, false: int, kinds: tuple[str, ...]) -> tuple[float, object]:
        """How much would be learned by doing it where some facts are true and some false, and what about."""
        size, needs = self.needs.size, self.needs
        holds, fails = true | false << size, false | true << size
        missing = self.wanted & ~holds
        fits = all(kind in fit for kind, fit in zip(kinds, self.fit, strict=True))
        if missing:
            single = missing & (missing - 1) == 0 and fails & missing
            if not single or not fits or (needs.paired and not self.book.worked[kinds]):
                return 0.0, None
            known = self.decisive.get(missing.bit_length() - 1, 0) + self.asked[missing]
            return (4.0 / (1 + known) if known < 2 * DECISIVE else 0.0), missing
        open_ = needs.required & ~holds
        if open_:
            # what was never seen to be missing alone, and is missing now
            known = self.asked[open_]
            return (5.0 / (1 + known) if fits and fails & open_ else 0.0), open_
        worked, tried = self.book.worked[kinds], self.faultless.get(kinds, 0) + self.asked[kinds]
        if not worked and tried < REFUSED_KINDS:
            return (4.0 if not fits else 3.0) / (1 + tried), kinds
        return 1.0 / (1 + worked + self.asked[kinds]), kinds


@dataclass
class Explorer:
    """Plays episodes, each so that it settles what is open after the ones before it."""

    world: World
    setting: Setting
    tasks: Sequence[Task]
    ledger: Ledger
    how: Exploring = field(default_factory=Exploring)
    learned: Learned | None = None
    aside: list[Trace] = field(default_factory=list)
    """Episodes that nothing was learned from."""
    episodes: int = 0
    steps: int = 0
    _due: int = 40
    """The number of steps at which conclusions are drawn next."""
    _questions: list[_Question] = field(default_factory=list)
    _manual: RuleManual = field(default_factory=RuleManual)
    _reasoners: dict[State, Reasoner] = field(default_factory=dict)
    pursued: Counter[tuple[str, State]] = field(default_factory=Counter)

    def explore(self, known: Sequence[Trace] = ()) -> Iterator[Trace]:
        """Play until there were so many steps, going on after episodes that are known already."""
        for number, trace in enumerate(known, 1):
            self.episodes, self.steps = number, self.steps + len(trace.steps)
            if number % ASIDE == 0:
                self.aside.append(trace)
            else:
                self.ledger.read(trace)
                self._draw_conclusions()
        order = list(range(len(self.tasks)))
        Random(self.how.seed).shuffle(order)  # noqa: S311  dice, not secrets
        while self.steps < self.how.steps:
            task = self.tasks[order[self.episodes % len(order)]]
            self.episodes += 1
            trace = self._episode(self.episodes, task)
            self.steps += max(1, len(trace.steps))
            yield trace
            self._draw_conclusions()

    def _draw_conclusions(self) -> None:
        """Conclude anew after episodes; the number of steps decides when, so that a continued exploration is the same."""
        if self.ledger.steps < self._due:
            return
        while self._due <= self.ledger.steps:
            self._due = int(self._due * self.how.growth) + 1
        self.learned = conclude(self.ledger)
        self._manual = manual_from(self.learned, guessing=True)
        self._reasoners.clear()
        self._questions = [self._question(schema) for schema in self._manual.actions]

    def _question(self, schema: ActionSchema) -> _Question:
        assert self.learned is not None
        model = next(action for action in self.learned.actions if action.name == schema.name)
        book = self.ledger.books[model.template]
        needs = Needs(book)
        decisive = {bit: len(needs.decisive(bit)) for bit in range(2 * needs.size) if needs.explaining >> bit & 1}
        faultless: dict[tuple[str, ...], int] = {}
        for attempt in needs.faultless:
            faultless[attempt.kinds] = faultless.get(attempt.kinds, 0) + 1
        fit = [{kinds[slot] for kinds in book.worked} for slot in range(len(book.slots))]
        few = len(book.successes) < FEW
        return _Question(schema, book, needs, decisive, faultless, fit, needs.required if few else needs.explaining)

    def _episode(self, number: int, task: Task) -> Trace:
        try:
            game = self.world.open(task, self.setting)
        except (WorldError, FileError):
            return Trace(f"{number}:{task.id}", task.id, task.type, "")  # teaches nothing
        try:
            opening = game.reset().observation
            aside = number % ASIDE == 0
            ledger = Ledger(self.world, self.ledger.vocabulary, self.ledger.names) if aside else self.ledger
            diary = ledger.begin(f"{number}:{task.id}", opening)
            session = _Session(self, diary, game, Random(f"{self.how.seed}:{number}"))  # noqa: S311
            left = min(self.how.per_episode or self.world.step_budget, self.how.steps - self.steps)
            for _ in range(left):
                command = session.choose()
                outcome = game.step(command)
                refused = diary.add(
                    Spoken(command, outcome.observation, outcome.score, outcome.won, outcome.done and not outcome.won)
                )
                session.told(command, refused=refused)
                if outcome.done:
                    break
        except WorldError:
            pass  # what was seen until then was seen
        finally:
            game.close()
        trace = Trace(f"{number}:{task.id}", task.id, task.type, opening, tuple(diary.steps))
        if aside:
            self.aside.append(trace)
        return trace

    # What a session asks.

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
        """Whether every action that makes one of some facts unmakes another of them: what is put down is not held."""
        for one in state:
            makers = [schema for schema in self._manual.actions if any(
                effect.atom.predicate == one.predicate and not effect.negated for effect in schema.effects
            )]  # fmt: skip
            for other in state - {one}:
                if makers and all(
                    any(effect.atom.predicate == other.predicate and effect.negated for effect in schema.effects)
                    for schema in makers
                ):
                    back = [schema for schema in self._manual.actions if any(
                        effect.atom.predicate == other.predicate and not effect.negated for effect in schema.effects
                    )]  # fmt: skip
                    if all(
                        any(effect.atom.predicate == one.predicate and effect.negated for effect in schema.effects)
                        for schema in back
                    ):
                        return True
        return False

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
            purpose = Purpose("guess", over, tuple(Step("", (Clause((Literal(atom),)),)) for atom in ordered))
            self._reasoners[wanted] = Reasoner(replace(self._manual.active(""), purpose=purpose))
        return self._reasoners[wanted]

    def instance(self, command: str) -> Instance | None:
        """A command as an instance of what was learned."""
        return self._manual.active("").instance(command)

    @property
    def questions(self) -> Sequence[_Question]:
        return self._questions


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


@dataclass
class _Session:
    """One episode of an exploration: what is being pursued in it."""

    explorer: Explorer
    diary: Diary
    game: Game
    dice: Random
    target: Instance | None = None
    patience: int = 0
    wanted: State | None = None
    refused: set[str] = field(default_factory=set)
    tried: set[State] = field(default_factory=set)
    failures: Counter[str] = field(default_factory=Counter)
    ahead: list[str] = field(default_factory=list)
    """What the plan that was made goes on with."""
    about_goal: bool = False

    def __post_init__(self) -> None:
        self.about_goal = not self.explorer.settled(self.diary.goal) and self.dice.random() < 0.6

    @property
    def situation(self) -> Situation:
        return Situation(self.diary.belief, self.diary.goal)

    def told(self, command: str, *, refused: bool) -> None:
        """What became of a command."""
        if refused:
            self.refused.add(command)
            self.failures[command] += 1
        elif command not in ("look", "inventory"):
            self.refused.clear()

    def choose(self) -> str:
        """What to do next."""
        explorer = self.explorer
        if command := self._novelty():
            return command
        if explorer.questions:
            if self.about_goal and self.dice.random() < 0.9 and (command := self._towards_goal()):
                return command
            if self.dice.random() < 0.85:
                command = self._experiment() or self._towards_target()
                if command:
                    return command
        if self.dice.random() < 0.8 and (listed := self.game.admissible()):
            return self.dice.choice(self.dice.choice(by_verb(listed)))
        return self._anything()

    def _novelty(self) -> str:
        """A command that the game lists of an action that has hardly ever been seen."""
        ledger = self.explorer.ledger
        if self.dice.random() >= self.explorer.how.listing:
            return ""
        for commands in by_verb(self.game.admissible()):
            command = self.dice.choice(commands)
            book = ledger.books.get(ledger.names.read(command).template)
            seen = 0 if book is None else len(book.worked) if book.slots else len(book.attempts)
            if seen < _FAMILIAR and not self._vain(command):
                return command
        return ""

    # Experiments.

    def _experiment(self) -> str:
        """What can be done right now that would settle most, if anything would."""
        best, choice = 0.9, ("", Counter[object](), object())
        for _ in range(self.explorer.how.imagined):
            question = self.dice.choice(self.explorer.questions)
            if not question.book.slots:
                continue
            names = self._imagine(question)
            if names is None:
                continue
            command = fill(question.book.template, names)
            if self._vain(command):
                continue
            gain, about = question.gain(*question.book.measure(self.diary.belief, names), tuple(map(kind_of, names)))
            if gain > best:
                best, choice = gain, (command, question.asked, about)
        command, asked, about = choice
        asked[about] += 1
        return command

    def _vain(self, command: str) -> bool:
        """Whether a command was refused since anything changed, or again and again."""
        return command in self.refused or self.failures[command] > 1

    def _imagine(self, question: _Question) -> tuple[str, ...] | None:
        """Names for an action, with kinds that have worked as often as with any."""
        names = draw(self.diary.belief, [(role,) for role in question.schema.variables], self.dice)
        if names is None or self.dice.random() < 0.5:  # noqa: PLR2004
            return names
        slot = self.dice.randrange(len(names))
        known = self.diary.belief.names.get(question.schema.variables[slot], ())
        fit = [name for name in known if kind_of(name) in question.fit[slot] and name not in names]
        return (*names[:slot], self.dice.choice(fit), *names[slot + 1 :]) if fit else names

    def _towards_target(self) -> str:
        """The next step towards an experiment that cannot be done yet."""
        for _ in range(3):
            if self.target is None or self.patience <= 0:
                self.target, self.patience = self._new_target(), self.explorer.how.pursued
            if self.target is None:
                break
            self.patience -= 1
            if self.target.feasible(self.situation) is Truth.TRUE:
                schema, binding = self.target.schema, self.target.binding
                self.target = None
                return _spelled(schema, binding)
            command = self.explorer.reasoner(frozenset()).remedy(self.target, self.situation).command
            if command and not self._vain(command):
                return command
            self.target = None
        return self._look()

    def _look(self) -> str:
        """Something that can be done and makes known what is not: rarely seen states are reached by the unknown."""
        belief = self.diary.belief
        seeing = [question for question in self.explorer.questions if question.schema.observes and question.book.slots]
        for _ in range(self.explorer.how.imagined if seeing else 0):
            question = self.dice.choice(seeing)
            names = [self.dice.choice(belief.names.get(role) or ("",)) for role in question.schema.variables]
            known = question.book.known(belief, names) if all(names) else -1
            if known.bit_count() < len(question.book.probes):
                binding = dict(zip(question.schema.variables, names, strict=True))
                command = fill(question.book.template, names)
                if not self._vain(command) and (
                    Instance(question.schema, binding).feasible(self.situation) is not Truth.FALSE
                ):
                    return command
        return ""

    def _new_target(self) -> Instance | None:
        """An action with kinds that were never tried together, of the actions that succeeded least."""
        best, found = 0.0, None
        for _ in range(self.explorer.how.imagined):
            question = self.dice.choice(self.explorer.questions)
            names = self._imagine(question) if question.book.slots else None
            if names is None:
                continue
            kinds = tuple(map(kind_of, names))
            tried = question.book.worked[kinds] + question.faultless.get(kinds, 0)
            new = sum(kind not in fit for kind, fit in zip(kinds, question.fit, strict=True))
            worth = (
                (2.0 if not tried else 0.5 / tried) / (1 + len(question.book.successes) / 40) / (1 + max(0, new - 1))
            )
            if worth > best:
                binding = dict(zip(question.schema.variables, names, strict=True))
                instance = Instance(question.schema, binding)
                if instance.feasible(self.situation) is not None:
                    best, found = worth, instance
        return found

    # The goal.

    def _towards_goal(self) -> str:
        """The next step towards a guess at what the goal wants; nothing where there is none left."""
        explorer = self.explorer
        for _ in range(4):
            if self.wanted is None or self.patience <= 0:
                if self.wanted is not None:
                    self.tried.add(self.wanted)
                self.wanted, self.patience = self._new_guess(), 2 * explorer.how.pursued
            if self.wanted is None:
                return ""
            self.patience -= 1
            if (command := self._go_on()) is not None:
                return command
            plan: Plan = explorer.reasoner(self.wanted).plan(self.situation, seek=False)
            options = [option for option in plan.options if not self._vain(option.command)]
            if plan.cost > 0 and options:
                self.ahead = [link.command for link in options[0].chain[1:]] if not options[0].chain[0].reveals else []
                return options[0].command
            self.tried.add(self.wanted)
            self.wanted = None
        return ""

    def _go_on(self) -> str | None:
        """The next action of the plan that was made, where it can be done; no new plan is needed then."""
        if not self.ahead:
            return None
        command, self.ahead = self.ahead[0], self.ahead[1:]
        instance = self.explorer.instance(command)
        if instance is None or self._vain(command) or instance.feasible(self.situation) is not Truth.TRUE:
            self.ahead = []
            return None
        return command

    def _new_guess(self) -> State | None:
        """The simplest guess, but for those that were pursued before."""
        goal = self.diary.goal
        some = islice(self.explorer.guesses(goal), _GUESSES)
        left = [(number, state) for number, state in enumerate(some) if state not in self.tried]
        if not left:
            return None
        _, state = min(left, key=lambda item: item[0] + _AGAIN * self.explorer.pursued[goal.type, item[1]])
        self.explorer.pursued[goal.type, state] += 1
        return state

    def _anything(self) -> str:
        """A command of some action with any names that were ever seen, known to be here or not."""
        names = self.explorer.ledger.names.roles
        books = [book for book in self.explorer.ledger.books.values() if len(book.successes) > 1]
        if not books:
            return next(iter(self.game.admissible()), "look")
        book = self.dice.choice(books)
        chosen = []
        for roles in book.roles:
            fit = [name for name in names if not roles or roles <= names[name]]
            chosen.append(self.dice.choice(fit or list(names)))
        return fill(book.template, chosen)


def _spelled(schema: ActionSchema, binding: dict[str, str] | object) -> str:
    text = schema.syntax[0]
    for name, value in dict(binding).items():  # type: ignore[call-overload]
        text = text.replace(f"<{name}>", value)
    return text
