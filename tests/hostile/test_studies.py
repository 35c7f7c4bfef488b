"""`rpms study check` refuses what `rpms study run` refuses, and an estimate looks at things once."""

from __future__ import annotations

import pytest

from rpms.worlds.registry import find_world
from tests.cli.command import Rpms
from tests.models.raw_server import raw, response

STUDY = "title: t\nworld: alfworld\nmemory: none\nmodels: [planner]\nconditions: {full: {}}\n"
WRONG = {
    "engine": "engine: warp\n",
    "option": "options: {warp: 1}\n",
    "reader": "reader: nobody/x\n",
    "manual": "manual: none-such.yaml\n",
    "split": "split: warp\n",
    "task": "task: warp\n",
    "an option's value": "options: {dialect: warp}\n",
    "split of learning": "learn: {split: warp}\n",
    "model of learning": "learn: {limit: 1, model: nobody/x}\n",
    "memory": "memory: none-such.jsonl\n",
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_a_run_refuses_a_check_refuses_too(wrong, rpms: Rpms, tmp_path):
    file = tmp_path / "study.yaml"
    learns = "learn" in WRONG[wrong] or wrong == "memory"
    text = STUDY.replace("memory: none\n", "") if learns else STUDY
    file.write_text(text + WRONG[wrong])
    checked = rpms("study", "check", file)
    ran = rpms("study", "run", file, "--limit", "1", "--out", tmp_path / "out")
    assert (checked.code, ran.code) == (2, 2)
    assert checked.line
    assert not (tmp_path / "out" / "runs").exists()


def test_a_sound_study_passes(rpms: Rpms, tmp_path):
    file = tmp_path / "study.yaml"
    file.write_text(STUDY)
    assert rpms("study", "check", file).code == 0


def test_a_study_of_games_that_are_not_here_passes(rpms: Rpms, tmp_path):
    """The fixture takes away `$ALFWORLD_DATA`."""
    file = tmp_path / "study.yaml"
    file.write_text(f"{STUDY}split: valid_seen\n")
    assert rpms("study", "check", file).code == 0


def test_an_estimate_asks_a_server_and_looks_at_the_games_once(
    rpms: Rpms,
    tmp_path,
    monkeypatch,
):
    world = type(find_world("alfworld"))
    looked: list[object] = []
    edition, opened = world.edition, world.open
    monkeypatch.setattr(world, "edition", lambda *a: looked.append("edition") or edition(*a))
    monkeypatch.setattr(world, "open", lambda *a: looked.append("open") or opened(*a))
    file = tmp_path / "study.yaml"
    many = ", ".join(f"c{n}: {{condition: full, theta: 0.{n + 1}}}" for n in range(9))
    file.write_text(f"title: t\nworld: alfworld\nmemory: none\nconditions: {{{many}}}\n")
    models = [word for n in range(9) for word in ("--model", f"vllm/m{n}")]
    with raw(lambda _request: [response(b'{"data": []}')]) as server:
        words = ("study", "run", file, "--dry-run", "--base-url", f"{server.url}/v1")
        assert rpms(*words, *models, "--out", tmp_path / "out").code == 0
        assert len(server.requests) == 1
    assert looked.count("edition") == 1
    assert looked.count("open") == 1
