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
from rpms.logic.rules import ActiveRules, kept_with_rules
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
        belief = situation.belief
        here = belief.location
        if here is None:
            return None
        fields = [name for name, values in belief.signature().fields if values == (here,)]
        told = [
            predicate
            for predicate in _predicates_of_moving(syntax)
            if belief.truth(Atom(predicate, (here,))) is Truth.TRUE
        ]
        if not told or not fields:
            return None
        return cls(told[0], fields[0], here)

    def led_to(self, command: str, syntax: ActiveRules) -> str:
        """The place that a command leads to; nothing for one that does not move."""
        instance = syntax.instance(command)
        if instance is None:
            return ""
        for effect in instance.effects:
            if effect.atom.predicate == self.predicate and not effect.negated:
                return effect.atom.args[0]
        return ""


@kept_with_rules
def _predicates_of_moving(syntax: ActiveRules) -> dict[str, None]:
    """Predicates that commands make true of one thing, and that hold of one thing at a time, as
    being somewhere does.
    """
    found: dict[str, None] = {}
    for schema in syntax.environment:
        for effect in schema.effects:
            atom = effect.atom
            if effect.negated or len(atom.args) != 1:
                continue
            known = syntax.predicates.get(atom.predicate)
            if known is not None and known.exclusive == "always":
                found[atom.predicate] = None
    return found


def strides_of(snippet: SuccessSnippet, where: Where, syntax: ActiveRules) -> tuple[Stride, ...]:
    """A snippet step by step, followed from the place it began in."""
    at = next(iter(snippet.state_signature.get(where.field) or ()), "")
    strides: list[Stride] = []
    for number, command in enumerate(snippet.actions, 1):
        to = where.led_to(command, syntax)
        strides.append(Stride(number, command, names_of(command, syntax), at, to))
        at = to or at
    # what was done to a place just before going there helped to get there: backwards, so that a
    # door may be unlocked, then opened
    for place in range(len(strides) - 1, 0, -1):
        before = strides[place - 1]
        to = strides[place].to
        if to and not before.to and before.names == (to,):
            strides[place - 1] = before._replace(to=to)
    return tuple(strides)


def words_of(goal: GoalSignature) -> tuple[str, ...]:
    """Words of a goal."""
    return tuple(word for word in (goal.object, goal.state, goal.destination) if word)


class _Ending(NamedTuple):
    """The way a snippet ended: snippets with the same ending may differ in the thing it took."""

    goal_type: str
    goal_object: str
    sub_goal: str
    how: str
    """The last command, `it` for the things in it."""


class _Moment(NamedTuple):
    """A place, and the command that came next there if it named nothing; else empty."""

    place: str
    next_look: str


