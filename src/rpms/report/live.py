"""A page about runs that are going on: how far they are, what was won, the last episodes.

It is made from the episode files alone, as often as a browser asks, and reads each file once.
"""

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from rpms.foreign.shown import excerpt
from rpms.logic.counting import counted
from rpms.logic.errors import FileError, InputError
from rpms.play.success_rate import wilson
from rpms.report.gather import is_going
from rpms.store.episodes import EpisodeRow, read_row
from rpms.store.runs import PROTOCOL, RunFolder

_DEEPEST = 5
"""Folders below the one that is watched in which runs may lie: a study's epochs' controls."""
_NO_RUNS = frozenset(("episodes", "report", "export", "answers", "carried"))
"""Folders of a run in which no other run lies, and which may have many files."""
_LAST = 12
"""Episodes that the page names."""
_SHORT = 80


class _Stamp(NamedTuple):
    """Tells one content of a file from another: an episode may be played again after an error."""

    changed: int
    size: int


class _RowRead(NamedTuple):
    """An episode in numbers, and the content of its file that they were read from."""

    stamp: _Stamp
    row: EpisodeRow


class LiveEpisode(NamedTuple):
    """A finished episode."""

    run: str
    row: EpisodeRow
    ended: float
    """Time its file was written, in seconds since 1970."""


@dataclass(frozen=True)
class LiveRun:
    """A run so far."""

    name: str
    about: str
    """Model and split."""
    total: int
    episodes: Sequence[LiveEpisode]
    going: bool
    problems: Sequence[str] = ()
    """Files that cannot be read, in words."""

    @property
    def won(self) -> int:
        return sum(episode.row.won for episode in self.episodes)

    @property
    def seconds_left(self) -> float | None:
        """The seconds left at the pace so far; None if there is no pace yet, or nothing is going
        on.
        """
        done = len(self.episodes)
        if not self.going or done < 2:
            return None
        ended = sorted(episode.ended for episode in self.episodes)
        return (ended[-1] - ended[0]) / (done - 1) * (self.total - done)


@dataclass
class Watcher:
    """Looks at the runs below a folder, again and again."""

    folder: Path
    _rows_read: dict[Path, _RowRead] = field(default_factory=dict)

    def runs(self) -> tuple[LiveRun, ...]:
        """The runs of now, in the order of their folders."""
        return tuple(self._look(folder) for folder in _run_folders(self.folder))

    def _look(self, folder: Path) -> LiveRun:
        name = folder.relative_to(self.folder).as_posix()
        name = folder.resolve().name if name == "." else name
        run = RunFolder(folder)
        try:
            protocol = run.protocol
        except (InputError, FileError) as error:
            return LiveRun(name, "", 0, (), going=False, problems=(str(error),))
        values = map(protocol.settings.get, ("model", "world", "split"))
        about = " · ".join([each for each in values if isinstance(each, str)])
        problems: list[str] = []
        episodes = list(self._episodes(run, name, problems))
        going = is_going(folder)
        return LiveRun(name, about, len(protocol.tasks), episodes, going, problems)

    def _episodes(self, run: RunFolder, name: str, problems: list[str]) -> Iterator[LiveEpisode]:
        """The finished episodes of a run; files that cannot be read are added to the problems."""
        for task in run.protocol.tasks:
            file = run.file(task)
            try:
                read = self._read_anew(file)
            except FileError as error:
                problems.append(f"{file.name}: {error.problem}")
                continue
            if read is not None:
                yield LiveEpisode(name, read.row, read.stamp.changed / 1e9)

    def _read_anew(self, file: Path) -> _RowRead | None:
        """An episode in numbers, read again only if its file has changed; None before it ended."""
        try:
            found = file.stat()
        except OSError:
            return None
        stamp = _Stamp(found.st_mtime_ns, found.st_size)
        read = self._rows_read.get(file)
        if read is None or read.stamp != stamp:
            read = _RowRead(stamp, read_row(file))
            self._rows_read[file] = read
        return read


