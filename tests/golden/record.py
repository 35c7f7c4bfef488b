"""Record whole episodes, tables, pages, exports and learned manuals as text, to compare them between two commits.

    python tests/golden/record.py [--out DIR] [--fast] [--update] [NAME…]

Only public doors are used (the command line, `rpms.Agent`, `rpms.worlds`), so that the same recorder runs before and
after any change of what is behind them.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import multiprocessing
import os
import re
import runpy
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from unittest import mock

if TYPE_CHECKING:
    import rpms

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
EXPECTED = HERE / "expected.json"
TOOLBOX = REPOSITORY / "examples" / "toolbox"
GUARDS = REPOSITORY / "examples" / "guard"

CONDITIONS = ("baseline", "rules-only", "memory-only", "full")

NOT_KEPT = frozenset({"lock", "timings.jsonl", "static"})
"""Files of a run that hold times or nothing; and programs of pages, which are kept once."""

PICTURES = frozenset({".png", ".svg", ".pdf"})
"""Kept by their names only: what draws or packs them is not ours and differs between versions."""

VARIABLES = {
    "COLUMNS": "100",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "TZ": "UTC",
    "LC_ALL": "C.UTF-8",
    "RPMS_FORBID_REQUESTS": "1",
}


class Recorder:
    """Runs commands in a folder of its own and collects what they print and write, by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.outputs: dict[str, str] = {}

    def keep(self, name: str, text: str) -> None:
        if name in self.outputs:
            raise ValueError(f"two outputs are called {name}")
        self.outputs[name] = normalised(text, self.folder)

    def rpms(self, command: str, *more: object, keep: str = "") -> str:
        """Run `rpms COMMAND MORE…` as `python -m rpms` does; keep what it prints if a name is given.

        Words of a command are parted by spaces; a path or a sentence is one of the arguments after it.
        """
        words = [*command.split(), *map(str, more)]
        printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        complained = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        code = 0
        with (
            mock.patch.object(sys, "argv", ["rpms", *words]),
            mock.patch.object(sys, "stdout", printed),
            mock.patch.object(sys, "stderr", complained),
        ):
            try:
                runpy.run_module("rpms", run_name="__main__")
            except SystemExit as end:
                code = int(end.code or 0)
        fix_times(self.folder)
        out = _written(printed)
        error = _written(complained)
        if code == 1 and "Traceback" in error:
            raise RuntimeError(error)
        if not keep and code != 0:
            raise RuntimeError(f"rpms {' '.join(words)}: exit code {code}\n{error}")
        if keep:
            shown = " ".join(words)
            self.keep(keep, f"$ rpms {shown}\n{out}--- stderr\n{error}--- exit code {code}\n")
        return out

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def keep_folder(self, name: str, folder: str) -> None:
        """Keep all files of a folder as one text, each under a line with its path."""
        top = self.folder / folder
        text = ""
        for path in sorted(top.rglob("*")):
            if path.is_file() and NOT_KEPT.isdisjoint(path.relative_to(top).parts):
                text += f"=== {path.relative_to(top).as_posix()}\n{readable(path)}\n"
        self.keep(name, text)

    def keep_file(self, name: str, file: str) -> None:
        self.keep(name, readable(self.folder / file))


def fix_times(folder: Path) -> None:
    """Write the same times into every run, so that tables and pages of them are the same."""
    for path in folder.rglob("timings.jsonl"):
        lines = []
        for line in path.read_text(encoding="utf-8").split("\n"):
            if not line:
                continue  # a line that was added begins anew
            row = json.loads(line)
            row["seconds"] = 2.0
            row["model_seconds"] = [0.5] * len(row["model_seconds"])
            lines.append(json.dumps(row) + "\n")
        path.write_text("".join(lines), encoding="utf-8")


