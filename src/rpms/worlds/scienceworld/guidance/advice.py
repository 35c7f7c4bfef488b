"""Needs in the form that a step wants them: a menu, lines for the goal block, and the rules that matter now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rpms.core.advice import recap
from rpms.core.belief import Situation
from rpms.core.goal import Progress
from rpms.core.memory import SuccessSnippet
from rpms.core.menu import Suggestion
from rpms.core.prompt import Turn
from rpms.core.rules import ActiveRules, Rule, Tier
from rpms.core.verdict import Candidate
from rpms.worlds.scienceworld.belief import INSTRUMENTS, ScienceBelief
from rpms.worlds.scienceworld.goals import ScienceGoal
from rpms.worlds.scienceworld.guidance.needs import Needs
from rpms.worlds.scienceworld.guidance.recipes import needs_of
from rpms.worlds.scienceworld.guidance.scene import Scene
from rpms.worlds.scienceworld.planner.rooms import ROOMS, route

_LIKELY_SHOWN: Final = 4
"""How many unsearched rooms the goal block names."""
_DEEDS: Final = frozenset({
    "activate", "close", "connect", "deactivate", "focus", "mix", "move", "open", "pick", "pour", "read", "use",
})  # fmt: skip


def scene_of(situation: Situation, rules: ActiveRules, memories: Sequence[Candidate]) -> Scene:
    """The belief as a scene: rooms that the rules name for the task come first, then those of remembered successes."""
    goal, belief = situation.goal, situation.belief
    assert isinstance(belief, ScienceBelief)
    places = [place for rule in rules.domain if rule.locality for place in rule.locality.places]
    places += [
        action.removeprefix("go to ")
        for candidate in memories
        if isinstance(candidate.entry, SuccessSnippet)
        for action in candidate.entry.actions
        if action.startswith("go to ")
    ]
    known = goal if isinstance(goal, ScienceGoal) else ScienceGoal(goal.type, text=goal.text)
    return Scene(known, belief, tuple(dict.fromkeys(place for place in places if place in ROOMS)))


def guide(
    situation: Situation, rules: ActiveRules, memories: Sequence[Candidate], history: Sequence[Turn]
) -> tuple[str, ...]:
    """Lines for the goal block: what is needed and where it may be, what was just done, what was tried in vain."""
    scene = scene_of(situation, rules, memories)
    belief = scene.belief
    if belief.menu:
        return ("  Now: you are asked which one is meant; answer with its number",)
    needs = needs_of(scene)
    now = f"  Now: {needs.text}"
    if needs.rooms:
        now += f"; likeliest unsearched rooms: {', '.join(needs.rooms[:_LIKELY_SHOWN])}"
    return now, *recap(history, _DEEDS, belief.failed)


def suggest(situation: Situation, rules: ActiveRules, memories: Sequence[Candidate]) -> Iterator[Suggestion]:
    """What the belief allows here, with its relevance: what is needed first, then ways, lids, tools and switches.

    A focus is suggested only where it is what is needed.
    """
    scene = scene_of(situation, rules, memories)
    if scene.belief.menu:
        yield from _numbers(scene.belief)
        return
    needs = needs_of(scene)
    best: dict[str, float] = {}
    for place, command in enumerate(needs.do):
        best[command] = 8.0 if place == 0 else 5.0 - place / 10
    for command, relevance in _possible(scene, needs):
        best.setdefault(command, relevance)
    yield from (Suggestion(command, relevance) for command, relevance in best.items())


def _numbers(belief: ScienceBelief) -> Iterator[Suggestion]:
    """The numbers that answer the simulator's question; what is carried already is not what is to be picked up."""
    for number, option in enumerate(belief.menu):
        held = option.startswith("pick up") and "(in inventory" in option
        yield Suggestion(str(number), -1.0 if held else 5.0 - number / 10)


def _possible(scene: Scene, needs: Needs) -> Iterator[tuple[str, float]]:
    belief = scene.belief
    fresh = scene.room in belief.looked
    yield "look around", 0.5 if fresh else 6.0
    yield "inventory", -2.0 if belief.inventory_known else 0.0
    yield "wait1", -1.0
    toward = {route(scene.room, room)[:1] for room in needs.rooms[:_LIKELY_SHOWN]}
    for room in belief.exits.get(scene.room, {}):
        yield scene.enter(room), 2.0 if (room,) in toward else 1.0 if room not in belief.looked else -0.5
    for command in scene.uncover():
        yield command, 3.0 if needs.rooms else 0.0
    yield from _things(scene)


def _things(scene: Scene) -> Iterator[tuple[str, float]]:
    for seen in scene.visible:
        name, flags = scene.call(seen), seen.thing.flags
        if seen.name in INSTRUMENTS and not seen.carried:
            yield f"pick up {name}", 0.8
        elif seen.carried and not seen.above:
            yield f"put down {name}", -3.0
        if "off" in flags and f"{seen.name} in {scene.room}" not in scene.belief.broken:
            yield f"activate {name}", -1.5
        elif "on" in flags:
            yield f"deactivate {name}", -2.5
        if not seen.above and (flags or seen.thing.contents is not None):
            yield f"look at {name}", -1.2


_ACTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "find": ("open", "focus_on"),
    "take": ("open", "pick_up"),
    "focus": ("focus_on", "look_at", "wait"),
    "go": ("open", "pick_up"),
    "move": ("move", "pick_up"),
    "measure": ("use", "look_at", "pick_up"),
    "put": ("pick_up", "move", "pour"),
    "pour": ("pour", "open"),
    "heat": ("pick_up", "move", "activate"),
    "cool": ("pick_up", "move", "open"),
    "have": ("pick_up", "move", "activate"),
    "check": ("look_at", "use", "wait"),
    "read": ("read", "pick_up"),
    "mix": ("mix", "look_at"),
    "plant": ("move", "look_at"),
    "water": ("activate", "move", "pour"),
    "open": ("open", "wait"),
    "wait": ("wait", "look_at", "pour"),
    "time": ("move", "activate", "look_at"),
    "wire": ("connect", "activate"),
}
"""The actions that matter at a sub-goal, by its first word; those of `_ALWAYS` matter at all."""
_ALWAYS: Final = ("go", "open_door", "look_around")
_SEARCH: Final = frozenset({"find", "take", "go"})
"""The sub-goals at which the universal rules on searching matter, and not those on acting."""


def focus(rules: ActiveRules, progress: Progress) -> ActiveRules:
    """Only the schemas and rules that matter at the current sub-goal."""
    kind = progress.sub_goal.partition("_")[0]
    if kind not in _ACTIONS:
        return rules
    return rules.narrowed(
        kind, lambda schema: schema.name in _ACTIONS[kind] or schema.name in _ALWAYS, lambda rule: _matters(rule, kind)
    )


def _matters(rule: Rule, kind: str) -> bool:
    if rule.tier is Tier.UNIVERSAL:
        return (rule.group == "search_strategy") == (kind in _SEARCH) and rule.group != "state_management"
    return "-FOCUS-" not in rule.id or kind in ("find", "focus")
