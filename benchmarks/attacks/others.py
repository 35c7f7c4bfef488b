"""What others bring: folders that are not ours, files that lie about, worlds, addresses, keys that
come back, two commands at once, and studies that only look sound.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from asyncio import CancelledError
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from attacks.command import run_command
from attacks.mutate import NASTY_TEXTS, NASTY_VALUES, changed_tree
from rpms.envs.env_episodes import Episodes
from rpms.envs.trl import environment_factory
from rpms.induction.learn import Exploring, RulesPlan, learn_rules
from rpms.logic.errors import InputError, RPMSError
from rpms.models.catalogue import ModelOptions, open_model
from rpms.models.policy import PolicyModel, follow_plan
from rpms.models.secrets import safe_excerpt, without_secrets
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.run import run
from rpms.store.files import change_text
from rpms.store.manual_reader import ManualText
from rpms.store.manuals import find_mistakes
from rpms.store.own_folders import LIST, replaced_folder
from rpms.study.study_files import read_study
from rpms.worlds.base import Command, Outcome, Setting
from rpms.worlds.registry import find_world

WORLD = find_world("alfworld")
LONGEST_MESSAGE = 5_000


def _contents(folder: Path) -> dict[str, bytes]:
    files = [file for file in folder.rglob("*") if file.is_file() and not file.is_symlink()]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def own_folders(dice: Random, folder: Path, samples: Any) -> None:
    """A folder of somebody's with files of any names, a list that may be forged, and a command
    that would like to replace it: what no command wrote stays as it is.
    """
    place = folder / "place"
    kind = dice.choice(("a report", "an export", "a folder of made games"))
    if dice.random() < 0.5:
        with replaced_folder(place, kind) as written:
            (written / "index.html").write_text("ours")
    else:
        place.mkdir()
    names = ("report.json", "export.json", "notes.txt", "data/x.js", ".git/HEAD", "teaching.json")
    names += ("rpms-games.json", "json_2.1.1/train/mine/trial/game.tw-pddl")
    mine = dice.sample(names, dice.randrange(1, 4)) if dice.random() < 0.8 else []
    for name in mine:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("mine")
    if dice.random() < 0.5:
        sound = {"rpms-wrote": kind, "finished": True, "files": ["../x", "index.html", "*"]}
        (place / LIST).write_text(json.dumps(changed_tree(sound, dice)))
    (folder / "x").write_text("mine")
    link = folder / "link"
    link.symlink_to(place)
    out = dice.choice((place, link, f"{place}/../place", "."))
    before = _contents(place)
    run = str(samples.run)
    commands = (
        ("report", run),
        ("leaderboard", run),
        ("export", "--to", "csv", run),
        ("games", "make", "--count", "1"),
    )
    words = dice.choice(commands)
    try:
        run_command([*words, "--out", str(out)], place if out == "." else folder)
    finally:
        after = _contents(place)
        lost = [name for name in mine if after.get(name) != b"mine"]
        if lost or (folder / "x").read_text() != "mine":
            raise AssertionError(f"{words} removed {lost}")
        if mine and after.keys() != before.keys():
            raise AssertionError(f"{words} changed a folder of somebody's")


IMPORTS = """
import importlib, os, sys
here, opened = os.getcwd(), []
sys.addaudithook(lambda event, told: opened.append(told[0]) if event == "open" else None)
for name in ("rpms.report.figures", "rpms.envs.openenv", "rpms.guard.mcp_proxy", "rpms.cli"):
    try:
        importlib.import_module(name)
    except ImportError:
        pass
