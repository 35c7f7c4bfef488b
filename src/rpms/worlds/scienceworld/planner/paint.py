"""Mixing paint: primary colours into secondary ones, and those into tertiary ones."""

from __future__ import annotations

from typing import Final

from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.planner.agent import Agent, Doing, Failed
from rpms.worlds.scienceworld.planner.text import View

SECONDARY: Final = {
    "orange": ("red", "yellow"),
    "green": ("blue", "yellow"),
    "violet": ("red", "blue"),
    "purple": ("red", "blue"),
}
VESSELS: Final = ("jug", "bowl", "glass cup", "metal pot", "ceramic cup")


def mix_paint(agent: Agent, goal: ScienceGoal) -> Doing[None]:
    """Mix the colour asked for, with a focus on the colour half-way if it is a tertiary one."""
    colour = goal.target.removesuffix(" paint")
    half, primary = halves(colour)
    if not half:
        raise Failed(f"no way is known to mix {colour}")
    agent.purpose = f"Paint is in the art studio: {' and '.join(SECONDARY[half])} make {half}"
    yield from agent.goto("art studio")
    yield from agent.seen()
    yield from agent.open_all()
    view = agent.views[agent.room]
    sources = {part: _sources(view, part) for part in ("red", "yellow", "blue")}
    vessel = _vessel(view)
    if vessel is None:
        raise Failed("there is nothing to mix in")
    for part in SECONDARY[half]:
        yield from _pour(agent, part, vessel)
    yield from agent.do(f"mix {vessel}")
    yield from agent.do(f"focus on {half} paint in {vessel}")
    if not primary:
        return
    agent.purpose = f"{half} and {primary} make {colour}"
    if primary in SECONDARY[half] and len(sources[primary]) < 2:
        yield from _fetch_more(agent, primary, vessel)
    else:
        yield from _pour(agent, primary, vessel)
    yield from agent.do(f"mix {vessel}")
    yield from agent.do(f"focus on {colour} paint in {vessel}")


def halves(colour: str) -> tuple[str, str]:
    """The secondary colour to mix first, and the primary one to add for a tertiary one; empty where there is none."""
    parts = colour.split("-")
    half = next((part for part in parts if part in SECONDARY), "")
    return half, next((part for part in parts if part not in SECONDARY), "") if half else ""


def _sources(view: View, colour: str) -> list[str]:
    return [thing.name for thing in view.walk() if any(inner.name == f"{colour} paint" for inner in thing.contents)]


def _vessel(view: View) -> str | None:
    empty = [thing.name for thing in view.walk() if not thing.contents]
    return next((name for name in VESSELS if name in empty), None)


def _pour(agent: Agent, colour: str, vessel: str) -> Doing[str]:
    return (yield from agent.do(f"pour cup containing {colour} paint in {vessel}"))


def _fetch_more(agent: Agent, colour: str, vessel: str) -> Doing[None]:
    """The studio's paint of this colour is used up: carry the vessel to where there is more."""
    yield from agent.take(vessel)
    for room in ("workshop", "kitchen", "living room", "bedroom"):
        yield from agent.goto(room)
        yield from agent.seen()
        if not _sources(agent.views[room], colour):
            continue
        yield from _pour(agent, colour, vessel)
        return
