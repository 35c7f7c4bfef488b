"""Goals in people's own words: how many are read exactly, and what rules, belief, memory and a
model each add.

    python benchmarks/requests.py lay-out SENTENCES.jsonl.xz … --out DATA
    python benchmarks/requests.py read --data DATA --out OUT [--model hf/PATH] [--split valid_seen] [--limit N]

`lay-out` takes files with one JSON object a line (`game`, `human`, and `problem` for games that
DATA lacks) and writes `traj_data.json` beside each game, as the official download has it, and
DATA/requests.memory.jsonl: the sentences of valid_train as remembered requests. `read` reads each
sentence of a split under every condition. With a model, all sentences of a condition are asked
together, so that a GPU gets large batches; answers are kept in OUT/answers and never asked for
twice, and OUT/answers.xz packs them for `--reader replay/OUT/requests.answers.xz`. Without one, the
controls alone are read. Each reading is a line of OUT/readings.jsonl; a second call goes on from
there. Prints Markdown.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from threading import Lock
from typing import Any

from rpms.logic.belief import StateSignature
from rpms.logic.errors import RPMSError
from rpms.logic.facts import kind_of
from rpms.models.base import Model
from rpms.models.catalogue import ModelOptions, open_model
from rpms.paper.compose import compose
from rpms.paper.condition import CONDITIONS
from rpms.paper.decide import Mind
from rpms.paper.memory import Origin, RememberedRequest, merge
from rpms.play.request_reading import understand
from rpms.play.sources import knowledge_of
from rpms.play.success_rate import wilson
from rpms.play.understanding import Reads
from rpms.reading.readings import Readings
from rpms.report.statistical_tests import interaction, paired_bootstrap
from rpms.store.answers import FolderOfAnswers, open_answers, pack
from rpms.store.memories import freeze, read_frozen, write_memory
from rpms.worlds.alfworld.games.listing import ANNOTATIONS
from rpms.worlds.base import REQUEST, Setting, Task, game_of
from rpms.worlds.registry import find_world

WORLD = find_world("alfworld")
MEMORY = "requests.memory.jsonl"
HUMAN = {"goals": "human"}


@dataclass(frozen=True)
class Way:
    """One condition under which sentences are read."""

    condition: str
    leave_out: frozenset[str] = frozenset()
    control: str = ""


MODEL_WAYS: Mapping[str, Way] = {
    "rules, belief, memory": Way("full"),
    "no rules": Way("full", frozenset({"rules"})),
    "no memory (no examples)": Way("full", frozenset({"memory"})),
    "no rules, no memory": Way("full", frozenset({"rules", "memory"})),
    "no belief": Way("full", frozenset({"belief"})),
}
CONTROL_WAYS: Mapping[str, Way] = {
    "words alone, no model": Way("full", control="words"),
    "nearest remembered request, no model": Way("full", control="nearest"),
    "nearest, no rules and belief": Way("full", frozenset({"rules", "belief"}), "nearest"),
    "random among the possible": Way("full", control="random"),
}
NEITHER, RULES = "no rules, no memory", "no memory (no examples)"
MEMORY_ONLY, BOTH = "no rules", "rules, belief, memory"


@dataclass(frozen=True)
class Sentence:
    """A sentence to read, and the goal of its game."""

    task: Task
    opening: str
    meant: tuple[str, str, str]

    @property
    def game(self) -> str:
        return game_of(self.task.id)


def meant_by(task: str) -> tuple[str, str, str]:
    """Type, object and destination, which an official game's folder is named after."""
    type_, thing, _, destination, _ = task.split("/")[-2].split("-")
    return type_, thing.lower(), destination.lower()


