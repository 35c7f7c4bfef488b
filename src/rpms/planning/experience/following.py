"""Memory that acts without rules: snippets that belong to a place are followed there.

Where memory acts alone, snippets that are bound to a place are followed from wherever the agent is:
every snippet that moved tells a way from one place to another (`atlas`). An entry that only its
place excludes is reached by such ways, then its remaining steps are done (`trail`). If no similar
goal had the present sub-goal, snippets of other goals that reached it are followed. Of the manual
only syntax and effects are used.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum, auto
from functools import cached_property
from itertools import chain, islice
from math import inf
from typing import NamedTuple

from rpms.logic.belief import StateSignature
from rpms.logic.rules import ActiveRules
from rpms.paper.consistency import Compat, learned_ahead, stage_of
from rpms.paper.memory import Entry, SuccessSnippet
from rpms.paper.recall import Similarity
from rpms.paper.verdict import KEPT, Candidate, Fate, Trail, Verdict
from rpms.planning.experience.adapt import AdaptContext, adapted, bind, snippet_of
from rpms.planning.experience.atlas import Atlas, Where
from rpms.planning.experience.trail import Pathfinder
from rpms.planning.whereabouts import READ

_NO_RULES = ActiveRules()
"""Memory is followed where it acts alone, without rules."""
_NOWHERE = "?"
"""No place: what was learned there suits only where places do not matter."""
CONSIDERED = 1_000
"""Candidates of which any may be followed at one step, the best first; more of them would
hardly say anything else."""
_LESS_ALIKE = Verdict(Fate.CROWDED, "others were learned for goals and stages more like this one")
_FARTHER = Verdict(Fate.CROWDED, "others are nearer to being done")


class _Tie(Enum):
    """What the state filter makes of the place that an entry was learned at."""

    TO_PLACE = auto()
    """Only its place makes the filter reject it: it would suit if it had been learned here."""
    NONE = auto()
    """Its place does not decide: it says none, or something else speaks against it."""
    PLACES_IGNORED = auto()
    """It would suit wherever it was learned, or is no snippet: the filter does not mind places."""


class _Likeness(NamedTuple):
    """The order of candidates: those for the likest goal, and at the present stage, first."""

    unlike: float
    """The score with its sign turned, so that the highest comes first."""
    stages_apart: int


class _Trust(NamedTuple):
    """The order of leads, best first."""

    stale: bool
    """True if it was gone through several times without success."""
    group: int
    """Number of the group of candidates it comes from; 0 for all that are stale."""
    likeness: _Likeness


class _Lead(NamedTuple):
    """A candidate with what leads on from here."""

    trust: _Trust
    candidate: Candidate
    trail: Trail


class _Leads(NamedTuple):
    """The candidates that can be followed, best first, and the reasons against others by id."""

    found: list[_Lead]
    doubts: dict[str, str]


class _Scored(NamedTuple):
    """A snippet with the similarity of its goal to the present one."""

    score: float
    entry: SuccessSnippet


class _Divided(NamedTuple):
    """Candidates that are to be followed to their places, and all others so far."""

    bound: list[Candidate]
    others: list[Candidate]


@dataclass(frozen=True)
class Following:
    """An `Adapt` for experience alone: snippets that belong to a place are followed, all others
    adapted as ever.
    """

    compat: Compat
    similarity: Similarity
    entries: Sequence[Entry]
    syntax: ActiveRules
    slack: float = inf
    """Steps a snippet may be farther from done than the nearest one."""
    _atlases: dict[tuple[str, str], Atlas] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __call__(
        self, candidates: Iterable[Candidate], context: AdaptContext
    ) -> Iterator[Candidate]:
        where = Where.of(context.situation, context.schemas)
        if where is None:
            yield from self._adapted(candidates, where, context)
            return
        stream = iter(candidates)
        divided = self._divided(stream, where, context)
        if divided.bound:
            yield from self._followed(divided.bound, where, context)
            yield from adapted(divided.others, context)
        else:
            yield from self._adapted(chain(divided.others, stream), where, context)

    def _divided(
        self, stream: Iterator[Candidate], where: Where, context: AdaptContext
    ) -> _Divided:
        """Read candidates as far as they may have to be followed; the rest stays in the stream.

        Once one tells that the filter ignores places, before any is bound, none will be.
        """
        divided = _Divided([], [])
        for candidate in islice(stream, CONSIDERED):
            tie = self._tie(candidate.entry, where, context)
            if tie is _Tie.TO_PLACE and not learned_ahead(context.situation, candidate.entry):
                divided.bound.append(candidate)
            else:
                divided.others.append(candidate)
            if tie is _Tie.PLACES_IGNORED and not divided.bound:
                break
        return divided

    def _adapted(
        self, candidates: Iterable[Candidate], where: Where | None, context: AdaptContext
    ) -> Iterator[Candidate]:
        """Candidates as ever; if none of them leads on, snippets that reached the sub-goal for
        another goal, one of which may have a step for it.
        """
        known: set[str] = set()
        led = False
        for each in adapted(candidates, context):
            known.add(each.entry.id)
            led = led or (each.verdict.fate is Fate.KEPT and context.leads_on(each))
            yield each
        if led:
            return
        free = self._elsewhere(known, where, context, tied=False)
        for each in adapted(free, context):
            if context.leads_on(each):
                yield each

    @cached_property
    def _by_sub_goal(self) -> Mapping[str, Sequence[SuccessSnippet]]:
        """The snippets by the sub-goal that they reached, of each as many as are of use."""
        found: dict[str, list[SuccessSnippet]] = {}
        for entry in self.entries:
            if isinstance(entry, SuccessSnippet):
                reached = found.setdefault(entry.sub_goal_type, [])
                if len(reached) < READ:
                    reached.append(entry)
        return found

    def _tie(self, entry: Entry, where: Where | None, context: AdaptContext) -> _Tie:
        """Find out what an entry's place decides, by moving the entry elsewhere."""
        if where is None or not isinstance(entry, SuccessSnippet):
            return _Tie.PLACES_IGNORED
        now = context.situation
        if not self.compat(now, _moved(entry, where, _NOWHERE), _NO_RULES):
            says_place = entry.state_signature.get(where.field)
            return _Tie.PLACES_IGNORED if says_place else _Tie.NONE
        against = self.compat(now, _moved(entry, where, where.here), _NO_RULES)
        return _Tie.NONE if against else _Tie.TO_PLACE

    def _followed(
        self, candidates: Sequence[Candidate], where: Where, context: AdaptContext
    ) -> Iterator[Candidate]:
        """The candidates with the way on from here, nearest first; without one, a hint."""
        now = {each.name: getattr(context, each.name) for each in fields(context)}
        path = Pathfinder(**now, where=where, atlas=self._atlas(where))
        leads = self._leads(candidates, path)
        yield from self._judged(leads.found, context)
        leading = {lead.candidate.entry.id for lead in leads.found}
        rest = [each for each in candidates if each.entry.id not in leading]
        yield from _hinting(rest, leads.doubts, context, told=_any_shown(leads.found, context))

    def _atlas(self, where: Where) -> Atlas:
        """What the entries tell of the world's places; made once."""
        key = (where.predicate, where.field)
        if key not in self._atlases:
            self._atlases[key] = Atlas(self.entries, where, self.syntax)
        return self._atlases[key]

    def _judged(self, leads: Iterable[_Lead], context: AdaptContext) -> Iterator[Candidate]:
        """Leads bound to the present, with their verdicts.

        Others give way to the first that is shown, but not to those that are hidden before it.
        """
        best: _Lead | None = None
        said: dict[object, str] = {}
        for lead in leads:
            candidate = lead.candidate.judged(KEPT)
            if best is not None and lead.trust != best.trust:
                verdict = _LESS_ALIKE
            elif best is not None and lead.trail.price > best.trail.price + self.slack:
                verdict = _FARTHER
            else:
                verdict = context.unless_said(lead.trail.steps[0].command, candidate, said)
            if best is None and not context.mask.hides(candidate.entry.id):
                best = lead
            yield bind(candidate, lead.trail).judged(verdict)

    def _leads(self, candidates: Sequence[Candidate], path: Pathfinder) -> _Leads:
        """Follow the candidates, group by group, until one of them leads on."""
        leads = _Leads([], {})
        for number, group in enumerate(self._groups(candidates, path)):
            for candidate in group:
                trail = path.trail(snippet_of(candidate))
                if isinstance(trail, str):
                    leads.doubts[candidate.entry.id] = trail
                else:
                    group_of_it = 0 if trail.stale else number
                    trust = _Trust(trail.stale, group_of_it, _likeness(candidate, path))
                    leads.found.append(_Lead(trust, candidate, trail))
            fresh = [lead for lead in leads.found if not lead.trail.stale]
            if _any_shown(fresh, path):
                break
        leads.found.sort(key=lambda lead: (lead.trust, lead.trail.price))
        return leads

    def _groups(
        self, candidates: Sequence[Candidate], path: Pathfinder
    ) -> Iterator[Iterable[Candidate]]:
        """Snippets that reached the sub-goal for similar goals, then for any; those of the next
        stages if no similar goal had it.
        """
        sub_goal = path.progress.sub_goal
        now = [each for each in candidates if snippet_of(each).sub_goal_type == sub_goal]
        yield now
        known = {each.entry.id for each in candidates}
        yield self._elsewhere(known, path.where, path, tied=True)
        if not now:
            stage = path.situation.stage or 0
            yield [each for each in candidates if _stage(each, path) >= stage]

    def _elsewhere(
        self, known: Container[str], where: Where | None, context: AdaptContext, *, tied: bool
    ) -> Iterator[Candidate]:
        """Snippets for other goals that reached the sub-goal, most similar first: `tied` to
        places, or fit here.
        """
        goal = context.situation.goal.signature
        others: list[_Scored] = []
        for entry in self._by_sub_goal.get(context.progress.sub_goal, ()):
            if entry.id not in known:
                others.append(_Scored(self.similarity(goal, entry.goal_signature), entry))
        others.sort(key=lambda each: -each.score)
        fit = (each for each in others if self._is_fit(each.entry, where, context, tied=tied))
        for score, entry in islice(fit, CONSIDERED):
            yield Candidate(entry, score, score * entry.strength, KEPT)

    def _is_fit(
        self, entry: Entry, where: Where | None, context: AdaptContext, *, tied: bool
    ) -> bool:
        """True if an entry is `tied` to a place; or, if such are not wanted, suits the state."""
        is_tied = self._tie(entry, where, context) is _Tie.TO_PLACE
        if tied:
            return is_tied
        return not is_tied and not self.compat(context.situation, entry, _NO_RULES)


