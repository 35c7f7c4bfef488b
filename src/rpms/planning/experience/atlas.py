"""Past the paper: what snippets tell together of a world with places: the ways between them,
how each is searched.
"""

from collections import Counter, deque
from collections.abc import Container, Iterable, Sequence
from functools import cached_property
from itertools import zip_longest
from typing import NamedTuple, Self

from rpms.logic.belief import Situation
from rpms.logic.facts import Atom, Truth, kind_of
from rpms.logic.goal import GoalSignature
from rpms.logic.rules import ActiveRules
from rpms.paper.memory import Entry, Stride, SuccessSnippet
from rpms.planning.lift import names_of, renamed
from rpms.planning.whereabouts import READ, usual

OFTEN = 0.25
"""Share of an action's uses that must come just before another look for it to count as a way to
see more."""


class Where(NamedTuple):
    """A world's facts about the agent's place."""

    predicate: str
    """Predicate that holds of the present place alone: `inside`."""
    field: str
    """Its name in the state signature: `room`."""
    here: str

    @classmethod
    def of(cls, situation: Situation, syntax: ActiveRules) -> Self | None:
        """Read from what is known now; nothing where no command moves, or the place is unknown
        or not in a state.
        """
        belief, here = situation.belief, situation.belief.location
        if here is None:
            return None
        fields = [name for name, values in belief.signature().fields if values == (here,)]
        single = {name for name, known in syntax.predicates.items() if known.exclusive == "always"}
        effects = [
            each.atom
            for schema in syntax.environment
            for each in schema.effects
            if not each.negated
        ]
        moves = dict.fromkeys(
            atom.predicate for atom in effects if len(atom.args) == 1 and atom.predicate in single
        )
        told = [name for name in moves if belief.truth(Atom(name, (here,))) is Truth.TRUE]
        return cls(told[0], fields[0], here) if told and fields else None

    def led_to(self, command: str, syntax: ActiveRules) -> str:
        """The place that a command leads to; nothing for one that does not move."""
        instance = syntax.instance(command)
        effects = instance.effects if instance is not None else ()
        places = (
            each.atom.args[0]
            for each in effects
            if each.atom.predicate == self.predicate and not each.negated
        )
        return next(places, "")


def strides_of(snippet: SuccessSnippet, where: Where, syntax: ActiveRules) -> tuple[Stride, ...]:
    """A snippet step by step, followed from the place it began in."""
    at = next(iter(snippet.state_signature.get(where.field) or ()), "")
    strides: list[Stride] = []
    for number, command in enumerate(snippet.actions, 1):
        to = where.led_to(command, syntax)
        strides.append(Stride(number, command, names_of(command, syntax), at, to))
        at = to or at
    for place in range(len(strides) - 1, 0, -1):
        one, after = strides[place - 1], strides[place]
        if after.to and not one.to and one.names == (after.to,):
            strides[place - 1] = one._replace(to=after.to)
    return tuple(strides)


def words_of(goal: GoalSignature) -> tuple[str, ...]:
    """Words of a goal."""
    return tuple(word for word in (goal.object, goal.state, goal.destination) if word)


