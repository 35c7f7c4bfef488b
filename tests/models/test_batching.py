"""Questions of many threads, answered together."""

from __future__ import annotations

import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from math import inf
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpms.logic.errors import ContextOverflow, ModelUnavailable
from rpms.models.base import Decoding
from rpms.models.hf import model
from rpms.models.hf.model import (
    BatchedQuestion,
    Batcher,
    BatchLimits,
    OutOfMemoryError,
    batches,
    padded,
)


def question(length, room=10, seed=None):
    return BatchedQuestion(
        SimpleNamespace(prompt=range(length)), Decoding(max_tokens=room, seed=seed), length
    )


class Numbers(Batcher):
    """Asked with numbers, each of which stands for a prompt of that length."""

    def __init__(self, run, limits=None):
        super().__init__(lambda questions: run([each.tokens for each in questions]), limits)

    def ask(self, number):
        return super().ask(question(number))


@given(
    st.lists(
        st.tuples(st.integers(1, 500), st.sampled_from([10, 40]), st.sampled_from([1, 2])),
        max_size=50,
    ),
    st.integers(1, 20),
    st.integers(1, 3000),
)
def test_batches_hold_every_question_once_within_the_limits(sizes, most_prompts, most_tokens):
    asked = [question(*size) for size in sizes]
    made = list(batches(asked, most_prompts, most_tokens))
    assert sorted(id(each) for batch in made for each in batch) == sorted(map(id, asked))
    for batch in made:
        assert len({each.decoding for each in batch}) == 1
        assert len(batch) <= most_prompts
        assert len(batch) == 1 or padded(batch) <= most_tokens
        assert [len(each.row.prompt) for each in batch] == sorted(
            len(each.row.prompt) for each in batch
        )


def test_sixty_episodes_make_progress_together():
    batcher = Numbers(
        lambda questions: [question * 2 for question in questions], BatchLimits(prompts=64)
    )

    def episode(number):
        return [batcher.ask(number * 100 + step) for step in range(5)]

    with ThreadPoolExecutor(60) as pool:
        answers = list(pool.map(episode, range(60)))
    batcher.close()
    assert answers == [[(number * 100 + step) * 2 for step in range(5)] for number in range(60)]
    assert sum(batcher.sizes) == 300
    assert max(batcher.sizes) > 10


def test_questions_that_wait_during_a_batch_are_answered_together():
    gate = threading.Event()
    started = threading.Event()

    def run(questions):
        started.set()
        gate.wait(10)
        return questions

    batcher = Numbers(run, BatchLimits(quiet=0.001, window=0.002))
    with ThreadPoolExecutor(21) as pool:
        first = pool.submit(batcher.ask, 1)
        started.wait(10)
        rest = [pool.submit(batcher.ask, n) for n in range(2, 22)]
        while batcher._waiting.qsize() < 20:
            threading.Event().wait(0.001)
        gate.set()
        assert [first.result(), *(f.result() for f in rest)] == list(range(1, 22))
    batcher.close()
    assert batcher.sizes == [1, 20]


def test_whoever_was_answered_last_is_waited_for():
    """Else two halves of the episodes would take turns for ever."""
    gate = threading.Event()
    started = threading.Event()

    def run(questions):
        started.set()
        gate.wait(10)
        return questions

    batcher = Numbers(run, BatchLimits(quiet=0.001, window=30))
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(lambda: [batcher.ask(1), batcher.ask(3)])
        started.wait(10)
        second = pool.submit(batcher.ask, 2)
        while batcher._waiting.qsize() < 1:
            threading.Event().wait(0.001)
        gate.set()
        assert (first.result(), second.result()) == ([1, 3], 2)
    batcher.close()
    assert batcher.sizes == [1, 2]


class Arrivals:
    """A queue whose questions come at moments of a clock of its own: nobody really waits."""

    def __init__(self, moments):
        self.now = 0.0
        self._coming = [
            (moment, replace(question(number), asker=number)) for number, moment in moments
        ]

    def get(self, timeout=inf):
        moment, item = self._coming[0] if self._coming else (0.0, None)
        if moment > self.now + timeout:
            self.now += timeout
            raise queue.Empty
        self.now = max(self.now, moment)
        del self._coming[:1]
        return item

    def get_nowait(self):
        return self.get(timeout=0.0)


def test_many_that_come_back_one_after_the_other_are_waited_for_as_long_as_a_round_takes(
    monkeypatch,
):
    """The last is back 0.35 s after the first, which is longer than the window."""
    back = [(number, 0.6 + 0.05 * number) for number in range(8)]
    arrivals = Arrivals([*((number, 0.0) for number in range(8)), *back])
    monkeypatch.setattr(model.queue, "SimpleQueue", lambda: arrivals)
    monkeypatch.setattr(model, "time", SimpleNamespace(monotonic=lambda: arrivals.now))

    def run(questions):
        arrivals.now = max(arrivals.now, 0.6)
        return questions

    batcher = Numbers(run, BatchLimits(quiet=0.1, window=0.2))
    batcher._thread.join()
    assert batcher.sizes == [8, 8]


def test_a_batch_too_large_for_the_memory_is_halved_and_stays_smaller():
    tried = []

    def run(questions):
        tried.append(len(questions))
        if len(questions) > 3:
            raise OutOfMemoryError("too many")
        return questions

    batcher = Numbers(run, BatchLimits(quiet=0.2, window=0.5))
    for _ in range(2):
        with ThreadPoolExecutor(12) as pool:
            assert sorted(pool.map(batcher.ask, [10] * 12)) == [10] * 12
    batcher.close()
    assert sum(batcher.sizes) == 24
    assert max(batcher.sizes) <= 3
    assert tried.count(12) <= 1


def test_one_prompt_too_large_for_the_memory_is_an_overflow():
    def run(questions):
        raise OutOfMemoryError("far too long")

    batcher = Numbers(run)
    with pytest.raises(ContextOverflow):
        batcher.ask(1)
    batcher.close()


def test_a_failed_batch_raises_for_each_of_its_questions_and_the_next_is_answered():
    fail = [True]

    def run(questions):
        if fail.pop() if fail else False:
            raise RuntimeError("the device went away")
        return questions

    batcher = Numbers(run)
    with pytest.raises(RuntimeError, match="went away"):
        batcher.ask(1)
    assert batcher.ask(2) == 2
    batcher.close()


def test_closing_twice_is_harmless_and_asking_afterwards_is_refused():
    batcher = Numbers(lambda questions: questions)
    batcher.close()
    batcher.close()
    with pytest.raises(ModelUnavailable, match="closed"):
        batcher.ask(1)
