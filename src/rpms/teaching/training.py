"""Training on pairs: what is checked before, and what is kept of it. The trainer itself is TRL's
(`trainer`).
"""

import hashlib
import importlib.util
import json
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rpms.foreign.file_reader import beside, is_there, read_text
from rpms.foreign.limits import LARGEST_TABLE
from rpms.foreign.shown import excerpt
from rpms.logic.counting import counted
from rpms.logic.errors import InputError, ModelUnavailable
from rpms.models.hf.adapters import TAUGHT, Taught, WeightsName, check_weights, read_weights
from rpms.models.hf.weights import load_weights, without_notices
from rpms.store.files import write_whole, writing
from rpms.store.own_folders import replaced_folder
from rpms.teaching.pairs import (
    Pair,
    PairSource,
    read_pairs,
    require_one_world,
    require_training_split,
)
from rpms.teaching.trainer import (
    Training,
    make_trainer,
    run_trainer,
    save_weights,
    writing_weights,
)
from rpms.teaching.watching import TrainingWatch, interrupts_heard, write_picture
from rpms.worlds.registry import find_world, world_names

TERMS = "training.json"
"""The file in the folder of checkpoints that says what they are of."""
CARD = "README.md"
"""The file that describes a model; TRL writes one of its own beside the checkpoints."""
_OPERATIONS = 6
"""Multiplications and additions for each weight and token: two on the way forth, four back."""
_PACKAGES = ("torch", "transformers", "trl", "peft", "datasets")


def train(
    base: str,
    files: Sequence[Path],
    out: Path,
    training: Training,
    say: Callable[[str], None],
    *,
    on_processor: bool = False,
    overlap: bool = False,
) -> Taught:
    """Teach a base model and keep what it learned in a folder, whole; the same call continues one
    that was stopped.

    Without a GPU it says how long it would take, unless it is to go on all the same.
    """
    weights = _read_base(base)
    pairs = _read_all(files, overlap=overlap)
    work = beside(out, f"{out.name}.training")
    started = time.monotonic()
    stopped = f"stopped; {out} is as it was, and the same command goes on"
    terms = _terms_text(weights, pairs, training)
    _check_work(work, terms)
    with (
        interrupts_heard(stopped),
        without_notices(),
        replaced_folder(out, "a taught model") as folder,
    ):
        _require_torch()
        say(f"loading {base}, which can take some minutes")
        libraries = _import_libraries()
        torch: Any = libraries["torch"]
        on_gpu = torch.cuda.is_available() and not on_processor
        dtype = torch.bfloat16 if on_gpu and not training.all_weights else torch.float32
        loaded = load_weights(base, weights, dtype)
        _require_chat_template(base, loaded.tokenizer)
        watch = TrainingWatch(say)
        say("preparing the pairs")
        trainer = make_trainer(libraries, loaded, pairs, training, work, watch, on_gpu=on_gpu)
        lengths = [len(tokens) for tokens in trainer.train_dataset["input_ids"]]
        _check_lengths(base, loaded.model, lengths)
        watch.tokens = int(sum(lengths) * training.epochs)
        if not on_gpu and not on_processor:
            with suppress(OSError):  # it holds an earlier training
                work.rmdir()
            raise InputError(_without_gpu(torch, loaded.model, watch.tokens))
        write_whole(work / TERMS, terms)
        games = counted(len({pair.task for pair in pairs}), "game")
        say(f"{counted(len(pairs), 'pair')} of {games}, {watch.tokens:,} tokens to read")
        run_trainer(trainer, work, watch)
        with writing(out), writing_weights(out):
            save_weights(trainer, loaded.tokenizer, weights, training, folder)
        taught = _record(weights, pairs, training, folder, watch, time.monotonic() - started)
        _write_record(folder, taught, say)
    _forget_checkpoints(work)
    return taught


