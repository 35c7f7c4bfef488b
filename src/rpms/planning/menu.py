"""The menu: a few feasible actions to choose from, each with what it is for; `advice` finds
those worth choosing.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from rpms.logic.belief import Situation
from rpms.logic.facts import Truth, kind_of
from rpms.logic.rules import ActiveRules
from rpms.paper.arbitration import infeasibility
from rpms.paper.beyond import Menu, MenuItem
from rpms.paper.prompt import estimate_tokens
from rpms.planning.edges import Link, Option
from rpms.planning.reason import reasoner_of
from rpms.planning.wanted_facts import Fact

MENU_TOKENS = 150
"""Tokens that the entries of a menu may have together; one that does not fit beside the more
relevant is left out."""
_IMAGINED = re.compile(r" \?+")


def feasible_actions(rules: ActiveRules, situation: Situation) -> Iterator[str]:
    """Every action of the manual, over the names that are known, of which nothing speaks
    against doing it now.
    """
    every = reasoner_of(rules).commands(situation)
    return (command for command in every if infeasibility(command, rules, situation) is None)


def make_menu(
    choices: Iterable[tuple[str, str]], tried: Mapping[str, int], size: int, *, ranked: bool
) -> Menu:
    """Choices with reasons, cut to a size and grouped by first word; those tried least in this
    state stay.
    """
    left = list(dict(choices).items())
    if ranked:
        least = min((tried.get(command, 0) for command, _ in left), default=0)
        left = [item for item in left if tried.get(item[0], 0) == least]
    else:
        left.sort(key=_by_name)
    spare = MENU_TOKENS
    kept: list[MenuItem] = []
    for rank, (command, reason) in enumerate(left[:size]):
        tokens = estimate_tokens(command)
        if tokens <= spare or not kept:
            kept.append(MenuItem(command, rank, reason))
            spare -= tokens
    return Menu(tuple(sorted(kept, key=lambda item: _by_name((item.command, "")))))


def _by_name(item: tuple[str, str]) -> tuple[str, tuple[tuple[int, str], ...]]:
    """Sort by verb, then so that `drawer 10` comes after `drawer 9`."""
    words = item[0].split()
    verb = words[0] if words else ""
    by_number: list[tuple[int, str]] = []
    for word in words:
        by_number.append((int(word), "") if word.isdecimal() else (0, word))
    return verb, tuple(by_number)


def purpose_of(option: Option, rules: ActiveRules) -> str:
    """Purpose of a choice in a few words: the thing it looks for, or the action it makes
    possible.
    """
    if not option.chain:
        return ""
    first, *rest = option.chain
    if first.reveals:
        thing = next((kind_of(arg) for arg in first.fact.args if arg.endswith("?")), "")
        return (
            f"look for {thing}"
            if thing
            else f"find out whether {rules.say(first.fact.atom, Truth.TRUE)}"
        )
    if rest:
        return f"then {_plain(rest[0].command)}"
    return (
        "so that"
        f" {_plain(rules.say(first.fact.atom, ~Truth.TRUE if first.fact.negated else Truth.TRUE))}"
    )


def chain_of(option: Option, rules: ActiveRules) -> tuple[str, ...]:
    """A plan from the goal back to what is done now, each action with the fact that the one
    before it is for.
    """
    told: list[str] = []
    for link in reversed(_without_shown_facts(option.chain)):
        value = Truth.UNKNOWN if link.reveals else Truth.TRUE
        if link.fact.negated:
            value = ~value
        told.append(_plain(rules.say(link.fact.atom, value)))
        told.append(_plain(link.command))
    return tuple(told)


def _is_same(one: Fact, other: Fact) -> bool:
    """True if two facts say the same, be one of them only to be found and one to be made."""
    return one._replace(makeable=True) == other._replace(makeable=True)


def _without_shown_facts(links: tuple[Link, ...]) -> tuple[Link, ...]:
    """The links of a plan, without those that would bring about a fact which its first look may
    show to hold anyway.
    """
    for place, link in enumerate(links):
        if not link.reveals:
            continue
        same = [
            later
            for later in range(place + 1, len(links))
            if _is_same(links[later].fact, link.fact)
        ]
        if same:
            return (*links[: place + 1], *links[same[-1] + 1 :])
    return links


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