class Atlas:
    """Places, the ways between them, and the commands that showed more there.

    Immutable once made.
    """

    def __init__(self, entries: Iterable[Entry], where: Where, syntax: ActiveRules) -> None:
        """Read snippets, of each sub-goal as many as are of use."""
        self._where = where
        self._syntax = syntax
        self._doors: dict[str, dict[str, None]] = {}
        """Place → the places that were gone to from there."""
        self._commands: dict[str, Counter[str]] = {}
        """Place → what was done to get there, `{}` for the place."""
        self._arrived: Counter[str] = Counter()
        """Command without names → times it was the first at a new place."""
        self._single: dict[_Moment, dict[str, None]] = {}
        """Place and what was done next → the actions on one thing there that came just before."""
        self._kinds: dict[str, Counter[str]] = {}
        """Kind of action on one thing → what was done next, how often."""
        self._ends: dict[_Ending, set[str]] = {}
        """Ending → what the last action was done with."""
        counted: Counter[str] = Counter()
        for entry in entries:
            if isinstance(entry, SuccessSnippet) and counted[entry.sub_goal_type] < READ:
                counted[entry.sub_goal_type] += 1
                self._add(entry, strides_of(entry, where, syntax))

    def _add(self, snippet: SuccessSnippet, strides: Sequence[Stride]) -> None:
        """Count what one snippet tells of ways, of looks, and of its own ending."""
        for stride, after in zip_longest(strides, strides[1:]):
            next_look = after.command if after is not None and not after.names else ""
            if stride.to:
                self._add_way(stride, next_look)
            elif len(stride.names) == 1:
                here = _Moment(stride.at, next_look)
                self._single.setdefault(here, {})[stride.command] = None
                self._kinds.setdefault(self._kind(stride.command), Counter())[next_look] += 1
        thing = _last_thing(snippet, strides)
        if thing:
            self._ends.setdefault(_ending(snippet, strides), set()).add(thing)

    def _add_way(self, stride: Stride, next_look: str) -> None:
        """Count a step that led to a place, and the look around that followed it."""
        if stride.at:
            self._doors.setdefault(stride.at, {})[stride.to] = None
        self._doors.setdefault(stride.to, {})
        command = renamed(stride.command, {stride.to: "{}"})
        self._commands.setdefault(stride.to, Counter())[command] += 1
        if next_look:
            self._arrived[next_look] += 1

    def _kind(self, command: str) -> str:
        """The name of a command's schema; without one, its first word."""
        instance = self._syntax.instance(command)
        return instance.schema.name if instance is not None else command.partition(" ")[0]

    # Past actions and their places.

    def ends(self, snippet: SuccessSnippet) -> list[str]:
        """Objects of the last action in snippets of one task and sub-goal, this one's too;
        empty if given.
        """
        strides = strides_of(snippet, self._where, self._syntax)
        if not _last_thing(snippet, strides):
            return []
        return sorted(self._ends.get(_ending(snippet, strides), ()))

    @cached_property
    def look(self) -> str:
        """The most frequent first command at a new place; empty if there is none."""
        return next((command for command, _ in self._arrived.most_common(1)), "")

    def lids(self, place: str) -> tuple[str, ...]:
        """Commands done at a place just before another look, to see more of it."""
        if not self.look:
            return ()
        return tuple(self._single.get(_Moment(place, self.look), ()))

    def reveals(self, stride: Stride) -> bool:
        """True if an action on one thing is of the kind that is done to see more."""
        if len(stride.names) != 1 or not self.look:
            return False
        after = self._kinds.get(self._kind(stride.command), Counter())
        return after[self.look] > OFTEN * after.total()

    # Ways between places.

    def __contains__(self, place: str) -> bool:
        return place in self._doors

    def nearest(self, start: str, barred: Container[str] = ()) -> dict[str, str]:
        """The known places, nearest to `start` first, each with the one before it.

        No `barred` one comes next.
        """
        before = {start: ""}
        waiting = deque([start])
        while waiting:
            place = waiting.popleft()
            beside: Iterable[str] = self._beside.get(place, ())
            if not beside and place == start:
                beside = self._hubs
            for other in beside:
                if other not in before and (place != start or other not in barred):
                    before[other] = place
                    waiting.append(other)
        return before

    @cached_property
    def _hubs(self) -> list[str]:
        """All places, those with the most ways first: from a start that nobody ever left, any
        may be next.
        """
        return sorted(self._doors, key=lambda place: -len(self._doors[place]))

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
        """Commands by which most places are reached, `{}` for the place."""
        ways: Counter[str] = Counter()
        for commands in self._commands.values():
            ways.update(commands)
        return dict.fromkeys(usual(ways))


def _ending(snippet: SuccessSnippet, strides: Sequence[Stride]) -> _Ending:
    """The task and sub-goal of a snippet, and its last action without the things in it."""
    how = ""
    if strides:
        last = strides[-1]
        how = renamed(last.command, dict.fromkeys(last.names, "it"))
    goal = snippet.goal_signature
    return _Ending(goal.type, goal.object, snippet.sub_goal_type, how)


def _last_thing(snippet: SuccessSnippet, strides: Sequence[Stride]) -> str:
    """Kind of thing that a snippet's last action was done with.

    Empty if nothing was chosen: the goal names the thing, or it was the one just found after a
    step to its place or a look around.
    """
    if not strides:
        return ""
    last = strides[-1]
    if len(strides) > 1 and len(last.names) == 1:
        before = strides[-2]
        if before.to or not before.names:
            return ""
    words = dict.fromkeys(words_of(snippet.goal_signature), "it")
    kinds = [kind_of(renamed(name, words)) for name in last.names]
    if set(kinds) <= {"it"}:
        return ""
    return " and ".join(kinds)
