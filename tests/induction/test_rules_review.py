"""Learned lines taken out and put in: seen in the manual at once, and kept when it is learned
again.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from rpms.induction.manuals.manual_review import Reviewed, decide, lines_of
from rpms.induction.manuals.write import wanted_sentence
from rpms.logic.errors import FileError, InputError
from rpms.logic.facts import Atom, Clause, Literal
from rpms.logic.rules import Predicate
from rpms.play.sources import universal_tier
from rpms.store.evidence import Claim, Evidence, Label, evidence_file, write_learned
from rpms.store.manual_reader import manual_text
from rpms.store.manuals import read_manual
from tests.cli.command import Rpms, rpms  # noqa: F401  a fixture
from tests.induction.test_rules_learn import learn


@pytest.fixture
def manual(tmp_path: Path) -> Path:
    out = tmp_path / "manual.yaml"
    learn(out)
    return out


def line(manual: Path, place: str) -> Reviewed:
    return next(row for row in lines_of(manual) if row.claim.place == place)


def needs(manual: Path, name: str) -> set[str]:
    whole = read_manual(universal_tier(), manual_text(manual))
    return {
        str(clause)
        for action in whole.actions
        if action.name == name
        for clause in action.preconditions
    }


WARM = "environment/paint/preconditions/warm(thing)"


def test_a_rejected_line_leaves_the_manual_and_stays_out(manual: Path) -> None:
    assert needs(manual, "paint") == {"warm(thing)"}
    assert decide(manual, {line(manual, WARM).claim.id: False}) == [f"taken out: {WARM}"]
    assert needs(manual, "paint") == set()
    result = learn(manual, 300)
    assert needs(manual, "paint") == set()
    assert [claim.note for claim in result.edits] == ["taken out by hand"]
    assert (line(manual, WARM).stands, line(manual, WARM).decided) == (False, True)


def test_an_accepted_line_stays_in_though_nothing_speaks_for_it(manual: Path) -> None:
    refuted = "environment/chill/preconditions/not dark"
    assert line(manual, refuted).claim.label is Label.REFUTED
    decide(manual, {line(manual, refuted).claim.id: True})
    assert needs(manual, "chill") == {"not dark"}
    result = learn(manual, 900)
    assert needs(manual, "chill") == {"not dark"}
    # what was put in and is wrong is reported
    assert {str(each.clause) for each in result.verification.blocked} == {"not dark"}


def test_a_decision_can_be_taken_back(manual: Path) -> None:
    before = read_manual(universal_tier(), manual_text(manual))
    for accepted in (False, True):
        decide(manual, {line(manual, WARM).claim.id: accepted})
    assert read_manual(universal_tier(), manual_text(manual)) == before
    assert decide(manual, {line(manual, WARM).claim.id: True}) == []


def test_a_persons_comments_stay(manual: Path) -> None:
    text = manual.read_text(encoding="utf-8")
    manual.write_text(
        text.replace("preconditions: [warm(thing)]", "preconditions: [warm(thing), loud]  # mine"),
        "utf-8",
    )
    decide(manual, {line(manual, "environment/paint/syntax/paint <thing>").claim.id: True})
    assert "# mine" in manual.read_text(encoding="utf-8")


def test_a_rejected_action_stays_out_and_can_come_back(manual: Path) -> None:
    def names() -> set[str]:
        return {each.name for each in read_manual(universal_tier(), manual_text(manual)).actions}

    action = line(manual, "environment/paint/syntax/paint <thing>").claim.id
    decide(manual, {action: False})
    learn(manual, 300)
    assert "paint" not in names()
    decide(manual, {action: True})
    assert "paint" in names()


EVERY_SORT = """
world: made_up
alone: true
predicates:
  in: {args: [a, b], yes: <a> is in <b>}
  hot: {args: [a], yes: <a> is hot}
  fits: {args: [a, b], lasting: true}
kinds:
  fits: {yes: {mug: [desk, bed]}, no: {mug: [lamp]}}
goals:
  put: {over: {x: object, p: destination}, holds: [hot(x), "in(x, p)"]}
