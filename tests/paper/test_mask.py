"""Hiding memories by chance: the same draw everywhere, for a whole episode, and as often as it
says.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from rpms.logic.belief import StateSignature
from rpms.paper.compose import compose
from rpms.paper.condition import FULL, MEMORY_ONLY
from rpms.paper.decide import decide
from rpms.paper.memory import Kind, Origin, SuccessSnippet
from rpms.paper.recall import EpisodicMemory
from rpms.paper.verdict import NO_MASK, Fate, Mask
from tests.paper.kitchen import COOL_APPLE, KitchenBelief, knowledge

KNOWLEDGE = knowledge()
SNIPPETS = EpisodicMemory(
    SuccessSnippet(
        COOL_APPLE.signature,
        StateSignature.parse("holding=none"),
        "taken",
        (f"go to place {number}",),
        origins=frozenset({Origin("e", 1)}),
        id=f"snippet {number:02}",
    )
    for number in range(20)
)


def decided(mask: Mask):
    mind = replace(compose(MEMORY_ONLY, KNOWLEDGE, SNIPPETS), mask=mask)
    return decide(mind, COOL_APPLE, KitchenBelief(), None, "You are in a kitchen.", [])


@given(st.integers(0, 2**63), st.text(max_size=20), st.text(max_size=20), st.floats(0, 0.9))
def test_a_draw_follows_from_seed_episode_and_entry_alone(seed, episode, entry, rate):
    assert Mask(rate, seed, episode).hides(entry) == Mask(rate, seed, episode).hides(entry)
    assert not NO_MASK.hides(entry)


def test_entries_are_hidden_as_often_as_it_says_and_otherwise_from_episode_to_episode():
    for rate in (0.2, 0.5):
        hidden = [Mask(rate, 1, f"episode {n}").hides("entry") for n in range(4000)]
        assert abs(sum(hidden) / 4000 - rate) < 0.03
    assert Mask(0.5, 1, "a") != Mask(0.5, 2, "a")
    assert [Mask(0.5, 1, "a").hides(str(n)) for n in range(64)] != [
        Mask(0.5, 2, "a").hides(str(n)) for n in range(64)
    ]


@given(st.integers(0, 1000))
def test_what_is_hidden_is_listed_and_the_next_in_rank_takes_its_place(seed):
    mask = Mask(0.5, seed, "e")
    decision = decided(mask)
    hidden = [each.entry.id for each in decision.candidates if each.verdict.fate is Fate.HIDDEN]
    shown = [each.entry.id for each in decision.memories]
    assert all(mask.hides(name) for name in hidden)
    assert not any(mask.hides(name) for name in shown)
    assert len(shown) == KNOWLEDGE.experience.retrieval.top[Kind.SUCCESS]
    assert (
        sorted(hidden + shown)
        == [entry.id for entry in SNIPPETS.entries][: len(hidden) + len(shown)]
    )
    assert not any(
        f"{SNIPPETS.entries[int(name.split()[1])].actions[0]}\n" in decision.prompt.text
        for name in hidden
    )


def test_without_a_mask_nothing_changes():
    mind = compose(FULL, KNOWLEDGE, SNIPPETS)
    assert mind.mask is NO_MASK
    assert decided(NO_MASK).candidates == decided(Mask(0.0, 5, "e")).candidates
