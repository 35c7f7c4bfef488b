"""From interaction to a manual on disk: what is written, what is kept of edits, what goes on
after a crash.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from rpms.induction.conclusions.action_model import ActionModel
from rpms.induction.conclusions.conclude import Learned
from rpms.induction.conclusions.learned_manual import sampled
from rpms.induction.conclusions.ledger import vocabulary_of
from rpms.induction.evidence.recorded_episodes import recorded
from rpms.induction.exploring.agenda import Exploring
from rpms.induction.learn import RulesLearned, RulesPlan, learn_rules
from rpms.induction.manuals.hand_edits import merged
from rpms.induction.manuals.write import manual_tree
from rpms.induction.rehearse import PLAYED
from rpms.logic.errors import FileError, InputError, WorldError
from rpms.logic.facts import Atom, Literal
from rpms.play.sources import universal_tier
from rpms.store.evidence import (
    Label,
    evidence_file,
    keeping,
    read_evidence,
    read_traces,
    sealed_line,
    traces_file,
)
from rpms.store.manual_reader import ManualText, manual_text
from rpms.store.manuals import read_manual
from rpms.store.yaml_files import manual_yaml
from rpms.worlds.base import Outcome, Setting
from rpms.worlds.registry import find_world
from tests.cli.command import Rpms, rpms  # noqa: F401  a fixture
from tests.induction.made_up import Action, Domain, MadeUp, MadeUpGame
from tests.own_world import new  # noqa: F401  a fixture

RED, WARM, DARK = Atom("red", ("x",)), Atom("warm", ("x",)), Atom("dark")
WORLD = MadeUp(
    Domain(
        (
            Action("paint", (Literal(WARM),), (Literal(RED),)),
            Action("chill", (), (Literal(WARM, True),)),
            Action("heat", (Literal(DARK, True),), (Literal(WARM), Literal(RED, True))),
        )
    )
)


def learn(out: Path, steps: int = 250, **how: object) -> RulesLearned:
    given = {"tasks": tuple(WORLD.tasks("train", Setting())), **how}
    # type: ignore[arg-type]
    return learn_rules(
        RulesPlan(WORLD, split="train", exploring=Exploring(steps=steps), **given), out
    )


def test_the_manual_says_what_the_world_needs_with_the_steps_that_show_it(tmp_path: Path) -> None:
    out = tmp_path / "manual.yaml"
    learn(out)
    manual = read_manual(universal_tier(), manual_text(out))
    needs = {
        action.name: {str(clause) for clause in action.preconditions} for action in manual.actions
    }
    assert needs["paint"] == {"warm(thing)"}
    assert needs["heat"] == {"not dark"}
    claim = next(
        claim
        for claim in read_evidence(evidence_file(out)).claims
        if claim.place == "environment/paint/preconditions/warm(thing)"
    )
    assert claim.label is Label.NECESSARY
    assert claim.against == 0
    traces = {trace.episode: trace for trace in read_traces(traces_file(out))[1]}
    first = claim.witnesses[0]
    shown = traces[first.episode].steps[first.step - 1]
    assert shown.command.startswith("paint")
    assert WORLD.infeasible(shown.answer)


def test_a_game_that_cannot_begin_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[MadeUpGame] = []

    def broken(_game: MadeUpGame) -> Outcome:
        raise WorldError("no such room")

    monkeypatch.setattr(MadeUpGame, "reset", broken)
    monkeypatch.setattr(MadeUpGame, "close", lambda game: closed.append(game))  # noqa: PLW0108  bound as a method
    with pytest.raises(
        InputError, match=r"the world failed in each of (\d+) episodes: no such room"
    ) as error:
        learn(tmp_path / "manual.yaml")
    assert f"of {len(closed)} episodes" in str(error.value)


def test_an_exploration_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    out = tmp_path / "manual.yaml"
    learn(out, 60)
    before = read_traces(traces_file(out))[1]
    with traces_file(out).open("a", encoding="utf-8") as stream:
        stream.write('{"type": "episode", "epi')  # a line that a crash cut off
    result = learn(out, 300)
    after = read_traces(traces_file(out))[1]
    assert after[: len(before)] == before
    assert sum(len(trace.steps) for trace in after) >= 280
    assert result.evidence.kept_aside >= 1


def test_play_that_was_stopped_goes_on_as_it_would_have(tmp_path: Path) -> None:
    whole, cut = tmp_path / "whole.yaml", tmp_path / "cut.yaml"
    kept = learn(whole, 120).traces
    lines = traces_file(whole).read_text(encoding="utf-8").splitlines(keepends=True)
    traces_file(cut).write_text("".join(lines[:-1]), encoding="utf-8")
    assert learn(cut, 120).traces == kept
    assert [line for line in cut.read_text().splitlines() if "evidence" not in line] == [
        line for line in whole.read_text().splitlines() if "evidence" not in line
    ]


def test_a_type_that_the_manual_loses_is_explored_with_the_steps_that_are_left(
    tmp_path: Path,
) -> None:
    result = learn(tmp_path / "manual.yaml", 60)
    played = next(
        place for place, trace in enumerate(result.traces) if trace.episode.startswith(PLAYED)
    )
    after = result.traces[played + 1 :]
    assert not result.traces[played].won
    assert after
    assert not any(trace.episode.startswith(PLAYED) for trace in after)


def test_episodes_plan_with_what_may_be_needed_as_often_as_it_is_likely() -> None:
    chances = {
        Literal(Atom("holding", ("0",))): 1.0,
        Literal(Atom("heated", ("0",))): 0.9,
        Literal(Atom("at", ("0",)), negated=True): 0.15,
    }
    clean = ActionModel("clean", "clean <>", ("object",), 10, 3, 0, chances=chances)
    learned = Learned("kitchen", {}, (clean,), ())
    seen: Counter[Literal] = Counter()
    times = 400
    for seed in range(times):
        (action,) = sampled(learned, Random(seed)).actions
        seen.update(action.explaining)
    for literal, chance in chances.items():
        assert seen[literal] / times == pytest.approx(chance, abs=0.06)


@pytest.mark.parametrize("change", ["edited", "a line left out", "two lines swapped", "emptied"])
def test_an_exploration_that_was_changed_is_noticed(tmp_path: Path, change: str) -> None:
    out = tmp_path / "manual.yaml"
    learn(out, 60)
    file = traces_file(out)
    header, first, second, *rest = file.read_text(encoding="utf-8").splitlines(keepends=True)
    lines = {
        "edited": [header, first.replace("paint", "chill", 1), second, *rest],
        "a line left out": [header, second, *rest],
        "two lines swapped": [header, second, first, *rest],
        "emptied": [],
    }
    text = "".join(lines[change])
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FileError, match="remove"):
        learn(out, 80)
    with pytest.raises(FileError, match="remove"):
        learn(tmp_path / "other.yaml", tasks=(), runs=(file,))
    assert file.read_text(encoding="utf-8") == text


HALF = chr(0xD800)


@pytest.mark.parametrize("name", ["episode", "opening"])
def test_half_a_letter_in_an_exploration_is_a_mistake_with_its_line(
    tmp_path: Path, name: str
) -> None:
    out = tmp_path / "manual.yaml"
    learn(out, 40)
    rows = [json.loads(line) for line in traces_file(out).read_text(encoding="utf-8").splitlines()]
    rows[1][name] = HALF
    lines, seal = [], ""
    for row in rows:
        line, seal = sealed_line(
            seal, json.dumps({key: value for key, value in row.items() if key != "seal"})
        )
        lines.append(line)
    traces_file(out).write_text("\n".join((*lines, "")), encoding="utf-8")
    with pytest.raises(FileError, match=r":2: .*half of a letter"):
        learn(out, 40)


def test_a_world_that_says_half_a_letter_is_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = MadeUpGame._told
    monkeypatch.setattr(
        MadeUpGame,
        "_told",
        lambda game, answer: told(game, answer).replace("thing 1", f"thing {HALF}"),
    )
    out = tmp_path / "manual.yaml"
    learn(out, 60)
    assert not learn(out, 60).edits
    assert read_manual(universal_tier(), manual_text(out)).actions
    assert read_evidence(evidence_file(out)).claims


def test_an_exploration_without_checksums_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "manual.yaml"
    learn(out, 60)
    file = traces_file(out)
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    rows[0]["version"] = 1
    file.write_text(
        "".join(json.dumps({**row, "seal": ""}) + "\n" for row in rows), encoding="utf-8"
    )
    with pytest.raises(FileError, match="version: should be 2"):
        read_traces(file)


def test_two_explorations_into_one_file_are_refused(tmp_path: Path) -> None:
    file, settings = tmp_path / "m.episodes.jsonl", {"world": "made up"}
    with (
        keeping(file, settings),
        pytest.raises(InputError, match="another process"),
        keeping(file, settings),
    ):
        pass
    with keeping(file, settings) as (known, _):
        assert known == ()


def test_a_pipe_in_the_place_of_an_exploration_is_not_waited_for(tmp_path: Path) -> None:
    out = tmp_path / "manual.yaml"
    os.mkfifo(traces_file(out))
    with pytest.raises(FileError, match="not a file"):
        learn(out, 30)


def test_an_exploration_with_another_seed_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "manual.yaml"
    learn(out, 30)
    other = RulesPlan(
        WORLD,
        tuple(WORLD.tasks("train", Setting())),
        Setting(),
        "train",
        Exploring(steps=30, seed=1),
    )
    with pytest.raises(InputError, match="another seed"):
        learn_rules(other, out)


def test_edits_by_hand_are_kept_and_said(tmp_path: Path) -> None:
    out = tmp_path / "manual.yaml"
    learn(out, 200)
    text = out.read_text(encoding="utf-8")
    assert "preconditions: [warm(thing)]" in text
    out.write_text(
        text.replace("preconditions: [warm(thing)]", "preconditions: [warm(thing), loud]"),
        encoding="utf-8",
    )
    result = learn(out, 260)
    assert [(claim.text, claim.note) for claim in result.edits] == [("loud", "added by hand")]
    assert "preconditions: [warm(thing), loud]" in out.read_text(encoding="utf-8")
    again = learn(out, 260)
    assert again.edits == result.edits


def test_an_edit_that_breaks_the_manual_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    out = tmp_path / "manual.yaml"
    learn(out, 60)
    text = out.read_text(encoding="utf-8").replace(
        "effects: [red(thing)]", "effects: [purple(thing)]"
    )
    out.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="purple"):
        learn(out, 80)
    assert out.read_text(encoding="utf-8") == text


def test_a_manual_that_people_wrote_is_not_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "manual.yaml"
    out.write_text("world: made up\n", encoding="utf-8")
    with pytest.raises(InputError, match="was not learned"):
        learn(out, 30)


def test_edits_of_trees() -> None:
    written = {"a": [1, 2], "b": {"c": "x"}, "gone": 1}
    edited = {"a": [1, 3], "b": {"c": "y", "d": "new"}}
    learned = {"a": [1, 2, 4], "b": {"c": "z", "e": 5}, "gone": 2, "f": 6}
    tree, notes = merged(written, edited, learned)
    assert tree == {"a": [1, 4, 3], "b": {"c": "y", "d": "new", "e": 5}, "f": 6}
    assert len(notes) == 5


def test_runs_of_another_world_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "manual.yaml"
    learn(out, 30)
    other = MadeUp(WORLD.domain)
    other.name = "elsewhere"
    with pytest.raises(InputError, match="played in made up, not in elsewhere"):
        list(recorded(other, [traces_file(out)]))


def test_evidence_that_was_damaged_is_a_mistake_with_its_line(tmp_path: Path) -> None:
    out = tmp_path / "manual.yaml"
    learn(out, 30)
    file = evidence_file(out)
    lines = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join([lines[0], '{"type": "claim"}']), encoding="utf-8")
    with pytest.raises(FileError, match="2"):
        read_evidence(file)


def test_a_new_world_is_learned_and_all_its_tasks_are_won(rpms: Rpms, new: Path) -> None:  # noqa: F811
    """The lighthouse: what lamps need, what ends the keeper, what each duty wants."""
    out = new.parent / "manual.yaml"
    memory = new.parent / "memory.jsonl"
    learned = rpms(
        "rules", "learn", str(new), "--steps", "900", "--out", str(out), "--memory", str(memory)
    )
    assert learned.code == 0, learned.err
    manual = read_manual(universal_tier(), manual_text(out))
    ban = next(rule for rule in manual.rules if rule.forbids).forbids[0]
    assert (ban.action, [str(clause) for clause in ban.when]) == ("light", ["holding(oil can)"])
    played = rpms(
        "run", str(new), "--split", "test", "--manual", str(out), "--memory", str(memory), "--model", "planner",
        "--out", str(new.parent / "run"),
    )  # fmt: skip
    assert "6 won" in played.out
    table = rpms("rules", "verify", str(out), str(new.parent / "run"), "--world", str(new))
    assert table.code == 0
    assert rpms("rules", "verify", str(new), str(new.parent / "run")).code == 0
    gone = rpms("rules", "verify", "gone.yaml", str(new.parent / "run"), "--world", str(new))
    assert (gone.code, "gone.yaml: there is no such file" in gone.err) == (2, True)


@pytest.mark.parametrize("name", ["alfworld", "scienceworld", "textworld-express", "tau2-telecom"])
def test_what_a_learner_takes_over_of_a_world_can_be_written_and_read(name):
    """Of predicates that belong together none is left out: a manual that names half of them is
    refused.
    """
    world = find_world(name)
    vocabulary = vocabulary_of(world).predicates
    tree = manual_tree(Learned(world.name, vocabulary, (), (), {}))
    read = read_manual(universal_tier(), ManualText("learned", manual_yaml(tree), own=True))
    assert read.predicates.keys() >= vocabulary.keys()


def test_the_same_seed_gives_the_same_bytes_however_names_are_hashed(tmp_path: Path) -> None:
    found = []
    for hashing in ("1", "2"):
        out = tmp_path / hashing / "manual.yaml"
        command = [
            "rules",
            "learn",
            "alfworld",
            "--split",
            "builtin",
            "--steps",
            "250",
            "--seed",
            "1",
            "--out",
            str(out),
        ]
        environment = {**os.environ, "PYTHONHASHSEED": hashing}
        subprocess.run(
            [sys.executable, "-m", "rpms", *command],
            env=environment,
            check=True,
            capture_output=True,
        )
        found.append(
            {
                file.name: file.read_bytes()
                for file in out.parent.iterdir()
                if file.suffix != ".lock"
            }
        )
    assert found[0] == found[1]
