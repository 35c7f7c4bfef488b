"""The belief as the prompt shows it: short, what the task needs first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from rpms.core.belief import Belief
from rpms.core.facts import kind_of
from rpms.core.goal import Progress
from rpms.worlds.alfworld.known import AlfworldKnown
from rpms.worlds.alfworld.sites import NOWHERE

_HERE_SHOWN = 8
_SPOTTED_SHOWN = 5
_KINDS_SHOWN = 8


def belief_lines(belief: AlfworldKnown) -> tuple[str, ...]:
    """The lines of the [Current State] block. Only what is known is said."""
    lines = [f"Holding: {_held(belief)}"]
    if belief.site == NOWHERE:
        lines.append("Location: middle of the room")
    elif belief.location is not None:
        lines.append(f"Location: {_location(belief)}")
        lines.append(f"Here: {_here(belief)}")
    opened = [place for place, is_open in belief.containers.items() if is_open]
    if opened:
        lines.append(f"Open: {_ranges(opened)}")
    spotted = list(_spotted(belief))
    if spotted:
        lines.append(f"Seen: {_some(spotted, _SPOTTED_SHOWN)}")
    if belief.places:
        left = [place for place in belief.places if place not in belief.seen]
        lines.append(f"Not yet searched: {_ranges(left) or 'nothing'}")
    return tuple(lines)


def paper_lines(belief: Belief, _progress: Progress) -> tuple[str, ...]:
    """The block as Appendix D prints it: the hand, and, once they are known, the place and what stands open."""
    lines = [f"  Holding: {', '.join(belief.holding) or 'nothing'}"]
    if belief.location is not None:
        lines.append(f"  Location: {belief.location}")
    opened = [place for place, is_open in belief.containers.items() if is_open]
    if opened:
        lines.append(f"  Open: {', '.join(opened)}")
    return tuple(lines)


def _held(belief: AlfworldKnown) -> str:
    if belief.hand is None:
        return "nothing"
    states = sorted(belief.states.get(belief.hand, ()))
    return f"{belief.hand} ({', '.join(states)})" if states else belief.hand


def _location(belief: AlfworldKnown) -> str:
    others = [place for place in belief.sites.at(belief.site or "") if place != belief.location]
    return f"{belief.location} (same place: {_ranges(others)})" if others else str(belief.location)


def _here(belief: AlfworldKnown) -> str:
    """Content of the place last gone to; things of the goal first."""
    place = belief.location or ""
    if belief.containers.get(place) is False:
        return f"{place} is closed"
    goal = (belief.goal.object, belief.goal.destination)
    inside = sorted(belief.contents.get(place, ()), key=lambda thing: kind_of(thing) not in goal)
    return _some(inside, _HERE_SHOWN) or "nothing"


def _spotted(belief: AlfworldKnown) -> Iterable[str]:
    """Things of the goal that were seen somewhere else."""
    wanted = {belief.goal.object, belief.goal.destination}
    for place, inside in belief.contents.items():
        if place != belief.location:
            for thing in inside:
                if kind_of(thing) in wanted:
                    states = "".join(f"{state} " for state in sorted(belief.states.get(thing, ())))
                    yield f"{states}{thing} in {place}"


def _some(items: Sequence[str], most: int) -> str:
    more = f", +{len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def _ranges(places: Sequence[str]) -> str:
    """Places by kind, with numbers in a row written as one: `cabinet 1-6, fridge 1`."""
    numbers: defaultdict[str, list[int]] = defaultdict(list)
    for place in places:
        digits = place.rpartition(" ")[2]
        numbers[kind_of(place)].append(int(digits) if digits.isdecimal() and len(digits) < 5 else 0)
    pieces = []
    for kind, found in numbers.items():
        found.sort()
        runs: list[list[int]] = []
        for number in found:
            if runs and number == runs[-1][1] + 1:
                runs[-1][1] = number
            else:
                runs.append([number, number])
        pieces.append(f"{kind} {', '.join(str(low) if low == high else f'{low}-{high}' for low, high in runs)}")
    return _some(pieces, _KINDS_SHOWN)
