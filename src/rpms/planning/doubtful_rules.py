"""The rules that doubt makes of a manual: actions as an episode has left them, further actions that
go against a line at a price, and goals that want more.

`plan_with_doubts` plans over them; `trust` is the evidence that they are made from. What may be
doubted of an action is said in `doubted_needs` and `hoped_effects`, of a goal in
`unfinished_goals`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from rpms.logic.actions import ActionSchema, DoubtfulActions, Revelation
from rpms.logic.facts import Clause, Literal, grouped
from rpms.logic.rules import ActiveRules, kept_with_rules
from rpms.planning.doubted_needs import doubts_of_needs
from rpms.planning.doubts import MAY, ActionInDoubt, Doubt
from rpms.planning.facts_at_stake import facts_made
from rpms.planning.hoped_effects import effects_in_doubt, hopes, worked_in_vain
from rpms.planning.trust import COMPLETE, STEPS, LinePart, ManualLine, Trust
from rpms.planning.unfinished_goals import longer_purposes


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
        purposes=longer_purposes(rules, trust),
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
    """Makes the doubts of one moment, or takes those from the book that were made of the same."""

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
        found = grouped((one[0].partition(MAY)[0], one) for one in self._vain.items())
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

    def doubts(self, stated: ActionSchema, left: ActionSchema) -> DoubtsOfAction:
        """An action against some of its lines; as made before, if nothing that they are made
        from has changed.
        """
        action = self.rules.key_of(stated)
        suspects = frozenset(self.trust.suspects(action).items())
        refusals = self.trust.unexplained.get(action, ())
        key = (action, left, self._evidence_on(stated), suspects, refusals, self._vain_of(left))
        made = self.book.doubts.get(key)
        if made is None:
            doubted = ActionInDoubt(self.rules, self.trust, stated, left)
            made = self._priced(chain(effects_in_doubt(doubted), doubts_of_needs(doubted)))
            self.book.doubts[key] = made
        return made

    def hopes(
        self, stated: ActionSchema, left: ActionSchema, made: frozenset[tuple[str, bool]]
    ) -> DoubtsOfAction:
        """An action that might bring about what something needs; as made before, if nothing that
        this is made from has changed. `made`: facts that something is known to bring about.
        """
        doubted = ActionInDoubt(self.rules, self.trust, stated, left)
        vain = worked_in_vain(doubted)
        evidence = self._evidence_on(stated)
        key = (doubted.key, left, evidence, vain.facts, made, self._vain_of(left))
        found = self.book.doubts.get(key)
        if found is None:
            found = self.book.doubts[key] = self._priced(hopes(doubted, made))
        return found


@kept_with_rules
def _names_of_lines(rules: ActiveRules, key: str, name: str) -> tuple[str, ...]:
    """An action, by its key, and the rules that forbid it: what lines about it belong to."""
    rules_of_bans = [rule.id for rule, _ in rules.bans.get(name, {}).values()]
    return tuple(dict.fromkeys((key, *rules_of_bans)))