def _hinting(
    candidates: Iterable[Candidate],
    doubts: Mapping[str, str],
    context: AdaptContext,
    *,
    told: bool,
) -> Iterator[Candidate]:
    """Candidates that lead nowhere, each with the reason.

    Unless something else was `told`, the likest that is shown stays as a hint without steps.
    """
    for candidate in sorted(candidates, key=lambda each: _likeness(each, context)):
        reason = doubts.get(candidate.entry.id, "it is for another sub-goal")
        if told:
            yield bind(candidate, reason)
        else:
            told = not context.mask.hides(candidate.entry.id)
            yield bind(candidate, Trail((), reason, followed=True)).judged(KEPT)


def _any_shown(leads: Iterable[_Lead], context: AdaptContext) -> bool:
    """True if one of the leads is not hidden in this episode."""
    return any(not context.mask.hides(lead.candidate.entry.id) for lead in leads)


def _moved(entry: SuccessSnippet, where: Where, place: str) -> SuccessSnippet:
    """An entry as if it had been learned elsewhere."""
    fields = tuple(
        (name, (place,) if name == where.field else values)
        for name, values in entry.state_signature.fields
    )
    return replace(entry, state_signature=StateSignature(fields))


def _likeness(candidate: Candidate, context: AdaptContext) -> _Likeness:
    """Likeness of the goal and stage that a candidate was learned for to the present ones."""
    now = context.situation.stage or 0
    return _Likeness(-candidate.score, abs(_stage(candidate, context) - now))


def _stage(candidate: Candidate, context: AdaptContext) -> int:
    """The stage that an entry was learned at; the present one where it does not say."""
    then = stage_of(snippet_of(candidate))
    return then if then is not None else context.situation.stage or 0
