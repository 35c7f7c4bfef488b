from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpms.logic.belief import StateSignature
from rpms.logic.errors import InputError
from rpms.logic.goal import GoalSignature
from rpms.paper.memory import (
    CriticalFailure,
    FailureLesson,
    Kind,
    Origin,
    SuccessSnippet,
    VerifiedSchema,
    merge,
)
from rpms.paper.recall import EpisodicMemory, Retrieval, Similarity
from tests.paper.entries import signatures, stores

GOAL = GoalSignature("pick_heat_then_place_in_recep", "mug", "hot", "cabinet")
STATE = StateSignature.parse("holding=none")


@given(stores, stores, stores)
def test_merging_is_commutative_associative_and_idempotent(one, two, three):
    assert merge(one, two) == merge(two, one)
    assert merge(merge(one, two), three) == merge(one, merge(two, three)) == merge(one, two, three)
    assert merge(one, one) == merge(one) == merge(merge(one))


@given(stores)
def test_merging_loses_no_origin(store):
    merged = merge(store)
    assert {origin for entry in merged for origin in entry.origins} == {
        origin for entry in store for origin in entry.origins
    }
    assert len({entry.id for entry in merged}) == len(merged)


def lesson(action: str, episode: str, step: int = 1) -> FailureLesson:
    return FailureLesson(
        GOAL, STATE, action, "be there first", origins=frozenset({Origin(episode, step)})
    )


def test_the_same_content_from_another_origin_raises_the_count_and_the_same_origin_does_not():
    one, again, elsewhere = (lesson("open fridge 1", episode) for episode in ("a", "a", "b"))
    assert [entry.occurrence_count for entry in merge([one], [again])] == [1]
    assert [entry.occurrence_count for entry in merge([one], [elsewhere], [again])] == [2]


def test_entries_that_differ_only_in_numbers_and_spacing_are_near_duplicates():
    merged = merge(
        [lesson("take mug 1 from shelf 2", "a"), lesson("Take mug 3  from shelf 1", "b")]
    )
    assert [entry.occurrence_count for entry in merged] == [2]


def test_critical_failures_are_never_merged_away():
    ordinary = lesson("focus on stove 1", "a")
    critical = [
        CriticalFailure(
            GOAL,
            STATE,
            f"focus on stove {number}",
            "be there first",
            origins=frozenset({Origin("a", number)}),
        )
        for number in (1, 2)
    ]
    assert sorted(entry.kind for entry in merge([ordinary], critical)) == [
        Kind.CRITICAL_FAILURE,
        Kind.CRITICAL_FAILURE,
        Kind.FAILURE,
    ]


def test_a_schemas_confidence_follows_its_successes_and_failures():
    tries = [
        VerifiedSchema("cool {object}", "cool", origins=frozenset({Origin("a", n, failed=n == 3)}))
        for n in range(4)
    ]
    (schema,) = merge(tries)
    assert (schema.success_count, schema.failure_count, schema.confidence) == (3, 1, 0.75)


def scanned(entries, goal: GoalSignature, retrieval: Retrieval) -> list[tuple[float, str]]:
    """Eq. 4 as it is written, {m | d_γ(γ(g), γ(m)) ≥ θ}: the rank, which is d_γ times strength,
    and id, best first.
    """

    def score(entry) -> float:
        if not isinstance(entry, VerifiedSchema):
            return retrieval.similarity(goal, entry.goal_signature)
        alike = (retrieval.similarity(goal, each) for each in entry.goals)
        return max(alike, default=0.0) if retrieval.schemas_by_goal else 1.0

    scored = ((entry, score(entry)) for entry in entries)
    found = [
        (score * entry.strength, entry.id)
        for entry, score in scored
        if score >= retrieval.threshold
    ]
    return sorted(found, key=lambda pair: (-pair[0], pair[1]))


@given(stores, signatures, st.booleans())
def test_recall_is_what_a_scan_of_everything_would_find(store, goal, by_goal):
    memory, retrieval = EpisodicMemory(merge(store)), Retrieval(schemas_by_goal=by_goal)
    for kind in Kind:
        found = list(memory.recall(kind, goal, retrieval))
        expected = scanned(
            [
                entry
                for entry in memory.entries
                if entry.kind is kind and not getattr(entry, "refuted", False)
            ],
            goal,
            retrieval,
        )
        assert [candidate.rank for candidate in found] == [
            pytest.approx(rank) for rank, _ in expected
        ]
        assert sorted(each.entry.id for each in found) == sorted(id_ for _, id_ in expected)


