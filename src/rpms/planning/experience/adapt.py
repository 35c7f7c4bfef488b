"""Past the paper: snippets are bound to the present room.

Things of the present room take the place of the snippet's (`binder`), and steps already done are
left out. A snippet that cannot be bound still says where things were found (`searcher`). Of the
manual only syntax and effects are used, so that memory works without rules.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from rpms.logic.facts import kind_of
from rpms.logic.goal import EXPLORING
from rpms.paper.beyond import StepContext
from rpms.paper.memory import Stride, SuccessSnippet
from rpms.paper.verdict import Candidate, Fate, Trail, Verdict, reordered
from rpms.planning.experience.binder import Binder
from rpms.planning.experience.searcher import Searcher
from rpms.planning.experience.step_at_hand import StepAtHand
from rpms.planning.experience.things_here import ThingsHere
from rpms.planning.lift import Lifted, lift, renamed
from rpms.planning.whereabouts import Whereabouts

_WINDOW = 50
"""Snippets of which those of the present sub-goal come first."""


def bind(candidate: Candidate, trail: Trail | str) -> Candidate:
    """A candidate with what of its snippet is left to do here; or filtered, for the reason that
    there is nothing.
    """
    if isinstance(trail, str):
        return candidate.judged(Verdict(Fate.FILTERED, trail))
    entry = replace(snippet_of(candidate), actions=tuple(step.command for step in trail.steps))
    return Candidate(entry, candidate.score, candidate.rank, candidate.verdict, trail)


def snippet_of(candidate: Candidate) -> SuccessSnippet:
    """The entry of a candidate, which is a snippet: no other kind is adapted."""
    assert isinstance(candidate.entry, SuccessSnippet)
    return candidate.entry


@dataclass(frozen=True)
class AdaptContext(StepAtHand):
    """The step at hand, and what memories are bound with."""

    @classmethod
    def of(cls, now: StepContext, whereabouts: Whereabouts) -> Self:
        """The step as the paper has it, with where things were found before."""
        return cls(
            now.situation,
            now.schemas,
            now.progress,
            now.history,
            now.mask,
            now.experience,
            whereabouts,
        )

    @cached_property
    def things(self) -> ThingsHere:
        """Where things are."""
        return ThingsHere(self)

    @cached_property
    def searcher(self) -> Searcher:
        """Places to search."""
        return Searcher(self, self.things)

    @cached_property
    def binder(self) -> Binder:
        """Names of this room for those of snippets."""
        return Binder(self, self.things)

    def adapt(self, candidate: Candidate) -> Candidate:
        """A candidate with what of its snippet is left to do here."""
        return bind(candidate, self.trail(snippet_of(candidate)))

    def trail(self, snippet: SuccessSnippet) -> Trail | str:
        """The part of a snippet that is left to do here, or the reason that there is nothing."""
        lifted = lift(snippet, self.schemas)
        names = self.binder.binding(lifted, snippet)
        steps = self.left(lifted, names)
        if steps is None:
            return "all that it did is done already"
        seeks = ""
        if lifted.sought and lifted.sought not in names:
            seeks = self.binder.meant(lifted)
        hint = self._hint(seeks, lifted) if seeks else ""
        remaining = which_steps(steps, len(snippet.actions))
        note = "; ".join(filter(None, (remaining, hint)))
        if not note:
            return "nothing of it can be bound to what is known here"
        return Trail(steps, note, seeks=seeks)

    def leads_on(self, bound: Candidate) -> bool:
        """True of what reached the present sub-goal and has a step left that was not refused in
        this very state.
        """
        entry = snippet_of(bound)
        if entry.sub_goal_type != self.progress.sub_goal or not entry.actions:
            return False
        return entry.actions[0] not in self.refused

    def unless_said(self, what: object, candidate: Candidate, said: dict[object, str]) -> Verdict:
        """A bound candidate's verdict: crowded out where it equals an earlier one, unless the
        earlier one is hidden.
        """
        if what in said:
            return Verdict(Fate.CROWDED, f"adapted, it says the same as {said[what]}")
        if not self.mask.hides(candidate.entry.id):
            said[what] = candidate.entry.id
        return candidate.verdict

    def _hint(self, now: str, lifted: Lifted) -> str:
        """Finds of such a thing in such a place, in words, if a snippet cannot be followed;
        else the best place.
        """
        kind, place = kind_of(lifted.sought), kind_of(lifted.source)
        told = self.whereabouts.told(now, place)
        if not told and self.whereabouts.akin(now, kind):
            told = self.whereabouts.told(kind, place)
        return told or self.whereabouts.best(now)

    # Steps left to do.

    def left(self, lifted: Lifted, names: dict[str, str]) -> tuple[Stride, ...] | None:
        """The steps of a snippet that are still to be done, as far as their names are bound;
        None if all are done.
        """
        steps: list[Stride] = []
        complete = True
        for deed, places in lifted.to_do:
            # the places it needs come first
            for place in places:
                steps += self._approach(lifted, place, names, deed.number)
            if not all(name in names for name in deed.names):
                complete = False
                break
            own = tuple(names[name] for name in deed.names)
            steps.append(deed._replace(command=renamed(deed.command, names), names=own))
        # it was only seen: to be there is all
        if lifted.sought.endswith("?"):
            complete = lifted.sought in names
            steps += self._approach(lifted, lifted.source, names, len(lifted.deeds))
        left = self._undone(steps)
        if complete and not left:
            return None
        return left

    def _approach(
        self, lifted: Lifted, name: str, names: dict[str, str], number: int
    ) -> Iterator[Stride]:
        """Steps that make a place usable: as with others of its kind, else as in the snippet
        itself.
        """
        place = names.get(name)
        if place is None:
            return
        own: dict[str, int] = {}
        for deed in lifted.deeds:
            if deed.names == (name,):
                own[renamed(deed.command, {name: place})] = deed.number
        known = self.searcher.approach(place) if self.whereabouts.approach(kind_of(place)) else ()
        for way in known or own:
            yield Stride(own.get(way, number), way, (place,))

    def _undone(self, steps: Sequence[Stride]) -> tuple[Stride, ...]:
        """The steps that are left: not those that are done, nor those that only led to these.

        After the last step that is done, all others are still ahead. Before it, one was evidently
        passed over without harm, so it is kept only if a later one that is kept is about the same
        things. A way that was refused is none here; a refused last step stays, being the purpose.
        """
        last = len(steps) - 1
        ahead_from = 0
        undone: list[int] = []
        for place, step in enumerate(steps):
            if self.is_done(step.command, deed=place == last):
                ahead_from = place + 1
            elif place == last or step.command not in self.refused:
                undone.append(place)
        ahead = [steps[place] for place in undone if place >= ahead_from]
        passed_over = [steps[place] for place in undone if place < ahead_from]
        return _without_repeats(_with_what_they_use(ahead, passed_over))


def _with_what_they_use(ahead: Sequence[Stride], passed_over: Sequence[Stride]) -> list[Stride]:
    """Steps after those earlier ones whose things they are all about, or that lead to such."""
    kept = list(ahead)
    for step in reversed(passed_over):
        names = set(step.names)
        if any(names.issubset(later.names) for later in kept):
            kept.insert(0, step)
    return kept


def _without_repeats(steps: Iterable[Stride]) -> tuple[Stride, ...]:
    """Each command where it comes first."""
    first_of: dict[str, Stride] = {}
    for step in steps:
        first_of.setdefault(step.command, step)
    return tuple(first_of.values())


Adapt = Callable[[Iterable[Candidate], AdaptContext], Iterator[Candidate]]
"""Makes of what comes to mind what it is worth here."""


def adapted(candidates: Iterable[Candidate], context: AdaptContext) -> Iterator[Candidate]:
    """Bind snippets that suit the state to the names that are here; lazily, so that only what
    is needed is bound.
    """
    said: dict[object, str] = {}
    sub_goal = context.progress.sub_goal

    def turn(candidate: Candidate) -> int:
        """Sorts snippets of the present sub-goal first, or without one, those from earlier in
        episodes.
        """
        entry = snippet_of(candidate)
        if sub_goal != EXPLORING:
            return entry.sub_goal_type != sub_goal
        return min((origin.step for origin in entry.origins), default=0)

    for candidate in reordered(candidates, _WINDOW, lambda passed: sorted(passed, key=turn)):
        bound = context.adapt(candidate) if candidate.verdict.fate is Fate.KEPT else candidate
        if bound.adapted is not None:
            says = snippet_of(bound).actions or bound.adapted.note
            bound = bound.judged(context.unless_said(says, bound, said))
        yield bound


def which_steps(steps: Sequence[Stride], total: int) -> str:
    """The remaining steps of a snippet, in words."""
    if not steps:
        return ""
    first, last = steps[0].number, steps[-1].number
    return f"step {first} of {total}" if first == last else f"steps {first} to {last} of {total}"
