"""A learned action, as values: facts over its slots, each with its evidence."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, log

from rpms.induction.evidence.attempts import Attempt, Book
from rpms.induction.evidence.revelations import slots_of
from rpms.induction.evidence.templates import fill
from rpms.induction.evidence.witnesses import independent
from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import Revelation
from rpms.logic.facts import Atom, Clause, Kinds, Literal, grouped
from rpms.store.evidence import Label, Support, Witness


@dataclass(frozen=True, slots=True)
class Induced(Support):
    """A clause over slots, with what speaks for it."""

    clause: Clause
    given: tuple[Clause, ...] = ()  # Only where these hold

    @property
    def literal(self) -> Literal:
        """Its literal; the first where there are several."""
        return self.clause.literals[0]

    @property
    def revelation(self) -> Revelation:
        """The same as something that an action makes known."""
        return Revelation(self.literal.atom, self.given)


def support_by(steps: Sequence[Witness], against: int = 0, note: str = "") -> Support:
    """Support by steps, of which some are kept."""
    witnesses = tuple(steps[: LIMITS.witnesses])
    return Support(confirmed=len(steps), against=against, witnesses=witnesses, note=note)


def induced(
    clause: Clause,
    confirmed: Sequence[Witness],
    against: Sequence[Witness] = (),
    decisive: Sequence[Witness] = (),
    *,
    given: Literal | None = None,
    label: Label = Label.SEEN,
    unknown: int = 0,
    note: str = "",
) -> Induced:
    """A clause with the steps that speak for and against it, of which some are kept."""
    most = LIMITS.witnesses
    witnesses = (*decisive[:most], *confirmed[:most])
    return Induced(
        clause,
        given=() if given is None else (Clause((given,)),),
        label=label,
        confirmed=len(confirmed),
        against=len(against),
        decisive=len(decisive),
        unknown=unknown,
        witnesses=witnesses[:most],
        counterexamples=tuple(against[:most]),
        note=note,
    )


@dataclass(frozen=True, slots=True)
class KindTable:
    """The kinds with which an action worked, and those with which it was refused though nothing
    else was missing.
    """

    name: str
    slots: tuple[int, ...]
    worked: Mapping[tuple[str, ...], Sequence[Witness]]
    refused: Mapping[tuple[str, ...], Sequence[Witness]]
    of_names: bool = False
    """True if its kinds are names of single things: it says nothing of other names."""

    @property
    def kinds(self) -> Kinds:
        return Kinds(frozenset(self.worked), frozenset(self.refused))

    @property
    def literal(self) -> Literal:
        """The fact that it tells, over slots."""
        return Literal(Atom(self.name, tuple(map(str, self.slots))), kinds=self.kinds)

    def refuses(self, attempt: Attempt) -> bool:
        """True if it lists the kinds of an attempt among those that do not work."""
        return _kinds_in(self.slots, attempt) in self.refused


@dataclass(frozen=True)
class ActionModel:
    """One action."""

    name: str
    template: str
    parameters: tuple[str, ...]  # Names of its slots: roles of the belief's names
    successes: int
    refusals: int
    unexplained: int  # Refusals for which no fact and no kind accounts
    needs: tuple[Induced, ...] = ()
    """Facts that were true in all successes, and those that were not, by their labels."""
    tables: tuple[KindTable, ...] = ()
    effects: tuple[Induced, ...] = ()
    conditional: tuple[Induced, ...] = ()
    observes: tuple[Induced, ...] = ()
    losses: int = 0  # Number of times that the task was lost after it
    ruinous: Induced | None = None
    """Condition that held whenever the task was lost after it, and never otherwise."""
    witnesses: tuple[Witness, ...] = ()
    explaining: tuple[Literal, ...] = ()
    """The best guess at what is needed: the fewest facts that account for all refusals, once
    there were enough."""
    likely: tuple[Literal, ...] = ()  # Of these, those that hardly held in all successes by chance
    chances: Mapping[Literal, float] = field(default_factory=dict)
    """By fact that may be needed, how likely it is."""
    surroundings: tuple[Literal, ...] = ()
    """Of an action that hardly ever worked, what else may have been needed."""

    @property
    def syntax(self) -> str:
        """The command as the manual writes it."""
        return fill(self.template, [f"<{name}>" for name in self.parameters])

    @property
    def guessed(self) -> tuple[Literal, ...]:
        """Facts that plans see to: known needs, the best guess at the rest, and kinds that fit."""
        certain: list[Literal] = []
        for fact in self.labelled(Label.NECESSARY):
            # of two facts of which one must hold, nobody can tell which it will be
            if len(fact.clause.literals) == 1 or fact.note:
                certain.append(fact.literal)
        tables = [table.literal for table in self.tables]
        return tuple(dict.fromkeys((*certain, *self.explaining, *tables)))

    def labelled(self, *labels: Label) -> tuple[Induced, ...]:
        """The preconditions that have one of some labels."""
        return tuple(fact for fact in self.needs if fact.label in labels)

    def bind(self, clause: Clause) -> Clause:
        """A clause with the parameters' names in place of the slots."""
        return clause.bind(slots_of(self.parameters))