def _written(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8")


def readable(path: Path) -> str:
    """A file's text; JSON is spread over lines, so that a difference is seen where it is."""
    if path.suffix in PICTURES:
        return "(not kept)"
    raw = path.read_bytes()
    name = path.name
    if name.endswith(".gz"):
        raw = gzip.decompress(raw)
        name = name.removesuffix(".gz")
    text = raw.decode("utf-8")
    if not name.endswith(".json"):
        return text
    try:
        value = json.loads(text)
    except json.JSONDecodeError:  # several values, one a line
        return text
    return json.dumps(value, indent=1, ensure_ascii=False)


def normalised(text: str, folder: Path) -> str:
    """The text without what differs from run to run: folders, the package's version, seconds that passed."""
    for path in {str(folder), str(folder.resolve())}:
        text = text.replace(path, "<folder>")
    text = text.replace(str(REPOSITORY), "<repository>")
    text = text.replace(_version(), "<version>")
    text = re.sub(r"(?m)^\d+/\d+ episodes: .*\n", "", text)  # told every few seconds
    text = re.sub(r"\d+(\.\d+)? s of model time", "<seconds> s of model time", text)
    return re.sub(r"\b20\d\d-\d\d-\d\dT\d\d:\d\d[\d:.+Z]*", "<time>", text)


def _version() -> str:
    import rpms  # noqa: PLC0415  only the process that records a case loads the package

    return rpms.__version__


def write_script(recorder: Recorder, run: str) -> str:
    """Write a script of a run's actions, some misspelt, repeated or out of place; return its file's name.

    A model that errs shows what a planner never does: repairs, refusals, objections and repeated failures.
    """
    lines = []
    for path in sorted((recorder.folder / run / "episodes").iterdir()):
        episode = json.loads(gzip.decompress(path.read_bytes()))
        task = episode["row"]["task"]
        for number, step in enumerate(episode["steps"]):
            said = [step["command"]]
            if number % 2 == 1:
                said = [step["command"].upper() + ".", step["command"]]
            if number % 3 == 2:
                said.append("dance with the moon")
            lines += [
                {"episode": task, "thought": "as planned", "action": action} for action in said
            ]
    name = f"{run}.script.jsonl"
    recorder.write(name, "".join(json.dumps(line) + "\n" for line in lines))
    return name


class Played(NamedTuple):
    """A world, and the tasks of it that are played and learned from."""

    name: str
    world: str
    play: str
    learn: str


WORLDS = (
    Played("alfworld", "alfworld", "--split builtin --limit 3", "--split builtin_train --limit 6"),
    Played("scienceworld", "scienceworld", "--split dev --limit 3", "--split train --limit 4"),
    Played(
        "textworld-express",
        "textworld-express",
        "--split dev --limit 2",
        "--split train --limit 3",
    ),
    Played("tau2-telecom", "tau2-telecom", "--split train --limit 2", "--split train --limit 3"),
    Played("toolbox", str(TOOLBOX), "--split train --limit 3", "--split train --limit 4"),
)


def run_condition(recorder: Recorder, played: Played, settings: str, name: str) -> None:
    """Play a world's tasks with these settings and keep the run, and what was printed."""
    recorder.rpms(
        f"run {played.play} {settings} --memory memory.jsonl --overlap allow --processes 1",
        *("--out", name, played.world),
        keep=f"{name}.printed",
    )
    recorder.keep_folder(f"{name}.run", name)


def play_world(recorder: Recorder, played: Played, preset: str) -> None:
    """Play a preset's four conditions by the planner and by a model that errs."""
    learning = f"learn {played.learn} --rounds 1 --model planner --processes 1 --out memory.jsonl"
    recorder.rpms(learning, played.world)
    recorder.keep_file("memory", "memory.jsonl")
    for condition in CONDITIONS:
        settings = f"--preset {preset} --condition {condition}"
        run_condition(recorder, played, f"{settings} --model planner", condition)
        erring = "menu-random/3"
        if preset == "paper":
            erring = f"scripted/{write_script(recorder, condition)}"
        run_condition(recorder, played, f"{settings} --model {erring}", f"{condition}.erring")
    recorder.rpms("table all --form markdown", *CONDITIONS, keep="tables")
    recorder.rpms("show full.erring --task 1 --belief --show-prompts", keep="show")
    recorder.rpms("report --out pages full.erring", *CONDITIONS)
    recorder.keep_folder("pages", "pages")


def show_world(recorder: Recorder, played: Played) -> None:
    """Print a world's manuals and prompts, play one game step by step, and check the world."""
    split = played.play.partition(" --limit")[0]
    recorder.rpms("rules show", played.world, keep="rules")
    recorder.rpms("rules show --yaml", played.world, keep="rules.yaml")
    recorder.rpms("rules show --manual paper", played.world, keep="rules.paper")
    recorder.rpms("rules check", played.world, keep="rules.check")
    recorder.rpms("prompts show", played.world, keep="prompts.paper")
    recorder.rpms("prompts show --preset strict", played.world, keep="prompts.strict")
    shown = "--verbose --rules --show-prompts"
    recorder.rpms(f"play {split} --preset strict --memory none {shown}", played.world, keep="play")
    recorder.rpms(f"worlds check {split} --games 2 --steps 10", played.world, keep="check")


COMMANDS = {
    "": "",
    "play": "",
    "run": "",
    "learn": "",
    "teach": "pairs train correct show",
    "study": "list show check run",
    "insights": "",
    "report": "",
    "view": "",
    "show": "",
    "table": "",
    "leaderboard": "",
    "export": "",
    "docs": "",
    "worlds": "new check",
    "prompts": "show",
    "models": "check pack",
    "rules": "show check diff review mend learn verify",
    "memory": "show stats merge diff export audit quarantine restore",
    "games": "make",
    "guard": "check audit draft test mcp",
    "envs": "list serve",
}
"""Every command, with its commands."""


def helps(recorder: Recorder) -> None:
    """Keep the help of every command."""
    for command, below in COMMANDS.items():
        recorder.rpms(f"{command} --help", keep=f"rpms {command}".strip())
        for name in below.split():
            recorder.rpms(f"{command} {name} --help", keep=f"rpms {command} {name}")


def mistakes(recorder: Recorder) -> None:
    """Keep what some mistakes of users are told in."""
    recorder.rpms("run alfword", keep="world")
    recorder.rpms("run alfworld --condition ful", keep="condition")
    recorder.rpms("run alfworld --preset stricter", keep="preset")
    recorder.rpms("run alfworld --model plannner", keep="model")
    recorder.rpms("run alfworld --task no-such-task", keep="task")
    recorder.rpms("run alfworld --memory none.jsonl", keep="memory")
    recorder.rpms("run alfworld --manual none.yaml", keep="manual")
    recorder.rpms("run alfworld --enforce menu=many", keep="enforce")
    recorder.rpms("run scienceworld", keep="no-memory")
    recorder.rpms("table ablation nowhere", keep="run")
    recorder.rpms("study run no-such-study", keep="study")
    recorder.write("broken.yaml", "world: alfworld\nactions: [go\n")
    recorder.rpms("rules check broken.yaml", keep="yaml")
    recorder.write("unknown.yaml", "world: alfworld\nnonsense: 1\n")
    recorder.rpms("rules check unknown.yaml", keep="key")
    recorder.rpms("guard check --manual unknown.yaml", keep="guard")


def studies(recorder: Recorder) -> None:
    """Keep what each shipped study would do."""
    recorder.rpms("study list", keep="list")
    studies = {path.stem: path for path in (REPOSITORY / "studies").glob("*.yaml")}
    studies |= {path.parent.name: path for path in REPOSITORY.glob("examples/*/study.yaml")}
    for name, path in sorted(studies.items()):
        recorder.rpms("study check", path, keep=f"check-{name}")
        recorder.rpms(f"study run --dry-run --out {name}", path, keep=f"dry-run-{name}")


def memories(recorder: Recorder) -> None:
    """Harvest two memories and read them by every command that reads memories."""
    learn = "learn alfworld --model planner --processes 1 --limit 6"
    recorder.rpms(f"{learn} --split builtin_train --rounds 2 --out a.jsonl", keep="a.printed")
    recorder.rpms(f"{learn} --split builtin --rounds 1 --harvest clean --out b.jsonl")
    recorder.keep_file("a", "a.jsonl")
    recorder.keep_file("b", "b.jsonl")
    recorder.keep_folder("a.rounds", "a.rounds")
    recorder.rpms("memory merge a.jsonl b.jsonl --out both.jsonl", keep="merge.printed")
    recorder.keep_file("both", "both.jsonl")
    recorder.rpms("memory show a.jsonl", keep="show")
    lines = (recorder.folder / "both.jsonl").read_text(encoding="utf-8").splitlines()
    entry = json.loads(lines[1])["id"]  # the first line is about the file
    recorder.rpms("memory show both.jsonl", entry, keep="show.entry")
    recorder.rpms("memory stats both.jsonl --entries", keep="stats")
    recorder.rpms("memory stats embedded", keep="stats.embedded")
    recorder.rpms("memory diff a.jsonl b.jsonl", keep="diff")
    recorder.rpms("memory export both.jsonl --out both.md")
    recorder.keep_file("export.md", "both.md")
    recorder.rpms("memory export both.jsonl --out both.csv")
    recorder.keep_file("export.csv", "both.csv")
    recorder.rpms(
        "run alfworld --split builtin --limit 12 --memory both.jsonl --overlap allow --mask 0.4"
        " --preset strict --processes 1 --out masked",
        keep="masked.printed",
    )
    recorder.keep_folder("masked.run", "masked")
    recorder.rpms("memory audit masked --memory both.jsonl --rows 50", keep="audit")


def exports(recorder: Recorder) -> None:
    """Replay a recorded model and write its runs in every form: exports, tables, pages."""
    told = (
        "run alfworld --split builtin_large --part 2/2 --limit 4 --steps 30 --max-tokens 128"
        " --context 32768 --model replay/qwen2.5-coder-1.5b --processes 1"
    )
    for condition in ("baseline", "rules-only"):
        command = f"{told} --condition {condition} --out {condition}"
        recorder.rpms(command, keep=f"{condition}.printed")
        recorder.keep_folder(f"{condition}.run", condition)
    runs = "baseline rules-only"
    for form in ("csv", "jsonl"):
        command = f"export {runs} --to {form} --out export-{form}"
        recorder.rpms(command, keep=f"export.{form}.printed")
        recorder.keep_folder(f"export.{form}", f"export-{form}")
    for form in ("terminal", "markdown", "latex", "csv"):
        recorder.rpms(f"table all {runs} --form {form} --published", keep=f"tables.{form}")
        recorder.rpms(f"leaderboard {runs} --form {form}", keep=f"leaderboard.{form}")
    recorder.rpms(f"report {runs} --out pages --published", keep="pages.printed")
    recorder.keep_folder("pages", "pages")
    recorder.keep_folder("static", "pages/static")
    recorder.rpms("show rules-only --task 1 --belief --show-prompts", keep="show")
    recorder.rpms(f"rules verify alfworld {runs}", keep="rules.verify")


def methods(recorder: Recorder) -> None:
    """Play by the methods of other papers, with a model that errs."""
    run = "run alfworld --limit 3 --processes 1"
    recorder.rpms(f"{run} --model planner --out plan")
    script = write_script(recorder, "plan")
    for method in ("react", "act", "reflexion", "stateact", "clin"):
        recorder.rpms(
            f"{run} --agent {method} --model scripted/{script} --steps 8 --out {method}",
            keep=f"{method}.printed",
        )
        recorder.keep_folder(f"{method}.run", method)


def learn_manual(recorder: Recorder, world: str, steps: int, tasks: str) -> None:
    """Learn a manual by experiment, read it by every command that reads manuals, and play by it."""
    split = tasks.partition(" --limit")[0]
    recorder.rpms(
        f"rules learn {split} --steps {steps} --seed 3 --out manual.yaml --memory memory.jsonl",
        world,
        keep="printed",
    )
    recorder.keep_file("manual", "manual.yaml")
    recorder.keep_file("evidence", "manual.evidence.jsonl")
    recorder.keep_file("episodes", "manual.episodes.jsonl")
    recorder.keep_file("memory", "memory.jsonl")
    recorder.rpms("rules check manual.yaml", keep="check")
    recorder.rpms("rules review manual.yaml --all", keep="review")
    recorder.rpms("rules diff manual.yaml", world, keep="diff")
    recorder.rpms("rules verify manual.yaml manual.episodes.jsonl --world", world, keep="verify")
    for preset in ("paper", "strict"):
        recorder.rpms(
            f"run {tasks} --preset {preset} --manual manual.yaml --memory memory.jsonl"
            f" --overlap allow --processes 1 --out {preset}",
            world,
            keep=f"{preset}.printed",
        )
        recorder.keep_folder(f"{preset}.run", preset)
    recorder.rpms("rules mend manual.yaml strict", keep="mend")


WRONG_LINES = {
    "need": ("[holding(object), at(place), 'heats(", "[holding(object), 'heats("),
    "effect": ("effects: [cleaned(object)]", "effects: [lit(object)]"),
}
"""What a manual states, and what is put in its place: a need left out, an effect that fails."""


def wrong_manual(recorder: Recorder) -> None:
    """Play by manuals with one line wrong: surprises, doubts and mending."""
    text = recorder.rpms("rules show alfworld --yaml")
    for name, (stated, instead) in WRONG_LINES.items():
        if stated not in text:
            raise ValueError(f"the manual has no {stated!r} any more")
        recorder.write(f"{name}.yaml", text.replace(stated, instead))
        recorder.rpms(f"rules check {name}.yaml", keep=f"{name}.check")
        recorder.rpms(f"rules diff {name}.yaml alfworld", keep=f"{name}.diff")
        recorder.rpms(
            "run alfworld --preset strict --condition rules-only --model menu-random/5"
            " --task pick_heat_then_place_in_recep,pick_clean_then_place_in_recep --per-task 1"
            f" --manual {name}.yaml --processes 1 --out {name}",
            keep=f"{name}.printed",
        )
        recorder.keep_folder(f"{name}.run", name)
        recorder.rpms(f"rules mend {name}.yaml {name}", keep=f"{name}.mend")
        recorder.rpms(f"report {name} --out {name}.pages")
        recorder.keep_folder(f"{name}.pages", f"{name}.pages")


def requests(recorder: Recorder, *readers: str) -> None:
    """Read goals in people's own words by comparing words, or by other controls."""
    for reader in readers:
        recorder.rpms(
            "run alfworld --option goals=human --preset strict --limit 3 --steps 10 --model planner"
            f" --reader {reader} --processes 1 --out {reader}",
            keep=f"{reader}.printed",
        )
        recorder.keep_folder(f"{reader}.run", reader)
    goal = "put a warmed apple into the fridge"
    recorder.rpms("play alfworld --task 2 --steps 6 --preset strict --goal", goal, keep="play")


def guards(recorder: Recorder) -> None:
    """Check and test the guard's example manuals."""
    for name in ("files", "git", "shop"):
        recorder.rpms("guard check --manual", GUARDS / f"{name}.yaml", keep=f"{name}.check")
    manual = GUARDS / "files.yaml"
    recorder.rpms("guard test", manual, GUARDS / "files_cases.yaml", keep="files.test")


def making(recorder: Recorder) -> None:
    """Make ALFWorld games of a seed and a new world; check and play them."""
    recorder.rpms("games make --seed 1 --count 6 --out games", keep="games.printed")
    recorder.keep_folder("games", "games")
    run = "run alfworld --split train --data games --condition rules-only --processes 1"
    recorder.rpms(f"{run} --out run", keep="games.run.printed")
    recorder.keep_folder("games.run", "run")
    recorder.rpms("worlds new lighthouse", keep="world.printed")
    recorder.rpms("worlds check ./lighthouse", keep="world.check")


def agents(recorder: Recorder) -> None:
    """Play through `rpms.Agent`, which a program of one's own uses, and keep its reasons."""
    import rpms  # noqa: PLC0415  a case loads the package, the table of cases does not

    for condition in CONDITIONS:
        with rpms.Agent(
            "alfworld", model="planner", memory="embedded", condition=condition
        ) as agent:
            recorder.keep(condition, _played_by(agent))
            agent.save("learned.jsonl")
        recorder.keep_file(f"{condition}.learned", "learned.jsonl")


def _played_by(agent: rpms.Agent) -> str:
    """What an agent sees, says and does in three embedded games."""
    from rpms.worlds.base import Setting  # noqa: PLC0415
    from rpms.worlds.registry import find_world  # noqa: PLC0415

    world = find_world("alfworld")
    lines = []
    for task in world.tasks("builtin", Setting())[:3]:
        environment = world.open(task, Setting())
        outcome = environment.reset()
        agent.reset(outcome.observation)
        while not outcome.done:
            command = agent.act(outcome.observation)
            lines += [outcome.observation, agent.explain(), f"> {command}"]
            outcome = environment.step(command)
        agent.outcome(won=outcome.won, observation=outcome.observation)
        environment.close()
    return "\n".join(lines) + "\n"


def quickstart(recorder: Recorder, study: str) -> None:
    """Run a whole study of the quickstart, and keep its runs, tables and pages.

    The second time nothing is played any more, and times are those that `fix_times` wrote.
    """
    path = REPOSITORY / "studies" / f"{study}.yaml"
    recorder.rpms("study run --no-report --processes 1 --out study", path)
    recorder.rpms("study run --processes 1 --out study", path, keep="printed")
    recorder.keep_folder("study", "study")
    recorder.rpms("table all study --form markdown", keep="tables")
    recorder.rpms("export study --out csv")
    recorder.keep_folder("export", "csv")


class Case(NamedTuple):
    make: Callable[[Recorder], None]
    fast: bool = True


FAST = {"alfworld-world", "alfworld-paper", "alfworld-strict", "toolbox-world", "toolbox-strict"}
"""Cases of worlds that need no JVM and little time."""


def _world_cases() -> Iterator[tuple[str, Case]]:
    for played in WORLDS:
        name = f"{played.name}-world"
        yield name, Case(partial(show_world, played=played), name in FAST)
        for preset in ("paper", "strict"):
            make = partial(play_world, played=played, preset=preset)
            name = f"{played.name}-{preset}"
            yield name, Case(make, name in FAST)


def _learning_cases() -> Iterator[tuple[str, Case]]:
    learned = (
        ("toolbox", str(TOOLBOX), 800, "--split train --limit 3"),
        ("alfworld", "alfworld", 1500, "--split builtin --limit 3"),
        ("textworld-express", "textworld-express", 1500, "--split train --limit 2"),
    )
    for name, world, steps, tasks in learned:
        make = partial(learn_manual, world=world, steps=steps, tasks=tasks)
        yield f"learned-{name}", Case(make, fast=name == "toolbox")


CASES: Mapping[str, Case] = {
    **dict(_world_cases()),
    "help": Case(helps),
    "mistakes": Case(mistakes),
    "studies": Case(studies),
    "memories": Case(memories),
    "exports": Case(exports),
    "methods": Case(methods),
    "wrong-manual": Case(wrong_manual, fast=False),
    "requests": Case(lambda recorder: requests(recorder, "words")),
    "requests-controls": Case(lambda recorder: requests(recorder, "nearest", "random"), fast=False),
    "guards": Case(guards),
    "making": Case(making),
    "agents": Case(agents),
    **dict(_learning_cases()),
    "quickstart": Case(lambda recorder: quickstart(recorder, "quickstart"), fast=False),
    "quickstart_taught": Case(
        lambda recorder: quickstart(recorder, "quickstart_taught"), fast=False
    ),
    "quickstart_model": Case(lambda recorder: quickstart(recorder, "quickstart_model"), fast=False),
    "quickstart_requests": Case(
        lambda recorder: quickstart(recorder, "quickstart_requests"), fast=False
    ),
}


@contextmanager
def _own_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="golden-")).resolve()
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield folder
    finally:
        os.chdir(before)
        shutil.rmtree(folder, ignore_errors=True)


