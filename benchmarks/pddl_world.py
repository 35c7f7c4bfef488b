"""A world made of a PDDL domain, for `benchmarks/amlgym.py`: states become texts, actions commands.

The learner gets what AMLGym gives every algorithm: types, predicates, and the parameters of
actions. What actions need and do is left to it. Objects are shown by their type and a number
(`block 2`), as a text world would name them; constants keep their names.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import yaml

from rpms.induction.conclusions.action_model import ActionModel
from rpms.induction.conclusions.conclude import Learned
from rpms.logic.belief import Belief
from rpms.logic.errors import InputError
from rpms.logic.facts import Atom, Literal, Truth
from rpms.logic.goal import UNKNOWN_GOAL, Goal
from rpms.paper.wording import Wording
from rpms.store.evidence import Label
from rpms.worlds.base import Game, Outcome, Setting, Task, World

Tree = list[Any]  # An s-expression: words and lists of such
_TOKEN = re.compile(r"[()]|[^\s()]+")
_COMMENT = re.compile(r";.*")
_FACT = re.compile(r"([a-z][a-z0-9_]*)\((.*)\)")
_WORD = re.compile(r"[a-z]+")
_OBJECTS = "There are: "
_REFUSED = "You cannot do that."
_OBJECT = "object"


class PddlFact(NamedTuple):
    """A ground fact, or an action with its objects."""

    name: str
    args: tuple[str, ...]


def read_expression(text: str) -> Tree:
    """Read the first s-expression of a PDDL text, in lower case and without comments."""
    open_lists: list[Tree] = [[]]
    for token in _TOKEN.findall(_COMMENT.sub("", text).lower()):
        if token == "(":
            open_lists.append([])
        elif token == ")":
            done = open_lists.pop()
            open_lists[-1].append(done)
        else:
            open_lists[-1].append(token)
    first: Tree = open_lists[0][0]
    return first


def read_typed(words: Iterable[str]) -> dict[str, str]:
    """Read `?x ?y - block ?z` into types by name; what has no type is an object."""
    found: dict[str, str] = {}
    untyped: list[str] = []
    after_dash = False
    for word in words:
        if word == "-":
            after_dash = True
        elif after_dash:
            found.update(dict.fromkeys(untyped, word))
            untyped = []
            after_dash = False
        else:
            untyped.append(word)
    return {**found, **dict.fromkeys(untyped, _OBJECT)}


@dataclass(frozen=True)
class Domain:
    """What the header of a domain says: types, constants, predicates, parameters of actions."""

    name: str
    parents: Mapping[str, str]  # By type, the type above it
    constants: Mapping[str, str]  # By name, its type
    predicates: Mapping[str, tuple[str, ...]]  # By name, the types of its arguments
    actions: Mapping[str, tuple[str, ...]]
    variables: Mapping[str, tuple[str, ...]]  # By action, the names of its parameters
    header: str  # The text up to the first action
    negative: bool  # True if preconditions may be negated

    @classmethod
    def read(cls, text: str) -> Domain:
        """Read a domain's text; preconditions and effects are not looked at."""
        _, (_, name), *sections = read_expression(text)
        parents: dict[str, str] = {}
        constants: dict[str, str] = {}
        predicates: dict[str, tuple[str, ...]] = {}
        actions: dict[str, tuple[str, ...]] = {}
        variables: dict[str, tuple[str, ...]] = {}
        requirements: Sequence[str] = ()
        for key, *rest in sections:
            match key:
                case ":requirements":
                    requirements = rest
                case ":types":
                    parents = read_typed(rest)
                case ":constants":
                    constants = read_typed(rest)
                case ":predicates":
                    for predicate, *words in rest:
                        predicates[predicate] = tuple(read_typed(words).values())
                case ":action":
                    called, *parts = rest
                    typed = read_typed(parts[parts.index(":parameters") + 1])
                    actions[called] = tuple(typed.values())
                    variables[called] = tuple(typed)
        plain = _COMMENT.sub("", text).lower()
        header = plain[: plain.index("(:action")]
        allowed = {":negative-preconditions", ":adl", ":quantified-preconditions"}
        negative = not allowed.isdisjoint(requirements)
        return cls(name, parents, constants, predicates, actions, variables, header, negative)

    def kinds(self, type_: str) -> list[str]:
        """A type and all types above it but `object`."""
        found = []
        while type_ != _OBJECT and type_ not in found:
            found.append(type_)
            type_ = self.parents.get(type_, _OBJECT)
        return found or [_OBJECT]

    def emptied(self) -> str:
        """The domain without any precondition or effect."""
        bodies = [self.action_text(name) for name in self.actions]
        return "\n".join((self.header, *bodies, ")"))

    def action_text(
        self, name: str, preconditions: Iterable[str] = (), effects: Iterable[str] = ()
    ) -> str:
        """An action in PDDL."""
        pairs = zip(self.variables[name], self.actions[name], strict=True)
        parameters = " ".join(f"{variable} - {type_}" for variable, type_ in pairs)
        return (
            f"(:action {name}\n :parameters ({parameters})\n"
            f" :precondition (and {' '.join(preconditions)})\n"
            f" :effect (and {' '.join(effects)}))"
        )

    def manual(self) -> str:
        """The predicates, as a manual declares them."""
        declared = {}
        for name, types in self.predicates.items():
            args = parameters_of(types)
            said = " ".join((name, *(f"<{arg}>" for arg in args)))
            declared[name] = {"args": args, "yes": said, "no": f"not {said}"}
        return yaml.safe_dump({"world": self.name, "predicates": declared})

    def signatures(self) -> tuple[str, ...]:
        """Every action as a command."""
        found = []
        for name, types in self.actions.items():
            slots = ", ".join(f"<{parameter}>" for parameter in parameters_of(types))
            found.append(f"{name}({slots})")
        return tuple(found)