def _require_chat_template(base: str, tokenizer: Any) -> None:
    """Refuse a model that knows no chats."""
    if not tokenizer.chat_template:
        raise InputError(
            f"{base}: is no chat model, since its tokenizer has no chat template: give one that"
            " follows instructions"
        )


def _write_record(folder: Path, taught: Taught, say: Callable[[str], None]) -> None:
    """Write beside the weights what the model was taught, for programs and for people, and its
    losses as a picture.
    """
    record = json.dumps(asdict(taught), indent=1) + "\n"
    (folder / TAUGHT).write_text(record, encoding="utf-8")
    (folder / CARD).write_text(_card(taught), encoding="utf-8")
    if not write_picture(folder / "loss.png", taught.losses):
        say(f"note: matplotlib is not installed: the losses are in {TAUGHT} alone")


def _card(taught: Taught) -> str:
    """A model's card: its base, what it was taught, and what that does not show.

    It takes the place of PEFT's, which is a form with nothing filled in.
    """
    kind = "All weights" if taught.settings["all_weights"] else "Low-rank weights (LoRA)"
    games = f"{counted(len(taught.tasks), 'game')} of {', '.join(taught.splits)}"
    pairs = f"{counted(taught.pairs, 'pair')}, {taught.corrections:,} of them corrections"
    lines = [
        f"# Taught to read what RPMS tells it: {taught.world}",
        "",
        f"{kind} of `{taught.base}`, trained by `rpms teach train`.",
        "",
        f"- taught: {games}, in {', '.join(taught.conditions)}",
        f"- pairs: {pairs}",
        f"- settings, losses and versions: `{TAUGHT}`",
        "",
        "These games are no test of it. Other worlds and other prompts were not taught.",
    ]
    return "\n".join(lines) + "\n"


def _read_base(base: str) -> WeightsName:
    """The place of the weights to begin with, with or without `hf/` before it."""
    place = base.removeprefix("hf/")
    if not place:
        raise InputError(
            "give the base model: a folder, a .gguf file, or a name on the Hugging Face hub"
        )
    check_weights(base, place)
    weights = read_weights(place)
    if weights.adapter:
        raise InputError(
            f"{base}: has an adapter already: teach its base {weights.base} on all pairs together"
        )
    return weights


def _read_all(files: Sequence[Path], *, overlap: bool) -> tuple[Pair, ...]:
    """The pairs of all files, none of them of a split that results are measured on."""
    found: dict[str, Pair] = {}
    first_of_each: list[Pair] = []
    for file in files:
        read = read_pairs(file)
        first_of_each.append(read[0])
        require_one_world(file, first_of_each)
        for pair in read:
            found.setdefault(pair.key, pair)
    pairs = tuple(found.values())
    if not overlap:
        for split in dict.fromkeys(pair.split for pair in pairs):
            require_training_split(split, _splits(pairs[0].world))
    return pairs


def _splits(world: str) -> tuple[str, ...]:
    """The splits of a world; none of one that is not installed here, which training does not
    need.
    """
    return find_world(world).splits if world in world_names() else ()


def _require_torch() -> None:
    """Refuse where nothing was installed to teach with, before anything is said to be loaded."""
    if importlib.util.find_spec("torch") is None:
        raise ModelUnavailable("teaching needs torch: pip install 'rpms[teach]'")


def _import_libraries() -> dict[str, Any]:
    try:
        return {name: importlib.import_module(name) for name in _PACKAGES}
    except ModuleNotFoundError as error:
        raise ModelUnavailable(f"teaching needs {error.name}: pip install 'rpms[teach]'") from None
    except (ImportError, OSError) as error:  # a shared library that is not there is an OSError
        raise ModelUnavailable(
            f"the libraries of rpms[teach] cannot be loaded: {excerpt(str(error))}"
        ) from None


