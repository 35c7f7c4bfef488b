"""Strategies that make memory entries, few enough distinct ones that they collide."""

from __future__ import annotations

from hypothesis import strategies as st

from rpms.logic.belief import StateSignature
from rpms.logic.goal import GoalSignature
from rpms.paper.memory import (
    CriticalFailure,
    Entry,
    FailureLesson,
    Origin,
    SuccessSnippet,
    VerifiedSchema,
)

TYPES = ("pick_heat_then_place_in_recep", "pick_cool_then_place_in_recep", "look_at_obj_in_light")
OBJECTS = ("apple", "egg", "mug", "")
PLACES = ("fridge", "cabinet", "")

signatures = st.builds(
    GoalSignature,
    st.sampled_from(TYPES),
    st.sampled_from(OBJECTS),
    st.just(""),
    st.sampled_from(PLACES),
)
states = st.sampled_from(["holding=none", "holding=apple 1", "holding=none|open=fridge 1", ""]).map(
    StateSignature.parse
)
origins = st.frozensets(
    st.builds(Origin, st.sampled_from("abc"), st.integers(0, 3), st.just(False)),
    min_size=1,
    max_size=4,
)
tried = st.frozensets(
    st.builds(Origin, st.sampled_from("abc"), st.integers(0, 3), st.booleans()),
    min_size=1,
    max_size=4,
)
actions = st.sampled_from(
    ["take apple 1 from fridge 1", "take apple 2 from fridge 1", "Open  fridge 1", "open fridge 1"]
)

snippets = st.builds(
    SuccessSnippet,
    signatures,
    states,
    st.sampled_from(["taken", "placed"]),
    st.lists(actions, min_size=1, max_size=2).map(tuple),
    origins=origins,
)
lessons = st.builds(
    FailureLesson,
    signatures,
    states,
    actions,
    st.sampled_from(["be there", "Be there"]),
    origins=origins,
)
schemas = st.builds(
    VerifiedSchema,
    st.sampled_from(["cool {object} with fridge 1", "open {place}"]),
    st.just("x"),
    origins=tried,
    goals=st.frozensets(signatures, max_size=3),
)
criticals = st.builds(
    CriticalFailure, signatures, states, actions, st.just("verify"), origins=origins
)
entries = st.one_of(snippets, lessons, schemas, criticals)
stores: st.SearchStrategy[list[Entry]] = st.lists(entries, max_size=12)
