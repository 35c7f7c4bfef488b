"""Plans in words: what a choice is for, and what comes next."""

from __future__ import annotations

import re

from rpms.core.facts import Truth, kind_of
from rpms.core.planning.prices import Link, Option
from rpms.core.rules import ActiveRules

_IMAGINED = re.compile(r" \?+")


def purpose_of(option: Option, rules: ActiveRules) -> str:
    """Purpose of a choice in a few words: the thing it looks for, or the action it makes possible."""
    if not option.chain:
        return ""
    first, *rest = option.chain
    if first.reveals:
        thing = next((kind_of(arg) for arg in first.fact.args if arg.endswith("?")), "")
        return f"look for {thing}" if thing else f"find out whether {rules.say(first.fact.atom, Truth.TRUE)}"
    if rest:
        return f"then {_plain(rest[0].command)}"
    return f"so that {_plain(rules.say(first.fact.atom, ~Truth.TRUE if first.fact.negated else Truth.TRUE))}"


def chain_of(option: Option, rules: ActiveRules) -> tuple[str, ...]:
    """A plan from the goal back to what is done now, each action with the fact that the one before it is for."""
    chain: list[str] = []
    for link in reversed(_without_detours(option.chain)):
        value = Truth.UNKNOWN if link.reveals else Truth.TRUE
        chain += [_plain(rules.say(link.fact.atom, ~value if link.fact.negated else value)), _plain(link.command)]
    return tuple(chain)


def _without_detours(chain: tuple[Link, ...]) -> tuple[Link, ...]:
    """A plan without what makes a fact so that a look may show to hold: a book on the desk need not be put there."""
    for place, link in enumerate(chain):
        later = [other for other in range(place + 1, len(chain)) if chain[other].fact[:3] == link.fact[:3]]
        if link.reveals and later:
            return (*chain[: place + 1], *chain[later[-1] + 1 :])
    return chain


def _plain(text: str) -> str:
    """A text without the marks of what nobody has seen yet."""
    return _IMAGINED.sub("", text)


def next_steps(option: Option) -> str:
    """A plan in one line, as far as it is certain: `go to desk 1, then take mug 1 from desk 1`."""
    steps: list[str] = [] if option.chain else [option.command]
    for link in option.chain:
        if "?" in link.command:
            break
        steps.append(link.command)
        if link.reveals:
            sought = next((kind_of(arg) for arg in link.fact.args if arg.endswith("?")), "")
            return ", then ".join(steps) + (f" to look for {sought}" if sought else "")
    return ", then ".join(steps)
