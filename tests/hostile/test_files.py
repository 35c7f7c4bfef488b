"""Files that are bombs, that are no files, or whose insides have wrong types: one line each,
and nobody waits.
"""

from __future__ import annotations

import json
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from rpms.foreign.file_reader import _unpacked, read_bytes, text_lines
from rpms.foreign.limits import MOST_LISTED_VALUES, MOST_YAML_NODES
from rpms.logic.belief import StateSignature
from rpms.logic.errors import FileError, RPMSError
from rpms.models.policy import PolicyModel, follow_plan
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.meter import spending
from rpms.play.run import run
from rpms.report.gather import gather
from rpms.store.episodes import content_text, packed, read_episode, unpacked
from rpms.store.evidence import read_evidence, read_traces
from rpms.store.files import write_whole
from rpms.store.manual_reader import ManualText
from rpms.store.manuals import read_manual
from rpms.store.memories import read_memory
from rpms.store.runs import RunFolder
from rpms.study.study_files import read_study
from rpms.worlds.registry import find_world
from tests.cli.command import Rpms
from tests.hostile.complaints import complaints
from tests.induction.test_rules_learn import learn

WORLD = find_world("alfworld")
SHOP = str(Path(__file__).parents[2] / "examples" / "guard" / "shop.yaml")


@pytest.fixture(scope="module")
def played(tmp_path_factory) -> Path:
    """A run of two episodes, short ones: they are read hundreds of times."""
    folder = tmp_path_factory.mktemp("run") / "run"
    model = PolicyModel("planner", follow_plan)
    run(
        design_run(WORLD, model.name, lend(model), limit=2, step_budget=4, memory=EpisodicMemory()),
        folder,
    )
    return folder


def one_line(error: Exception) -> str:
    text = str(error)
    assert "\n" not in text
    assert len(text) < 1_000
    return text


# --- what parsers raise ---

BEYOND_UNICODE = 'a: "\\UFFFFFFFF"\n'


@pytest.mark.parametrize(
    "command",
    [
        ("rules", "check"),
        ("rules", "diff", "FILE"),
        ("study", "check"),
        ("study", "run"),
        ("guard", "check", "--manual"),
        ("guard", "test", "FILE"),
        ("run", "alfworld", "--limit", "1", "--manual"),
    ],
)
def test_a_character_beyond_unicode_is_one_line(command, rpms: Rpms, tmp_path):
    file = tmp_path / "file.yaml"
    file.write_text(BEYOND_UNICODE)
    line = rpms(*(file if word == "FILE" else word for word in command), file).line
    assert "not valid YAML" in line


@pytest.mark.parametrize("error", [OverflowError, LookupError, ZeroDivisionError, MemoryError])
def test_whatever_a_parser_raises_is_one_line(error, monkeypatch, tmp_path):
    """Caught as a class: no list of exceptions of a library is ever whole."""

    def broken(*_: object) -> None:
        raise error("it cannot")

    monkeypatch.setattr("ruamel.yaml.YAML.load", broken)
    with pytest.raises(FileError, match="not valid YAML"):
        read_manual(ManualText("m.yaml", "a: 1"))
    monkeypatch.setattr("tomllib.loads", broken)
    (tmp_path / "pyproject.toml").write_text("")
    with pytest.raises(FileError, match="cannot be read"):
        find_world(str(tmp_path))


# --- 11: bombs ---


def test_comments_alone_are_an_empty_file_whatever_they_say():
    """`*` and `&` in a comment name no alias."""
    with pytest.raises(FileError, match="this file has none"):
        read_manual(ManualText("empty.yaml", "# no *things* & no places\n"))


def bomb(levels: int = 9) -> str:
    lines = ['a0: &a0 ["x", "x", "x", "x", "x", "x", "x", "x", "x"]']
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines) + "\n"


def test_aliases_that_stand_for_billions_are_counted_and_not_written_out(tmp_path):
    assert len(bomb()) < 500
    for text in (bomb(), bomb(40), f"title: x\nconditions:\n  full: {{layout: &a [*a]}}\n{bomb()}"):
        with pytest.raises(FileError, match=f"{MOST_YAML_NODES:,}|within what it means") as caught:
            read_manual(ManualText("bomb.yaml", text))
        one_line(caught.value)
        (tmp_path / "study.yaml").write_text(text)
        with pytest.raises(FileError):
            read_study(tmp_path / "study.yaml")


