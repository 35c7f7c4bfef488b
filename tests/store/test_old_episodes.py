"""Run folders with episodes in the earlier form are refused with the command that converts
them, and converted.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from rpms.logic.errors import InputError
from rpms.store.episodes import file_name
from rpms.store.protocol import Protocol
from rpms.store.runs import RunFolder

TEXTS = ["You see a mug.", "Thought: t\nAction: take mug 1", "t", "You pick it up.", "Instruction", "OK: take",
         "R-1\nR-2", "Done.", "line"]  # fmt: skip
STEP = {
    "answer": 1,
    "thought": 2,
    "action": "take mug 1",
    "command": "take mug 1",
    "progress": ["find", "mug", 1, 2],
}
OLD = {
    "version": 1, "task": "a", "type": "walk", "goal": "take it", "goal_signature": "walk:mug::", "ending": "won",
    "score": 1.0, "won": True, "error": "",
    "metrics": {"steps": 2, "infeasible": 0, "foreseeable": 0, "repeated_failures": 0, "contradictions": 0,
                "reasks": 0, "replaced": 0, "usage": {"prompt_tokens": 7}},
    "rules": {"universal": ["R-1"]},
    "candidates": [{"entry": "s1", "kind": "success", "wording": 5, "score": 1.0, "rank": 1.0, "fate": "kept"}],
    "blocks": [{"part": "instruction", "tokens": 3, "text": 4}],
    "steps": [
        {**STEP, "number": 1, "observation": 0, "result": 3, "prompt": [0], "candidates": [0],
         "belief": {"containers": {"box 1": True}, "last_seen": {"mug 1": "box 1"}, "lines": [8], "signature": "s"}},
        {**STEP, "number": 2, "observation": 3, "result": 7, "prompt": [0, -1], "history": {"tokens": 9}, "left_out": 6,
         "belief": {"location": "box 1", "containers": {"box 1": None}, "lines": [], "signature": "s"}},
    ],
    "texts": TEXTS,
}  # fmt: skip


@pytest.fixture
def old_run(tmp_path: Path) -> Path:
    (tmp_path / "episodes").mkdir()
    (tmp_path / "protocol.json").write_text(Protocol(("a",), {}).text())
    body = json.dumps(OLD)[:-1] + ","
    seal = hashlib.sha256(body.encode()).hexdigest()
    (tmp_path / "episodes" / file_name("a")).write_text(f'{body}"sha256":"{seal}"}}\n')
    return tmp_path


def test_an_old_folder_is_refused_with_the_command_that_converts_it(old_run):
    with pytest.raises(InputError, match="rpms convert"):
        RunFolder(old_run).summary()


def test_a_converted_episode_tells_the_same(rpms, old_run):
    done = rpms("convert", old_run)
    assert done.code == 0
    assert "1 episodes converted" in done.out
    record = RunFolder(old_run).episode("a")
    assert (record.row.steps, record.row.won, record.row.usage.prompt_tokens) == (2, True, 7)
    one, two = record.steps
    assert (one.observation, one.command, one.result) == (
        "You see a mug.",
        "take mug 1",
        "You pick it up.",
    )
    assert (one.candidates[0].wording, two.left_out) == ("OK: take", ("R-1", "R-2"))
    assert (dict(one.belief.containers), dict(two.belief.containers)) == ({"box 1": True}, {})
    assert two.belief.last_seen == {"mug 1": "box 1"}
    assert record.prompt(2).text == "Instruction\n\nYou see a mug.\nThought: t\nAction: take mug 1"


def test_a_damaged_old_episode_is_named_and_stays(rpms, old_run):
    (file,) = (old_run / "episodes").glob("*.json")
    file.write_text(file.read_text()[:-30])
    done = rpms("convert", old_run)
    assert done.code != 0
    assert file.exists()
