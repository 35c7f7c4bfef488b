"""Transformers in this process (extra `hf`): all running episodes' prompts in one batch."""

import hashlib
import importlib
import queue
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from rpms.logic.errors import ContextOverflow, ModelUnavailable
from rpms.models.base import Answer, Decoding, Request, Usage
from rpms.models.constraint import shapes_of
from rpms.models.hf.adapters import read_weights
from rpms.models.hf.attention import share_keys_and_values
from rpms.models.hf.loop import Loop
from rpms.models.hf.rows import Letters, PromptRow
from rpms.models.hf.weights import LoadedWeights, load_weights
from rpms.paper.prompt import Message

BATCH_SHARE = 0.3
"""The part of a GPU's free memory for the keys and values of a batch."""
KEPT_SHARE = 0.35
"""The part for what is kept of earlier prompts. With less, the prompts of many episodes drive each
other out, round after round, and nothing kept is of use: 240 prompts of 800 to 2,300 tokens need
0.35 of the 37 GB that are free beside a 1.5B model on a third of an H200."""
READING_SHARE = 0.08
"""The part for prompts on their way through the model, some 40,000 tokens there. What is left is
for copies and attention."""
CPU_TOKENS = 16_384
"""Tokens in a batch without a GPU, where larger batches gain nothing; and tokens kept of
earlier prompts."""


class OutOfMemoryError(Exception):
    """A batch was too large for the device."""


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """Size of a full batch, and the wait for more."""

    prompts: int = 256
    tokens: int = 262_144
    """Tokens in a batch at most, padding and room for the answers included: this is what bounds
    the memory."""
    quiet: float = 0.02
    """Seconds without a new question after which the batch is closed, once those answered last
    are back."""
    window: float = 0.5
    """Seconds without a new question until others are not waited for, or the last round's
    length if longer."""


_SEED_BYTES = 7
"""Bytes of a seed for sampling."""


@dataclass(frozen=True, slots=True, eq=False)
class BatchedQuestion:
    """One question that waits for its answer."""

    row: PromptRow
    decoding: Decoding
    """Settings of the answer: questions share a batch only if they have the same."""
    tokens: int
    """Tokens of the prompt."""
    weigh: bool = False
    future: Future[Answer] = field(default_factory=Future)
    asker: int = field(default_factory=threading.get_ident)
    """The thread that waits."""

    @property
    def seed(self) -> int:
        """A seed that follows from the prompt, for sampling that no other prompt changes."""
        if self.decoding.seed is None:
            return secrets.randbits(8 * _SEED_BYTES)
        text = f"{self.decoding.seed}:{self.row.prompt}"
        digest = hashlib.sha256(text.encode()).digest()
        return int.from_bytes(digest[:_SEED_BYTES], "big")


class _Round(NamedTuple):
    """Questions that are answered together."""

    asked: list[BatchedQuestion]
    closing: bool
    """True if no further round follows."""


