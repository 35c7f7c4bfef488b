"""Questions of many threads, answered in batches by one: what makes a GPU worth having."""

import queue
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from rpms.core.errors import ContextOverflow, ModelUnavailable

Q = TypeVar("Q")
A = TypeVar("A")


class OutOfMemoryError(Exception):
    """A batch was too large for the device."""


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """Size of a full batch, and the wait for more."""

    prompts: int = 256
    """Prompts in a batch at most."""
    tokens: int = 262_144
    """Tokens in a batch at most, padding and room for the answers included: this is what bounds the memory."""
    quiet: float = 0.02
    """Seconds without a new question after which the batch is closed, once those answered last are back."""
    window: float = 0.5
    """Seconds without a new question until others are not waited for, or the last round's length if longer."""


@dataclass(slots=True)
class Job(Generic[Q, A]):
    """One question that waits for its answer."""

    question: Q
    length: int
    """Tokens of the prompt."""
    room: int
    """Tokens that the answer may have."""
    group: Hashable
    """Only questions of the same group, such as the same decoding, can share a batch."""
    future: Future[A] = field(default_factory=Future)
    asker: int = field(default_factory=threading.get_ident)
    """The thread that waits."""


class Batcher(Generic[Q, A]):
    """Collects questions and answers them together on a thread of its own.

    Callers of the last round are waited for within limits, so that two halves of the episodes do not take turns. All
    waiting questions are computed before later ones, shortest first. A batch that does not fit the memory is halved,
    and the smaller size is kept.
    """

    def __init__(
        self,
        measure: Callable[[Q], tuple[int, int, Hashable]],
        run: Callable[[list[Q]], Sequence[A]],
        limits: BatchLimits | None = None,
    ) -> None:
        """`measure` gives length, room and group of a question; `run` answers a batch, on the one thread."""
        self._measure = measure
        self._run = run
        self._limits = limits or BatchLimits()
        self._tokens = self._limits.tokens
        self._waiting: queue.SimpleQueue[Job[Q, A] | None] = queue.SimpleQueue()
        self._expected: frozenset[int] = frozenset()
        self._closing = threading.Lock()
        self._closed = False
        self._last_round = 0.0
        self.sizes: list[int] = []
        """The sizes of the batches answered so far."""
        self._thread = threading.Thread(target=self._work, name="rpms-batches", daemon=True)
        self._thread.start()

    def ask(self, question: Q) -> A:
        """Answer one question; waits. Raises what computing its batch raised."""
        job: Job[Q, A] = Job(question, *self._measure(question))
        with self._closing:
            if self._closed:
                raise ModelUnavailable("the model is closed")
            self._waiting.put(job)
        return job.future.result()

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
            asked, more = self._collect()
            started = time.monotonic()
            for batch in batches(asked, self._limits.prompts, self._tokens):
                self._answer(batch)
            self._last_round = time.monotonic() - started

    def _collect(self) -> tuple[list[Job[Q, A]], bool]:
        """The questions of one round, and whether there may be more rounds."""
        item = self._waiting.get()
        asked: list[Job[Q, A]] = []
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
        return asked, item is not None

    def _answer(self, batch: list[Job[Q, A]]) -> None:
        """Answer a batch, in halves where it is too large."""
        try:
            answers = self._run([job.question for job in batch])
        except OutOfMemoryError as error:
            if len(batch) > 1:
                self._tokens = max(min(self._tokens, padded(batch)) // 2, 1)
                middle = len(batch) // 2
                self._answer(batch[:middle])
                self._answer(batch[middle:])
            else:
                batch[0].future.set_exception(ContextOverflow(f"the prompt does not fit the device's memory: {error}"))
        except Exception as error:  # noqa: BLE001  the asking threads raise it
            for job in batch:
                job.future.set_exception(error)
        else:
            self.sizes.append(len(batch))
            for job, answer in zip(batch, answers, strict=True):
                job.future.set_result(answer)


def padded(batch: Sequence[Job[Q, A]]) -> int:
    """Tokens that a batch takes in memory: every row is as long as the longest."""
    return len(batch) * (max(job.length for job in batch) + max(job.room for job in batch))


def batches(jobs: Sequence[Job[Q, A]], most_prompts: int, most_tokens: int) -> Iterator[list[Job[Q, A]]]:
    """Split into batches of one group each, sorted by length so that little is padding. A single job always fits."""
    for group in dict.fromkeys(job.group for job in jobs):
        batch: list[Job[Q, A]] = []
        for job in sorted((job for job in jobs if job.group == group), key=lambda member: member.length):
            if batch and (len(batch) >= most_prompts or padded([*batch, job]) > most_tokens):
                yield batch
                batch = []
            batch.append(job)
        yield batch
