"""A person's word on learned lines: kept beside the manual, seen in it at once, kept to when it is learned again."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from rpms.core.errors import FileError, InputError
from rpms.core.facts import Atom, Clause, Literal
from rpms.core.rules import Predicate
from rpms.learn.rules.decided import apply, in_names_of
from rpms.learn.rules.review import decide, lines_of
from rpms.learn.rules.write import wanted_sentence
from rpms.play.sources import universal_tier
from rpms.store.decisions import ReviewDecision, Reviewed, decisions_file, decisions_on, write_decisions
from rpms.store.evidence import Label, evidence_file
from rpms.store.manuals import manual_text, read_manual
from rpms.store.traces import traces_file
from tests.cli.command import Rpms, rpms  # noqa: F401  a fixture
from tests.learn.test_rules_learn import learn


@pytest.fixture
def manual(tmp_path: Path) -> Path:
    out = tmp_path / "manual.yaml"
    learn(out)
    return out


def line(manual: Path, place: str) -> Reviewed:
    return next(row for row in lines_of(manual) if row.claim.place == place)


def needs(manual: Path, name: str) -> set[str]:
    whole = read_manual(universal_tier(), manual_text(manual))
    return {str(clause) for action in whole.actions if action.name == name for clause in action.preconditions}


WARM = "environment/paint/preconditions/warm(thing)"


def test_a_rejected_line_leaves_the_manual_and_stays_out(manual: Path) -> None:
    assert needs(manual, "paint") == {"warm(thing)"}
    said = decide(manual, {line(manual, WARM).claim.id: False}, "paint dries anyway")
    assert said == [f"kept out: {WARM}"]
    assert needs(manual, "paint") == set()
    result = learn(manual, 300)
    assert needs(manual, "paint") == set()
    assert result.edits == ()
    assert result.decisions == ("0 lines accepted, 1 rejected", f"kept out: {WARM}")
    row = line(manual, WARM)
    assert (row.word, row.stands, row.claim.label) == ("rejected", False, Label.REJECTED)
    assert "paint dries anyway" in row.claim.note


def test_an_accepted_line_stays_in_though_nothing_speaks_for_it(manual: Path) -> None:
    refuted = "environment/chill/preconditions/not dark"
    assert line(manual, refuted).claim.label is Label.REFUTED
    decide(manual, {line(manual, refuted).claim.id: True})
    assert needs(manual, "chill") == {"not dark"}
    result = learn(manual, 600)
    assert needs(manual, "chill") == {"not dark"}
    assert f"kept in: {refuted}" in result.decisions
    assert line(manual, refuted).claim.label is Label.ACCEPTED
    assert {str(each.clause) for each in result.verification.blocked} == {
        "not dark"
    }  # what was kept in and is wrong is said


def test_a_decision_can_be_taken_back(manual: Path) -> None:
    before = manual.read_text(encoding="utf-8")
    decide(manual, {line(manual, WARM).claim.id: False})
    decide(manual, {line(manual, WARM).claim.id: True})
    assert needs(manual, "paint") == {"warm(thing)"}
    assert len(decisions_on(manual)) == 1
    assert read_manual(universal_tier(), manual_text(manual)).actions
    assert before.splitlines()[:2] == manual.read_text(encoding="utf-8").splitlines()[:2]


def test_edits_and_decisions_go_together(manual: Path) -> None:
    text = manual.read_text(encoding="utf-8")
    manual.write_text(
        text.replace("preconditions: [warm(thing)]", "preconditions: [warm(thing), loud]  # mine"), "utf-8"
    )
    decide(manual, {line(manual, WARM).claim.id: False})
    assert "# mine" in manual.read_text(encoding="utf-8")
    result = learn(manual, 300)
    assert needs(manual, "paint") == {"loud"}
    assert [(claim.at, claim.key) for claim in result.edits] == [(("environment", "paint"), "preconditions")]


class Killed(BaseException):
    """The end of a process, as far as its files are concerned."""


def killed(work: Callable[[], object], moment: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Do something and end it before it puts its so-manieth file in place; False where it has not so many."""
    count = 0

    def replace(file: Path, target: Path) -> Path:
        nonlocal count
        count += 1
        if count == moment:
            raise Killed
        return put_in_place(file, target)

    put_in_place = Path.replace
    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", replace)
        patch.setattr(Path, "unlink", lambda *_, **__: None)  # nobody tidies up
        try:
            work()
        except Killed:
            return True
    return False


