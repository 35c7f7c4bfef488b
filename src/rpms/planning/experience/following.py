"""Memory that acts without rules: snippets that belong to a place are followed there.

Where memory acts alone, snippets that are bound to a place are followed from wherever the agent is:
every snippet that moved tells a way from one place to another (`atlas`). An entry that only its
place excludes is reached by such ways, then its remaining steps are done (`trail`). If no similar
goal had the present sub-goal, snippets of other goals that reached it are followed. Of the manual
only syntax and effects are used.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain, islice
from math import inf

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

Lead = tuple[tuple[float, ...], Candidate, Trail]
"""A candidate with what leads on from here, after their order of trust, best first: not gone
through without success, of an earlier group, for a more similar goal and stage."""


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
        stream, others, bound = iter(candidates), list[Candidate](), list[Candidate]()
        for candidate in islice(stream, CONSIDERED) if where is not None else ():
            tied = self._tied(candidate.entry, where, context)
            follows = tied and not learned_ahead(context.situation, candidate.entry)
            (bound if follows else others).append(candidate)
            if tied is None and not bound:
                break
        if bound and where is not None:
            yield from self._followed(bound, where, context)
            yield from adapted(others, context)
            return
        known, led = set[str](), False
        for each in adapted(chain(others, stream), context):
            known.add(each.entry.id)
            led = led or (each.verdict.fate is Fate.KEPT and context.leads_on(each))
            yield each
        if not led:  # a snippet that reached the sub-goal for another goal may have a step for it
            free = self._elsewhere(known, where, context, tied=False)
            yield from (each for each in adapted(free, context) if context.leads_on(each))

    @cached_property
    def _by_sub_goal(self) -> Mapping[str, Sequence[SuccessSnippet]]:
        """The snippets by the sub-goal that they reached, of each as many as are of use."""
        found: dict[str, list[SuccessSnippet]] = {}
        for entry in self.entries:
            if (
                isinstance(entry, SuccessSnippet)
                and len(found.setdefault(entry.sub_goal_type, [])) < READ
            ):
                found[entry.sub_goal_type].append(entry)
        return found

    def _tied(self, entry: Entry, where: Where | None, context: AdaptContext) -> bool | None:
        """True if only its place makes the state filter reject an entry; None if the filter
        does not mind places.
        """
        if where is None or not isinstance(entry, SuccessSnippet):
            return None
        now = context.situation
        if not self.compat(now, _moved(entry, where, _NOWHERE), _NO_RULES):
            return None if entry.state_signature.get(where.field) else False
        return not self.compat(now, _moved(entry, where, where.here), _NO_RULES)

    def _followed(
        self, candidates: Sequence[Candidate], where: Where, context: AdaptContext
    ) -> Iterator[Candidate]:
        """The candidates with the way on from here, nearest first; without one, a hint."""
        key = (where.predicate, where.field)
        if key not in self._atlases:
            self._atlases[key] = Atlas(self.entries, where, self.syntax)
        now = {each.name: getattr(context, each.name) for each in fields(context)}
        leads, doubts = self._leads(
            candidates, Pathfinder(**now, where=where, atlas=self._atlases[key])
        )
        best: tuple[tuple[float, ...], float] | None = None
        said: dict[object, str] = {}
        for order, found, trail in leads:
            candidate = found.judged(KEPT)
            if best is not None and order != best[0]:
                verdict = Verdict(
                    Fate.CROWDED, "others were learned for goals and stages more like this one"
                )
            elif best is not None and trail.price > best[1] + self.slack:
                verdict = Verdict(Fate.CROWDED, "others are nearer to being done")
            else:
                verdict = context.unless_said(trail.steps[0].command, candidate, said)
                if verdict is KEPT and not context.mask.hides(candidate.entry.id):
                    best = best or (order, trail.price)
            yield bind(candidate, trail).judged(verdict)
        leading = {each.entry.id for _, each, _ in leads}
        rest = [each for each in candidates if each.entry.id not in leading]
        told = best is not None
        for candidate in sorted(rest, key=lambda each: _order(each, context)):
            reason = doubts.get(candidate.entry.id, "it is for another sub-goal")
            if told:
                yield bind(candidate, reason)
            else:
                told = not context.mask.hides(candidate.entry.id)
                yield bind(candidate, Trail((), reason, followed=True)).judged(KEPT)

    def _leads(
        self, candidates: Sequence[Candidate], path: Pathfinder
    ) -> tuple[list[Lead], dict[str, str]]:
        """Snippets to follow, best first, and the reasons against others by id."""
        leads, doubts, found = list[Lead](), dict[str, str](), False
        now = [
            each for each in candidates if snippet_of(each).sub_goal_type == path.progress.sub_goal
        ]
        ahead = [each for each in candidates if _stage(each, path) >= (path.situation.stage or 0)]
        elsewhere = self._elsewhere(
            {each.entry.id for each in candidates}, path.where, path, tied=True
        )
        # snippets that reached the sub-goal for similar goals, then for any; the next stages if no
        # similar goal had it
        for number, group in enumerate((now, elsewhere, () if now else ahead)):
            for candidate in () if found else group:
                trail = path.trail(snippet_of(candidate))
                if isinstance(trail, str):
                    doubts[candidate.entry.id] = trail
                else:
                    later = 0 if trail.stale else number
                    leads.append(((trail.stale, later, *_order(candidate, path)), candidate, trail))
            found = any(
                not trail.stale and not path.mask.hides(each.entry.id) for _, each, trail in leads
            )
        return sorted(leads, key=lambda lead: (lead[0], lead[2].price)), doubts

    def _elsewhere(
        self, known: Container[str], where: Where | None, context: AdaptContext, *, tied: bool
    ) -> Iterator[Candidate]:
        """Snippets for other goals that reached the sub-goal, most similar first: `tied` to
        places, or fit here.
        """
        now = context.situation
        goal = now.goal.signature
        reached = self._by_sub_goal.get(context.progress.sub_goal, ())
        scored = [
            (self.similarity(goal, each.goal_signature), each)
            for each in reached
            if each.id not in known
        ]
        fit = (
            Candidate(entry, score, score * entry.strength, KEPT)
            for score, entry in sorted(scored, key=lambda one: -one[0])
            if bool(self._tied(entry, where, context)) is tied
            and (tied or not self.compat(now, entry, _NO_RULES))
        )
        return islice(fit, CONSIDERED)


def _moved(entry: SuccessSnippet, where: Where, place: str) -> SuccessSnippet:
    """An entry as if it had been learned elsewhere."""
    fields = tuple(
        (name, (place,) if name == where.field else values)
        for name, values in entry.state_signature.fields
    )
    return replace(entry, state_signature=StateSignature(fields))


def _order(candidate: Candidate, context: AdaptContext) -> tuple[float, int]:
    """Sorts what was learned for the likest goal, and at the present stage, before all else."""
    return -candidate.score, abs(_stage(candidate, context) - (context.situation.stage or 0))


def _stage(candidate: Candidate, context: AdaptContext) -> int:
    """The stage that an entry was learned at; the present one where it does not say."""
    then = stage_of(snippet_of(candidate))
    return then if then is not None else context.situation.stage or 0