def kinds_that_worked(book: Book) -> list[set[str]]:
    """For each slot, the kinds that have worked in it."""
    found: list[set[str]] = [set() for _ in book.slots]
    for slot, fit in enumerate(found):
        fit.update(kinds[slot] for kinds in book.worked)
    return found


def kind_tables(
    action: str, parameters: Sequence[str], book: Book, faultless: Sequence[Attempt]
) -> list[KindTable]:
    """The kinds that worked and were refused: of single slots where that suffices, else of two
    slots together.

    Once kinds were refused together that each work with others, no table of a single slot says that
    a kind never works: it may only be choosier than the kinds that were seen to work.
    `faultless`: refusals that no fact explains.
    """
    refusals = [attempt for attempt in faultless if attempt.kinds not in book.worked]
    fit = kinds_that_worked(book)
    by_new_slots = grouped((slots_with_new_kinds(attempt, fit), attempt) for attempt in refusals)
    ill_matched = () in by_new_slots  # each kind has worked, but these did not work together
    least = _least_refusals(book, faultless)
    tables: list[KindTable] = []
    for slot, parameter in enumerate(parameters):
        if (slot,) in by_new_slots:
            unfit = [] if ill_matched else by_new_slots[slot,]
            tables.append(_kind_table(f"{action}_{parameter}", (slot,), book, unfit, least))
    if len(fit) == 2 and ill_matched:
        name = "_".join((action, *parameters))
        tables.append(_kind_table(name, (0, 1), book, refusals, least))
    return tables


def _least_refusals(book: Book, faultless: Iterable[Attempt]) -> int:
    """Refusals after which kinds are taken not to work.

    Where kinds that work are refused too, and nobody knows why, the same cause may be behind the
    refusals of others: the more often that happens, the more refusals it takes.
    """
    puzzling = independent(attempt for attempt in faultless if attempt.kinds in book.worked)
    if not puzzling:
        return LIMITS.refused_kinds
    share = puzzling / (puzzling + max(1, independent(book.successes)))
    return max(LIMITS.refused_kinds, ceil(log(LIMITS.unlucky_kind) / log(share)))


def slots_with_new_kinds(attempt: Attempt, fit: Sequence[set[str]]) -> tuple[int, ...]:
    """The slots with a kind that has never worked there."""
    return tuple([slot for slot, kind in enumerate(attempt.kinds) if kind not in fit[slot]])


def _kind_table(
    name: str, slots: tuple[int, ...], book: Book, refusals: Iterable[Attempt], least: int
) -> KindTable:
    """The kinds that worked in some slots, and those that were refused so often, at least, that
    they are taken not to work.
    """
    worked = {}
    for kinds, attempts in _by_kinds(book.successes, slots).items():
        worked[kinds] = [attempt.witness for attempt in attempts]
    refused = {}
    for kinds, attempts in _by_kinds(refusals, slots).items():
        if kinds not in worked and independent(attempts) >= least:
            refused[kinds] = [attempt.witness for attempt in attempts]
    return KindTable(name, slots, worked, refused)


def _by_kinds(
    attempts: Iterable[Attempt], slots: Sequence[int]
) -> dict[tuple[str, ...], list[Attempt]]:
    return grouped((_kinds_in(slots, attempt), attempt) for attempt in attempts)


def _kinds_in(slots: Iterable[int], attempt: Attempt) -> tuple[str, ...]:
    return tuple(attempt.kinds[slot] for slot in slots)