def parameters_of(types: Sequence[str]) -> list[str]:
    """A name for each of some arguments: its type, numbered from the second of one type on."""
    seen: Counter[str] = Counter()
    found = []
    for type_ in types:
        seen[type_] += 1
        found.append(type_ if seen[type_] == 1 else f"{type_}_{seen[type_]}")
    return found


class ShownNames:
    """The names of a problem's objects in the texts: `block 2` for b2."""

    def __init__(self, domain: Domain, types: Mapping[str, str]) -> None:
        count: Counter[str] = Counter()
        self.shown = {name: name for name in domain.constants}
        self.types = {**types, **domain.constants}
        for name, type_ in types.items():
            if name not in self.shown:
                count[type_] += 1
                self.shown[name] = f"{type_} {count[type_]}"
        self.real = {shown: name for name, shown in self.shown.items()}

    def show(self, fact: PddlFact) -> str:
        """A fact or an action as text."""
        return f"{fact.name}({', '.join(self.shown[arg] for arg in fact.args)})"

    def read(self, text: str) -> PddlFact | None:
        """The fact or action that a text means; None if it is none, or names nothing that is
        here.
        """
        match = _FACT.fullmatch(text)
        if match is None:
            return None
        names = match[2].split(", ") if match[2] else []
        if not all(name in self.real for name in names):
            return None
        return PddlFact(match[1], tuple(self.real[name] for name in names))

    def opening(self, state: Iterable[PddlFact]) -> str:
        """The first text of an episode."""
        things = [f"{self.shown[name]} ({type_})" for name, type_ in self.types.items()]
        return f"{_OBJECTS}{'; '.join(things)}\n{self.describe(state)}"

    def describe(self, state: Iterable[PddlFact]) -> str:
        """A state, one fact a line."""
        return "\n".join(sorted(map(self.show, state)))


class Simulator(NamedTuple):
    """A problem: its objects with their types, its first state, and how to act.

    `act` gives the next state, or None where the action cannot be done.
    """

    types: Mapping[str, str]
    start: Callable[[], frozenset[PddlFact]]
    act: Callable[[PddlFact], frozenset[PddlFact] | None]


