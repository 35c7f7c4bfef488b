"""Hostile inputs by kind. A kind makes an input and gives it to the code that reads it.

A new kind of file or message is one function and one line in `KINDS`: it is given the dice, a
folder of its own and the sound samples, writes or builds something hostile, and lets the product
read it. Whatever the product raises on purpose is a refusal; everything else is a failure.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from attacks.command import run_command
from attacks.environments import environment_requests, openenv_messages, trainers_arguments
from attacks.guarded import (
    guard_approvals,
    guard_paths,
    guard_reloads,
    guard_sessions,
    guard_values,
)
from attacks.learned import evidence, explorations, learned_manuals
from attacks.mutate import NASTY_TEXTS, as_json, bomb, changed_bytes, changed_tree
from attacks.named import named_code
from attacks.others import (
    addresses,
    changes_at_once,
    checked_studies,
    current_folder,
    echoed_keys,
    library_arguments,
    own_folders,
    worlds_of_others,
    yaml_pieces,
)
from attacks.tools import guard_logs, guard_manuals, python_facts, tool_results
from rpms.foreign.json_text import question_key
from rpms.learning.inventory import full_text
from rpms.models.base import Decoding, Request
from rpms.models.policy import FunctionModel, PolicyModel, follow_plan, read_script
from rpms.models.recorded import RecordedModel, ReplayModel
from rpms.paper.memory import merge
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.meter import spending
from rpms.play.run import run
from rpms.report.gather import gather
from rpms.report.page_data import episode_data
from rpms.store.answers import FolderOfAnswers, PackedAnswers, pack
from rpms.store.episodes import content_text, packed, read_episode, read_row, unpacked
from rpms.store.files import read_sealed, sealed
from rpms.store.manual_reader import ManualText, manual_text
from rpms.store.manuals import find_mistakes, read_manual
from rpms.store.memories import memory_hash, read_memory, write_memory
from rpms.store.memory_entries import entry_of
from rpms.store.protocol import read_protocol
from rpms.store.quarantine import quarantine_file, read_quarantine, restore
from rpms.store.runs import PROTOCOL, RunFolder, open_run
from rpms.study.study_files import read_study
from rpms.worlds.alfworld.engine.gamefile import load_engine
from rpms.worlds.alfworld.game import NativeGame
from rpms.worlds.alfworld.games.listing import builtin_game, builtin_ids
from rpms.worlds.registry import find_world

WORLD = find_world("alfworld")
HEAD = (
    "version",
    "task",
    "type",
    "goal",
    "goal_signature",
    "ending",
    "score",
    "won",
    "error",
    "metrics",
)


@dataclass(frozen=True)
class Samples:
    """Sound files to start from."""

    run: Path
    record: Path
    studies: tuple[bytes, ...]
    manuals: tuple[bytes, ...]
    memories: tuple[bytes, ...]
    request: Request
    root: Path


def make_samples(folder: Path, root: Path) -> Samples:
    """Play a little, so that there are files to spoil."""
    planner = PolicyModel("planner", follow_plan)
    run(
        design_run(WORLD, planner.name, lend(planner), limit=2, memory=EpisodicMemory()),
        folder / "run",
    )
    asked: list[Request] = []

    def answer(request: Request) -> str:
        asked.append(request)
        return "Thought: I look.\nAction: look"

    model = RecordedModel(FunctionModel(answer, "m"), FolderOfAnswers(folder / "record"))
    run(
        design_run(WORLD, model.name, lend(model), limit=1, step_budget=3, memory=EpisodicMemory()),
        folder / "recorded",
    )
    worlds = [
        text.encode()
        for name in ("alfworld", "scienceworld")
        for _, text in find_world(name).manual()
    ]
    embedded = Path(WORLD.embedded_memory()).read_bytes()  # type: ignore[attr-defined]
    studies = tuple(path.read_bytes() for path in sorted((root / "studies").glob("*.yaml")))
    return Samples(
        folder / "run", folder / "record", studies, tuple(worlds), (embedded,), asked[0], root
    )


def manuals(dice: Random, folder: Path, samples: Samples) -> None:
    text = (
        bomb(dice)
        if dice.random() < 0.05
        else changed_bytes(_part(dice.choice(samples.manuals), dice), dice)
    )
    (folder / "manual.yaml").write_bytes(text)
    source = manual_text(folder / "manual.yaml")
    find_mistakes(source)
    read_manual(ManualText("manual.yaml", source.text))


def _part(text: bytes, dice: Random) -> bytes:
    """A piece of whole lines: a whole manual takes long to read, and its mistakes are in one
    place.
    """
    lines = text.splitlines(keepends=True)
    start = dice.randrange(len(lines))
    return b"".join(lines[start : start + 25])


def studies(dice: Random, folder: Path, samples: Samples) -> None:
    sound = dice.choice(samples.studies)
    (folder / "study.yaml").write_bytes(
        bomb(dice) + sound if dice.random() < 0.05 else changed_bytes(sound, dice)
    )
    read_study(folder / "study.yaml")


def memories(dice: Random, folder: Path, samples: Samples) -> None:
    lines = dice.choice(samples.memories).splitlines()
    chosen = [lines[0], *dice.sample(lines[1:], 4)]
    if dice.random() < 0.6:
        chosen[-1] = as_json(changed_tree(json.loads(chosen[-1]), dice))
        data = b"\n".join(chosen)
    elif dice.random() < 0.01:
        data = (
            b'{"type": "success", "precondition": {"a": ['
            + dice.choice((b"[],", b'["a",1],', b"\n")) * 20_000_000
        )
    else:
        data = changed_bytes(b"\n".join(chosen), dice)
    (folder / "memory.jsonl").write_bytes(data)
    memory = read_memory(folder / "memory.jsonl")
    memory_hash(memory)
    for entry in memory.entries:
        full_text(entry)
    write_memory(
        folder / "again.jsonl", merge(memory.entries, memory.entries), memory.world or "alfworld"
    )
    read_memory(folder / "again.jsonl")


def quarantines(dice: Random, folder: Path, samples: Samples) -> None:
    _, *lines = dice.choice(samples.memories).splitlines()
    memory = folder / "memory.jsonl"
    write_memory(
        memory, [entry_of(memory, 1, json.loads(line))[0] for line in lines[:2]], "alfworld"
    )
    aside = [
        {"reason": dice.choice(NASTY_TEXTS), "entry": json.loads(line)}
        for line in dice.sample(lines[2:], 3)
    ]
    chosen = [
        as_json({"type": "quarantine", "world": "alfworld", "version": 1}),
        *map(as_json, aside),
    ]
    if dice.random() < 0.6:
        place = dice.randrange(len(chosen))
        chosen[place] = as_json(changed_tree(json.loads(chosen[place]), dice))
        data = b"\n".join(chosen)
    else:
        data = changed_bytes(b"\n".join(chosen), dice)
    quarantine_file(memory).write_bytes(data)
    for item in read_quarantine(memory, "alfworld"):
        restore(memory, item.entry.id)
    read_memory(memory)


def games(dice: Random, folder: Path, samples: Samples) -> None:
    del samples
    data = builtin_game(dice.choice(builtin_ids()))
    path = folder / "game.tw-pddl"
    if dice.random() < 0.5:
        field = dice.choice(list(data))
        if isinstance(data[field], str):
            data[field] = changed_bytes(data[field].encode(), dice).decode("utf-8", "replace")
        path.write_bytes(as_json(data))
    else:
        path.write_bytes(changed_bytes(as_json(changed_tree(data, dice)), dice))
    game = NativeGame(load_engine(path))
    game.reset()
    for command in game.admissible()[:3]:
        game.step(command)


def scripts(dice: Random, folder: Path, samples: Samples) -> None:
    del samples
    lines = [
        as_json(changed_tree({"text": "Action: look", "episode": "e"}, dice)) for _ in range(3)
    ]
    path = folder / dice.choice(("script.jsonl", "script.txt"))
    path.write_bytes(changed_bytes(b"\n".join(lines), dice))
    read_script(path)


def episodes(dice: Random, folder: Path, samples: Samples) -> None:
    source = RunFolder(samples.run)
    sound = source.file(dice.choice(source.protocol.tasks))
    file = folder / "episode.json.gz"
    if dice.random() < 0.2:
        file.write_bytes(changed_bytes(sound.read_bytes(), dice))
    else:
        tree = changed_tree(json.loads(unpacked(sound)), dice)
        file.write_bytes(packed(content_text(tree) if isinstance(tree, dict) else json.dumps(tree)))
    read_row(file)
    record = read_episode(file)
    json.dumps(episode_data(record))


def protocols(dice: Random, folder: Path, samples: Samples) -> None:
    sound = (samples.run / PROTOCOL).read_bytes()
    file = folder / PROTOCOL
    file.write_bytes(
        changed_bytes(sound, dice)
        if dice.random() < 0.3
        else as_json(changed_tree(json.loads(sound), dice))
    )
    protocol = read_protocol(file)
    protocol.differences(RunFolder(samples.run).protocol)
    protocol.text()
    with open_run(folder, protocol):
        gather([folder])


def timings(dice: Random, folder: Path, samples: Samples) -> None:
    for name in (PROTOCOL, "episodes"):
        (folder / name).symlink_to(samples.run / name)
    lines = [
        json.loads(line) for line in (samples.run / "timings.jsonl").read_text().split("\n") if line
    ]
    data = b"\n".join(as_json(changed_tree(line, dice)) for line in lines)
    (folder / "timings.jsonl").write_bytes(
        changed_bytes(data, dice) if dice.random() < 0.4 else data
    )
    price = {"prompt": 1.0, "completion": 2.0, "cached": None, "written": 0.5}
    (folder / "price.json").write_bytes(as_json(changed_tree(price, dice)))
    record = RunFolder(folder)
    record.timings()
    spending(record, record.rows())


def indexes(dice: Random, folder: Path, samples: Samples) -> None:
    group = {"title": "g", "model": "m", "runs": {"full": str(samples.run)}}
    index = {
        "title": "t",
        "about": "",
        "world": "alfworld",
        "tables": ["main"],
        "varies": [],
        "groups": [group],
    }
    data = as_json(changed_tree(index, dice))
    (folder / "study.json").write_bytes(changed_bytes(data, dice) if dice.random() < 0.3 else data)
    gather([folder])


def records(dice: Random, folder: Path, samples: Samples) -> None:
    files = sorted(samples.record.rglob("*.json"))
    sound = dice.choice(files)
    entry = json.loads(sound.read_bytes())["entry"]
    store = FolderOfAnswers(folder)
    if dice.random() < 0.6:
        tree = changed_tree(entry, dice)
        if isinstance(tree, dict):
            key = question_key(tree) if dice.random() < 0.5 else sound.stem
            store.put(key, tree)
    else:
        place = folder / sound.stem[:2] / sound.name
        place.parent.mkdir()
        place.write_bytes(changed_bytes(sound.read_bytes(), dice))
    store.get(sound.stem)
    list(store.entries())
    replay = ReplayModel("replay/x", store, "m")
    replay.answer(samples.request)


def packed_records(dice: Random, folder: Path, samples: Samples) -> None:
    """A record in one file: changed as it is packed, in its lines, or in its lines with a
    checksum that fits.
    """
    file = folder / "r.answers.xz"
    pack(samples.record, file, day="2026-01-01")
    if dice.random() < 0.4:
        file.write_bytes(changed_bytes(file.read_bytes(), dice))
    else:
        heading, *answers = lzma.decompress(file.read_bytes()).decode().split("\n")
        lines = [as_json(changed_tree(json.loads(line), dice)) for line in answers if line]
        body = b"".join(line + b"\n" for line in lines)
        told = {
            **json.loads(heading),
            "answers": len(lines),
            "sha256": hashlib.sha256(body).hexdigest(),
        }
        first = as_json(told if dice.random() < 0.7 else changed_tree(told, dice))
        file.write_bytes(lzma.compress(first + b"\n" + body, preset=0))
    ReplayModel("replay/x", PackedAnswers(file), "m").answer(samples.request)


def experiences(dice: Random, folder: Path, samples: Samples) -> None:
    """Texts that learning keeps beside episodes: a changed one must never be taken for a sound
    one.
    """
    text = samples.memories[0].decode()[:2_000]
    whole = sealed(text).encode()
    data = changed_bytes(whole, dice)
    (folder / "e.json").write_bytes(data)
    if read_sealed(folder / "e.json") != text and data != whole:
        raise AssertionError("a changed text was taken for a sound one")


def answers(dice: Random, folder: Path, samples: Samples) -> None:
    """A model's answers: a whole episode of them, kept and read again."""
    sound = b"Thought: I think I should look.\nAction: go to desk 1\nObservation: nothing"

    def answer(_: Request) -> str:
        text = changed_bytes(sound, dice).decode("utf-8", "surrogateescape")
        return (
            text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
            if dice.random() < 0.7
            else text
        )

    del samples
    model = FunctionModel(answer, "hostile")
    design = design_run(
        WORLD,
        model.name,
        lend(model),
        limit=1,
        step_budget=2,
        decoding=Decoding(),
        memory=EpisodicMemory(),
    )
    run(design, folder / "run")
    record = RunFolder(folder / "run")
    json.dumps(episode_data(record.episode(record.protocol.tasks[0])))


