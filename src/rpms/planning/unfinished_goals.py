"""What a goal may want beside what the manual says of it: where all of that holds, and the game
goes on.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations, product

from rpms.logic.belief import Situation
from rpms.logic.facts import Atom, Clause, Literal, Truth
from rpms.logic.goal import Progress
from rpms.logic.rules import ActiveRules, Purpose, Stage, kept_with_rules
from rpms.planning.facts_at_stake import undone_with
from rpms.planning.trust import FULL, STEPS, Trust

_WANTED_BY_GOALS = 2.0
"""Steps by which a fact is tried later that the goal may want too, where it or another goal wants
it of such things."""
_WANTED_BY_NONE = 6.0
"""The same for any other fact."""


def bindings_met(purpose: Purpose, situation: Situation) -> Iterator[dict[str, str]]:
    """The ways to bind the goal's variables to known things with which all that it wants holds."""
    goal = situation.goal
    variables = list(purpose.over)
    clauses: list[Clause] = []
    for stage in _last_stages(purpose):
        clauses += stage.until
    fields = [purpose.over[name] for name in variables]
    called = [situation.belief.called(goal.named(each)) for each in fields]
    for things in _choices(called):
        binding = dict(zip(variables, things, strict=True))
        if all(clause.truth(situation, binding) is Truth.TRUE for clause in clauses):
            yield binding


def goal_holds(rules: ActiveRules, situation: Situation, progress: Progress) -> bool:
    """True if all that the goal wants is known to hold."""
    purpose = rules.purpose
    if purpose is None or purpose.each:
        return purpose is not None and progress.sub_goal == "done"
    return any(True for _ in bindings_met(purpose, situation))


def unfinished(trust: Trust, rules: ActiveRules, situation: Situation) -> Trust:
    """Trust once all that the goal wants holds and the game goes on: what else holds then is
    not what is missing.
    """
    held = set(trust.held or ())
    purpose = rules.purpose
    bindings = bindings_met(purpose, situation) if purpose is not None else ()
    for binding in bindings:
        for each in further_wants(rules):
            if each.bind(binding).truth(situation) is Truth.TRUE:
                held.add(each)
    return trust.but(held=frozenset(held))


def longer_purposes(rules: ActiveRules, trust: Trust) -> tuple[tuple[Purpose, float], ...]:
    """Other purposes the goal may have once the manual's held without a win; with their
    prices.
    """
    purpose = rules.purpose
    held = trust.held
    if purpose is None or held is None:
        return ()
    last = _last_stages(purpose)
    things = things_of(rules)
    found: list[tuple[Purpose, float]] = []
    for literal, price in further_wants(rules).items():
        if literal in held:
            continue
        steps = (replace(last[0], until=(Clause((literal,)),)), *last)
        more = {name: field for name, field in things.items() if name in literal.atom.args}
        over = {**purpose.over, **more}
        found.append((replace(purpose, over=over, steps=steps, staged=False), price))
    return tuple(found)


@kept_with_rules
def further_wants(rules: ActiveRules) -> Mapping[Literal, float]:
    """Facts over the goal's variables that it may want beside its own, with steps by which they
    are tried later.
    """
    purpose = rules.purpose
    if purpose is None:
        return {}
    own: set[Literal] = set()
    for stage in _last_stages(purpose):
        own.update(stage.wants)
    candidates = _possible_wants(rules, purpose, own)
    settled = own | {each.opposite() for each in own}
    undone = undone_with(rules, candidates, own)
    banned = _predicates_of_bans(rules)
    found: dict[Literal, float] = {}
    for literal, price in candidates.items():
        if literal in settled:
            continue
        found[literal] = 0.0 if literal.atom.predicate in banned else price
        if literal in undone:
            found[literal] += FULL * STEPS
    return found


def _possible_wants(
    rules: ActiveRules, purpose: Purpose, own: set[Literal]
) -> dict[Literal, float]:
    """Facts over the goal's variables that any goal wants or any action brings about, each with
    the steps by which it is tried later.
    """
    found: dict[Literal, float] = {}
    for literal in _wants_of_goals(rules, purpose):
        found.setdefault(literal, _WANTED_BY_GOALS)
    for literal in _wants_of_seconds(purpose, own):
        found.setdefault(literal, _WANTED_BY_NONE)
    for literal in _effects_over(rules, _single_things(rules, purpose)):
        found.setdefault(literal, _WANTED_BY_NONE)
    return found


def _single_things(rules: ActiveRules, purpose: Purpose) -> list[str]:
    """The variables of `things_of`, without the second of each."""
    seconds = set(map(_second, purpose.over))
    return [name for name in things_of(rules) if name not in seconds]


def _wants_of_goals(rules: ActiveRules, purpose: Purpose) -> Iterator[Literal]:
    """All that this goal or another wants, said of the goal's things in the same fields."""
    things = things_of(rules)
    single = _single_things(rules, purpose)
    for other in (purpose, *rules.goals):
        named: dict[str, list[str]] = {}
        for name, source in other.over.items():
            named[name] = [mine for mine in single if things[mine] == source]
        for literal in other.wants:
            for args in _choices([named.get(arg, [arg]) for arg in literal.atom.args]):
                yield Literal(Atom(literal.atom.predicate, args), literal.negated)


def _wants_of_seconds(purpose: Purpose, own: Iterable[Literal]) -> Iterator[Literal]:
    """What the goal wants of a thing, said of another of its kind."""
    for literal in sorted(own, key=str):
        for name in literal.atom.args[:1]:
            if name in purpose.over:
                yield literal.bind({name: _second(name)})


def _effects_over(rules: ActiveRules, things: Sequence[str]) -> Iterator[Literal]:
    """All that actions bring about, said of some things."""
    for schema in rules.all_actions:
        for effect in schema.effects:
            for args in permutations(things, len(effect.atom.args)):
                yield Literal(Atom(effect.atom.predicate, args), effect.negated)


def _predicates_of_bans(rules: ActiveRules) -> set[str]:
    """Predicates that bans for some goals speak of: what is forbidden while it is not so."""
    found: set[str] = set()
    for rule in rules.domain:
        if not rule.goals:
            continue
        for ban in rule.forbids:
            for clause in ban.when:
                found.update(literal.atom.predicate for literal in clause.literals)
    return found


@kept_with_rules
def things_of(rules: ActiveRules) -> Mapping[str, str]:
    """The goal's variables with their fields, one for each field that only other goals have,
    and a second of each.
    """
    own = dict(rules.purpose.over) if rules.purpose is not None else {}
    names_by_field: dict[str, str] = {}
    for goal in rules.goals:
        for name, field in goal.over.items():
            names_by_field[field] = name
    found = dict(own)
    for field, name in names_by_field.items():
        if field not in own.values():
            found[f"{name}_of_others"] = field
    for name, field in own.items():
        found[_second(name)] = field
    return found


def _second(name: str) -> str:
    """The variable for another thing of a variable's field."""
    return f"{name}_too"


def _last_stages(purpose: Purpose) -> tuple[Stage, ...]:
    """The stages that hold together once the goal is reached."""
    return purpose.steps[-1:] if purpose.staged else purpose.steps


def _choices(lists: Iterable[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """One of each list, no two the same."""
    return (chosen for chosen in product(*lists) if len(set(chosen)) == len(chosen))
