"""Transformers in this process (extra `hf`): all running episodes' prompts in one batch."""

from __future__ import annotations

import importlib
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rpms.core.errors import ContextOverflow, InputError, ModelUnavailable
from rpms.models.base import Answer, Decoding, Usage
from rpms.models.batching import Batcher, BatchLimits, OutOfMemoryError
from rpms.models.caller import cut_at_stop
from rpms.models.guard import excerpt, requests_forbidden

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from rpms.core.prompt import Message
    from rpms.models.base import Request

MEMORY_SHARE = 0.5
"""The part of a GPU's free memory that prompts and answers may take; the rest is for intermediate results."""
CPU_TOKENS = 16_384
"""Tokens in a batch without a GPU, where larger batches gain nothing."""
_TAIL = 12
"""Last tokens looked at for a stop sequence: more than the longest one has."""


@dataclass(slots=True)
class _Question:
    messages: tuple[Message, ...]
    decoding: Decoding
    ids: Sequence[int] = ()


class HFModel:
    """A causal language model of transformers, on a GPU where there is one.

    Weights are loaded once, in bfloat16 on a GPU and float32 elsewhere, and computed by one thread. Decoding is greedy
    unless a temperature is set. Rows are padded on the left and masked, so that an answer depends on the rest of its
    batch through rounding alone: in bfloat16 two nearly equal words may still change places between two runs. With a
    temperature, `seed` makes a batch repeatable and not a prompt.
    """

    def __init__(self, name: str, source: str, *, most_prompts: int = 64, limits: BatchLimits | None = None) -> None:
        """`source`: a folder, a `.gguf` file, or a name on the Hugging Face hub. Loading takes seconds to minutes."""
        self._name = name
        try:
            self._torch: Any = importlib.import_module("torch")
            transformers: Any = importlib.import_module("transformers")
        except ImportError:
            raise ModelUnavailable(f"{name} needs torch and transformers: pip install 'rpms[hf]'") from None
        self._criteria: Any = transformers.StoppingCriteriaList
        self._device = "cuda" if self._torch.cuda.is_available() else "cpu"
        self._tokenizer, self._model = self._load(transformers, source)
        self._window = int(getattr(self._model.config, "max_position_embeddings", 0) or 0)
        limits = limits or BatchLimits(prompts=most_prompts, tokens=self._affordable_tokens())
        self._batcher: Batcher[_Question, Answer] = Batcher(self._measure, self._generate, limits)

    @property
    def name(self) -> str:
        return self._name

    @property
    def batch_sizes(self) -> tuple[int, ...]:
        """How many prompts were computed together, batch by batch."""
        return self._batcher.sizes

    def answer(self, request: Request) -> Answer:
        started = time.monotonic()
        answer = self._batcher.ask(_Question(request.prompt.messages(), request.decoding))
        return replace(answer, usage=replace(answer.usage, seconds=time.monotonic() - started))

    def close(self) -> None:
        self._batcher.close()
        self._model = None
        if self._device == "cuda":
            self._torch.cuda.empty_cache()

    def _load(self, transformers: Any, source: str) -> tuple[Any, Any]:
        path = Path(source).expanduser()
        options: dict[str, Any] = {}
        place = source
        if path.suffix == ".gguf" and path.is_file():
            options["gguf_file"] = path.name
            place = str(path.parent)
        elif path.is_dir():
            place = str(path)
        elif source.startswith(("/", ".", "~")) or path.suffix == ".gguf":
            raise InputError(f"{self._name}: there is no such folder or file")
        if requests_forbidden():
            options["local_files_only"] = True
        dtype = self._torch.bfloat16 if self._device == "cuda" else self._torch.float32
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(place, **options)
            model = transformers.AutoModelForCausalLM.from_pretrained(
                place, **{_dtype_option(transformers): dtype}, **options
            )
        except (OSError, ValueError, ImportError) as error:
            raise ModelUnavailable(f"{self._name}: cannot be loaded: {excerpt(str(error))}") from error
        tokenizer.padding_side = "left"
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token
        return tokenizer, model.to(self._device).eval()

    def _affordable_tokens(self) -> int:
        """Tokens whose keys and values fit the share of the free memory."""
        if self._device != "cuda":
            return CPU_TOKENS
        config = self._model.config
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        keys_and_values = 2 * config.num_hidden_layers * heads * width * 2
        # While a prompt is read, each token also holds a few rows of the widest layer.
        passing = 2 * 4 * (config.hidden_size + getattr(config, "intermediate_size", 4 * config.hidden_size))
        free, _ = self._torch.cuda.mem_get_info()
        return max(int(free * MEMORY_SHARE / (keys_and_values + passing)), 4_096)

    def _measure(self, question: _Question) -> tuple[int, int, Hashable]:
        question.ids = self._encode(question.messages)
        length, room = len(question.ids), question.decoding.max_tokens
        if self._window and length + room > self._window:
            raise ContextOverflow(f"{self._name}: {length} + {room} tokens exceed the context window of {self._window}")
        return length, room, question.decoding

    def _encode(self, messages: Sequence[Message]) -> list[int]:
        tokenizer = self._tokenizer
        chat = [{"role": message.role, "content": message.content} for message in messages]
        if not getattr(tokenizer, "chat_template", None):
            return list(tokenizer("\n\n".join(entry["content"] for entry in chat) + "\n")["input_ids"])
        try:
            text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        except Exception:  # noqa: BLE001  a template that refuses a system message raises an error of its own library
            merged = [{"role": "user", "content": "\n\n".join(entry["content"] for entry in chat)}]
            text = tokenizer.apply_chat_template(merged, tokenize=False, add_generation_prompt=True)
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])

    def _generate(self, questions: list[_Question]) -> list[Answer]:
        """Answer one batch; all have the same decoding."""
        torch = self._torch
        decoding = questions[0].decoding
        longest = max(len(question.ids) for question in questions)
        pad = self._tokenizer.pad_token_id or 0
        rows = [[pad] * (longest - len(q.ids)) + list(q.ids) for q in questions]
        mask = [[0] * (longest - len(q.ids)) + [1] * len(q.ids) for q in questions]
        stopper = _Stopper(torch, self._tokenizer, decoding.stop, longest, len(questions))
        try:
            with torch.inference_mode():
                output = self._model.generate(
                    input_ids=torch.tensor(rows, device=self._device),
                    attention_mask=torch.tensor(mask, device=self._device),
                    stopping_criteria=self._criteria([stopper]),
                    pad_token_id=pad,
                    **self._sampling(decoding),
                )
        except torch.cuda.OutOfMemoryError:
            problem = f"{len(questions)} prompts of {longest} tokens"
        else:
            written = output[:, longest:].tolist()
            return [
                self._read(question, ids, stopper.lengths[row])
                for row, (question, ids) in enumerate(zip(questions, written, strict=True))
            ]
        torch.cuda.empty_cache()  # outside the handler, where the failed call's tensors are gone
        raise OutOfMemoryError(problem)

    def _sampling(self, decoding: Decoding) -> dict[str, Any]:
        options: dict[str, Any] = {"max_new_tokens": decoding.max_tokens, **dict(decoding.extra)}
        if decoding.temperature > 0:
            if decoding.seed is not None:
                self._torch.manual_seed(decoding.seed)
            return {**options, "do_sample": True, "temperature": decoding.temperature, "top_p": decoding.top_p}
        # Named, because a folder's own generation settings would otherwise be mixed in and warned about.
        return {**options, "do_sample": False, "temperature": None, "top_p": None, "top_k": None}

    def _read(self, question: _Question, ids: list[int], stopped: int | None) -> Answer:
        ends = self._ends()
        length = next((at for at, token in enumerate(ids) if token in ends), len(ids))
        ended = length < len(ids)
        if stopped is not None and stopped <= length:
            length, ended = stopped, True
        text = self._tokenizer.decode(ids[:length], skip_special_tokens=True)
        return Answer(
            cut_at_stop(text, question.decoding.stop),
            Usage(len(question.ids), 0, length, requests=1),
            "stop" if ended else "length",
        )

    def _ends(self) -> frozenset[int]:
        """The tokens that end an answer, by the model's settings and its tokenizer."""
        config = getattr(self._model, "generation_config", None)
        ends = getattr(config, "eos_token_id", None)
        several = ends if isinstance(ends, list) else [ends]
        return frozenset(end for end in (*several, self._tokenizer.eos_token_id) if isinstance(end, int))


def _dtype_option(transformers: Any) -> str:
    """The argument's name changed in 4.56."""
    major, minor = (int(piece) for piece in transformers.__version__.split(".")[:2])
    return "dtype" if (major, minor) >= (4, 56) else "torch_dtype"


class _Stopper:
    """Ends a row as soon as it has written a stop sequence, and remembers how long it was."""

    def __init__(self, torch: Any, tokenizer: Any, stop: tuple[str, ...], start: int, rows: int) -> None:
        self._torch = torch
        self._tokenizer = tokenizer
        self._stop = stop
        self._start = start
        self.lengths: list[int | None] = [None] * rows

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:  # noqa: ARG002  the library's signature
        length = input_ids.shape[1] - self._start
        if self._stop:
            tails = input_ids[:, max(self._start, input_ids.shape[1] - _TAIL) :].tolist()
            for row, tail in enumerate(tails):
                if self.lengths[row] is None:
                    text = self._tokenizer.decode(tail, skip_special_tokens=True)
                    if any(mark in text for mark in self._stop):
                        self.lengths[row] = length
        done = [known is not None for known in self.lengths]
        return self._torch.tensor(done, device=input_ids.device, dtype=self._torch.bool)
