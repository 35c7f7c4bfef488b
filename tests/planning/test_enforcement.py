"""Past the paper: guard, menu, loops, finer consistency and arbitration, each alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rpms.logic.belief import Situation, StateSignature
from rpms.logic.errors import InputError
from rpms.logic.rules import ActiveRules
from rpms.paper.compose import compose
from rpms.paper.condition import FULL
from rpms.paper.decide import decide
from rpms.paper.enforcement import PAPER, PRESETS, STRICT, Consistency, JudgedBy
from rpms.paper.memory import Origin, SuccessSnippet
from rpms.paper.prompt import Form, Layout, Part, Turn
from rpms.paper.recall import EpisodicMemory
from rpms.paper.review import Refusal, ask_again, review_rules
from rpms.paper.verdict import Candidate, Fate, Verdict
from rpms.paper.wording import memory_line
from rpms.planning.extension import COMPACT
from rpms.planning.from_here import degree_of_match, executable_from_here
from rpms.planning.hints import find_loop, guidance
from rpms.planning.plan_graph import Plan
from rpms.planning.remedies import review
from rpms.play.settings import Settings
from rpms.store.manual_reader import ManualText
from rpms.store.manuals import read_manual
from tests.paper.kitchen import COOL_APPLE, MANUAL, KitchenBelief, knowledge, manual

RULES = manual().active(COOL_APPLE.type, COOL_APPLE.object)
CLOSED = Situation(KitchenBelief("fridge 1", containers={"fridge 1": False}), COOL_APPLE)
HANDS = StateSignature.parse("holding=none")
ONCE = frozenset({Origin("e", 1)})


def test_the_guard_refuses_what_is_known_to_fail_and_names_a_remedy():
    refusal = review("take apple 1 from fridge 1", RULES, CLOSED)
    assert refusal is not None
    assert (refusal.reason, refusal.rule, refusal.remedy) == (
        "fridge 1 is closed",
        "E-TAKE",
        "open fridge 1",
    )
    assert ask_again("take apple 1 from fridge 1", refusal) == (
        "`take apple 1 from fridge 1` was not executed: fridge 1 is closed; first: open fridge 1. "
        "Choose another action."
    )


def test_the_guard_lets_pass_what_is_possible_and_what_is_unknown():
    for command in ("open fridge 1", "go to sink 1"):
        assert review(command, RULES, CLOSED) is None
    nowhere = Situation(KitchenBelief(), COOL_APPLE)
    assert review("open drawer 1", RULES, nowhere) is None


HOLDING = Situation(KitchenBelief("fridge 1", ("apple 1",), {"fridge 1": True}), COOL_APPLE)


def test_preconditions_do_not_forbid_what_the_world_allows():
    assert review("put apple 1 in/on fridge 1", RULES, HOLDING) is None, (
        "bad advice, but it can be done"
    )


def test_the_guard_knows_what_a_rule_certainly_forbids_and_tells_the_rule_in_words():
    refusal = review_rules("put apple 1 in/on fridge 1", RULES, HOLDING)
    assert refusal is not None
    assert (refusal.rule, refusal.remedy, refusal.forbidden) == ("D-COOL-001", "", True)
    assert ask_again("put apple 1 in/on fridge 1", refusal) == (
        "`put apple 1 in/on fridge 1` was not executed: D-COOL-001 forbids it: cool X with fridge keeps X in hand - "
        "do NOT put X in the fridge to cool it. Choose another action."
    )


def test_what_is_not_certainly_forbidden_passes():
    cooled = replace(HOLDING.belief, cool=frozenset({"apple 1"}))
    for command in (
        "put egg 1 in/on fridge 1",
        "put apple 1 in/on sink 1",
        "cool apple 1 with fridge 1",
        "dance",
    ):
        assert review_rules(command, RULES, HOLDING) is None
    assert review_rules("put apple 1 in/on fridge 1", RULES, Situation(cooled, COOL_APPLE)) is None
    assert review_rules("put apple 1 in/on fridge 1", ActiveRules(), HOLDING) is None


@pytest.mark.parametrize(
    ("condition", "forbidden"), [("hand_empty", False), ("not hand_empty", True)]
)
def test_a_rule_that_is_not_active_forbids_nothing(condition, forbidden):
    text = MANUAL.replace("text: cool X", f"when: [{condition}]\n      text: cool X")
    rules = read_manual(ManualText("kitchen.yaml", text)).active(COOL_APPLE.type, COOL_APPLE.object)
    assert bool(review_rules("put apple 1 in/on fridge 1", rules, HOLDING)) is forbidden


ROOMY = MANUAL.replace(
    "environment:\n  go:\n    syntax: go to <place>\n",
    """environment:
  shut: {syntax: shut <place>, preconditions: [open(place)], effects: [not open(place)]}
  look: {syntax: look at <thing>, preconditions: [holding(thing) or at(thing)]}
  go:
    syntax: go to <place>
    preconditions: ['kind(place, fridge) or kind(place, sink)']
