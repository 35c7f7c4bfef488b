"""One step, whole: what comes to mind, what is left of it, and the prompt made of it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from rpms.logic.belief import StateSignature
from rpms.logic.goal import Goal
from rpms.logic.rules import Tier
from rpms.paper.arbitration import Arbitration
from rpms.paper.compose import compose
from rpms.paper.condition import BASELINE, FULL, MEMORY_ONLY, RULES_ONLY, Condition
from rpms.paper.decide import Decision, decide
from rpms.paper.enforcement import Enforcement
from rpms.paper.memory import (
    CriticalFailure,
    FailureLesson,
    Kind,
    Origin,
    SuccessSnippet,
    VerifiedSchema,
    merge,
)
from rpms.paper.prompt import SHARED, Form, Layout, Part, Turn
from rpms.paper.recall import EpisodicMemory
from rpms.paper.verdict import Fate
from tests.paper.entries import OBJECTS, PLACES, TYPES, stores
from tests.paper.kitchen import COOL_APPLE, KitchenBelief, knowledge

KNOWLEDGE = knowledge()
OPENING = "You are in a kitchen. Your task is to: cool some apple and put it in countertop."
words = st.text(st.characters(codec="ascii", exclude_characters="\n"), max_size=30)
histories = st.lists(st.builds(Turn, words, words, words), max_size=6)
conditions = st.builds(
    Condition,
    st.booleans(),
    st.booleans(),
    st.sampled_from(Arbitration),
    st.booleans(),
    st.sampled_from(Layout),
)
goals = st.builds(
    Goal,
    st.sampled_from(TYPES),
    st.sampled_from(OBJECTS),
    st.just("hot"),
    st.sampled_from(PLACES),
    words,
)
beliefs = st.builds(
    KitchenBelief, st.sampled_from([None, "fridge 1"]), st.sampled_from([(), ("apple 1",)])
)
GENEROUS = knowledge(prompt=100_000)

HANDS = StateSignature.parse("holding=none")
ONCE = frozenset({Origin("e", 1)})
MEMORY = EpisodicMemory(
    [
        SuccessSnippet(
            COOL_APPLE.signature,
            HANDS,
            "taken",
            ("go to fridge 1", "open fridge 1"),
            origins=ONCE,
            id="good",
        ),
        SuccessSnippet(
            COOL_APPLE.signature,
            HANDS,
            "taken",
            ("take apple 1 from fridge 1",),
            origins=ONCE,
            id="closed",
        ),
        SuccessSnippet(
            COOL_APPLE.signature,
            StateSignature.parse("holding=apple 1"),
            "placed",
            ("open fridge 1",),
            origins=ONCE,
            id="full hand",
        ),
        FailureLesson(
            replace(COOL_APPLE.signature, type="look", object="pen"),
            HANDS,
            "open pen 1",
            "no",
            origins=ONCE,
            id="unlike",
        ),
        VerifiedSchema(
            "cool {object} with fridge 1",
            "cool",
            ("holding target object",),
            ("object cooled",),
            ONCE,
            "schema",
        ),
        CriticalFailure(
            COOL_APPLE.signature, HANDS, "eat apple 1", "never eat", origins=ONCE, id="critical"
        ),
    ]
)


def step(condition: Condition, belief: KitchenBelief, memory: EpisodicMemory = MEMORY) -> Decision:
    return decide(compose(condition, KNOWLEDGE, memory), COOL_APPLE, belief, None, OPENING, ())


def test_every_candidate_has_its_verdict():
    decision = step(FULL, KitchenBelief("fridge 1", containers={"fridge 1": False}))
    fates = {candidate.entry.id: candidate.verdict.fate for candidate in decision.candidates}
    assert fates == {
        "critical": Fate.KEPT,
        "good": Fate.KEPT,
        "closed": Fate.WARNED,
        "full hand": Fate.FILTERED,
        "unlike": Fate.BELOW,
        "schema": Fate.KEPT,
    }
    (warned,) = [candidate for candidate in decision.candidates if candidate.entry.id == "closed"]
    assert (warned.verdict.rule, warned.verdict.fact) == ("E-TAKE", "fridge 1 is closed")
    assert {candidate.entry.id for candidate in decision.memories} == {
        "critical",
        "good",
        "closed",
        "schema",
    }


def test_the_injected_blocks_have_the_shape_of_the_papers_listings():
    text = step(FULL, KitchenBelief("fridge 1", containers={"fridge 1": False})).prompt.text
    for expected in (
        "[Current State]\n  Holding: nothing",
        "[Task Goal]\n  Goal: cool some apple and put it in countertop.\n",
        "\n  Type: pick_cool_then_place_in_recep\n  Current sub-goal: find_object - apple\n  Progress: 0%",
        "[RULES - CRITICAL, Always Follow]\n=== Universal Principles ===\n  [U-STATE-001] Before any action",
        "=== Domain Knowledge ===\n  [D-LOC-001] Food items commonly in",
        "=== Environment-Specific ===",
        "  COOL:\n    Syntax: cool <object> with <place>\n    Needs: holding(object); at(place); kind(place, fridge)\n",
        "    CRITICAL: Single-step atomic action. Object stays in hand.",
        "[Task-Specific Rules]\n  - S-002: Hands empty - can pick up an object",
        "[Past Experience - Learned from History]\n  AVOID [CRITICAL]: eat apple 1\n    Rule: never eat\n",
        "\n  OK: taken: go to fridge 1 -> open fridge 1",
    ):
        assert expected in text
    assert "D-LOC-003" not in text, "what is known of electronics is no use for an apple"


def test_decide_is_algorithm_1_from_the_prior_belief():
    mind = compose(FULL, KNOWLEDGE, MEMORY)
    history = [Turn(OPENING, "go to fridge 1")]
    decision = decide(
        mind, COOL_APPLE, KitchenBelief(), "go to fridge 1", "You arrive at fridge 1.", history
    )
    assert decision.belief.location == "fridge 1"
    assert str(decision.goal_signature) == "pick_cool_then_place_in_recep:apple:cool:countertop"
    assert str(decision.state_signature) == "holding=none"
    assert {rule.id for rule in decision.rules.domain} == {"D-LOC-001", "S-002", "D-COOL-001"}


def test_the_2x2_conditions_show_what_they_name():
    belief = KitchenBelief()
    shown = {
        name: {block.part for block in step(condition, belief).prompt.injected()}
        for name, condition in zip("ABCD", (BASELINE, RULES_ONLY, MEMORY_ONLY, FULL), strict=True)
    }
    state, rules = (
        {Part.GOAL, Part.BELIEF},
        {Part.UNIVERSAL, Part.DOMAIN, Part.ENVIRONMENT, Part.SITUATION},
    )
    assert shown == {
        "A": set(),
        "B": state | rules,
        "C": state | {Part.MEMORY},
        "D": state | rules | {Part.MEMORY},
    }


def test_filtering_can_be_switched_off_and_arbitration_needs_rules():
    closed = KitchenBelief("fridge 1", containers={"fridge 1": False})
    unfiltered = step(replace(FULL, state_filter=False, arbitration=Arbitration.NONE), closed)
    assert {candidate.entry.id for candidate in unfiltered.memories} >= {
        "good",
        "closed",
        "full hand",
    }
    assert {candidate.entry.id for candidate in step(MEMORY_ONLY, closed).memories} == {
        "critical",
        "good",
        "closed",
        "schema",
    }


@given(conditions, goals, beliefs, histories, stores, words)
def test_the_baseline_prompt_is_the_same_prompt_with_blocks_left_out(
    condition, goal, belief, history, store, observation
):
    memory = EpisodicMemory(merge(store))
    rich = decide(
        compose(condition, GENEROUS, memory), goal, belief, None, observation, history
    ).prompt
    baseline = replace(condition, rules=False, memory=False)
    plain = decide(
        compose(baseline, GENEROUS, memory), goal, belief, None, observation, history
    ).prompt
    assert plain == rich.without(set(Part) - SHARED)
    assert {block.part for block in plain.blocks} <= SHARED


@given(histories, words)
def test_the_transcript_of_a_step_is_the_start_of_the_next_steps(history, observation):
    mind = compose(replace(BASELINE, layout=Layout.CACHED), GENEROUS, EpisodicMemory())
    now = decide(mind, COOL_APPLE, KitchenBelief(), None, observation, history).prompt.text
    after = decide(
        mind, COOL_APPLE, KitchenBelief(), None, "next", [*history, Turn(observation, "go")]
    ).prompt.text
    assert after.startswith(now)


@given(st.integers(1, 400), histories, stores)
def test_history_gives_way_first_then_memories_then_rules_and_nothing_else(limit, history, store):
    memory = EpisodicMemory(merge(store))
    tight = decide(
        compose(FULL, knowledge(prompt=limit), memory),
        COOL_APPLE,
        KitchenBelief(),
        None,
        OPENING,
        history,
    ).prompt
    whole = decide(
        compose(FULL, GENEROUS, memory), COOL_APPLE, KitchenBelief(), None, OPENING, history
    ).prompt
    parts = {block.part: block for block in tight.blocks}
    full = {block.part: block for block in whole.blocks}
    order = [Part.HISTORY, Part.MEMORY, Part.DOMAIN, Part.UNIVERSAL, Part.ENVIRONMENT]
    for part in set(full) - set(order):
        assert parts[part] == full[part]
    lacking = {part for part, _ in tight.no_room}
    if history:
        opening = history[0].observation if Part.HISTORY in lacking else full[Part.HISTORY].items[0]
        assert parts[Part.HISTORY].items[0] == opening, "it states the task"
    for earlier, later in pairwise(order):
        if later in lacking and earlier in full:
            assert len(parts[earlier].items if earlier in parts else ()) == (
                1 if earlier is Part.HISTORY else 0
            )
    assert tight.tokens <= limit or not parts.keys() & set(order[1:])
    assert tight.crowded == bool(lacking - {Part.HISTORY})


@given(st.integers(300, 1_200), histories, stores)
def test_all_conditions_show_the_same_turns(limit, history, store):
    memory = EpisodicMemory(merge(store))
    limited = knowledge(prompt=limit, knowledge=400)
    turns = []
    for condition in (BASELINE, RULES_ONLY, MEMORY_ONLY, FULL):
        prompt = decide(
            compose(condition, limited, memory), COOL_APPLE, KitchenBelief(), None, OPENING, history
        ).prompt
        if sum(block.tokens for block in prompt.injected()) > min(400, limit // 4):
            return  # knowledge alone takes more than what is kept for it
        turns.append([block.items for block in prompt.blocks if block.part is Part.HISTORY])
    assert turns == [turns[0]] * 4


def test_the_papers_layout_appends_knowledge_to_the_system_prompt_and_has_turns():
    mind = compose(replace(FULL, layout=Layout.PAPER, form=Form.CHAT), KNOWLEDGE, MEMORY)
    history = [
        Turn(OPENING, "go to fridge 1", "it may be there"),
        Turn("The fridge 1 is closed.", "open fridge 1"),
    ]
    messages = decide(
        mind, COOL_APPLE, KitchenBelief(), None, "It is empty.", history
    ).prompt.messages()
    assert [message.role for message in messages] == [
        "system",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    system, opening, first, second, act, last = (message.content for message in messages)
    marks = (
        "Act in a kitchen.",
        "[Current State]",
        "[Task Goal]",
        "[RULES",
        "[Task-Specific",
        "[Past Experience",
    )
    places = [system.index(mark) for mark in marks]
    assert places == sorted(places)
    assert opening.endswith(OPENING)
    assert (first, act) == (
        "Thought: it may be there\nAction: go to fridge 1",
        "Action: open fridge 1",
    )
    assert (second, last) == ("Obs: The fridge 1 is closed.", "Obs: It is empty.")


def test_a_single_message_holds_the_same_words_as_a_conversation():
    history = [Turn(OPENING, "go to fridge 1", "hm"), Turn("Closed.", "open fridge 1")]
    for layout in Layout:
        said = []
        for form in Form:
            mind = compose(replace(FULL, layout=layout, form=form), KNOWLEDGE, MEMORY)
            messages = decide(
                mind, COOL_APPLE, KitchenBelief(), None, "Empty.", history
            ).prompt.messages()
            said.append(" ".join(" ".join(message.content for message in messages).split()))
            assert len(messages) == (6 if form is Form.CHAT else 2)
        assert said[0] == said[1]


def test_a_tier_can_be_left_out():
    mind = compose(replace(FULL, tiers=(Tier.UNIVERSAL, Tier.ENVIRONMENT)), KNOWLEDGE, MEMORY)
    decision = decide(mind, COOL_APPLE, KitchenBelief(), None, OPENING, ())
    shown = {block.part for block in decision.prompt.blocks}
    assert Part.DOMAIN not in shown
    assert {Part.UNIVERSAL, Part.ENVIRONMENT} <= shown
    assert not decision.rules.domain


def test_what_the_memory_budget_has_no_room_for_is_crowded_out():
    decision = decide(
        compose(FULL, knowledge(memory=25), MEMORY), COOL_APPLE, KitchenBelief(), None, OPENING, ()
    )
    fates = [
        candidate.verdict.fate
        for candidate in decision.candidates
        if candidate.entry.id == "schema"
    ]
    assert fates == [Fate.CROWDED]
    assert "VERIFIED" not in decision.prompt.text


def test_a_memory_that_is_too_long_does_not_push_out_those_behind_it():
    long = replace(
        MEMORY.entries[0],
        actions=tuple(f"go to shelf {number}" for number in range(100)),
        id="long",
    )
    decision = decide(
        compose(FULL, KNOWLEDGE, EpisodicMemory([long, *MEMORY.entries])),
        COOL_APPLE,
        KitchenBelief(),
        None,
        OPENING,
        (),
    )
    fates = {candidate.entry.id: candidate.verdict.fate for candidate in decision.candidates}
    assert (fates["long"], fates["schema"]) == (Fate.CROWDED, Fate.KEPT)


def test_a_decision_says_where_its_search_was_cut_short():
    others = [
        replace(MEMORY.entries[2], actions=(f"open fridge {number}",), id=f"other {number}")
        for number in range(200)
    ]
    decision = decide(
        compose(FULL, KNOWLEDGE, EpisodicMemory(others)),
        COOL_APPLE,
        KitchenBelief(),
        None,
        OPENING,
        (),
    )
    assert decision.cut_short == (Kind.SUCCESS,)
    assert step(FULL, KitchenBelief()).cut_short == ()


def test_a_decision_names_what_its_prompt_leaves_out_at_a_sub_goal():
    mind = compose(FULL, KNOWLEDGE, MEMORY)
    searching = KitchenBelief(places=("fridge 1", "countertop 1"))
    compact = compose(replace(FULL, enforcement=Enforcement(compact=True)), KNOWLEDGE, MEMORY)
    narrow = decide(compact, COOL_APPLE, searching, None, OPENING, ())
    whole = decide(mind, COOL_APPLE, searching, None, OPENING, ())
    assert whole.left_out == ()
    assert narrow.rules == whole.rules
    active = [rule.id for rule in whole.rules.rules] + [
        schema.name for schema in whole.rules.environment
    ]
    assert [name for name in active if name not in narrow.left_out] == ["D-LOC-001", "S-002"]
    assert "S-002" in narrow.prompt.text, "a rule with a condition is shown while it holds"
    for rule in whole.rules.rules:
        assert (rule.id in narrow.prompt.text) == (rule.id not in narrow.left_out)


def test_text_from_outside_is_data():
    evil = "{0.__class__} %s <script> {goal} \\1"
    decision = decide(
        compose(FULL, KNOWLEDGE, MEMORY),
        replace(COOL_APPLE, text=evil),
        KitchenBelief(),
        evil,
        evil,
        [Turn(evil, evil, evil)],
    )
    assert decision.prompt.text.count(evil) == 5