def record(name: str) -> dict[str, str]:
    """Play one case in a folder of its own; return its outputs by name."""
    with _own_folder() as folder:
        recorder = Recorder(folder)
        CASES[name].make(recorder)
    return recorder.outputs


def write(name: str, out: str) -> dict[str, str]:
    """Record one case, write its texts to OUT/CASE and return their hashes."""
    outputs = record(name)
    print(f"{name}: recorded in {time.process_time():.1f} s of processor time", flush=True)
    folder = Path(out) / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    hashes = {}
    for output, text in outputs.items():
        raw = text.encode("utf-8")
        (folder / f"{output}.txt").write_bytes(raw)
        hashes[f"{name}/{output}"] = hashlib.sha256(raw).hexdigest()
    return hashes


def prepare_environment() -> None:
    """Give every case the same width, language and time zone, and no keys or games of this machine."""
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_BASE_URL")) or name in {"ALFWORLD_DATA", "FORCE_COLOR"}:
            del os.environ[name]
    os.environ.update(VARIABLES)


def record_all(names: list[str], out: Path, jobs: int) -> dict[str, str]:
    """Record cases, each in a process of its own, so that none sees what another has cached; one
    alone has this process to itself.

    A case that breaks is told, and its outputs are missing.
    """
    prepare_environment()
    if len(names) == 1:
        return _record_here(names[0], out)
    found: dict[str, str] = {}
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, max_tasks_per_child=1) as pool:
        waiting = {name: pool.submit(write, name, str(out.resolve())) for name in names}
        for name, future in waiting.items():
            failure = future.exception()
            if failure is not None:
                print(f"{name}: {type(failure).__name__}: {failure}")
                continue
            found.update(future.result())
    return found