environment:
  light: {syntax: light <a>, effects: [hot(a)]}
  move: {syntax: move <a> to <b>, preconditions: ["fits(a, b)"], effects: ["in(a, b)"]}
processes:
  light_1: {command: light <a>, effects: [hot(a)]}
localities: {mug: [desk, bed]}
domain:
  ruin: {D-RUIN-001: {text: Never., forbids: [{action: light, when: [hot(a)]}]}}
  goals: {D-GOAL-001: {text: "In the end: so.", goals: [put]}}
  places: {D-LOC-001: {text: Somewhere., category: mug, objects: [mug], places: [desk, bed]}}
"""


def test_an_entry_comes_back_though_a_person_took_out_its_whole_section(tmp_path: Path) -> None:
    claim = Claim(("processes", "light_1"), "effects", "hot(a)")
    out = tmp_path / "manual.yaml"
    write_learned(out, EVERY_SORT, Evidence("made_up", (claim,), written=EVERY_SORT))
    section = "processes:\n  light_1: {command: light <a>, effects: [hot(a)]}\n"
    out.write_text(EVERY_SORT.replace(section, ""), "utf-8")
    assert decide(out, {claim.id: True}) == [f"put in: {claim.place}"]
    processes = read_manual(universal_tier(), manual_text(out)).lore.processes
    assert [process.name for process in processes] == ["light_1"]


def test_a_rule_that_forbids_an_action_twice_goes_with_it(tmp_path: Path) -> None:
    claim = Claim(("environment", "light"), "syntax", "light <a>")
    ban = "{action: light, when: [hot(a)]}"
    text = EVERY_SORT.replace(ban, f"{ban}, {{action: light, when: [not hot(a)]}}")
    text = text.replace("processes:\n  light_1: {command: light <a>, effects: [hot(a)]}\n", "")
    out = tmp_path / "manual.yaml"
    write_learned(out, text, Evidence("made_up", (claim,), written=text))
    assert decide(out, {claim.id: False}) == [f"taken out: {claim.place}"]
    assert "D-RUIN-001" not in out.read_text("utf-8")


def test_every_sort_of_line_can_be_taken_out(tmp_path: Path) -> None:
    claims = (
        Claim(("kinds", "fits"), "yes", "mug, bed"),
        Claim(("goals", "put"), "holds", "in(x, p)"),
        Claim(("processes", "light_1"), "effects", "hot(a)"),
        Claim(("localities",), "mug", "desk"),
        Claim(("environment", "light"), "forbids", "hot(a)"),
        Claim(("environment", "light"), "syntax", "light <a>"),
    )
    out = tmp_path / "manual.yaml"
    write_learned(out, EVERY_SORT, Evidence("made_up", claims, written=EVERY_SORT))
    assert all(row.stands for row in lines_of(out))
    for claim in claims:
        assert decide(out, {claim.id: False}) == [f"taken out: {claim.place}"]
    assert not any(row.stands for row in lines_of(out))
    manual = read_manual(universal_tier(), manual_text(out))
    assert [dict(each.over) for each in manual.purposes] == [{"x": "object"}]
    assert manual.lore.localities == {"mug": ("bed",)}
    assert "Mug is commonly in: bed" in out.read_text(encoding="utf-8")
    assert [action.name for action in manual.actions] == ["move"]
    assert decide(out, {claims[-1].id: True, claims[0].id: True})
    assert [row.claim.key for row in lines_of(out) if row.stands] == ["yes", "syntax"]


def test_an_accepted_place_comes_back_though_all_places_were_taken_out(tmp_path: Path) -> None:
    claim = Claim(("localities",), "mug", "desk")
    out = tmp_path / "manual.yaml"
    write_learned(out, EVERY_SORT, Evidence("made_up", (claim,), written=EVERY_SORT))
    out.write_text(
        out.read_text(encoding="utf-8").replace("localities: {mug: [desk, bed]}\n", ""),
        encoding="utf-8",
    )
    assert decide(out, {claim.id: True})
    assert read_manual(universal_tier(), manual_text(out)).lore.localities == {"mug": ("desk",)}


def test_a_decision_that_would_break_the_manual_is_refused_and_nothing_is_written(
    manual: Path,
) -> None:
    warm = line(manual, WARM).claim.id
    text = manual.read_text(encoding="utf-8") + "nonsense: 1\n"
    manual.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="Nothing was changed"):
        decide(manual, {warm: False})
    assert manual.read_text(encoding="utf-8") == text


def test_empty_sections_and_a_text_for_a_list_are_sound_manuals(tmp_path: Path) -> None:
    claims = (
        Claim(("kinds", "fits"), "yes", "mug, bed"),
        Claim(("localities",), "mug", "desk"),
        Claim(("environment", "light"), "forbids", "hot(a)"),
        Claim(("environment", "light"), "effects", "hot(a)"),
        Claim(("environment", "light"), "preconditions", "lit"),
    )
    out = tmp_path / "manual.yaml"
    write_learned(out, EVERY_SORT, Evidence("made_up", claims, written=EVERY_SORT))
    text = EVERY_SORT.replace("predicates:", "predicates:\n  lit:").replace(
        "effects: [hot(a)]}", "effects: hot(a)}", 1
    )
    for section in ("kinds", "processes", "localities", "domain"):
        text = re.sub(rf"^{section}:.*\n(  .*\n)*", f"{section}:\n", text, flags=re.MULTILINE)
    text += "  ruin:\n  goals: {D-GOAL-001: A sentence.}\n"
    out.write_text(text.replace('"fits(a, b)"', ""), encoding="utf-8")
    assert [row.stands for row in lines_of(out)] == [False, False, False, True, False]
    assert decide(out, {claims[1].id: True, claims[-1].id: True})
    manual = read_manual(universal_tier(), manual_text(out))
    assert manual.lore.localities == {"mug": ("desk",)}
    assert [list(map(str, action.preconditions)) for action in manual.actions] == [["lit"], []]


@pytest.mark.parametrize(
    "at", [[], ["world"], ["environment"], ["environment", "light", "more"], ["elsewhere", "x"]]
)
def test_evidence_of_what_no_manual_has_is_a_mistake_with_its_line(
    tmp_path: Path, at: list[str]
) -> None:
    out = tmp_path / "manual.yaml"
    claim = Claim(("environment", "light"), "effects", "hot(a)")
    write_learned(out, EVERY_SORT, Evidence("made_up", (claim,), written=EVERY_SORT))
    file = evidence_file(out)
    told = file.read_text(encoding="utf-8").replace('["environment", "light"]', json.dumps(at))
    file.write_text(told, encoding="utf-8")
    with pytest.raises(FileError, match=r":2: .*at: should be"):
        lines_of(out)


def test_a_goal_is_said_with_one_article() -> None:
    told = {
        "in": Predicate(
            "in",
            ("thing", "room"),
            "the <thing> is in the <room>",
            "the <thing> is not in a <room>",
        ),
        "lit": Predicate("lit", ("room",), "<room> is lit", "<room> is dark"),
    }
    holds = (
        Clause((Literal(Atom("in", ("x", "p"))),)),
        Clause((Literal(Atom("in", ("y", "q")), True),)),
    )
    assert wanted_sentence((*holds, Clause((Literal(Atom("lit", ("p",))),))), told) == (
        "In the end: the object is in the destination; another such object is not in another destination; "
        "the destination is lit."
    )


def test_scripts_list_accept_and_reject(rpms: Rpms, manual: Path) -> None:  # noqa: F811
    id_ = line(manual, WARM).claim.id
    listed = rpms("rules", "review", manual, "--about", WARM)
    assert listed.out.startswith(f"{id_}  necessary  {WARM}  (")
    assert "for: " in listed.out
    assert "-> " in listed.out
    assert rpms("rules", "review", manual, "--reject", id_[:6]).out == f"taken out: {WARM}\n"
    assert rpms("rules", "review", manual, "--about", WARM).out.startswith(f"{id_}  taken out")
    assert "is no line's id" in rpms("rules", "review", manual, "--accept", "zzzzzz").line
    assert "choose one" in rpms("rules", "review", manual, "--accept", id_, "--reject", id_).line
    evidence_file(manual).unlink()
    assert "was not learned" in rpms("rules", "review", manual).line
