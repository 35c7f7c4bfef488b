"""Training on pairs: TRL's trainer with PEFT's low-rank weights, or all weights, by the loss on
the answers alone.
"""

import hashlib
import importlib
import json
import math
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rpms.foreign.file_reader import beside, is_there, read_text
from rpms.foreign.limits import LARGEST_TABLE
from rpms.foreign.shown import excerpt
from rpms.logic.counting import counted
from rpms.logic.errors import InputError, ModelError, ModelUnavailable
from rpms.models.hf.adapters import TAUGHT, Taught, WeightsName, check_weights, read_weights
from rpms.models.hf.weights import load_weights, without_notices
from rpms.play.run import Interrupted
from rpms.store.files import write_whole, writing
from rpms.store.own_folders import replaced_folder
from rpms.teaching.pairs import (
    Pair,
    PairSource,
    read_pairs,
    require_one_world,
    require_training_split,
)
from rpms.teaching.watching import (
    TrainingWatch,
    interrupts_heard,
    trainer_callback,
    write_picture,
)
from rpms.worlds.registry import find_world, world_names

PLAN = "training.json"
"""The file in the folder of checkpoints that says what they are of."""
STATE = "trainer_state.json"
"""The file that transformers' trainer writes last into a checkpoint."""
CARD = "README.md"
"""The file in which TRL describes the model, beside the checkpoints."""
_PACKAGES = ("torch", "transformers", "trl", "peft", "datasets")
_CHECKPOINTS = 4
"""Checkpoints of a training: each takes as long as some steps, and no more than a quarter is
ever done again."""


@dataclass(frozen=True)
class Training:
    """Settings of a training."""

    epochs: float = 1.0
    learning_rate: float = 2e-4
    """Of low-rank weights; all weights take about a twentieth."""
    rank: int = 16
    """Rank of the added weights."""
    batch: int = 8
    """Pairs in one step of the optimiser."""
    at_once: int = 2
    """Pairs on the device at a time, which is what its memory has to hold."""
    seed: int = 0
    all_weights: bool = False

    def __post_init__(self) -> None:
        for name, value in (("epochs", self.epochs), ("learning-rate", self.learning_rate)):
            if not 0 < value < math.inf:
                raise InputError(f"--{name} {value} is not above 0, or has no end: give another")
        if self.batch % self.at_once:
            raise InputError(f"--batch {self.batch} is no multiple of --at-once {self.at_once}")


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
    plan = _plan_text(weights, pairs, training)
    _check_work(work, plan)
    with (
        interrupts_heard(stopped),
        without_notices(),
        replaced_folder(out, "a taught model") as folder,
    ):
        say(f"loading {base}, which can take some minutes")
        libraries = _import_libraries()
        torch: Any = libraries["torch"]
        on_gpu = torch.cuda.is_available() and not on_processor
        dtype = torch.bfloat16 if on_gpu and not training.all_weights else torch.float32
        loaded = load_weights(base, weights, dtype)
        _require_chat_template(base, loaded.tokenizer)
        watch = TrainingWatch(say)
        say("preparing the pairs")
        trainer = _make_trainer(libraries, loaded, pairs, training, work, watch, on_gpu=on_gpu)
        lengths = [len(tokens) for tokens in trainer.train_dataset["input_ids"]]
        _check_lengths(base, loaded.model, lengths)
        watch.tokens = int(sum(lengths) * training.epochs)
        if not on_gpu and not on_processor:
            with suppress(OSError):  # it holds an earlier training
                work.rmdir()
            raise InputError(_without_gpu(torch, loaded.model, watch.tokens))
        write_whole(work / PLAN, plan)
        games = counted(len({pair.task for pair in pairs}), "game")
        say(f"{counted(len(pairs), 'pair')} of {games}, {watch.tokens:,} tokens to read")
        _run(trainer, work, watch)
        with writing(out), _writing_weights(out):
            _save(trainer, loaded.tokenizer, weights, training, folder)
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
    """Write beside the weights what the model was taught, and its losses as a picture."""
    record = json.dumps(asdict(taught), indent=1) + "\n"
    (folder / TAUGHT).write_text(record, encoding="utf-8")
    if not write_picture(folder / "loss.png", taught.losses):
        say(f"note: matplotlib is not installed: the losses are in {TAUGHT} alone")


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


def _import_libraries() -> dict[str, Any]:
    try:
        return {name: importlib.import_module(name) for name in _PACKAGES}
    except ModuleNotFoundError as error:
        raise ModelUnavailable(f"teaching needs {error.name}: pip install 'rpms[teach]'") from None
    except (ImportError, OSError) as error:  # a shared library that is not there is an OSError
        raise ModelUnavailable(
            f"the libraries of rpms[teach] cannot be loaded: {excerpt(str(error))}"
        ) from None


