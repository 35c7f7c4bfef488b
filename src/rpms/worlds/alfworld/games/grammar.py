"""The text grammar of ALFWorld's games, in TextWorld's logic format: how commands and answers are worded."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import NamedTuple

from rpms.worlds.alfworld.games.domain import Dialect


class _Say(NamedTuple):
    """One way to word something; of several, the engine takes the first whose condition holds."""

    text: str
    condition: str | None = None


def _things(condition: str) -> str:
    return "[{o.indefinite + ' ' + o.name | " + condition + "}]"


_OPENABLE = "openable(r:receptacle)"
_CONTENTS = _things("inreceptacle(o:object, r:receptacle)")
_HERE = "atlocation(a:agent, l:location) & receptacleatlocation(r:receptacle, l:location)"
_BESIDE = (
    "atlocation(a:agent, l:location) & objectatlocation(o:object, l:location) & "
    "receptacleatlocation(r:receptacle, l:location) & not_inreceptacle(o:object, r:receptacle)"
)
_ANYWHERE = "receptacleatlocation(r:receptacle, l:location)"

_STATES = (
    ("hot and clean sliced", "clean hot sliced"),
    ("cool and clean sliced", "clean cool sliced"),
    ("clean sliced", "clean sliced"),
    ("hot sliced", "hot sliced"),
    ("cool sliced", "cool sliced"),
    ("hot and clean", "clean hot"),
    ("cool and clean", "clean cool"),
    ("hot", "hot"),
    ("clean", "clean"),
    ("cold", "cool"),
)
"""Descriptions of an examined thing, with the facts that must hold; the order decides."""

_HELP = (
    ("look:", "look around your current location"),
    ("inventory:", "check your current inventory"),
    ("go to (receptacle):", "move to a receptacle"),
    ("open (receptacle):", "open a receptacle"),
    ("close (receptacle):", "close a receptacle"),
    ("take (object) from (receptacle):", "take an object from a receptacle"),
    ("move (object) to (receptacle):", "place an object in or on a receptacle"),
    ("examine (something):", "examine a receptacle or an object"),
    ("use (object):", "use an object"),
    ("heat (object) with (receptacle):", "heat an object using a receptacle"),
    ("clean (object) with (receptacle):", "clean an object using a receptacle"),
    ("cool (object) with (receptacle):", "cool an object using a receptacle"),
    ("slice (object) with (object):", "slice an object using a sharp object"),
)


def _help_text() -> str:
    # The official text pads every command to one column except `move`, which has two spaces whatever its length.
    lines = [
        f"  {command}  {what}" if command.startswith("move") else f"  {command:<33} {what}" for command, what in _HELP
    ]
    return "\nAvailable commands:\n" + "\n".join(lines) + "\n"


def _examined() -> list[_Say]:
    inside = "[{o2.indefinite + ' ' + o2.name | inreceptacleobject(o2:object, o:object)}]"
    states = [
        _Say(f"This is a {words} {{o.name}}.", " & ".join(f"is{fact}(o:object)" for fact in facts.split()))
        for words, facts in _STATES
    ]
    return [
        _Say(f"This is a normal {{o.name}}. In it, you see {inside}.", "isreceptacleobject(o:object)"),
        *states,
        _Say("This {o.name} is on.", "toggleable(o:object) & istoggled(o:object)"),
        _Say("This {o.name} is off.", "toggleable(o:object) & not_istoggled(o:object)"),
        _Say("This is a sliced {o.name}.", "sliceable(o:object) & issliced(o:object)"),
        _Say("There's nothing special about {o.name}."),
    ]


def _rules(dialect: Dialect, goal: str) -> dict[str, list[_Say]]:
    old = dialect == "0.3"
    rules = {
        "intro": [_Say("-= Welcome to TextWorld, ALFRED! =-\n\n#look.feedback#\n\n#task#")],
        "task": [_Say(f"Your task is to: {goal}")],
        "GotoLocation.feedback": [
            _Say("You arrive at " + ("{lend.name}" if old else "{r.name}") + ". #examineReceptacle.feedback#")
        ],
        "OpenObject.feedback": [_Say("You open the {r.name}. #examineReceptacle.feedback#")],
        "CloseObject.feedback": [_Say("You close the {r.name}.")],
        "PickupObject.feedback": [_Say("You pick up the {o.name} from the {r.name}.")],
        "PutObject.feedback": [
            _Say("You put the {o.name} in/on the {r.name}." if old else "You move the {o.name} to the {r.name}.")
        ],
        "inventory.feedback": [
            _Say(f"You are carrying: {_things('holds(a:agent, o:object)')}.", "holdsany(a:agent)"),
            _Say("You are not carrying anything."),
        ],
        "examineReceptacle.feedback": [
            _Say(f"The {{r.name}} is open. In it, you see {_CONTENTS}.", f"{_OPENABLE} & opened(r:receptacle)"),
            _Say("The {r.name} is closed.", _OPENABLE),
            _Say(f"On the {{r.name}}, you see {_CONTENTS}."),
        ],
        "examineObject.feedback": _examined(),
        "toggleObject.feedback": [
            _Say("You turn on the {o.name}.", "toggleable(o:object) & istoggled(o:object)"),
            _Say("You turn off the {o.name}.", "toggleable(o:object)"),
            _Say("You don't see any switch on the {o.name}."),
        ],
        "heatObject.feedback": [_Say("You heat the {o.name} using the {r.name}.")],
        "cleanObject.feedback": [_Say("You clean the {o.name} using the {r.name}.")],
        "coolObject.feedback": [_Say("You cool the {o.name} using the {r.name}.")],
        "sliceObject.feedback": [_Say("You sliced the {co.name} with the {ko.name}.")],
        "look.feedback": [
            _Say("#look-variations#. Next to it, you see #list_objects_on_the_floor#.", _HERE),
            _Say("You are in the middle of a room. Looking quickly around you, you see #list_appliances#."),
        ],
        "look-variations": [_Say("You are facing the [{r.name | " + _HERE + "}]")],
        "list_objects_on_the_floor": [_Say("[{#overview(o)# | " + _BESIDE + "}]", _BESIDE), _Say("nothing")],
        "list_appliances": [_Say("[{#overview(r)# | " + _ANYWHERE + "}]", _ANYWHERE), _Say("nothing")],
        "overview(o)": [_Say("{o.indefinite} {o.name}")],
        "overview(r)": [_Say("{r.indefinite} {r.name or r.id}")],
        "list_empty": [_Say("nothing")],
        "list_separator": [_Say(", ")],
        "list_last_separator": [_Say(", and ")],
    }
    if not old:
        rules["help.feedback"] = [_Say(_help_text())]
    return rules


def _commands(dialect: Dialect) -> dict[str, tuple[str, str]]:
    """For each action of the domain, what a player types and the rule that answers."""
    commands = {
        "GotoLocation": ("go to [{r.name | receptacleatlocation(r:receptacle, lend:location)}]", "GotoLocation"),
        "OpenObject": ("open {r}", "OpenObject"),
        "CloseObject": ("close {r}", "CloseObject"),
        "PickupObject": ("take {o} from {r}", "PickupObject"),
        "PutObject": ("put {o} in/on {r}" if dialect == "0.3" else "move {o} to {r}", "PutObject"),
        "inventory": ("inventory", "inventory"),
        "examineReceptacle": ("examine {r}", "examineReceptacle"),
        "examineObject": ("examine {o}", "examineObject"),
        "ToggleObject": ("use {o}", "toggleObject"),
        "HeatObject": ("heat {o} with {r}", "heatObject"),
        "CleanObject": ("clean {o} with {r}", "cleanObject"),
        "CoolObject": ("cool {o} with {r}", "coolObject"),
        "SliceObject": ("slice {co} with {ko}", "sliceObject"),
        "look": ("look", "look"),
    }
    if dialect == "0.4":
        commands["help"] = ("help", "help")
    return commands


@lru_cache(maxsize=128)
def grammar(dialect: Dialect, goal: str) -> str:
    """Write the grammar of a game whose goal sentence is `goal`, as `Your task is to: …` shows it."""
    rules = {
        name: [
            {"rhs": say.text} if say.condition is None else {"condition": say.condition, "rhs": say.text}
            for say in ways
        ]
        for name, ways in _rules(dialect, goal).items()
    }
    actions = (
        f'action {name} {{\n template :: "{template}";\n feedback :: "#{rule}.feedback#";\n}}\n'
        for name, (template, rule) in _commands(dialect).items()
    )
    return f'grammar :: """\n{json.dumps(rules, indent=0)}\n""";\n\n' + "\n".join(actions)
