"""The command as a process: streams that are closed or full, Ctrl-C at any moment, texts that
command a terminal.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rpms.cli.screen import STOPPING, make_console
from rpms.foreign.limits import LONGEST_LINE
from rpms.foreign.shown import lines, one_line
from tests.cli.command import Rpms
from tests.hostile.complaints import complaints
from tests.models.raw_server import raw, response
from tests.models.server import openai_ok

RPMS = [sys.executable, "-m", "rpms"]
FORBIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)
"""Characters that a terminal would obey, or that turn text around; tabs and line breaks are no
part of it."""
NASTY = "\x1b[2J\x1b]0;title\x07\r\nrpms: all is well\u2028\u202egnp.exe\x9b31m\x00\ud800"


def done(*words: object, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*RPMS, *map(str, words)],
        text=True,
        timeout=120,
        check=False,
        stderr=subprocess.PIPE,
        **options,
    )


# --- 13: streams ---


def test_a_full_output_is_one_line_and_2():
    with Path("/dev/full").open("w") as full:
        ran = done("models", stdout=full)
    assert ran.returncode == 2
    assert ran.stderr.splitlines() == ["rpms: standard output, or a file: No space left on device"]


def test_a_closed_output_is_one_line_and_2(tmp_path):
    """And no file of a run gets the number of the closed stream, into which everything would be
    printed.
    """
    command = " ".join(
        [*RPMS, "run", "alfworld", "--limit", "1", "--out", str(tmp_path / "run"), ">&-"]
    )
    ran = subprocess.run(
        ["/bin/sh", "-c", command], capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 2
    assert ran.stderr.splitlines() == [
        "rpms: standard output is closed: redirect it to a file or to /dev/null"
    ]
    assert not (tmp_path / "run").exists()


def test_all_streams_may_be_closed(tmp_path):
    command = " ".join([*RPMS, "models", "<&-", ">&-", "2>&-"])
    assert subprocess.run(["/bin/sh", "-c", command], timeout=120, check=False).returncode == 2


def test_an_ascii_output_has_question_marks(tmp_path):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii:strict", "LC_ALL": "C"}
    ran = done("play", "alfworld", "--task", "1", stdout=subprocess.PIPE, env=environment)
    assert (ran.returncode, complaints(ran.stderr)) == (0, [])
    assert ran.stdout.isascii()


# --- 14: what is shown ---


@pytest.mark.parametrize("longest", [40, LONGEST_LINE])
def test_one_line_is_one_line(longest):
    dice = random.Random(7)
    for _ in range(50):
        text = "".join(
            chr(dice.choice([dice.randrange(0x20, 0x7F), dice.randrange(0x3000)]))
            for _ in range(200)
        )
        shown = one_line(text * dice.randrange(1, 60), longest)
        assert len(shown) <= longest
        assert len(shown.splitlines()) <= 1
        assert not FORBIDDEN.search(shown)
    assert one_line("a\n\x1b[31m b\u200b c") == "a [31m b c"
    assert one_line(f"{'9' * 5000} is no value").endswith("is no value")


def test_several_lines_keep_their_breaks():
    assert lines(f"a\tb\n{NASTY}c").count("\n") == 2
    assert not FORBIDDEN.search(lines(NASTY))
    assert max(map(len, lines("x" * 10_000 + "\ny").split("\n"))) == LONGEST_LINE


def test_a_console_keeps_its_own_codes_and_no_others():
    console = make_console(force_terminal=True, color_system="standard", width=80)
    with console.capture() as caught:
        console.print(f"[red]{'x'}[/red] {NASTY}")
    assert "\x1b[31mx\x1b[0m" in caught.get()
    assert "\x1b[2J" not in caught.get()
    assert "\x1b]" not in caught.get()


def hostile_files(folder: Path) -> dict[str, tuple[Path, ...]]:
    """Files whose mistakes quote what they hold."""
    texts = {
        "manual.yaml": f"{json.dumps(NASTY[:-1])}: 1\n",
        "study.yaml": f"title: x\nworld: alfworld\nconditions:\n  {json.dumps(NASTY[:-1])}: {{}}\n",
        "memory.jsonl": json.dumps({"type": NASTY}),
        "other.jsonl": json.dumps({"type": "memory", "world": NASTY})
        + "\n"
        + json.dumps({"type": "success", NASTY: 1}),
        "script.jsonl": json.dumps({"text": 1, NASTY: 2}),
        "transcript.jsonl": json.dumps(
            {"game": NASTY, "steps": [{"action": None, "observation": "", "won": False}]}
        ),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", errors="surrogatepass")
    path = {name: folder / name for name in texts}
    return {
        "rules check": (path["manual.yaml"],),
        "study check": (path["study.yaml"],),
        "memory show": (path["memory.jsonl"],),
        "memory stats": (path["other.jsonl"],),
        "verify alfworld": (path["transcript.jsonl"], "--data", folder),
        "play alfworld": ("--model", f"scripted/{path['script.jsonl']}"),
    }


def test_messages_carry_nothing_that_a_file_says_to_a_terminal(rpms: Rpms, tmp_path):
    for command, words in hostile_files(tmp_path).items():
        ran = rpms(*command.split(), *words)
        assert ran.code == 2, ran
        assert len(complaints(ran.err)) == 1, ran.err
        assert not FORBIDDEN.search(ran.err), ran.err
        assert max(map(len, complaints(ran.err))) <= LONGEST_LINE


def test_what_a_model_says_cannot_command_the_terminal(rpms: Rpms, tmp_path, monkeypatch):
    body = json.dumps(openai_ok(f"Thought: {NASTY}\nAction: look{NASTY}").body).encode()
    monkeypatch.setenv("OPENAI_API_KEY", "planted-key-314159")
    with raw(lambda _: [response(body)]) as server:
        ran = rpms(
            "play",
            "alfworld",
            "--model",
            "openai/x",
            "--base-url",
            f"{server.url}/v1",
            "--steps",
            "2",
        )
    assert "rpms: all is well" in ran.out
    assert not FORBIDDEN.search(ran.out)
    assert not FORBIDDEN.search(ran.err)


# --- 15: ranges, Ctrl-C, a full disk ---


@pytest.mark.parametrize(
    "words",
    [
        ("study", "run", "studies/quickstart.yaml", "--limit", "-1"),
        ("study", "run", "studies/quickstart.yaml", "--limit", "0"),
        ("study", "run", "studies/quickstart.yaml", "--dry-run", "--limit", "-3"),
        ("study", "run", "studies/quickstart.yaml", "--workers", "0"),
        ("run", "alfworld", "--limit", "-1"),
        ("run", "alfworld", "--steps", "-1"),
        ("run", "alfworld", "--workers", "0"),
        ("run", "alfworld", "--temperature", "nan"),
        ("run", "alfworld", "--temperature", "inf"),
        ("run", "alfworld", "--seed", "1" + "0" * 40),
        ("run", "alfworld", "--steps", "1" + "0" * 40),
        ("run", "alfworld", "--limit", "9" * 5_000),
        ("run", "alfworld", "--task", "9" * 5_000),
        ("play", "alfworld", "--task", "9" * 5_000),
        ("play", "alfworld", "--task", "0"),
        ("rules", "learn", "alfworld", "--steps", "-1", "--out", "m.yaml"),
        ("guard", "mcp", "--manual", "m.yaml", "--timeout", "nan", "--", "true"),
        ("run", "alfworld", "--parameter", "top_k=inf"),
        ("run", "alfworld", "--stuck-after", "-1"),
        ("learn", "alfworld", "--limit", "-1", "--out", "m.jsonl"),
        ("learn", "alfworld", "--rounds", "0", "--out", "m.jsonl"),
        ("learn", "alfworld", "--steps", "-1", "--out", "m.jsonl"),
        ("learn", "alfworld", "--workers", "-1", "--out", "m.jsonl"),
        ("learn", "alfworld", "--temperature", "nan", "--out", "m.jsonl"),
        ("games", "make", "--count", "0", "--out", "games"),
        ("games", "make", "--count", "9" * 12, "--out", "games"),
    ],
    ids=lambda words: " ".join(words)[:60],
)
def test_a_number_out_of_range_is_one_line(rpms: Rpms, tmp_path, monkeypatch, words):
    studies = Path(__file__).parents[2] / "studies"
    monkeypatch.chdir(tmp_path)
    ran = rpms(*(word.replace("studies", str(studies)) for word in words))
    assert (ran.code, len(complaints(ran.err)), ran.out) == (2, 1, ""), ran
    assert "set_int_max_str_digits" not in ran.err
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize(
    "url",
    ["http://[::1", "http://host:99999/v1", "http://host:port", "ftp://x", "http://", "http://a b/", "http://\x1b[2J",
     "http://" + "x" * 300, "http://" + "y" * 5000, "http://..", "nonsense", "http://user:secret@[bad"],
    ids=lambda url: repr(url[:20]),
)  # fmt: skip
def test_a_broken_base_url_is_one_line(rpms: Rpms, tmp_path, monkeypatch, url):
    monkeypatch.setenv("VLLM_BASE_URL", url)
    monkeypatch.chdir(tmp_path)
    ran = rpms("run", "alfworld", "--limit", "1", "--model", "vllm/m")
    assert (ran.code, len(complaints(ran.err))) == (2, 1), ran
    assert "secret" not in ran.err
    assert rpms("models").code == 0


AT_THE_DOOR = "from rpms.cli import main\nprint('up', flush=True)\nmain()"


@pytest.mark.parametrize("moment", [0.05, 0.15, 0.3, 0.5, 0.8, 1.2])
def test_ctrl_c_while_it_starts_is_one_line(tmp_path, moment):
    """Whenever it comes once the door is reached; what matters is that there is no traceback,
    not when exactly.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", AT_THE_DOOR, "run", "alfworld", "--out", tmp_path / "run"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(moment)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode in (0, 130), error
    assert "Traceback" not in error
    said = [line for line in complaints(error) if line != STOPPING]
    assert len(said) == (1 if process.returncode else 0), error