class PddlGame:
    """One problem as a game without an end. It lists no commands: no learner of AMLGym sees any."""

    def __init__(self, domain: Domain, simulator: Simulator) -> None:
        self._domain = domain
        self._simulator = simulator
        self._names = ShownNames(domain, simulator.types)

    def reset(self) -> Outcome:
        """Start from the first state."""
        return Outcome(self._names.opening(self._simulator.start()))

    def step(self, command: str) -> Outcome:
        """Try an action."""
        action = self._names.read(command)
        if action is None or not self._fits(action):
            return Outcome(_REFUSED)
        state = self._simulator.act(action)
        return Outcome(_REFUSED if state is None else self._names.describe(state))

    def _fits(self, action: PddlFact) -> bool:
        """True if an action exists and takes such objects."""
        wanted = self._domain.actions.get(action.name)
        if wanted is None or len(wanted) != len(action.args):
            return False
        types = [self._domain.kinds(self._simulator.types[arg]) for arg in action.args]
        return all(type_ in (*kinds, _OBJECT) for type_, kinds in zip(wanted, types, strict=True))

    def admissible(self) -> tuple[str, ...]:
        """Nothing: actions are found by trying."""
        return ()

    def close(self) -> None:
        """Nothing is held."""


@dataclass(frozen=True)
class ClosedBelief(Belief):
    """All that is true was said, and everything else is false."""

    facts: frozenset[tuple[str, tuple[str, ...]]] = frozenset()
    things: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def names(self) -> Mapping[str, Sequence[str]]:
        return self.things

    def truth(self, atom: Atom, /) -> Truth:
        return Truth.of(self.value(*atom))

    def value(self, predicate: str, args: tuple[str, ...]) -> bool | None:
        return (predicate, args) in self.facts

    @cached_property
    def fingerprint(self) -> str:
        return str(sorted(self.facts))


class PddlWorld(World):
    """The world of one domain; its tasks are problems."""

    splits = ("train",)
    nothing_hidden = True
    wording = Wording(instruction="Explore.", example="No example.")

    def __init__(self, domain: Domain, simulators: Sequence[Simulator] = ()) -> None:
        self.domain = domain
        self.name = domain.name
        self.signatures = domain.signatures()
        self.positive_needs = not domain.negative
        self._simulators = simulators

    def manual(self) -> tuple[tuple[str, str], ...]:
        return ((f"{self.name}/manual.yaml", self.domain.manual()),)

    def tasks(self, split: str, setting: Setting) -> Sequence[Task]:  # noqa: ARG002
        if split not in self.splits:
            raise InputError(f"no split {split!r}")
        return [Task(str(number), split, "explore") for number in range(len(self._simulators))]

    def open(self, task: Task, setting: Setting) -> Game:  # noqa: ARG002
        return PddlGame(self.domain, self._simulators[int(task.id)])

    def goal(self, opening: str) -> Goal:
        return Goal(UNKNOWN_GOAL, text=opening)

    def start(self, goal: Goal) -> Belief:  # noqa: ARG002
        return ClosedBelief()

    def update(self, belief: ClosedBelief, action: str | None, observation: str) -> Belief:  # noqa: ARG002
        if observation == _REFUSED:
            return belief
        first, _, rest = observation.partition("\n")
        if not first.startswith(_OBJECTS):
            return ClosedBelief(_facts_in(observation), belief.things)
        things: dict[str, list[str]] = {}
        for told in first.removeprefix(_OBJECTS).split("; "):
            name, _, type_ = told.removesuffix(")").rpartition(" (")
            for kind in self.domain.kinds(type_):
                things.setdefault(kind, []).append(name)
        return ClosedBelief(_facts_in(rest), things)

    def infeasible(self, observation: str) -> bool:
        return observation == _REFUSED


def _facts_in(text: str) -> frozenset[tuple[str, tuple[str, ...]]]:
    found = set()
    for line in text.splitlines():
        match = _FACT.fullmatch(line)
        if match is not None:
            found.add((match[1], tuple(match[2].split(", ")) if match[2] else ()))
    return frozenset(found)


# Trajectories.


class TrajectoryStep(NamedTuple):
    """An action and the state after it."""

    action: PddlFact
    state: frozenset[PddlFact]


