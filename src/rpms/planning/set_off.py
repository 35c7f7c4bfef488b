"""The processes that a command sets off, as far as is known."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, product
from typing import NamedTuple

from rpms.logic.actions import ActionSchema, names_for
from rpms.logic.belief import Situation
from rpms.logic.facts import Atom, Clause, Facts, Truth
from rpms.logic.rules import ActiveRules, Lore

_BOUND = 200
"""Ways to bind the parameters that a process does not name, each to a name that may do; more are
not tried."""


class _KnownOrListed(NamedTuple):
    """Facts of a situation, and those that the manual itself lists, which no belief knows."""

    situation: Situation
    lore: Lore

    def truth(self, atom: Atom, /) -> Truth:
        if atom.predicate in self.lore.facts:
            return Truth.of(self.lore.holds(atom.predicate, atom.args))
        return self.situation.truth(atom)


def processes_of(
    rules: ActiveRules, command: str, situation: Situation, *, perhaps: bool = False
) -> Iterator[tuple[ActionSchema, Mapping[str, str]]]:
    """The processes that a command sets off: those with all needs met as far as is known, and
    those with none known to be unmet that it sets off `perhaps`.
    """
    facts = _KnownOrListed(situation, rules.lore)
    met = (Truth.TRUE, Truth.UNKNOWN) if perhaps else (Truth.TRUE,)
    for process, named in processes_by(rules, command).found:
        needs = _needs_by_names(process)
        if _are_met(needs.of_named, facts, named, met):
            for binding in _bindings_met(process, named, facts, met):
                yield process, binding


class _ProcessesBy(NamedTuple):
    """The processes that a command may set off."""

    command: str
    found: list[tuple[ActionSchema, dict[str, str]]]
    """Each with the things that the command names."""


def processes_by(rules: ActiveRules, command: str) -> _ProcessesBy:
    """The processes that a command may set off; kept until another one is asked about, since
    several questions of a step are about the same one.
    """
    kept: _ProcessesBy | None = rules.kept.get("processes by")
    if kept is None or kept.command != command:
        kept = _ProcessesBy(command, [])
        for process in rules.lore.processes:
            named = process.match(command)
            if named is not None:
                kept.found.append((process, named))
        rules.kept["processes by"] = kept
    return kept


def _bindings_met(
    process: ActionSchema, named: Mapping[str, str], facts: _KnownOrListed, met: Sequence[Truth]
) -> Iterator[Mapping[str, str]]:
    """Names for all things of a process, those that its command names and others, with which
    all that it needs of the others counts as met.

    Names with which a need of one thing alone is not met are left out first: `at(room)` rules out
    most rooms.
    """
    needs = _needs_by_names(process)
    known = facts.situation.belief.names
    choices: list[list[str]] = []
    for other in process.others:
        names: list[str] = []
        for name in names_for(other, known):
            binding = {**named, other: name}
            if _are_met(needs.of_one[other], facts, binding, met):
                names.append(name)
        if not names:
            return
        choices.append(names)
    for chosen in islice(product(*choices), _BOUND):
        binding = {**named, **dict(zip(process.others, chosen, strict=True))}
        if _are_met(needs.of_several, facts, binding, met):
            yield binding


def _are_met(
    needs: Iterable[Clause], facts: Facts, binding: Mapping[str, str], met: Sequence[Truth]
) -> bool:
    """True if needs with some names all have a truth that counts as met."""
    for clause in needs:  # noqa: SIM110  asked so often that `all` is too dear
        if clause.truth(facts, binding) not in met:
            return False
    return True


class _ProcessNeeds(NamedTuple):
    """Needs of a process, by what they are about."""

    of_named: list[Clause]
    """Things that its command names."""
    of_one: Mapping[str, list[Clause]]
    """One thing that it does not name, by the parameter."""
    of_several: list[Clause]
    """Several of these."""


@lru_cache(maxsize=1024)
def _needs_by_names(process: ActionSchema) -> _ProcessNeeds:
    """The needs of a process, apart by the number of things that its command does not name."""
    of_named: list[Clause] = []
    of_one: dict[str, list[Clause]] = {other: [] for other in process.others}
    of_several: list[Clause] = []
    for clause in process.preconditions:
        others = [other for other in process.others if other in clause.names]
        if not others:
            of_named.append(clause)
        elif len(others) == 1:
            of_one[others[0]].append(clause)
        else:
            of_several.append(clause)
    return _ProcessNeeds(of_named, of_one, of_several)
