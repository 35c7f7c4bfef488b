"""The rules that doubt makes of a manual: further actions that go against a line, at a price, and
goals that want more.

`acting.plan_with_doubts` plans over them; `trust` is the evidence that they are made from.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, permutations, product
from typing import Any

from rpms.logic.achievers import command_of
from rpms.logic.actions import ActionSchema, Revelation
from rpms.logic.belief import Situation
from rpms.logic.facts import Atom, Clause, Literal, Truth
from rpms.logic.goal import Progress
from rpms.logic.rules import ActiveRules, Purpose, atoms_over, kept_with_rules
from rpms.planning.filling import Surroundings
from rpms.planning.trust import (
    COMPLETE,
    CONTRADICTED,
    FULL,
    STEPS,
    LinePart,
    ManualLine,
    Trust,
    false_over,
)

SUPPOSED, HOPED, WAIVED = "may need", "may do", "may not need"
LIKELY, POSSIBLE, UNLIKELY = 1.0, 3.5, 8.5
"""Price in steps of supposing a need that the manual does not state. LIKELY: several other actions
have it, or it is a lasting fact that no line uses. POSSIBLE: one other action has it, or its
opposite is stated. UNLIKELY: all others."""


def doubted(
    rules: ActiveRules, trust: Trust, wide: int = 0, idle: frozenset[str] = frozenset()
) -> ActiveRules:
    """The rules as an episode has left them, with further actions for the doubts that plans may
    have, at their price.

    Lines that were contradicted may be doubted; with `wide`, any line may: that many needs of one
    action at a time. `idle` are commands that are not to be given as things are.
    """
    make = _Doubting(rules, trust, wide)
    environment = tuple(map(make.mended, rules.environment))
    processes = tuple(map(make.mended, rules.lore.processes))
    pairs = list(zip(rules.all_actions, (*environment, *processes), strict=True))
    doubts = [copy for old, new in pairs for copy in make.doubts(old, new)]
    doubts += make.hopes(pairs) if wide else ()
    tried = [trust.evidence.get(ManualLine(one.doubt, LinePart.DOUBTED, ""), 0.0) for one in doubts]
    doubts = [
        replace(one, steps=one.steps - STEPS * vain)
        for one, vain in zip(doubts, tried, strict=True)
    ]
    lore = replace(rules.lore, processes=processes, doubts=tuple(doubts))
    barred: dict[Any, Surroundings | None] = {**trust.blank}
    last = {command: then[-1] for command, then in trust.refused.items()}
    for command, then in (*last.items(), *dict.fromkeys(idle).items()):
        instance = rules.instance(command)
        barred[
            command_of(instance.schema, instance.binding) if instance is not None else command
        ] = then
    return replace(
        rules, environment=environment, lore=lore, purposes=make.continuations(), barred=barred
    )


def doubts_rest_on(trust: Trust, wide: int) -> tuple[object, ...]:
    """All that `doubted` reads of trust.

    Unless `wide`, what speaks for a line makes no difference.
    """
    weights = trust.evidence.items()
    read = (
        weights
        if wide
        else [one for one in weights if one[1] < 0 or one[0].part is LinePart.DOUBTED]
    )
    barred = frozenset((*trust.refused.items(), *trust.blank.items()))
    refusals = trust.unexplained
    worked = tuple(
        (action, len(times)) for action, times in trust.worked.items() if wide or action in refusals
    )
    return (
        frozenset(read),
        frozenset(trust.learned.items()),
        frozenset(refusals.items()),
        trust.held,
        barred,
        worked,
    )


@dataclass(frozen=True)
class _Doubting:
    rules: ActiveRules
    trust: Trust
    wide: int

    def mended(self, schema: ActionSchema) -> ActionSchema:
        """An action without needs that were refuted, with changes that nobody foretold, dearer
        where it was refused.
        """
        trust, rules, key = self.trust, self.rules, self.rules.key_of(schema)
        needs = tuple(
            one
            for one in schema.preconditions
            if trust.of(ManualLine.of_need(rules, schema, one)) > 0
        )
        effects = tuple(
            one
            for one in schema.effects
            if not trust.upon(ManualLine.of_effect(rules, schema, one))
        )
        news, price = (
            trust.learned.get(key, ()),
            trust.upon(ManualLine(key, LinePart.NEEDS, COMPLETE)),
        )
        if (
            not (news or price)
            and len(needs) == len(schema.preconditions)
            and len(effects) == len(schema.effects)
        ):
            return schema
        return replace(
            schema,
            preconditions=needs,
            effects=tuple(
                dict.fromkeys((*effects, *(one for one in news if isinstance(one, Literal))))
            ),
            observes=(*schema.observes, *(one for one in news if isinstance(one, Revelation))),
            steps=schema.steps + price,
        )

    def doubts(self, old: ActionSchema, schema: ActionSchema) -> Iterator[ActionSchema]:
        """An action against some of its lines."""
        trust, rules = self.trust, self.rules
        for effect in old.effects:
            price = trust.upon(ManualLine.of_effect(rules, old, effect))
            if price and effect not in schema.effects:
                doubt = f"{schema.name} may not do {effect}"
                yield replace(
                    schema, effects=(effect,), observes=(), steps=schema.steps + price, doubt=doubt
                )
        lines = [(need, ManualLine.of_need(rules, old, need)) for need in rules.needs_of(schema)]
        prices = [
            (need, trust.against(line))
            for need, line in lines
            if self.wide or trust.evidence.get(line, 0.0) < 0
        ]
        for need, price in prices:
            yield _without(schema, price, need)
        for (one, price), (other, more) in combinations(prices, 2) if self.wide > 1 else ():
            yield _without(schema, price + more, one, other)
        yield from self._supposed(old, schema, prices)

    def _supposed(
        self, old: ActionSchema, schema: ActionSchema, prices: Sequence[tuple[Clause, float]]
    ) -> Iterator[ActionSchema]:
        """An action with a need that the manual does not state."""
        key, stated = self.rules.key_of(old), schema.preconditions
        known = {
            *schema.effects,
            *(clause.literals[0] for clause in stated if len(clause.literals) == 1),
        }
        suspects = {one: left for one, left in self.trust.suspects(key).items() if one not in known}
        refusals = self.trust.unexplained.get(key, ())
        pairs = (
            combinations([one for one, left in suspects.items() if left], 2) if self.wide else ()
        )
        both = [pair for pair in pairs if not any(false.isdisjoint(pair) for false in refusals)]
        for supposed in (*((one,) for one in suspects), *both):
            opposite = [Clause((one.opposite(),)) for one in supposed]
            needs = tuple(need for need in stated if need not in opposite)
            singles = [need.literals[0] for need in needs if len(need.literals) == 1]
            others = (*singles, *supposed)
            if any(
                one.opposite() in others or excludes(self.rules, one, each)
                for one in supposed
                for each in others
            ):
                continue  # nothing is at two places, or open and closed
            price = -STEPS * CONTRADICTED * (suspects[supposed[0]] if len(supposed) == 1 else 1)
            for one, other in zip(supposed, opposite, strict=True):
                likely = POSSIBLE if other in stated else self._plausible(one, old)
                price += UNLIKELY if _undone_with(self.rules, (one,), singles) else likely
            doubt = f"{schema.name} {SUPPOSED} {' and '.join(map(str, supposed))}"
            steps, needs = old.steps + price, (*needs, *(Clause((one,)) for one in supposed))
            more = replace(schema, preconditions=needs, steps=steps, doubt=doubt)
            yield more
            for need, waiving in prices if self.wide and len(supposed) == 1 else ():
                if need in needs:
                    yield _without(more, waiving, need)

    def _plausible(self, suspect: Literal, schema: ActionSchema) -> float:
        """Steps by which an unstated need is tried after others; predicates that other actions
        need come first.
        """
        used, predicate = _uses(self.rules), self.rules.predicates[suspect.atom.predicate]
        if predicate.lasting and not any(
            literal.atom.predicate == predicate.name for _, literal in used
        ):
            return LIKELY
        alike = {name for name, literal in used if literal == suspect and name != schema.name}
        return UNLIKELY if not alike else POSSIBLE if len(alike) == 1 else LIKELY

    def hopes(self, pairs: Sequence[tuple[ActionSchema, ActionSchema]]) -> Iterator[ActionSchema]:
        """Actions that might bring about what something needs and nothing is known to bring
        about.
        """
        made = {
            (effect.atom.predicate, effect.negated)
            for _, schema in pairs
            for effect in schema.effects
        }
        wanted = wanted_facts(self.rules) if self.wide > 1 else wanted_facts(self.rules) - made
        hoped = sorted(
            each for each in wanted if not (each[1] and self.rules.predicates[each[0]].exclusive)
        )
        goals = [literal for goal in self.rules.goals for literal in goal.wants]
        served = wanted_facts(self.rules) | {(each.atom.predicate, each.negated) for each in goals}
        for old, schema in pairs:
            key, needs = self.rules.key_of(old), schema.preconditions
            worked = self.trust.worked.get(key, ())
            vain = Counter(each for one in worked for each in false_over(one[0], one[1], one[3]))
            given = {(effect.atom.predicate, effect.negated) for effect in schema.effects}
            idle = not schema.observes and given.isdisjoint(served)
            for atom, (predicate, negated) in product(atoms_over(self.rules, old), hoped):
                effect = Literal(atom, negated)
                if (
                    atom.predicate != predicate
                    or effect in schema.effects
                    or Clause((effect,)) in needs
                ):
                    continue
                price = self.trust.upon(ManualLine(key, LinePart.DOES, str(effect)), 0.0)
                price += STEPS * (-CONTRADICTED * vain[effect] - idle * FULL / 2)
                doubt = f"{schema.name} {HOPED} {effect}"
                hope = replace(
                    schema, effects=(effect,), observes=(), steps=schema.steps + price, doubt=doubt
                )
                yield hope
                for need in self.rules.needs_of(schema) if (predicate, negated) not in made else ():
                    yield _without(
                        hope, self.trust.against(ManualLine.of_need(self.rules, old, need)), need
                    )

    def continuations(self) -> tuple[tuple[Purpose, float], ...]:
        """Other purposes the goal may have once the manual's held without a win; with their
        prices.
        """
        purpose, held = self.rules.purpose, self.trust.held
        if purpose is None or held is None:
            return ()
        last = purpose.steps[-1:] if purpose.staged else purpose.steps
        things, found = things_of(self.rules), []
        for literal, price in continuations_of(self.rules).items():
            if literal not in held:
                steps = (replace(last[0], until=(Clause((literal,)),)), *last)
                more = {name: field for name, field in things.items() if name in literal.atom.args}
                found.append(
                    (
                        replace(purpose, over={**purpose.over, **more}, steps=steps, staged=False),
                        price,
                    )
                )
        return tuple(found)


def _without(schema: ActionSchema, price: float, *needs: Clause) -> ActionSchema:
    left = tuple(need for need in schema.preconditions if need not in needs)
    doubt = f"{schema.doubt}, and" if schema.doubt else schema.name
    doubt = f"{doubt} {WAIVED} {' and '.join(map(str, needs))}"
    return replace(
        schema, preconditions=left, steps=schema.steps + price, doubt=doubt, waives=needs
    )


@kept_with_rules
def _uses(rules: ActiveRules) -> tuple[tuple[str, Literal], ...]:
    """Each fact that a line of some action needs."""
    needs = (
        (schema.name, clause) for schema in rules.all_actions for clause in schema.preconditions
    )
    return tuple((name, literal) for name, clause in needs for literal in clause.literals)


@kept_with_rules
def wanted_facts(rules: ActiveRules) -> frozenset[tuple[str, bool]]:
    """Facts that actions and the goal need, by predicate and sign, without permanent facts and
    kinds.
    """
    wanted = [literal for _, literal in _uses(rules)]
    if rules.purpose is not None:
        wanted += rules.purpose.wants
    told = {*rules.lore.facts, *rules.lore.kinds}
    lasting = {name for name, predicate in rules.predicates.items() if predicate.lasting}
    known = rules.predicates.keys() - told - lasting
    return frozenset(
        (each.atom.predicate, each.negated) for each in wanted if each.atom.predicate in known
    )


@kept_with_rules
def things_of(rules: ActiveRules) -> Mapping[str, str]:
    """The goal's variables with their fields, one for each field that only other goals have,
    and a second of each.
    """
    own = dict(rules.purpose.over) if rules.purpose is not None else {}
    others = {
        field: name
        for goal in rules.goals
        for name, field in goal.over.items()
        if field not in own.values()
    }
    more = {f"{name}_of_others": field for field, name in others.items()}
    return {**own, **more, **{_second(name): field for name, field in own.items()}}


def _second(name: str) -> str:
    """The variable for another thing of a variable's field."""
    return f"{name}_too"