class Trajectory(NamedTuple):
    """A trajectory file: a first state, and steps."""

    start: frozenset[PddlFact]
    steps: tuple[TrajectoryStep, ...]


def read_trajectory(text: str) -> Trajectory:
    """Read a trajectory of AMLGym: states and actions by turns."""
    _, *sections = read_expression(text)
    states = []
    actions = []
    for key, *rest in sections:
        if key == ":state":
            states.append(frozenset(PddlFact(name, tuple(args)) for name, *args in rest))
        elif key == ":action":
            name, *args = rest[0]
            actions.append(PddlFact(name, tuple(args)))
    first, *later = states
    steps = [TrajectoryStep(*pair) for pair in zip(actions, later, strict=True)]
    return Trajectory(first, tuple(steps))


def object_types(domain: Domain, trajectory: Trajectory) -> dict[str, str]:
    """The narrowest type under which each object of a trajectory occurs."""
    found: dict[str, str] = {}
    for fact, types in _typed_facts(domain, trajectory):
        for name, type_ in zip(fact.args, types, strict=True):
            known = found.get(name, _OBJECT)
            if len(domain.kinds(type_)) > len(domain.kinds(known)) or known == _OBJECT:
                found[name] = type_
    return found


def _typed_facts(
    domain: Domain, trajectory: Trajectory
) -> Iterator[tuple[PddlFact, tuple[str, ...]]]:
    for state in (trajectory.start, *(step.state for step in trajectory.steps)):
        for fact in sorted(state):
            yield fact, domain.predicates[fact.name]
    for step in trajectory.steps:
        yield step.action, domain.actions[step.action.name]


# The way back to PDDL.


def to_pddl(domain: Domain, learned: Learned, *, cautious: bool = False) -> str:
    """What was learned, as a domain: needs as preconditions, certain effects as effects.

    Cautious: needs are the safe bound, all that held in every success and follows from nothing
    else, whether or not it was ever seen to be false. That suits traces, in which nothing could be
    tried out.

    Otherwise such a line is written for a predicate that no action would need or change, as it is
    there for some reason, if the action has a word with it in common; and where an action alike is
    known to need the same.

    An action that was never seen to work is written by analogy: with the lines that all actions
    have that share its parameters and a word of its name.
    """
    writers = {model.name: _Writer(domain, model.name, model) for model in learned.actions}
    asked = set(domain.predicates)
    if not cautious:
        for writer in writers.values():
            asked -= writer.used
    written = {}
    for name, writer in writers.items():
        needs = [*writer.needs(), *writer.untested(asked, by_word=not cautious)]
        if not cautious:
            needs += untested_by_analogy(domain, name, writers)
        written[name] = ActionLines(list(dict.fromkeys(needs)), writer.effects())
    bodies = []
    for name in domain.actions:
        lines = written.get(name) or lines_by_analogy(domain, name, written)
        bodies.append(domain.action_text(name, lines.needs, lines.effects))
    return "\n".join((domain.header, *bodies, ")\n"))


def untested_by_analogy(domain: Domain, name: str, writers: Mapping[str, _Writer]) -> list[str]:
    """Needs of an action that were never seen to be false, and that actions alike have: in a
    problem in which fast lifts stop at every floor, no refusal shows that they have to.
    """
    needed: set[Atom] = set()
    for other, writer in writers.items():
        if other != name and _are_alike(domain, name, other):
            needed |= writer.needed
    return writers[name].untested_among(needed)


def _are_alike(domain: Domain, one: str, other: str) -> bool:
    """True if two actions have a word in common, and parameters with a type above both."""
    if set(_WORD.findall(one)).isdisjoint(_WORD.findall(other)):
        return False
    types = domain.actions[one]
    others = domain.actions[other]
    if len(types) != len(others):
        return False
    pairs = zip(types, others, strict=True)
    return all(not set(domain.kinds(a)).isdisjoint(domain.kinds(b)) for a, b in pairs)


