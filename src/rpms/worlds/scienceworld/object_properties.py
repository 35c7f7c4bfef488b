"""Properties of things. Answers are True, False, or None where the belief does not tell.

A thing that the agent has moved, opened or switched on may be other than it was when it was seen.
"""

import re
from collections.abc import Iterable

from rpms.worlds.scienceworld import affordances as kinds
from rpms.worlds.scienceworld.observations import Thing, state_of
from rpms.worlds.scienceworld.reach import is_open, is_unlisted
from rpms.worlds.scienceworld.scene import Ask, Scene
from rpms.worlds.scienceworld.tree import (
    Seen,
    is_substance,
    is_vague,
    read_phrase,
)

_PORTABLE = {"box", "cup", "door", "flower pot"}
_FIXTURES = (kinds.FITTINGS - _PORTABLE).union(kinds.THINGS["kinds"]["furnished"])
"""Furniture, devices, tools, vessels and rooms."""
_CONTACT = re.compile(r".*\b(?:terminal|anode|cathode)\b.*")
_FLUID = re.compile(r"(?:liquid|gaseous) .*|water|steam|air")


def agreed(values: Iterable[bool | None]) -> bool | None:
    """The answer that all give; None if they differ, or if there is none."""
    answers = set(values)
    return answers.pop() if len(answers) == 1 else None


def things(belief: Scene, words: str) -> list[Thing]:
    """Things that words mean; a thing of just that name where nothing is known of it, or they
    mean anything.
    """
    head = read_phrase(words).head
    found: list[Thing] = []
    if not is_vague(head):
        found = [match.thing for match in belief.meant(words)]
    return found or [Thing(head)]


# By their names alone


def serving(use: str) -> Ask:
    """The question whether a thing is good for a use: has a lid, can be read, eaten, flushed."""

    def ask(belief: Scene, words: str) -> bool | None:
        if " to " in words or is_unlisted(words) or is_vague(read_phrase(words).head):
            return None
        return agreed(kinds.serves(use, thing.name) for thing in things(belief, words))

    return ask


_switched = serving("switch")


def helps(belief: Scene, tool: str, words: str) -> bool | None:
    """True if a tool can be used on a thing, the agent's own room and the like included."""
    phrase = read_phrase(words)
    if is_vague(read_phrase(tool).head) or is_vague(phrase.head) or is_unlisted(words):
        return None
    if phrase.head in belief.exits:
        return False
    answers = []
    for one in things(belief, tool):
        for other in things(belief, words):
            answers.append(kinds.helps(one.name, other.name))
    return agreed(answers)


def decoy(belief: Scene, words: str) -> bool:
    """True if what a command names is furniture, a device or a vessel that the goal's text does
    not name.
    """
    name = read_phrase(words).head
    a_chair_will_do = belief.goal.object == "find-non-living-thing"
    if name not in _FIXTURES or a_chair_will_do:
        return False
    return not re.search(rf"\b{name}s?\b", belief.goal.text.casefold())


# Circuits


def joinable(belief: Scene, one: str, other: str) -> bool | None:
    """False if two ends cannot be joined: a thing to itself, or a component but by a contact
    that is free.
    """
    itself = one.casefold() == other.casefold() and len(belief.meant(one)) == 1
    if itself or _is_no_end(belief, one) or _is_no_end(belief, other):
        return False
    return None


def _is_no_end(belief: Scene, words: str) -> bool:
    """True if nothing can be joined to what words name."""
    end = read_phrase(words)
    if _CONTACT.fullmatch(end.head):
        name = f"{end.head} on {''.join(end.places[:1])}"
        return kinds.is_a("wired", name) and name in belief.ends
    if is_vague(end.head):
        return False
    return all(kinds.is_a("wired", thing.name) for thing in things(belief, end.head))


def wired(belief: Scene, words: str) -> bool | None:
    """True if something is joined to a thing, or to one of its terminals. None otherwise: it may be
    joined under another name.
    """
    name = read_phrase(words).head
    for end in belief.ends:
        if f"{end} ".startswith(f"{name} ") or end.endswith(f" on {name}"):
            return True
    return None


# States


def portable(belief: Scene, words: str) -> bool | None:
    """True if a thing can be carried: it is not fixed, and its name is not that of a fluid, which
    has another name when it is frozen.
    """
    head = read_phrase(words).head
    if is_unlisted(head):
        return None
    if head in belief.exits or _FLUID.fullmatch(head):
        return False
    meant = things(belief, words)
    if all(kinds.is_fixed(thing.name) for thing in meant):
        return False
    if not any(map(_flows, meant)):
        return True
    return None if _may_be_solid(belief, words) else False