@kept_with_rules
def continuations_of(rules: ActiveRules) -> Mapping[Literal, float]:
    """Facts over the goal's variables that it may want beside its own, with steps by which they
    are tried later.
    """
    purpose = rules.purpose
    if purpose is None:
        return {}
    stages = purpose.steps[-1:] if purpose.staged else purpose.steps
    own = {literal for stage in stages for literal in stage.wants}
    bans = [ban for rule in rules.domain if rule.goals for ban in rule.forbids]
    told = {
        literal.atom.predicate for ban in bans for clause in ban.when for literal in clause.literals
    }
    found: dict[Literal, float] = {}
    things = things_of(rules)
    seconds = set(map(_second, purpose.over))
    single = [name for name in things if name not in seconds]
    for other in (purpose, *rules.goals):
        fields = {
            name: [mine for mine in single if things[mine] == source]
            for name, source in other.over.items()
        }
        for literal in other.wants:
            for args in _choices([fields.get(arg, [arg]) for arg in literal.atom.args]):
                found.setdefault(Literal(Atom(literal.atom.predicate, args), literal.negated), 2.0)
    for literal in sorted(own, key=str):
        for name in (arg for arg in literal.atom.args[:1] if arg in purpose.over):
            found.setdefault(literal.bind({name: _second(name)}), 6.0)
    for effect in (each for schema in rules.all_actions for each in schema.effects):
        for args in permutations(single, len(effect.atom.args)):
            found.setdefault(Literal(Atom(effect.atom.predicate, args), effect.negated), 6.0)
    opposite, undone = {each.opposite() for each in own}, _undone_with(rules, found, own)
    return {
        each: (0.0 if each.atom.predicate in told else price)
        + (FULL * STEPS if each in undone else 0.0)
        for each, price in found.items()
        if each not in own and each not in opposite
    }


