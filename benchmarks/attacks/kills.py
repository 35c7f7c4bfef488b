"""Processes killed at random moments, again and again, until the work is done: nothing may be lost
or differ.

Each start is a fork of this process, in which everything is loaded already, so that the kills fall
into the work and not into imports.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from attacks.learned import learn_a_little, learn_from, learned_files
from attacks.servers import deaf_server
from rpms.induction.manuals.manual_review import decide, lines_of
from rpms.learning.rounds import LearningDesign, learn
from rpms.models.base import Request
from rpms.models.catalogue import ModelOptions, open_model
from rpms.models.policy import FunctionModel, follow_plan
from rpms.paper.condition import FULL
from rpms.paper.enforcement import STRICT
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.run import run
from rpms.report.pages import write_report
from rpms.store.answers import FolderOfAnswers
from rpms.store.evidence import read_traces, traces_file
from rpms.store.runs import RunFolder
from rpms.study.cells import Means
from rpms.study.running import run_study
from rpms.study.studies import Learning
from rpms.study.study_files import read_study
from rpms.study.study_layout import StudyLayout
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world

WORLD = find_world("alfworld")
EXPLORING = "exploring"
"""The folder of an exploration that is killed: what it holds is whole, and not the same each
time."""
STUDY = """
title: Killed
world: alfworld
limit: 2
learn: {limit: 2, rounds: 1}
overlap: allow
conditions: {baseline: {}, full: {}}
"""


@dataclass
class Killed:
    """Result of one kind of work."""

    kills: int = 0
    starts: int = 0
    ends: int = 0
    """Times that it was played to its end, each compared to the byte with one that nobody
    disturbed."""
    found: Counter[str] = field(default_factory=Counter)

    @property
    def troubles(self) -> int:
        return self.found.total()

    def row(self, name: str) -> str:
        trouble = (
            ", ".join(f"{what} ×{count}" for what, count in self.found.most_common()) or "none"
        )
        return f"| {name} | {self.kills} | {self.ends} | {trouble} |"


def slow_planner() -> FunctionModel:
    """The planner, with a pause that spreads the kills over the steps."""

    def answer(request: Request) -> str:
        time.sleep(0.003)
        assert request.decision is not None
        thought, action = follow_plan(request.decision)
        return f"Thought: {thought}\nAction: {action}"

    return FunctionModel(answer, "slow-planner")


def play_run(folder: Path) -> None:
    model = slow_planner()
    run(
        design_run(WORLD, model.name, lend(model), limit=6, memory=EpisodicMemory()),
        folder / "run",
        2,
    )


def play_learning(folder: Path) -> None:
    model = slow_planner()
    design = LearningDesign(
        design_run(WORLD, model.name, lend(model), limit=3, memory=EpisodicMemory()), rounds=2
    )
    learn(design, folder / "memory.jsonl", 2)


def play_rules(folder: Path, explored: Path) -> None:
    """Learn rules from one exploration, decide on some lines, learn again; and explore, where
    nothing may be lost.

    An exploration that was stopped goes on after all that it has seen, but not step for step as it
    would have.
    """
    manual, exploring = folder / "manual.yaml", folder / EXPLORING / "manual.yaml"
    kept = read_traces(traces_file(exploring))[1] if traces_file(exploring).exists() else ()
    learn_from(explored, manual)
    lines = [row for row in lines_of(manual) if row.claim.key in ("preconditions", "effects")]
    decide(manual, {row.claim.id: bool(number % 2) for number, row in enumerate(lines[:4])})
    learn_from(explored, manual)
    learn_a_little(exploring)
    if read_traces(traces_file(exploring))[1][: len(kept)] != kept:
        raise AssertionError("a finished episode of an exploration was lost")


def play_study(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "study.yaml").write_text(STUDY)
    study = read_study(folder / "study.yaml")

    def learn_first(learning: Learning, model: str, out: Path) -> dict[int, Path]:
        tasks = tuple(learning.choice.tasks(WORLD, Setting()))
        design = LearningDesign(
            design_run(WORLD, model, lend(slow_planner()), tasks=tasks, memory=EpisodicMemory()),
            rounds=learning.rounds,
        )
        return {result.number: result.file for result in learn(design, out)}

    means = Means(WORLD, Setting(), lambda _: lend(slow_planner()), learn_first)
    run_study(study, ["slow-planner"], means, StudyLayout(folder / "out", folder / "out"))


def play_strict(folder: Path, url: str) -> None:
    logging.getLogger("rpms").setLevel(logging.ERROR)
    model = open_model(
        "vllm/m", ModelOptions(base_url=url), record=FolderOfAnswers(folder / "record")
    )
    condition = replace(FULL, enforcement=STRICT)
    run(
        design_run(
            WORLD,
            model.name,
            lend(model),
            limit=4,
            condition=condition,
            step_budget=6,
            memory=EpisodicMemory(),
        ),
        folder / "run",
        3,
    )
    model.close()


def contents(folder: Path) -> dict[str, bytes]:
    """Every file that results depend on, less what says how long things took."""
    skipped = ("timings.jsonl", "lock")  # and of an exploration all
    return {
        str(file.relative_to(folder)): _timeless(file, folder)
        for file in sorted(folder.rglob("*"))
        if file.is_file()
        and file.name not in skipped
        and EXPLORING not in file.relative_to(folder).parts
    }


def _timeless(file: Path, folder: Path) -> bytes:
    if "record" not in file.relative_to(folder).parts or file.suffix != ".json":
        return file.read_bytes()
    entry = json.loads(file.read_bytes())["entry"]
    del entry["answer"]["usage"]["seconds"]
    return json.dumps(entry, sort_keys=True).encode()


def kill_campaign(name: str, most: int, dice: Random, folder: Path, deadline: float) -> Killed:
    """Do one kind of work over and over, killing it at random moments, until enough kills are
    made.
    """
    result = Killed()
    with deaf_server() as url:
        work: dict[str, Callable[[Path], None]] = {
            "run": play_run,
            "learn": play_learning,
            "study": play_study,
            "strict with a record": lambda place: play_strict(place, url),
            "report": lambda place: report_of(folder / "reported", place),
            "rules": lambda place: play_rules(place, folder / "explored" / "manual.yaml"),
        }
        if name == "report" and not (folder / "reported").exists():
            play_run(folder / "reported")
        if name == "rules" and not (folder / "explored").exists():
            (folder / "explored").mkdir()
            for file, data in learned_files().items():
                (folder / "explored" / file).write_bytes(data)
        start = time.monotonic()
        code = forked(lambda: work[name](folder / "whole"), None)
        seconds = time.monotonic() - start
        if code:
            result.found["it failed undisturbed"] += 1
            return result
        whole = contents(folder / "whole")
        number = 0
        while result.kills < most and time.monotonic() < deadline:
            number += 1
            place = folder / str(number)
            # type: ignore[misc]
            _until_done(lambda place=place: work[name](place), place, result, most, dice, seconds)
            found = contents(place)
            if found != whole:
                differing = {*found.items()} ^ {*whole.items()}
                result.found[f"differs: {sorted({file for file, _ in differing})[:3]}"] += 1
            if list(place.rglob("*.part")) or list(place.rglob(".*.new")):
                result.found["something half written was left"] += 1
    return result


def _until_done(
    work: Callable[[], None], place: Path, result: Killed, most: int, dice: Random, seconds: float
) -> None:
    """Start, kill, start again.

    After ten kills one start may end; else short works would never be seen to resume.
    """
    kills = 0
    finished: set[str] = set()
    while True:
        after = dice.uniform(0.0, seconds * 0.9) if result.kills < most and kills < 10 else None
        result.starts += 1
        code = forked(work, after)
        episodes = {str(file) for file in place.rglob("episodes/*.json.gz")}
        if not finished <= episodes:
            result.found["a finished episode was lost"] += 1
        finished = episodes
        for protocol in place.rglob("protocol.json"):
            RunFolder(protocol.parent).summary()  # whatever is there is whole
        if code == 0:
            result.ends += 1
            return
        if code != -signal.SIGKILL:
            result.found[f"ended with {code}"] += 1
            return
        kills += 1
        result.kills += 1


def forked(work: Callable[[], None], kill_after: float | None) -> int:
    """Do something in a copy of this process, and kill it after so many seconds; the exit code,
    or minus the signal.
    """
    child = os.fork()
    if not child:
        code = 1
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                work()
            code = 0
        finally:
            os._exit(code)
    if kill_after is not None:
        time.sleep(kill_after)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def report_of(source: Path, place: Path) -> None:
    place.mkdir(exist_ok=True)
    write_report([source / "run"], place / "report")


WORKS = ("run", "learn", "study", "strict with a record", "report", "rules")
"""Every kind of work that is killed. One more is a function above and a name here."""
