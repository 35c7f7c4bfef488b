"""Limits end a run in good order: no request too many, nothing finished lost, and the same call
goes on.
"""

from __future__ import annotations

import threading
import time

import pytest

from rpms.logic.errors import InputError
from rpms.models.base import Answer
from rpms.models.policy import FunctionModel, follow_plan
from rpms.models.recorded import RecordedModel
from rpms.paper.episode import Usage
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.meter import LimitReached, Limits, Meter, parse_duration
from rpms.play.run import run
from rpms.store.answers import FolderOfAnswers
from rpms.store.price import Price
from rpms.store.runs import RunFolder
from tests.cli.command import Rpms, rpms
from tests.models.server import openai_ok, serve
from tests.play.corridor import world

__all__ = ["rpms"]


class Counting:
    def __init__(self, wait: threading.Event | None = None) -> None:
        self.asked = 0
        self._wait = wait
        self._lock = threading.Lock()

    def __call__(self, request) -> Answer:
        with self._lock:
            self.asked += 1
        if self._wait is not None:
            self._wait.wait(60)
        thought, action = follow_plan(request.decision)
        return Answer(f"Thought: {thought}\nAction: {action}", Usage(1_000, 0, 100, 1, 0.0))


def design(answer: Counting):
    model = FunctionModel(answer, "walker")
    return design_run(world, model.name, lend(model), memory=EpisodicMemory())


@pytest.fixture
def whole(tmp_path):
    """Requests that the whole run takes, and its episodes' files."""
    answer = Counting()
    run(design(answer), tmp_path / "whole")
    return answer.asked, {
        file.name: file.read_bytes() for file in (tmp_path / "whole/episodes").iterdir()
    }


@pytest.mark.parametrize("workers", [1, 3])
def test_no_request_is_made_beyond_the_limit_and_the_same_call_goes_on(tmp_path, whole, workers):
    total, files = whole
    most = max(4, total // 3)
    starts = 0
    while True:
        answer = Counting()
        try:
            run(design(answer), tmp_path / "out", workers, meter=Meter(Limits(requests=most)))
        except LimitReached as limit:
            said = str(limit)
        else:
            break
        assert answer.asked == most
        assert "the same command goes on" in said
        assert f"--max-requests {most} is reached" in said
        starts += 1
        assert starts < 50
    assert starts
    assert {file.name: file.read_bytes() for file in (tmp_path / "out/episodes").iterdir()} == files


def test_cost_is_counted_answer_by_answer(tmp_path):
    price = Price(1.0, 10.0)  # an answer is $0.002
    answer = Counting()
    with pytest.raises(
        LimitReached, match=r"--max-cost 0.005 is reached, after 3 requests, \$0.0060"
    ):
        run(design(answer), tmp_path / "out", meter=Meter(Limits(cost=0.005)), price=price)
    assert answer.asked == 3


def test_time_ends_a_run_whose_model_never_answers(tmp_path):
    never = threading.Event()
    try:
        with pytest.raises(
            LimitReached, match=r"--max-time 0.3s is reached.*no episode ended.*--record"
        ):
            run(design(Counting(never)), tmp_path / "out", meter=Meter(Limits(seconds=0.3)))
    finally:
        never.set()
    assert RunFolder(tmp_path / "out").summary().done == 0


def test_answers_from_a_record_count_for_nothing(tmp_path, whole):
    total, _ = whole
    store = FolderOfAnswers(tmp_path / "answers")
    limit = 2
    for start in range(total):
        answer = Counting()
        model = RecordedModel(FunctionModel(answer, "walker"), store)
        planned = design_run(world, model.name, lend(model), memory=EpisodicMemory())
        try:
            summary = run(planned, tmp_path / "out", 2, meter=Meter(Limits(requests=limit)))
        except LimitReached:
            assert answer.asked == limit, start
            continue
        assert summary.done == summary.total
        return
    pytest.fail("the run never ended")


def test_a_limit_that_is_not_reached_changes_nothing(tmp_path, whole):
    total, files = whole
    summary = run(design(Counting()), tmp_path / "out", meter=Meter(Limits(10.0, total, 600.0)))
    assert summary.done == summary.total
    assert {file.name: file.read_bytes() for file in (tmp_path / "out/episodes").iterdir()} == files


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("30m", 1800), ("1h30m", 5400), ("1.5h", 5400), (" 2 H ", 7200)],
)
def test_durations(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "0", "-3m", "h", "1d", "1m1h", "nan", "9" * 400])
def test_what_is_no_duration_is_said(text):
    with pytest.raises(InputError, match="--max-time"):
        parse_duration(text)


def test_a_meter_may_be_waited_on_from_many_threads():
    meter, lock, took = Meter(Limits(requests=20)), threading.Lock(), []

    def work() -> None:
        while True:
            try:
                meter.begin()
            except LimitReached:
                return
            with lock:
                took.append(1)
            time.sleep(0)
            meter.end(Usage(requests=len(took) % 2), None)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()
    assert 20 <= len(took) <= 60


def test_the_command_stops_with_code_3_and_goes_on(rpms: Rpms, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with serve() as server:
        server.play(openai_ok())
        command = (
            "run",
            "alfworld",
            "--split",
            "builtin",
            "--limit",
            2,
            "--condition",
            "baseline",
            "--steps",
            3,
        )
        command += (
            "--model",
            "openai-compatible/m",
            "--base-url",
            f"{server.url}/v1",
            "--out",
            "out",
        )
        refused = rpms(*command, "--max-cost", 1)
        assert (
            refused.line
            == "--max-cost: the price of openai-compatible/m is not known; give it with --price IN,OUT"
        )
        stopped = rpms(*command, "--max-requests", 4)
        assert stopped.code == 3
        assert "--max-requests 4 is reached, after 4 requests" in stopped.err
        assert "1 of 2 episodes are done, and the same command goes on from there" in stopped.err
        assert RunFolder(tmp_path / "out").summary().done == 1
        assert rpms(*command, "--max-requests", 4).code == 0
    summary = RunFolder(tmp_path / "out").summary()
    assert summary.done == summary.total


def test_players_that_ask_no_model_never_reach_a_limit_of_requests(rpms: Rpms, tmp_path):
    for name in ("planner", "menu-first"):
        command = (
            "run",
            "alfworld",
            "--split",
            "builtin",
            "--limit",
            1,
            "--preset",
            "strict",
            "--memory",
            "none",
        )
        said = rpms(
            *command, "--steps", 3, "--model", name, "--max-requests", 1, "--out", tmp_path / name
        )
        assert said.code == 0
        summary = RunFolder(tmp_path / name).summary()
        assert summary.done == summary.total


@pytest.mark.parametrize(
    "option",
    [("--max-cost", "0"), ("--max-cost", "nan"), ("--max-requests", "0"), ("--max-time", "soon")],
)
def test_a_wrong_limit_is_one_line(rpms: Rpms, tmp_path, option):
    said = rpms("run", "alfworld", "--split", "builtin", "--out", tmp_path / "out", *option)
    assert option[0] in said.line
    assert not (tmp_path / "out").exists()
