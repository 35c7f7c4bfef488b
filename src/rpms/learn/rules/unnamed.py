"""What an action shows of things that its command does not name: who the customer with a phone number is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import NamedTuple

from rpms.core.belief import Belief
from rpms.core.facts import Atom, Truth
from rpms.core.rules import ANYTHING, Predicate


class Glimpse(NamedTuple):
    """What an action showed, as bits of the facts over `_` that were asked about."""

    shown: int = 0
    """Of these, some fact was unknown before and is known now."""
    hidden: int = 0
    """Of these, some fact about things that are known by now is unknown still."""


def glimpse(
    revelations: Sequence[Atom],
    predicates: Mapping[str, Predicate],
    before: Belief,
    after: Belief,
    names: Sequence[str],
) -> Glimpse:
    """What became known, and what did not, of all things in the roles of `_` that are known after an action.

    What one sees depends on where one is: facts about places of an agent that has one are not asked about here.
    """
    places = {each.args[0] for each in predicates.values() if each.exclusive == "always" and len(each.args) == 1}
    places = places if before.location is not None else set()
    shown = hidden = 0
    for place, atom in enumerate(revelations):
        declared = predicates[atom.predicate]
        if declared.exclusive or not places.isdisjoint(declared.args):
            continue
        pools = [
            [name for name in after.names.get(role, ()) if name not in names] if arg == ANYTHING else [names[int(arg)]]
            for arg, role in zip(atom.args, declared.args, strict=True)
        ]
        for args in product(*pools):
            asked = Atom(atom.predicate, args)
            if after.truth(asked) is Truth.UNKNOWN:
                hidden |= 1 << place
                break
            if not shown >> place & 1 and before.truth(asked) is Truth.UNKNOWN:
                shown |= 1 << place
    return Glimpse(shown, hidden)
