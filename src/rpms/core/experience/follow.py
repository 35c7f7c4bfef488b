"""Past the paper: follows snippets that are bound to a place from wherever the agent is.

Every snippet that moved tells a way from one place to another (`atlas`). An entry that only its place excludes is
reached by such ways, then its remaining steps are done (`trail`). If no similar goal had the present sub-goal, snippets
of other goals that reached it are followed. Of the manual only syntax and effects are used.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain, islice
from math import inf

from rpms.core.belief import StateSignature
from rpms.core.consistency import Compat, learned_ahead, stage_of
from rpms.core.experience.adapt import StepContext, adapted, bind, snippet_of
from rpms.core.experience.atlas import Atlas, Where, words_of
from rpms.core.experience.trail import Pathfinder, Trail, mentions
from rpms.core.memory import Entry, SuccessSnippet
from rpms.core.planning.whereabouts import READ
from rpms.core.recall import Similarity
from rpms.core.rules import ActiveRules
from rpms.core.verdict import Adaptation, Candidate, Fate, Verdict

_NOWHERE = "?"
"""No place: what was learned there suits only where places do not matter."""
_KEPT = Verdict(Fate.KEPT)
CONSIDERED = 1_000
"""Candidates of which any may be followed at one step, the best first; more of them would hardly say anything else."""
_NAMED = 12
"""Things named where experience is divided between more."""


Lead = tuple[tuple[float, ...], Candidate, Trail]
"""A candidate with what leads on from here, after their order of trust, best first: not gone through without success,
of an earlier group, for a more similar goal and stage."""


@dataclass(frozen=True)
class Following:
    """An `Adapt` for experience alone: snippets that belong to a place are followed, all others adapted as ever."""

    compat: Compat
    similarity: Similarity
    entries: Sequence[Entry]
    syntax: ActiveRules
    slack: float = inf
    """Steps a snippet may be farther from done than the nearest one."""
    _atlases: dict[tuple[str, str], Atlas] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __call__(self, candidates: Iterable[Candidate], context: StepContext) -> Iterator[Candidate]:
        where = Where.of(context.situation, context.schemas)
        stream, others, bound = iter(candidates), list[Candidate](), list[Candidate]()
        for candidate in islice(stream, CONSIDERED) if where is not None else ():
            tied = where and self._tied(candidate.entry, where, context)
            follows = tied and not learned_ahead(context.situation, candidate.entry)
            (bound if follows else others).append(candidate)
            if tied is None and not bound:
                break
        if bound and where is not None:
            yield from self._followed(bound, where, context)
            yield from adapted(others, context)
        else:
            yield from self._adapted(chain(others, stream), where, context)

    def _adapted(self, memories: Iterable[Candidate], where: Where | None, context: StepContext) -> Iterator[Candidate]:
        """Adapted candidates; if none has a step for the present sub-goal, those of other goals that reached it."""
        known, led = set[str](), False
        for each in adapted(memories, context):
            known.add(each.entry.id)
            led = led or (each.verdict.fate is Fate.KEPT and context.leads_on(each))
            yield each
        if not led:
            reached = self._reached(known, context)
            free = (each for each in reached if not (where and self._tied(each.entry, where, context)))
            suited = (each for each in free if not self.compat(context.situation.belief, each.entry))
            yield from (each for each in adapted(islice(suited, CONSIDERED), context) if context.leads_on(each))

    def _atlas(self, where: Where) -> Atlas:
        """The map of all entries, made once and whole before anybody else may see it."""
        key = (where.predicate, where.field)
        if key not in self._atlases:
            self._atlases[key] = Atlas(self.entries, where, self.syntax)
        return self._atlases[key]

    @cached_property
    def _by_sub_goal(self) -> Mapping[str, Sequence[SuccessSnippet]]:
        """The snippets by the sub-goal that they reached, of each as many as are of use."""
        found: dict[str, list[SuccessSnippet]] = {}
        for entry in self.entries:
            if isinstance(entry, SuccessSnippet) and len(found.setdefault(entry.sub_goal_type, [])) < READ:
                found[entry.sub_goal_type].append(entry)
        return found

    def _tied(self, entry: Entry, where: Where, context: StepContext) -> bool | None:
        """True if only its place makes the state filter reject an entry; None if the filter does not mind places."""
        if not isinstance(entry, SuccessSnippet):
            return None
        belief = context.situation.belief
        if not self.compat(belief, _moved(entry, where, _NOWHERE)):
            return None if entry.state_signature.get(where.field) else False
        return not self.compat(belief, _moved(entry, where, where.here))

    def _followed(self, candidates: Sequence[Candidate], where: Where, context: StepContext) -> Iterator[Candidate]:
        """The candidates with the way on from here, nearest first; without one, a hint."""
        doubts: dict[str, str] = {}
        now = {each.name: getattr(context, each.name) for each in fields(context)}
        leads = self._leads(candidates, Pathfinder(**now, where=where, atlas=self._atlas(where)), doubts)
        best: tuple[tuple[float, ...], float] | None = None
        said: dict[object, str] = {}
        for order, found, trail in leads:
            candidate = found.judged(_KEPT)
            if best is not None and order != best[0]:
                verdict = Verdict(Fate.CROWDED, "others were learned for goals and stages more like this one")
            elif best is not None and trail.price > best[1] + self.slack:
                verdict = Verdict(Fate.CROWDED, "others are nearer to being done")
            else:
                verdict = context.unless_said(trail.next.command, candidate, said)
                if verdict is _KEPT and not context.mask.hides(candidate.entry.id):
                    best = best or (order, trail.price)
            note = trail.note(len(snippet_of(candidate).actions))
            yield bind(candidate, trail.steps, Adaptation(note, followed=True)).judged(verdict)
        leading = {each.entry.id for _, each, _ in leads}
        rest = [each for each in candidates if each.entry.id not in leading]
        told = best is not None
        for candidate in sorted(rest, key=lambda each: _order(each, context)):
            reason = doubts.get(candidate.entry.id) or "it is for another sub-goal"
            if told:
                yield candidate.judged(Verdict(Fate.FILTERED, reason))
            else:
                told = not context.mask.hides(candidate.entry.id)
                yield bind(candidate, (), Adaptation(reason, followed=True)).judged(_KEPT)

    def _leads(self, candidates: Sequence[Candidate], path: Pathfinder, doubts: dict[str, str]) -> list[Lead]:
        """Snippets to follow, best first; `doubts` receives the reasons against all others.

        First those that reached the present sub-goal for similar goals, then for any; if no similar goal ever had it,
        the next stages.
        """
        leads, found = list[Lead](), False
        now = [each for each in candidates if snippet_of(each).sub_goal_type == path.progress.sub_goal]
        ahead = [each for each in candidates if _stage(each, path) >= (path.situation.stage or 0)]
        for number, group in enumerate((now, self._elsewhere(candidates, path), () if now else ahead)):
            for candidate in () if found else group:
                trail = path.trail(snippet_of(candidate))
                doubt = doubts[candidate.entry.id] = self._doubt(snippet_of(candidate), trail, path)
                if trail is not None and not doubt:
                    later = 0 if trail.stale else number
                    leads.append(((trail.stale, later, *_order(candidate, path)), candidate, trail))
            found = any(not trail.stale and not path.mask.hides(each.entry.id) for _, each, trail in leads)
        return sorted(leads, key=lambda lead: (lead[0], lead[2].price))

    def _elsewhere(self, known: Sequence[Candidate], path: Pathfinder) -> Iterator[Candidate]:
        """Snippets that reached the present sub-goal for less similar goals, most similar first."""
        others = self._reached({each.entry.id for each in known}, path)
        return islice((each for each in others if self._tied(each.entry, path.where, path)), CONSIDERED)

    def _reached(self, known: Container[str], context: StepContext) -> Iterator[Candidate]:
        """Other snippets that reached the present sub-goal, most similar goals first."""
        goal, reached = context.situation.goal.signature, self._by_sub_goal.get(context.progress.sub_goal, ())
        scored = [(self.similarity(goal, each.goal_signature), each) for each in reached]
        for score, entry in sorted(scored, key=lambda one: -one[0]):
            if entry.id not in known:
                yield Candidate(entry, score, score * entry.strength, _KEPT)

    def _doubt(self, snippet: SuccessSnippet, trail: Trail | None, path: Pathfinder) -> str:
        """The reason not to follow a snippet; empty if there is none.

        A snippet of another task counts only for things the goal names. If snippets of one task ended the sub-goal with
        different given things, none says which is meant now.
        """
        own, goal = snippet.goal_signature, path.situation.goal
        if trail is None:
            return "nothing of it can be done from here"
        if (own.type, own.object) != (goal.type, goal.object) and not any(
            mentions(action, word) for action in snippet.actions for word in words_of(own)
        ):
            return "it is about things of another goal"
        things = path.atlas.ends(snippet) if trail.next.number == len(snippet.actions) else ()
        more = f" and {len(things) - _NAMED} more" if len(things) > _NAMED else ""
        return f"experience is divided between {', '.join(things[:_NAMED])}{more}" if len(things) > 1 else ""


def _moved(entry: SuccessSnippet, where: Where, place: str) -> SuccessSnippet:
    """An entry as if it had been learned elsewhere."""
    fields = tuple((name, (place,) if name == where.field else values) for name, values in entry.state_signature.fields)
    return replace(entry, state_signature=StateSignature(fields))


def _order(candidate: Candidate, context: StepContext) -> tuple[float, int]:
    """Sorts what was learned for the likest goal, and at the present stage, before all else."""
    return -candidate.score, abs(_stage(candidate, context) - (context.situation.stage or 0))


def _stage(candidate: Candidate, context: StepContext) -> int:
    """The stage that an entry was learned at; the present one where it does not say."""
    then = stage_of(snippet_of(candidate))
    return then if then is not None else context.situation.stage or 0
