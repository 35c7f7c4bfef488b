"""The rules that doubt makes of a manual: actions as an episode has left them, further actions that
go against a line at a price, and goals that want more.

`plan_with_doubts` plans over them; `trust` is the evidence that they are made from. What may be
doubted of an action is said in `doubted_needs` and `hoped_effects`, of a goal in
`unfinished_goals`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from math import inf
from typing import NamedTuple

from rpms.logic.actions import (
    ActionSchema,
    DoubtfulAction,
    DoubtfulActions,
    GivenBy,
    Revelation,
)
from rpms.logic.facts import Clause, Literal, Sort, grouped
from rpms.logic.rules import ActiveRules, kept_with_rules
from rpms.planning.doubted_needs import doubts_of_needs, single_literals
from rpms.planning.doubts import MAY, ActionInDoubt, Doubt
from rpms.planning.facts_at_stake import facts_made
from rpms.planning.hoped_effects import (
    NEVER,
    InVain,
    effects_in_doubt,
    hopes,
    least_of_hopes,
    may_give,
)
from rpms.planning.trust import COMPLETE, STEPS, UNSHAKEN, LinePart, ManualLine, Trust
from rpms.planning.unfinished_goals import longer_purposes


class DoubtsOfAction(NamedTuple):
    """The doubts of one action that plans may have."""

    actions: DoubtfulActions
    contradicted: frozenset[str]
    """Those that go against lines which something spoke against."""


class _Findings(NamedTuple):
    """All that an episode has shown of one action: its doubts are made from this, and from what
    other actions do.
    """

    schema: ActionSchema
    """As the manual states it."""
    evidence: frozenset[tuple[ManualLine, float]]
    """The evidence on its lines, and on rules that forbid it."""
    news: Sequence[Literal | Revelation]
    """Changes by it that no line foretold."""
    refusals: Sequence[frozenset[Literal]]
    """For each refusal without a reason, what was not known to hold."""
    suspects: frozenset[tuple[Literal, int]]
    """Facts that it may need, with the refusals that each does not explain."""
    tried: frozenset[tuple[str, float]]
    """The evidence against its doubts."""


class _HopesRestOn(NamedTuple):
    """What the hopes for one sort of fact rest on, beside all that an episode has shown of an
    action.
    """

    sort: Sort
    is_made: bool
    """True if something is known to bring such facts about."""
    in_vain: frozenset[tuple[Literal, int]]
    """How often the action worked without bringing a fact about."""


@dataclass(frozen=True, eq=False)
class _Left:
    """An action as an episode has left it."""

    rules: ActiveRules
    stated: ActionSchema
    action: ActionSchema
    against: DoubtsOfAction
    """The action against some of its lines."""
    hopes: dict[_HopesRestOn, Sequence[GivenBy]] = field(default_factory=dict)
    """The action that may bring about more."""
    _hoped: dict[Sort, Sequence[Literal]] = field(default_factory=dict)

    @cached_property
    def _told(self) -> frozenset[Literal]:
        """What it is known to bring about, and what holds before it: nothing to hope for."""
        return frozenset((*self.action.effects, *single_literals(self.action.preconditions)))

    def hoped(self, sort: Sort, effects: Iterable[Literal]) -> Sequence[Literal]:
        """Those of all facts of a sort that it may be hoped to bring about."""
        if sort not in self._hoped:
            self._hoped[sort] = [effect for effect in effects if effect not in self._told]
        return self._hoped[sort]

    @cached_property
    def least_of_hopes(self) -> float:
        """No hope for it costs less than this."""
        return least_of_hopes(self.rules, self.action)


class _LastLeft(NamedTuple):
    """The actions as they were left last."""

    trust: Trust
    left: Mapping[int, _Left]
    """By the identity of the action as the manual states it."""


class DoubtBook:
    """What was made of single actions in earlier steps: most are the same in the next one."""

    def __init__(self) -> None:
        self.last = _LastLeft(UNSHAKEN, {})
        self.left: dict[_Findings, _Left] = {}
        """Actions as an episode has left them, with their doubts."""
        self.mended: dict[object, ActionSchema] = {}
        """Actions without what was refuted: of equal ones the first, so that what was derived from
        it holds for the others.
        """
        self.in_vain: dict[tuple[str, Sort], InVain] = {}
        """How often each action worked without bringing about facts of a sort."""

    def tidy(self, most: int) -> None:
        """Forget all once more than so many actions are kept."""
        if len(self.left) >= most:
            self.last = _LastLeft(UNSHAKEN, {})
            self.left = {}
            self.mended = {}


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
    make = _Doubting(rules, trust, book, book.last)
    environment = list(map(make.left, rules.environment))
    processes = list(map(make.left, rules.lore.processes))
    every = [*environment, *processes]
    book.last = _LastLeft(trust, {id(one.stated): one for one in every})
    doubts = [one.against for one in every]
    mended = replace(
        rules,
        environment=tuple([one.action for one in environment]),
        lore=replace(
            rules.lore,
            processes=tuple([one.action for one in processes]),
            doubts=tuple([each.actions for each in doubts]),
            hopes=_HopesLeft(make, every),
        ),
        purposes=longer_purposes(rules, trust),
    )
    contradicted = frozenset[str]().union(*[each.contradicted for each in doubts])
    return DoubtedRules(mended, contradicted)


def doubts_rest_on(trust: Trust) -> tuple[object, ...]:
    """All that `doubted` reads of trust."""
    return (
        frozenset(trust.evidence.items()),
        frozenset(trust.learned.items()),
        frozenset(trust.unexplained.items()),
        trust.held,
        frozenset(trust.worked.items()),
    )


@dataclass(frozen=True)
class _Doubting:
    """Makes the doubts of one moment, or takes those from the book that were made of the same."""

    rules: ActiveRules
    trust: Trust
    book: DoubtBook
    last: _LastLeft
    """The actions as they were left last; most are still so."""

    @cached_property
    def _news(self) -> frozenset[str]:
        """The actions and rules about which something was found out since then."""
        before = self.last.trust
        now = self.trust
        found: set[str] = set()
        for line, _ in before.evidence.items() ^ now.evidence.items():
            found.add(line.of.partition(MAY)[0] if line.part is LinePart.DOUBTED else line.of)
        for was, has in (
            (before.learned, now.learned),
            (before.unexplained, now.unexplained),
            (before.worked, now.worked),
        ):
            found.update(key for key in was.keys() | has.keys() if was.get(key) != has.get(key))
        return frozenset(found)

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
        found = grouped((one[0].partition(MAY)[0], one) for one in self._vain.items())
        return {action: frozenset(every) for action, every in found.items()}

    def _priced(self, doubts: Iterable[Doubt], *, was_tried: bool) -> DoubtsOfAction:
        """Doubts of an action, dearer by the attempts that they were to no avail in."""
        actions: list[DoubtfulAction] = []
        contradicted: list[str] = []
        for action, is_contradicted in doubts:
            actions.append(self._dearer(action) if was_tried else action)
            if is_contradicted:
                contradicted.append(action.schema.doubt)
        return DoubtsOfAction(DoubtfulActions(tuple(actions)), frozenset(contradicted))

    def _dearer(self, action: DoubtfulAction) -> DoubtfulAction:
        """A doubt, dearer by the attempts that it was to no avail in."""
        schema = action.schema
        vain = self._vain.get(schema.doubt, 0.0)
        if not vain:
            return action
        return DoubtfulAction.of(schema.varied(steps=schema.steps - STEPS * vain))

    def left(self, schema: ActionSchema) -> _Left:
        """An action as the episode has left it, with its doubts; as made before, if nothing new was
        found out about it.
        """
        last = self.last.left.get(id(schema))
        if last is not None:
            names = _names_of_lines(self.rules, self.rules.key_of(schema), schema.name)
            if schema.name not in self._news and self._news.isdisjoint(names):
                return last
        findings = self._findings_on(schema)
        found = self.book.left.get(findings)
        if found is None:
            left = self._mended(findings)
            doubted = ActionInDoubt(self.rules, self.trust, schema, left)
            doubts = chain(effects_in_doubt(doubted), doubts_of_needs(doubted))
            against = self._priced(doubts, was_tried=bool(findings.tried))
            found = self.book.left[findings] = _Left(self.rules, schema, left, against)
        return found

    def _findings_on(self, schema: ActionSchema) -> _Findings:
        """All that the episode has shown of an action."""
        trust = self.trust
        action = self.rules.key_of(schema)
        return _Findings(
            schema,
            self._evidence_on(schema),
            trust.learned.get(action, ()),
            trust.unexplained.get(action, ()),
            frozenset(trust.suspects(action).items()),
            self._vain_by_action.get(schema.name, frozenset()),
        )

    def _mended(self, findings: _Findings) -> ActionSchema:
        """An action without needs that were refuted, with changes that nobody foretold, dearer
        where it was refused.
        """
        schema = findings.schema
        if not findings.news and not findings.evidence:
            return schema
        mended = self._mend(schema, findings.news)
        if mended is schema:
            return schema
        return self.book.mended.setdefault((self.rules.key_of(schema), mended), mended)

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

    def hopes(
        self, left: _Left, effects: Sequence[Literal], sort: Sort, *, is_made: bool
    ) -> Sequence[GivenBy]:
        """An action that might bring about facts of a sort, as made before, if nothing changed that
        this rests on.
        """
        in_vain = self._in_vain(left.stated, sort, effects)
        rest_on = _HopesRestOn(sort, is_made, in_vain.facts)
        found = left.hopes.get(rest_on)
        if found is None:
            doubted = ActionInDoubt(self.rules, self.trust, left.stated, left.action)
            doubts = hopes(doubted, left.hoped(sort, effects), in_vain.times, made=is_made)
            was_tried = left.action.name in self._vain_by_action
            priced = self._priced(doubts, was_tried=was_tried).actions
            found = left.hopes[rest_on] = priced.giving.get(sort, ())
        return found

    def _in_vain(self, action: ActionSchema, sort: Sort, effects: Sequence[Literal]) -> InVain:
        """How often an action worked without bringing about each fact of a sort."""
        key = self.rules.key_of(action)
        before = self.book.in_vain.get((key, sort), NEVER)
        now = before.counting(self.trust.worked.get(key, ()), effects)
        self.book.in_vain[key, sort] = now
        return now


@dataclass(frozen=True, eq=False)
class _HopesLeft:
    """What may be hoped of actions as an episode has left them."""

    make: _Doubting
    every: Sequence[_Left]
    """All actions, in the order of the manual."""

    @cached_property
    def _made(self) -> frozenset[Sort]:
        """Facts that something is known to bring about."""
        return facts_made(one.action for one in self.every)

    def least(self, sort: Sort) -> float:
        """No hope for a fact of a sort costs less than this; infinite if there is none."""
        least = inf
        for place, effects in may_give(self.make.rules, sort):
            left = self.every[place]
            if left.hoped(sort, effects):
                least = min(least, left.least_of_hopes)
        return least

    def giving(self, sort: Sort) -> Iterator[GivenBy]:
        """The hopes for facts of a sort, action by action."""
        is_made = sort in self._made
        for place, effects in may_give(self.make.rules, sort):
            yield from self.make.hopes(self.every[place], effects, sort, is_made=is_made)

    def hoped_of(self, sort: Sort) -> Iterator[GivenBy]:
        """The actions that these hopes are of, each as it is without hope."""
        for place, effects in may_give(self.make.rules, sort):
            left = self.every[place]
            for effect in left.hoped(sort, effects):
                yield GivenBy(left.action, effect)


@kept_with_rules
def _names_of_lines(rules: ActiveRules, key: str, name: str) -> tuple[str, ...]:
    """An action, by its key, and the rules that forbid it: what lines about it belong to."""
    rules_of_bans = [rule.id for rule, _ in rules.bans.get(name, {}).values()]
    return tuple(dict.fromkeys((key, *rules_of_bans)))