def _record_here(name: str, out: Path) -> dict[str, str]:
    try:
        return write(name, str(out.resolve()))
    except Exception:  # noqa: BLE001 - its outputs are missing, as those of a process that died
        traceback.print_exc()
        return {}


def read_expected() -> dict[str, str]:
    if not EXPECTED.exists():
        return {}
    return dict(json.loads(EXPECTED.read_text(encoding="utf-8")))


def update_expected(names: list[str], found: Mapping[str, str]) -> None:
    """Replace the expected hashes of these cases, and forget those of cases that are gone."""
    kept = {}
    for output, value in read_expected().items():
        case = output.partition("/")[0]
        if case in CASES and case not in names:
            kept[output] = value
    EXPECTED.write_text(
        json.dumps({**kept, **found}, indent=0, sort_keys=True) + "\n", encoding="utf-8"
    )


def differences(names: list[str], found: Mapping[str, str]) -> list[str]:
    """The outputs that are not as expected: changed, new or missing; and cases that broke."""
    expected = {
        output: value
        for output, value in read_expected().items()
        if output.partition("/")[0] in names
    }
    changed = [
        output for output in expected if output in found and found[output] != expected[output]
    ]
    lines = [f"changed: {output}" for output in changed]
    recorded = {output.partition("/")[0] for output in found}
    lines += [f"broken: {name}" for name in names if name not in recorded]
    lines += [f"missing: {output}" for output in sorted(expected.keys() - found.keys())]
    lines += [f"new: {output}" for output in sorted(found.keys() - expected.keys())]
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"cases; by default all: {', '.join(CASES)}"
    )
    parser.add_argument(
        "--out", type=Path, default=HERE / "recorded", help="the folder for the full texts"
    )
    parser.add_argument(
        "--fast", action="store_true", help="only the cases that `pytest tests/golden` plays"
    )
    parser.add_argument("--update", action="store_true", help="write the hashes to expected.json")
    parser.add_argument("--jobs", type=int, default=2, help="how many cases are recorded at once")
    given = parser.parse_args()
    unknown = set(given.names) - CASES.keys()
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    names = given.names or [name for name, case in CASES.items() if case.fast or not given.fast]
    found = record_all(names, given.out, given.jobs)
    if given.update:
        update_expected(names, found)
    lines = differences(names, found)
    print("\n".join(lines) or f"{len(found)} outputs are as expected")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
