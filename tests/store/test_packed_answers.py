"""Packed records: what is shipped is what was recorded, or it is refused; the shipped one plays
the quickstart.
"""

from __future__ import annotations

import lzma
from dataclasses import replace
from pathlib import Path

import pytest

from rpms.cli.options import make_setting
from rpms.foreign.json_text import question_key
from rpms.learning.rounds import LearningDesign, learn
from rpms.logic.errors import FileError, InputError, ModelUnavailable
from rpms.models.catalogue import open_model
from rpms.models.recorded import ReplayModel
from rpms.play.design import NamedModel, lend
from rpms.play.trials import run_trials
from rpms.store.answers import FolderOfAnswers, PackedAnswers, open_answers, pack, shipped_records
from rpms.store.memories import read_frozen
from rpms.study.cells import Means, design_cell, design_round
from rpms.study.study_files import read_study
from rpms.worlds.registry import find_world
from tests.cli.command import Rpms
from tests.cli.command import rpms as rpms  # noqa: PLC0414  a fixture
from tests.models.prompts import request

STUDIES = Path(__file__).parents[2] / "studies"
REQUESTS = STUDIES / "quickstart_requests.yaml"


def entry(number: int, model: str = "m", **more: object) -> dict[str, object]:
    usage = {"prompt_tokens": number, "seconds": 0.5, "requests": 1}
    answer = {"text": f"ACTION: look {number}\u2028", "finish": "stop", "notes": [], "usage": usage}
    return {"model": model, "messages": [number], "answer": answer, **more}


@pytest.fixture
def folder(tmp_path):
    store = FolderOfAnswers(tmp_path / "answers")
    for number in range(20):
        store.put(question_key(entry(number)), entry(number))
    return tmp_path / "answers"


def test_every_answer_comes_back_without_its_question(folder, tmp_path):
    file = tmp_path / "small.answers.xz"
    heading = pack(folder, file, about="a test", day="2026-01-02")
    store = open_answers(file)
    assert isinstance(store, PackedAnswers)
    assert heading.line == "20 answers of m, recorded on 2026-01-02; a test"
    assert store.heading == heading
    for number in range(20):
        kept = store.get(question_key(entry(number)))
        assert kept is not None
        assert kept["answer"]["text"] == f"ACTION: look {number}\u2028"
        assert "seconds" not in kept["answer"]["usage"]
        assert "messages" not in kept
    assert store.get("0" * 64) is None
    assert file.stat().st_size < sum(each.stat().st_size for each in folder.rglob("*.json")) / 5


def test_a_packed_record_does_not_say_where_weights_are_kept(tmp_path):
    store = FolderOfAnswers(tmp_path / "answers")
    made = entry(0, "hf//home/mia/base+/home/mia/adapter")
    store.put(question_key(made), made)
    file = tmp_path / "a.answers.xz"
    assert pack(tmp_path / "answers", file).model == "hf/base+adapter"
    asked = {**made, "model": "hf/base+adapter"}  # as a replay asks
    assert PackedAnswers(file).get(question_key(asked)) is not None


def test_packing_twice_gives_the_same_bytes(folder, tmp_path):
    first, second = tmp_path / "a.answers.xz", tmp_path / "b.answers.xz"
    pack(folder, first, day="2026-01-02")
    pack(folder, second, day="2026-01-02")
    assert first.read_bytes() == second.read_bytes()


def test_what_actions_were_held_to_is_known(folder, tmp_path):
    held = entry(99, choices=["look"])
    FolderOfAnswers(folder).put(question_key(held), held)
    file = tmp_path / "held.answers.xz"
    pack(folder, file)
    # type: ignore[attr-defined]
    assert open_model(f"replay/{file}", open_answers=open_answers).constrains


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: text.replace("look 7", "look 8"), "checksum differs"),
        (lambda text: "\n".join(text.split("\n")[:-2]) + "\n", "checksum differs"),
        (lambda text: text.split("\n", 1)[1], "no packed record"),
        (lambda text: text + "7\n", ":22: is no answer"),
        (lambda text: text + "[7, {}]\n", ":22: is no answer"),
        (lambda _text: "", "no packed record"),
    ],
)
def test_a_changed_file_is_refused(folder, tmp_path, change, told):
    file = tmp_path / "small.answers.xz"
    pack(folder, file)
    text = lzma.decompress(file.read_bytes()).decode()
    file.write_bytes(lzma.compress(change(text).encode()))
    with pytest.raises(FileError, match=told):
        PackedAnswers(file)