LOST = """
import signal, sys, time, weakref
from rpms.cli.screen import answering_at_once

class Module:
    pass

def end(reference):
    signal.raise_signal(signal.SIGINT)

try:
    with answering_at_once():
        module = Module()
        reference = weakref.ref(module, end)
        del module  # Python prints what is raised in `end`, and goes on
        time.sleep(600)
except KeyboardInterrupt:
    print("stopped")
"""


def test_ctrl_c_where_nothing_can_be_raised_is_not_lost():
    ran = subprocess.run(
        [sys.executable, "-c", LOST], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ran.stdout, ran.stderr) == ("stopped\n", "")


def test_ctrl_c_while_it_explores_says_what_is_kept(tmp_path):
    command = [
        "rules",
        "learn",
        "alfworld",
        "--split",
        "builtin",
        "--steps",
        "99999999",
        "--out",
        "manual.yaml",
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", AT_THE_DOOR, *command],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    kept = tmp_path / "manual.episodes.jsonl"
    while process.poll() is None and not (kept.exists() and kept.stat().st_size > 20_000):
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert (process.returncode, complaints(error)) == (
        130,
        [
            "rpms: stopped; manual.episodes.jsonl keeps what was explored, and the same command goes on from there"
        ],
    )


FULL_DISK = """
import resource, signal, sys
from rpms.cli import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
main()
"""


def test_a_full_disk_under_a_record_has_the_documented_code(tmp_path):
    body = json.dumps(openai_ok().body).encode()
    with raw(lambda _: [response(body)]) as server:
        words = [
            "run",
            "alfworld",
            "--limit",
            "1",
            "--model",
            "vllm/m",
            "--base-url",
            f"{server.url}/v1",
        ]
        words += [
            "--record",
            str(tmp_path / "record"),
            "--out",
            str(tmp_path / "run"),
            "--steps",
            "2",
        ]
        ran = subprocess.run(
            [
                sys.executable,
                "-B",
                "-c",
                FULL_DISK,
                *words,
            ],  # -B: no module is kept that was cut off
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert ran.returncode == 2, ran
    assert len(complaints(ran.stderr)) == 1, ran.stderr
    assert "cannot be recorded" in ran.stderr or "cannot be written" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("place", [".", "..", "/"])
@pytest.mark.parametrize(
    "command",
    [
        ("memory", "diff", "embedded", "PLACE"),
        ("memory", "show", "PLACE"),
        ("memory", "merge", "PLACE", "--out", "PLACE"),
        ("rules", "review", "PLACE"),
        ("rules", "check", "PLACE"),
        ("rules", "verify", "PLACE", "PLACE"),
        ("rules", "mend", "PLACE", "PLACE"),
        ("guard", "check", "--manual", "PLACE"),
    ],
    ids=" ".join,
)
def test_a_folder_in_the_place_of_a_file_is_one_line(
    command, place, rpms: Rpms, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert rpms(*(place if word == "PLACE" else word for word in command)).line


@pytest.mark.parametrize(
    "url",
    [
        "http://①②⑦.0.0.1/v1",
        "http://ｌocalhost:1/v1",
        "http://a..b/v1",
        "http://[::1/v1",
        "http://[v1.x]/v1",
        "http://-a-.example:99999/v1",
    ],
)
def test_an_address_that_is_none_is_one_line(url, rpms: Rpms, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-123456789")
    words = ("run", "alfworld", "--limit", "1", "--memory", "none", "--model", "openai/x")
    ran = rpms(*words, "--base-url", url)
    assert ran.code in (1, 2)
    assert len(complaints(ran.err)) == 1, ran.err
