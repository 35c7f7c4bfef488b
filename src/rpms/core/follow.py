"""Past the paper: experience that belongs to a place is followed there.

Where the state filter keeps an entry for the place it was learned in, a snippet says nothing elsewhere, and the agent
starts elsewhere. Memory knows more than it says at once: every snippet that moved tells a way from one place to another
(`rpms.core.atlas`). An entry that nothing but its place keeps out is reached by such ways: the steps to that place,
then what of the snippet is left to do (`rpms.core.trail`). Where no goal like this one had the present sub-goal, what
reached it for other goals is followed.

As in `rpms.core.adapt`, all that is asked of the manual is how commands are written and by which facts the belief knows
that one is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from math import inf
from typing import NamedTuple

from rpms.core.adapt import Room, adapted
from rpms.core.atlas import Atlas, Stride, Where, strides_of
from rpms.core.belief import StateSignature
from rpms.core.consistency import Compat, learned_ahead
from rpms.core.facts import kind_of
from rpms.core.lift import renamed
from rpms.core.memory import Entry, SuccessSnippet
from rpms.core.rules import ActiveRules
from rpms.core.similarity import Similarity
from rpms.core.trail import Pathfinder, Trail, mentions
from rpms.core.verdict import Adaptation, Candidate, Fate, Verdict

_NOWHERE = "?"
"""No place: what was learned there suits only where places do not matter."""
_KEPT = Verdict(Fate.KEPT)
CONSIDERED = 1_000
"""Candidates of which any may be followed; more of them would say the same."""


class Lead(NamedTuple):
    """A candidate with what leads on from here."""

    candidate: Candidate
    trail: Trail

    def order(self, room: Room) -> tuple[bool, float, int]:
        """Sorts by how much experience is to be trusted: not gone through in vain, then as alike as `_order` says."""
        return self.trail.stale, *_order(self.candidate, room)


@dataclass(frozen=True)
class Following:
    """An `Adapt` for experience alone: snippets that belong to a place are followed, all others adapted as ever."""

    compat: Compat
    similarity: Similarity
    entries: Sequence[Entry]
    syntax: ActiveRules
    slack: float = inf
    """How many steps farther than the nearest a snippet may be from being done."""
    _atlases: dict[tuple[str, str], Atlas] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __call__(self, candidates: Iterable[Candidate], room: Room) -> Iterator[Candidate]:
        where = Where.of(room.situation, room.syntax)
        if where is None:
            yield from adapted(candidates, room)
            return
        stream, others, bound = iter(candidates), list[Candidate](), list[Candidate]()
        for candidate in islice(stream, CONSIDERED):
            (bound if self._follows(candidate, where, room) else others).append(candidate)
            if not self._minds_places(candidate, where, room):
                break
        yield from self._followed(bound, where, room) if bound else ()
        yield from adapted(others if bound else chain(others, stream), room)

    def _atlas(self, where: Where) -> Atlas:
        """The map of all entries, made once and whole before anybody else may see it."""
        key = (where.predicate, where.field)
        if key not in self._atlases:
            self._atlases[key] = Atlas.of(self.entries, where, self.syntax)
        return self._atlases[key]

    def _minds_places(self, candidate: Candidate, where: Where, room: Room) -> bool:
        """Whether the state filter may object to where an entry was learned; else there is nothing to follow."""
        entry = candidate.entry
        if not isinstance(entry, SuccessSnippet) or not entry.state_signature.get(where.field):
            return True
        return bool(self.compat(room.situation.belief, _moved(entry, where, _NOWHERE)))

    def _follows(self, candidate: Candidate, where: Where, room: Room) -> bool:
        return self._suits(candidate, where, room) and not learned_ahead(room.situation, candidate.entry)

    def _suits(self, candidate: Candidate, where: Where, room: Room) -> bool:
        """Whether an entry would suit here had it been learned here, and would not had it been elsewhere."""
        entry, belief = candidate.entry, room.situation.belief
        if not isinstance(entry, SuccessSnippet) or not self.compat(belief, _moved(entry, where, _NOWHERE)):
            return False
        return not self.compat(belief, _moved(entry, where, where.here))

    def _followed(self, candidates: Sequence[Candidate], where: Where, room: Room) -> Iterator[Candidate]:
        """The candidates with what leads on from here, the nearest first; where none does, a hint."""
        doubts: dict[str, str] = {}
        leads = self._leads(candidates, Pathfinder(room, where, self._atlas(where)), doubts)
        said: dict[str, str] = {}
        for candidate, trail in leads:
            verdict = _KEPT
            first = said.setdefault(trail.next.command, candidate.entry.id)
            if Lead(candidate, trail).order(room) != leads[0].order(room):
                verdict = Verdict(Fate.CROWDED, "others were learned for goals and stages more like this one")
            elif trail.price > leads[0].trail.price + self.slack:
                verdict = Verdict(Fate.CROWDED, "others are nearer to being done")
            elif first != candidate.entry.id:
                verdict = Verdict(Fate.CROWDED, f"adapted, it says the same as {first}")
            yield _bound(candidate, trail.steps, trail.note(len(_snippet(candidate).actions))).judged(verdict)
        leading = {each.candidate.entry.id for each in leads}
        rest = [each for each in candidates if each.entry.id not in leading]
        for candidate in sorted(rest, key=lambda each: _order(each, room)):
            reason = doubts.get(candidate.entry.id) or "it is for another sub-goal"
            if leading:
                yield candidate.judged(Verdict(Fate.FILTERED, reason))
            else:
                leading.add(candidate.entry.id)
                yield _bound(candidate, (), reason).judged(_KEPT)

    def _leads(self, candidates: Sequence[Candidate], path: Pathfinder, doubts: dict[str, str]) -> list[Lead]:
        """What leads on, the best first; `doubts` take why all else does not.

        First what reached the present sub-goal for goals like this one, then for any; where none like this one ever
        had it, what comes next.
        """
        room, leads = path.room, list[Lead]()
        now = [each for each in candidates if _snippet(each).sub_goal_type == room.sub_goal]
        ahead = [each for each in candidates if _stage(each, room) >= (room.situation.stage or 0)]
        for group in (now, self._elsewhere(candidates, path), () if now else ahead):
            for candidate in group:
                trail = path.trail(_snippet(candidate))
                doubts[candidate.entry.id] = self._doubt(_snippet(candidate), trail, path)
                if trail is not None and not doubts[candidate.entry.id]:
                    leads.append(Lead(candidate, trail))
            if any(not each.trail.stale for each in leads):
                break
        return sorted(leads, key=lambda each: (each.order(room), each.trail.price))

    def _elsewhere(self, known: Sequence[Candidate], path: Pathfinder) -> Iterator[Candidate]:
        """What reached the present sub-goal for goals less like this one."""
        ids, goal = {each.entry.id for each in known}, path.room.situation.goal.signature
        for entry in path.atlas.reached(path.room.sub_goal):
            score = self.similarity(goal, entry.goal_signature)
            candidate = Candidate(entry, score, score * entry.strength, _KEPT)
            if entry.id not in ids and self._suits(candidate, path.where, path.room):
                yield candidate

    def _doubt(self, snippet: SuccessSnippet, trail: Trail | None, path: Pathfinder) -> str:
        """Why a snippet is not followed; nothing if it is.

        What was done for another task says something only of what the goal names. Experience that ended the same
        sub-goal of one task with one thing and with another does not say which it is now; what was looked for is no
        such choice, it was taken for being there.
        """
        task, goal = _task(snippet), path.room.situation.goal
        if trail is None:
            return "nothing of it can be done from here"
        if task != (goal.type, goal.object) and not _names_its_goal(snippet):
            return "it is about things of another goal"
        own = self._end(snippet, path.where) if trail.next.number == len(snippet.actions) else None
        like = [each for each in path.atlas.reached(snippet.sub_goal_type) if _task(each) == task]
        ends = [self._end(each, path.where) for each in like] if own is not None else []
        things = sorted({end[1] for end in ends if own is not None and end is not None and end[0] == own[0]})
        return f"experience is divided between {', '.join(things)}" if len(things) > 1 else ""

    def _end(self, snippet: SuccessSnippet, where: Where) -> tuple[str, str] | None:
        """The last step of a snippet without what it names, and that, by kind.

        Nothing where that was given: it was looked for and found, or the goal named it.
        """
        strides = strides_of(snippet, where, self.syntax)
        *before, last = strides or (Stride(0, "", (), ""),)
        found = bool(before) and len(last.names) == 1 and (bool(before[-1].to) or not before[-1].names)
        words = dict.fromkeys(_words(snippet), "it")
        kinds = [kind_of(renamed(name, words)) for name in last.names]
        if found or set(kinds) <= {"it"}:
            return None
        return renamed(last.command, dict.fromkeys(last.names, "it")), " and ".join(kinds)


def _task(snippet: SuccessSnippet) -> tuple[str, str]:
    return snippet.goal_signature.type, snippet.goal_signature.object


def _words(snippet: SuccessSnippet) -> list[str]:
    """What its goal named."""
    goal = snippet.goal_signature
    return [word for word in (goal.object, goal.state, goal.destination) if word]


def _names_its_goal(snippet: SuccessSnippet) -> bool:
    return any(mentions(action, word) for action in snippet.actions for word in _words(snippet))


def _snippet(candidate: Candidate) -> SuccessSnippet:
    assert isinstance(candidate.entry, SuccessSnippet)
    return candidate.entry


def _moved(entry: SuccessSnippet, where: Where, place: str) -> SuccessSnippet:
    """An entry as if it had been learned elsewhere."""
    fields = tuple((name, (place,) if name == where.field else values) for name, values in entry.state_signature.fields)
    return replace(entry, state_signature=StateSignature(fields))


def _order(candidate: Candidate, room: Room) -> tuple[float, int]:
    """Sorts what was learned for the likest goal, and at the present stage, before all else."""
    return -candidate.score, abs(_stage(candidate, room) - (room.situation.stage or 0))


def _stage(candidate: Candidate, room: Room) -> int:
    """The stage that an entry was learned at; the present one where it does not say."""
    then = "".join(_snippet(candidate).state_signature.get("progress") or ())
    return int(then) if then.isdecimal() and len(then) < 10 else room.situation.stage or 0


def _bound(candidate: Candidate, steps: Sequence[Stride], note: str) -> Candidate:
    entry = replace(_snippet(candidate), actions=tuple(step.command for step in steps))
    return replace(candidate, entry=entry, adapted=Adaptation(note, followed=True))
