"""Training on pairs with the real libraries and a tiny model: learn, stop, go on, play, correct."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from rpms.logic.errors import FileError, InputError, ModelUnavailable
from rpms.models.catalogue import open_model, taught_on
from rpms.models.hf.adapters import TAUGHT, WeightsName, read_weights
from rpms.models.hf.weights import load_weights
from rpms.models.windows import context_window
from rpms.paper.prompt import Message
from rpms.play.design import NamedModel
from rpms.play.run import Interrupted, Listener
from rpms.teaching.classroom import correct
from rpms.teaching.pairs import Pair, PairSource, add_pairs, read_pairs
from rpms.teaching.trainer import Training, inputs_as_they_are
from rpms.teaching.training import train
from rpms.teaching.watching import TrainingWatch
from tests.models.prompts import request
from tests.teaching.test_pairs import classroom
from tests.teaching.tiny_model import write_tiny_model

torch = pytest.importorskip("torch", reason="the extra `teach` is not installed")
trl = pytest.importorskip("trl", reason="the extra `teach` is not installed")
datasets = pytest.importorskip("datasets", reason="the extra `teach` is not installed")
peft = pytest.importorskip("peft", reason="the extra `teach` is not installed")

pytestmark = pytest.mark.filterwarnings("ignore")  # what the libraries deprecate among themselves

QUICK = Training(epochs=12, learning_rate=0.01, rank=16, batch=4, at_once=2)


@pytest.fixture(autouse=True)
def on_the_processor(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


def pair(number: int, split: str = "builtin_train", thoughts: str = "words") -> Pair:
    """A question with one right answer, for a model to learn by heart."""
    answer = f"Thought: I want to go on.\nAction: go to desk {number % 4}"
    return Pair(
        prompt=(Message("system", "Answer."), Message("user", f"Obs: desk {number % 4}. " * 3)),
        completion=(Message("assistant", answer),),
        world="alfworld",
        split=split,
        task=f"game-{number}",
        condition="full",
        step=number,
        source=PairSource.TEACHER,
        thoughts=thoughts,
    )


@pytest.fixture(scope="module")
def school(tmp_path_factory):
    """A base model, pairs, and what it learned from them."""
    folder = tmp_path_factory.mktemp("school")
    pairs = folder / "pairs.jsonl"
    add_pairs(pairs, [replace(pair(number), condition=f"c{number}") for number in range(16)])
    base = write_tiny_model(folder / "base", [pairs.read_text("utf-8")])
    said: list[str] = []
    taught = train(str(base), [pairs], folder / "adapter", QUICK, said.append, on_processor=True)
    return base, pairs, folder / "adapter", taught, said


def test_the_loss_falls_and_is_kept_as_numbers_and_as_a_picture(school):
    _, _, adapter, taught, said = school
    assert taught.losses[-1][1] < taught.losses[0][1] / 2
    assert len(taught.losses) == 48
    assert (adapter / "loss.png").read_bytes()[:4] == b"\x89PNG"
    assert taught.tasks == tuple(f"game-{number}" for number in range(16))
    assert any("s left" in line for line in said)
    assert not adapter.with_name("adapter.training").exists()


def test_its_card_says_what_it_was_taught(school):
    base, _, adapter, _, _ = school
    card = (adapter / "README.md").read_text("utf-8")
    assert f"Low-rank weights (LoRA) of `{base}`" in card
    assert "- taught: 16 games of builtin_train, in c0, c1" in card
    assert "- pairs: 16 pairs, 0 of them corrections" in card
    assert "More Information Needed" not in card


def test_the_taught_model_gives_the_answers_and_the_base_does_not(school):
    base, _, adapter, _, _ = school

    def answers(name: str) -> list[str]:
        model = open_model(name)
        found = []
        for number in range(4):
            asked = request()
            prompt = replace(asked.prompt, speak=lambda _, n=number: pair(n).prompt)
            found.append(model.answer(replace(asked, prompt=prompt)).text)
        model.close()
        return found

    right = [pair(number).completion[0].content for number in range(4)]
    assert answers(f"hf/{base}+{adapter}") == right
    assert answers(f"hf/{adapter}") == right  # an adapter names its base
    assert answers(f"hf/{base}") != right


def test_the_same_seed_learns_the_same(school, tmp_path):
    base, pairs, _, taught, _ = school
    short = replace(QUICK, epochs=1)
    found = []
    for seed, name in ((0, "a"), (0, "b"), (1, "c")):
        training = replace(short, seed=seed)
        found.append(train(str(base), [pairs], tmp_path / name, training, print, on_processor=True))
    assert found[0].losses == found[1].losses
    assert found[0].losses != found[2].losses
    assert found[0].hash == found[1].hash
    assert taught.hash != found[0].hash


def test_what_was_stopped_goes_on_to_the_same_end(school, tmp_path, monkeypatch):
    base, pairs, _, _, _ = school
    training = replace(QUICK, epochs=2)
    whole = train(str(base), [pairs], tmp_path / "whole", training, print, on_processor=True)
    end_step = TrainingWatch.end_step

    def interrupted(self, state, control):
        if state.global_step == 3:
            os.kill(os.getpid(), 2)
        end_step(self, state, control)

    out = tmp_path / "out"
    with monkeypatch.context() as patched:
        patched.setattr(TrainingWatch, "end_step", interrupted)
        with pytest.raises(Interrupted, match="stopped after step 3 of 8; the same command"):
            train(str(base), [pairs], out, training, print, on_processor=True)
    assert not out.exists()
    with pytest.raises(InputError, match="holds the checkpoints of another training"):
        train(str(base), [pairs], out, replace(training, seed=9), print, on_processor=True)
    resumed = train(str(base), [pairs], out, training, print, on_processor=True)
    assert [step for step, _ in resumed.losses] == list(range(1, 9))
    assert resumed.losses[-1][1] == pytest.approx(whole.losses[-1][1], rel=0.01)


@pytest.mark.parametrize("swallowed", [False, True])
def test_ctrl_c_while_libraries_are_loaded_is_no_missing_library(
    school, tmp_path, monkeypatch, swallowed
):
    """They take an interrupt for an import that failed, or pass over it."""
    base, pairs, *_ = school

    def load(_name: str) -> object:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            if not swallowed:
                raise ImportError("half of it is there") from None
        return torch

    library = SimpleNamespace(import_module=load, util=importlib.util)
    monkeypatch.setattr("rpms.teaching.training.importlib", library)
    with pytest.raises(Interrupted, match="out is as it was, and the same command goes on"):
        train(str(base), [pairs], tmp_path / "out", QUICK, print)
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_what_is_in_the_way_of_checkpoints_is_said_before_anything_is_loaded(
    school, tmp_path, monkeypatch
):
    base, pairs, *_ = school
    monkeypatch.setattr("rpms.teaching.training.importlib", None)
    work = tmp_path / "out.training"
    work.mkdir()
    (work / "mine.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="holds something else: choose another --out"):
        train(str(base), [pairs], tmp_path / "out", QUICK, print, on_processor=True)
    assert sorted(path.name for path in work.iterdir()) == ["mine.txt"]


@pytest.mark.parametrize("fits", ["nothing", "the weights"])
def test_a_full_disk_is_one_line_and_the_same_command_goes_on(school, tmp_path, fits):
    """A limit on file sizes makes the kernel refuse a write in its middle, as a full disk does.

    First safetensors writes the weights, then torch the state of the optimiser, twice as large;
    each has errors of its own.
    """
    resource = pytest.importorskip("resource", reason="POSIX has limits on file sizes")
    base, pairs, _, _, _ = school
    training = replace(QUICK, epochs=1)
    out = tmp_path / "out"
    most = 150_000 if fits == "the weights" else 40_000
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        with pytest.raises(InputError, match=r"out\.training: cannot be written.*; the same"):
            train(str(base), [pairs], out, training, print, on_processor=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not out.exists()
    train(str(base), [pairs], out, training, print, on_processor=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_all_weights_can_be_trained(school, tmp_path):
    base, pairs, _, _, _ = school
    training = replace(QUICK, epochs=1, all_weights=True, learning_rate=0.001)
    out = tmp_path / "model"
    train(str(base), [pairs], out, training, print, on_processor=True)
    assert read_weights(str(out)).adapter == ""
    model = open_model(f"hf/{out}")
    assert model.answer(request()).usage.completion_tokens > 0
    model.close()


def test_without_a_gpu_it_says_how_long_it_would_take(school, tmp_path):
    base, pairs, _, _, _ = school
    with pytest.raises(InputError, match=r"no GPU here.*at least \d.*: add --cpu"):
        train(str(base), [pairs], tmp_path / "out", QUICK, print)
    assert list(tmp_path.iterdir()) == []


def test_a_base_that_does_not_chat_is_refused(school, tmp_path):
    _, pairs, _, _, _ = school
    base = write_tiny_model(tmp_path / "base", ["some text"], chat=False)
    with pytest.raises(InputError, match="is no chat model"):
        train(str(base), [pairs], tmp_path / "out", QUICK, print, on_processor=True)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_no_model_is_refused_before_anything_is_loaded(
    school, tmp_path, monkeypatch
):
    _, pairs, *_ = school
    monkeypatch.setattr("rpms.teaching.training.importlib", None)
    with pytest.raises(InputError, match=r"is no model: it has no config\.json"):
        train(str(tmp_path), [pairs], tmp_path / "out", QUICK, print, on_processor=True)
    assert list(tmp_path.iterdir()) == []


def test_trl_reads_a_file_of_pairs_as_it_is_and_learns_the_answers_alone(school, tmp_path):
    base, pairs, *_ = school
    cache = str(tmp_path / "cache")
    rows = datasets.load_dataset("json", data_files=str(pairs), split="train", cache_dir=cache)
    settings = trl.SFTConfig(str(tmp_path / "out"), use_cpu=True, report_to="none")
    trainer = trl.SFTTrainer(model=str(base), args=settings, train_dataset=rows)
    batch = trainer.data_collator(list(trainer.train_dataset))
    for labels, each in zip(batch["labels"], read_pairs(pairs), strict=True):
        learned = trainer.processing_class.decode(labels[labels != -100])
        assert learned.removesuffix("\n") == f"{each.completion[0].content}<|im_end|>"


def test_who_may_read_the_folder_may_read_the_weights(school):
    _, _, adapter, _, _ = school
    modes = {file.stat().st_mode for file in adapter.iterdir()}
    assert len(modes) == 1


def test_pairs_of_a_split_that_is_measured_on_are_refused(school, tmp_path):
    base, _, _, _, _ = school
    pairs = tmp_path / "pairs.jsonl"
    add_pairs(pairs, [pair(1, split="valid_seen")])
    with pytest.raises(InputError, match="valid_seen is a split that is measured on"):
        train(str(base), [pairs], tmp_path / "out", QUICK, print, on_processor=True)


def test_pairs_of_two_worlds_are_refused_though_they_ask_the_same(school, tmp_path):
    base, pairs, *_ = school
    other = tmp_path / "other.jsonl"
    add_pairs(other, [replace(each, world="scienceworld") for each in read_pairs(pairs)])
    with pytest.raises(FileError, match=r"other\.jsonl: pairs of alfworld and scienceworld do not"):
        train(str(base), [pairs, other], tmp_path / "out", QUICK, print, on_processor=True)
    assert list(tmp_path.iterdir()) == [other]


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_a_rate_that_teaches_nothing_is_refused_before_anything_is_loaded(value):
    with pytest.raises(InputError, match=f"--learning-rate {value} is not above 0"):
        Training(learning_rate=value)
    with pytest.raises(InputError, match=f"--epochs {value} is not above 0"):
        Training(epochs=value)


def test_padding_changes_no_loss(school, tmp_path):
    """Batches of several pairs, padded and without a mask, learn what single pairs learn."""
    base, pairs, _, _, _ = school
    once = replace(QUICK, epochs=1, learning_rate=0.001)
    alone = train(
        str(base), [pairs], tmp_path / "a", replace(once, at_once=1), print, on_processor=True
    )
    padded = train(
        str(base), [pairs], tmp_path / "b", replace(once, at_once=4), print, on_processor=True
    )
    for (_, one), (_, other) in zip(alone.losses, padded.losses, strict=True):
        assert one == pytest.approx(other, rel=1e-3)


def test_inputs_that_are_not_cast_give_the_same_loss_and_gradients(school):
    """As on a GPU: weights in bfloat16, low-rank ones in float32, mixed precision."""
    base, *_ = school
    _, model = load_weights("base", read_weights(str(base)), torch.bfloat16)
    torch.manual_seed(0)
    added = peft.LoraConfig(r=4, target_modules="all-linear", init_lora_weights=False)
    adapted = peft.get_peft_model(model, added)
    tokens = torch.arange(1, 25).reshape(2, 12)
    found = []
    for uncast in (nullcontext(), inputs_as_they_are(adapted)):
        adapted.zero_grad()
        with uncast, torch.autocast("cpu", dtype=torch.bfloat16):
            loss = adapted(input_ids=tokens, labels=tokens).loss
            loss.backward()
        trained = [weight for weight in adapted.parameters() if weight.requires_grad]
        assert {weight.dtype for weight in trained} == {torch.float32}
        found.append((loss.item(), [weight.grad.clone() for weight in trained]))
    (loss_before, before), (loss_after, after) = found
    assert loss_before == loss_after
    assert all(torch.equal(one, other) for one, other in zip(before, after, strict=True))


def test_rounds_of_corrections_and_unusual_thoughts_are_told_by_the_protocol(school, tmp_path):
    base, pairs, *_ = school
    file = tmp_path / "pairs.jsonl"
    file.write_bytes(pairs.read_bytes())
    correction = replace(pair(1), source=PairSource.CORRECTION)
    printed = replace(correction, thoughts="printed")
    students = [replace(printed, student=name, condition=name) for name in ("hf/a", "hf/b")]
    add_pairs(file, students)
    once = replace(QUICK, epochs=1)
    taught = train(str(base), [file], tmp_path / "twice", once, print, on_processor=True)
    assert (taught.corrections, taught.rounds) == (2, 2)
    room = classroom()
    name = f"hf/{base}+{tmp_path / 'twice'}"
    design = room.student("full", name, NamedModel(name))
    told = design.protocol().settings["taught"]
    assert told["rounds"] == 2
    assert told["thoughts"] == ["printed", "words"]
    assert len(told["prompts"]) == 18  # conditions of these pairs' own, not the four


def test_games_that_a_model_was_taught_on_are_not_played_as_a_test(school, tmp_path):
    base, _, adapter, taught, _ = school
    room = classroom(2)
    known = replace(taught, tasks=(room.tasks[0].id,))
    (adapter / TAUGHT).write_text(json.dumps(asdict(known)), encoding="utf-8")
    model = f"hf/{base}+{adapter}"
    assert taught_on(model) == known
    given = {"tasks": room.tasks, "setting": room.setting}
    settings = replace(room.settings, condition="baseline")
    with pytest.raises(InputError, match="was taught on 1 of these 2 tasks"):
        settings.design(room.world, model, NamedModel(model), **given)
    design = settings.design(room.world, model, NamedModel(model), overlap=True, **given)
    told = design.protocol().settings["taught"]
    assert (told["hash"], told["games"], told["corrections"]) == (known.hash, 1, 0)
    assert told["overlap"] == 1


def test_a_student_in_this_process_plays_all_conditions_at_once_and_is_corrected(school, tmp_path):
    base, _, adapter, _, _ = school
    pairs = tmp_path / "pairs.jsonl"
    room = replace(classroom(2, steps=2, max_tokens=8), conditions=("baseline", "full"))
    student = NamedModel(f"hf/{base}+{adapter}")
    done = correct(room, student, 0, pairs, lambda _: Listener(), processes=1)
    assert {name: summary.done for name, summary in done.played.items()} == {
        "baseline": 2,
        "full": 2,
    }
    found = read_pairs(pairs)
    assert len(found) == done.added == 8
    assert {each.source for each in found} == {PairSource.CORRECTION}


def test_names_of_adapters_are_read(school, tmp_path):
    base, _, adapter, _, _ = school
    assert read_weights(f"{base}+{adapter}") == (str(base), str(adapter))
    assert read_weights("Qwen/Qwen2.5-0.5B-Instruct") == ("Qwen/Qwen2.5-0.5B-Instruct", "")
    plus = tmp_path / "a+b"
    plus.mkdir()
    assert read_weights(str(plus)) == (str(plus), "")
    assert context_window(f"hf/{base}+{adapter}").tokens == 8192
    with pytest.raises(InputError, match="no such file or folder as /nowhere"):
        open_model(f"hf/{base}+/nowhere")
    with pytest.raises(InputError, match="no folder adaptor here, and an adapter on the hub is"):
        open_model(f"hf/{base}+adaptor")
    with pytest.raises(InputError, match=r"is no adapter: it has no adapter_config.json"):
        open_model(f"hf/{base}+{base}")
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "adapter_config.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelUnavailable, match="the adapter cannot be loaded"):
        open_model(f"hf/{base}+{broken}")


def test_a_merged_model_is_rounded_but_not_its_positions(school):
    base, _, adapter, _, _ = school
    model = load_weights("hf/merged", WeightsName(str(base), str(adapter)), torch.bfloat16).model
    assert {parameter.dtype for parameter in model.parameters()} == {torch.bfloat16}
    assert {buffer.dtype for buffer in model.buffers()} == {torch.float32}


def test_files_stay_where_they_were_named(school):
    base, pairs, _, taught, _ = school
    assert Path(taught.base) == base
    assert pairs.exists()
