"""A training watched from outside: how far it is, how long it takes yet, and its losses as a
picture.
"""

import importlib
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rpms.foreign.settings_files import settings_files_unread
from rpms.play.run import Interrupted

_EVERY = 5.0
"""Seconds between two lines of progress."""


@contextmanager
def interrupts_heard(words: str) -> Iterator[None]:
    """Raise Interrupted with these words where Ctrl-C came meanwhile.

    Libraries that are being loaded take it for an import that failed, or pass over it.
    """
    heard = threading.Event()

    def interrupt(_number: int, _frame: object) -> None:
        heard.set()
        raise KeyboardInterrupt

    try:
        with _handled_by(interrupt):
            yield
    except Interrupted:
        raise
    except BaseException as error:
        if heard.is_set() or isinstance(error, KeyboardInterrupt):
            raise Interrupted(words) from None
        raise
    if heard.is_set():
        raise Interrupted(words)


@contextmanager
def _handled_by(handler: Any) -> Iterator[None]:
    """Let a function handle Ctrl-C and SIGTERM, a scheduler's Ctrl-C. Python has that done in the
    main thread alone.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {sign: signal.signal(sign, handler) for sign in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for sign, earlier in before.items():
            signal.signal(sign, earlier)


class TrainingWatch:
    """Hears of each step of a trainer; says how it goes, and stops it where somebody asks or
    the loss breaks.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self.tokens = 0
        """Tokens of the whole training."""
        self.step = self.steps = 0
        self.losses: list[tuple[int, float]] = []
        self.stopped = self.broken = False
        self._interrupted = threading.Event()
        self._first_step = 0
        self._started = self._said = time.monotonic()

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Let Ctrl-C end the training after the step at hand, with a checkpoint; again, at once."""

        def interrupt(number: int, _frame: object) -> None:
            self._interrupted.set()
            signal.signal(number, signal.default_int_handler)

        with _handled_by(interrupt):
            yield

    def begin(self, state: Any) -> None:
        """Take the time from here; a training that goes on begins at a later step."""
        self.steps = int(state.max_steps)
        self.step = self._first_step = int(state.global_step)
        self.losses = [
            (int(row["step"]), float(row["loss"])) for row in state.log_history if "loss" in row
        ]
        self._started = time.monotonic()

    def end_step(self, state: Any, control: Any) -> None:
        """After a step of the optimiser."""
        self.step = int(state.global_step)
        if self._interrupted.is_set():
            self.stopped = True
            control.should_save = True
        if self.stopped or self.broken:
            control.should_training_stop = True

    def log(self, state: Any, values: dict[str, Any]) -> None:
        """The loss of a step."""
        if "loss" not in values:
            return
        loss = float(values["loss"])
        self.step = int(state.global_step)
        self.broken = self.broken or not math.isfinite(loss)
        self.losses.append((self.step, round(loss, 6) if math.isfinite(loss) else 0.0))
        now = time.monotonic()
        if now - self._said >= _EVERY or self.step == self.steps:
            self._said = now
            self._say(self.line(now))

    def line(self, now: float) -> str:
        """The training so far, and the time that is left."""
        took = now - self._started
        done = max(1, self.step - self._first_step)
        left = took / done * (self.steps - self.step)
        speed = self.tokens * done / max(1, self.steps) / took if took else 0.0
        recent = [loss for _, loss in self.losses[-10:]]
        mean = sum(recent) / len(recent)
        pace = f"{speed:,.0f} tokens a second, {left:,.0f} s left"
        return f"step {self.step}/{self.steps}: loss {mean:.4f}, {pace}"


def trainer_callback(watch: TrainingWatch) -> Any:
    """A watch as the callback of transformers' trainers."""
    base: Any = importlib.import_module("transformers").TrainerCallback

    def on_train_begin(_self: Any, _arguments: Any, state: Any, _control: Any, **_: Any) -> None:
        watch.begin(state)

    def on_step_end(_self: Any, _arguments: Any, state: Any, control: Any, **_: Any) -> None:
        watch.end_step(state, control)

    def on_log(
        _self: Any, _arguments: Any, state: Any, _control: Any, logs: Any = None, **_: Any
    ) -> None:
        watch.log(state, logs or {})

    events = {"on_train_begin": on_train_begin, "on_step_end": on_step_end, "on_log": on_log}
    return type("WatchingCallback", (base,), events)()


def write_picture(file: Path, losses: Sequence[tuple[int, float]]) -> bool:
    """Draw the losses; False where matplotlib is not installed."""
    try:
        with settings_files_unread():
            library: Any = importlib.import_module("matplotlib")
            figures: Any = importlib.import_module("matplotlib.figure")
    except ImportError:
        return False
    with library.rc_context():
        library.rcdefaults()
        _draw(figures, losses).savefig(file, dpi=150, metadata={"Software": None})
    return True


def _draw(figures: Any, losses: Sequence[tuple[int, float]]) -> Any:
    """A figure of the losses, each and as a mean of the last ten."""
    figure = figures.Figure(figsize=(6.4, 3.6), layout="constrained")
    axes = figure.subplots()
    steps = [step for step, _ in losses]
    axes.plot(
        steps, [loss for _, loss in losses], color="#999999", linewidth=0.8, label="each step"
    )
    axes.plot(steps, _smoothed([loss for _, loss in losses]), color="#0072B2", label="mean of ten")
    axes.set_xlabel("step")
    axes.set_ylabel("loss of the answers")
    axes.set_yscale("log")
    axes.legend()
    return figure


def _smoothed(values: Sequence[float]) -> list[float]:
    found: list[float] = []
    for place in range(len(values)):
        recent = values[max(0, place - 9) : place + 1]
        found.append(sum(recent) / len(recent))
    return found