def test_a_file_that_is_cut_off_is_refused(folder, tmp_path):
    file = tmp_path / "small.answers.xz"
    pack(folder, file)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(FileError, match="cut off"):
        PackedAnswers(file)


def test_what_cannot_be_packed_is_said(folder, tmp_path):
    with pytest.raises(InputError, match=r"ends in \.answers\.xz"):
        pack(folder, tmp_path / "record.xz")
    with pytest.raises(InputError, match="no such folder"):
        pack(tmp_path / "nowhere", tmp_path / "r.answers.xz")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no recorded answers"):
        pack(tmp_path / "empty", tmp_path / "r.answers.xz")
    other = entry(0, "another")
    FolderOfAnswers(folder).put(question_key(other), other)
    with pytest.raises(InputError, match="several models: another, m"):
        pack(folder, tmp_path / "r.answers.xz")
    assert not (tmp_path / "r.answers.xz").exists()


def test_nothing_is_recorded_into_it(folder, tmp_path):
    pack(folder, tmp_path / "r.answers.xz")
    with pytest.raises(InputError, match="only read"):
        PackedAnswers(tmp_path / "r.answers.xz").put("0" * 64, {})


def test_a_question_that_was_never_asked_says_so(folder, tmp_path):
    pack(folder, tmp_path / "r.answers.xz")
    model = ReplayModel("replay/r", PackedAnswers(tmp_path / "r.answers.xz"))
    with pytest.raises(ModelUnavailable, match="not asked when it was recorded"):
        model.answer(request("look"))


def test_the_shipped_records_play_the_requests(tmp_path):
    """If a prompt changes by one byte, this fails: record again, or take the change back. The
    quickstart's own are played to their end in tests/cli/test_quickstart.py.
    """
    assert list(shipped_records()) == [
        "qwen2.5-coder-1.5b",
        "qwen2.5-coder-1.5b-taught",
        "requests-qwen2.5-coder-1.5b",
    ]
    read = won_of_two(REQUESTS, tmp_path / "read")
    assert read["rules-only"] == read["full"] == 2


def test_the_shipped_answers_of_a_taught_model_are_found(rpms: Rpms, tmp_path):
    """The slow test of the whole quickstart finds what this one does, an hour later."""
    words = ["--only", "rules-only", "--limit", 2, "--no-report", "--workers", 1, "--out", tmp_path]
    ran = rpms("study", "run", STUDIES / "quickstart_taught.yaml", *words)
    assert ran.code == 0, ran.err
    assert "2/2 episodes" in ran.out + ran.err


def won_of_two(file, folder):
    """Games won of the first two, by condition, with the memory that the whole study learns."""
    study = read_study(file)
    world = find_world(study.world)
    setting = make_setting(world, None, "native", None)
    name = study.models[0]
    recorded = NamedModel(name)()
    means = Means(
        world,
        setting,
        open_model=lambda model: lend(recorded) if model == name else NamedModel(model),
        learn=lambda *_given: {},
        window=lambda _model, settings: settings.context or 0,
    )
    learning = study.learning
    assert learning is not None
    played = design_round(learning, 1, "planner", means)
    design = LearningDesign(
        played, 1, first=learning.condition(1), harvest=learning.settings.harvesting
    )
    (round_one,) = learn(design, folder / "memory.jsonl")
    memory = read_frozen(round_one.file, world.name)
    choice = replace(study.choice, settings=replace(study.choice.settings, limit=2))
    return {
        case.name: run_trials(
            design_cell(choice, case, name, means, memory), folder / case.name, 1
        ).best.won
        for case in study.cases
    }