def excludes(rules: ActiveRules, one: Literal, other: Literal) -> bool:
    """True if of two facts only one can be so: one is at one place."""
    alike = (
        one.atom.predicate == other.atom.predicate
        and one != other
        and not (one.negated or other.negated)
    )
    return alike and bool(rules.predicates[one.atom.predicate].exclusive)


def _undone_with(
    rules: ActiveRules, facts: Iterable[Literal], others: Iterable[Literal]
) -> set[Literal]:
    """Those of `facts` that every action causing one of `others` ends, or that exclude it: to
    put down ends holding.
    """
    found: set[Literal] = set()
    for wanted in others:
        undone: list[set[Literal]] = []
        for schema in rules.all_actions:
            for effect in schema.effects:
                if (effect.atom.predicate, effect.negated) == (
                    wanted.atom.predicate,
                    wanted.negated,
                ):
                    binding = dict(zip(effect.atom.args, wanted.atom.args, strict=True))
                    undone.append({each.opposite().bind(binding) for each in schema.effects})
        ended = set.intersection(*undone) if undone else ()
        found |= {each for each in facts if each in ended or excludes(rules, wanted, each)}
    return found


def _choices(lists: Iterable[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """One of each list, no two the same."""
    return (chosen for chosen in product(*lists) if len(set(chosen)) == len(chosen))


def bindings_met(purpose: Purpose, situation: Situation) -> Iterator[dict[str, str]]:
    """The ways to bind the goal's variables to known things with which all that it wants holds."""
    goal, variables = situation.goal, list(purpose.over)
    stages = purpose.steps[-1:] if purpose.staged else purpose.steps
    called = {
        field_: situation.belief.called(goal.named(field_)) for field_ in set(purpose.over.values())
    }
    for things in _choices([called[purpose.over[name]] for name in variables]):
        binding = dict(zip(variables, things, strict=True))
        clauses = [clause.bind(binding) for stage in stages for clause in stage.until]
        if all(clause.truth(situation) is Truth.TRUE for clause in clauses):
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
    held = trust.held or frozenset()
    for binding in bindings_met(rules.purpose, situation) if rules.purpose is not None else ():
        held |= {
            each
            for each in continuations_of(rules)
            if each.bind(binding).truth(situation) is Truth.TRUE
        }
    return trust.but(held=held)
