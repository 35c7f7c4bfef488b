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
from typing import NamedTuple, Self

from rpms.logic.facts import Literal, Truth, kind_of
from rpms.logic.goal import EXPLORING
from rpms.paper.beyond import StepContext
from rpms.paper.memory import Stride, SuccessSnippet
from rpms.paper.prompt import Turn
from rpms.paper.verdict import Candidate, Fate, Trail, Verdict, reordered
from rpms.planning.lift import Lifted, Role, lift, names_of, renamed
from rpms.planning.ways import FURTHER_DOWN
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


class SearchStep(NamedTuple):
    """A command that looks for a thing, with the experience behind it in words."""

    command: str
    told: str


class _PlaceToSearch(NamedTuple):
    """A place that may have a thing, and what to do next to see if it does."""

    look: SearchStep
    price: float
    """Steps that it is expected to cost more than the likeliest place."""
    begun: bool
    """True if a part of the way there is done, so that turning elsewhere would waste it."""


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
        names = self.binding(lifted, snippet)
        steps = self.left(lifted, names)
        if steps is None:
            return "all that it did is done already"
        seeks = ""
        if lifted.sought and lifted.sought not in names:
            seeks = self.meant(lifted)
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

    # Bindings.

    def binding(self, lifted: Lifted, entry: SuccessSnippet) -> dict[str, str]:
        """Names of this room for those of a snippet, no two the same; none for what is not
        known to be here.
        """
        same_type = self.situation.goal.type == entry.goal_signature.type
        alike = same_type or self.progress.sub_goal == entry.sub_goal_type
        binding: dict[str, str] = {}
        for name in _order_of_binding(lifted):
            if lifted.roles[name] is Role.VAIN:
                continue
            taken = binding.values()
            choices = self._choices(name, lifted, binding, alike=alike)
            chosen = next((each for each in choices if each not in taken), None)
            if chosen is not None:
                binding[name] = chosen
        return binding

    def _choices(
        self, name: str, lifted: Lifted, binding: dict[str, str], *, alike: bool
    ) -> Iterable[str]:
        """Things here that a name of a snippet can stand for, best first.

        If its goal or sub-goal is `alike`, its object stands for the present goal's object, and
        its destination for the present destination; otherwise a thing stands for its own kind.
        """
        role = lifted.roles[name]
        own = kind_of(name)
        if role is Role.SOURCE:
            return self._sources(lifted, own, binding)
        kind = self._meant.get(role, "") if alike else ""
        return self._things(kind or own, held=name in lifted.held, sought=name == lifted.sought)

    def _things(self, kind: str, *, held: bool, sought: bool) -> Iterable[str]:
        """Known things of a kind, best first: those in hand, those to fetch, or those to use."""
        known = self.belief.called(kind)
        if held:
            return [name for name in known if name in self.belief.holding]
        if sought:
            return self._to_fetch(known)
        if len(known) < 2:
            return known
        here = self.belief.location
        return sorted(known, key=lambda name: (name not in self._gathered, name != here))

    @cached_property
    def _gathered(self) -> frozenset[str]:
        """The places where things handled before are now."""
        return frozenset(map(self.place_of, self._handled))

    def _to_fetch(self, known: Iterable[str]) -> list[str]:
        """Things that are not in hand or brought already; last those at the goal's destination,
        which may be where they belong.
        """
        holding = self.belief.holding
        wanted = [name for name in known if name not in holding and not self._settled(name)]
        wish = self.situation.goal.destination
        return sorted(wanted, key=lambda name: kind_of(self.place_of(name)) == wish)

    def _sources(self, lifted: Lifted, kind: str, binding: dict[str, str]) -> Iterable[str]:
        """The known place of a thing; until known, places of the kind where it was found."""
        if lifted.sought in binding:
            return filter(None, [self.place_of(binding[lifted.sought])])
        thing = self.meant(lifted)
        # the places of pillows say nothing of bowls
        if not self.whereabouts.akin(thing, kind_of(lifted.sought)):
            return ()
        return (place for place in self.belief.called(kind) if not self.lacks(place, thing))

    def meant(self, lifted: Lifted) -> str:
        """The kind of thing that a snippet found, in its role of the present goal."""
        return self._meant.get(lifted.roles[lifted.sought], "") or kind_of(lifted.sought)

    @cached_property
    def _meant(self) -> dict[Role, str]:
        """Kinds that the present goal names, by their roles."""
        return {
            Role.OBJECT: self.situation.goal.object,
            Role.DESTINATION: self.situation.goal.destination,
        }

    @cached_property
    def _handled(self) -> frozenset[str]:
        """Things named in commands so far."""
        handled: set[str] = set()
        for command in self.done:
            handled.update(names_of(command, self.schemas))
        return frozenset(handled)

    def _settled(self, thing: str) -> bool:
        """True if a thing was carried to where the goal wants it: it is not to be fetched again."""
        return (
            thing in self._handled
            and kind_of(self.place_of(thing)) == self.situation.goal.destination
        )

    @cached_property
    def _contains(self) -> tuple[str, ...]:
        """The predicates of which looking tells: that something is somewhere."""
        predicates: dict[str, None] = {}
        for schema in self.schemas.environment:
            for seen in schema.observes:
                args = seen.atom.args
                if len(args) == 2 and args[0] == "_":
                    predicates[seen.atom.predicate] = None
        return tuple(predicates)

    def place_of(self, thing: str) -> str:
        """Believed place of a thing; empty if unknown."""
        if thing not in self._places:
            known = "" if thing in self.belief.holding else self.belief.last_seen.get(thing)
            if known is None:
                known = next((place for place in self._all_names if self._holds(thing, place)), "")
            self._places[thing] = known
        return self._places[thing]

    @cached_property
    def _all_names(self) -> Iterable[str]:
        """All names that are known, each once."""
        return dict.fromkeys(chain.from_iterable(self.belief.names.values()))

    @cached_property
    def _places(self) -> dict[str, str]:
        """Believed places of the things that were asked for: each is looked up once a step."""
        return {}

    def lacks(self, place: str, kind: str) -> bool:
        """True if a place is known to have nothing of a kind: it was searched."""
        return self._holds(f"{kind} ?", place) is False

    def _holds(self, thing: str, place: str) -> bool | None:
        """True if a thing is known to be at a place, False if known not to be; else None."""
        # asked of every place: a generator costs more
        for predicate in self._contains:
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
        known = self.approach(place) if self.whereabouts.approach(kind_of(place)) else ()
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

    def is_done(self, command: str, *, deed: bool = True) -> bool:
        """True if an action's effects are known to hold; for an action without effects, if it
        was done.

        A known action without effects that is no `deed` only led to another, so it is never due.
        An effect that is unknown counts as there once the action was done, unless it is a passing
        one.
        """
        instance = self.schemas.instance(command)
        if instance is None:
            return command in self.done
        effects = instance.effects
        if not effects:
            return not deed or command in self.done
        values = [effect.truth(self.situation) for effect in effects]
        if all(value is Truth.TRUE for value in values):
            return True
        if command not in self.done or Truth.FALSE in values:
            return False
        return not self._is_passing(effects)

    def _is_passing(self, effects: Iterable[Literal]) -> bool:
        """True if the next action of the kind undoes an effect, as going elsewhere undoes being
        here.
        """
        for effect in effects:
            known = self.schemas.predicates.get(effect.atom.predicate)
            if known is not None and known.exclusive:
                return True
        return False

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
    ) -> Iterator[SearchStep]:
        """Commands to look for a kind, likeliest place first.

        A place of which the search has begun is searched before all others, and these come if they
        cost at most `slack` steps more than the likeliest.
        """
        places = list(self._places_to_search(kind))
        begun = [place.look for place in places if place.begun]
        if any(look.command not in tried for look in begun):
            yield from begun
            return
        others = [place for place in places if not place.begun]
        yield from _nearly_likeliest(others, tried, slack)
        yield from begun

    def _places_to_search(self, kind: str) -> Iterator[_PlaceToSearch]:
        """Known places that may have a kind of thing, likeliest first."""
        ranks = {**self._new_kinds, **self.whereabouts.order(kind, {})}
        for place_kind in sorted(ranks, key=ranks.__getitem__):
            told = self.whereabouts.told(kind, place_kind) or f"look for {kind}"
            price = FURTHER_DOWN * ranks[place_kind]
            for place in self.belief.called(place_kind):
                steps = self.approach(place)
                command = self._next_of(steps)
                if command is not None and not self.lacks(place, kind):
                    begun = command != steps[0]
                    yield _PlaceToSearch(SearchStep(command, told), price, begun)

    def _next_of(self, commands: Iterable[str]) -> str | None:
        """The first command that is neither done nor refused; None if there is none."""
        for command in commands:
            if command not in self.refused and not self.is_done(command):
                return command
        return None

    def approach(self, place: str) -> tuple[str, ...]:
        """Commands given at places of this kind before use; those most places need come before
        refused ones.
        """
        kind = kind_of(place)
        most = self.whereabouts.approach()
        commands = self.whereabouts.approach(kind)
        if any((kind, command) in self._refused_approaches for command in commands):
            commands = tuple(dict.fromkeys((*most[:1], *commands)))
        return tuple(command.replace("{}", place) for command in commands or most)

    @cached_property
    def _refused_approaches(self) -> frozenset[tuple[str, str]]:
        """Kinds of places with what was refused there in this episode, `{}` for the place."""
        refused: set[tuple[str, str]] = set()
        for turn in self.history:
            if turn.failed:
                for name in names_of(turn.action, self.schemas):
                    refused.add((kind_of(name), renamed(turn.action, {name: "{}"})))
        return frozenset(refused)

    @cached_property
    def _new_kinds(self) -> dict[str, float]:
        """Kinds that can be gone to as others were, at the price of places that experience does
        not know.
        """
        parts: set[str] = set()
        for way in self.whereabouts.approach()[:1]:
            instance = self.schemas.instance(way)
            if instance is not None:
                parts.update(instance.binding)
        kinds: dict[str, float] = {}
        for part in sorted(parts):
            for name in self.belief.names.get(part, ()):
                kinds[kind_of(name)] = inf
        return kinds

    def missing(self) -> Iterator[str]:
        """Kinds named by the goal of which no thing is known, or only things already at the
        goal's destination.
        """
        goal = self.situation.goal
        for kind in (goal.object, goal.destination):
            if kind and all(map(self._settled, self.belief.called(kind))):
                yield kind


def _order_of_binding(lifted: Lifted) -> list[str]:
    """Names of a snippet as they are bound: what was in hand first, and the place of the find
    last, because it is where the thing that was found is now.
    """
    return sorted(lifted.roles, key=lambda name: (name not in lifted.held, name == lifted.source))


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


def _nearly_likeliest(
    places: Sequence[_PlaceToSearch], tried: Container[str], slack: float
) -> Iterator[SearchStep]:
    """Looks that cost at most `slack` steps more than the likeliest that is not tried yet."""
    untried = [place.price for place in places if place.look.command not in tried]
    least = min(untried, default=0.0)
    for place in places:
        if place.price <= least + slack:
            yield place.look


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
