"""The PDDL domain of ALFWorld's games: what every action needs and does."""

from __future__ import annotations

from typing import Literal, get_args

Dialect = Literal["0.3", "0.4"]
"""The release whose commands a game understands: 0.3 says `put … in/on …`, 0.4 says `move … to …` and has `help`."""

DIALECTS: tuple[Dialect, ...] = get_args(Dialect)

_HEAD = """\
(define (domain alfred)
(:requirements :adl :action-costs :typing)
(:types agent location receptacle object rtype otype)
(:predicates
 (atLocation ?a - agent ?l - location)
 (receptacleAtLocation ?r - receptacle ?l - location)
 (objectAtLocation ?o - object ?l - location)
 (openable ?r - receptacle)
 (opened ?r - receptacle)
 (inReceptacle ?o - object ?r - receptacle)
 (isReceptacleObject ?o - object)
 (inReceptacleObject ?innerObject - object ?outerObject - object)
 (isReceptacleObjectFull ?o - object)
 (wasInReceptacle ?o - object ?r - receptacle)
 (checked ?r - receptacle)
 (examined ?l - location)
 (receptacleType ?r - receptacle ?t - rtype)
 (canContain ?rt - rtype ?ot - otype)
 (objectType ?o - object ?t - otype)
 (holds ?a - agent ?o - object)
 (holdsAny ?a - agent)
 (holdsAnyReceptacleObject ?a - agent)
 (full ?r - receptacle)
 (isClean ?o - object)
 (cleanable ?o - object)
 (isHot ?o - object)
 (heatable ?o - object)
 (isCool ?o - object)
 (coolable ?o - object)
 (pickupable ?o - object)
 (moveable ?o - object)
 (toggleable ?o - object)
 (isOn ?o - object)
 (isToggled ?o - object)
 (sliceable ?o - object)
 (isSliced ?o - object))
(:functions (distance ?from ?to) (total-cost) - number)
"""

_AGENT = "?a - agent"
_PLACED = "?a - agent ?l - location"
_HERE = "(atLocation ?a ?l) (receptacleAtLocation ?r ?l)"
_ACCESSIBLE = "(or (not (openable ?r)) (opened ?r))"


def _action(name: str, parameters: str, precondition: str, effect: str) -> str:
    return f"(:action {name}\n :parameters ({parameters})\n :precondition {precondition}\n :effect (and {effect}))\n"


def _cost(steps: int) -> str:
    return f"(increase (total-cost) {steps})"


def _treat(name: str, able: str, appliances: tuple[str, ...], effect: str) -> str:
    """Clean, heat and cool are one scheme: the thing is held in front of an appliance of the right type."""
    kinds = " ".join(f"(receptacleType ?r {kind})" for kind in appliances)
    needs = f"(and ({able} ?o) (or {kinds}) {_HERE} (holds ?a ?o))"
    return _action(name, f"{_PLACED} ?r - receptacle ?o - object", needs, f"{_cost(5)} {effect}")


def domain(dialect: Dialect) -> str:
    """Write the domain of a dialect; its meaning is that of the official games, its text is this project's."""
    # In 0.3 the whole sink cleans as well as its basin; no official game has a receptacle of that type.
    sinks = ("SinkType", "SinkBasinType") if dialect == "0.3" else ("SinkBasinType",)
    actions = [
        _action("look", _PLACED, "(and (atLocation ?a ?l))", "(checked ?l)"),
        _action("inventory", _AGENT, "()", "(checked ?a)"),
        _action(
            "examineReceptacle",
            f"{_AGENT} ?r - receptacle",
            f"(and (exists (?l - location) (and {_HERE})))",
            "(checked ?r)",
        ),
        _action(
            "examineObject",
            f"{_AGENT} ?o - object",
            f"(or (exists (?l - location, ?r - receptacle) (and {_HERE} (inReceptacle ?o ?r) {_ACCESSIBLE}))"
            " (holds ?a ?o))",
            "(checked ?o)",
        ),
        _action(
            "GotoLocation",
            f"{_AGENT} ?lStart - location ?lEnd - location ?r - receptacle",
            "(and (atLocation ?a ?lStart) (receptacleAtLocation ?r ?lEnd))",
            f"(not (atLocation ?a ?lStart)) (atLocation ?a ?lEnd) {_cost(1)}",
        ),
        _action(
            "OpenObject",
            f"{_PLACED} ?r - receptacle",
            f"(and (openable ?r) {_HERE} (not (opened ?r)))",
            f"(opened ?r) (checked ?r) {_cost(1)}",
        ),
        _action(
            "CloseObject",
            f"{_PLACED} ?r - receptacle",
            f"(and (openable ?r) {_HERE} (opened ?r))",
            f"(not (opened ?r)) {_cost(1)}",
        ),
        _action(
            "PickupObject",
            f"{_PLACED} ?o - object ?r - receptacle",
            f"(and (pickupable ?o) {_HERE} (inReceptacle ?o ?r) (not (holdsAny ?a)) {_ACCESSIBLE})",
            f"(not (inReceptacle ?o ?r)) (holds ?a ?o) (holdsAny ?a) (not (objectAtLocation ?o ?l)) {_cost(1)}",
        ),
        _action(
            "PutObject",
            f"{_PLACED} ?o - object ?r - receptacle ?ot - otype ?rt - rtype",
            f"(and (holds ?a ?o) {_HERE} {_ACCESSIBLE} (objectType ?o ?ot) (receptacleType ?r ?rt)"
            " (canContain ?rt ?ot))",
            f"(inReceptacle ?o ?r) (objectAtLocation ?o ?l) (not (holds ?a ?o)) (not (holdsAny ?a)) {_cost(1)}",
        ),
        _treat("CleanObject", "cleanable", sinks, "(isClean ?o)"),
        _treat("HeatObject", "heatable", ("MicrowaveType",), "(isHot ?o) (not (isCool ?o))"),
        _treat("CoolObject", "coolable", ("FridgeType",), "(isCool ?o) (not (isHot ?o))"),
        _action(
            "ToggleObject",
            f"{_PLACED} ?o - object ?r - receptacle",
            f"(and (toggleable ?o) {_HERE} (inReceptacle ?o ?r))",
            f"{_cost(5)} (when (isOn ?o) (not (isOn ?o))) (when (not (isOn ?o)) (isOn ?o)) (isToggled ?o)",
        ),
        _action(
            "SliceObject",
            f"{_PLACED} ?co - object ?ko - object",
            "(and (sliceable ?co) (or (objectType ?ko KnifeType) (objectType ?ko ButterKnifeType))"
            " (atLocation ?a ?l) (objectAtLocation ?co ?l) (holds ?a ?ko))",
            f"{_cost(5)} (isSliced ?co)",
        ),
    ]
    if dialect == "0.4":
        actions.append(_action("help", _AGENT, "()", "(checked ?a)"))
    return _HEAD + "".join(actions) + ")\n"