class Atlas:
    """Places, the ways between them, and the commands that showed more there.

    Immutable once made.
    """

    def __init__(self, entries: Iterable[Entry], where: Where, syntax: ActiveRules) -> None:
        """Read snippets, of each sub-goal as many as are of use."""
        self._where, self._syntax = where, syntax
        self._doors: dict[str, dict[str, None]] = {}
        """Place → the places that were gone to from there."""
        self._commands: dict[str, Counter[str]] = {}
        """Place → what was done to get there, `{}` for the place."""
        self._arrived: Counter[str] = Counter()
        """Command without names → times it was the first at a new place."""
        self._single: dict[tuple[str, str], dict[str, None]] = {}
        """Place and what was done next → the actions on one thing there that came just before."""
        self._kinds: dict[str, Counter[str]] = {}
        """Kind of action on one thing → what was done next, how often."""
        counted: Counter[str] = Counter()
        self._ends: dict[tuple[str, ...], set[str]] = {}
        """Task, sub-goal and last action → what that action was done with."""
        for entry in entries:
            if isinstance(entry, SuccessSnippet) and counted[entry.sub_goal_type] < READ:
                counted[entry.sub_goal_type] += 1
                self._add(entry, strides_of(entry, where, syntax))

    def _add(self, snippet: SuccessSnippet, strides: Sequence[Stride]) -> None:
        for stride, after in zip_longest(strides, strides[1:]):
            after_it = after.command if after is not None and not after.names else ""
            if stride.to:
                if stride.at:
                    self._doors.setdefault(stride.at, {})[stride.to] = None
                self._doors.setdefault(stride.to, {})
                self._commands.setdefault(stride.to, Counter())[
                    renamed(stride.command, {stride.to: "{}"})
                ] += 1
                self._arrived.update([after_it] if after_it else [])
            elif len(stride.names) == 1:
                self._single.setdefault((stride.at, after_it), {})[stride.command] = None
                self._kinds.setdefault(self._kind(stride.command), Counter())[after_it] += 1
        *task, thing = self._end(snippet, strides)
        if thing:
            self._ends.setdefault(tuple(task), set()).add(thing)

    def _kind(self, command: str) -> str:
        instance = self._syntax.instance(command)
        return instance.schema.name if instance is not None else command.partition(" ")[0]

    def _end(self, snippet: SuccessSnippet, strides: Sequence[Stride]) -> tuple[str, ...]:
        """Task, sub-goal and last step of a snippet without its thing; then the thing's kind,
        empty if given.
        """
        goal, (*before, last) = snippet.goal_signature, strides or (Stride(0, "", (), ""),)
        found = (
            bool(before) and len(last.names) == 1 and (bool(before[-1].to) or not before[-1].names)
        )
        words = dict.fromkeys(words_of(goal), "it")
        kinds = [kind_of(renamed(name, words)) for name in last.names]
        thing = "" if found or set(kinds) <= {"it"} else " and ".join(kinds)
        how = renamed(last.command, dict.fromkeys(last.names, "it"))
        return goal.type, goal.object, snippet.sub_goal_type, how, thing

    # Past actions and their places.

    def ends(self, snippet: SuccessSnippet) -> list[str]:
        """Objects of the last action in snippets of one task and sub-goal, this one's too;
        empty if given.
        """
        *task, thing = self._end(snippet, strides_of(snippet, self._where, self._syntax))
        return sorted(self._ends.get(tuple(task), ())) if thing else []

    @cached_property
    def look(self) -> str:
        """The most frequent first command at a new place; empty if there is none."""
        return next((command for command, _ in self._arrived.most_common(1)), "")

    def lids(self, place: str) -> tuple[str, ...]:
        """Commands done at a place just before another look, to see more of it."""
        return tuple(self._single.get((place, self.look), ())) if self.look else ()

    def reveals(self, stride: Stride) -> bool:
        """True if an action on one thing is of the kind that is done to see more."""
        after = self._kinds.get(self._kind(stride.command), Counter())
        return (
            len(stride.names) == 1 and bool(self.look) and after[self.look] > OFTEN * after.total()
        )

    # Ways between places.

    def __contains__(self, place: str) -> bool:
        return place in self._doors

    def nearest(self, start: str, barred: Container[str] = ()) -> dict[str, str]:
        """The known places, nearest to `start` first, each with the one before it.

        No `barred` one comes next.
        """
        before, waiting = {start: ""}, deque([start])
        while waiting:
            place = waiting.popleft()
            # from a start that nobody ever left any may be next, likeliest those that many ways
            # lead to
            hubs = (
                sorted(self._doors, key=lambda each: -len(self._doors[each]))
                if place == start
                else ()
            )
            for other in self._beside.get(place) or hubs:
                if other not in before and (place != start or other not in barred):
                    before[other] = place
                    waiting.append(other)
        return before

    @cached_property
    def _beside(self) -> dict[str, dict[str, None]]:
        """Place → the places that were gone to from there, then those that were left for it."""
        beside = {place: dict(doors) for place, doors in self._doors.items()}
        for place, doors in self._doors.items():
            for other in doors:
                beside[other].setdefault(place)
        return beside

    def commands(self, place: str) -> tuple[str, ...]:
        """Commands to a place from the one before it: as to most places, or if that was never
        so, as to this one.
        """
        own = self._commands.get(place, Counter())
        commands = self._usual if own.keys() <= self._usual.keys() else own
        return tuple(command.replace("{}", place) for command in commands)

    @cached_property
    def _usual(self) -> dict[str, None]:
        return dict.fromkeys(usual(sum(self._commands.values(), Counter[str]())))