def test_merge_keys_do_not_multiply_either(tmp_path):
    lines = ["m0: &m0 {a: 1, b: 2, c: 3}"]
    lines += [
        f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 9)}], k{n}: 1}}" for n in range(1, 20)
    ]
    with pytest.raises(FileError):
        read_manual(ManualText("merge.yaml", "\n".join(lines)))


@pytest.mark.parametrize(
    "text",
    [
        "universal: [" + "a," * 60_000 + "]",
        "universal:\n" + "- a\n" * 60_000,
        "universal:\n" + "- " * 60_000 + "a",
        "a: &a {x: y}\n" + "".join(f"c{n}: {{<<: *a}}\n" for n in range(2_000)),
        "a: &a {x: y}\n" + "".join(f"c{n}: {{!!merge m: *a}}\n" for n in range(2_000)),
    ],
    ids=["flow", "block", "nested", "merged", "merged by tag"],
)
def test_what_would_take_a_yaml_parser_minutes_is_counted_first(text):
    with pytest.raises(FileError, match=f"more than {MOST_YAML_NODES:,} values") as caught:
        read_manual(ManualText("m.yaml", text))
    one_line(caught.value)


def test_an_episode_of_many_small_values_is_counted_before_it_is_read(tmp_path):
    file = tmp_path / "e.json.gz"
    file.write_bytes(packed(content_text({"version": 2, "x": [[]] * 5_000_000})))
    assert file.stat().st_size < 50_000
    with pytest.raises(FileError, match="more than 4,000,000 values") as caught:
        read_episode(file)
    one_line(caught.value)


@pytest.mark.parametrize("read", [read_memory, read_traces, read_evidence])
@pytest.mark.parametrize("piece", ["[],", "\n", '["a",1],'])
def test_a_file_of_many_small_values_is_counted_before_it_is_read(tmp_path, read, piece):
    """240 MB of them took gigabytes."""
    enough = MOST_LISTED_VALUES // sum(map(piece.count, ",[\n")) + 1
    (tmp_path / "many.jsonl").write_text(f'{{"a": [{piece * enough}')
    with pytest.raises(FileError) as refused:
        read(tmp_path / "many.jsonl")
    assert "holds more than 12,000,000 values" in one_line(refused.value)


def test_an_honest_alias_is_read(tmp_path):
    manual = read_manual(
        ManualText(
            "m.yaml",
            "universal:\n  search:\n    U-A-1: &text Look first.\n    U-A-2: {text: *text}\n",
        )
    )
    assert [rule.text for rule in manual.rules] == ["Look first.", "Look first."]


SUCCESS = {
    "id": "a",
    "type": "success",
    "goal_signature": "g:x",
    "state_signature": "holding=none",
    "sub_goal_type": "find",
    "actions": ["look"],
}


@pytest.mark.parametrize(
    "change",
    [
        {"success_count": 1_000_000},
        {"state_signature": "|".join(f"f{n}=x" for n in range(200_000))},
        {"goal_signature": "g" * 1_000_000},
        {"actions": ["look"] * 100_000},
        {"precondition": {str(n): n for n in range(100_000)}},
        {"sub_goal_type": "x" * 100_000},
        {"id": "x" * 100_000},
    ],
    ids=lambda change: next(iter(change)),
)
def test_an_entry_that_would_grow_is_refused_in_one_line(tmp_path, change):
    file = tmp_path / "memory.jsonl"
    file.write_text(json.dumps({**SUCCESS, **change}))
    with pytest.raises(FileError) as caught:
        read_memory(file)
    one_line(caught.value)


def test_many_entries_may_not_make_up_more_than_one_file_may(tmp_path):
    file = tmp_path / "memory.jsonl"
    file.write_text(
        "\n".join(json.dumps({**SUCCESS, "id": f"e{n}", "success_count": 9_999}) for n in range(50))
    )
    with pytest.raises(FileError, match="200,000 observations that it does not name"):
        read_memory(file)


def test_a_signature_of_many_fields_is_read_in_one_go():
    assert len(StateSignature.parse("|".join(f"f{n}=x" for n in range(50_000))).fields) == 50_000


