"""AMLGym's measures of a learned domain: its lines, its predictions, the problems solved with it.

The measures are AMLGym's own functions. For predictions it asks for a simulator of each problem;
its own takes seconds a state, because it asks about every ground action. `StripsSimulator` joins
preconditions with the facts of the state instead, and gives the same answers
(`tests/benchmarks/test_amlgym.py` compares them).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import product
from math import isnan, prod
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from amlgym.benchmarks import get_problems_path, get_test_states
from amlgym.metrics import (
    predictive_power,
    problem_solving,
    syntactic_precision,
    syntactic_recall,
)
from amlgym.modeling.env import Env
from pddl_world import Domain, Tree, read_expression, read_typed
from unified_planning.io import PDDLReader

Item = TypeVar("Item")
Measures = dict[str, float]
"""By field of a row, a value."""
Binding = Mapping[str, str]
"""By parameter of an action, an object."""
_EQUAL = "="
_BEYOND_STRIPS = frozenset({"or", "imply", "forall", "exists", "when", "increase", "decrease"})


def syntactic(model: str, reference: str) -> Measures:
    """Precision and recall of the lines."""
    return {
        "precision": float(syntactic_precision(model, reference)["mean"]),
        "recall": float(syntactic_recall(model, reference)["mean"]),
    }


def predicted(model: str, reference: str, domain: str, problems: int, states: int) -> Measures:
    """Predicted applicability and effects in some states of each of some problems."""
    files = {Path(file).name: file for file in get_problems_path(domain, "predictive_power")}
    learned_domain = StripsDomain.read(Path(model).read_text("utf-8"))
    real_domain = StripsDomain.read(Path(reference).read_text("utf-8"))
    listed = get_test_states(domain, kind="predictive_power_fast")
    learned = []
    real = []
    chosen = []
    for name in spread(list(listed), problems):
        problem = Path(files[Path(name).name]).read_text("utf-8")
        learned.append(StripsSimulator(learned_domain, problem))
        real.append(StripsSimulator(real_domain, problem))
        some = spread(list(listed[name].values()), states)
        chosen.append([state["fluents"] for state in some])
    power = predictive_power(learned, real, chosen, show_progress=False)
    applicability = power["applicability"]
    effects = power["predicted_effects"]
    return {
        "applicable_precision": number(applicability["mean_precision"], 1.0),
        "applicable_recall": number(applicability["mean_recall"], 0.0),
        "effects_precision": number(effects["mean_precision"], 1.0),
        "effects_recall": number(effects["mean_recall"], 0.0),
    }


def number(value: float, without: float) -> float:
    """A mean; where a model allows nothing, the mean of nothing, as AMLGym defines it."""
    return without if isnan(value) else float(value)


def solving(model: str, reference: str, domain: str, problems: int, seconds: int) -> Measures:
    """Problems solved with Fast Downward, and plans that do not work."""
    parse_once()
    some = spread(get_problems_path(domain, kind="solving"), problems)
    found = problem_solving(model, reference, some, timeout=seconds, show_progress=False)
    return {
        "solved": found["solving_ratio"],
        "false_plans": found["false_plans_ratio"],
        "timed_out": found["timed_out"],
    }


def parse_once() -> None:
    """From now on, read each pair of files once: AMLGym reads them again to check a plan."""
    parse = PDDLReader.parse_problem
    known: dict[tuple[str, ...], Any] = {}

    def parse_new(reader: PDDLReader, *files: str) -> Any:
        if files not in known:
            known[files] = parse(reader, *files)
        return known[files]

    PDDLReader.parse_problem = parse_new


def spread(items: Sequence[Item], most: int) -> list[Item]:
    """At most so many of some items, evenly spaced: AMLGym's problems grow with their number."""
    if len(items) <= most:
        return list(items)
    return [items[number * len(items) // most] for number in range(most)]


# A simulator of STRIPS.


class Pattern(NamedTuple):
    """A literal over the parameters of an action and constants."""

    predicate: str
    args: tuple[str, ...]
    negated: bool = False

    def bound(self, binding: Binding) -> tuple[str, ...]:
        """The arguments with objects in place of parameters."""
        return tuple(binding.get(arg, arg) for arg in self.args)


def read_literals(tree: Tree) -> Iterator[Pattern]:
    """Read a conjunction of literals; anything else is an error."""
    if not tree:
        return
    head, *rest = tree
    if head in _BEYOND_STRIPS:
        raise ValueError(f"not a conjunction of literals: {tree}")
    if head == "and":
        for part in rest:
            yield from read_literals(part)
    elif head == "not":
        for pattern in read_literals(rest[0]):
            yield pattern._replace(negated=not pattern.negated)
    else:
        yield Pattern(head, tuple(rest))


@dataclass(frozen=True)
class Schema:
    """An action: types by parameter, what it needs in an order that binds early, what it does."""

    name: str
    parameters: Mapping[str, str]
    facts: tuple[Pattern, ...]
    """Needs that are facts of the state: they bind parameters."""
    checks: tuple[Pattern, ...]
    """The other needs: negations and equality."""
    effects: tuple[Pattern, ...]

    @classmethod
    def read(cls, tree: Tree) -> Schema:
        """Read `name :parameters (…) :precondition (…) :effect (…)`."""
        name, *words = tree
        parts = dict(zip(words[::2], words[1::2], strict=True))
        facts = []
        checks = []
        for pattern in read_literals(parts.get(":precondition", [])):
            if pattern.negated or pattern.predicate == _EQUAL:
                checks.append(pattern)
            else:
                facts.append(pattern)
        return cls(
            name,
            read_typed(parts[":parameters"]),
            joining_order(facts),
            tuple(checks),
            tuple(read_literals(parts.get(":effect", []))),
        )


def joining_order(facts: Sequence[Pattern]) -> tuple[Pattern, ...]:
    """Facts in an order in which each has few parameters that those before it leave open."""
    left = list(facts)
    known: set[str] = set()
    ordered = []
    while left:
        best = min(left, key=lambda pattern: len(set(pattern.args) - known))
        left.remove(best)
        known.update(best.args)
        ordered.append(best)
    return tuple(ordered)


class StripsDomain(NamedTuple):
    """A domain with what its actions need and do."""

    header: Domain
    schemas: Mapping[str, Schema]

    @classmethod
    def read(cls, text: str) -> StripsDomain:
        """Read a domain's text."""
        schemas = {}
        for section in read_expression(text):
            if section[0] == ":action":
                schema = Schema.read(section[1:])
                schemas[schema.name] = schema
        return cls(Domain.read(text), schemas)


class StripsSimulator(Env):
    """A problem's actions in any state of it. States are sets of texts, `(on b1 b2)`."""

    def __init__(self, domain: StripsDomain, problem: str) -> None:
        self._domain = domain
        self._objects: dict[str, list[str]] = defaultdict(list)
        for name, type_ in self._typed_objects(problem).items():
            for kind in {*domain.header.kinds(type_), "object"}:
                self._objects[kind].append(name)
        self._members = {kind: frozenset(names) for kind, names in self._objects.items()}

    def _typed_objects(self, problem: str) -> dict[str, str]:
        found = dict(self._domain.header.constants)
        for section in read_expression(problem):
            if section[0] == ":objects":
                found.update(read_typed(section[1:]))
        return found

    def applicable_actions(self, state: set[str]) -> dict[str, AbstractSet[str]]:
        """By action, the ground actions that can be done in a state."""
        facts = _Facts(state)
        found: dict[str, AbstractSet[str]] = defaultdict(set)
        for name, schema in self._domain.schemas.items():
            if not schema.facts and not schema.checks:
                choices = [self._objects[type_] for type_ in schema.parameters.values()]
                found[name] = EveryAction(name, choices)
                continue
            bindings = self._bindings(schema, facts, {}, 0)
            texts = {_ground(schema, binding) for binding in bindings}
            if texts:
                found[name] = texts
        return found

    def _bindings(
        self, schema: Schema, facts: _Facts, binding: Binding, number: int
    ) -> Iterator[Binding]:
        """Join a binding with the facts from a number on, then with any objects, and check it."""
        if number < len(schema.facts):
            pattern = schema.facts[number]
            for args in facts.like(pattern.predicate, pattern.bound(binding)):
                extended = self._extended(schema, pattern, binding, args)
                if extended is not None:
                    yield from self._bindings(schema, facts, extended, number + 1)
            return
        for whole in self._completed(schema, binding):
            if all(facts.satisfy(check, whole) for check in schema.checks):
                yield whole

    def _extended(
        self, schema: Schema, pattern: Pattern, binding: Binding, args: Sequence[str]
    ) -> Binding | None:
        """A binding with which a pattern is a fact; None if there is none."""
        extended = dict(binding)
        for wanted, given in zip(pattern.args, args, strict=True):
            if wanted not in schema.parameters:
                if wanted != given:
                    return None
            elif wanted in extended:
                if extended[wanted] != given:
                    return None
            elif given in self._members.get(schema.parameters[wanted], ()):
                extended[wanted] = given
            else:
                return None
        return extended

    def _completed(self, schema: Schema, binding: Binding) -> Iterator[Binding]:
        """A binding with every choice of objects for the parameters that are left."""
        left = [parameter for parameter in schema.parameters if parameter not in binding]
        choices = [self._objects[schema.parameters[parameter]] for parameter in left]
        for objects in product(*choices):
            yield {**binding, **dict(zip(left, objects, strict=True))}

    def apply(self, state: set[str], action: str) -> set[str]:
        """The state after an action that can be done; what is added wins over what is deleted."""
        name, *objects = action.strip("()").split()
        schema = self._domain.schemas[name]
        binding = dict(zip(schema.parameters, objects, strict=True))
        added = set()
        deleted = set()
        for effect in schema.effects:
            fact = _text(effect.predicate, effect.bound(binding))
            if effect.negated:
                deleted.add(fact)
            else:
                added.add(fact)
        return (state - deleted) | added


class EveryAction(AbstractSet[str]):
    """All ground actions of a schema that needs nothing, which may be millions: never listed."""

    def __init__(
        self, name: str, choices: Sequence[Sequence[str]], without: frozenset[str] = frozenset()
    ) -> None:
        self._name = name
        self._choices = choices
        self._without = without

    def __len__(self) -> int:
        return prod(map(len, self._choices)) - len(self._without)

    def __iter__(self) -> Iterator[str]:
        for objects in product(*self._choices):
            text = _text(self._name, objects)
            if text not in self._without:
                yield text

    def __contains__(self, action: object) -> bool:
        if action in self._without:
            return False
        name, *objects = str(action).strip("()").split()
        if name != self._name or len(objects) != len(self._choices):
            return False
        pairs = zip(objects, self._choices, strict=True)
        return all(given in possible for given, possible in pairs)

    @classmethod
    def _from_iterable(cls, actions: Iterable[str]) -> set[str]:  # type: ignore[override]
        return set(actions)  # An intersection is small

    def __sub__(self, other: AbstractSet[str]) -> EveryAction:  # type: ignore[override]
        return EveryAction(self._name, self._choices, self._without | (self & other))


class _Facts:
    """The facts of a state, found by predicate and by one argument."""

    def __init__(self, state: set[str]) -> None:
        self._state = state
        self._found: dict[tuple[str, int, str], list[Sequence[str]]] = defaultdict(list)
        self._all: dict[str, list[Sequence[str]]] = defaultdict(list)
        for text in state:
            predicate, *args = text.strip("()").split()
            self._all[predicate].append(args)
            for position, arg in enumerate(args):
                self._found[predicate, position, arg].append(args)

    def like(self, predicate: str, args: Sequence[str]) -> Sequence[Sequence[str]]:
        """Facts that may fit: those with the first object among the arguments at its place."""
        for position, arg in enumerate(args):
            if not arg.startswith("?"):
                return self._found.get((predicate, position, arg), ())
        return self._all.get(predicate, ())

    def satisfy(self, pattern: Pattern, binding: Binding) -> bool:
        """True if a pattern without open parameters holds."""
        args = pattern.bound(binding)
        if pattern.predicate == _EQUAL:
            holds = args[0] == args[1]
        else:
            holds = _text(pattern.predicate, args) in self._state
        return holds != pattern.negated


def _ground(schema: Schema, binding: Binding) -> str:
    return _text(schema.name, [binding[parameter] for parameter in schema.parameters])


def _text(name: str, args: Sequence[str]) -> str:
    return f"({' '.join((name, *args))})"
