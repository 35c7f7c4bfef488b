"""A house and a goal as a PDDL problem."""

from __future__ import annotations

from rpms.worlds.alfworld.games.goals import GameGoal
from rpms.worlds.alfworld.games.house import House
from rpms.worlds.alfworld.games.measured import tables

Fact = tuple[str, ...]
"""A predicate and its arguments."""

AGENT = "agent1"

_NAMED_BY_DOMAIN = ("SinkType", "KnifeType", "ButterKnifeType")
"""Object types that the domain's actions name, so that every problem must declare them."""


def initial_facts(house: House) -> list[Fact]:
    """List what is true at the start, in the order official problems have."""
    known = tables()
    receptacle_types = {receptacle.type for receptacle in house.receptacles}
    object_types = {item.type for item in house.items}
    facts: list[Fact] = [("receptacleType", r.id, f"{r.type}Type") for r in house.receptacles]
    facts += [("objectType", item.id, f"{item.type}Type") for item in house.items]
    facts += [
        ("canContain", f"{place}Type", f"{kind}Type")
        for place in sorted(receptacle_types)
        for kind in sorted(known.can_contain[place] & object_types)
    ]
    for fact, kinds in known.attributes.items():
        facts += [(fact, item.id) for item in house.items if item.type in kinds]
    facts += [("openable", r.id) for r in house.receptacles if r.openable]
    facts.append(("atLocation", AGENT, house.start))
    facts += [("inReceptacle", item.id, receptacle) for item in house.items for receptacle in item.receptacles]
    facts += [("inReceptacleObject", item.id, item.inside) for item in house.items if item.inside is not None]
    facts += [("receptacleAtLocation", r.id, r.location) for r in house.receptacles]
    facts += [("objectAtLocation", item.id, item.location) for item in house.items]
    return facts


def problem(name: str, house: House, goal: GameGoal) -> str:
    """Write the problem `name`."""
    known = tables()
    locations = {house.start, *(r.location for r in house.receptacles), *(item.location for item in house.items)}
    object_types = {f"{kind}Type" for kind in known.object_types}.union(_NAMED_BY_DOMAIN)
    declared = [
        ([AGENT], "agent"),
        (sorted(object_types), "otype"),
        ([f"{kind}Type" for kind in known.receptacle_types], "rtype"),
        ([item.id for item in house.items], "object"),
        ([receptacle.id for receptacle in house.receptacles], "receptacle"),
        (sorted(locations), "location"),
    ]
    objects = "\n".join(f"{thing} - {kind}" for things, kind in declared for thing in things)
    init = "\n".join(f"({' '.join(fact)})" for fact in initial_facts(house))
    return (
        f"(define (problem {name})\n(:domain alfred)\n"
        f"(:objects\n{objects}\n)\n(:init\n{init}\n)\n(:goal {goal.pddl()})\n)\n"
    )