def test_killed_between_any_two_files_it_ends_with_the_same_bytes(manual: Path, tmp_path: Path, monkeypatch) -> None:
    def work(folder: Path) -> None:
        own = folder / "manual.yaml"
        learn(own, tasks=(), runs=(traces_file(manual),))
        decide(own, {line(own, WARM).claim.id: False})
        learn(own, tasks=(), runs=(traces_file(manual),))

    def contents(folder: Path) -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in folder.iterdir()}

    work(tmp_path / "whole")
    moment = 1
    while killed(partial(work, place := tmp_path / str(moment)), moment, monkeypatch):
        assert list(place.glob(".*.part"))
        work(place)
        assert contents(place) == contents(tmp_path / "whole"), f"killed before file {moment}"
        moment += 1
    assert moment > 6


def test_what_a_kill_left_between_two_files_is_no_edit(manual: Path, monkeypatch) -> None:
    for change in (lambda: decide(manual, {line(manual, WARM).claim.id: False}), lambda: learn(manual, 400)):
        before = manual.read_bytes()
        moment = 1
        while killed(change, moment, monkeypatch):  # each time a file more is written
            assert manual.read_bytes() == before or moment > 2
            assert learn(manual, 300).edits == ()
            before = manual.read_bytes()
            moment += 1
        assert needs(manual, "paint") == set()


def test_a_rejected_action_goes_with_all_that_speaks_of_it(manual: Path) -> None:
    decide(manual, {line(manual, "environment/paint/syntax/paint <thing>").claim.id: False})
    assert needs(manual, "paint") == set()
    learn(manual, 300)
    assert "paint" not in {each.name for each in read_manual(universal_tier(), manual_text(manual)).actions}


def test_a_decision_is_found_again_by_the_command() -> None:
    decision = ReviewDecision(("environment", "heat"), "observes", "hot(x) if on(p)", False, "heat <x> with <p>")
    tree = {
        "environment": {"warm_up": {"syntax": "heat <object> with <place>", "observes": ["hot(object) if on(place)"]}}
    }
    (renamed,) = in_names_of(tree, [decision])
    assert renamed == ReviewDecision(
        ("environment", "warm_up"), "observes", "hot(object) if on(place)", False, "heat <object> with <place>"
    )
    assert apply(tree, [renamed])
    assert tree["environment"]["warm_up"] == {"syntax": "heat <object> with <place>"}


def rejecting(at: tuple[str, ...], key: str, text: str, *, accepted: bool = False) -> ReviewDecision:
    return ReviewDecision(at, key, text, accepted)


def test_every_sort_of_line_can_be_decided() -> None:
    tree = {
        "predicates": {"in": {"args": ["a", "b"], "yes": "<a> is in <b>"}, "hot": {"args": ["a"], "yes": "<a> is hot"}},
        "kinds": {
            "fits": {"yes": {"mug": ["desk", "bed"]}, "no": {"mug": ["lamp"]}},
            "heats": {"yes": ["oven"], "no": []},
        },
        "goals": {"put": {"over": {"x": "object", "p": "destination"}, "holds": ["hot(x)", "in(x, p)"]}},
        "environment": {"light": {"syntax": "light <a>"}},
        "processes": {"light_1": {"command": "light <a>", "effects": ["hot(a)"]}},
        "localities": {"mug": ["desk", "bed"]},
        "domain": {
            "ruin": {"D-RUIN-001": {"text": "Never.", "forbids": [{"action": "light", "when": ["hot(a)"]}]}},
            "goals": {"D-GOAL-001": {"text": "In the end: so. On the way there: well.", "goals": ["put"]}},
            "places": {"D-LOC-001": {"text": "", "category": "mug", "places": ["desk", "bed"]}},
        },
    }  # fmt: skip
    said = apply(
        tree,
        [
            rejecting(("kinds", "fits"), "yes", "mug, bed"),
            rejecting(("kinds", "fits"), "yes", "mug, lamp", accepted=True),
            rejecting(("kinds", "heats"), "yes", "oven"),
            rejecting(("goals", "put"), "holds", "in(x, p)"),
            rejecting(("processes", "light_1"), "effects", "hot(a)"),
            rejecting(("localities",), "mug", "desk"),
            rejecting(("environment", "light"), "forbids", "hot(a)"),
            rejecting(("kinds", "gone"), "yes", "oven", accepted=True),
        ],
    )
    assert [text.partition(":")[0] for text in said] == [
        "kept out", "kept in", "kept out", "kept out", "kept out", "kept out", "kept out",
        "could not be kept in, since what it belongs to was not learned",
    ]  # fmt: skip
    assert tree["kinds"] == {"fits": {"yes": {"mug": ["desk", "lamp"]}, "no": {}}, "heats": {"no": []}}
    assert tree["goals"] == {"put": {"over": {"x": "object"}, "holds": ["hot(x)"]}}
    assert tree["processes"] == {}
    assert tree["localities"] == {"mug": ["bed"]}
    assert tree["domain"]["ruin"] == {}
    assert tree["domain"]["goals"]["D-GOAL-001"]["text"] == "In the end: the object is hot. On the way there: well."
    assert tree["domain"]["places"]["D-LOC-001"]["text"] == "Mug is commonly in: bed"