""",
)
"""A kitchen in which nothing but fridges and sinks can be gone to, and doors can be shut."""


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("open fridge 2", "you are not at fridge 2; first: go to fridge 2"),
        ("open moon 1", "not kind(moon 1, fridge)"),
        ("take apple 1 from moon 1", "not kind(moon 1, fridge)"),
        ("look at sink 1", "you are not at sink 1; first: go to sink 1"),
        ("shut fridge 1", "fridge 1 is closed"),
        ("take apple 1 from fridge 1", "fridge 1 is closed; first: open fridge 1"),
        ("take apple 1 from fridge 2", "you are not at fridge 2; first: go to fridge 2"),
        ("cool apple 1 with sink 1", "not kind(sink 1, fridge)"),
    ],
)
def test_a_reason_is_the_one_that_counts_and_no_remedy_undoes_what_was_asked_for(command, text):
    rules = read_manual(ManualText("kitchen.yaml", ROOMY)).active(
        COOL_APPLE.type, COOL_APPLE.object
    )
    refusal = review(command, rules, CLOSED)
    assert refusal is not None
    assert refusal.text == text


def test_a_manual_without_schemas_makes_the_guard_inert():
    assert review("dance", ActiveRules(), CLOSED) is None


def test_a_repeated_failure_and_a_circle_of_states_are_named():
    failing = [Turn("o", "open pen 1", failed=True)] * 2
    assert "has failed twice" in find_loop(failing, "")
    circle = [
        Turn("o", action, state=state) for action, state in (("go to a", "A"), ("go to b", "B")) * 3
    ]
    assert "Tried in vain: go to a, go to b" in find_loop(circle, "A")
    assert find_loop([Turn("o", "go to a", state="A"), Turn("o", "go to b", state="B")], "C") == ""
    before = [Turn("o", "take pen 1 from desk 1", state="Z")]
    assert "take pen" not in find_loop(before + circle, "A"), "what led here was not in vain"
    assert "held no action twice" in find_loop([Turn("o", "", failed=True)] * 2, "")


def test_what_a_model_rambles_is_not_repeated_to_it():
    ramble = "go to " + "somewhere else " * 30
    failing, circle = [Turn("o", ramble, failed=True)] * 2, [Turn("o", ramble, state="A")] * 3
    told = (find_loop(failing, ""), find_loop(circle, "A"), *guidance(Plan(), failing, ""))
    assert all("…" in text and len(text) < 250 for text in told)
    refusal = Refusal(f"`{ramble}` is no known action", "")
    assert len(ask_again(ramble, refusal)) < 600
    assert ask_again("", refusal).startswith("Your answer was not executed")


def snippet(*actions: str, id_: str = "s") -> SuccessSnippet:
    return SuccessSnippet(COOL_APPLE.signature, HANDS, "taken", actions, origins=ONCE, id=id_)


def test_consistency_by_preconditions_follows_a_snippet_from_here():
    good, bad = (
        snippet("open fridge 1", "take apple 1 from fridge 1"),
        snippet("take apple 1 from fridge 1"),
    )
    kept, filtered = (
        next(executable_from_here([Candidate(entry, 1, 1, Verdict(Fate.KEPT))], CLOSED, RULES))
        for entry in (good, bad)
    )
    assert (kept.verdict.fate, filtered.verdict.fate) == (Fate.KEPT, Fate.FILTERED)
    assert (
        filtered.verdict.reason
        == "`take apple 1 from fridge 1` could not be done from here: fridge 1 is closed"
    )
    assert (filtered.verdict.rule, filtered.verdict.fact) == ("E-TAKE", "fridge 1 is closed")


def test_of_what_is_consistent_the_best_match_ranks_first():
    known, unknown = (
        snippet("open fridge 1", id_="z"),
        snippet("go to drawer 1", "open drawer 1", id_="a"),
    )
    assert degree_of_match(known, RULES, CLOSED) > degree_of_match(unknown, RULES, CLOSED)
    beyond = replace(PAPER, consistency=Consistency.PRECONDITION)
    mind = compose(replace(FULL, enforcement=beyond), knowledge(), EpisodicMemory([known, unknown]))
    decision = decide(mind, COOL_APPLE, CLOSED.belief, None, "o", ())
    assert [candidate.entry.id for candidate in decision.memories] == ["z", "a"]


def test_arbitration_by_action_cuts_what_conflicts_and_keeps_the_rest():
    mixed = snippet("go to fridge 1", "take apple 1 from fridge 1", "open fridge 1")
    belief = KitchenBelief("sink 1", containers={"fridge 1": False})

    def judged_by(how):
        condition = replace(FULL, enforcement=replace(PAPER, judged_by=how))
        return compose(condition, knowledge(), EpisodicMemory([mixed]))

    fine = judged_by(JudgedBy.ACTION)
    (warned,) = decide(judged_by(JudgedBy.ENTRY), COOL_APPLE, belief, None, "o", ()).candidates
    (dropped,) = decide(judged_by(JudgedBy.HERE), COOL_APPLE, belief, None, "o", ()).candidates
    (cut,) = decide(fine, COOL_APPLE, belief, None, "o", ()).candidates
    assert (warned.verdict.fate, dropped.verdict.fate, cut.verdict.fate) == (
        Fate.WARNED,
        Fate.DROPPED,
        Fate.CUT,
    )
    assert cut.entry.actions == ("go to fridge 1", "open fridge 1")
    assert "take apple 1 from fridge 1" in cut.verdict.reason
    assert memory_line(cut).endswith("[cut: take apple 1 from fridge 1]")
    assert (
        "[cut: take apple 1 from fridge 1]"
        in decide(fine, COOL_APPLE, belief, None, "o", ()).prompt.text
    )


def test_the_paper_preset_is_the_paper_exactly():
    plain = compose(FULL, knowledge(), EpisodicMemory())
    explicit = compose(replace(FULL, enforcement=PRESETS["paper"]), knowledge(), EpisodicMemory())
    one, other = (
        decide(mind, COOL_APPLE, CLOSED.belief, None, "o", ()).prompt for mind in (plain, explicit)
    )
    assert one == other
    assert not {Part.MENU, Part.NOTICE} & {block.part for block in one.blocks}


def test_the_strict_preset_shows_menu_and_notice():
    mind = compose(replace(FULL, enforcement=STRICT), knowledge(), EpisodicMemory())
    history = [Turn("o", "open pen 1", failed=True)] * 2
    decision = decide(
        mind, COOL_APPLE, replace(CLOSED.belief, places=("sink 1",)), None, "o", history
    )
    heading = "[Possible Actions - choose the one that the goal needs now]"
    assert f"{heading}\n  1. open fridge 1 (look for apple)" in decision.prompt.text
    assert "  Now: open fridge 1 to look for apple" in decision.prompt.text
    assert "has failed twice in a row" in decision.prompt.text


def test_with_a_menu_the_goal_stands_beside_it_and_the_example_is_one_of_choosing():
    style = knowledge().style
    rich = replace(
        knowledge(), style=replace(style, wording=replace(style.wording, choosing="Choose."))
    )
    for layout in Layout:
        shown = []
        for beyond in (PAPER, replace(PAPER, menu=3)):
            mind = compose(replace(FULL, enforcement=beyond, layout=layout), rich, EpisodicMemory())
            shown.append(decide(mind, COOL_APPLE, CLOSED.belief, None, "o", ()).prompt)
        paper, menu = ([block.part for block in prompt.blocks] for prompt in shown)
        assert paper == [part for part in layout.value if part in paper]
        assert menu[-2:] == [Part.GOAL, Part.MENU]
        assert [prompt.text.count("Choose.") for prompt in shown] == [0, 1]
        noticed = shown[1].noticing("no", "[Notice]")
        assert [block.part for block in noticed.blocks][-3:] == [Part.GOAL, Part.NOTICE, Part.MENU]


def test_only_recent_turns_are_shown_and_without_their_thoughts():
    history = [Turn(f"seen {n}", f"go to drawer {n}", f"thinking {n}") for n in range(6)]
    texts, cuts = [], []
    for turns in (0, 2):
        mind = compose(
            replace(FULL, enforcement=replace(PAPER, recent=turns)), knowledge(), EpisodicMemory()
        )
        prompt = decide(mind, COOL_APPLE, CLOSED.belief, None, "o", history).prompt
        texts.append(prompt.text)
        cuts.append([item for part, item in prompt.cut if part is Part.HISTORY])
    assert all(f"Thought: thinking {n}" in texts[0] for n in range(6))
    assert "thinking" not in texts[1]
    assert [f"seen {n}\n" in texts[1] for n in range(6)] == [True, False, False, False, True, True]
    assert (len(cuts[0]), len(cuts[1])) == (0, 3)


@pytest.mark.parametrize("turns", range(1, 8))
def test_no_action_stands_beside_an_observation_that_did_not_follow_it(turns):
    history = [Turn(f"seen {n}", f"go to drawer {n}") for n in range(6)]
    mind = compose(
        replace(FULL, enforcement=replace(PAPER, recent=turns)), knowledge(), EpisodicMemory()
    )
    prompt = decide(mind, COOL_APPLE, CLOSED.belief, None, "seen 6", history).prompt
    text = prompt.text
    assert "seen 0" in text, "the opening states the task"
    for n in range(6):
        assert (
            f"Action: go to drawer {n}\n" not in text
            or f"Action: go to drawer {n}\nObs: seen {n + 1}" in text
        )
    assert text.count("Action: go to drawer") == (turns if turns < 5 else 6)
    _, *chat = replace(prompt, form=Form.CHAT).messages()
    assert [message.role for message in chat] == [*["user", "assistant"] * (len(chat) // 2), "user"]
    assert len(chat) // 2 == (turns if turns < 5 else 6)


def test_an_unknown_preset_is_one_line():
    with pytest.raises(InputError, match="choose one of paper, strict"):
        Settings.read({"preset": "lenient"})


def test_compact_blocks_stay_within_their_limit_and_what_was_cut_is_told():
    memory = EpisodicMemory([snippet(*[f"go to drawer {n}"] * 12, id_=f"s{n}") for n in range(3)])
    beyond = replace(PAPER, compact=True, guidance=True, menu=5)
    mind = compose(replace(FULL, enforcement=beyond), knowledge(), memory)
    prompt = decide(mind, COOL_APPLE, CLOSED.belief, None, "o", ()).prompt
    assert sum(block.tokens for block in prompt.injected()) <= COMPACT
    assert Part.MEMORY in {part for part, _ in prompt.cut}
    without = compose(FULL, knowledge(), memory)
    assert not decide(without, COOL_APPLE, CLOSED.belief, None, "o", ()).prompt.cut
