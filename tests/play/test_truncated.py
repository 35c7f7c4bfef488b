"""Answers that end because no more new tokens were allowed are counted, shown and warned of."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from rpms.store.runs import RunFolder
from tests.cli.command import Ran, Rpms, rpms
from tests.models.server import Reply, openai_ok, serve

__all__ = ["rpms"]
STEPS = 5


def replies(every: int) -> Iterator[Reply]:
    """Answers of a server that cuts each `every`th one short; none where it is 0."""
    for number in count(1):
        if every and number % every == 0:
            yield openai_ok("Thought: I should", finish="length")
        else:
            yield openai_ok("Action: look")


def run(rpms: Rpms, out: Path, every: int, tasks: int = 1) -> Ran:
    answers = replies(every)
    with serve() as server:
        server.play_script(lambda _seen: next(answers))
        words = ("run", "alfworld", "--model", "vllm/m", "--base-url", f"{server.url}/v1")
        words += ("--condition", "baseline", "--limit", tasks, "--steps", STEPS)
        return rpms(*words, "--processes", 1, "--workers", 1, "--out", out)


def test_a_run_whose_answers_are_all_cut_says_so(rpms: Rpms, tmp_path: Path):
    ran = run(rpms, tmp_path / "run", every=1)
    assert ran.code == 0, ran.err
    assert (
        "WARNING: 5 of 5 (100.0%) answers were cut at the limit of new tokens: give more with"
        " --max-tokens" in ran.out
    )


def test_a_few_cut_answers_are_counted_without_a_warning(rpms: Rpms, tmp_path: Path):
    ran = run(rpms, tmp_path / "run", every=60, tasks=12)
    assert "1 of 60 (1.7%) answers were cut at the limit of new tokens\n" in ran.out
    assert "WARNING" not in ran.out


def test_a_run_without_cut_answers_says_nothing_of_them(rpms: Rpms, tmp_path: Path):
    assert "cut at" not in run(rpms, tmp_path / "run", every=0).out


@pytest.fixture
def cut_run(rpms: Rpms, tmp_path: Path) -> Path:
    assert run(rpms, tmp_path / "run", every=2).code == 0
    return tmp_path / "run"


def test_tables_and_episodes_show_cut_answers(rpms: Rpms, cut_run: Path):
    table = rpms("table", "actions", cut_run, "--form", "markdown").out
    assert "| Cut answers |" in table
    words = (
        "2 of 5 (40.0%) answers were cut at the limit of new tokens: give more with --max-tokens"
    )
    assert words in " ".join(rpms("table", "main", cut_run).out.split())
    (episode,) = RunFolder(cut_run).episodes()
    assert [step.extras.get("truncated", False) for step in episode.steps] == [
        *(False, True, False, True, False)
    ]


CUT = "the answer was cut at the limit of new tokens"


def test_an_episode_shown_or_played_says_which_answers_were_cut(rpms: Rpms, cut_run: Path):
    (episode,) = (cut_run / "episodes").glob("*.json.gz")
    assert rpms("show", episode).out.count(CUT) == 2
    answers = replies(2)
    with serve() as server:
        server.play_script(lambda _seen: next(answers))
        words = ("play", "alfworld", "--model", "vllm/m", "--base-url", f"{server.url}/v1")
        assert rpms(*words, "--condition", "baseline", "--steps", STEPS).out.count(CUT) == 2


def test_a_study_warns_of_cut_answers_when_a_condition_is_played(rpms: Rpms, tmp_path: Path):
    file = tmp_path / "study.yaml"
    file.write_text("title: t\nworld: alfworld\nconditions:\n  baseline:\n", encoding="utf-8")
    answers = replies(1)
    with serve() as server:
        server.play_script(lambda _seen: next(answers))
        words = ("study", "run", file, "--model", "vllm/m", "--base-url", f"{server.url}/v1")
        words += ("--limit", 1, "--steps", STEPS, "--out", tmp_path / "out")
        told = rpms(*words).out
    warning = "WARNING: vllm/m, baseline: 5 of 5 (100.0%) answers were cut"
    assert warning in told
    assert told.index(warning) < told.index("95% interval")


def test_the_page_of_a_run_shows_cut_answers(rpms: Rpms, cut_run: Path, tmp_path: Path):
    pytest.importorskip("jinja2", reason="needs the report: pip install 'rpms[report]'")
    assert rpms("report", cut_run, "--out", tmp_path / "page").code == 0
    page = (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    assert "2 of 5 (40.0%) answers were cut at the limit of new tokens" in page
