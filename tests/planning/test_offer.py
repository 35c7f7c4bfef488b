"""Ways to a fact: prepared one by one, the dear ones found late."""

from collections.abc import Sequence

from rpms.logic.actions import ActionSchema
from rpms.planning.wanted_facts import Achiever, Fact, Offer

PRICES = (1.0, 3.0)
LATE = (21.0, 22.0, 2.0)


def offer(prepared: list[int], found: list[Sequence[float]], least: float = 20.0) -> Offer:
    """An offer that notes which ways were prepared, and when late ones were found."""

    def prepare(place: int) -> Achiever:
        prepared.append(place)
        price = (*PRICES, *LATE)[place]
        schema = ActionSchema(f"way {place}", (f"go {place}",), steps=price)
        return Achiever(schema, (), Fact("there", ()), ())

    def find_late() -> Sequence[float]:
        found.append(LATE)
        return LATE

    return Offer(list(PRICES), prepare, find_late, least)


def prices(ways: Sequence[Achiever]) -> list[float]:
    return [way.schema.steps for way in ways]


def test_only_ways_that_are_asked_for_are_prepared_and_each_once():
    prepared: list[int] = []
    ways = offer(prepared, [])
    assert prices(ways.between(2.0, 10.0)) == [3.0]
    assert prices(ways.between(2.0, 10.0)) == [3.0]
    assert prepared == [1]


def test_late_ways_are_found_once_ways_may_cost_as_much_and_only_once():
    found: list[Sequence[float]] = []
    ways = offer([], found)
    assert ways.least_from(2.0) == 3.0
    assert ways.least_from(4.0) == 20.0  # no late way costs less
    assert prices(ways.between(0.0, 20.0)) == [1.0, 3.0]
    assert not found
    assert prices(ways.between(3.0, 22.0)) == [3.0, 21.0]
    assert ways.least_from(22.5) == float("inf")
    assert prices(list(ways)) == [*PRICES, *LATE]
    assert len(found) == 1


def test_an_offer_of_late_ways_alone_is_one():
    assert Offer([], offer([], []).prepare, lambda: [1.0], 1.0)
    assert not Offer([], offer([], []).prepare, list, 1.0)
    assert not Offer()
