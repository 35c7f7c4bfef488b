"""Harvesting: what an episode teaches, and that it teaches the same every time."""

from __future__ import annotations

from dataclasses import replace

from rpms.learning.harvest import CLEAN, harvest
from rpms.logic.belief import Situation
from rpms.paper.arbitration import Arbitration, judge
from rpms.paper.episode import Ending
from rpms.paper.memory import CriticalFailure, Origin, SuccessSnippet, VerifiedSchema, merge
from rpms.paper.verdict import Fate
from tests.learning.episodes import MANUAL, planned, scripted


def of_kind(entries, kind):
    return [entry for entry in entries if isinstance(entry, kind)]


def test_a_won_episode_is_cut_into_snippets_at_its_sub_goals():
    episode = planned("pick_heat")
    snippets = of_kind(harvest(episode, MANUAL, by=CLEAN), SuccessSnippet)
    by_type = {snippet.sub_goal_type: snippet for snippet in snippets}
    assert sorted(by_type) == ["heat_object", "put_object", "take_object"]
    take, heat = by_type["take_object"], by_type["heat_object"]
    assert take.actions == ("go to diningtable 1", "take apple 1 from diningtable 1")
    assert take.precondition["holding"] is None
    assert str(take.state_signature).startswith("holding=none")
    assert heat.actions == ("go to microwave 1", "heat apple 1 with microwave 1")
    assert heat.precondition == {
        "holding": "apple 1",
        "action_type": "heat",
        "tool_location": "microwave 1",
    }
    assert heat.outcome == {"heat": "apple 1"}
    assert heat.origins == {Origin(episode.task, 4)}
    assert str(heat.goal_signature) == "pick_heat_then_place_in_recep:apple:hot:fridge"


def test_the_actions_of_all_snippets_are_the_episode_less_what_was_refused():
    episode = planned("pick_clean")
    snippets = of_kind(harvest(episode, MANUAL, by=replace(CLEAN, longest=100)), SuccessSnippet)
    ordered = sorted(snippets, key=lambda snippet: min(origin.step for origin in snippet.origins))
    told = [action for snippet in ordered for action in snippet.actions]
    assert told == [step.command for step in episode.steps if not step.infeasible]


def test_the_same_deed_twice_is_one_snippet_with_two_origins():
    episode = planned("pick_two")
    placed = [
        s
        for s in of_kind(harvest(episode, MANUAL, by=CLEAN), SuccessSnippet)
        if s.sub_goal_type == "put_object"
    ]
    assert [snippet.success_count for snippet in placed] == [2]


def test_a_long_search_is_cut_to_its_end_with_the_state_found_there():
    episode = planned("pick_two")
    snippets = of_kind(harvest(episode, MANUAL, by=replace(CLEAN, longest=3)), SuccessSnippet)
    assert max(len(snippet.actions) for snippet in snippets) == 3
    first = next(
        snippet for snippet in snippets if "take creditcard 1 from drawer 3" in snippet.actions
    )
    assert first.actions == ("open drawer 4", "go to drawer 3", "take creditcard 1 from drawer 3")
    assert first.state_signature.get("location") == ("drawer 4",)


def test_a_lost_cause_teaches_what_it_reached_and_no_more():
    episode = scripted(
        "pick_heat", "go to diningtable 1", "take apple 1 from diningtable 1", "go to fridge 1"
    )
    assert episode.ending is Ending.OUT_OF_STEPS
    (snippet,) = of_kind(harvest(episode, MANUAL), SuccessSnippet)
    assert snippet.sub_goal_type == "take_object"


def test_a_single_walk_is_no_snippet():
    episode = scripted("pick_heat", "go to diningtable 1")
    assert not of_kind(harvest(episode, MANUAL), SuccessSnippet)


def test_schemas_count_what_worked_and_what_failed_for_no_known_reason():
    episode = planned("pick_two")
    schemas = {
        schema.action_type: schema for schema in of_kind(harvest(episode, MANUAL), VerifiedSchema)
    }
    take, go = schemas["take"], schemas["go"]
    assert take.action_template == "take {object} from {place}"
    assert take.preconditions[:2] == ("you are at the place", "your hand is empty")
    assert "you hold the object" in take.effects
    assert take.confidence == 1.0
    assert go.failure_count == 1
    assert {origin.step for origin in go.origins if origin.failed} == {
        step.number for step in episode.steps if step.infeasible
    }


def test_a_failure_that_the_schema_foretells_is_no_evidence_against_it():
    episode = scripted(
        "pick_heat", "go to diningtable 1", "go to fridge 1", "take apple 1 from diningtable 1"
    )
    assert "take" not in {
        schema.action_type for schema in of_kind(harvest(episode, MANUAL), VerifiedSchema)
    }


def test_what_is_kept_in_hand_is_said_as_in_the_papers_listing():
    schemas = of_kind(harvest(planned("pick_heat"), MANUAL), VerifiedSchema)
    heat = next(schema for schema in schemas if schema.action_type == "heat")
    assert heat.effects[-1] == "still: you hold the object"


def test_the_action_that_ended_everything_is_a_critical_failure_and_the_way_there_no_success():
    won = planned("pick_heat")
    lost = replace(
        won, ending=Ending.LOST, steps=(*won.steps[:-1], replace(won.steps[-1], score=-100.0))
    )
    entries = harvest(lost, MANUAL)
    (critical,) = of_kind(entries, CriticalFailure)
    assert critical.failed_action == won.steps[-1].command
    assert critical.failure_message == "score = -100, terminated"
    assert critical.retrieval_weight == 2.0
    assert not of_kind(entries, SuccessSnippet)
    fatal = Origin(won.task, len(won.steps))
    assert not [schema for schema in of_kind(entries, VerifiedSchema) if fatal in schema.origins]
    assert [
        schema
        for schema in of_kind(harvest(won, MANUAL), VerifiedSchema)
        if fatal in schema.origins
    ]


def test_the_same_episode_is_evidence_once():
    once = harvest(planned("pick_clean"), MANUAL)
    again = harvest(planned("pick_clean"), MANUAL)
    assert once == again == merge(once, again)


def test_an_episode_that_never_began_teaches_nothing():
    won = planned("look")
    assert harvest(replace(won, steps=(), ending=Ending.WORLD_ERROR), MANUAL) == ()


def test_what_was_learned_is_accepted_by_arbitration_where_it_was_learned():
    episode = planned("pick_cool")
    rules = episode.steps[0].decision.rules
    for snippet in of_kind(harvest(episode, MANUAL, by=CLEAN), SuccessSnippet):
        starts = [
            step
            for step in episode.steps
            if step.decision.state_signature == snippet.state_signature
        ]
        first = next(step for step in starts if step.command == snippet.actions[0])
        situation = Situation(first.decision.belief, first.decision.goal)
        assert judge(snippet, rules, situation, Arbitration.HARD_SOFT).fate in (
            Fate.KEPT,
            Fate.WARNED,
        )
