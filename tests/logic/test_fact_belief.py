"""A belief of bare facts, told as a manual writes them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpms.logic.belief import FactBelief
from rpms.logic.facts import Truth, parse_literal

FACTS = st.sampled_from(
    [
        f"{sign}{fact}"
        for sign in ("", "not ")
        for fact in ("at(a)", "at(_)", "in(x, a)", "in(_, a)", "in(x, _)", "dark")
    ]
)


def truth(belief: FactBelief, fact: str) -> Truth:
    return belief.truth(parse_literal(fact).atom)


def test_what_was_not_told_is_unknown():
    belief = FactBelief().learn("in(oil can, cellar)")
    assert truth(belief, "in(oil can, cellar)") is Truth.TRUE
    assert truth(belief, "in(oil can, kitchen)") is Truth.UNKNOWN
    assert truth(belief, "in(oil can)") is truth(belief, "nonsense") is Truth.UNKNOWN


def test_what_is_told_of_anything_holds_of_whatever_is_not_named_otherwise():
    belief = FactBelief().learn("not in(_, cellar)", "in(oil can, cellar)")
    assert truth(belief, "in(oil can, cellar)") is Truth.TRUE
    assert (
        truth(belief, "in(oil can ?, cellar)")
        is truth(belief, "in(matches, cellar)")
        is Truth.FALSE
    )
    assert truth(belief, "in(matches, kitchen)") is Truth.UNKNOWN
    assert truth(belief.learn("not in(_, cellar)"), "in(oil can, cellar)") is Truth.FALSE
    for told, value in (
        (("in(oil can, _)", "not in(_, cellar)"), Truth.FALSE),
        (("in(oil can, _)",), Truth.TRUE),
    ):
        assert truth(belief.learn("not in(_, cellar)", *told), "in(oil can, cellar)") is value


def test_where_one_is_and_what_one_holds_follow_from_facts():
    belief = FactBelief().learn("at(cellar)", "holding(matches)").learn("not at(_)", "at(kitchen)")
    assert (belief.location, belief.holding) == ("kitchen", ("matches",))
    assert belief.lines() == ("Holding: matches", "Location: kitchen")
    assert belief.learn("lit(kitchen)", "not lit(cellar)").lines()[2:] == ("Known: lit(kitchen)",)
    assert FactBelief(at="connected", hand="clip").learn(
        "connected(host 1)", "clip(a)"
    ).holding == ("a",)


def test_names_go_by_the_roles_they_were_seen_in():
    belief = (
        FactBelief().learn(room=["cellar"]).learn(room=["kitchen", "cellar"], thing=["matches"])
    )
    assert belief.names == {"room": ("cellar", "kitchen"), "thing": ("matches",)}
    assert list(belief.called("matches")) == ["matches"]


def test_it_is_compared_with_all_that_is_so():
    belief = FactBelief().learn("not at(_)", "at(cellar)", "lit(cellar)")
    assert belief.contradicted_by(["at(cellar)", "lit(cellar)", "in(matches, kitchen)"]) == ()
    wrong = ("at(kitchen) holds", "at(cellar) does not hold", "lit(cellar) does not hold")
    assert belief.contradicted_by(["at(kitchen)"]) == wrong


def test_a_fact_that_cannot_be_read_is_named():
    with pytest.raises(ValueError, match=r"cannot read 'at\(cellar'"):
        FactBelief().learn("at(cellar")


@given(st.lists(FACTS, max_size=8), FACTS)
def test_the_last_word_counts_and_the_belief_before_stays_as_it_was(told: list[str], last: str):
    before = FactBelief().learn(*told)
    seen = dict(before.known)
    after = before.learn(last)
    literal = parse_literal(last)
    assert after.truth(literal.atom) is Truth.of(not literal.negated)
    assert before.known == seen
    assert after.learn(last).known == after.known
