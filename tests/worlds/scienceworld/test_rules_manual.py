"""The manual: complete, short, and never against what the simulator accepts."""

import pytest
from laboratory import OPENINGS, after, goal, in_kitchen

from rpms.logic.belief import Situation, StateSignature
from rpms.paper.arbitration import Arbitration, judge, objection_to_action
from rpms.paper.memory import FailureLesson, SuccessSnippet
from rpms.paper.prompt import Budget, estimate_tokens
from rpms.paper.verdict import Fate
from rpms.paper.wording import rule_line, schema_lines
from rpms.planning.from_here import judge_here
from rpms.play.sources import manual_of, universal_tier
from rpms.store.manuals import read_manual
from rpms.worlds.scienceworld import world
from rpms.worlds.scienceworld.tasks import KINDS

MANUAL = manual_of(world)
TEMPLATES = (
    "activate x", "close x", "connect x to y", "deactivate x", "disconnect x", "dunk x in y", "eat x", "flush x",
    "focus on x", "go x", "inventory", "look around", "look at x", "look in x", "mix x", "move x to y", "open x",
    "pick up x", "pour x in y", "put down x", "read x", "reset task", "task", "use x on y", "wait", "wait1",
)  # fmt: skip
"""The simulator's own, with letters for objects."""
STATE = StateSignature.parse("room=hallway|inventory=empty|progress=0")


def active(task):
    return MANUAL.active(KINDS[task].family, task)


def snippet(*actions):
    return SuccessSnippet(goal("boil").signature, STATE, "find", actions)


def judged(entry, belief, task="boil", how=judge):
    return how(entry, active(task), Situation(belief, goal(task)), Arbitration.HARD_SOFT)


def test_tier_one_is_every_worlds_unchanged_but_for_the_words_of_what_supposes_one_hand():
    here = {rule.id: rule.text for rule in active("boil").universal}
    shared = {rule.id: rule.text for rule in read_manual(universal_tier()).rules}
    assert list(here) == list(shared)
    assert [id_ for id_ in here if here[id_] != shared[id_]] == ["U-STATE-003"]


@pytest.mark.parametrize("command", TEMPLATES)
def test_every_template_of_the_simulator_has_a_schema(command):
    assert active("boil").instance(command) is not None


def test_numbers_answer_menus_and_nonsense_is_no_action():
    assert active("boil").instance("3").schema.name == "choose"
    assert active("boil").instance("teleport to kitchen") is None


@pytest.mark.parametrize("task", KINDS)
def test_every_task_has_its_procedure_its_own_rule_and_the_warning(task):
    rules = active(task).domain
    assert any("Canonical procedure" in rule.text for rule in rules)
    assert any(rule.locality and task in rule.locality.objects for rule in rules)
    assert any(rule.forbids for rule in rules)
    families = {rule.id.partition("-")[0] for rule in rules}
    assert families == {KINDS[task].family}


@pytest.mark.parametrize("task", KINDS)
def test_what_is_injected_stays_near_the_papers_size(task):
    rules = active(task)
    standing = [rule_line(rule) for rule in rules.rules if not rule.when] + [
        schema_lines(s) for s in rules.environment
    ]
    tokens = sum(map(estimate_tokens, standing))
    assert tokens <= 1240 - Budget().memory, (
        "with memory, all stays near the paper's 1200, printed warnings included"
    )


@pytest.mark.parametrize("words", ["stove", "metal pot", "the sink", "agent", "thermometer"])
def test_focusing_on_furniture_is_refused(words):
    verdict = judged(
        snippet(f"focus on {words}"), in_kitchen(("activate stove", "The stove is now activated."))
    )
    assert (verdict.fate, verdict.rule) == (Fate.DROPPED, "F3-FOCUS-001")


def test_focusing_on_what_the_task_names_is_not():
    belief = after(opening=OPENINGS["use-thermometer"])
    assert judged(snippet("focus on thermometer"), belief, "use-thermometer").fate is Fate.WARNED, (
        "it may be here"
    )
    assert judged(snippet("focus on water"), after()).fate is Fate.WARNED
    chair = after(opening=OPENINGS["find-non-living-thing"])
    assert judged(snippet("focus on chair"), chair, "find-non-living-thing").fate is Fate.WARNED


def test_a_plan_through_a_closed_door_must_open_it_first():
    assert judged(snippet("go to kitchen"), after()).fact == "the door to kitchen is closed"
    assert judged(snippet("open door to kitchen", "go to kitchen"), after()).fate is Fate.KEPT


def test_a_plan_through_several_rooms_is_followed_room_by_room():
    seen = (
        "This room is called the kitchen. In it, you see: \n\tthe agent\nYou also see:\n"
        "\tA door to the hallway (that is open)\n\tA door to the outside (that is closed)\n"
    )
    belief = in_kitchen(("look around", seen))
    further = judged(snippet("go to hallway", "go to workshop"), belief)
    assert (further.fate, further.fact) == (
        Fate.WARNED,
        "unknown whether the door to workshop is closed",
    )
    for how, fate in ((judge, Fate.WARNED), (judge_here, Fate.DROPPED)):
        verdict = judged(snippet("go to workshop"), belief, how=how)
        assert (verdict.fate, verdict.fact) == (fate, "no door leads from here to workshop")


def test_a_focus_on_what_is_never_asked_for_is_dropped_wherever_it_is_advised():
    verdict = judged(snippet("focus on stove"), after())
    assert (verdict.fate, verdict.rule) == (Fate.DROPPED, "F3-FOCUS-001")


def test_a_broken_device_is_not_tried_again():
    belief = in_kitchen(
        ("activate stove", "The stove appears broken, and can't be activated or deactivated.")
    )
    objection = objection_to_action(
        "activate stove", active("boil"), Situation(belief, goal("boil"))
    )
    assert objection.conflict
    assert objection.fact == "stove is broken or no device"


def test_a_lesson_that_a_door_was_shut_is_doubted_once_it_is_open():
    lesson = FailureLesson(goal("boil").signature, STATE, "go to kitchen", "open the door first")
    assert judged(lesson, after()).fate is Fate.KEPT
    opened = after(("open door to kitchen", "The door is now open."))
    assert judged(lesson, opened).fate is Fate.WARNED
    assert judged(lesson, opened, how=judge_here).fate is Fate.DROPPED
