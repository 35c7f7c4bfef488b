"""Running studies: what is missing and nothing twice, and an index that reports read."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from rpms.cli.app import make_app
from rpms.cli.study_tables import results_table
from rpms.learning.rounds import LearningDesign, learn
from rpms.logic.errors import InputError
from rpms.models.policy import FunctionModel, ScriptedModel, follow_plan
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.run import Listener
from rpms.play.settings import Settings
from rpms.play.sources import ManualChoice, Sources
from rpms.store.memories import read_memory
from rpms.store.price import Price
from rpms.store.runs import RunFolder
from rpms.study.cells import Means, Result
from rpms.study.estimate import estimate_study
from rpms.study.running import run_study
from rpms.study.studies import Study
from rpms.study.study_files import find_study, read_study
from rpms.study.study_layout import StudyLayout
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world

WORLD = find_world("alfworld")
COMPLETE = Sources(ManualChoice("complete"))
PRICE = Price(1.0, 2.0)

STUDY = """
title: A small study
world: alfworld
split: builtin
part: 2/2
limit: 2
models: [planner]
learn: {split: builtin, part: 1/2, limit: 2, rounds: 2}
conditions:
  baseline:
  full:
  full again: {condition: full}
  first round: {condition: full, round: 1}
  soft: {condition: full, arbitration: soft}
  rules-only:
  rules with a mode: {condition: rules-only, arbitration: none}
"""


def small(folder: Path):
    file = folder / "small.yaml"
    file.write_text(STUDY)
    return read_study(file)


@pytest.fixture
def study(tmp_path):
    return small(tmp_path)


class Bench:
    """Means that count what they are asked."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.learned = 0
        self.means = Means(WORLD, Setting(), self.open, self.learn, prices={"planner": PRICE})

    def open(self, name: str):
        def answer(request):
            self.asked[name] += 1
            return f"Action: {follow_plan(request.decision)[1]}"

        return lend(FunctionModel(answer, name))

    def learn(self, learning, model, out):
        self.learned += 1
        tasks = tuple(learning.choice.tasks(WORLD, Setting()))
        conditions = {"first": learning.condition(1), "later": learning.condition(2)}
        played = design_run(
            WORLD,
            model,
            self.open(model),
            split=learning.choice.settings.split,
            tasks=tasks,
            memory=EpisodicMemory(),
            sources=COMPLETE,
        )
        design = LearningDesign(played, learning.rounds, **conditions)
        return {result.number: result.file for result in learn(design, out)}


@dataclass(frozen=True)
class Done:
    study: Study
    layout: StudyLayout
    bench: Bench
    results: tuple[Result, ...]


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """A study that was run to its end; tests only read it, or run it again."""
    folder = tmp_path_factory.mktemp("study")
    study, layout, bench = small(folder), StudyLayout(folder / "out", folder / "out"), Bench()
    return Done(study, layout, bench, run_study(study, ["planner"], bench.means, layout))


def test_each_run_keeps_its_price(done):
    assert {RunFolder(result.folder).price() for result in done.results} == {PRICE}


def test_conditions_that_are_the_same_share_a_run(done):
    folders = {result.case.name: result.folder for result in done.results}
    assert folders["full"] == folders["full again"]
    assert folders["rules-only"] == folders["rules with a mode"]
    # in its second round the planner goes straight to what it remembers, so that the snapshots are
    # two memories
    assert folders["first round"] != folders["full"]
    assert len(set(folders.values())) == 5
    assert done.bench.learned == 1
    assert {path.name for path in (done.layout.pool / "runs").iterdir()} == {
        path.name for path in folders.values()
    }


def test_nothing_is_run_twice(done):
    again = Bench()
    results = run_study(done.study, ["planner"], again.means, done.layout)
    assert not again.asked
    assert [result.summary for result in results] == [result.summary for result in done.results]


def test_studies_that_share_a_pool_share_runs(done, tmp_path):
    other = Bench()
    run_study(done.study, ["planner"], other.means, StudyLayout(tmp_path / "two", done.layout.pool))
    assert not other.asked
    index = json.loads((tmp_path / "two" / "study.json").read_text())
    for folder in index["groups"][0]["runs"].values():
        summary = RunFolder(tmp_path / "two" / folder).summary()
        assert summary.done == summary.total


def test_what_is_tested_was_not_learned_from(done):
    full = next(result for result in done.results if result.case.name == "full")
    tested = {task.id for task in full.design.tasks}
    learned = {origin.episode for entry in full.design.memory.entries for origin in entry.origins}
    assert learned
    assert not any(episode.partition("/")[2] in tested for episode in learned)