def _may_be_solid(belief: Scene, words: str) -> bool:
    """True if one of the things that words mean is solid, or may be by now."""
    found = belief.meant(words)
    return any(not _flows(match.thing) or _touched(belief, match) for match in found)


def open_(belief: Scene, words: str) -> bool | None:
    """True if a thing is open, or takes things without having a lid."""
    answers = []
    for thing in things(belief, words):
        known = is_open(belief, thing)
        answers.append(kinds.takes_things(thing.name) if known is None else known)
    return agreed(answers)


def running(belief: Scene, words: str) -> bool | None:
    """True if a device is on."""
    return agreed(map(_is_on, things(belief, words)))


def _is_on(thing: Thing) -> bool | None:
    return None if thing.flags.isdisjoint({"on", "off"}) else "on" in thing.flags


def works(belief: Scene, words: str) -> bool | None:
    """A device that was found broken stays so, from wherever it is asked about."""
    names = {f"{read_phrase(words).head} in {belief.room}", f"{words.casefold()} in {belief.room}"}
    seen = belief.by_name.get(words)
    if seen is not None:
        names.add(f"{seen.name} in {seen.place}")
    if names & belief.broken:
        return False
    if all("broken" in thing.flags for thing in things(belief, words)):
        return False
    if _switched(belief, words) is False:
        return False
    return None


def _flows(thing: Thing) -> bool:
    return state_of(thing) in ("liquid", "gas") or thing.name.endswith(" paint")


def _touched(belief: Scene, match: Seen) -> bool:
    """True if the agent has moved a thing, or what holds it: then it may have frozen, melted or
    been filled since.
    """
    for holder in match.holders:
        if holder.name == "freezer" or belief.was_handled(holder.name):
            return True
    return belief.was_handled(match.name)


# Vessels and their content


def pourable(belief: Scene, words: str) -> bool | None:
    """False for a thing that cannot be poured: it is closed or built in, or it stands by itself and
    holds nothing.
    """
    if is_vague(read_phrase(words).head):
        return None
    return agreed(_is_pourable(belief, match) for match in belief.meant(words))


def _is_pourable(belief: Scene, match: Seen) -> bool | None:
    thing = match.thing
    # a built-in thing that is open may do: opening is what may help with all others
    if _is_built_in(thing) and "open" not in thing.flags:
        return False
    if _stands_by_itself(match) and kinds.takes_things(thing.name) is False:
        return False
    if is_open(belief, thing) is False:
        return False
    return None


def _is_built_in(thing: Thing) -> bool:
    return kinds.is_fixed(thing.name) and not is_substance(thing)


def _stands_by_itself(match: Seen) -> bool:
    """True if a thing is neither carried nor in anything that can be moved."""
    if match.carried:
        return False
    return not match.holders or kinds.is_fixed(match.holder)


def several(belief: Scene, words: str) -> bool | None:
    """False if there is nothing to mix: in what holds nothing, among wares, or with a single
    substance.
    """
    if _is_solid(belief, words):
        return False
    known = _known_vessel(belief, words)
    if known is None:
        return None
    match [thing.name for thing in known.inside if not kinds.ware(thing.name)]:
        case []:
            return False
        case [name] if kinds.is_a("inert", name) or name == "water":
            return None if _touched(belief, known) else False
    return None


def wet(belief: Scene, words: str) -> bool | None:
    """False if there is no liquid in something.

    What the agent has moved or switched on may have been filled since, and a fountain fills by
    itself.
    """
    if _is_solid(belief, words):
        return False
    known = _known_vessel(belief, words)
    if known is None or known.name == "fountain" or _touched(belief, known):
        return None
    return False if all(map(_is_dry, known.inside)) else None


def _is_dry(thing: Thing) -> bool:
    known = bool(kinds.ware(thing.name)) or kinds.is_a("food", thing.name)
    return known and not _flows(thing)


def _known_vessel(belief: Scene, words: str) -> Seen | None:
    """The one thing that words mean, if its content is known and is not the agent's doing."""
    phrase = read_phrase(words)
    matches = belief.meant(phrase.head)
    if len(matches) != 1 or phrase.containing:
        return None
    (match,) = matches
    thing = match.thing
    if "on" in thing.flags or thing.contents is None or not kinds.ware(thing.name):
        return None
    if any(belief.was_handled(inner.name) for inner in thing.contents):
        return None
    return match


def _is_solid(belief: Scene, words: str) -> bool:
    """True if nothing can be in a thing."""
    if is_vague(read_phrase(words).head):
        return False
    return all(kinds.takes_things(thing.name) is False for thing in things(belief, words))
