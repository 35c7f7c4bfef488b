"""The rules of ALFWorld over states that are values: what a command does, what it says, and
what is possible.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from rpms.worlds.alfworld.engine.dialect import Dialect
from rpms.worlds.alfworld.engine.goal_test import Test
from rpms.worlds.alfworld.engine.layout import GameLayout, State, bits

NOTHING_HAPPENS = "Nothing happens."


class EngineTurn(NamedTuple):
    """Result of a command."""

    state: State
    observation: str


class GameEngine:
    """One game's rules.

    Nothing in it depends on play, so any number of threads may play any number of states on it.
    """

    def __init__(
        self,
        layout: GameLayout,
        start: State,
        dialect: Dialect,
        task: str,
        goal: Test,
        *,
        marks: bool,
    ) -> None:
        """`marks` keeps track of what was looked at, for the rare goal that asks."""
        self.layout = layout
        self.dialect = dialect
        self.task = task
        """The goal as the game words it, such as `put a mug in desk.`"""
        self.start = start
        self._goal = goal
        self._marks = marks
        places = zip(layout.receptacle_names, layout.place, strict=True)
        self._ways = [(f"go to {name}", at) for name, at in places if at >= 0]
        self._goto: dict[int, tuple[str, ...]] = {}
        self._put = ("put ", " in/on ") if dialect.name == "0.3" else ("move ", " to ")
        self._verbs: Mapping[str, Callable[[State, str], EngineTurn | None]] = {
            "go": self._go,
            "open": self._open,
            "close": self._close,
            "take": self._take,
            self._put[0].strip(): self._place,
            "examine": self._examine,
            "use": self._use,
            **{verb: partial(self._treat, verb) for verb in layout.treatable},
            "slice": self._slice,
        }

    def reset(self) -> EngineTurn:
        """The first state, and the text that opens the game."""
        if self.layout.here[self.start.location]:
            view = self._look(self.start)
        else:
            seen = _listing([way.replace("go to", "a", 1) for way, _ in self._ways])
            view = f"You are in the middle of a room. Looking quickly around you, you see {seen}."
        return EngineTurn(
            self.start,
            f"-= Welcome to TextWorld, ALFRED! =-\n\n{view}\n\nYour task is to: {self.task}",
        )

    def won(self, state: State) -> bool:
        """True if the goal is met."""
        return self._goal(state)

    def step(self, state: State, command: str) -> EngineTurn:
        """Do a command, whatever its text; one that is not possible now changes nothing."""
        command = command.strip()
        if command == "look":
            return EngineTurn(
                self._checked(state, self.layout.locations, state.location), self._look(state)
            )
        if command == "inventory":
            held = (
                "not carrying anything"
                if state.held < 0
                else f"carrying: a {self.layout.object_names[state.held]}"
            )
            return EngineTurn(self._checked(state, (self.layout.agent,), 0), f"You are {held}.")
        if command == "help" and self.dialect.help is not None:
            return EngineTurn(self._checked(state, (self.layout.agent,), 0), self.dialect.help)
        verb, _, rest = command.partition(" ")
        act = self._verbs.get(verb)
        turn = act(state, rest) if act is not None else None
        return turn if turn is not None else EngineTurn(state, NOTHING_HAPPENS)

    def admissible(self, state: State) -> tuple[str, ...]:
        """Every command that is possible now, sorted."""
        location = state.location
        commands = ["inventory", "look"]
        if self.dialect.help is not None:
            commands.append("help")
        for receptacle in self.layout.here[location]:
            commands += self._commands_at(state, receptacle)
        commands += self._commands_with_things(state)
        commands.sort()
        walks = self._goto.get(location) or self._goto_from(location)  # sorted already
        place = bisect_left(commands, "go to")
        return (*commands[:place], *walks, *commands[place:])

    def _commands_at(self, state: State, receptacle: int) -> list[str]:
        """What is possible now with a receptacle that the agent stands before."""
        layout = self.layout
        name = layout.receptacle_names[receptacle]
        reachable = self._reachable(state, receptacle)
        commands = [f"examine {name}"]
        if layout.openable >> receptacle & 1:
            commands.append(f"close {name}" if reachable else f"open {name}")
        if state.held >= 0:
            return commands + self._commands_of_held(state.held, receptacle, reachable=reachable)
        if reachable:
            takable = bits(state.contents[receptacle] & layout.pickupable)
            commands += [f"take {layout.object_names[thing]} from {name}" for thing in takable]
        return commands

    def _commands_of_held(self, held: int, receptacle: int, *, reachable: bool) -> list[str]:
        """What is possible with the thing in hand at a receptacle: to put it there, to treat it."""
        layout = self.layout
        thing = layout.object_names[held]
        name = layout.receptacle_names[receptacle]
        commands = []
        if reachable and layout.accepts[receptacle] >> held & 1:
            verb, joint = self._put
            commands.append(f"{verb}{thing}{joint}{name}")
        verbs = [verb for verb in layout.treating[receptacle] if layout.treatable[verb] >> held & 1]
        return commands + [f"{verb} {thing} with {name}" for verb in verbs]

    def _commands_with_things(self, state: State) -> list[str]:
        """What is possible now with lamps that are here, and with the thing in hand."""
        layout = self.layout
        names = layout.object_names
        usable = 0  # a set: a lamp may be in two receptacles
        for receptacle in layout.here[state.location]:
            usable |= state.contents[receptacle] & layout.toggleable
        commands = [f"use {names[thing]}" for thing in bits(usable)]
        if state.held < 0:
            return commands
        held = names[state.held]
        commands.append(f"examine {held}")
        if layout.knives >> state.held & 1:
            sliceable = bits(state.around[state.location] & layout.sliceable)
            commands += [f"slice {names[thing]} with {held}" for thing in sliceable]
        return commands

    def _goto_from(self, location: int) -> tuple[str, ...]:
        """The ways from a location, remembered: threads that get here together store equal
        values.
        """
        self._goto[location] = tuple(sorted(way for way, at in self._ways if at != location))
        return self._goto[location]

    def _here(self, state: State, name: str) -> int:
        """The receptacle of that name, where the agent stands before it; -1 otherwise."""
        receptacle = self.layout.receptacle_called.get(name, -1)
        return (
            receptacle
            if receptacle >= 0 and self.layout.place[receptacle] == state.location
            else -1
        )

    def _reachable(self, state: State, receptacle: int) -> bool:
        return not self.layout.openable >> receptacle & 1 or bool(state.opened >> receptacle & 1)

    def _checked(self, state: State, ids: Iterable[str], index: int) -> State:
        return state._replace(checked=state.checked | {[*ids][index]}) if self._marks else state

    def _go(self, state: State, rest: str) -> EngineTurn | None:
        to, _, name = rest.partition(" ")
        receptacle = self.layout.receptacle_called.get(name, -1)
        if to != "to" or receptacle < 0:
            return None
        place = self.layout.place[receptacle]
        if place < 0 or place == state.location:
            return None
        where = self.layout.location_names[place] if self.dialect.arrives_at_location else name
        after = State(place, *state[1:])  # half the time of _replace, in what players do most
        return EngineTurn(after, f"You arrive at {where}. {self._see(state, receptacle)}")

    def _open(self, state: State, name: str) -> EngineTurn | None:
        receptacle = self._here(state, name)
        if receptacle < 0 or not (self.layout.openable & ~state.opened) >> receptacle & 1:
            return None
        after = state._replace(opened=state.opened | 1 << receptacle)
        after = self._checked(after, self.layout.receptacles, receptacle)
        return EngineTurn(after, f"You open the {name}. {self._see(after, receptacle)}")

    def _close(self, state: State, name: str) -> EngineTurn | None:
        receptacle = self._here(state, name)
        if receptacle < 0 or not (self.layout.openable & state.opened) >> receptacle & 1:
            return None
        return EngineTurn(
            state._replace(opened=state.opened & ~(1 << receptacle)), f"You close the {name}."
        )

    def _take(self, state: State, rest: str) -> EngineTurn | None:
        name, _, source = rest.partition(" from ")
        thing = self.layout.object_called.get(name, -1)
        receptacle = self._here(state, source)
        if thing < 0 or receptacle < 0 or state.held >= 0 or not self._reachable(state, receptacle):
            return None
        if not (state.contents[receptacle] & self.layout.pickupable) >> thing & 1:
            return None
        after = state._replace(
            held=thing,
            contents=_without(state.contents, receptacle, thing),
            around=_without(state.around, state.location, thing),
            removed=_with(state.removed, receptacle, thing),
        )
        return EngineTurn(after, f"You pick up the {name} from the {source}.")

    def _place(self, state: State, rest: str) -> EngineTurn | None:
        name, _, target = rest.partition(self._put[1])
        thing = self.layout.object_called.get(name, -1)
        receptacle = self._here(state, target)
        if (
            thing < 0
            or thing != state.held
            or receptacle < 0
            or not self._reachable(state, receptacle)
        ):
            return None
        if not self.layout.accepts[receptacle] >> thing & 1:
            return None
        after = state._replace(
            held=-1,
            contents=_with(state.contents, receptacle, thing),
            around=_with(state.around, state.location, thing),
            removed=_without(state.removed, receptacle, thing),
        )
        verb, joint = self._put
        return EngineTurn(after, f"You {verb}the {name}{joint}the {target}.")

    def _treat(self, verb: str, state: State, rest: str) -> EngineTurn | None:
        name, _, tool = rest.partition(" with ")
        thing = self.layout.object_called.get(name, -1)
        receptacle = self._here(state, tool)
        if thing < 0 or thing != state.held or receptacle < 0:
            return None
        if (
            verb not in self.layout.treating[receptacle]
            or not self.layout.treatable[verb] >> thing & 1
        ):
            return None
        mask = 1 << thing
        if verb == "clean":
            after = state._replace(clean=state.clean | mask)
        elif verb == "heat":
            after = state._replace(hot=state.hot | mask, cool=state.cool & ~mask)
        else:
            after = state._replace(cool=state.cool | mask, hot=state.hot & ~mask)
        return EngineTurn(after, f"You {verb} the {name} using the {tool}.")

    def _use(self, state: State, name: str) -> EngineTurn | None:
        thing = self.layout.object_called.get(name, -1)
        if thing < 0 or not self.layout.toggleable >> thing & 1:
            return None
        if not any(
            state.contents[receptacle] >> thing & 1
            for receptacle in self.layout.here[state.location]
        ):
            return None
        # A second `use` says "turn on" too: the answer depends on having been used, which nothing
        # undoes.
        after = state._replace(toggled=state.toggled | 1 << thing, lit=state.lit ^ 1 << thing)
        return EngineTurn(after, f"You turn on the {name}.")

    def _slice(self, state: State, rest: str) -> EngineTurn | None:
        name, _, knife = rest.partition(" with ")
        called = self.layout.object_called
        thing, tool = called.get(name, -1), called.get(knife, -1)
        if thing < 0 or tool < 0 or tool != state.held or not self.layout.knives >> tool & 1:
            return None
        if not (state.around[state.location] & self.layout.sliceable) >> thing & 1:
            return None
        return EngineTurn(
            state._replace(sliced=state.sliced | 1 << thing),
            f"You sliced the {name} with the {knife}.",
        )

    def _examine(self, state: State, name: str) -> EngineTurn | None:
        if (receptacle := self._here(state, name)) >= 0:
            return EngineTurn(
                self._checked(state, self.layout.receptacles, receptacle),
                self._see(state, receptacle),
            )
        thing = self.layout.object_called.get(name, -1)
        if thing < 0 or thing != state.held:
            return None
        return EngineTurn(
            self._checked(state, self.layout.objects, thing), self._describe(state, thing)
        )

    def _see(self, state: State, receptacle: int) -> str:
        name = self.layout.receptacle_names[receptacle]
        if not self.layout.openable >> receptacle & 1:
            return f"On the {name}, you see {self._things(bits(state.contents[receptacle]))}."
        if not state.opened >> receptacle & 1:
            return f"The {name} is closed."
        return (
            f"The {name} is open. In it, you see {self._things(bits(state.contents[receptacle]))}."
        )

    def _look(self, state: State) -> str:
        """Answer to `look`.

        The real engine lists nothing if the agent faces nothing, save in a game's opening.
        """
        here = self.layout.here[state.location]
        if not here:
            return "You are in the middle of a room. Looking quickly around you, you see nothing."
        facing = _listing([self.layout.receptacle_names[receptacle] for receptacle in here])
        beside: list[int] = []
        for thing in bits(state.around[state.location]):
            for receptacle in here:
                if state.removed[receptacle] >> thing & 1:
                    beside.append(thing)
        return f"You are facing the {facing}. Next to it, you see {self._things(beside)}."

    def _describe(self, state: State, thing: int) -> str:
        name = self.layout.object_names[thing]
        if self.layout.vessels >> thing & 1:
            return (
                f"This is a normal {name}. In it, you see"
                f" {self._things(bits(self.layout.inside[thing]))}."
            )
        states = _treated(state, thing)
        sliced = state.sliced >> thing & 1
        if states and sliced:
            return f"This is a {states} sliced {name}."
        if states:
            return f"This is a {'cold' if states == 'cool' else states} {name}."
        if (state.toggled & self.layout.toggleable) >> thing & 1:
            return f"This {name} is on."
        if sliced and self.layout.sliceable >> thing & 1:
            return f"This is a sliced {name}."
        return f"There's nothing special about {name}."

    def _things(self, things: Iterable[int]) -> str:
        return _listing([f"a {self.layout.object_names[thing]}" for thing in things])


def _treated(state: State, thing: int) -> str:
    """What was done to a thing that its description names: `hot and clean`."""
    found = []
    if state.hot >> thing & 1:
        found.append("hot")
    elif state.cool >> thing & 1:
        found.append("cool")
    if state.clean >> thing & 1:
        found.append("clean")
    return " and ".join(found)


def _listing(items: list[str]) -> str:
    if len(items) < 2:
        return items[0] if items else "nothing"
    return f"{', '.join(items[:-1])}, and {items[-1]}"


def _with(rows: tuple[int, ...], index: int, thing: int) -> tuple[int, ...]:
    return (*rows[:index], rows[index] | 1 << thing, *rows[index + 1 :])


def _without(rows: tuple[int, ...], index: int, thing: int) -> tuple[int, ...]:
    return (*rows[:index], rows[index] & ~(1 << thing), *rows[index + 1 :])