class Batcher:
    """Collects questions and answers them together on a thread of its own.

    All questions that wait are computed, the shortest first, before any that come later.
    """

    def __init__(
        self,
        run: Callable[[list[BatchedQuestion]], Sequence[Answer]],
        limits: BatchLimits | None = None,
    ) -> None:
        """`run` answers a batch, on the one thread."""
        self._run = run
        self._limits = limits or BatchLimits()
        self._tokens = self._limits.tokens
        self._waiting: queue.SimpleQueue[BatchedQuestion | None] = queue.SimpleQueue()
        self._expected: frozenset[int] = frozenset()
        self._closing = threading.Lock()
        self._closed = False
        self._last_round = 0.0
        self.sizes: list[int] = []
        """The sizes of the batches answered so far."""
        self._thread = threading.Thread(target=self._work, name="rpms-batches", daemon=True)
        self._thread.start()

    def ask(self, question: BatchedQuestion) -> Answer:
        """Answer one question; waits. Raises what computing its batch raised."""
        with self._closing:
            if self._closed:
                raise ModelUnavailable("the model is closed")
            self._waiting.put(question)
        return question.future.result()

    def close(self) -> None:
        """Answer what is waiting, then stop."""
        with self._closing:
            self._closed = True
            self._waiting.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _work(self) -> None:
        more = True
        while more:
            collected = self._collect()
            more = not collected.closing
            started = time.monotonic()
            for batch in batches(collected.asked, self._limits.prompts, self._tokens):
                self._answer(batch)
            self._last_round = time.monotonic() - started

    def _collect(self) -> _Round:
        """Collect the questions of one round.

        Callers of the last round are waited for within limits, so that two halves of the episodes
        do not take turns.
        """
        item = self._waiting.get()
        asked: list[BatchedQuestion] = []
        missing = set(self._expected)
        closes = time.monotonic() + max(self._limits.window, self._last_round)
        while item is not None:
            asked.append(item)
            missing.discard(item.asker)
            patience = self._limits.window if missing else self._limits.quiet
            wait = min(closes - time.monotonic(), patience)
            try:
                item = self._waiting.get(timeout=wait) if wait > 0 else self._waiting.get_nowait()
            except queue.Empty:
                break
        self._expected = frozenset(one.asker for one in asked)
        return _Round(asked, closing=item is None)

    def _answer(self, batch: list[BatchedQuestion]) -> None:
        """Answer a batch.

        One that does not fit the memory is halved, and no later batch is larger than the halves.
        """
        try:
            answers = self._run(batch)
        except OutOfMemoryError as error:
            if len(batch) > 1:
                self._tokens = max(min(self._tokens, padded(batch)) // 2, 1)
                middle = len(batch) // 2
                self._answer(batch[:middle])
                self._answer(batch[middle:])
            else:
                batch[0].future.set_exception(
                    ContextOverflow(f"the prompt does not fit the device's memory: {error}")
                )
        except Exception as error:  # noqa: BLE001  the asking threads raise it
            for question in batch:
                question.future.set_exception(error)
        else:
            self.sizes.append(len(batch))
            for question, answer in zip(batch, answers, strict=True):
                question.future.set_result(answer)


def padded(batch: Sequence[BatchedQuestion]) -> int:
    """Tokens that a batch takes in memory, with room for the answers: every row is as long as
    the longest.
    """
    longest = max(len(question.row.prompt) for question in batch)
    return len(batch) * (longest + batch[0].decoding.max_tokens)


def batches(
    asked: Sequence[BatchedQuestion], most_prompts: int, most_tokens: int
) -> Iterator[list[BatchedQuestion]]:
    """Split into batches of one decoding each, sorted by length so that little is padding.

    A single one always fits.
    """
    for decoding in dict.fromkeys(question.decoding for question in asked):
        batch: list[BatchedQuestion] = []
        alike = (question for question in asked if question.decoding == decoding)
        for question in sorted(alike, key=lambda each: len(each.row.prompt)):
            if batch and (len(batch) >= most_prompts or padded([*batch, question]) > most_tokens):
                yield batch
                batch = []
            batch.append(question)
        yield batch


class HFModel:
    """A causal language model of transformers, on a GPU if there is one.

    Any number of threads may ask it; one thread computes. The rest of a batch changes an answer
    through rounding alone, and with a temperature, a `seed` makes each prompt's answer repeatable.
    """

    def __init__(
        self, name: str, source: str, *, most_prompts: int = 256, limits: BatchLimits | None = None
    ) -> None:
        """`source`: a folder, a `.gguf` file, or a name on the Hugging Face hub.

        Any of them may have `+ADAPTER` after it. Loading takes seconds to minutes.
        """
        self.name = name
        try:
            self._torch: Any = importlib.import_module("torch")
            importlib.import_module("transformers")
        except ImportError:
            raise ModelUnavailable(
                f"{name} needs torch and transformers: pip install 'rpms[hf]'"
            ) from None
        self._device = "cuda" if self._torch.cuda.is_available() else "cpu"
        self._tokenizer, self._model = self._load(source)
        self._window = int(getattr(self._model.config, "max_position_embeddings", 0) or 0)
        limits = limits or BatchLimits(
            prompts=most_prompts, tokens=self._tokens(BATCH_SHARE, self._keys_and_values())
        )
        self._letters = Letters(self._tokenizer, self._ends())
        self._letters.encode(
            "x"
        )  # the first use settles a tokenizer's settings, before threads share it
        self._tokenizing = threading.Lock()
        share_keys_and_values(self._torch, self._model)
        self._loop = Loop(
            self._torch,
            self._model,
            self._tokenizer.pad_token_id or 0,
            keep=self._tokens(KEPT_SHARE, self._keys_and_values()),
            at_once=self._tokens(READING_SHARE, self._passing()),
        )
        self._batcher = Batcher(self._generate, limits)

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

    def _load(self, source: str) -> LoadedWeights:
        """Load weights onto the device, ready to answer."""
        dtype = self._torch.bfloat16 if self._device == "cuda" else self._torch.float32
        loaded = load_weights(self.name, read_weights(source), dtype)
        return loaded._replace(model=loaded.model.to(self._device).eval())

    def _tokens(self, share: float, size: int) -> int:
        """Tokens of so many bytes each that fit a share of the free memory."""
        if self._device != "cuda":
            return CPU_TOKENS
        free, _ = self._torch.cuda.mem_get_info()
        return max(int(free * share / size), 4_096)

    def _passing(self) -> int:
        """Bytes that a token takes on its way through the model: a few rows of the widest layer."""
        config = self._model.config
        return int(
            2
            * 4
            * (config.hidden_size + getattr(config, "intermediate_size", 4 * config.hidden_size))
        )

    def _keys_and_values(self) -> int:
        """Bytes that a token leaves in the cache."""
        config = self._model.config
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        width = (
            getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        )
        return int(2 * config.num_hidden_layers * heads * width * 2)

    def _question(self, request: Request) -> BatchedQuestion:
        """The request as a row to be written. The asking thread tokenises it, so that the computing
        one is not held up.
        """
        decoding = request.decoding
        with self._tokenizing:  # a tokenizer's settings are not safe to touch from two threads
            ids = self._encode(request.prompt.messages())
            shapes = shapes_of(request.choices, request.templates)
            row = PromptRow(
                ids, decoding, shapes, self._letters, request.begun if request.weigh else None
            )
        if self._window and len(row.prompt) + decoding.max_tokens > self._window:
            sizes = f"{len(row.prompt)} + {decoding.max_tokens}"
            raise ContextOverflow(
                f"{self.name}: {sizes} tokens exceed the context window of {self._window}"
            )
        return BatchedQuestion(row, decoding, len(ids), request.weigh)

    def _encode(self, messages: Sequence[Message]) -> list[int]:
        tokenizer = self._tokenizer
        chat = [{"role": message.role, "content": message.content} for message in messages]
        if not getattr(tokenizer, "chat_template", None):
            text = "\n\n".join(message.content for message in messages)
            return list(tokenizer(f"{text}\n")["input_ids"])
        try:
            text = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        except Exception:  # noqa: BLE001  a template that refuses a system message raises an error of its own library
            merged = [{"role": "user", "content": "\n\n".join(entry["content"] for entry in chat)}]
            text = tokenizer.apply_chat_template(merged, tokenize=False, add_generation_prompt=True)
        return list(tokenizer(text, add_special_tokens=False)["input_ids"])

    def _generate(self, questions: list[BatchedQuestion], *, again: bool = False) -> list[Answer]:
        """Answer one batch; all have the same decoding.

        `again`: after earlier prompts were given up for it.
        """
        torch = self._torch
        # fresh ones, since a batch that did not fit is tried again in halves
        rows = [question.row.fresh() for question in questions]
        try:
            self._loop.write(rows, questions[0].decoding, [question.seed for question in questions])
        except torch.cuda.OutOfMemoryError:
            problem = f"{len(questions)} prompts of {max(len(row.prompt) for row in rows)} tokens"
        else:
            written = zip(questions, rows, self._loop.reused, strict=True)
            return [_answer_of(question, row, reused) for question, row, reused in written]
        kept = self._loop.prefixes.clear()
        torch.cuda.empty_cache()  # outside the handler, where the failed call's tensors are gone
        if kept and not again:
            return self._generate(questions, again=True)
        raise OutOfMemoryError(problem)

    def _ends(self) -> frozenset[int]:
        """The tokens that end an answer, by the model's settings and its tokenizer."""
        ends = getattr(getattr(self._model, "generation_config", None), "eos_token_id", None)
        several = ends if isinstance(ends, list) else [ends]
        return frozenset(
            end for end in (*several, self._tokenizer.eos_token_id) if isinstance(end, int)
        )


def _answer_of(question: BatchedQuestion, row: PromptRow, reused: int) -> Answer:
    """The answer in a row, with its tokens; `reused`: the tokens of its prompt that were known."""
    known = min(reused, question.tokens)
    usage = Usage(question.tokens, known, len(row.written), requests=1)
    weights = row.weights if question.weigh else ()
    return Answer(row.text, usage, row.finish, weights=weights)