def test_the_estimate_of_a_finished_study_is_nothing(done):
    found = estimate_study(done.study, ["planner"], done.bench.means, done.layout)
    assert sum(each.left for each in found) == 0


def test_the_index_names_models_and_conditions_in_order(study, tmp_path):
    run_study(
        replace(study, cases=study.cases[:2]),
        ["planner", "other"],
        Bench().means,
        StudyLayout(tmp_path / "out", tmp_path / "out"),
    )
    index = json.loads((tmp_path / "out" / "study.json").read_text())
    assert index["title"] == "A small study"
    assert [group["model"] for group in index["groups"]] == ["planner", "other"]
    for group in index["groups"]:
        assert list(group["runs"]) == ["baseline", "full"]


def test_running_again_keeps_what_the_index_names(study, tmp_path):
    layout = StudyLayout(tmp_path / "out", tmp_path / "out")
    two = replace(study, cases=(study.cases[0], study.cases[5]))

    def runs():
        groups = json.loads((tmp_path / "out" / "study.json").read_text())["groups"]
        return {group["model"]: list(group["runs"]) for group in groups}

    run_study(two, ["planner"], Bench().means, layout)

    def stop(what):
        if what.endswith("rules-only"):
            raise KeyboardInterrupt
        return Listener()

    for model in ("other", "planner"):
        with pytest.raises(KeyboardInterrupt):
            run_study(two, [model], replace(Bench().means, listener=stop), layout)
    assert runs() == {"planner": ["baseline", "rules-only"], "other": ["baseline"]}
    run_study(replace(study, cases=two.cases[1:]), ["other"], Bench().means, layout)
    assert runs()["other"] == ["rules-only", "baseline"]
    (gone,) = layout.pool.glob("runs/planner-rules*")
    shutil.rmtree(gone)
    run_study(two, ["other"], Bench().means, layout)
    assert runs() == {"planner": ["baseline"], "other": ["baseline", "rules-only"]}


def test_studies_in_one_folder_keep_what_each_is_about(study, tmp_path):
    layout = StudyLayout(tmp_path / "out", tmp_path / "out")
    one = replace(study, cases=study.cases[:1], about="Of one.", tables=("ablation",))
    two = replace(one, about="Of two.", tables=("types", "actions"))
    run_study(one, ["planner"], Bench().means, layout)
    run_study(two, ["other"], Bench().means, layout)
    groups = json.loads((tmp_path / "out" / "study.json").read_text())["groups"]
    assert {group["model"]: (group["about"], group["tables"]) for group in groups} == {
        "other": ("Of two.", ["types", "actions"]),
        "planner": ("Of one.", ["ablation"]),
    }