COMMANDS = (
    ("rules", "check"),
    ("rules", "show"),
    ("rules", "diff"),
    ("rules", "review", "--list"),
    ("rules", "verify"),
    ("rules", "learn", "alfworld", "--steps", "20"),
    ("study", "check"),
    ("memory", "show"),
    ("memory", "stats"),
    ("memory", "diff"),
    ("memory", "merge"),
    ("memory", "export"),
    ("play", "alfworld"),
    ("run", "alfworld", "--limit", "1", "--steps", "1"),
    ("learn", "alfworld", "--limit", "1", "--rounds", "1", "--steps", "1"),
    ("table", "main"),
    ("verify", "alfworld"),
    ("models", "check"),
    ("worlds",),
    ("games", "make", "--count", "1"),
)
OPTIONS = [
    "--limit",
    "--steps",
    "--workers",
    "--rounds",
    "--seed",
    "--temperature",
    "--max-tokens",
    "--task",
    "--split",
    "--data",
    "--model",
    "--memory",
    "--preset",
    "--enforce",
    "--option",
    "--out",
    "--condition",
    "--arbitration",
    "--layout",
    "--price",
    "--parameter",
    "--per-task",
    "--sample",
    "--base-url",
    "--engine",
    "--goal",
    "--variation",
    "--help",
    "--version",
    "--form",
    "--title",
    "--world",
    "--type",
    "--dialect",
]


