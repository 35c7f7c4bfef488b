"""Transformers in this process (extra `hf`): all running episodes' prompts in one batch."""

import hashlib
import importlib
import importlib.util
import secrets
import threading
import time
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rpms.core.errors import ContextOverflow, ModelUnavailable
from rpms.core.prompt import Message
from rpms.models.base import Answer, Decoding, Request, Usage
from rpms.models.batching import Batcher, BatchLimits, OutOfMemoryError
from rpms.models.constraint import shapes_of
from rpms.models.hf.loop import Loop, share_keys_and_values
from rpms.models.hf.rows import Letters, PromptRow
from rpms.models.secrets import excerpt, requests_forbidden

BATCH_SHARE = 0.3
"""The part of a GPU's free memory for the keys and values of a batch."""
KEPT_SHARE = 0.2
"""The part for what is kept of earlier prompts."""
READING_SHARE = 0.15
"""The part for prompts on their way through the model. What is left is for copies and attention."""
CPU_TOKENS = 16_384
"""Tokens in a batch without a GPU, where larger batches gain nothing; and tokens kept of earlier prompts."""


@dataclass(frozen=True, slots=True)
class _Question:
    row: PromptRow
    decoding: Decoding
    tokens: int
    """Tokens of the prompt."""
    weigh: bool = False

    def measured(self) -> tuple[int, int, Hashable]:
        return len(self.row.prompt), self.decoding.max_tokens, self.decoding

    @property
    def seed(self) -> int:
        """A seed that follows from the prompt, for sampling that no other prompt changes."""
        text = f"{self.decoding.seed}:{self.row.prompt}"
        given = self.decoding.seed is not None
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:7], "big") if given else secrets.randbits(56)