def test_a_goal_is_said_with_one_article() -> None:
    told = {
        "in": Predicate("in", ("thing", "room"), "the <thing> is in the <room>", "the <thing> is not in a <room>"),
        "lit": Predicate("lit", ("room",), "<room> is lit", "<room> is dark"),
    }
    holds = (Clause((Literal(Atom("in", ("x", "p"))),)), Clause((Literal(Atom("in", ("y", "q")), True),)))
    assert wanted_sentence((*holds, Clause((Literal(Atom("lit", ("p",))),))), told) == (
        "In the end: the object is in the destination; another such object is not in another destination; "
        "the destination is lit."
    )


HEAD, AT = '{"type": "decisions", "version": 1}\n', '{"type": "decision", "at": ["environment", "a"], '


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is empty"),
        ('{"type": "decisions", "version": 2}', "is no decision"),
        (HEAD + '{"type": "decision", "at": [], "key": "k", "text": "t", "accepted": true}', "what it is about"),
        (HEAD + AT + '"key": "plan", "text": "((", "accepted": true}', "cannot read"),
        (HEAD + 2 * (AT + '"key": "plan", "text": "a", "accepted": true}\n'), "more than once"),
    ],
)
def test_decisions_that_cannot_be_read_are_a_mistake_with_its_line(tmp_path: Path, text: str, problem: str) -> None:
    decisions_file(tmp_path / "manual.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(FileError, match=problem):
        decisions_on(tmp_path / "manual.yaml")


def test_decisions_are_read_as_they_were_written(tmp_path: Path) -> None:
    every = (
        ReviewDecision(("environment", "a"), "plan", "x or y", True, "a <b>", "why"),
        ReviewDecision(("localities",), "mug", "desk", False),
    )
    write_decisions(tmp_path / "manual.yaml", every)
    assert decisions_on(tmp_path / "manual.yaml") == every


def test_a_decision_that_would_break_the_manual_is_refused_and_nothing_is_written(manual: Path) -> None:
    text = manual.read_text(encoding="utf-8") + "nonsense: 1\n"
    manual.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="Nothing was changed"):
        decide(manual, {line(manual, WARM).claim.id: False})
    assert manual.read_text(encoding="utf-8") == text
    assert not decisions_file(manual).exists()


def test_the_terminal_asks_for_each_line_and_keeps_each_answer(
    rpms: Rpms, manual: Path, monkeypatch: pytest.MonkeyPatch  # noqa: F811
) -> None:  # fmt: skip
    monkeypatch.setattr("sys.stdin", io.StringIO("reject\nskip\nquit\n"))
    done = rpms("rules", "review", manual, "--about", "environment/paint")
    assert "for: " in done.out
    assert "-> " in done.out
    assert [each.accepted for each in decisions_on(manual)] == [False]
    monkeypatch.setattr("sys.stdin", io.StringIO("accept\n"))
    rpms("rules", "review", manual)  # ends where the answers end
    assert [each.accepted for each in decisions_on(manual)] == [False, True]


def test_scripts_list_accept_and_reject(rpms: Rpms, manual: Path) -> None:  # noqa: F811
    id_ = line(manual, WARM).claim.id
    listed = rpms("rules", "review", manual, "--list", "--about", WARM)
    assert listed.out.startswith(f"{id_}  necessary  {WARM}  (")
    assert rpms("rules", "review", manual, "--reject", id_[:6]).out == f"kept out: {WARM}\n"
    assert rpms("rules", "review", manual, "--list", "--about", WARM).out.startswith(f"{id_}  rejected")
    assert "is no line's id" in rpms("rules", "review", manual, "--accept", "zzzzzz").line
    assert "choose one" in rpms("rules", "review", manual, "--accept", id_, "--reject", id_).line
    evidence_file(manual).unlink()
    assert "was not learned" in rpms("rules", "review", manual, "--list").line


def test_the_page_shows_lines_with_evidence_and_decisions_and_nothing_in_them_is_markup(
    rpms: Rpms, manual: Path, tmp_path: Path  # noqa: F811
) -> None:  # fmt: skip
    rpms("rules", "review", manual, "--reject", line(manual, WARM).claim.id, "--because", "<script>alert(1)</script>")
    file = evidence_file(manual)
    hostile = (
        '{"type": "claim", "at": ["environment", "<b>x"], "key": "plan", "text": "<img src=x>", "label": "possible"}'
    )
    file.write_text(file.read_text(encoding="utf-8") + hostile + "\n", encoding="utf-8")
    done = rpms("rules", "review", manual, "--page", tmp_path / "page")
    assert done.code == 0
    page = (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "<img src" not in page
    assert "&lt;img src=x&gt;" in page
    assert '<span class="tag bad">rejected</span>' in page
    assert "3 successes" in page or "successes with it" in page
