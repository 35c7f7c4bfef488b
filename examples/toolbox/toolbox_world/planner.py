"""The model that is no LLM: what to do next, from goal, belief and active rules alone."""

from __future__ import annotations

from collections.abc import Iterator

from rpms.core.decide import Decision
from rpms.core.facts import kind_of
from toolbox_world.belief import ToolboxBelief


def plan(decision: Decision) -> tuple[str, str]:
    """The first thing that is still to be done and was not just refused."""
    belief = decision.belief
    assert isinstance(belief, ToolboxBelief)
    for thought, action in _wishes(decision, belief):
        if action not in belief.refused:
            return thought, action
    return "Nothing is left to try, so I look again.", "list"


def _wishes(decision: Decision, belief: ToolboxBelief) -> Iterator[tuple[str, str]]:
    goal, held = decision.goal, "".join(belief.holding)
    targets = [host for host in belief.hosts if kind_of(host) == goal.destination]
    for host in targets:
        if goal.state and any(kind_of(file) == goal.object for file in belief.files.get(host, ())):
            yield from _at(host, belief, f"{host} has the file and must run again.", f"start {host}")
    if held and goal.state and held not in belief.signed:
        for host in (name for name in belief.hosts if kind_of(name) == "signer"):
            yield from _at(host, belief, f"{held} must be signed.", f"sign {held} with {host}")
    for host in targets if held else ():
        stop = [f"stop {host}"] if belief.running.get(host) else []
        yield from _at(host, belief, f"{held} is ready for {host}.", *stop, f"push {held} to {host}")
    for file, host in belief.last_seen.items():
        if kind_of(file) == goal.object:
            yield from _at(host, belief, f"{file} was seen on {host}.", f"pull {file} from {host}")
    usual = [place for rule in decision.rules.domain if rule.locality for place in rule.locality.places]
    unseen = [host for host in belief.hosts if host not in belief.files]
    for host in sorted(unseen, key=lambda name: usual.index(kind_of(name)) if kind_of(name) in usual else len(usual)):
        yield from _at(host, belief, f"{host} was not searched yet.", "list")


def _at(host: str, belief: ToolboxBelief, thought: str, *actions: str) -> Iterator[tuple[str, str]]:
    """Go there and unlock it if need be, then act."""
    if belief.location != host:
        yield thought, f"connect to {host}"
    elif belief.locked.get(host):
        yield thought, f"unlock {host}"
    else:
        yield from ((thought, action) for action in actions)
