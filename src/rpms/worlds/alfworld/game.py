"""Live games on the native engine and on the real one, the true state, and beliefs that it
contradicts.
"""

import json
import os
import queue
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import IO, Any

from rpms.foreign.shown import excerpt
from rpms.logic.bits import bits
from rpms.logic.errors import FileError, InputError, WorldError
from rpms.logic.facts import grouped
from rpms.worlds.alfworld.belief import AlfworldBelief, Sites
from rpms.worlds.alfworld.engine.engine import EngineTurn, GameEngine
from rpms.worlds.alfworld.engine.layout import GameLayout, State
from rpms.worlds.base import Game, Outcome


class GroundTruth:
    """True facts of a game at one moment, by name: for checking beliefs, never for playing."""

    def __init__(self, layout: GameLayout, state: State) -> None:
        receptacles = layout.receptacle_names
        objects = layout.object_names
        locations = layout.location_names
        self.here = tuple(receptacles[index] for index in layout.here[state.location])
        """The receptacles at the agent's location: those that it can handle."""
        self.held = objects[state.held] if state.held >= 0 else None
        self.places: dict[str, str] = {}
        """The location of every receptacle."""
        for name, place in zip(receptacles, layout.place, strict=True):
            if place >= 0:
                self.places[name] = locations[place]
        self.openable = set(_named(receptacles, layout.openable))
        self.opened = set(_named(receptacles, layout.openable & state.opened))
        inside = zip(receptacles, state.contents, strict=True)
        self.contents = {name: tuple(_named(objects, mask)) for name, mask in inside}
        """Content of each receptacle, in the order in which the game lists it; some objects are
        in several."""
        masks = {
            "on": state.toggled,
            "hot": state.hot,
            "cool": state.cool,
            "clean": state.clean,
            "sliced": state.sliced,
        }
        self.states = {name: set(_named(objects, mask)) for name, mask in masks.items()}
        """State, as a belief names it → the objects that are in it."""


def _named(names: Sequence[str], mask: int) -> list[str]:
    """The names of the things whose bits are set."""
    return [names[index] for index in bits(mask)]


class NativeGame:
    """One game being played.

    Copies (`copy.copy`) share the engine and nothing else: each may go to its own thread.
    """

    def __init__(self, engine: GameEngine) -> None:
        self._engine = engine
        self._state = engine.start

    def reset(self) -> Outcome:
        return self._outcome(self._engine.reset())

    def step(self, command: str) -> Outcome:
        return self._outcome(self._engine.step(self._state, command))

    def admissible(self) -> tuple[str, ...]:
        return self._engine.admissible(self._state)

    def close(self) -> None:
        """Nothing is held that needs releasing."""

    def truth(self) -> GroundTruth:
        """True facts now, told by a text or not."""
        return GroundTruth(self._engine.layout, self._state)

    def _outcome(self, turn: EngineTurn) -> Outcome:
        self._state = turn.state
        won = self._engine.won(turn.state)
        return Outcome(turn.observation, 1.0 if won else 0.0, won=won, done=won)


def contradictions(belief: AlfworldBelief, game: Game) -> tuple[str, ...]:
    """Compare everything a belief claims with the native engine's state; other engines do not
    tell theirs.
    """
    return tuple(_compare(belief, game.truth())) if isinstance(game, NativeGame) else ()


def _compare(belief: AlfworldBelief, truth: GroundTruth) -> Iterator[str]:
    if belief.hand != truth.held:
        yield f"holding {belief.hand}, in truth {truth.held}"
    yield from _compare_places(belief, truth)
    yield from _compare_contents(belief, truth)
    for thing, place in belief.last_seen.items():
        if thing not in truth.contents.get(place, ()):
            yield f"{thing} was not last seen in {place}"
    for thing, states in belief.states.items():
        for state in states:
            if thing not in truth.states[state]:
                yield f"{thing} is not {state}"


def _compare_contents(belief: AlfworldBelief, truth: GroundTruth) -> Iterator[str]:
    for place, inside in belief.contents.items():
        real = set(truth.contents.get(place, ()))
        for thing in set(inside) - real:
            yield f"{thing} is not in {place}"
        if place in belief.seen:
            for thing in real - set(inside):
                yield f"{thing} is in {place}"


def _compare_places(belief: AlfworldBelief, truth: GroundTruth) -> Iterator[str]:
    names = belief.places or tuple(belief.sites.of)
    known = [place for place in names if place in truth.places]
    closed = truth.openable - truth.opened
    yield from _wrong_claims("here", belief.here, known, truth.here)
    yield from _wrong_claims("closed", belief.closed, known, closed)
    yield from _wrong_claims("with a door", belief.has_door, known, truth.openable)
    yield from _wrong_pairs(names, belief.sites, truth)
    invented = set(names) - truth.places.keys()
    left_out = belief.places and len(belief.places) != len(truth.places)
    if invented or left_out:
        yield f"the places are {', '.join(truth.places)}"


