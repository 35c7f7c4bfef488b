"""A need by the names that a parameter may have."""

from collections.abc import Mapping

from rpms.planning.ground import HOLDS, IMPOSSIBLE
from rpms.planning.needs_by_name import JudgedWith, NeedByName
from rpms.planning.wanted_facts import Fact, Need

IN = Need((Fact("in", ("object", "place")),), frozenset({"object", "place"}), moving=False)


def test_a_need_is_judged_once_with_each_name_that_is_asked_for():
    asked: list[Mapping[str, str]] = []

    def judge(need: Need, binding: Mapping[str, str]) -> JudgedWith:
        asked.append(binding)
        judged = HOLDS if binding["place"] == "drawer 1" else IMPOSSIBLE
        return JudgedWith(judged, ())

    by_name = NeedByName(IN, "place", {"object": "pen 1"}, judge)
    found = [by_name[name].judged for name in ("drawer 1", "drawer 2", "drawer 1")]
    assert found == [HOLDS, IMPOSSIBLE, HOLDS]
    assert asked == [
        {"object": "pen 1", "place": "drawer 1"},
        {"object": "pen 1", "place": "drawer 2"},
    ]