def command_lines(dice: Random, folder: Path, samples: Samples) -> None:
    files = (
        str(samples.run),
        str(folder),
        str(folder / "none"),
        "/dev/zero",
        "/dev/null",
        str(samples.root / "README.md"),
        ".",
        "..",
        "/",
    )
    words = list(dice.choice(COMMANDS))
    for _ in range(dice.randrange(4)):
        value = dice.choice(
            (*NASTY_TEXTS, *files, "1", "-5", "alfworld", "planner", "full", "strict", "menu=5")
        )
        value = (
            value.replace("\x00", "")
            .encode("utf-8", "surrogateescape" if "\ud800" not in value else "replace")
            .decode()
        )
        words += [dice.choice(OPTIONS), value] if dice.random() < 0.7 else [value]
    run_command(words, folder)


Kind = Callable[[Random, Path, Samples], None]
KINDS: dict[str, Kind] = {
    "manuals": manuals,
    "studies": studies,
    "memories": memories,
    "quarantines": quarantines,
    "games": games,
    "scripts": scripts,
    "episodes": episodes,
    "protocols": protocols,
    "timings and prices": timings,
    "study indexes": indexes,
    "records": records,
    "packed records": packed_records,
    "experiences": experiences,
    "model answers": answers,
    "command lines": command_lines,
    "guard manuals": guard_manuals,
    "guard logs": guard_logs,
    "guard python facts": python_facts,
    "tool results": tool_results,
    "guard paths": guard_paths,
    "guard values": guard_values,
    "guard sessions": guard_sessions,
    "guard approvals": guard_approvals,
    "guard reloads": guard_reloads,
    "environment requests": environment_requests,
    "OpenEnv messages": openenv_messages,
    "trainers' arguments": trainers_arguments,
    "named code": named_code,
    "learned manuals": learned_manuals,
    "evidence": evidence,
    "explorations": explorations,
    "folders of others": own_folders,
    "the current folder": current_folder,
    "YAML pieces": yaml_pieces,
    "worlds of others": worlds_of_others,
    "addresses": addresses,
    "echoed keys": echoed_keys,
    "changes at once": changes_at_once,
    "checked studies": checked_studies,
    "library arguments": library_arguments,
}
"""Every kind of input, by the name that the table gives it."""
SLOW = {
    "model answers": 0.05,
    "command lines": 0.05,
    "named code": 0.05,
    "OpenEnv messages": 0.3,
    "packed records": 0.1,
    "manuals": 0.5,
    "games": 0.5,
    "guard manuals": 0.3,
    "guard logs": 0.3,
    "guard sessions": 0.3,
    "guard approvals": 0.3,
    "guard reloads": 0.3,
    "learned manuals": 0.1,
    "evidence": 0.1,
    "explorations": 0.05,
    "folders of others": 0.02,
    "the current folder": 0.001,
    "worlds of others": 0.1,
    "addresses": 0.2,
    "changes at once": 0.2,
    "checked studies": 0.02,
}
"""Kinds that take longer, with their share of the tries."""