class ActionLines(NamedTuple):
    """What an action needs and does, in PDDL."""

    needs: Sequence[str] = ()
    effects: Sequence[str] = ()


def lines_by_analogy(domain: Domain, name: str, written: Mapping[str, ActionLines]) -> ActionLines:
    """The lines that all actions have with the same types of parameters and a word in common."""
    variables = domain.variables[name]
    words = set(_WORD.findall(name))
    alike = []
    for other, lines in written.items():
        same_types = domain.actions[other] == domain.actions[name]
        if same_types and not words.isdisjoint(_WORD.findall(other)):
            renamed = dict(zip(domain.variables[other], variables, strict=True))
            needs = [_renamed(text, renamed) for text in lines.needs]
            effects = [_renamed(text, renamed) for text in lines.effects]
            alike.append(ActionLines(needs, effects))
    if not alike:
        return ActionLines()
    first, *others = alike
    needs = [text for text in first.needs if all(text in each.needs for each in others)]
    effects = [text for text in first.effects if all(text in each.effects for each in others)]
    return ActionLines(needs, effects)


def _renamed(text: str, variables: Mapping[str, str]) -> str:
    """A line with other variables."""
    words = text.replace("(", "( ").replace(")", " )").split(" ")
    renamed = " ".join(variables.get(word, word) for word in words)
    return renamed.replace("( ", "(").replace(" )", ")")


class _Writer:
    """Facts over the slots of an action, in PDDL."""

    def __init__(self, domain: Domain, name: str, model: ActionModel) -> None:
        self._domain = domain
        self._model = model
        self._variables = domain.variables[name]

    @property
    def used(self) -> set[str]:
        """Predicates that the action needs or changes."""
        needed = self._model.labelled(Label.NECESSARY, Label.POSSIBLE)
        facts = (*needed, *self._model.effects)
        return {fact.clause.literals[0].atom.predicate for fact in facts}

    def needs(self) -> list[str]:
        """Needs that are certain or possible; negations only where the domain allows these."""
        return self._written(self._needed(), negative=self._domain.negative)

    def _needed(self) -> list[Literal]:
        needed = self._model.labelled(Label.NECESSARY, Label.POSSIBLE)
        told = [fact for fact in needed if len(fact.clause.literals) == 1 or fact.note]
        return [fact.clause.literals[0] for fact in told]

    @property
    def needed(self) -> set[Atom]:
        """Facts that it certainly or possibly needs."""
        return {literal.atom for literal in self._needed() if not literal.negated}

    def untested_among(self, atoms: Container[Atom]) -> list[str]:
        """Needs among some facts that were never seen to be false."""
        found = []
        for fact in self._model.labelled(Label.UNTESTED):
            if not fact.literal.negated and fact.literal.atom in atoms:
                found.append(fact.literal)
        return self._written(found)

    def untested(self, predicates: Container[str], *, by_word: bool) -> list[str]:
        """Needs with some predicates that were never seen to be false.

        By word: only those that have a word in common with the action.
        """
        found = []
        for fact in self._model.labelled(Label.UNTESTED):
            literal = fact.clause.literals[0]
            predicate = literal.atom.predicate
            if literal.negated or predicate not in predicates:
                continue
            if not by_word or self._shares_word(predicate):
                found.append(literal)
        return self._written(found)

    def _shares_word(self, predicate: str) -> bool:
        own = _WORD.findall(self._model.name)
        return not set(own).isdisjoint(_WORD.findall(predicate))

    def effects(self) -> list[str]:
        """Effects, what is no longer so first."""
        texts = self._written(fact.clause.literals[0] for fact in self._model.effects)
        return sorted(texts, key=lambda text: not text.startswith("(not"))

    def _written(self, literals: Iterable[Literal], *, negative: bool = True) -> list[str]:
        found = []
        for literal in literals:
            if literal.negated and not negative:
                continue
            args = literal.atom.args
            names = [self._variables[int(arg)] if arg.isdigit() else arg for arg in args]
            text = f"({' '.join((literal.atom.predicate, *names))})"
            found.append(f"(not {text})" if literal.negated else text)
        return list(dict.fromkeys(found))