def lay_out(files: Sequence[Path], out: Path) -> None:
    """Write sentences beside their games, and those of valid_train as a memory."""
    entries: list[RememberedRequest] = []
    for file in files:
        with lzma.open(file, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        for row in rows:
            folder = out / "json_2.1.1" / row["game"]
            if "human" not in row:
                continue
            if not folder.is_dir():
                sys.exit(f"{folder}: there is no such game; lay the games out first")
            said = [{"task_desc": text} for text in row["human"]]
            (folder / ANNOTATIONS).write_text(
                json.dumps({"turk_annotations": {"anns": said}}), encoding="utf-8"
            )
    setting = Setting(out, options=HUMAN)
    for sentence in sentences(setting, "valid_train"):
        belief = WORLD.update(WORLD.start(WORLD.goal("")), None, sentence.opening)
        kinds = sorted({kind_of(name) for names in belief.names.values() for name in names})
        type_, thing, destination = sentence.meant
        goal = WORLD.goal_of(type_, {"object": thing, "destination": destination}, "")
        entries.append(
            RememberedRequest(
                goal.signature,
                StateSignature.of(room=tuple(kinds)),
                sentence.task.source[REQUEST],
                origins=frozenset({Origin(sentence.task.id, 1)}),
            )
        )
    memory = merge(entries)
    write_memory(out / MEMORY, memory, WORLD.name)
    freeze(out / MEMORY)
    print(f"{len(memory)} remembered requests in {out / MEMORY}")


def sentences(setting: Setting, split: str) -> Iterator[Sentence]:
    """The sentences of a split with their games' openings."""
    for task in WORLD.tasks(split, setting):
        game = WORLD.open(task, setting)
        opening = WORLD.stating(game.reset().observation, task.source[REQUEST])
        game.close()
        yield Sentence(task, opening, meant_by(game_of(task.id)))


def row_of(sentence: Sentence, way: str, readings: Readings | None) -> dict[str, Any]:
    """A reading as it is kept."""
    ranked = readings.ranked if readings is not None else ()
    goals = [(each.goal.type, each.goal.object, each.goal.destination) for each in ranked]
    first = goals[0] if goals else ("", "", "")
    return {
        "way": way,
        "task": sentence.task.id,
        "request": sentence.task.source[REQUEST],
        "meant": list(sentence.meant),
        "rank": goals.index(sentence.meant) if sentence.meant in goals else -1,
        "fields": [one == other for one, other in zip(first, sentence.meant, strict=True)],
        "ranked": [
            [*goal, round(each.probability, 4)]
            for goal, each in zip(goals[:5], ranked, strict=False)
        ],
    }


def read_all(
    ways: Mapping[str, Way], chosen: Sequence[Sentence], mind: Mind, model: Model | None, file: Path
) -> None:
    """Read every sentence in every way that the file lacks; each is written as it comes."""
    known = {(row["way"], row["task"]) for row in rows_in(file)}
    lock = Lock()
    with file.open("a", encoding="utf-8") as out:
        for name, way in ways.items():
            todo = [sentence for sentence in chosen if (name, sentence.task.id) not in known]
            reads = Reads(model if not way.control else None, way.control, leave_out=way.leave_out)

            def read(sentence: Sentence, name: str = name, reads: Reads = reads) -> None:
                understood = understand(WORLD, mind, reads, sentence.opening, sentence.task.id)
                with lock:
                    out.write(json.dumps(row_of(sentence, name, understood.readings)) + "\n")
                    out.flush()

            started = time.monotonic()
            if todo:
                read(
                    todo[0]
                )  # what is shared between sentences is made once, before threads ask for it
            with ThreadPoolExecutor(
                max(min(len(todo), 512), 1) if reads.model is not None else 1
            ) as pool:
                for _ in pool.map(read, todo[1:]):
                    pass
            print(
                f"{name}: {len(todo)} read in {time.monotonic() - started:.0f} s",
                file=sys.stderr,
                flush=True,
            )


def rows_in(file: Path) -> list[dict[str, Any]]:
    """The readings in a file, those of a call that was stopped while writing left out."""
    if not file.is_file():
        return []
    found = []
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


def table(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Iterator[str]:
    """Exact readings by condition, and each field of the first one."""
    yield "| read with | sentences | first | 95% interval | first two | first five | type | object | place |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    for name in names:
        own = [row for row in rows if row["way"] == name]
        if not own:
            continue
        total = len(own)
        ranks = [row["rank"] for row in own]
        within = [sum(0 <= rank < most for rank in ranks) for most in (1, 2, 5)]
        low, high = wilson(within[0], total)
        fields = [sum(row["fields"][place] for row in own) / total for place in range(3)]
        shown = " | ".join(f"{count / total:.1%}" for count in within[1:])
        each = " | ".join(f"{share:.1%}" for share in fields)
        first = f"{within[0]} ({within[0] / total:.1%}) | {low:.1%} to {high:.1%}"
        yield f"| {name} | {total} | {first} | {shown} | {each} |"


def gains(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Gain of each part of the knowledge in the first reading, and the interaction of rules and
    memory.
    """
    exact: dict[str, dict[str, list[bool]]] = {name: {} for name in MODEL_WAYS}
    for row in rows:
        if row["way"] in exact:
            exact[row["way"]].setdefault(game_of(row["task"]), []).append(row["rank"] == 0)
    games = sorted(set.intersection(*(set(each) for each in exact.values())))
    if not games:
        return
    rates = {name: [fmean(each[game]) for game in games] for name, each in exact.items()}
    for part, without in {"rules": MEMORY_ONLY, "memory": RULES, "belief": "no belief"}.items():
        found = paired_bootstrap(
            [one - other for one, other in zip(rates[BOTH], rates[without], strict=True)]
        )
        yield f"{part}: {found.estimate:+.1%} of a game's sentences [{found.low:+.1%}, {found.high:+.1%}]"
    both = interaction(rates[NEITHER], rates[RULES], rates[MEMORY_ONLY], rates[BOTH])
    yield f"interaction of rules and memory: {both.estimate:+.1%} [{both.low:+.1%}, {both.high:+.1%}]"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    lay = commands.add_parser("lay-out")
    lay.add_argument("files", type=Path, nargs="+")
    lay.add_argument("--out", type=Path, required=True)
    read = commands.add_parser("read")
    read.add_argument("--data", type=Path, required=True)
    read.add_argument("--out", type=Path, required=True)
    read.add_argument("--memory", type=Path, help=f"by default {MEMORY} in --data")
    read.add_argument("--model", default="")
    read.add_argument("--split", default="valid_seen")
    read.add_argument("--limit", type=int, help="the first N sentences alone")
    read.add_argument("--only", default="", help="conditions by name, with semicolons between them")
    args = parser.parse_args()
    if args.command == "lay-out":
        lay_out(args.files, args.out)
        return
    args.out.mkdir(parents=True, exist_ok=True)
    chosen = list(sentences(Setting(args.data, options=HUMAN), args.split))[: args.limit]
    memory = read_frozen(args.memory or args.data / MEMORY, WORLD.name)
    mind = compose(CONDITIONS["full"], knowledge_of(WORLD), memory)
    ways = {**(MODEL_WAYS if args.model else {}), **CONTROL_WAYS}
    if args.only:
        ways = {name: ways[name] for name in args.only.split(";")}
    store = FolderOfAnswers(args.out / "answers")
    model: Model | None = None
    if args.model:
        replays = args.model.startswith("replay/")
        options = ModelOptions(batch=512)
        model = open_model(
            args.model, options, open_answers=open_answers, record=None if replays else store
        )
    try:
        read_all(ways, chosen, mind, model, args.out / "readings.jsonl")
    finally:
        if model is not None:
            model.close()
    rows = rows_in(args.out / "readings.jsonl")
    print("\n".join([*table(rows, list(ways)), "", *gains(rows)]))
    if args.model and not args.model.startswith("replay/"):
        packed = pack(
            args.out / "answers", args.out / "requests.answers.xz", about="what requests mean"
        )
        print(packed.line, file=sys.stderr)


if __name__ == "__main__":
    try:
        main()
    except RPMSError as error:
        sys.exit(f"requests.py: {error}")
