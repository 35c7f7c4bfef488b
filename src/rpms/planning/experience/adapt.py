"""Past the paper: snippets are bound to the present room.

Things of the present room take the place of the snippet's (`rpms.planning.lift`): of the same kind,
in the same role of the goal, or where the belief knows the thing to be. Steps already done are left
out. An unbound snippet still says where things were found. Of the manual only syntax and effects
are used, so that memory works without rules.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from math import inf
from typing import Self

from rpms.logic.facts import Truth, kind_of
from rpms.logic.goal import EXPLORING
from rpms.paper.beyond import StepContext
from rpms.paper.memory import Stride, SuccessSnippet
from rpms.paper.prompt import Turn
from rpms.paper.verdict import Candidate, Fate, Trail, Verdict, reordered
from rpms.planning.lift import Lifted, Role, lift, names_of, renamed
from rpms.planning.search import FURTHER_DOWN
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
class AdaptContext(StepContext):
    """The step at hand, to which memories are bound."""

    whereabouts: Whereabouts = field(default_factory=Whereabouts)

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
    def turns_here(self) -> list[Turn]:
        """The turns that were decided in this very state."""
        return [turn for turn in self.history if turn.state == self.state]

    @cached_property
    def done(self) -> list[str]:
        """The commands so far that the world took."""
        return [each.command for each in self.situation.past]

    @cached_property
    def tried(self) -> list[str]:
        """The commands that were given in this very state, and led back to it."""
        return [turn.action for turn in self.turns_here]

    @cached_property
    def refused(self) -> list[str]:
        """Those of them that the world refused."""
        return [turn.action for turn in self.turns_here if turn.failed]

    def adapt(self, candidate: Candidate) -> Candidate:
        """A candidate with what of its snippet is left to do here."""
        return bind(candidate, self.trail(snippet_of(candidate)))

    def trail(self, snippet: SuccessSnippet) -> Trail | str:
        """The part of a snippet that is left to do here, or the reason that there is nothing."""
        lifted = lift(snippet, self.schemas)
        steps = self.left(lifted, names := self.binding(lifted, snippet))
        if steps is None:
            return "all that it did is done already"
        seeks = self.meant(lifted) if lifted.sought and lifted.sought not in names else ""
        hint = self._hint(seeks, lifted) if seeks else ""
        note = "; ".join(filter(None, (which_steps(steps, len(snippet.actions)), hint)))
        return (
            Trail(steps, note, seeks=seeks)
            if note
            else "nothing of it can be bound to what is known here"
        )

    def leads_on(self, bound: Candidate) -> bool:
        """True of what reached the present sub-goal and has a step left that was not refused in
        this very state.
        """
        entry = snippet_of(bound)
        return entry.sub_goal_type == self.progress.sub_goal and not {*self.refused}.issuperset(
            entry.actions[:1]
        )

    def unless_said(self, what: object, candidate: Candidate, said: dict[object, str]) -> Verdict:
        """A bound candidate's verdict: crowded out where it equals an earlier one, unless the
        earlier one is hidden.
        """
        if what in said:
            return Verdict(Fate.CROWDED, f"adapted, it says the same as {said[what]}")
        if not self.mask.hides(candidate.entry.id):
            said[what] = candidate.entry.id
        return candidate.verdict

    # Bindings.

    def binding(self, lifted: Lifted, entry: SuccessSnippet) -> dict[str, str]:
        """Names of this room for those of a snippet, no two the same; none for what is not
        known to be here.
        """
        binding: dict[str, str] = {}
        same_type = self.situation.goal.type == entry.goal_signature.type
        alike = same_type or self.progress.sub_goal == entry.sub_goal_type
        for name in sorted(
            lifted.roles, key=lambda each: (each not in lifted.held, each == lifted.source)
        ):
            role, own = lifted.roles[name], kind_of(name)
            if role is Role.VAIN:
                continue
            if role is Role.SOURCE:
                choices = self._sources(lifted, own, binding)
            else:
                kind = (self._meant.get(role) if alike else "") or own
                choices = self._things(kind, held=name in lifted.held, sought=name == lifted.sought)
            chosen = next((each for each in choices if each not in binding.values()), None)
            if chosen is not None:
                binding[name] = chosen
        return binding

    def _things(self, kind: str, *, held: bool, sought: bool) -> Iterable[str]:
        belief, known = self.belief, self.belief.called(kind)
        if held:
            return [name for name in known if name in belief.holding]
        if sought:
            wanted = [
                name for name in known if name not in belief.holding and not self._settled(name)
            ]
            return sorted(
                wanted,
                key=lambda name: kind_of(self.place_of(name)) == self.situation.goal.destination,
            )
        if len(known) < 2:
            return known
        here, gathered = belief.location, set(map(self.place_of, self._handled))
        return sorted(known, key=lambda name: (name not in gathered, name != here))

    def _sources(self, lifted: Lifted, kind: str, binding: dict[str, str]) -> Iterable[str]:
        """The known place of a thing; until known, places of the kind where it was found."""
        if lifted.sought in binding:
            return filter(None, [self.place_of(binding[lifted.sought])])
        thing = self.meant(lifted)
        if not self.whereabouts.akin(thing, kind_of(lifted.sought)):
            return ()  # the places of pillows say nothing of bowls
        return (place for place in self.belief.called(kind) if not self.lacks(place, thing))

    def meant(self, lifted: Lifted) -> str:
        """The kind of thing that a snippet found, in its role of the present goal."""
        return self._meant.get(lifted.roles[lifted.sought], "") or kind_of(lifted.sought)

    @cached_property
    def _meant(self) -> dict[Role, str]:
        return {
            Role.OBJECT: self.situation.goal.object,
            Role.DESTINATION: self.situation.goal.destination,
        }

    @cached_property
    def _handled(self) -> frozenset[str]:
        """Things named in commands so far."""
        return frozenset(name for command in self.done for name in names_of(command, self.schemas))

    def _settled(self, thing: str) -> bool:
        """True if a thing was carried to where the goal wants it: it is not to be fetched again."""
        return (
            thing in self._handled
            and kind_of(self.place_of(thing)) == self.situation.goal.destination
        )

    @cached_property
    def _contains(self) -> tuple[str, ...]:
        """The predicates of which looking tells: that something is somewhere."""
        seen = [each.atom for schema in self.schemas.environment for each in schema.observes]
        return tuple(
            dict.fromkeys(
                atom.predicate for atom in seen if len(atom.args) == 2 and atom.args[0] == "_"
            )
        )

    def place_of(self, thing: str) -> str:
        """Believed place of a thing; empty if unknown."""
        if thing not in self._places:
            known = "" if thing in self.belief.holding else self.belief.last_seen.get(thing)
            if known is None:
                names = dict.fromkeys(chain.from_iterable(self.belief.names.values()))
                known = next((place for place in names if self._holds(thing, place)), "")
            self._places[thing] = known
        return self._places[thing]

    @cached_property
    def _places(self) -> dict[str, str]:
        return {}

    def lacks(self, place: str, kind: str) -> bool:
        """True if a place is known to have nothing of a kind: it was searched."""
        return self._holds(f"{kind} ?", place) is False

    def _holds(self, thing: str, place: str) -> bool | None:
        for predicate in self._contains:  # asked of every place: a generator costs more
            value = self.situation.belief.value(predicate, (thing, place))
            if value is not None:
                return value
        return None

    # Steps left to do.

    def left(self, lifted: Lifted, names: dict[str, str]) -> tuple[Stride, ...] | None:
        """The steps of a snippet that are still to be done, as far as their names are bound;
        None if all are done.
        """
        steps: list[Stride] = []
        complete = True
        for deed, places in lifted.to_do:
            for place in places:  # the places it needs come first
                steps += self._approach(lifted, place, names, deed.number)
            if not all(name in names for name in deed.names):
                complete = False
                break
            own = tuple(names[name] for name in deed.names)
            steps.append(deed._replace(command=renamed(deed.command, names), names=own))
        if lifted.sought.endswith("?"):  # it was only seen: to be there is all
            complete = lifted.sought in names
            steps += self._approach(lifted, lifted.source, names, len(lifted.deeds))
        left = self._undone(steps)
        return left if left or not complete else None

    def _approach(
        self, lifted: Lifted, name: str, names: dict[str, str], number: int
    ) -> Iterator[Stride]:
        """Steps that make a place usable: as with others of its kind, else as in the snippet
        itself.
        """
        place = names.get(name)
        if place is None:
            return
        own = {
            renamed(deed.command, {name: place}): deed.number
            for deed in lifted.deeds
            if deed.names == (name,)
        }
        known = self.approach(place) if self.whereabouts.approach(kind_of(place)) else ()
        for way in known or own:
            yield Stride(own.get(way, number), way, (place,))

    def _undone(self, steps: Sequence[Stride]) -> tuple[Stride, ...]:
        """Leave out what is done, and what only led to that."""
        kept: list[Stride] = []
        last, passed = len(steps) - 1, False
        for place in range(last, -1, -1):
            step = steps[place]
            if self.is_done(step.command, deed=place == last):
                passed = True
            elif step.command in self.refused and place < last:
                continue  # a way that is none here
            elif not passed or any(set(step.names) <= set(later.names) for later in kept):
                kept.insert(0, step)
        unique = {step.command: step for step in reversed(kept)}
        return tuple(step for step in kept if unique[step.command] is step)

    def is_done(self, command: str, *, deed: bool = True) -> bool:
        """True if an action's effects are known to hold; for an action without effects, if it
        was done.
        """
        instance = self.schemas.instance(command)
        effects = instance.effects if instance is not None else ()
        if not effects:
            return command in self.done or (instance is not None and not deed)
        values = [effect.truth(self.situation) for effect in effects]
        if all(value is Truth.TRUE for value in values):
            return True
        predicates = [self.schemas.predicates.get(effect.atom.predicate) for effect in effects]
        passing = any(
            each is not None and each.exclusive for each in predicates
        )  # undone by the next of its kind
        return command in self.done and not passing and Truth.FALSE not in values

    # Places to look.

    def _hint(self, now: str, lifted: Lifted) -> str:
        """Finds of such a thing in such a place, in words, if a snippet cannot be followed;
        else the best place.
        """
        kind, place = kind_of(lifted.sought), kind_of(lifted.source)
        told = self.whereabouts.told(now, place)
        if not told and self.whereabouts.akin(now, kind):
            told = self.whereabouts.told(kind, place)
        return told or self.whereabouts.best(now)

    def search(
        self, kind: str, tried: Container[str] = (), slack: float = inf
    ) -> Iterator[tuple[str, str]]:
        """Commands to look for a kind, likeliest place first, each with the experience behind it.

        A place that lacks only its last step is searched before all others, and these come if they
        cost at most `slack` steps more than the likeliest.
        """
        ranks = {**self._new_kinds, **self.whereabouts.order(kind, {})}
        begun, others = list[tuple[str, str]](), list[tuple[float, str, str]]()
        for place_kind in sorted(ranks, key=ranks.__getitem__):
            told = self.whereabouts.told(kind, place_kind) or f"look for {kind}"
            for place in self.belief.called(place_kind):
                steps = self.approach(place)
                left = [
                    step for step in steps if not self.is_done(step) and step not in self.refused
                ]
                if self.lacks(place, kind) or not left:
                    continue
                if left[0] != steps[0]:
                    begun.append((left[0], told))
                else:
                    others.append((FURTHER_DOWN * ranks[place_kind], left[0], told))
        if any(step not in tried for step, _ in begun):
            yield from begun
            return
        least = min((price for price, step, _ in others if step not in tried), default=0.0)
        yield from ((step, told) for price, step, told in others if price <= least + slack)
        yield from begun

    def approach(self, place: str) -> tuple[str, ...]:
        """Commands given at places of this kind before use; those most places need come before
        refused ones.
        """
        kind, most = kind_of(place), self.whereabouts.approach()
        commands = self.whereabouts.approach(kind)
        if any((kind, command) in self._refused_approaches for command in commands):
            commands = tuple(dict.fromkeys((*most[:1], *commands)))
        return tuple(command.replace("{}", place) for command in commands or most)

    @cached_property
    def _refused_approaches(self) -> frozenset[tuple[str, str]]:
        """Kinds of places with what was refused there in this episode, `{}` for the place."""
        failed = (turn.action for turn in self.history if turn.failed)
        named = ((command, name) for command in failed for name in names_of(command, self.schemas))
        return frozenset((kind_of(name), renamed(command, {name: "{}"})) for command, name in named)

    @cached_property
    def _new_kinds(self) -> dict[str, float]:
        """Kinds that can be gone to as others were, at the price of places that experience does
        not know.
        """
        instances = (self.schemas.instance(way) for way in self.whereabouts.approach()[:1])
        parts = {
            part for instance in instances if instance is not None for part in instance.binding
        }
        names = (name for part in sorted(parts) for name in self.belief.names.get(part, ()))
        return dict.fromkeys(map(kind_of, names), inf)

    def missing(self) -> Iterator[str]:
        """Kinds named by the goal of which no thing is known, or only things already at the
        goal's destination.
        """
        kinds = filter(None, (self.situation.goal.object, self.situation.goal.destination))
        return (kind for kind in kinds if all(map(self._settled, self.belief.called(kind))))


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
            bound = bound.judged(
                context.unless_said(snippet_of(bound).actions or bound.adapted.note, bound, said)
            )
        yield bound


def which_steps(steps: Sequence[Stride], total: int) -> str:
    """The remaining steps of a snippet, in words."""
    if not steps:
        return ""
    first, last = steps[0].number, steps[-1].number
    return f"step {first} of {total}" if first == last else f"steps {first} to {last} of {total}"