def _run_folders(top: Path, depth: int = _DEEPEST) -> Iterator[Path]:
    """The folders of runs at and below a folder. Links are not followed."""
    try:
        entries = sorted(os.scandir(top), key=lambda entry: entry.name)
    except OSError:
        return
    if any(entry.name == PROTOCOL for entry in entries):
        yield top
    for entry in entries:
        inside = entry.name not in _NO_RUNS and entry.is_dir(follow_symlinks=False)
        if depth and inside:
            yield from _run_folders(Path(entry.path), depth - 1)


# The page. All that comes from files is escaped where it is put into HTML.


def live_file(name: str) -> bytes:
    """A file of the page: its style sheet or its program."""
    folder = files("rpms.report").joinpath("static")
    return folder.joinpath(name).read_bytes()


def live_page(folder: Path, runs: Sequence[LiveRun]) -> str:
    """The whole page, with the runs of now in it."""
    name = escape(folder.resolve().name)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<noscript><meta http-equiv="refresh" content="5"></noscript>\n'
        f"<title>{name}: live</title>\n"
        '<link rel="stylesheet" href="style.css">\n<link rel="stylesheet" href="live.css">\n'
        '<script src="live.js" defer></script>\n</head>\n<body>\n'
        f'<main>\n<h1>{name}</h1>\n<p id="state" class="dim" role="status"></p>\n'
        f'<div id="now">\n{live_part(runs)}</div>\n</main>\n</body>\n</html>\n'
    )


def live_part(runs: Sequence[LiveRun]) -> str:
    """The part of the page that changes."""
    if not runs:
        return '<p class="lead">No run here yet. This page fills as soon as one begins.</p>\n'
    every = chain.from_iterable(run.episodes for run in runs)
    episodes = sorted(every, key=lambda episode: -episode.ended)
    cards = "".join(map(_card, runs))
    return f'{_totals(runs)}<div class="live-runs">\n{cards}</div>\n{_table(episodes[:_LAST])}'


def _totals(runs: Sequence[LiveRun]) -> str:
    done = total = going = 0
    for run in runs:
        done += len(run.episodes)
        total += run.total
        going += run.going
    state = f"{going} going on" if going else "none going on"
    several = counted(len(runs), "run")
    return f'<p class="lead">{several}, {state}; {done:,} of {total:,} episodes.</p>\n'


def _card(run: LiveRun) -> str:
    """One run: its progress, and what was won with its 95% interval."""
    done = len(run.episodes)
    state = "done" if done == run.total else "stopped"
    if run.going:
        state = "going on"
    left = run.seconds_left
    if left is not None:
        state += f", about {_duration(left)} left"
    won = "nothing played yet"
    if done:
        low, high = wilson(run.won, done)
        won = (
            f"<strong>{run.won}</strong> of {done} won, {run.won / done:.0%}"
            f' <span class="dim">[{low:.0%}, {high:.0%}]</span>'
        )
    problems = ""
    for each in run.problems[:3]:
        problems += f'<p class="live-problem">{escape(excerpt(each, 200))}</p>\n'
    return (
        f'<section class="live-run{" going" if run.going else ""}">\n'
        f'<h2>{escape(run.name)}</h2>\n<p class="dim">{escape(run.about)}</p>\n'
        f'<progress max="{max(run.total, 1)}" value="{done}" aria-label="episodes"></progress>\n'
        f"<p>{done:,} of {run.total:,} episodes, {state}</p>\n<p>{won}</p>\n{problems}</section>\n"
    )


def _table(episodes: Sequence[LiveEpisode]) -> str:
    """The last episodes, the latest first."""
    if not episodes:
        return ""
    rows = "".join(map(_table_row, episodes))
    return (
        '<h2>Last episodes</h2>\n<div class="live-table"><table>\n<thead><tr><th>ended</th>'
        "<th>how</th><th>steps</th><th>task</th><th>run</th></tr></thead>\n"
        f"<tbody>\n{rows}</tbody>\n</table></div>\n"
    )


def _table_row(episode: LiveEpisode) -> str:
    row = episode.row
    ended = time.strftime("%H:%M:%S", time.localtime(episode.ended))
    ending = f'<span class="live-{"won" if row.won else "lost"}">{escape(row.ending)}</span>'
    cells = (ended, ending, row.steps, escape(excerpt(row.task, _SHORT)), escape(episode.run))
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>\n"


def _duration(seconds: float) -> str:
    """Seconds for a person: `40 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3600:.1f} h"
