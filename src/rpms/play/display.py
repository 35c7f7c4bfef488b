"""Progress of a run on screen: a live display on a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from rpms.logic.counting import counted
from rpms.paper.episode import Usage
from rpms.play.design import RunDesign
from rpms.play.meter import total_cost
from rpms.play.run import Listener
from rpms.play.success_rate import wilson
from rpms.store.episodes import EpisodeRow
from rpms.store.price import Price


class RunTally(Listener):
    """Counts a run as it goes."""

    def __init__(
        self, price: Price | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._price = price
        self._clock = clock
        self._start = clock()
        self.total = self.done = self.before = self.won = self.failed = 0
        self.usage = Usage()
        self.cost: float | None = 0.0

    def begin(
        self, design: RunDesign, finished: Sequence[EpisodeRow], usages: Sequence[Usage]
    ) -> None:
        self._start = self._clock()
        self.total = len(design.tasks)
        self.before = len(finished)
        self.add(finished, usages)

    def finished(self, row: EpisodeRow, usages: Sequence[Usage], file: Path) -> None:  # noqa: ARG002
        self.add([row], usages)

    def add(self, rows: Sequence[EpisodeRow], usages: Sequence[Usage]) -> None:
        for row in rows:
            self.done += 1
            self.won += row.won
            self.failed += row.failed
            self.usage += row.usage
        paid = total_cost(usages, self._price)
        if self.cost is not None:
            self.cost = None if paid is None else self.cost + paid

    @property
    def elapsed(self) -> float:
        return self._clock() - self._start

    @property
    def left(self) -> float | None:
        """Seconds to the end, at the speed of this start; None before its first episode."""
        played = self.done - self.before
        return self.elapsed / played * (self.total - self.done) if played else None

    def text(self) -> str:
        """The run so far in one line, less what a bar shows."""
        pieces = ["none done"]
        if self.done:
            low, high = wilson(self.won, self.done)
            rate = self.won / self.done
            pieces = [f"won {self.won} = {rate:.1%} [{low:.1%}, {high:.1%}]"]
        if self.failed:
            pieces.append(f"{self.failed} broke down")
        read = self.usage.prompt_tokens
        written = self.usage.completion_tokens
        if read or written:
            pieces.append(f"{_short(read)} + {_short(written)} tokens")
        if self._price is not None and self.cost is not None:
            pieces.append(f"${self.cost:.2f}")
        if self.left is not None and self.done < self.total:
            pieces.append(f"{duration(self.left)} left")
        return ", ".join(pieces)


def _short(count: int) -> str:
    if count >= 1_000_000:
        return f"{count / 1_000_000:.1f}M"
    return f"{count / 1_000:.1f}k" if count >= 1_000 else str(count)


def duration(seconds: float) -> str:
    """A time in words: seconds, minutes or hours."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60:02} min"
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


class Lines(RunTally):
    """Plain lines, for logs: one at the start, one every so often, one at the end."""

    def __init__(
        self,
        write: Callable[[str], None],
        price: Price | None = None,
        every: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`every` is the least number of seconds between two lines."""
        super().__init__(price, clock)
        self._write = write
        self._every = self._next = every
        self._last_line = ""

    def begin(
        self, design: RunDesign, finished: Sequence[EpisodeRow], usages: Sequence[Usage]
    ) -> None:
        super().begin(design, finished, usages)
        already = f", {self.before} of them done before" if finished else ""
        count = counted(self.total, "episode")
        self._write(f"{design.world.name} {design.split}, {design.model_name}: {count}{already}")

    def finished(self, row: EpisodeRow, usages: Sequence[Usage], file: Path) -> None:
        super().finished(row, usages, file)
        if self.elapsed >= self._next:
            self._next = self.elapsed + self._every
            self._write_tally()

    def note(self, text: str) -> None:
        self._write(text)

    def end(self) -> None:
        self._write_tally()

    def _write_tally(self) -> None:
        """Write how far it is, unless the last line said so."""
        line = f"{self.done}/{self.total} episodes: {self.text()}"
        if line != self._last_line:
            self._last_line = line
            self._write(line)


class Display(RunTally):
    """A bar on a terminal, and the tally under it."""

    def __init__(self, console: Console, price: Price | None = None) -> None:
        super().__init__(price)
        self._console = console
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            expand=True,
        )
        self._live = Live(
            get_renderable=lambda: Group(self._bar, Text(f"  {self.text()}")),
            console=console,
            refresh_per_second=4,
        )

    def begin(
        self, design: RunDesign, finished: Sequence[EpisodeRow], usages: Sequence[Usage]
    ) -> None:
        super().begin(design, finished, usages)
        name = f"{design.world.name} {design.split}, {design.model_name}"
        self._task = self._bar.add_task(name, total=self.total, completed=self.done)
        self._live.start()

    def finished(self, row: EpisodeRow, usages: Sequence[Usage], file: Path) -> None:
        super().finished(row, usages, file)
        self._bar.update(self._task, completed=self.done)

    def note(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False)

    def end(self) -> None:
        self._live.stop()


def progress(console: Console, price: Price | None = None) -> Listener:
    """Listener for a console: the live display on a terminal, plain lines elsewhere."""
    if console.is_terminal:
        return Display(console, price)
    return Lines(
        lambda text: console.print(text, markup=False, highlight=False, soft_wrap=True), price
    )
