"""Names of the present room for those of a snippet (`rpms.planning.lift`): things of the same kind,
in the same role of the goal, or where the belief knows the thing to be.
"""

from collections.abc import Iterable
from functools import cached_property

from rpms.logic.facts import kind_of
from rpms.paper.memory import SuccessSnippet
from rpms.planning.experience.step_at_hand import StepAtHand
from rpms.planning.experience.things_here import ThingsHere
from rpms.planning.lift import Lifted, Role


class Binder:
    """Finds things here that the names of snippets can stand for."""

    def __init__(self, step: StepAtHand, things: ThingsHere) -> None:
        self._step = step
        self._belief = step.belief
        self._here = things

    def binding(self, lifted: Lifted, entry: SuccessSnippet) -> dict[str, str]:
        """Names of this room for those of a snippet, no two the same; none for what is not
        known to be here.
        """
        same_type = self._step.situation.goal.type == entry.goal_signature.type
        alike = same_type or self._step.progress.sub_goal == entry.sub_goal_type
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
        return self._of_kind(kind or own, held=name in lifted.held, sought=name == lifted.sought)

    def _of_kind(self, kind: str, *, held: bool, sought: bool) -> Iterable[str]:
        """Known things of a kind, best first: those in hand, those to fetch, or those to use."""
        known = self._belief.called(kind)
        if held:
            return [name for name in known if name in self._belief.holding]
        if sought:
            return self._to_fetch(known)
        if len(known) < 2:
            return known
        here = self._belief.location
        return sorted(known, key=lambda name: (not self._here.has_handled(name), name != here))

    def _to_fetch(self, known: Iterable[str]) -> list[str]:
        """Things that are not in hand or brought already; last those at the goal's destination,
        which may be where they belong.
        """
        holding = self._belief.holding
        wanted = [name for name in known if name not in holding and not self._here.settled(name)]
        wish = self._step.situation.goal.destination
        return sorted(wanted, key=lambda name: kind_of(self._here.place_of(name)) == wish)

    def _sources(self, lifted: Lifted, kind: str, binding: dict[str, str]) -> Iterable[str]:
        """The known place of a thing; until known, places of the kind where it was found."""
        if lifted.sought in binding:
            return filter(None, [self._here.place_of(binding[lifted.sought])])
        thing = self.meant(lifted)
        # the places of pillows say nothing of bowls
        if not self._step.whereabouts.akin(thing, kind_of(lifted.sought)):
            return ()
        return (place for place in self._belief.called(kind) if not self._here.lacks(place, thing))

    def meant(self, lifted: Lifted) -> str:
        """The kind of thing that a snippet found, in its role of the present goal."""
        return self._meant.get(lifted.roles[lifted.sought], "") or kind_of(lifted.sought)

    @cached_property
    def _meant(self) -> dict[Role, str]:
        """Kinds that the present goal names, by their roles."""
        return {
            Role.OBJECT: self._step.situation.goal.object,
            Role.DESTINATION: self._step.situation.goal.destination,
        }


def _order_of_binding(lifted: Lifted) -> list[str]:
    """Names of a snippet as they are bound: what was in hand first, and the place of the find
    last, because it is where the thing that was found is now.
    """
    return sorted(lifted.roles, key=lambda name: (name not in lifted.held, name == lifted.source))