class HFModel:
    """A causal language model of transformers, on a GPU if there is one.

    Weights are loaded once, in bfloat16 on a GPU and float32 elsewhere, and computed by one thread; decoding is greedy
    unless a temperature is set. The rest of a batch changes an answer through rounding alone. With a temperature, a
    `seed` makes each prompt's answer repeatable.
    """

    def __init__(self, name: str, source: str, *, most_prompts: int = 256, limits: BatchLimits | None = None) -> None:
        """`source`: a folder, a `.gguf` file, or a name on the Hugging Face hub. Loading takes seconds to minutes."""
        self.name = name
        try:
            self._torch: Any = importlib.import_module("torch")
            transformers: Any = importlib.import_module("transformers")
        except ImportError:
            raise ModelUnavailable(f"{name} needs torch and transformers: pip install 'rpms[hf]'") from None
        self._device = "cuda" if self._torch.cuda.is_available() else "cpu"
        self._tokenizer, self._model = self._load(transformers, source)
        self._window = int(getattr(self._model.config, "max_position_embeddings", 0) or 0)
        limits = limits or BatchLimits(prompts=most_prompts, tokens=self._tokens(BATCH_SHARE, self._keys_and_values()))
        self._letters = Letters(self._tokenizer, self._ends())
        self._letters.encode("x")  # the first use settles a tokenizer's settings, before threads share it
        self._tokenizing = threading.Lock()
        share_keys_and_values(self._torch, self._model)
        self._loop = Loop(
            self._torch,
            self._model,
            self._tokenizer.pad_token_id or 0,
            keep=self._tokens(KEPT_SHARE, self._keys_and_values()),
            at_once=self._tokens(READING_SHARE, self._passing()),
        )
        self._batcher: Batcher[_Question, Answer] = Batcher(_Question.measured, self._generate, limits)

    constrains = True
    weighs = True

    def answer(self, request: Request) -> Answer:
        started = time.monotonic()
        answer = self._batcher.ask(self._question(request))
        return replace(answer, usage=replace(answer.usage, seconds=time.monotonic() - started))

    def close(self) -> None:
        self._batcher.close()
        self._model = None
        del self._loop
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
        if requests_forbidden():
            options["local_files_only"] = True
        dtype = self._torch.bfloat16 if self._device == "cuda" else self._torch.float32
        version = tuple(map(int, transformers.__version__.split(".")[:2]))
        loading: dict[str, Any] = {"dtype" if version >= (4, 56) else "torch_dtype": dtype, **options}
        if "gguf_file" in options and hasattr(transformers, "GgufConfig"):  # else it may compute packed, in float32
            loading["quantization_config"] = transformers.GgufConfig(dequantize=True)
        try:
            tokenizer = transformers.AutoTokenizer.from_pretrained(place, **options)
            model = transformers.AutoModelForCausalLM.from_pretrained(place, **loading)
        except (OSError, ValueError, ImportError) as error:
            missing = [name for name in ("gguf", "accelerate") if importlib.util.find_spec(name) is None]
            if "gguf_file" in options and missing:
                needs = " and ".join(missing)
                raise ModelUnavailable(
                    f"{self.name}: a .gguf file also needs {needs}: pip install 'rpms[hf]'"
                ) from None
            raise ModelUnavailable(f"{self.name}: cannot be loaded: {excerpt(str(error))}") from error
        tokenizer.padding_side = "left"
        if tokenizer.pad_token_id is None:
            tokenizer.pad_token = tokenizer.eos_token
        return tokenizer, model.to(self._device).eval()

    def _tokens(self, share: float, size: int) -> int:
        """Tokens of so many bytes each that fit a share of the free memory."""
        if self._device != "cuda":
            return CPU_TOKENS
        free, _ = self._torch.cuda.mem_get_info()
        return max(int(free * share / size), 4_096)

    def _passing(self) -> int:
        """Bytes that a token takes on its way through the model: a few rows of the widest layer."""
        config = self._model.config
        return int(2 * 4 * (config.hidden_size + getattr(config, "intermediate_size", 4 * config.hidden_size)))

    def _keys_and_values(self) -> int:
        """Bytes that a token leaves in the cache."""
        config = self._model.config
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        return int(2 * config.num_hidden_layers * heads * width * 2)

    def _question(self, request: Request) -> _Question:
        """Tokenised by the thread that asks, so that the one that computes is not held up."""
        decoding = request.decoding
        with self._tokenizing:  # a tokenizer's settings are not safe to touch from two threads
            ids = self._encode(request.prompt.messages())
            shapes = shapes_of(request.choices, request.templates)
            row = PromptRow(ids, decoding, shapes, self._letters, request.begun if request.weigh else None)
        if self._window and len(row.prompt) + decoding.max_tokens > self._window:
            sizes = f"{len(row.prompt)} + {decoding.max_tokens}"
            raise ContextOverflow(f"{self.name}: {sizes} tokens exceed the context window of {self._window}")
        return _Question(row, decoding, len(ids), request.weigh)

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

    def _generate(self, questions: list[_Question], *, again: bool = False) -> list[Answer]:
        """Answer one batch; all have the same decoding. `again`: after earlier prompts were given up for it."""
        torch = self._torch
        rows = [question.row.fresh() for question in questions]  # a batch that did not fit is tried again in halves
        try:
            self._loop.write(rows, questions[0].decoding, [question.seed for question in questions])
        except torch.cuda.OutOfMemoryError:
            problem = f"{len(questions)} prompts of {max(len(row.prompt) for row in rows)} tokens"
        else:
            return [
                Answer(
                    row.text,
                    Usage(question.tokens, min(reused, question.tokens), len(row.written), requests=1),
                    row.finish,
                    weights=row.weights if question.weigh else (),
                )
                for question, row, reused in zip(questions, rows, self._loop.reused, strict=True)
            ]
        kept = self._loop.forget()
        torch.cuda.empty_cache()  # outside the handler, where the failed call's tensors are gone
        if kept and not again:
            return self._generate(questions, again=True)
        raise OutOfMemoryError(problem)

    def _ends(self) -> frozenset[int]:
        """The tokens that end an answer, by the model's settings and its tokenizer."""
        config = getattr(self._model, "generation_config", None)
        ends = getattr(config, "eos_token_id", None)
        several = ends if isinstance(ends, list) else [ends]
        return frozenset(end for end in (*several, self._tokenizer.eos_token_id) if isinstance(end, int))