def test_an_index_that_cannot_be_read_stops_the_study_before_it_plays(study, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    bench = Bench()
    for text in ("{", "[]", '{"groups": [1]}', '{"groups": [{"model": "m", "runs": []}]}'):
        (out / "study.json").write_text(text)
        with pytest.raises(InputError, match=r"is not the index of a study.*choose another --out"):
            run_study(study, ["planner"], bench.means, StudyLayout(out, out))
    assert not bench.asked


def test_a_changed_manual_learns_anew_beside_what_was_learned(study, tmp_path, monkeypatch):
    layout = StudyLayout(tmp_path / "out", tmp_path / "out")
    full = replace(study, cases=study.cases[1:2])
    (before,) = run_study(full, ["planner"], Bench().means, layout)
    monkeypatch.setattr("rpms.play.sources.ManualChoice.hash", lambda self, world: "another manual")
    bench = Bench()
    (after,) = run_study(full, ["planner"], bench.means, layout)
    assert bench.asked
    assert after.folder != before.folder
    assert len(list((tmp_path / "out" / "learned").iterdir())) == 2


def test_a_stopped_study_goes_on_where_it_was(study, tmp_path):
    layout = StudyLayout(tmp_path / "out", tmp_path / "out")
    bench = Bench()

    def stop(what):
        if what.endswith("soft"):
            raise KeyboardInterrupt
        return Listener()

    with pytest.raises(KeyboardInterrupt):
        run_study(study, ["planner"], replace(bench.means, listener=stop), layout)
    assert list(json.loads((tmp_path / "out" / "study.json").read_text())["groups"][0]["runs"]) == [
        *("baseline", "full", "full again", "first round")
    ]
    results = run_study(study, ["planner"], Bench().means, layout)
    assert all(result.summary.done == result.summary.total for result in results)


def test_the_estimate_asks_nobody_and_writes_nothing(study, tmp_path):
    layout = StudyLayout(tmp_path / "out", tmp_path / "out")
    bench = Bench()
    found = estimate_study(study, ["openai/gpt-4o-mini"], bench.means, layout)
    assert not bench.asked
    assert not (tmp_path / "out").exists()
    by_name = {each.what: each for each in found}
    assert by_name["learning, round 1"].left == 2
    assert by_name["full"].left == 2
    assert by_name["full again"].shared
    assert not by_name["full again"].left
    assert by_name["baseline"].usage.prompt_tokens < by_name["full"].usage.prompt_tokens


def test_the_estimate_opens_no_held_out_game(study, tmp_path):
    opened = []

    @dataclass(frozen=True)
    class Watched:
        def __getattr__(self, name: str):
            return getattr(WORLD, name)

        def tasks(self, split, setting):
            return tuple(replace(task, split=split) for task in WORLD.tasks("builtin", setting))

        def open(self, task, setting):
            opened.append(task.split)
            return WORLD.open(task, setting)

    held_out = study.under(Settings(split="valid_unseen"))
    means = replace(Bench().means, world=Watched())
    assert estimate_study(
        held_out, ["openai/gpt-4o-mini"], means, StudyLayout(tmp_path / "out", tmp_path / "out")
    )
    assert set(opened) == {"builtin"}


def test_a_model_that_learns_nothing_finishes_the_study(study, tmp_path):
    class Weak(Bench):
        def open(self, name: str):
            return lend(ScriptedModel(name, ["Action: inventory"]))

    layout = StudyLayout(tmp_path / "out", tmp_path / "out")
    short = replace(study, cases=(study.cases[1], study.cases[5])).under(Settings(steps=3))
    results = run_study(short, ["planner"], Weak().means, layout)
    assert all(result.summary.done == result.summary.total for result in results)
    assert not len(results[0].design.memory)
    console = Console(width=200, file=StringIO())
    console.print(results_table(results))
    assert "nothing was learned: full played with an empty memory" in console.file.getvalue()
    assert not sum(each.left for each in estimate_study(short, ["planner"], Weak().means, layout))
    # a memory that lost its entries is no empty one
    (snapshot,) = (tmp_path / "out").glob("learned/*/memory.round2.jsonl")
    snapshot.write_text(snapshot.read_text() + "\n")
    with pytest.raises(InputError, match="has changed since it was frozen"):
        estimate_study(short, ["planner"], Weak().means, layout)


def test_results_with_scores_fit_a_screen(study, tmp_path):
    layout = StudyLayout(tmp_path / "out", tmp_path / "out")
    results = run_study(replace(study, cases=study.cases[:1]), ["planner"], Bench().means, layout)
    rows = tuple(replace(row, score=-63.5) for row in results[0].summary.rows)
    scored = [replace(each, summary=replace(each.summary, rows=rows)) for each in results]
    for shown, titles in ((results, 1), (scored, 2)):
        console = Console(width=80, file=StringIO())
        console.print(results_table(shown))
        told = console.file.getvalue()
        assert told.count("condition") == titles
        assert "…" not in told
        assert ("-63.5" in told) is (shown is scored)


def test_controls_play_the_conditions_with_a_menu_and_read_no_tokens(study, tmp_path):
    text = STUDY.partition("conditions:")[0] + (
        "conditions:\n  full:\n  held: {condition: full, enforce: {menu: 5, constrained: auto}}\n"
        "  nothing: {condition: baseline, preset: strict}\n"
    )
    file = tmp_path / "study.yaml"
    file.write_text(text)
    dry = rpms("study", "run", file, "--model", "menu-random/1", "--dry-run")
    assert dry.exit_code == 0, dry.output
    assert "learning" not in dry.output
    assert "menu-random/1, full" not in dry.output
    done = rpms(
        "study", "run", file, "--out", tmp_path / "out", "--no-report", "--model", "menu-random/1"
    )
    assert done.exit_code == 0, done.output
    (group,) = json.loads((tmp_path / "out" / "study.json").read_text())["groups"]
    assert list(group["runs"]) == ["held"], "a baseline has no menu under any preset"
    assert not (tmp_path / "out" / "learned").exists()
    none = rpms("study", "run", study.file, "--out", tmp_path / "none", "--model", "menu-first")
    assert "menu-first chooses from a menu, and no condition of" in str(none.exception)
    assert not (tmp_path / "none").exists()


def test_a_study_without_models_wants_one(study):
    assert study.models_to_run(["a", "b", "a"]) == ("a", "b")
    with pytest.raises(InputError, match="give one or more with --model") as wanted:
        replace(study, models=()).models_to_run([])
    for case in study.cases:
        assert case.name in str(wanted.value)


def rpms(*words: str | Path):
    return CliRunner().invoke(make_app(), [str(word) for word in words])


def test_the_command_runs_a_study_and_prints_its_table(study, tmp_path):
    out = tmp_path / "out"
    dry = rpms(
        "study", "run", study.file, "--out", out, "--dry-run", "--model", "openai/gpt-4o-mini"
    )
    assert dry.exit_code == 0, dry.output
    assert "nothing was run" in dry.output
    assert not out.exists()
    done = rpms("study", "run", study.file, "--out", out, "--no-report")
    assert done.exit_code == 0, done.output
    assert "baseline" in done.output
    assert "2/2" in done.output
    again = rpms("study", "run", study.file, "--out", out, "--no-report")
    assert "2 of them done before" in again.output


def test_bad_input_is_one_line_each(study, tmp_path):
    out = tmp_path / "out"

    def problem(text: str, *words: str) -> str:
        file = tmp_path / "bad.yaml"
        file.write_text(text)
        done = rpms("study", "run", file, "--out", out, *words)
        assert isinstance(done.exception, InputError), done.output
        return str(done.exception)

    assert "no split" in problem(STUDY.replace("split: builtin\npart", "split: moon\npart"))
    assert "its world is not installed here" in problem(
        STUDY.replace("world: alfworld", "world: alfword")
    )
    assert "no engine" in problem(STUDY.replace("models:", "engine: steam\nmodels:"))
    lost = STUDY.replace("learn:", "memory: nowhere.jsonl #").replace(", round: 1", "")
    assert "cannot be read" in problem(lost)
    assert not out.exists()
    assert "no tasks to run" in problem(STUDY.replace("part: 2/2", "part: 99/99"))


@pytest.mark.parametrize(
    ("written", "mistake", "line", "problem"),
    [
        ("world: alfworld", "world: alfwrld", 2, "'alfwrld': its world .* did you mean alfworld?"),
        ("world: alfworld", "world: nowhere", 2, "'nowhere': its world .* choose one of alfworld,"),
        ("conditions:", "condtions:", 6, "condtions: .* did you mean conditions?"),
        ("split: builtin", "split: bultin", 3, "no split 'bultin'; did you mean builtin?"),
        ("split: builtin", "split: nope", 3, "no split 'nope'; choose one of builtin, "),
        ("models: [planner]", "models: []", 4, "models: names no model"),
        ("models: [planner]", "models: [plannr]", 4, "no provider 'plannr'.* mean planner?"),
        ("limit: 2", "engine: nativ", 5, "no engine 'nativ'; did you mean native?"),
        ("limit: 2", "options: {dialect: 9}", 5, "options: ALFWorld has no dialect '9'"),
        ("limit: 2", "task: nope", 5, "task: no task 'nope'"),
        ("limit: 2", "learn: {split: nope}", 5, "no split 'nope'"),
        (
            "  rules-only:",
            "  rules-only: {tiers: domian}",
            7,
            "tiers: 'domian' .* did you mean domain?",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line_its_word_and_what_is_right(
    tmp_path, written, mistake, line, problem
):
    right = """title: Mine
world: alfworld
split: builtin
models: [planner]
limit: 2
conditions:
  rules-only:
"""
    file = tmp_path / "mine.yaml"
    file.write_text(right.replace(written, mistake))
    checked = rpms("study", "check", file)
    assert isinstance(checked.exception, InputError), checked.output
    assert re.match(rf"{re.escape(str(file))}:{line}: .*{problem}", str(checked.exception))


def test_a_mistake_of_the_command_line_is_not_looked_for_in_the_file(study, tmp_path):
    done = rpms("study", "run", study.file, "--out", tmp_path / "out", "--split", "nope")
    assert str(done.exception).startswith("ALFWorld has no split 'nope'")


def test_a_folder_that_holds_other_things_is_no_place_for_a_study(study, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.tex").write_text("years of work")
    done = rpms("study", "run", study.file, "--out", mine)
    assert str(done.exception) == (
        f"{mine}: is not empty and holds no study; choose another folder"
    )
    assert [file.name for file in mine.iterdir()] == ["thesis.tex"]


def test_a_study_that_was_stopped_before_its_first_run_ended_goes_on(study, tmp_path):
    out = tmp_path / "out"
    (out / "runs").mkdir(parents=True)
    (out / ".DS_Store").touch()
    assert rpms("study", "run", study.file, "--out", out, "--no-report").exit_code == 0


def test_a_changed_memory_stops_the_study(study, tmp_path):
    out = tmp_path / "out"
    bench = Bench()
    run_study(
        replace(study, cases=study.cases[1:2]), ["planner"], bench.means, StudyLayout(out, out)
    )
    (snapshot,) = out.glob("learned/*/memory.round2.jsonl")
    assert isinstance(read_memory(snapshot), EpisodicMemory)
    final = snapshot.with_name("memory.jsonl")
    final.write_text(final.read_text() + "\n")
    with pytest.raises(InputError, match="has changed since it was frozen"):
        run_study(study, ["planner"], Bench().means, StudyLayout(out, out))


def test_the_command_says_once_what_of_the_enforcement_does_nothing(tmp_path):
    file = tmp_path / "noted.yaml"
    idle = "{condition: rules-only, enforce: {unstick: on, menu: 5}}"
    text = STUDY.partition("learn:")[0] + f"conditions:\n  a: {idle}\n  b: {idle}\n  rules-only:\n"
    file.write_text(text)
    done = rpms("study", "run", file, "--out", tmp_path / "out", "--no-report", "--limit", 1)
    assert done.exit_code == 0, done.output
    assert done.stderr == "note: alfworld: unstick does nothing without loops=on\n"


@pytest.mark.parametrize(
    ("learner", "learned"), [("", 1), ("model: planner, ", 2)], ids=["itself", "a named one"]
)
def test_a_limit_leaves_what_a_named_learner_learns_from_as_it_is(tmp_path, learner, learned):
    file = tmp_path / "study.yaml"
    file.write_text(STUDY.replace("learn: {", f"learn: {{{learner}"))
    limited = read_study(file).under(Settings(limit=1))
    assert limited.choice.settings.limit == 1
    assert limited.learning is not None
    assert limited.learning.choice.settings.limit == learned


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("planner", "no language model will be asked"),
        ("openai/gpt-4o-mini", "about 448 answers: 3 min 44 s with --workers 2, at 1 s"),
    ],
)
def test_a_dry_run_tells_the_time_in_its_own_unit(study, model, words):
    ran = rpms("study", "run", study.file, "--model", model, "--dry-run", "--workers", "2")
    assert ran.exit_code == 0, ran.output
    assert words in ran.stdout


def test_a_study_is_run_with_another_arbitration_and_without_the_state_filter(tmp_path):
    text = "title: t\nworld: alfworld\nsplit: builtin\nmemory: embedded\nmodels: [planner]\n"
    (tmp_path / "s.yaml").write_text(text + "conditions: {full: }\n")
    words = ("--limit", "1", "--no-report", "--out", tmp_path / "out")
    words += ("--arbitration", "soft", "--state-filter", "off")
    assert rpms("study", "run", tmp_path / "s.yaml", *words).exit_code == 0
    (protocol,) = (tmp_path / "out").rglob("protocol.json")
    condition = RunFolder(protocol.parent).protocol.settings["condition"]
    assert condition["arbitration"] == "soft"
    assert condition["state_filter"] is False


@pytest.mark.parametrize("study", ["ablation_alfworld", "ablation_scienceworld"])
def test_the_ablations_part_what_memory_only_tells(study):
    names = [case.name for case in read_study(find_study(Path(study))).cases]
    assert names[:4] == ["baseline", "rules-only", "memory-only", "full"]
    assert names[4:] == ["belief alone (ours)", "memory as observed (ours)"]


def test_a_dry_run_names_every_condition_of_the_ablation():
    dry = rpms("study", "run", "ablation_scienceworld", "--model", "planner", "--dry-run")
    assert dry.exit_code == 0
    for name in ("memory-only", "belief alone (ours)", "memory as observed (ours)"):
        assert name in dry.output


MISSING_PACKAGE = """
import sys
for name in {missing!r}:
    sys.modules[name] = None
from rpms.cli import main
main()
"""


def run_without(missing: list[str], study: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """Run a study in a process of its own, in which some packages cannot be imported."""
    program = MISSING_PACKAGE.format(missing=missing)
    words = ("study", "run", study, "--model", "planner", "--processes", "1", "--out", out)
    return subprocess.run(
        [sys.executable, "-c", program, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_jinja2_tests_and_tables_are_printed_and_the_page_is_missed_beforehand(
    study, tmp_path
):
    ran = run_without(["jinja2"], study.file, tmp_path / "out")
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.startswith("note: no page at the end: jinja2 is missing; pip install")
    assert "Paired by task." in ran.stdout
    assert "/report/index.html" not in ran.stdout


def test_without_numpy_it_is_said_beforehand_that_there_will_be_no_tests(study, tmp_path):
    ran = run_without(["numpy"], study.file, tmp_path / "out")
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.startswith("note: no tests, tables and page at the end: numpy is missing")
    assert "runs and index" in ran.stdout
