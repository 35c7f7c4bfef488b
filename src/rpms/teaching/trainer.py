"""TRL's trainer, and what it needs here: PEFT's low-rank weights, batches without a mask,
checkpoints to go on from, and one line for what a disk or a device refuses.
"""

import importlib
import math
import shutil
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rpms.foreign.file_reader import is_there
from rpms.foreign.shown import excerpt
from rpms.logic.errors import InputError, ModelError
from rpms.models.hf.adapters import ADAPTER_CONFIG, MODEL_CONFIG, WeightsName
from rpms.play.run import Interrupted
from rpms.teaching.pairs import Pair
from rpms.teaching.watching import TrainingWatch, trainer_callback

STATE = "trainer_state.json"
"""The file that transformers' trainer writes last into a checkpoint."""
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


def make_trainer(
    libraries: dict[str, Any],
    loaded: Any,
    pairs: Sequence[Pair],
    training: Training,
    work: Path,
    watch: TrainingWatch,
    *,
    on_gpu: bool,
) -> Any:
    """TRL's trainer of a loaded model on pairs, with its libraries kept quiet."""
    libraries["datasets"].disable_progress_bars()
    libraries["transformers"].utils.logging.disable_progress_bar()
    loaded.tokenizer.padding_side = "right"
    if on_gpu:  # cuDNN's attention plans anew for every length
        libraries["torch"].backends.cuda.enable_cudnn_sdp(False)
    rows: list[dict[str, Any]] = []
    for pair in pairs:
        rows.append({"prompt": _messages(pair.prompt), "completion": _messages(pair.completion)})
    trainer = libraries["trl"].SFTTrainer(
        model=loaded.model,
        args=_settings(libraries["trl"], training, len(pairs), work, on_gpu=on_gpu),
        train_dataset=libraries["datasets"].Dataset.from_list(rows),
        processing_class=loaded.tokenizer,
        peft_config=None if training.all_weights else _low_rank(libraries["peft"], training),
        callbacks=[trainer_callback(watch)],
    )
    trainer.data_collator = _without_mask(libraries["torch"], trainer.data_collator)
    for printer in ("PrinterCallback", "ProgressCallback"):
        trainer.remove_callback(getattr(libraries["transformers"], printer))
    return trainer


def _settings(trl: Any, training: Training, pairs: int, work: Path, *, on_gpu: bool) -> Any:
    """A training in the words of TRL's trainer."""
    steps = max(1, int(pairs * training.epochs / training.batch))
    return trl.SFTConfig(
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


def _low_rank(peft: Any, training: Training) -> Any:
    """The weights that PEFT adds beside all linear layers."""
    return peft.LoraConfig(
        r=training.rank,
        lora_alpha=2 * training.rank,
        target_modules="all-linear",
        task_type="CAUSAL_LM",
    )


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
def writing_weights(place: Path) -> Iterator[None]:
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


def _raised_while_saving(error: RuntimeError) -> bool:
    """True if torch was writing a file.

    Its writer's errors have words of their own, which name neither the file nor the reason.
    """
    for frame, _ in traceback.walk_tb(error.__traceback__):
        if frame.f_globals["__name__"] == "torch.serialization" and frame.f_code.co_name == "save":
            return True
    return False


def run_trainer(trainer: Any, work: Path, watch: TrainingWatch) -> None:
    """Train, from the last checkpoint if there is one."""
    _drop_unfinished(work)
    checkpoints = any(work.glob("checkpoint-*"))
    try:
        with watch.listening(), inputs_as_they_are(trainer.model), writing_weights(work):
            trainer.train(resume_from_checkpoint=True if checkpoints else None)
    except OSError as error:
        raise InputError(
            f"{work}: cannot be written: {error.strerror or error}; the same command goes on"
        ) from None
    except RuntimeError as error:
        if "out of memory" in str(error):
            raise InputError("the device's memory is too small: give a smaller --at-once") from None
        if _raised_while_saving(error):
            raise InputError(
                f"{work}: cannot be written, perhaps since the disk is full:"
                f" {excerpt(str(error))}; the same command goes on"
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


def save_weights(
    trainer: Any, tokenizer: Any, weights: WeightsName, training: Training, folder: Path
) -> None:
    """Write what was trained: all weights with their tokenizer, or the added ones, at half
    precision.
    """
    model = trainer.model
    if training.all_weights:
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        _let_others_read(folder, like=folder / MODEL_CONFIG)
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
    _let_others_read(folder, like=folder / ADAPTER_CONFIG)


def _let_others_read(folder: Path, like: Path) -> None:
    """Give files of weights the mode of another file.

    safetensors lets nobody but their owner read them; a server may run as somebody else.
    """
    for file in folder.glob("*.safetensors"):
        shutil.copymode(like, file)
