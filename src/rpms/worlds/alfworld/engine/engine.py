"""The rules of ALFWorld over states that are values: what a command does, what it says, and
what is possible.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

from rpms.logic.bits import bits
from rpms.worlds.alfworld.engine.dialect import Dialect
from rpms.worlds.alfworld.engine.goal_test import Test
from rpms.worlds.alfworld.engine.layout import GameLayout, State

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
        """Functions that do commands of several words, by the first of them."""
        self._alone: dict[str, Callable[[State], EngineTurn]] = {
            "look": self._look_around,
            "inventory": self._list_inventory,
        }
        """Functions that do commands of one word."""
        if dialect.help is not None:
            self._alone["help"] = self._help

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
        answer = self._alone.get(command)
        if answer is not None:
            return answer(state)
        verb, _, rest = command.partition(" ")
        act = self._verbs.get(verb)
        turn = act(state, rest) if act is not None else None
        return turn or EngineTurn(state, NOTHING_HAPPENS)

    def _look_around(self, state: State) -> EngineTurn:
        after = self._checked(state, self.layout.locations, state.location)
        return EngineTurn(after, self._look(state))

    def _list_inventory(self, state: State) -> EngineTurn:
        held = "not carrying anything"
        if state.held >= 0:
            held = f"carrying: a {self.layout.object_names[state.held]}"
        return EngineTurn(self._checked_agent(state), f"You are {held}.")

    def _help(self, state: State) -> EngineTurn:
        return EngineTurn(self._checked_agent(state), self.dialect.help or "")

    def admissible(self, state: State) -> tuple[str, ...]:
        """Every command that is possible now, sorted."""
        location = state.location
        commands = [*self._alone]
        for receptacle in self.layout.here[location]:
            commands += self._commands_at(state, receptacle)
        commands += self._commands_with_things(state)
        commands.sort()
        walks = self._goto.get(location) or self._goto_from(location)  # sorted already
        place = bisect_left(commands, "go to")
        return (*commands[:place], *walks, *commands[place:])

    def _commands_at(self, state: State, receptacle: int) -> list[str]:
        """Commands possible now with a receptacle that the agent stands before."""
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
        """Commands possible with the thing in hand at a receptacle: put it there, treat it."""
        layout = self.layout
        thing = layout.object_names[held]
        name = layout.receptacle_names[receptacle]
        commands = []
        if reachable and layout.accepts[receptacle] >> held & 1:
            verb, joint = self._put
            commands.append(f"{verb}{thing}{joint}{name}")
        for verb in layout.treating[receptacle]:
            if layout.treatable[verb] >> held & 1:
                commands.append(f"{verb} {thing} with {name}")
        return commands

    def _commands_with_things(self, state: State) -> list[str]:
        """Commands possible now with lamps that are here, and with the thing in hand."""
        names = self.layout.object_names
        commands = [f"use {names[thing]}" for thing in bits(self._usable(state))]
        if state.held < 0:
            return commands
        held = names[state.held]
        commands.append(f"examine {held}")
        sliceable = self._sliceable(state)
        if sliceable:
            commands += [f"slice {names[thing]} with {held}" for thing in bits(sliceable)]
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
        if receptacle >= 0 and self.layout.place[receptacle] == state.location:
            return receptacle
        return -1

    def _holds(self, state: State, name: str) -> bool:
        """True if the thing of that name is in hand."""
        return state.held >= 0 and self.layout.object_names[state.held] == name

    def _reachable(self, state: State, receptacle: int) -> bool:
        return not self.layout.openable >> receptacle & 1 or bool(state.opened >> receptacle & 1)

    def _checked(self, state: State, ids: Iterable[str], index: int) -> State:
        """The state after a thing was looked at, by its number among some ids."""
        return state._replace(checked=state.checked | {[*ids][index]}) if self._marks else state

    def _checked_agent(self, state: State) -> State:
        return self._checked(state, (self.layout.agent,), 0)

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
        opened = state._replace(opened=state.opened | 1 << receptacle)
        after = self._checked(opened, self.layout.receptacles, receptacle)
        return EngineTurn(after, f"You open the {name}. {self._see(after, receptacle)}")

    def _close(self, state: State, name: str) -> EngineTurn | None:
        receptacle = self._here(state, name)
        if receptacle < 0 or not (self.layout.openable & state.opened) >> receptacle & 1:
            return None
        after = state._replace(opened=state.opened & ~(1 << receptacle))
        return EngineTurn(after, f"You close the {name}.")

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
        """Put what is held into a receptacle at hand; nothing if that cannot be done."""
        verb, joint = self._put
        name, _, target = rest.partition(joint)
        thing = state.held
        receptacle = self._here(state, target)
        if receptacle < 0 or not self._reachable(state, receptacle):
            return None
        if not self._holds(state, name) or not self.layout.accepts[receptacle] >> thing & 1:
            return None
        after = state._replace(
            held=-1,
            contents=_with(state.contents, receptacle, thing),
            around=_with(state.around, state.location, thing),
            removed=_without(state.removed, receptacle, thing),
        )
        return EngineTurn(after, f"You {verb}the {name}{joint}the {target}.")

    def _treat(self, verb: str, state: State, rest: str) -> EngineTurn | None:
        """Clean, heat or cool what is held with an appliance at hand; nothing if that cannot be
        done.
        """
        name, _, tool = rest.partition(" with ")
        receptacle = self._here(state, tool)
        if receptacle < 0 or verb not in self.layout.treating[receptacle]:
            return None
        if not self._holds(state, name) or not self.layout.treatable[verb] >> state.held & 1:
            return None
        thing = 1 << state.held
        match verb:
            case "clean":
                after = state._replace(clean=state.clean | thing)
            case "heat":
                after = state._replace(hot=state.hot | thing, cool=state.cool & ~thing)
            case _:
                after = state._replace(cool=state.cool | thing, hot=state.hot & ~thing)
        return EngineTurn(after, f"You {verb} the {name} using the {tool}.")

    def _use(self, state: State, name: str) -> EngineTurn | None:
        thing = self.layout.object_called.get(name, -1)
        if thing < 0 or not self._usable(state) >> thing & 1:
            return None
        # A second `use` says "turn on" too: the answer depends on having been used, which nothing
        # undoes.
        after = state._replace(toggled=state.toggled | 1 << thing, lit=state.lit ^ 1 << thing)
        return EngineTurn(after, f"You turn on the {name}.")

    def _usable(self, state: State) -> int:
        """The lamps that are here; one may be in two receptacles."""
        things = 0
        for receptacle in self.layout.here[state.location]:
            things |= state.contents[receptacle]
        return things & self.layout.toggleable

    def _sliceable(self, state: State) -> int:
        """The things here that a knife slices, if one is in hand."""
        if state.held < 0 or not self.layout.knives >> state.held & 1:
            return 0
        return state.around[state.location] & self.layout.sliceable

    def _slice(self, state: State, rest: str) -> EngineTurn | None:
        name, _, knife = rest.partition(" with ")
        thing = self.layout.object_called.get(name, -1)
        if thing < 0 or not self._holds(state, knife):
            return None
        if not self._sliceable(state) >> thing & 1:
            return None
        after = state._replace(sliced=state.sliced | 1 << thing)
        return EngineTurn(after, f"You sliced the {name} with the {knife}.")

    def _examine(self, state: State, name: str) -> EngineTurn | None:
        receptacle = self._here(state, name)
        if receptacle >= 0:
            after = self._checked(state, self.layout.receptacles, receptacle)
            return EngineTurn(after, self._see(state, receptacle))
        if not self._holds(state, name):
            return None
        after = self._checked(state, self.layout.objects, state.held)
        return EngineTurn(after, self._describe(state, state.held))

    def _see(self, state: State, receptacle: int) -> str:
        name = self.layout.receptacle_names[receptacle]
        has_lid = self.layout.openable >> receptacle & 1
        if has_lid and not state.opened >> receptacle & 1:
            return f"The {name} is closed."
        things = self._things(bits(state.contents[receptacle]))
        if has_lid:
            return f"The {name} is open. In it, you see {things}."
        return f"On the {name}, you see {things}."

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
        """The answer to `examine` with a thing."""
        name = self.layout.object_names[thing]
        if self.layout.vessels >> thing & 1:
            inside = self._things(bits(self.layout.inside[thing]))
            return f"This is a normal {name}. In it, you see {inside}."
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
    """The states of a thing that its description names: `hot and clean`."""
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
    row = rows[index] | 1 << thing
    return (*rows[:index], row, *rows[index + 1 :])


def _without(rows: tuple[int, ...], index: int, thing: int) -> tuple[int, ...]:
    row = rows[index] & ~(1 << thing)
    return (*rows[:index], row, *rows[index + 1 :])