def test_the_goals_type_is_exact_and_its_object_and_destination_are_fuzzy():
    categories = {"mug": "vessel", "cup": "vessel"}
    similarity = Similarity(category=lambda word: categories.get(word, word))
    assert similarity(GOAL, GOAL) == pytest.approx(1.0)
    assert similarity(GOAL, replace(GOAL, object="cup")) == pytest.approx(0.5 + 0.18 + 0.2)
    assert similarity(GOAL, replace(GOAL, type="look")) == pytest.approx(0.5)
    assert similarity(GOAL, replace(GOAL, object="potato", destination="shelf")) == pytest.approx(
        0.5
    )
    assert 0.9 < similarity(GOAL, replace(GOAL, destination="cabinets")) < 1


def test_the_goals_type_alone_does_not_pass_the_threshold():
    similarity, threshold = (
        Similarity(category=lambda name: {"cup": "mug"}.get(name, name)),
        Retrieval().threshold,
    )
    for other in ("potato", "pan", "pencil"):  # one is spelled as a pen nearly is
        unlike = similarity(
            replace(GOAL, object="pen"), replace(GOAL, object=other, destination="shelf")
        )
        assert unlike == pytest.approx(0.5)
        assert unlike < threshold
    assert similarity(GOAL, replace(GOAL, object="cup", destination="shelf")) >= threshold
    assert similarity(GOAL, replace(GOAL, object="potato")) >= threshold
    assert similarity(GOAL, replace(GOAL, type="pick_cool_then_place_in_recep")) < threshold


def test_a_field_that_neither_goal_has_is_no_likeness():
    boil, same, other = (
        GoalSignature("F3", *names) for names in (("boil", "water"), ("boil",), ("mix",))
    )
    assert Similarity()(boil, boil) == Similarity()(same, same) == pytest.approx(1.0)
    assert Similarity()(same, other) == pytest.approx(0.5), (
        "none of them has a destination, but that says nothing"
    )


def test_what_the_threshold_keeps_out_is_named_as_such():
    other = replace(
        lesson("open fridge 1", "a"),
        goal_signature=GoalSignature("look_at_obj_in_light", "pen"),
        id="x",
    )
    walk = EpisodicMemory([other]).recall(Kind.FAILURE, GOAL, Retrieval())
    assert list(walk) == []
    (missed,) = walk.missed(3)
    assert (missed.entry.id, missed.score, missed.verdict.fate) == ("x", 0.0, "below θ")


def test_rank_follows_score_weight_and_evidence():
    seen_often = SuccessSnippet(
        GOAL,
        STATE,
        "taken",
        ("a",),
        origins=frozenset(Origin("e", n) for n in range(5)),
        id="often",
    )
    seen_once = SuccessSnippet(
        GOAL, STATE, "taken", ("b",), origins=frozenset({Origin("e", 1)}), id="once"
    )
    unlike = replace(seen_once, goal_signature=replace(GOAL, object="potato"), id="unlike")
    memory = EpisodicMemory([unlike, seen_once, seen_often])
    assert [candidate.entry.id for candidate in memory.recall(Kind.SUCCESS, GOAL, Retrieval())] == [
        "often",
        "once",
        "unlike",
    ]


def test_of_an_unknown_goal_nothing_is_recalled():
    unknown = GoalSignature("unknown")
    memory = EpisodicMemory([replace(lesson("open fridge 1", "a"), goal_signature=unknown, id="x")])
    assert Similarity()(unknown, unknown) == 0.0
    assert list(memory.recall(Kind.FAILURE, unknown, Retrieval())) == []


def test_weights_that_do_not_add_up_are_refused():
    with pytest.raises(InputError, match="add up to 1"):
        Similarity(type=0.9)


def test_an_entry_knows_the_last_round_that_observed_it():
    origins = {Origin("round2/a", 1), Origin("round10/b", 3), Origin("c", 1)}
    schema = VerifiedSchema("open <x>", "open", origins=frozenset(origins))
    assert schema.last_round == 10
    assert VerifiedSchema("open <x>", "open").last_round == 0
