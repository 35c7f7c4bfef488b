"""COMPAT of Appendix A.2."""

from laboratory import FOCUS_ON_STOVE, GOAL, after, in_kitchen

from rpms.logic.belief import Situation, StateSignature
from rpms.logic.rules import ActiveRules
from rpms.paper.consistency import learned_ahead
from rpms.paper.memory import FailureLesson, SuccessSnippet, VerifiedSchema
from rpms.worlds.scienceworld import world
from rpms.worlds.scienceworld.world import required_instruments


def snippet(
    state="room=kitchen|inventory=empty|progress=0", actions=("look around",), **precondition
):
    return SuccessSnippet(GOAL, StateSignature.parse(state), "heat", tuple(actions), precondition)


def compatible(belief, entry):
    return world.compat(Situation(belief, belief.goal), entry, ActiveRules())


def test_the_papers_critical_failure_is_for_the_kitchen():
    assert compatible(in_kitchen(), FOCUS_ON_STOVE) == ""
    assert compatible(after(), FOCUS_ON_STOVE) == "learned in the kitchen, now in the hallway"


def test_an_unknown_room_rules_nothing_out():
    assert compatible(after().but(room=None), FOCUS_ON_STOVE) == ""


def test_an_entry_without_a_room_suits_every_room():
    assert compatible(after(), snippet("inventory=empty|progress=0")) == ""


def test_an_instrument_that_is_used_must_be_carried():
    measured = snippet(actions=("use thermometer in inventory on water",))
    assert required_instruments(measured) == ("thermometer",)
    assert compatible(in_kitchen(), measured).startswith(
        "needs an instrument in the inventory (thermometer)"
    )
    holding = in_kitchen(("pick up thermometer", "You move the thermometer to the inventory."))
    assert compatible(holding, measured) == ""


def test_a_snippet_that_picks_its_instrument_up_needs_none():
    assert (
        required_instruments(
            snippet(actions=("pick up stopwatch", "activate stopwatch in inventory"))
        )
        == ()
    )


def test_a_stated_instrument_counts():
    assert compatible(in_kitchen(), snippet(instrument="thermometer")) != ""


def test_progress_may_lag_by_one():
    def at(stage, then):
        situation = Situation(in_kitchen(), in_kitchen().goal, stage)
        return learned_ahead(situation, snippet(f"room=kitchen|progress={then}"))

    assert at(0, "1") == ""
    assert at(0, "2") == "learned at progress step 2, now at step 0: more than 1 ahead"
    assert at(4, "2") == "", "what was learned earlier still helps"
    assert at(None, "2") == "", "without a procedure nobody is ahead"
    assert at(0, "soon") == at(0, "9" * 99) == "", "a strange pointer rules nothing out"


def test_lessons_are_filtered_alike_and_schemas_never():
    lesson = FailureLesson(
        GOAL, StateSignature.parse("room=foundry|progress=0"), "pick up stove", "it is not moveable"
    )
    assert compatible(after(), lesson) != ""
    assert compatible(after(), VerifiedSchema("open {x}", "open")) == ""