def _terms_text(weights: WeightsName, pairs: Sequence[Pair], training: Training) -> str:
    """Everything that decides what is learned, to tell one training from another."""
    read = "".join([pair.key + pair.completion[0].content for pair in pairs])
    digest = hashlib.sha256(read.encode()).hexdigest()
    terms = {"base": weights.base, "pairs": digest, **asdict(training)}
    return json.dumps(terms, indent=1) + "\n"


def _check_work(work: Path, terms: str) -> None:
    """Refuse a folder for checkpoints that holds anything but those of the same training."""
    if not is_there(work / TERMS) and work.is_dir() and any(work.iterdir()):
        raise InputError(
            f"{work}: is where checkpoints go, and holds something else: choose another --out"
        )
    begun = is_there(work / TERMS) and any(work.glob("checkpoint-*"))
    if begun and read_text(work / TERMS, LARGEST_TABLE) != terms:
        raise InputError(
            f"{work}: holds the checkpoints of another training: train as before to finish it,"
            " choose another --out, or remove the folder"
        )


def _forget_checkpoints(work: Path) -> None:
    """Remove what a training wrote beside its result, and nothing else that lies there."""
    for checkpoint in work.glob("checkpoint-*"):
        shutil.rmtree(checkpoint, ignore_errors=True)
    with suppress(OSError):
        (work / TERMS).unlink(missing_ok=True)
        (work / CARD).unlink(missing_ok=True)
        work.rmdir()


def _check_lengths(base: str, model: Any, lengths: Sequence[int]) -> None:
    window = int(getattr(model.config, "max_position_embeddings", 0) or 0)
    longest = max(lengths)
    if window and longest > window:
        too_long = sum(length > window for length in lengths)
        raise InputError(
            f"{base}: {too_long} of {len(lengths)} pairs have more than its {window:,} tokens"
            f" (the longest has {longest:,})"
        )


def _without_gpu(torch: Any, model: Any, tokens: int) -> str:
    """Words for someone without a GPU: the least time that the training would take here."""
    weights = sum(weight.numel() for weight in model.parameters())
    seconds = _OPERATIONS * weights * tokens / _operations_a_second(torch)
    hours = seconds / 3600
    took = f"{hours:,.1f} hours" if hours >= 1 else counted(max(1, round(60 * hours)), "minute")
    return (
        f"there is no GPU here, and on this processor it would take at least {took}:"
        " add --cpu to go on all the same"
    )


def _operations_a_second(torch: Any) -> float:
    """Speed of this processor, measured while it does nothing but multiply matrices."""
    size = 1024
    matrix = torch.ones(size, size)
    matrix @ matrix  # the first time prepares
    started = time.perf_counter()
    matrix @ matrix
    seconds = time.perf_counter() - started
    return float(2 * size**3 / seconds)


def _record(
    weights: WeightsName,
    pairs: Sequence[Pair],
    training: Training,
    folder: Path,
    watch: TrainingWatch,
    seconds: float,
) -> Taught:
    """The record of a training, by which students are told apart later."""
    corrections = [pair for pair in pairs if pair.source is PairSource.CORRECTION]
    students = {pair.student for pair in corrections}
    thoughts = {pair.thoughts for pair in pairs} - {""}
    return Taught(
        world=pairs[0].world,
        base=weights.base,
        tasks=tuple(dict.fromkeys(pair.task for pair in pairs)),
        splits=tuple(dict.fromkeys(pair.split for pair in pairs)),
        conditions=tuple(dict.fromkeys(pair.condition for pair in pairs)),
        pairs=len(pairs),
        corrections=len(corrections),
        hash=_weights_hash(folder),
        settings=asdict(training),
        versions={name: version(name) for name in ("rpms", *_PACKAGES)},
        seconds=round(seconds, 1),
        tokens=watch.tokens,
        losses=tuple(watch.losses),
        rounds=len(students),
        thoughts=tuple(sorted(thoughts)),
    )


def _weights_hash(folder: Path) -> str:
    """A hash of all weights in a folder."""
    digest = hashlib.sha256()
    for file in sorted(folder.glob("*.safetensors")):
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()