def _plan_text(weights: WeightsName, pairs: Sequence[Pair], training: Training) -> str:
    """Everything that decides what is learned, to tell one training from another."""
    keys = hashlib.sha256(
        "".join(pair.key + pair.completion[0].content for pair in pairs).encode()
    ).hexdigest()
    return json.dumps({"base": weights.base, "pairs": keys, **asdict(training)}, indent=1) + "\n"


def _check_work(work: Path, plan: str) -> None:
    """Refuse a folder for checkpoints that holds anything but those of the same training."""
    if not is_there(work / PLAN) and work.is_dir() and any(work.iterdir()):
        raise InputError(
            f"{work}: is where checkpoints go, and holds something else: choose another --out"
        )
    begun = is_there(work / PLAN) and any(work.glob("checkpoint-*"))
    if begun and read_text(work / PLAN, LARGEST_TABLE) != plan:
        raise InputError(
            f"{work}: holds the checkpoints of another training: train as before to finish it,"
            " choose another --out, or remove the folder"
        )


def _forget_checkpoints(work: Path) -> None:
    """Remove what a training wrote beside its result, and nothing else that lies there."""
    for checkpoint in work.glob("checkpoint-*"):
        shutil.rmtree(checkpoint, ignore_errors=True)
    with suppress(OSError):
        (work / PLAN).unlink(missing_ok=True)
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
    """Words for someone without a GPU: how long it would take here, by a measurement of this
    processor.
    """
    size = 1024
    matrix = torch.ones(size, size)
    matrix @ matrix  # the first time prepares
    started = time.perf_counter()
    matrix @ matrix
    a_second = 2 * size**3 / (time.perf_counter() - started)
    parameters = sum(weight.numel() for weight in model.parameters())
    hours = 6 * parameters * tokens / a_second / 3600
    took = f"{hours:,.1f} hours" if hours >= 1 else counted(max(1, round(60 * hours)), "minute")
    return (
        f"there is no GPU here, and on this processor it would take about {took}:"
        " add --cpu to go on all the same"
    )


