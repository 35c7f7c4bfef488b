"""Goals are refuted: what held while the game went on is no goal, however many wins share it."""

from __future__ import annotations

from pathlib import Path

from rpms.induction.conclusions.goal_models import Makeable, goal_model
from rpms.induction.evidence.vocabulary import Vocabulary
from rpms.induction.evidence.wants import GoalBook, State, Win
from rpms.logic.facts import Atom
from rpms.store.evidence import Witness
from tests.induction.test_rules_learn import learn

HOT, IN, AT = Atom("hot", ("x",)), Atom("in", ("x", "p")), Atom("at", ("p",))
MADE = Makeable(frozenset({"hot", "in", "at"}), frozenset({"at"}))


def book(wins: list[set[Atom]], went_on: list[set[Atom]]) -> GoalBook:
    found = GoalBook("heat", Vocabulary({}), episodes=20)
    named = {"x": "mug 1", "p": "desk 1"}
    for number, facts in enumerate(wins):
        own = {atom.bind(named): step for step, atom in enumerate(sorted(facts, key=str))}
        found.wins.append(Win((frozenset(facts),), own, own, (named,), Witness(str(number), 9)))
    for facts in went_on:
        found.went_on[frozenset(facts)] = [Witness("on", 1)]
        found.until_then[frozenset(facts)] = {frozenset(facts)}
    return found


def wanted(found: GoalBook) -> State | None:
    model = goal_model(found, MADE)
    return model.state if model is not None and model.stands else None


def test_a_win_that_the_belief_did_not_see_makes_no_goal_too_short() -> None:
    """Some games are won before the last put: a thing stood in two places.

    Then only `hot` was known to hold.
    """
    found = book([{HOT, IN, AT}] * 7 + [{HOT}], [{HOT}, {HOT, AT}])
    assert wanted(found) == {HOT, IN, AT}
    model = goal_model(found, MADE)
    assert model is not None
    assert (model.wins, [each.episode for each in model.holds[0].counterexamples]) == (7, ["7"])


def test_without_a_refutation_all_wins_count() -> None:
    assert wanted(book([{HOT, IN}] * 7 + [{HOT}], [{IN}])) == {HOT}


def test_what_held_in_every_win_and_while_the_game_went_on_is_no_goal() -> None:
    found = book([{HOT, AT}] * 5, [{HOT, AT, IN}])
    assert wanted(found) is None
    model = goal_model(found, MADE)
    assert model is not None
    assert model.refuted == (Witness("on", 1),)


def test_a_goal_with_too_many_exceptions_is_none() -> None:
    assert wanted(book([{HOT, IN}] * 3 + [{HOT}] * 3, [{HOT}])) is None


def test_how_the_manual_did_in_play_stands_in_the_result_and_in_the_file(tmp_path: Path) -> None:
    out = tmp_path / "manual.yaml"
    result = learn(out, 200)
    assert result.played
    text = out.read_text(encoding="utf-8")
    assert all(f"# {line}\n" in text for line in result.played)
    assert all(line.startswith("NOT WON IN PLAY") for line in result.played if "won 0 of" in line)