names = {path for path in opened if isinstance(path, str)}
print([path for path in names if os.path.dirname(os.path.abspath(path)) == here])
"""


def current_folder(dice: Random, folder: Path, _samples: Any) -> None:
    """Files with names that libraries look for, in the folder where a command is started."""
    for name in ("matplotlibrc", ".env", "pyproject.toml", ".netrc", "fastmcp.json"):
        if dice.random() < 0.7:
            (folder / name).write_bytes(dice.randbytes(200))
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=140,
        check=False,
    )
    if done.returncode or done.stdout.strip().splitlines()[-1] != "[]":
        raise AssertionError(
            f"read in the current folder: {done.stdout[-200:]} {done.stderr[-200:]}"
        )


PIECES = (
    '"\\UFFFFFFFF"',
    '"\\xZZ"',
    '"\\ud800"',
    "!!timestamp 9999-99-99",
    "!!float abc",
    "!!int 0b",
    "2001-02-30",
    "0x",
    "1_",
    "!!binary ???",
    "!!set {a, b}",
    "!!omap [a: 1]",
    "? [a]",
    "&a",
    "*a",
    "<<: 5",
    "|9",
    ">-",
    "%TAG ! x",
    "---",
    "...",
    "- ",
    "a: ",
    "[",
    "}",
    "\n",
    "\n  ",
    "'",
    "#",
    "\t",
    "~",
)


def yaml_pieces(dice: Random, folder: Path, _samples: Any) -> None:
    """Texts of what YAML has forms for: whatever its parser raises is a refusal."""
    text = "".join(dice.choice(PIECES) for _ in range(dice.randrange(1, 12)))
    find_mistakes(ManualText("m.yaml", f"a: {text}"))
    (folder / "s.yaml").write_text(f"a: {text}")
    read_study(folder / "s.yaml")


def _raises(error: BaseException) -> Callable[..., Any]:
    def call(*_: object) -> Any:
        raise error

    return call


class _Nameless:
    def __str__(self) -> str:
        raise TypeError("no text")


def _answer(dice: Random) -> Callable[..., Any]:
    """A function that answers with anything, or raises it."""
    if dice.random() < 0.3:
        errors = (SystemExit(0), ValueError("x"), KeyError(), RecursionError(), OSError(5))
        return _raises(dice.choice((*errors, CancelledError(), GeneratorExit())))
    parts = [dice.choice((*NASTY_VALUES, object(), 10**400, _Nameless())) for _ in range(4)]
    value = dice.choice(
        (
            *NASTY_VALUES,
            Outcome(*parts),
            Outcome("x", *parts[1:]),
            Outcome("x", 0.0, parts[2], parts[3]),
            Command(parts[0]),
            tuple(NASTY_TEXTS),
            ("look",) * 300_000,
        )
    )
    return lambda *_: value


METHODS = ("goal", "start", "update", "infeasible", "command", "contradictions", "tasks", "open")
METHODS += ("manual", "procedures", "edition", "variation", "tools")
GAMES = ("reset", "step", "admissible", "close")


def worlds_of_others(dice: Random, folder: Path, _samples: Any) -> None:
    """A world one of whose methods, or one of whose games' methods, does anything: an episode is
    marked, or one line is said.
    """
    kind = type(WORLD)
    method = dice.choice((*METHODS, *GAMES, *GAMES))
    answer = _answer(dice)

    def opened(self: Any, task: Any, setting: Setting) -> Any:
        game = kind.open(self, task, setting)
        setattr(game, method, answer)
        return game

    broken = {"open": opened} if method in GAMES else {method: answer}
    world = type("Odd", (kind,), {**broken, "name": "alfworld"})()
    match dice.randrange(3):
        case 0:
            model = PolicyModel("planner", follow_plan)
            tasks = WORLD.tasks("builtin", Setting())[:1]
            memory = EpisodicMemory()
            design = design_run(
                world, model.name, lend(model), tasks=tasks, step_budget=2, memory=memory
            )
            if not run(design, folder / "run").rows:
                raise AssertionError("a run without an episode")
        case 1:
            tasks = tuple(WORLD.tasks("builtin", Setting())[:1])
            learn_rules(RulesPlan(world, tasks, exploring=Exploring(steps=3)), folder / "m.yaml")
            if not (folder / "m.yaml").exists():
                raise AssertionError("a learning without a manual")
        case _:
            episodes = Episodes(world)
            episodes.start(episodes.choose(0))
            episodes.step("look")
            episodes.admissible()
            episodes.close()


HOSTS = ("①②⑦.0.0.1", "ｌocalhost", "xn--", "a..b", "[::1", "[v1.x]", "127.1", "0x7f.1", "é", "-")


def addresses(dice: Random, _folder: Path, _samples: Any) -> None:
    """Addresses of servers, of which few are any."""
    host = dice.choice((*HOSTS, *NASTY_TEXTS))
    user = dice.choice(("", "", "u@", "u:p@", "@@"))
    port = dice.choice(("", ":1", ":99999", ":-1", ":x", ":①"))
    path = dice.choice(("/v1", "", "/\ud800", "?a=b", "#x", "/../.."))
    url = f"{dice.choice(('http', 'https', 'HTTP', 'file', ''))}://{user}{host}{port}{path}"
    open_model("vllm/m", ModelOptions(base_url=url)).close()


KEY = "Planted-key-8c1d22e7f0a4"


def echoed_keys(dice: Random, _folder: Path, _samples: Any) -> None:
    """A key that comes back in other letters, or with signs between them that nobody sees."""
    sign = dice.choice(("", "\u200b", "\u2060", "\x00", "\n", "\ufe0f"))
    write = dice.choice((str, str.upper, str.lower, str.swapcase, str.title))
    before, after = (dice.choice(NASTY_TEXTS) for _ in range(2))
    text = f"{before} {sign.join(write(KEY))} {after}"
    for told in (safe_excerpt(text, (KEY,)), without_secrets(text, (KEY,))):
        letters = "".join(char for char in told if char.isascii() and char.isprintable())
        if KEY.lower() in letters.lower():
            raise AssertionError(f"the key is shown: {told[:100]}")


def changes_at_once(dice: Random, folder: Path, _samples: Any) -> None:
    """Commands that change one file at once, through links too: one of them does."""
    file = folder / "kept.yaml"
    file.write_text("a\n")
    link = folder / "link.yaml"
    link.symlink_to(file)
    count = dice.randrange(2, 5)
    refused: list[str] = []

    def change(place: Path) -> None:
        try:
            change_text(place, "a\n", "a\nb\n")
        except InputError as error:
            refused.append(str(error))

    threads = [
        threading.Thread(target=change, args=(dice.choice((file, link)),)) for _ in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if len(refused) != count - 1 or file.read_text() != "a\nb\n" or not link.is_symlink():
        raise AssertionError(f"{count} changes at once, {len(refused)} refused")


SETTINGS = {
    "engine": ("native", "warp", "", "ray"),
    "options": ("{}", "{dialect: '0.3'}", "{warp: 1}"),
    "reader": ("nearest", "nobody/x", "planner", "''"),
    "manual": ("paper", "none-such.yaml", "complete", "''"),
    "memory": ("none", "none-such.jsonl", "embedded"),
    "models": ("[planner]", "[nobody/x]", "[]", "[planner, random]"),
}


def checked_studies(dice: Random, folder: Path, _samples: Any) -> None:
    """A study that `study check` takes is one that `study run` takes."""
    chosen = {name: dice.choice(values) for name, values in SETTINGS.items() if dice.random() < 0.4}
    lines = [f"{name}: {value}" for name, value in chosen.items()]
    text = "title: t\nworld: alfworld\nlimit: 1\nsteps: 1\nconditions: {rules-only: {}}\n"
    (folder / "s.yaml").write_text(text + "\n".join(lines) + "\n")
    run_command(["study", "check", "s.yaml"], folder)
    if chosen.get("models", "[]") == "[]":
        return
    try:
        run_command(["study", "run", "s.yaml", "--no-report", "--out", "out"], folder)
    except InputError as error:
        raise AssertionError(f"checked, and then refused: {error}") from None


def library_arguments(dice: Random, _folder: Path, _samples: Any) -> None:
    """What a program may pass to make environments; a message echoes no long name whole."""
    long = dice.choice(("x" * 100_000, "a b " * 25_000))
    values = (*NASTY_VALUES, long, object(), b"x")
    names = ("split", "data", "engine", "options", "max_steps")
    asked = {name: dice.choice(values) for name in names if dice.random() < 0.3}
    world = dice.choice(("alfworld", *values)) if dice.random() < 0.4 else "alfworld"
    try:
        environment_factory(world, **asked)().reset(dice.choice((0, *values)))
    except RPMSError as error:
        if len(str(error)) > LONGEST_MESSAGE:
            raise AssertionError(f"a message of {len(str(error)):,} characters") from None
        raise