def _make_trainer(
    libraries: dict[str, Any],
    loaded: Any,
    pairs: Sequence[Pair],
    training: Training,
    work: Path,
    watch: TrainingWatch,
    *,
    on_gpu: bool,
) -> Any:
    trl = libraries["trl"]
    peft = libraries["peft"]
    datasets = libraries["datasets"]
    datasets.disable_progress_bars()
    libraries["transformers"].utils.logging.disable_progress_bar()
    steps = max(1, int(len(pairs) * training.epochs / training.batch))
    loaded.tokenizer.padding_side = "right"
    arguments = trl.SFTConfig(
        output_dir=str(work),
        num_train_epochs=training.epochs,
        per_device_train_batch_size=training.at_once,
        gradient_accumulation_steps=training.batch // training.at_once,
        learning_rate=training.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=max(1, steps // 20),
        weight_decay=0.0,
        completion_only_loss=True,
        max_length=None,
        shuffle_dataset=True,
        train_sampling_strategy="batch_rebalance",
        gradient_checkpointing=False,
        bf16=on_gpu,
        use_cpu=not on_gpu,
        seed=training.seed,
        data_seed=training.seed,
        save_steps=max(25, -(-steps // _CHECKPOINTS)),
        save_total_limit=1,
        logging_steps=1,
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=False,  # batches hold expanded tensors, which cannot be pinned
    )
    lora = peft.LoraConfig(
        r=training.rank,
        lora_alpha=2 * training.rank,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )
    if on_gpu:  # cuDNN's attention plans anew for every length
        libraries["torch"].backends.cuda.enable_cudnn_sdp(False)
    rows = [
        {"prompt": _messages(pair.prompt), "completion": _messages(pair.completion)}
        for pair in pairs
    ]
    trainer = trl.SFTTrainer(
        model=loaded.model,
        args=arguments,
        train_dataset=datasets.Dataset.from_list(rows),
        processing_class=loaded.tokenizer,
        peft_config=None if training.all_weights else lora,
        callbacks=[trainer_callback(watch)],
    )
    trainer.data_collator = _without_mask(libraries["torch"], trainer.data_collator)
    for printer in ("PrinterCallback", "ProgressCallback"):
        trainer.remove_callback(getattr(libraries["transformers"], printer))
    return trainer


def _messages(messages: Sequence[Any]) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in messages]


def _without_mask(
    torch: Any, collate: Callable[[Any], dict[str, Any]]
) -> Callable[[Any], dict[str, Any]]:
    """Batches padded on the right without a mask: no token sees what comes after it, and padding
    has no loss.

    A mask would keep torch from its fastest attention, and rows of nothing but padding have led to
    losses that are no numbers.
    """

    def batch(examples: Any) -> dict[str, Any]:
        made = collate(examples)
        rows, width = made["input_ids"].shape
        del made["attention_mask"]
        made["position_ids"] = torch.arange(width).expand(rows, width)
        return made

    return batch


def inputs_as_they_are(model: Any) -> AbstractContextManager[None]:
    """Keep PEFT from turning the inputs of low-rank weights into float32.

    Under mixed precision they are rounded back at once, so the same numbers are computed; but each
    was written and read twice, and kept for the way back.
    """
    helpers: Any = importlib.import_module("peft.helpers")
    uncast: AbstractContextManager[None] = helpers.disable_input_dtype_casting(model)
    return uncast


@contextmanager
def _writing_weights(place: Path) -> Iterator[None]:
    """Say in one line that weights could not be written; the library that writes them has an
    error of its own for a full disk.
    """
    problem: Any = importlib.import_module("safetensors").SafetensorError
    try:
        yield
    except problem as error:
        raise InputError(
            f"{place}: cannot be written: {excerpt(str(error))}; the same command goes on"
        ) from None


def _drop_unfinished(work: Path) -> None:
    """Remove checkpoints that were not written to their end, which is their state's file."""
    for checkpoint in work.glob("checkpoint-*"):
        if not is_there(checkpoint / STATE):
            shutil.rmtree(checkpoint, ignore_errors=True)


def _run(trainer: Any, work: Path, watch: TrainingWatch) -> None:
    """Train, from the last checkpoint if there is one."""
    _drop_unfinished(work)
    checkpoints = any(work.glob("checkpoint-*"))
    try:
        with watch.listening(), inputs_as_they_are(trainer.model), _writing_weights(work):
            trainer.train(resume_from_checkpoint=True if checkpoints else None)
    except OSError as error:
        raise InputError(
            f"{work}: cannot be written: {error.strerror or error}; the same command goes on"
        ) from None
    except RuntimeError as error:
        if "out of memory" in str(error):
            raise InputError("the device's memory is too small: give a smaller --at-once") from None
        if "No space left" in str(error) or "PytorchStreamWriter" in str(error):
            raise InputError(
                f"{work}: cannot be written: {excerpt(str(error))}; the same command goes on"
            ) from None
        raise
    if watch.stopped:
        raise Interrupted(
            f"stopped after step {watch.step} of {watch.steps}; the same command goes on from there"
        )
    if watch.broken:
        raise ModelError(
            f"the loss is no number any more at step {watch.step}: give a smaller --learning-rate"
        )


def _save(
    trainer: Any, tokenizer: Any, weights: WeightsName, training: Training, folder: Path
) -> None:
    """Write what was trained: all weights with their tokenizer, or the added ones, at half
    precision.
    """
    model = trainer.model
    if training.all_weights:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return
    place = Path(weights.base).expanduser()
    base = str(place.absolute()) if is_there(place) else weights.base
    for settings in model.peft_config.values():
        settings.base_model_name_or_path = base
    torch: Any = importlib.import_module("torch")
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data = parameter.data.to(torch.bfloat16)
    model.save_pretrained(folder)


def _record(
    weights: WeightsName,
    pairs: Sequence[Pair],
    training: Training,
    folder: Path,
    watch: TrainingWatch,
    seconds: float,
) -> Taught:
    sources = Counter(pair.source for pair in pairs)
    students = {pair.student for pair in pairs if pair.source is PairSource.CORRECTION}
    digest = hashlib.sha256()
    for file in sorted(folder.glob("*.safetensors")):
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return Taught(
        world=pairs[0].world,
        base=weights.base,
        tasks=tuple(dict.fromkeys(pair.task for pair in pairs)),
        splits=tuple(dict.fromkeys(pair.split for pair in pairs)),
        conditions=tuple(dict.fromkeys(pair.condition for pair in pairs)),
        pairs=len(pairs),
        corrections=sources[PairSource.CORRECTION],
        hash=digest.hexdigest(),
        settings=asdict(training),
        versions={name: version(name) for name in ("rpms", *_PACKAGES)},
        seconds=round(seconds, 1),
        tokens=watch.tokens,
        losses=tuple(watch.losses),
        rounds=len(students),
    )