@pytest.mark.parametrize("inside", [b"\n", b"x", b'{"game": "a", "steps": []}\n'])
def test_a_file_that_unpacks_to_gigabytes_is_refused(tmp_path, inside):
    file = tmp_path / "bomb.jsonl.xz"
    packer = lzma.LZMACompressor(preset=0)
    piece = inside * (4_000_000 // len(inside))
    with file.open("wb") as stream:
        for _ in range(20):
            stream.write(packer.compress(piece))
        stream.write(packer.flush())
    assert file.stat().st_size < 200_000
    with pytest.raises(FileError) as caught:
        list(text_lines(file))
    one_line(caught.value)


def test_an_xz_header_cannot_claim_gigabytes_of_memory(tmp_path):
    file = tmp_path / "dictionary.jsonl.xz"
    filters = [
        {"id": lzma.FILTER_LZMA2, "dict_size": 1 << 30, "mode": lzma.MODE_FAST, "mf": lzma.MF_HC3}
    ]
    file.write_bytes(lzma.compress(b"{}\n", filters=filters))
    with pytest.raises(FileError, match="xz"):
        list(text_lines(file))


def test_empty_xz_streams_cost_their_reader_nothing():
    packed = (
        lzma.compress(b"a line") + 1_000 * lzma.compress(b"") + lzma.compress(b" and its end\n")
    )
    assert list(_unpacked(iter([packed]))) == [b"a line", b" and its end\n"]


def test_xz_files_may_be_of_several_pieces_and_a_cut_is_noticed(tmp_path):
    file = tmp_path / "t.jsonl.xz"
    whole = lzma.compress(b"one\n") + lzma.compress(b"two\nthree") + b"\0" * 8
    file.write_bytes(whole)
    assert list(text_lines(file)) == ["one", "two", "three"]
    for cut in range(1, len(whole) - 8):
        file.write_bytes(whole[:cut])
        if cut != len(lzma.compress(b"one\n")):
            with pytest.raises(FileError):
                list(text_lines(file))


# --- 12: wrong types behind a right checksum ---

WRONG = [None, True, -1, 10**30, 1.5, "text", [], ["x"], {}, {"a": 1}, [[]], "\x1b[31m"]


def places(value, path=()):
    yield path
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for name, item in inner:
        yield from places(item, (*path, name))


def put(value, path, new):
    copy = json.loads(json.dumps(value))
    if not path:
        return new
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = new
    return copy


def read_all(folder: Path) -> None:
    """Whatever a command reads of a run."""
    record = RunFolder(folder)
    record.summary()
    spending(record, record.rows())
    record.timings()
    for task in record.protocol.tasks:
        episode = record.episode(task)
        for step in episode.steps:
            assert episode.prompt(step.number).text is not None
    gather([folder])


def test_wrong_types_in_an_episode_are_one_line(played, tmp_path):
    source = RunFolder(played)
    task = source.protocol.tasks[0]
    content = json.loads(unpacked(source.file(task)))
    content["steps"] = content["steps"][:2]
    folder = tmp_path / "run"
    (folder / "episodes").mkdir(parents=True)
    for name in ("protocol.json", "timings.jsonl"):
        (folder / name).write_bytes((played / name).read_bytes())
    other = source.file(source.protocol.tasks[1])
    (folder / "episodes" / other.name).write_bytes(other.read_bytes())
    tried = refused = 0
    every = [path for path in places(content) if path]
    for number, path in enumerate(every[:: max(1, len(every) // 300)]):
        wrong = WRONG[number % len(WRONG)]
        changed = put(content, path, wrong)
        if isinstance(changed, dict):
            RunFolder(folder).file(task).write_bytes(packed(content_text(changed)))
            tried += 1
            try:
                read_all(folder)
            except FileError as error:
                refused += 1
                one_line(error)
    assert tried > 150
    assert refused > tried // 4


@pytest.mark.parametrize("name", ["protocol.json", "timings.jsonl", "price.json"])
def test_wrong_types_in_the_other_files_of_a_run_are_one_line(played, tmp_path, name):
    for file in played.rglob("*"):
        if file.is_file():
            (tmp_path / file.relative_to(played)).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / file.relative_to(played)).write_bytes(file.read_bytes())
    price = {"prompt": 1.0, "completion": 2.0, "cached": None, "written": None}
    text = (played / name).read_text() if (played / name).exists() else json.dumps(price)
    lines = (
        [json.loads(line) for line in text.splitlines() if line]
        if name.endswith("l")
        else [json.loads(text)]
    )
    every = 1 if "RPMS_SLOW" in os.environ else 4
    for number, path in enumerate(places(lines[0])):
        for wrong in WRONG[number % every :: every]:
            (tmp_path / name).write_text("\n" + json.dumps(put(lines[0], path, wrong)))
            try:
                read_all(tmp_path)
            except FileError as error:
                one_line(error)


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_wrong_types_in_an_index_are_one_line(tmp_path, wrong):
    index = {
        "title": "t",
        "about": "",
        "tables": ["main"],
        "groups": [{"title": "g", "model": "m", "runs": {"c": "x"}}],
    }
    for path in places(index):
        (tmp_path / "study.json").write_text(json.dumps(put(index, path, wrong)))
        with pytest.raises(Exception, match=r"study|run") as caught:
            gather([tmp_path])
        assert type(caught.value).__name__ in ("FileError", "InputError")
        one_line(caught.value)


# --- 13: paths ---


def things(folder: Path) -> dict[str, Path]:
    """Things that can be in the place of a file."""
    (folder / "folder").mkdir()
    os.mkfifo(folder / "fifo")
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "dangling").symlink_to(folder / "nowhere")
    (folder / "device").symlink_to("/dev/zero")
    return {
        **{name: folder / name for name in ("folder", "fifo", "loop", "dangling", "device")},
        "long": folder / ("n" * 300),
        "very long": Path("/".join(["d" * 200] * 40)),
        "none": folder / "none",
        "under a file": Path(__file__) / "x",
    }


@pytest.mark.parametrize(
    "kind", ["folder", "fifo", "loop", "dangling", "device", "long", "very long", "under a file"]
)
@pytest.mark.parametrize(
    "command",
    [
        ("rules", "check", "{}"),
        ("study", "check", "{}"),
        ("study", "run", "{}", "--out", "out"),
        ("memory", "show", "{}"),
        ("memory", "stats", "{}"),
        ("memory", "diff", "{}", "{}"),
        ("memory", "merge", "{}", "{}", "--out", "merged.jsonl"),
        ("play", "alfworld", "--memory", "{}"),
        ("play", "alfworld", "--model", "scripted/{}"),
        ("play", "alfworld", "--split", "train", "--data", "{}"),
        ("run", "alfworld", "--limit", "1", "--model", "replay/{}", "--out", "out"),
        ("verify", "alfworld", "{}", "--data", "."),
        ("report", "{}"),
        ("table", "main", "{}"),
        ("view", "{}"),
        ("memory", "quarantine", "{}"),
        ("rules", "diff", "{}", "alfworld"),
        ("rules", "review", "{}", "--list"),
        ("rules", "learn", "alfworld", "--from", "{}", "--out", "m.yaml"),
        ("guard", "check", "--manual", "{}"),
        ("guard", "check", "--manual", SHOP, "{}"),
        ("guard", "mcp", "--manual", SHOP, "--python", "{}", "--", "true"),
        ("guard", "mcp", "--manual", SHOP, "--log", "{}", "--", "true"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_what_is_no_file_is_one_line_and_nobody_waits(
    rpms: Rpms, tmp_path, monkeypatch, command, kind
):
    monkeypatch.chdir(tmp_path)
    path = things(tmp_path)[kind]
    ran = rpms(*(word.replace("{}", str(path)) for word in command))
    assert ran.code in (1, 2), ran
    assert len(complaints(ran.err)) == 1, ran.err
    assert len(complaints(ran.err)[0]) < 2_100


@pytest.mark.parametrize(
    "kind", ["fifo", "loop", "dangling", "device", "long", "very long", "under a file"]
)
@pytest.mark.parametrize(
    "command",
    [
        ("run", "alfworld", "--limit", "1", "--out", "{}"),
        ("learn", "alfworld", "--limit", "1", "--rounds", "1", "--out", "{}/memory.jsonl"),
        ("games", "make", "--count", "1", "--out", "{}"),
    ],
    ids=lambda command: command[0],
)
def test_where_nothing_can_be_written_is_one_line(rpms: Rpms, tmp_path, monkeypatch, command, kind):
    monkeypatch.chdir(tmp_path)
    path = things(tmp_path)[kind]
    ran = rpms(*(word.replace("{}", str(path)) for word in command))
    if kind == "dangling" and ran.code == 0:
        return  # a link may lead to where something is made
    assert ran.code == 2, ran
    assert len(complaints(ran.err)) == 1, ran.err


@pytest.mark.parametrize(
    "kind", ["folder", "fifo", "loop", "device", "long", "very long", "under a file"]
)
def test_a_file_takes_the_place_of_nothing_else(tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    path = things(tmp_path)[kind]
    for write in (lambda file: write_whole(file, "text"), lambda file: learn(file, 20)):
        with pytest.raises(RPMSError) as caught:
            write(path)
        assert "\n" not in str(caught.value)
    assert kind not in ("loop", "device") or path.is_symlink()
    assert not list(tmp_path.rglob("*.part"))


@pytest.mark.parametrize("name", ["timings.jsonl", "lock", "protocol.json", "episodes"])
def test_a_fifo_in_a_runs_folder_is_one_line(rpms: Rpms, tmp_path, name):
    folder = tmp_path / "run"
    assert rpms("run", "alfworld", "--limit", "1", "--out", folder).code == 0
    if (folder / name).is_dir():
        (folder / name).rename(tmp_path / "away")
    else:
        (folder / name).unlink()
    os.mkfifo(folder / name)
    ran = rpms("run", "alfworld", "--limit", "1", "--out", folder)
    assert ran.code == 2, ran
    assert len(complaints(ran.err)) == 1, ran.err


def test_an_endless_device_is_not_read(tmp_path):
    with pytest.raises(FileError, match="device"):
        read_bytes("/dev/zero", 100)


BOUND = "--bounding-set=-dac_override,-dac_read_search"
"""The superuser may do anything; without these two he may do what the permissions say."""
SETPRIV = shutil.which("setpriv")


CLOSED = (
    ("run", "alfworld", "--limit", "1", "--out", "{}/run"),
    ("report", "{}"),
    ("table", "main", "{}"),
    ("memory", "show", "{}/memory.jsonl"),
    ("rules", "check", "{}/x.yaml"),
    ("study", "run", "{}/x.yaml"),
    ("run", "alfworld", "--limit", "1", "--data", "{}", "--split", "train", "--out", "o"),
    ("run", "alfworld", "--limit", "1", "--model", "replay/{}", "--out", "o"),
    ("learn", "alfworld", "--limit", "1", "--out", "{}/m.jsonl"),
)
"""Commands that are given a folder which may not be entered."""
IN_TURN = """
import contextlib, io, json, os, sys, traceback
from rpms.cli import main

ended = []
for place, words in json.loads(sys.argv[1]):
    os.chdir(place)
    sys.argv = ["rpms", *words]
    code = 0
    said = io.StringIO()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            code = 1
            traceback.print_exc()
    ended.append([code, said.getvalue()])
print(json.dumps(ended))
"""
"""Runs commands one after the other, each in a folder of its own."""


@pytest.fixture(scope="module")
def refused() -> dict[tuple[str, ...], tuple[int, str]]:
    """The exit code of each command and what it complains of, in one process whom permissions
    bind.
    """
    with tempfile.TemporaryDirectory() as top:
        given = []
        for number, command in enumerate(CLOSED):
            folder = Path(top) / str(number) / "closed"
            folder.mkdir(parents=True)
            folder.chmod(0o000)
            words = [word.replace("{}", str(folder)) for word in command]
            given.append((str(folder.parent), words))
        bound = [SETPRIV, BOUND] if os.geteuid() == 0 else []
        done = subprocess.run(
            [*bound, sys.executable, "-c", IN_TURN, json.dumps(given)],
            cwd=top,
            env={**os.environ, "HOME": top, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        for place, _ in given:
            Path(place, "closed").chmod(0o700)
    assert done.returncode == 0, done.stderr
    ended = [(code, said) for code, said in json.loads(done.stdout)]
    return dict(zip(CLOSED, ended, strict=True))


@pytest.mark.skipif(
    os.name == "nt" or (os.geteuid() == 0 and not SETPRIV),
    reason="permissions do not bind this user",
)
@pytest.mark.parametrize("command", CLOSED, ids=lambda command: " ".join(command[:2]))
def test_a_folder_without_permission_is_one_line(refused, command):
    code, said = refused[command]
    assert code in (1, 2), said
    assert len(complaints(said)) == 1, said
    assert "Traceback" not in said
