"""The rules that doubt makes of a manual: further actions that go against a line, at a price, and
goals that want more.

`plan_with_doubts` plans over them; `trust` is the evidence that they are made from.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, combinations, permutations, product
from typing import NamedTuple

from rpms.logic.actions import ActionSchema, DoubtfulActions, Revelation
from rpms.logic.belief import Situation
from rpms.logic.facts import Atom, Clause, Literal, Truth, grouped
from rpms.logic.goal import Progress
from rpms.logic.rules import ActiveRules, Purpose, Stage, atoms_over, kept_with_rules
from rpms.planning.trust import (
    COMPLETE,
    CONTRADICTED,
    FULL,
    STEPS,
    LinePart,
    ManualLine,
    Trust,
    Worked,
)

SUPPOSED, HOPED, WAIVED = "may need", "may do", "may not need"
_MAY = " may "
"""What every doubt has after the name of its action."""
LIKELY, POSSIBLE, UNLIKELY = 1.0, 3.5, 8.5
"""Price in steps of supposing a need that the manual does not state. LIKELY: several other actions
have it, or it is a lasting fact that no line uses. POSSIBLE: one other action has it, or its
opposite is stated. UNLIKELY: all others."""
_WANTED_BY_GOALS, _WANTED_BY_NONE = 2.0, 6.0
"""Steps by which a fact that the goal may want too is tried later: one that it or another goal
wants of such things, and any other."""
SECOND = FULL * STEPS
"""Price in steps by which hope for an effect that another action is known to have comes after
other doubts."""

_COUNTED_KEPT = 64
"""Actions of which it is kept how often they worked in vain."""


class Doubt(NamedTuple):
    """An action that goes against a line."""

    action: ActionSchema
    contradicted: bool = False
    """True if it goes against a single line, and something spoke against that."""


class DoubtsOfAction(NamedTuple):
    """The doubts of one action that plans may have."""

    actions: DoubtfulActions
    contradicted: frozenset[str]
    """Those that go against lines which something spoke against."""


class DoubtBook:
    """What was made of single actions in earlier steps: most are the same in the next one."""

    def __init__(self) -> None:
        self.mended: dict[object, ActionSchema] = {}
        """Actions as an episode has left them: of equal ones the first, so that what was derived
        from it holds for the others.
        """
        self.doubts: dict[object, DoubtsOfAction] = {}
        """Their doubts, by all that these were made from."""

    def tidy(self, most: int) -> None:
        """Forget all once more than so many doubts are kept."""
        if len(self.doubts) >= most:
            self.mended = {}
            self.doubts = {}


class DoubtedRules(NamedTuple):
    """Rules with further actions for doubts."""

    rules: ActiveRules
    contradicted: frozenset[str]
    """The doubts that go against lines which something spoke against."""


def doubted(rules: ActiveRules, trust: Trust, *, book: DoubtBook) -> DoubtedRules:
    """The rules as an episode has left them, with further actions for the doubts that plans may
    have, at their price: any line may be doubted, and those cost less that were contradicted.

    The `book` has doubts that were made before.
    """
    make = _Doubting(rules, trust, book)
    environment = tuple(map(make.mended, rules.environment))
    processes = tuple(map(make.mended, rules.lore.processes))
    pairs = list(zip(rules.all_actions, (*environment, *processes), strict=True))
    made = facts_made(new for _, new in pairs)
    doubts = [make.doubts(old, new) for old, new in pairs]
    doubts += [make.hopes(old, new, made) for old, new in pairs]
    actions = tuple([each.actions for each in doubts])
    mended = replace(
        rules,
        environment=environment,
        lore=replace(rules.lore, processes=processes, doubts=actions),
        purposes=make.continuations(),
    )
    contradicted = frozenset[str]().union(*[each.contradicted for each in doubts])
    return DoubtedRules(mended, contradicted)


def doubts_rest_on(trust: Trust) -> tuple[object, ...]:
    """All that `doubted` reads of trust."""
    worked = {action: len(times) for action, times in trust.worked.items()}
    return (
        frozenset(trust.evidence.items()),
        frozenset(trust.learned.items()),
        frozenset(trust.unexplained.items()),
        trust.held,
        frozenset(worked.items()),
    )


@dataclass(frozen=True)
class _Doubting:
    rules: ActiveRules
    trust: Trust
    book: DoubtBook

    @cached_property
    def _evidence(self) -> Mapping[str, list[tuple[ManualLine, float]]]:
        """The evidence on lines, by the action, goal or rule they belong to."""
        return grouped((line.of, (line, weight)) for line, weight in self.trust.evidence.items())

    def _evidence_on(self, action: ActionSchema) -> frozenset[tuple[ManualLine, float]]:
        """The evidence on lines of an action, and on rules that forbid it."""
        evidence = self._evidence
        names = _names_of_lines(self.rules, self.rules.key_of(action), action.name)
        own = [evidence[name] for name in names if name in evidence]
        return frozenset(chain.from_iterable(own))

    @cached_property
    def _vain(self) -> Mapping[str, float]:
        """The evidence against doubts that were tried to no avail, by the doubt."""
        evidence = self.trust.evidence.items()
        return {line.of: weight for line, weight in evidence if line.part is LinePart.DOUBTED}

    @cached_property
    def _vain_by_action(self) -> Mapping[str, frozenset[tuple[str, float]]]:
        """The evidence against doubts, by the action that they are about: they begin with it."""
        found = grouped((one[0].partition(_MAY)[0], one) for one in self._vain.items())
        return {action: frozenset(every) for action, every in found.items()}

    def _vain_of(self, action: ActionSchema) -> frozenset[tuple[str, float]]:
        """The evidence against doubts of an action."""
        return self._vain_by_action.get(action.name, frozenset())

    def _priced(self, doubts: Iterable[Doubt]) -> DoubtsOfAction:
        """Doubts of an action, dearer by the attempts that they were to no avail in."""
        actions: list[ActionSchema] = []
        contradicted: list[str] = []
        for action, is_contradicted in doubts:
            vain = self._vain.get(action.doubt, 0.0)
            actions.append(action.varied(steps=action.steps - STEPS * vain) if vain else action)
            if is_contradicted:
                contradicted.append(action.doubt)
        return DoubtsOfAction(DoubtfulActions(tuple(actions)), frozenset(contradicted))

    def mended(self, schema: ActionSchema) -> ActionSchema:
        """An action without needs that were refuted, with changes that nobody foretold, dearer
        where it was refused.
        """
        action = self.rules.key_of(schema)
        news = self.trust.learned.get(action, ())
        evidence = self._evidence_on(schema)
        if not news and not evidence:
            return schema
        mended = self._mend(schema, news)
        if mended is schema:
            return schema
        return self.book.mended.setdefault((action, mended), mended)

    def _mend(self, schema: ActionSchema, news: Sequence[Literal | Revelation]) -> ActionSchema:
        """The action, with changes that nobody foretold, as evidence has left it."""
        key = self.rules.key_of(schema)
        needs = self._needs_left(schema)
        effects = self._effects_left(schema)
        price = self.trust.upon(ManualLine(key, LinePart.NEEDS, COMPLETE))
        is_whole = needs == schema.preconditions and effects == schema.effects
        if is_whole and not news and not price:
            return schema
        changes = [one for one in news if isinstance(one, Literal)]
        sights = [one for one in news if isinstance(one, Revelation)]
        return replace(
            schema,
            preconditions=needs,
            effects=tuple(dict.fromkeys((*effects, *changes))),
            observes=(*schema.observes, *sights),
            steps=schema.steps + price,
        )

    def _needs_left(self, schema: ActionSchema) -> tuple[Clause, ...]:
        """The needs of an action that were not refuted."""
        left: list[Clause] = []
        for need in schema.preconditions:
            if self.trust.of(ManualLine.of_need(self.rules, schema, need)) > 0:
                left.append(need)
        return tuple(left)

    def _effects_left(self, schema: ActionSchema) -> tuple[Literal, ...]:
        """The effects of an action that nothing spoke against."""
        left: list[Literal] = []
        for effect in schema.effects:
            if not self.trust.upon(ManualLine.of_effect(self.rules, schema, effect)):
                left.append(effect)
        return tuple(left)

    def doubts(self, old: ActionSchema, schema: ActionSchema) -> DoubtsOfAction:
        """An action against some of its lines; as made before, if nothing that they are made
        from has changed.
        """
        action = self.rules.key_of(old)
        suspects = frozenset(self.trust.suspects(action).items())
        refusals = self.trust.unexplained.get(action, ())
        key = (action, schema, self._evidence_on(old), suspects, refusals, self._vain_of(schema))
        made = self.book.doubts.get(key)
        if made is None:
            made = self.book.doubts[key] = self._priced(self._make_doubts(old, schema))
        return made

    def _make_doubts(self, old: ActionSchema, schema: ActionSchema) -> Iterator[Doubt]:
        """An action with an effect that did not come, without one need or two, or with others."""
        trust, rules = self.trust, self.rules
        for effect in old.effects:
            price = trust.upon(ManualLine.of_effect(rules, old, effect))
            if price and effect not in schema.effects:
                doubt = f"{schema.name} may not do {effect}"
                steps = schema.steps + price
                hope = schema.varied(effects=(effect,), observes=(), steps=steps, doubt=doubt)
                yield Doubt(hope, contradicted=True)
        prices = self._prices_of_needs(old, schema)
        for doubtful in prices:
            without = _without(schema, doubtful.price, doubtful.need)
            yield Doubt(without, contradicted=doubtful.contradicted)
        for one, other in combinations(prices, 2):
            yield Doubt(_without(schema, one.price + other.price, one.need, other.need))
        yield from self._supposing(old, schema, prices)

    def _prices_of_needs(self, old: ActionSchema, schema: ActionSchema) -> list[_DoubtfulNeed]:
        """The needs of an action, and what going against each costs."""
        found: list[_DoubtfulNeed] = []
        for need in self.rules.needs_of(schema):
            line = ManualLine.of_need(self.rules, old, need)
            contradicted = self.trust.evidence.get(line, 0.0) < 0
            found.append(_DoubtfulNeed(need, self.trust.against(line), contradicted))
        return found

    def _supposing(
        self, old: ActionSchema, schema: ActionSchema, prices: Sequence[_DoubtfulNeed]
    ) -> Iterator[Doubt]:
        """An action with one need, or two, that the manual does not state."""
        suspects = self._suspects(old, schema)
        for one in suspects:
            more = self._supposed(old, schema, (one,), suspects[one])
            if more is None:
                continue
            yield Doubt(more, contradicted=True)
            for doubtful in prices:
                if doubtful.need in more.preconditions:
                    yield Doubt(_without(more, doubtful.price, doubtful.need))
        for pair in self._suspect_pairs(old, suspects):
            more = self._supposed(old, schema, pair, 1)
            if more is not None:
                yield Doubt(more)

    def _suspects(self, old: ActionSchema, schema: ActionSchema) -> dict[Literal, int]:
        """Facts that an action may need beside those stated, with the refusals that each leaves
        unexplained.
        """
        known = {*schema.effects, *_single_literals(schema.preconditions)}
        suspects = self.trust.suspects(self.rules.key_of(old))
        return {one: left for one, left in suspects.items() if one not in known}

    def _suspect_pairs(
        self, old: ActionSchema, suspects: Mapping[Literal, int]
    ) -> Iterator[tuple[Literal, ...]]:
        """Pairs of suspects that explain all refusals together, and not each for itself."""
        refusals = self.trust.unexplained.get(self.rules.key_of(old), ())
        doubtful = [one for one, left in suspects.items() if left]
        for pair in combinations(doubtful, 2):
            if not any(false.isdisjoint(pair) for false in refusals):
                yield pair

    def _supposed(
        self, old: ActionSchema, schema: ActionSchema, supposed: Sequence[Literal], left: int
    ) -> ActionSchema | None:
        """An action with needs that the manual does not state, in place of their opposites; None
        if they cannot hold together: nothing is at two places, or open and closed.

        `left` is the number of refusals that they do not explain.
        """
        stated = schema.preconditions
        opposites = [Clause((one.opposite(),)) for one in supposed]
        needs = [need for need in stated if need not in opposites]
        singles = _single_literals(needs)
        if self._contradict(supposed, (*singles, *supposed)):
            return None
        price = -STEPS * CONTRADICTED * left
        for one, opposite in zip(supposed, opposites, strict=True):
            if _is_undone_with(self.rules, one, tuple(singles)):
                price += UNLIKELY
            else:
                price += POSSIBLE if opposite in stated else _plausible(self.rules, one, old.name)
        more = [Clause((one,)) for one in supposed]
        return schema.varied(
            preconditions=(*needs, *more),
            steps=old.steps + price,
            doubt=f"{schema.name} {SUPPOSED} {' and '.join(map(str, supposed))}",
        )

    def _contradict(self, facts: Iterable[Literal], others: Sequence[Literal]) -> bool:
        """True if one of some facts cannot hold beside some others."""
        for fact in facts:
            opposite = fact.opposite()
            if any(other == opposite or excludes(self.rules, fact, other) for other in others):
                return True
        return False

    def hopes(
        self, old: ActionSchema, schema: ActionSchema, made: frozenset[tuple[str, bool]]
    ) -> DoubtsOfAction:
        """An action that might bring about what something needs; as made before, if nothing that
        this is made from has changed. `made`: facts that something is known to bring about.
        """
        vain = self._in_vain(old)
        action = self.rules.key_of(old)
        key = (action, schema, self._evidence_on(old), vain.facts, made, self._vain_of(schema))
        hopes = self.book.doubts.get(key)
        if hopes is None:
            hopes = self.book.doubts[key] = self._priced(
                self._make_hopes(old, schema, made, vain.times)
            )
        return hopes

    def _make_hopes(
        self,
        old: ActionSchema,
        schema: ActionSchema,
        made: frozenset[tuple[str, bool]],
        vain: Mapping[Literal, int],
    ) -> Iterator[Doubt]:
        """Hopes for each fact that something needs, also without one of the action's needs if
        nothing is known to bring it about; such cost less.
        """
        told = {*schema.effects, *_single_literals(schema.preconditions)}
        needs = self._prices_of_needs(old, schema)
        for effect in _effects_to_hope_for(self.rules, old):
            if effect in told:
                continue
            is_made = effect.signed in made
            price = self._price_of_hope(old, schema, effect) + SECOND * is_made
            price -= STEPS * CONTRADICTED * vain.get(effect, 0)
            doubt = f"{schema.name} {HOPED} {effect}"
            hope = schema.varied(effects=(effect,), observes=(), steps=price, doubt=doubt)
            yield Doubt(hope)
            if is_made:
                continue
            for doubtful in needs:
                yield Doubt(_without(hope, doubtful.price, doubtful.need))

    def _price_of_hope(self, old: ActionSchema, schema: ActionSchema, effect: Literal) -> float:
        """The steps of an action that may have an effect; fewer if it serves nothing else."""
        line = ManualLine(self.rules.key_of(old), LinePart.DOES, str(effect))
        price = schema.steps + self.trust.upon(line, 0.0)
        makes = facts_made([schema])
        if not schema.observes and makes.isdisjoint(_served_facts(self.rules)):
            price -= STEPS * FULL / 2
        return price

    def _in_vain(self, schema: ActionSchema) -> _InVain:
        """How often an action worked without bringing a fact about."""
        return _count_in_vain(self.trust.worked.get(self.rules.key_of(schema), ()))

    def continuations(self) -> tuple[tuple[Purpose, float], ...]:
        """Other purposes the goal may have once the manual's held without a win; with their
        prices.
        """
        purpose, held = self.rules.purpose, self.trust.held
        if purpose is None or held is None:
            return ()
        last = _last_stages(purpose)
        things = things_of(self.rules)
        found: list[tuple[Purpose, float]] = []
        for literal, price in continuations_of(self.rules).items():
            if literal in held:
                continue
            steps = (replace(last[0], until=(Clause((literal,)),)), *last)
            more = {name: field for name, field in things.items() if name in literal.atom.args}
            over = {**purpose.over, **more}
            found.append((replace(purpose, over=over, steps=steps, staged=False), price))
        return tuple(found)


def _last_stages(purpose: Purpose) -> tuple[Stage, ...]:
    """The stages that hold together once the goal is reached."""
    return purpose.steps[-1:] if purpose.staged else purpose.steps


class _DoubtfulNeed(NamedTuple):
    """A need that may not be one, and the steps that going against it costs."""

    need: Clause
    price: float
    contradicted: bool
    """True if something spoke against it."""


class _InVain(NamedTuple):
    """How often an action worked without bringing about each fact over its parameters."""

    times: Counter[Literal]
    facts: frozenset[tuple[Literal, int]]
    """The same to look doubts up by: it keeps its hash."""


@lru_cache(maxsize=_COUNTED_KEPT)
def _count_in_vain(times: tuple[Worked, ...]) -> _InVain:
    """How often each fact was not brought about, of some times that an action worked.

    Kept, since most actions did not work again since the last step.
    """
    vain: Counter[Literal] = Counter()
    for one in times:
        vain.update(one.false_after)
    return _InVain(vain, frozenset(vain.items()))


@kept_with_rules
def _plausible(rules: ActiveRules, suspect: Literal, action: str) -> float:
    """Steps by which an unstated need of an action is tried after others; predicates that other
    actions need come first.
    """
    used = _uses(rules)
    predicate = rules.predicates[suspect.atom.predicate]
    if predicate.lasting:
        stated = {literal.atom.predicate for _, literal in used}
        if predicate.name not in stated:
            return LIKELY
    alike = {name for name, literal in used if literal == suspect and name != action}
    if not alike:
        return UNLIKELY
    return POSSIBLE if len(alike) == 1 else LIKELY


@kept_with_rules
def _is_undone_with(rules: ActiveRules, fact: Literal, others: tuple[Literal, ...]) -> bool:
    """True if every action causing one of `others` ends a fact, or if they exclude it."""
    return bool(_undone_with(rules, (fact,), others))


@kept_with_rules
def _names_of_lines(rules: ActiveRules, key: str, name: str) -> tuple[str, ...]:
    """An action, by its key, and the rules that forbid it: what lines about it belong to."""
    rules_of_bans = [rule.id for rule, _ in rules.bans.get(name, {}).values()]
    return tuple(dict.fromkeys((key, *rules_of_bans)))


def _without(schema: ActionSchema, price: float, *needs: Clause) -> ActionSchema:
    left = tuple(need for need in schema.preconditions if need not in needs)
    doubt = f"{schema.doubt}, and" if schema.doubt else schema.name
    doubt = f"{doubt} {WAIVED} {' and '.join(map(str, needs))}"
    return schema.varied(preconditions=left, steps=schema.steps + price, doubt=doubt, waives=needs)


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
def _hoped_facts(rules: ActiveRules) -> frozenset[tuple[str, bool]]:
    """Facts that an action might bring about without saying so: all that something needs.

    Left out is the end of an exclusive fact, such as being in one place: the next one ends it.
    """
    found: set[tuple[str, bool]] = set()
    for predicate, negated in wanted_facts(rules):
        if not (negated and rules.predicates[predicate].exclusive):
            found.add((predicate, negated))
    return frozenset(found)


@kept_with_rules
def _effects_to_hope_for(rules: ActiveRules, schema: ActionSchema) -> tuple[Literal, ...]:
    """All that an action might bring about of its parameters and that something needs."""
    hoped = _hoped_facts(rules)
    found: list[Literal] = []
    for atom in atoms_over(rules, schema):
        for negated in (False, True):
            effect = Literal(atom, negated)
            if effect.signed in hoped:
                found.append(effect)
    return tuple(found)


@kept_with_rules
def _served_facts(rules: ActiveRules) -> frozenset[tuple[str, bool]]:
    """Facts that actions, this goal or another need."""
    served = set(wanted_facts(rules))
    for goal in rules.goals:
        served.update(literal.signed for literal in goal.wants)
    return frozenset(served)


def facts_made(schemas: Iterable[ActionSchema]) -> frozenset[tuple[str, bool]]:
    """Facts that some actions bring about, by predicate and sign."""
    made: set[tuple[str, bool]] = set()
    for schema in schemas:
        made.update(effect.signed for effect in schema.effects)
    return frozenset(made)


@kept_with_rules
def things_of(rules: ActiveRules) -> Mapping[str, str]:
    """The goal's variables with their fields, one for each field that only other goals have,
    and a second of each.
    """
    own = dict(rules.purpose.over) if rules.purpose is not None else {}
    owned = set(own.values())
    others: dict[str, str] = {}
    for goal in rules.goals:
        others |= {field: name for name, field in goal.over.items()}
    more = {f"{name}_of_others": field for field, name in others.items() if field not in owned}
    seconds = {_second(name): field for name, field in own.items()}
    return {**own, **more, **seconds}


def _single_literals(needs: Iterable[Clause]) -> list[Literal]:
    """The facts that needs ask for by themselves, with no other that would do instead."""
    return [need.literals[0] for need in needs if len(need.literals) == 1]


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
    own: set[Literal] = set()
    for stage in _last_stages(purpose):
        own.update(stage.wants)
    candidates = _possible_wants(rules, purpose, own)
    settled = own | {each.opposite() for each in own}
    undone = _undone_with(rules, candidates, own)
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


def excludes(rules: ActiveRules, one: Literal, other: Literal) -> bool:
    """True if of two facts only one can be so: one is at one place."""
    if one == other or one.negated or other.negated:
        return False
    predicate = one.atom.predicate
    return predicate == other.atom.predicate and bool(rules.predicates[predicate].exclusive)


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
                if effect.signed == wanted.signed:
                    binding = dict(zip(effect.atom.args, wanted.atom.args, strict=True))
                    undone.append({each.opposite().bind(binding) for each in schema.effects})
        ended = set.intersection(*undone) if undone else ()
        for fact in facts:
            if fact in ended or excludes(rules, wanted, fact):
                found.add(fact)
    return found


def _choices(lists: Iterable[Sequence[str]]) -> Iterator[tuple[str, ...]]:
    """One of each list, no two the same."""
    return (chosen for chosen in product(*lists) if len(set(chosen)) == len(chosen))


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
        if all(clause.bind(binding).truth(situation) is Truth.TRUE for clause in clauses):
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
        for each in continuations_of(rules):
            if each.bind(binding).truth(situation) is Truth.TRUE:
                held.add(each)
    return trust.but(held=frozenset(held))
