"""Pairs of a prompt and its right answer: one JSON line each, as TRL reads them, or as a list of
messages, as most other trainers do.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from rpms.foreign.file_reader import is_there
from rpms.foreign.json_text import from_json, read_jsonl
from rpms.foreign.limits import LARGEST_PAIRS
from rpms.logic.errors import FileError, InputError
from rpms.paper.prompt import Message
from rpms.store.files import read_text, write_whole

TRAINING = "train"
"""Part of the name of every split that is there to learn from."""


class PairSource(StrEnum):
    """The player that led the game to the state of a pair. The answer is always the teacher's."""

    TEACHER = "teacher"
    """The teacher itself, on its own way to the goal."""
    CORRECTION = "correction"
    """A student, on whatever way it took: the teacher says what it should have done there."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A prompt as one condition shows it at one step, and the teacher's thought and action as
    the answer.
    """

    prompt: tuple[Message, ...]
    completion: tuple[Message, ...]
    world: str
    split: str
    task: str
    condition: str
    step: int
    source: PairSource
    student: str = ""
    """The model that led there, where it was a student."""
    manual: str = ""
    """The manual that the teacher plans by: its name and the beginning of its hash."""
    memory: str = ""
    """Hash of the memory that the prompt recalls from; empty without one."""
    thoughts: str = ""
    """How the thought says the sub-goal: in words, or as prompts print it; empty where the file
    does not say."""

    @property
    def key(self) -> str:
        """Hash of what is asked: two pairs with the same key ask the same."""
        asked = [[message.role, message.content] for message in self.prompt]
        return hashlib.sha256(json.dumps([self.condition, asked]).encode()).hexdigest()


def pairs_text(pairs: Iterable[Pair]) -> str:
    """Pairs as JSON lines."""
    lines = [json.dumps(asdict(pair), ensure_ascii=False) for pair in pairs]
    return "".join(f"{line}\n" for line in lines)


def messages_text(pairs: Iterable[Pair]) -> str:
    """Pairs as JSON lines of `messages` and nothing else, which OpenAI, Axolotl and LLaMA-Factory
    read.

    The answer alone is to be learned: earlier turns of the model have weight 0, since a student's
    mistakes are among them.
    """
    lines: list[str] = []
    for pair in pairs:
        messages: list[dict[str, object]] = []
        for message in (*pair.prompt, *pair.completion):
            messages.append({"role": message.role, "content": message.content})
        for turn in messages[: len(pair.prompt)]:
            if turn["role"] == "assistant":
                turn["weight"] = 0
        lines.append(json.dumps({"messages": messages}, ensure_ascii=False))
    return "".join(f"{line}\n" for line in lines)


def parse_pairs(file: Path, text: str) -> tuple[Pair, ...]:
    """Read pairs out of JSON lines; the first line that is none is a FileError."""
    problem = "is no pair of a prompt and its answer, as `rpms teach pairs` writes them"
    read: Any = partial(from_json, Pair)
    return tuple(pair for _, pair in read_jsonl(file, text.split("\n"), read, problem))


def read_pairs(file: Path) -> tuple[Pair, ...]:
    """Read a file of pairs; one without any, or of several worlds, is a FileError."""
    pairs = parse_pairs(file, read_text(file, LARGEST_PAIRS))
    if not pairs:
        raise FileError(file, None, "holds no pairs; `rpms teach pairs` writes some")
    require_one_world(file, pairs)
    return pairs


def require_one_world(file: Path, pairs: Sequence[Pair]) -> None:
    """Refuse to mix pairs of several worlds in one file."""
    worlds = dict.fromkeys(pair.world for pair in pairs)
    if len(worlds) > 1:
        raise FileError(
            file,
            None,
            f"pairs of {' and '.join(worlds)} do not go together; teach one world at a time",
        )


def check_addable(file: Path, world: str) -> None:
    """Refuse a file to which pairs of a world cannot be added, before anything is played for it."""
    for pair in pairs_so_far(file):
        if pair.world != world:
            raise FileError(file, None, f"holds pairs of {pair.world}, not of {world}")


def pairs_so_far(file: Path) -> tuple[Pair, ...]:
    """Read the pairs of a file that may not be there yet."""
    return parse_pairs(file, _text_so_far(file))


def _text_so_far(file: Path) -> str:
    return read_text(file, LARGEST_PAIRS) if is_there(file) else ""


def add_pairs(file: Path, found: Iterable[Pair]) -> int:
    """Append the pairs whose prompts a file does not have yet, and return their number."""
    text = _text_so_far(file)
    before = parse_pairs(file, text)
    known = {pair.key for pair in before}
    new: dict[str, Pair] = {}
    for pair in found:
        if pair.key not in known:
            new.setdefault(pair.key, pair)
    require_one_world(file, [*before, *new.values()])
    if new:
        line_end = "" if text.endswith("\n") or not text else "\n"
        write_whole(file, f"{text}{line_end}{pairs_text(new.values())}")
    return len(new)


def splits_to_learn_from(splits: Sequence[str]) -> list[str]:
    """Those of a world's splits that no result is measured on."""
    return [name for name in splits if TRAINING in name]


def require_training_split(split: str, splits: Sequence[str]) -> None:
    """Refuse a split that results are measured on, where the world has one to learn from."""
    to_learn_from = splits_to_learn_from(splits)
    if to_learn_from and split not in to_learn_from:
        choices = " or ".join(to_learn_from)
        raise InputError(
            f"{split} is a split that is measured on, and a model taught on it would know its"
            f" games: teach on {choices}; --overlap allow teaches on it all the same"
        )