def _wrong_pairs(names: Sequence[str], sites: Sites, truth: GroundTruth) -> Iterator[str]:
    """Pairs of places that a belief wrongly holds for together, or for apart."""
    for one, other in _comparable_pairs(names, sites, truth):
        claimed = sites.together(one, other)
        together = truth.places.get(one) == truth.places.get(other)
        if claimed is not None and claimed != together:
            yield f"{one} and {other} are {'' if together else 'not '}together"


def _wrong_claims(
    property_: str,
    ask: Callable[[str], bool | None],
    places: Sequence[str],
    true_of: Container[str],
) -> Iterator[str]:
    """Places about which a belief is wrong, in a property that it tells of them."""
    for place in places:
        truth = place in true_of
        if ask(place) is (not truth):
            yield f"{place} is {property_}" if truth else f"{place} is not {property_}"


def _comparable_pairs(
    names: Sequence[str], sites: Sites, truth: GroundTruth
) -> list[tuple[str, str]]:
    """Pairs of places that share a location in truth or a site in the belief, in the names' order.

    Of no other pair can the belief be wrong, and most pairs are others.
    """
    in_truth = grouped((truth.places.get(name), name) for name in names)
    in_belief = grouped((sites.of[name], name) for name in names if name in sites.of)
    pairs: set[tuple[str, str]] = set()
    for group in (*in_truth.values(), *in_belief.values()):
        pairs.update(combinations(group, 2))
    order = {name: place for place, name in enumerate(names)}
    return sorted(pairs, key=lambda pair: (order[pair[0]], order[pair[1]]))


_WORKER = Path(__file__).with_name("_textworld_worker.py")
_STEP_TIMEOUT_S = 30.0
_MISSING = "the engine 'textworld' needs ALFWorld's own packages: pip install 'rpms[alfworld]'"


def textworld_available() -> bool:
    """True if the real engine is installed beside this package."""
    return all(find_spec(name) is not None for name in ("alfworld", "textworld", "fast_downward"))


class TextWorldGame:
    """A game played by TextWorld, the engine that ALFWorld ships, with the same answers as
    `NativeGame`.

    Each has a child process, since that engine is not thread-safe and leaks; it is here to be
    compared with. The child ends with `close`, with this object, and, as its input then ends, with
    this process however that dies.
    """

    def __init__(self, path: str | Path, *, load_timeout: float = 120.0) -> None:
        """Start the child and wait until the game is loaded."""
        if not textworld_available():
            raise InputError(_MISSING)
        if not Path(path).is_file():
            raise FileError(path, None, "no such game file")
        self._admissible: tuple[str, ...] = ()
        process = subprocess.Popen(  # noqa: S603 - this interpreter on this package's own script
            [sys.executable, "-P", "-X", "utf8", str(_WORKER), str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            env={**os.environ, "PYTHONWARNINGS": "ignore"},
        )
        self._process = process
        self._replies: queue.SimpleQueue[str] = queue.SimpleQueue()
        assert process.stdout is not None
        threading.Thread(target=_pump, args=(process.stdout, self._replies), daemon=True).start()
        self._end = weakref.finalize(self, _end, process)
        hello = self._receive(load_timeout, "load the game")
        if "ready" not in hello:
            self.close()
        if "missing" in hello:
            raise InputError(f"{_MISSING} ({excerpt(hello['missing'], 200)})")
        if "error" in hello:
            raise FileError(path, None, f"TextWorld cannot load it: {excerpt(hello['error'], 200)}")

    def reset(self) -> Outcome:
        return self._ask({"reset": True})

    def step(self, command: str) -> Outcome:
        return self._ask({"step": command})

    def admissible(self) -> tuple[str, ...]:
        return self._admissible

    def close(self) -> None:
        """End the child process. Calling it twice does no harm."""
        self._end()

    def _ask(self, request: Mapping[str, Any]) -> Outcome:
        if not self._end.alive:
            raise WorldError("this TextWorld game is closed")
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise self._failure("TextWorld's process has ended") from None
        reply = self._receive(_STEP_TIMEOUT_S, "answer a command")
        if "error" in reply:
            raise self._failure(f"TextWorld failed: {excerpt(reply['error'], 200)}")
        self._admissible = tuple(reply["admissible"])
        won = reply["won"]
        return Outcome(reply["observation"], 1.0 if won else 0.0, won=won, done=won)

    def _receive(self, timeout: float, what: str) -> dict[str, Any]:
        try:
            line = self._replies.get(timeout=timeout)
        except queue.Empty:
            raise self._failure(f"TextWorld took over {timeout:g} s to {what}") from None
        if not line:
            raise self._failure(f"TextWorld's process ended before it could {what}")
        return dict(json.loads(line))

    def _failure(self, problem: str) -> WorldError:
        self.close()
        return WorldError(problem)


def _pump(stream: IO[str], replies: queue.SimpleQueue[str]) -> None:
    """Pass replies on, then the empty line that says there are no more."""
    with stream:
        for line in stream:
            replies.put(line)
    replies.put("")


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    with suppress(OSError):
        if process.stdin is not None:
            process.stdin.close()
