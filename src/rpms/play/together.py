"""Several runs at once with one model in this process: their prompts share its batches."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from rpms.logic.errors import ModelUnavailable
from rpms.models.base import Answer, Model, Request, WrappedModel
from rpms.play.design import RunDesign, lend
from rpms.play.run import Interrupted, Listener, run
from rpms.play.runners import InProcesses, cores
from rpms.store.run_summaries import RunSummary


class RunToPlay(NamedTuple):
    """A run to be played, and the folder it is kept in."""

    name: str
    design: RunDesign
    folder: Path


class _StoppableModel(WrappedModel):
    """A model that stops answering when it is told to, which ends every run that asks it."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        self._stopped = threading.Event()

    def stop(self) -> None:
        self._stopped.set()

    def answer(self, request: Request) -> Answer:
        if self._stopped.is_set():
            raise ModelUnavailable("stopped")
        return self._model.answer(request)


def run_together(
    runs: Sequence[RunToPlay],
    model: Model,
    listener: Callable[[str], Listener] = lambda _: Listener(),
    processes: int | None = None,
) -> tuple[RunSummary, ...]:
    """Play the missing episodes of several runs, all at once; the model stays open.

    Raises what `run` raises, once all runs have ended; finished episodes are on disk, and the same
    call goes on.
    """
    shared = _StoppableModel(model)
    each = max(1, (processes or cores()) // len(runs))

    def play(one: RunToPlay) -> RunSummary:
        design = replace(one.design, open_model=lend(shared))
        return run(
            design, one.folder, len(design.tasks), listener(one.name), runner=InProcesses(each)
        )

    with ThreadPoolExecutor(len(runs)) as threads:
        played = [threads.submit(play, one) for one in runs]
        try:
            return tuple(_result(one, shared) for one in played)
        except KeyboardInterrupt:
            shared.stop()
            threads.shutdown()
            done = "the finished episodes are on disk, and the same command goes on from there"
            raise Interrupted(f"stopped; {done}") from None


def _result(played: Future[RunSummary], shared: _StoppableModel) -> RunSummary:
    """The result of one run; if it failed, the others are stopped too."""
    try:
        return played.result()
    except Exception:
        shared.stop()
        raise
