"""What was so whenever an action worked that has hardly ever worked: whoever lit a lamp had matches in hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rpms.core.facts import Literal
from rpms.learn.rules.induce import Needs, bits

_SELDOM, _MOST = 0.3, 2
"""How often such a fact may hold elsewhere, and how many of them are told."""
_TWICE = 2
"""Episodes in which an action has to have worked with something in hand."""


@dataclass
class InHand:
    """What was in hand when actions worked."""

    held: Counter[str] = field(default_factory=Counter)
    """By name, how often something was in hand when anything worked."""
    total: int = 0
    always: dict[str, set[str]] = field(default_factory=dict)
    """By action, what was in hand whenever it worked, and is not what it was done to."""
    episodes: dict[str, set[str]] = field(default_factory=dict)

    def add(self, template: str, named: Iterable[str], holding: Iterable[str], episode: str) -> Iterator[str]:
        """Take over a success; which names were in hand in all of them, and seldom with other actions."""
        holding = set(holding)
        self.held.update(holding)
        self.total += 1
        rest = holding - set(named)
        self.always[template] = self.always.get(template, rest) & rest
        self.episodes.setdefault(template, set()).add(episode)
        if len(self.episodes[template]) >= _TWICE:
            yield from (name for name in sorted(self.always[template]) if self.held[name] <= _SELDOM * self.total)


def circumstances(needs: Needs) -> tuple[Literal, ...]:
    """Facts about fixed names that held in every success and seldom hold elsewhere, the rarest first.

    Nobody can tell whether they are needed: there are many such facts, and some always hold. Plans see to them all the
    same where the action is to be tried, until it has worked often enough to tell.
    """
    book, always = needs.book, (1 << needs.size) - 1 if needs.wins else 0
    for _, true, _ in needs.wins:
        always &= true
    found = []
    for bit in bits(always):
        args = book.facts[bit].args
        known = [true >> bit & 1 for true, false in book.imagined if (true | false) >> bit & 1]
        if args and not any(map(str.isdigit, args)) and known and sum(known) <= _SELDOM * len(known):
            found.append((sum(known) / len(known), bit))
    return tuple(Literal(book.facts[bit]) for _, bit in sorted(found)[:_MOST])
