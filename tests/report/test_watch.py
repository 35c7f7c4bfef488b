"""The live page of runs that are going on: what it shows, to whom, and how it ends."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from rpms.cli.serving import make_live_server
from rpms.report import live
from rpms.report.live import LiveRun, Watcher, live_page, live_part
from tests.cli.command import Rpms, rpms
from tests.report.hostile import poison
from tests.report.test_serve import ask

__all__ = ["rpms"]

_RUN = ("run", "alfworld", "--split", "builtin", "--model", "planner", "--workers", "1")


@pytest.fixture
def watched(tmp_path: Path):
    """A folder that is watched, and the port of its page."""
    folder = tmp_path / "runs"
    folder.mkdir()
    (tmp_path / "secret.txt").write_text("a key")
    with make_live_server(folder, "127.0.0.1", 0) as server:
        thread = threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        thread.start()
        yield folder, server.server_port
        server.shutdown()
        thread.join()


def _now(port: int) -> str:
    status, body = ask(port, "/now")
    assert status == 200
    return body


def test_it_fills_as_episodes_land(rpms: Rpms, watched: tuple[Path, int]):
    folder, port = watched
    assert "No run here yet" in ask(port, "/")[1]
    rpms(*_RUN, "--limit", 2, "--out", folder / "full")
    first = _now(port)
    assert "1 run, none going on; 2 of 2 episodes." in first
    assert "<strong>2</strong> of 2 won, 100%" in first
    assert "[34%, 100%]" in first  # Wilson's interval for 2 of 2
    assert first.count("<tr><td>") == 2
    rpms(*_RUN, "--limit", 3, "--condition", "baseline", "--out", folder / "study" / "baseline")
    second = _now(port)
    assert "2 runs, none going on; 5 of 5 episodes." in second
    assert "study/baseline" in second
    assert second.count("<tr><td>") == 5


def test_a_run_says_how_far_it_is_and_if_it_stopped(rpms: Rpms, watched: tuple[Path, int]):
    folder, port = watched
    rpms(*_RUN, "--limit", 3, "--out", folder)
    episodes = sorted((folder / "episodes").iterdir())
    episodes[0].unlink()
    episodes[1].write_bytes(b"cut off")
    body = _now(port)
    assert "1 of 3 episodes, stopped" in body
    assert f"{episodes[1].name}: " in body
    assert '<progress max="3" value="1"' in body


def test_a_run_that_goes_on_says_how_long_it_may_take(rpms: Rpms, tmp_path: Path):
    rpms(*_RUN, "--limit", 4, "--out", tmp_path)
    (run,) = Watcher(tmp_path).runs()
    ended = [each._replace(ended=100.0 + 10 * place) for place, each in enumerate(run.episodes)]
    going = LiveRun("full", "planner", 10, ended, going=True)
    assert going.seconds_left == 60
    assert "4 of 10 episodes, going on, about 60 s left" in live_part([going])
    assert LiveRun("full", "", 10, ended[:1], going=True).seconds_left is None


def test_each_episode_is_read_once_unless_it_was_played_again(
    rpms: Rpms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    rpms(*_RUN, "--limit", 2, "--out", tmp_path)
    watcher = Watcher(tmp_path)
    assert len(watcher.runs()[0].episodes) == 2
    read: list[Path] = []
    whole = live.read_row
    monkeypatch.setattr(live, "read_row", lambda file: (read.append(file), whole(file))[1])
    assert len(watcher.runs()[0].episodes) == 2
    assert not read
    again = next((tmp_path / "episodes").iterdir())
    data = again.read_bytes()
    again.unlink()
    again.write_bytes(data)
    assert len(watcher.runs()[0].episodes) == 2
    assert read == [again]


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "//etc/passwd",
        "/protocol.json",
        "/full/protocol.json",
        "/now/",
        "/static/style.css",
    ],
)
def test_nothing_but_the_page_is_served(watched: tuple[Path, int], path: str):
    assert ask(watched[1], path)[0] == 404


def test_only_this_machine_may_ask_and_nobody_may_change(watched: tuple[Path, int]):
    _, port = watched
    assert ask(port, "/", host="evil.example")[0] == 403
    assert ask(port, "/now", host="evil.example:80")[0] == 403
    assert ask(port, "/now", host=f"localhost:{port}")[0] == 200
    assert ask(port, "/", method="POST")[0] == 501
    assert (
        ask(port, "/live.js")[0] == ask(port, "/live.css")[0] == ask(port, "/style.css")[0] == 200
    )


def test_names_from_files_are_text_and_nothing_else(rpms: Rpms, tmp_path: Path):
    attack = "<img src=x onerror=alert(1)>"
    folder = tmp_path / attack
    rpms(*_RUN, "--limit", 1, "--out", folder)
    (run,) = Watcher(tmp_path).runs()
    hostile = [each._replace(run=attack) for each in run.episodes]
    more = LiveRun(attack, attack, 1, hostile, going=False, problems=(attack,))
    page = live_page(folder, [run, more])
    assert "<img" not in page
    assert page.count("&lt;img") >= 5
    assert not re.search(r"<script(?! src=)|onload=|javascript:", page)


def test_a_run_that_speaks_script_all_over_is_shown_as_text(
    rpms: Rpms, watched: tuple[Path, int], tmp_path: Path
):
    folder, port = watched
    rpms(*_RUN, "--limit", 2, "--out", tmp_path / "sound")
    poison(tmp_path / "sound", folder / "poisoned")
    body = _now(port)
    assert "2 of 2 episodes" in body
    assert "&lt;script&gt;" in body
    assert "<script" not in body
    assert "<img" not in body


def test_links_are_not_followed(rpms: Rpms, tmp_path: Path):
    rpms(*_RUN, "--limit", 1, "--out", tmp_path / "elsewhere")
    (tmp_path / "watched").mkdir()
    (tmp_path / "watched" / "link").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    assert not Watcher(tmp_path / "watched").runs()


def test_a_mistake_is_one_line(rpms: Rpms, tmp_path: Path):
    none = rpms("report", "--watch", tmp_path / "none")
    assert none.code == 2
    assert "there is no such folder; name the one after --out of the run" in none.line
    two = rpms("report", "--watch", tmp_path, tmp_path)
    assert two.code == 2
    assert "--watch looks at one folder" in two.line


def test_ctrl_c_ends_it_quietly(tmp_path: Path):
    words = [sys.executable, "-m", "rpms", "report", "--watch", str(tmp_path)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as served:
        assert served.stdout is not None
        line = served.stdout.readline()
        port = int(re.search(r"http://127\.0\.0\.1:(\d+)/ until Ctrl-C", line)[1])
        assert "No run here yet" in ask(port, "/")[1]
        served.send_signal(signal.SIGINT)
        out, err = served.communicate(timeout=60)
    assert (served.returncode, out, err) == (0, "", "")
