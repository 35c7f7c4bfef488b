"""The index of a manual for planning: ways to make a fact so, and to find out about it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import inf
from threading import Lock
from typing import Any, NamedTuple

from rpms.logic.actions import (
    ActionSchema,
    GivenBy,
    Revelation,
    ShownBy,
    by_revelation,
    role_of,
)
from rpms.logic.facts import Clause, Literal, Sort, grouped
from rpms.logic.rules import ANYTHING, ActiveRules, kept_with_rules
from rpms.planning.givers import GiversAlike, alike
from rpms.planning.kept_answers import Groundwork, KnownNames
from rpms.planning.wanted_facts import Achiever, Fact, Level, Need, Offer, fact_of

_INDEXES_AT_WORK = 128
"""Indexes that keep what they derived in one step for the next; each takes about 1 MB."""
_OF_ONE_STEP = ("doubting", "doubts", "groundworks", "reaches", "graph", "best graph")
"""Entries that an index keeps for the next step alone."""
_WAYS_KEPT = 4_000
"""Ways that are found by the identity of their action; prices change, and make others of them."""
_used: dict["Achievers", None] = {}
"""Indexes that keep something, the latest used last."""
_using = Lock()


class Relocation(NamedTuple):
    """What moving to a place does."""

    role: str
    """The parameter for the place."""
    effects: tuple[Literal, ...]


class _NeedOf(NamedTuple):
    """What a clause asks of an action; it keeps the clause alive, whose identity is the key."""

    clause: Clause
    need: Need


class Achievers:
    """Index of the rules by the facts they bring about. One for all steps of an episode."""

    def __init__(self, rules: ActiveRules, asker: Groundwork | None = None) -> None:
        """`asker`: the groundwork that asks the belief for this index too."""
        self.rules = rules
        self.lasting_names = rules.lasting_names
        self.positional = rules.positional
        self.companions = rules.companions
        self.groundwork = Groundwork(asker)
        self.shares = False
        """True if others, at other prices, share its groundwork."""
        self._makers: dict[Sort, Offer] = {}
        self._hoped: dict[Sort, bool] = {}
        self._givers: dict[Sort, Sequence[GiversAlike]] = {}
        self._hoped_givers: dict[Sort, Sequence[GiversAlike]] = {}
        self._moves: dict[str, Sequence[Relocation]] = {}
        self._wanted: dict[int, Need] = {}
        """Needs by the identity of the clause, which the rules keep alive: a fast key."""
        self._needs: dict[tuple[int, Fact | None, tuple[str, ...]], _NeedOf] = {}
        self.kept: dict[str, Any] = {}
        """Cache from one step to the next."""

    def share(self, groundworks: dict[object, Groundwork], reaches: dict[object, object]) -> None:
        """Go on with what an index with the same reach derived; to be called before any use.

        Indexes over the same actions have the same reach: it is kept for the next one.
        """
        actions = self.rules.all_actions
        reach = reaches.get(actions)
        if reach is None:
            reach = reaches[actions] = self.reach
        self.groundwork = groundworks.setdefault(reach, self.groundwork)
        self.shares = True

    @property
    def reach(self) -> tuple[object, ...]:
        """All that decides which facts actions can bring about and show, at whatever price.

        These are the actions' own lines. Doubts are made of them: the same lines make the same
        doubts, at other prices. A doubt that supposes more needs brings about what its action does.

        Indexes that have the same reach judge every need in the same way.
        """
        lines: list[object] = []
        for schema in self.rules.all_actions:
            lines += (schema.name, schema.effects, schema.preconditions, schema.observes)
        return tuple(lines)

    def _single_needs(self, schema: ActionSchema) -> list[Literal]:
        """The facts that an action needs whatever else holds."""
        clauses = self.rules.needs_to_plan(schema)
        return [clause.literals[0] for clause in clauses if len(clause.literals) == 1]

    def is_hoped(self, predicate: str, negated: bool) -> bool:
        """True if only a doubt brings about facts of a sort."""
        sort = (predicate, negated)
        if sort not in self._hoped:
            self._hoped[sort] = sort not in self.rules.giving and self._is_doubted(sort)
        return self._hoped[sort]

    def _is_doubted(self, sort: Sort) -> bool:
        """True if a doubt brings about facts of a sort."""
        lore = self.rules.lore
        if lore.hopes is not None and lore.hopes.least(sort) < inf:
            return True
        return any(sort in each.giving for each in lore.doubts)

    def makers(self, predicate: str, negated: bool = False) -> Offer:
        """The ways to make a fact so, each prepared when a plan first asks for it; hopes are found
        late.
        """
        sort = (predicate, negated)
        if sort not in self._makers:
            self._makers[sort] = self._offer(sort)
        return self._makers[sort]

    def _offer(self, sort: Sort) -> Offer:
        """The ways to make a fact of a sort so."""
        giving: list[GivenBy] = [*self.rules.giving.get(sort, ())]
        giving += self._doubting(sort)
        hopes = self.rules.lore.hopes

        def prepare(place: int) -> Achiever:
            return self._maker(giving[place].schema, giving[place].effect)

        def find_hopes() -> Sequence[float]:
            found = list(hopes.giving(sort)) if hopes is not None else []
            giving.extend(found)
            return [each.action.steps for each in found]

        prices = [each.action.steps for each in giving]
        if hopes is None:
            return Offer(prices, prepare)
        return Offer(prices, prepare, find_hopes, hopes.least(sort))

    def moves(self, predicate: str) -> Sequence[Relocation]:
        """The different moves that bring the agent to a place in the sense of a predicate: doubts
        repeat the stated ones with other needs.

        Hopes count only where there are no others: a hope that handling a thing may bring the agent
        to it does not make every thing at hand a place where the agent is.
        """
        if predicate not in self._moves:
            sort = (predicate, False)
            moves: dict[Relocation, None] = {}
            for each in self.rules.giving.get(sort, ()):
                moves[Relocation(each.effect.atom.args[0], each.schema.effects)] = None
            for doubted in self._doubting(sort) if moves else self._doubting_or_hoping(sort):
                moves[Relocation(doubted.effect.atom.args[0], doubted.action.effects)] = None
            self._moves[predicate] = tuple(moves)
        return self._moves[predicate]

    def givers(self, sort: Sort) -> Sequence[GiversAlike]:
        """What brings about facts of a sort, stated or doubted, by the roles of their things;
        without hopes, which are found late.
        """
        if sort not in self._givers:
            giving = [*self.rules.giving.get(sort, ()), *self._doubting(sort)]
            self._givers[sort] = alike(giving, self._is_circular)
        return self._givers[sort]

    def hoped_givers(self, sort: Sort) -> Sequence[GiversAlike]:
        """What is hoped to bring about facts of a sort, by the roles of their things; nothing is
        hoped of an action that it needs.
        """
        if sort not in self._hoped_givers:
            hopes = self.rules.lore.hopes
            hoping = hopes.hoped_of(sort) if hopes is not None else ()
            self._hoped_givers[sort] = alike(hoping, lambda _: False)
        return self._hoped_givers[sort]

    def _is_circular(self, given: GivenBy) -> bool:
        """True if an action needs the very fact that it gives."""
        return given.effect in self._single_needs(given.schema)

    def _doubting(self, sort: Sort) -> list[GivenBy]:
        """The doubts about stated effects that bring about facts of a sort."""
        found: list[GivenBy] = []
        for each in self.rules.lore.doubts:
            if sort in each.giving:
                found += each.giving[sort]
        return found

    def _maker(self, schema: ActionSchema, effect: Literal) -> Achiever:
        """An action as a way to one of its effects, made once; if only the price has changed, a
        copy with the new price.
        """
        ways = self.groundwork.made_of
        key = (id(schema), id(effect))
        way = ways.get(key)
        if way is None or way.schema is not schema:
            way = self._priced_maker(schema, effect)
            if len(ways) >= _WAYS_KEPT:
                ways.clear()
            ways[key] = way
        return way

    def _priced_maker(self, schema: ActionSchema, effect: Literal) -> Achiever:
        """An action as a way to one of its effects; if it was made before at another price, a copy
        with the new price.
        """
        made = self.groundwork.made
        key = (schema.name, schema.syntax, schema.doubt, effect)
        way = made.get(key)
        if way is None:
            way = made[key] = self._make(schema, effect)
        if way.schema is not schema:
            way = made[key] = way.priced_as(schema)
        return way

    def _make(self, schema: ActionSchema, effect: Literal) -> Achiever:
        fact = fact_of(effect)
        parameters = schema.variables
        circular = effect in self._single_needs(schema)
        gives = None if circular else fact
        clauses = self.rules.needs_to_plan(schema)
        unsorted = [self.need_of(clause, gives, parameters) for clause in clauses]
        choosiest = sorted(unsorted, key=lambda need: any(one.makeable for one in need.literals))
        needs = tuple(choosiest)
        waived = tuple(self.need_of(clause, gives, parameters) for clause in schema.waives)
        shape = self.groundwork.shape(parameters, fact, needs, waived)
        return Achiever(
            schema, parameters, fact, needs, circular=circular, waived=waived, shape=shape
        )

    @cached_property
    def revealers(self) -> Mapping[str, Offer]:
        """The ways to find out about a fact, by predicate."""
        return {name: self._offer_of_looks(showing) for name, showing in self._showing.items()}

    @cached_property
    def _showing(self) -> Mapping[str, Sequence[ShownBy]]:
        """What reveals facts, stated or doubted, by predicate."""
        showing: list[ShownBy] = [*by_revelation(self.rules.all_actions)]
        for each in self.rules.lore.doubts:
            showing += each.showing
        return grouped((one.seen.atom.predicate, one) for one in showing)

    @cached_property
    def sights(self) -> Mapping[str, Sequence[Fact]]:
        """The facts over parameters that some action reveals, by predicate: doubts about an action
        repeat those that it states.
        """
        found: dict[str, Sequence[Fact]] = {}
        for predicate, showing in self._showing.items():
            atoms = dict.fromkeys([each.seen.atom for each in showing])
            found[predicate] = [Fact(atom.predicate, atom.args) for atom in atoms]
        return found

    def _offer_of_looks(self, showing: Sequence[ShownBy]) -> Offer:
        """Actions that reveal something as ways to find that out."""

        def prepare(place: int) -> Achiever:
            return self._revealer(showing[place].schema, showing[place].seen)

        return Offer([each.action.steps for each in showing], prepare)

    def _revealer(self, schema: ActionSchema, seen: Revelation) -> Achiever:
        named = [arg for arg in seen.atom.args if arg != ANYTHING]
        parameters = tuple(dict.fromkeys((*schema.variables, *named)))
        needs: list[Need] = []
        for clause in seen.given:
            need = self.need_of(clause, None, parameters)
            needs.append(self.groundwork.need(need._replace(given=True)))
        for clause in self.rules.needs_to_plan(schema):
            needs.append(self.need_of(clause, None, parameters))
        fact = Fact(seen.atom.predicate, seen.atom.args)
        shape = self.groundwork.shape(parameters, fact, tuple(needs), ())
        return Achiever(schema, parameters, fact, tuple(needs), reveals=True, shape=shape)

    def levels(self, way: Achiever) -> tuple[Level, ...]:
        """The parameters that a way's fact leaves open."""
        levels = self.groundwork.levels
        if way.shape not in levels:
            levels[way.shape] = way.levels(self.revealers, self.rules.lore.facts)
        return levels[way.shape]

    def wanted(self, clause: Clause) -> Need:
        """A fact that the goal wants, or one of several, as a need that is never taken for
        granted.
        """
        need = self._wanted.get(id(clause))
        if need is None:
            facts = tuple(map(fact_of, clause.literals))
            need = self.groundwork.need(Need(facts, frozenset(), moving=False, wanted=True))
            self._wanted[id(clause)] = need
        return need

    @cached_property
    def lasting(self) -> frozenset[str]:
        """Predicates whose facts the manual itself lists."""
        return frozenset((*self.rules.lore.facts, *self.rules.lore.kinds))

    @cached_property
    def together(self) -> Mapping[str, Need]:
        """For each companion, the need that two things, `one` and `other`, are together; only
        found to be so.
        """
        found: dict[str, Need] = {}
        for name in self.companions.values():
            pair = Fact(name, ("one", "other"), makeable=False)
            found[name] = self.groundwork.need(Need((pair,), frozenset(), moving=False))
        return found

    @cached_property
    def processes(self) -> frozenset[int]:
        """The processes, by identity."""
        return frozenset(map(id, self.rules.lore.processes))

    @cached_property
    def numbered(self) -> tuple[str, ...]:
        """Parameters of a role that another parameter has too: `block_2`."""
        found: dict[str, None] = {}
        for schema in self.rules.all_actions:
            found |= dict.fromkeys(name for name in schema.variables if role_of(name) != name)
        return tuple(found)

    def known_names(self, known: Mapping[str, Sequence[str]]) -> KnownNames:
        """The names known now, with every conclusion from the step before that still holds."""
        kept = self.groundwork.names
        if kept is None or kept.known != known:
            kept = KnownNames(self.lasting_names, known, kept, self.numbered)
            self.groundwork.names = kept
            self._note_use()
        return kept

    def _note_use(self) -> None:
        """Make this index the latest one in use. Past the limit, the one that was not used for
        longest forgets what it kept.
        """
        with _using:
            _used.pop(self, None)
            _used[self] = None
            if len(_used) > _INDEXES_AT_WORK:
                unused = next(iter(_used))
                del _used[unused]
                unused.forget()

    def forget(self) -> None:
        """Drop what was kept for the next step."""
        self.groundwork.forget()
        for of_one_step in _OF_ONE_STEP:
            self.kept.pop(of_one_step, None)

    def need_of(self, clause: Clause, gives: Fact | None, parameters: tuple[str, ...]) -> Need:
        """A precondition, prepared once for all actions that have it and give the same: doubts
        repeat most of them.
        """
        key = (id(clause), gives, parameters)
        kept = self._needs.get(key)
        if kept is None or kept.clause is not clause:
            kept = _NeedOf(clause, self._make_need(clause, gives, parameters))
            self._needs[key] = kept
        return kept.need

    def _make_need(self, clause: Clause, gives: Fact | None, parameters: tuple[str, ...]) -> Need:
        literals: list[Fact] = []
        names: set[str] = set()
        for literal in clause.literals:
            fact = fact_of(literal)
            makeable = gives is None or self._is_makeable(fact, gives)
            literals.append(fact._replace(makeable=makeable))
            names.update(arg for arg in fact.args if arg in parameters)
        moving = all(fact.predicate in self.positional for fact in literals)
        return self.groundwork.need(Need(tuple(literals), frozenset(names), moving))

    def _is_makeable(self, needed: Fact, gives: Fact) -> bool:
        """True if some action causes a precondition without needing the fact that it is for:
        putting a mug down does not help to take it.
        """
        if needed.predicate in self.companions and not needed.negated:
            return True
        given = Literal(gives.atom, gives.negated)
        key = (needed.predicate, needed.negated)
        giving: Iterable[GivenBy] = self.rules.giving.get(key, ())
        for each in giving or self._doubting_or_hoping(key):
            binding = {arg: f"{arg}'" for arg in each.schema.variables}
            binding |= dict(zip(each.effect.atom.args, needed.args, strict=True))
            if not each.schema.requires(given, binding):
                return True
        return False

    def _doubting_or_hoping(self, sort: Sort) -> Iterator[GivenBy]:
        """The doubts that bring about facts of a sort; hopes last, since these are found late."""
        yield from self._doubting(sort)
        if self.rules.lore.hopes is not None:
            yield from self.rules.lore.hopes.giving(sort)


@kept_with_rules
def achievers_of(rules: ActiveRules) -> Achievers:
    """The index over some rules, made once for all steps that ask for it."""
    return Achievers(rules)


def command_of(schema: ActionSchema, binding: Mapping[str, str]) -> str:
    """An action as it is written, with names in place of its parameters."""
    # of its pieces, every other one is a parameter
    pieces = list(schema.pieces)
    for place in range(1, len(pieces), 2):
        pieces[place] = binding[pieces[place]]
    return "".join(pieces)
