"""The grounds of a learned manual: beside `manual.yaml` lie `manual.evidence.jsonl` and
`manual.episodes.jsonl`.

The first line of the evidence is the header, every other line a claim. Episodes of an exploration
are kept as texts, each when it has ended, with a checksum over its line and the line before it;
those of recorded runs are in the runs.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from io import FileIO
from pathlib import Path
from typing import Any, NamedTuple

from rpms.foreign.file_reader import beside, is_there, open_regular, read_bytes
from rpms.foreign.json_text import read_jsonl, tagged_reader
from rpms.foreign.limits import LARGEST_MEMORY
from rpms.logic.errors import FileError, InputError
from rpms.store.files import hold, read_text, remove_leftovers, write_whole, writing
from rpms.store.manual_reader import manual_text

GUARD = "guard"
"""The setting of evidence that has the manual by which a guard's log was read: it is about tools,
and not about a world."""


class Label(StrEnum):
    """Certainty of a claim."""

    NECESSARY = "necessary"
    """A precondition: an action was refused with this false and all else that it may need true.
    The guard uses it."""
    POSSIBLE = "possible"
    """A precondition that was true in every success, or in all but a few that may be misread, and
    false only where something else was missing too. Plans see to it (`plan` in the manual); the
    guard lets pass what breaks it."""
    UNTESTED = "untested"
    """It was true in every attempt, so that nothing is known of it. It is not in the manual."""
    IMPLIED = "implied"
    """True whenever another precondition was: it adds nothing. Not in the manual; `note` names
    the other one."""
    REFUTED = "refuted"
    """No precondition: an action succeeded with this false. Not in the manual."""
    SEEN = "seen"
    """Everything that is no precondition: an effect, what was revealed, kinds in a role, a
    place, a goal's fact."""
    TAKEN_OUT = "taken out"
    """Induced, and then taken out, since on episodes kept aside it was wrong; `note` says how.
    Not in the manual."""
    EDITED = "edited"
    """A person has changed this line of the manual since it was learned; `note` says how. Edits
    are kept."""


_ENTRIES = frozenset({"environment", "kinds", "goals", "procedures", "processes", "facts", "tools"})
"""Sections of manuals in which learning writes entries. It also writes into `localities`, which has
lists in place of entries."""
_LISTS = frozenset(
    {
        "syntax",
        "preconditions",
        "plan",
        "effects",
        "observes",
        "forbids",
        "holds",
        "yes",
        "no",
        "steps",
        "needs",
    }
)


class Witness(NamedTuple):
    """A step that speaks for or against a claim."""

    episode: str
    """The episode's id: of an exploration, its number and task; of a run, the run's folder and
    the task."""
    step: int
    """Number of the step, from 1."""

    @property
    def task(self) -> str:
        """The episode's task, where the episode has a number; else the episode."""
        _, numbered, task = self.episode.partition(":")
        return task if numbered else self.episode


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """Evidence for and against something learned."""

    label: Label = Label.SEEN
    confirmed: int = 0
    """Steps that speak for it. Of a precondition: successes in which it was true."""
    against: int = 0
    """Steps that speak against it. Of a precondition: successes in which it was false."""
    decisive: int = 0
    """Refusals in which this alone was false, if it is a precondition."""
    unknown: int = 0
    """Steps in which nobody knew whether it was so."""
    witnesses: tuple[Witness, ...] = ()
    """Some of the steps that speak for it, the decisive ones first."""
    counterexamples: tuple[Witness, ...] = ()
    """Some of the steps that speak against it."""
    note: str = ""
    """Further remarks, in words."""

    def claim(self, at: tuple[str, ...], key: str, text: str) -> Claim:
        """The line of a manual for which this speaks."""
        support = {each.name: getattr(self, each.name) for each in fields(Support)}
        return Claim(at, key, text, **support)


@dataclass(frozen=True, slots=True)
class Claim(Support):
    """One line of a learned manual, or one that did not make it into the manual, with what
    speaks for it.
    """

    at: tuple[str, ...]
    """The path of the mapping that it is in, or would be in: `("environment", "heat")`, `("kinds",
    "heat_place")`."""
    key: str
    """Key of its list: one of `_LISTS`; in `facts` and `localities`, a kind of things or places."""
    text: str
    """The line as the manual writes it: `holding(object)`."""

    def __post_init__(self) -> None:
        if self.label is not Label.EDITED and not self._is_of_a_learned_manual():
            raise ValueError("at: should be where a learned manual has lines")

    def _is_of_a_learned_manual(self) -> bool:
        """True if a learned manual has lines at the place."""
        if self.at == ("localities",):
            return True
        if len(self.at) != 2 or self.section not in _ENTRIES:
            return False
        return self.key in _LISTS or self.section == "facts"

    @property
    def section(self) -> str:
        """The section of the manual that it is in, or would be in."""
        return self.at[0]

    @property
    def owner(self) -> str:
        """The entry that has it, such as an action; in `localities`, the section itself."""
        return self.at[-1]

    @property
    def place(self) -> str:
        """The line's place in one text: `environment/heat/preconditions/holding(object)`.

        Unique in its file.
        """
        return "/".join((*self.at, self.key, self.text))

    @property
    def stands(self) -> bool:
        """True if it is a line of the manual. A line about tools is for a guard alone, so only
        certain ones are.
        """
        if self.label is Label.POSSIBLE:
            return self.at[:1] != ("tools",)
        return self.label in (Label.NECESSARY, Label.SEEN)

    @property
    def id(self) -> str:
        """A short name for it that stays the same from one learning to the next."""
        place = "/".join(about(self.at, self.key, self.text))
        return hashlib.sha256(place.encode("utf-8", "replace")).hexdigest()[:8]


def about(at: tuple[str, ...], key: str, text: str) -> tuple[str, ...]:
    """Identity of a line.

    A condition passes from `plan` to `preconditions` and back, as evidence comes in.
    """
    need = at[:1] == ("environment",) and key in ("preconditions", "plan")
    return (*at, "needs" if need else key, *sorted(text.split(" or ")))


@dataclass(frozen=True)
class Evidence:
    """All that a learned manual rests on."""

    world: str
    claims: tuple[Claim, ...] = ()
    split: str = ""
    """The split that was explored; nothing where only runs were read."""
    episodes: int = 0
    steps: int = 0
    kept_aside: int = 0
    """Episodes that nothing was learned from: the manual was verified on them."""
    undetermined: int = 0
    """Attempts that contradict another one: the same action with the same facts went the other
    way."""
    written: str = ""
    """The manual's text as it was written. Where the manual differs from it by now, a person has
    changed it."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Further settings that decide the result, such as the seed."""
    replaced: str = ""
    """The text of a manual that is being replaced, and what of it was written so: see
    `write_learned`."""
    replaced_written: str = ""


def counts_of(claim: Claim) -> str:
    """Evidence for and against a claim, in words."""
    match claim.key:
        case "syntax":
            counts = {"successes": claim.confirmed, "refusals": claim.against}
        case "preconditions" | "plan" | "needs":
            counts = {
                "successes with it": claim.confirmed,
                "without it": claim.against,
                "refusals that show it": claim.decisive,
                "where it was unknown": claim.unknown,
            }
        case _:
            counts = {
                "steps for it": claim.confirmed,
                "against it": claim.against,
                "where it was unknown": claim.unknown,
            }
    words = [f"{count:,} {what}" for what, count in counts.items() if count]
    if claim.note:
        words.append(claim.note)
    return "; ".join(words) or "no step speaks for it"


def evidence_file(manual: Path) -> Path:
    """File of a manual's evidence."""
    return beside(manual, f"{manual.stem}.evidence.jsonl")


def write_evidence(file: Path, evidence: Evidence) -> None:
    """Write the file, whole or not at all."""
    header = {**vars(evidence), "settings": dict(evidence.settings)}
    header.pop("claims")
    rows: list[dict[str, object]] = [{"type": "evidence", "version": 1, **header}]
    for claim in evidence.claims:
        row = {"type": "claim", "at": claim.at, "key": claim.key, "text": claim.text}
        said = {name: value for name, value in asdict(claim).items() if value}
        rows.append(row | said)  # without what it does not say
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    write_whole(file, "".join(f"{line}\n" for line in lines))


def read_evidence(file: Path) -> Evidence:
    """Read the file; a mistake is a FileError with its line."""
    lines = read_text(file, LARGEST_MEMORY).split("\n")
    read = tagged_reader({"evidence": Evidence, "claim": Claim})
    rows = (row for _, row in read_jsonl(file, lines, read, "is no evidence", halves=False))
    header: Evidence | None = next(rows, None)
    if header is None:
        raise FileError(file, 1, "is empty: `rpms rules learn` writes it with a manual")
    return replace(header, claims=tuple(rows))


def evidence_of(manual: Path) -> Evidence:
    """The evidence beside a manual; an InputError if there is none."""
    file = evidence_file(manual)
    if not file.is_file():
        raise InputError(f"{manual}: was not learned: there is no {file.name} beside it")
    return read_evidence(file)


class ManualBefore(NamedTuple):
    """A learned manual's text as learning wrote it, and as it is now."""

    written: str
    now: str


def manual_before(manual: Path) -> ManualBefore | None:
    """A manual that is to be learned again; None if there is none yet. One that was not learned is
    an InputError.
    """
    if not is_there(manual):
        return None
    if not is_there(evidence_file(manual)):
        raise InputError(f"{manual}: is there already and was not learned; choose another --out")
    evidence = read_evidence(evidence_file(manual))
    now = manual_text(manual).text
    if now == evidence.replaced:
        return ManualBefore(evidence.replaced_written, now)
    return ManualBefore(evidence.written, now)


def write_learned(manual: Path, text: str, evidence: Evidence) -> None:
    """Write a manual and its evidence, and remove what killed processes left half written of
    either.

    Whoever writes the two files may be killed in between: while a manual is being replaced, the
    evidence names the new text. Afterwards both files depend on what was learned alone.
    """
    remove_leftovers(manual.parent, manual.stem)
    before = manual_before(manual)
    file = evidence_file(manual)
    if before is not None and before.now != text:
        replacing = replace(evidence, replaced=before.now, replaced_written=before.written)
        write_evidence(file, replacing)
        write_whole(manual, text)
    write_evidence(file, replace(evidence, replaced="", replaced_written=""))
    if before is None:
        write_whole(manual, text)


TRACES = ".episodes.jsonl"
_TRACES_VERSION = 2
_SEAL = ', "seal": "'
"""Text before the checksum, the last field of a line."""


class Spoken(NamedTuple):
    """One step: the command and the world's answer."""

    command: str
    answer: str
    score: float = 0.0
    won: bool = False
    lost: bool = False
    """True if the task was over for good after it, and not won."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One episode."""

    episode: str
    """Unique among all that is learned from."""
    task: str
    kind: str
    """Type of the task."""
    opening: str
    """The first observation."""
    steps: tuple[Spoken, ...] = ()
    seal: str = field(default="", compare=False)
    """The checksum of its line in a file."""

    @property
    def won(self) -> bool:
        return any(step.won for step in self.steps)


def traces_file(manual: Path) -> Path:
    """File of the episodes of a manual's exploration."""
    return beside(manual, f"{manual.stem}{TRACES}")


@dataclass(frozen=True, slots=True)
class _Header:
    settings: Mapping[str, str]
    seal: str = ""


Keep = Callable[[Trace], None]
"""Takes over an episode that has ended."""


class Exploration(NamedTuple):
    """The settings of an exploration, and its episodes."""

    settings: Mapping[str, str]
    traces: tuple[Trace, ...]


def read_traces(file: Path) -> Exploration:
    """Read an exploration; a last line that was cut off by a crash is left out."""
    head, *traces = _read_exploration(file)
    return Exploration(head.settings, tuple(traces))


def _read_exploration(file: Path) -> list[Any]:
    """The header, and the traces after it."""
    # text after the last newline was never finished
    lines = read_text(file, LARGEST_MEMORY).split("\n")[:-1]
    forms = tagged_reader({"exploration": _Header, "episode": Trace}, _TRACES_VERSION)
    read = [each for _, each in read_jsonl(file, lines, forms, "is no exploration", halves=False)]
    if not read:
        raise FileError(file, 1, "is no exploration: it has no first line; remove it to begin anew")
    seal = ""
    for number, line in enumerate(lines, 1):
        expected, seal = sealed_line(seal, line.rpartition(_SEAL)[0] + "}")
        if line != expected:
            raise FileError(
                file,
                number,
                "was changed since, or a line before it; remove the file to begin anew",
            )
    return read


class OpenExploration(NamedTuple):
    """An exploration that goes on."""

    known: tuple[Trace, ...]
    """The episodes so far."""
    keep: Keep


@contextmanager
def keeping(file: Path, settings: Mapping[str, str]) -> Iterator[OpenExploration]:
    """Begin an exploration or go on with it; other settings or processes are refused."""
    if not is_there(file):
        row = {"type": "exploration", "version": _TRACES_VERSION, "settings": dict(settings)}
        header, _ = sealed_line("", json.dumps(row))
        write_whole(file, f"{header}\n")
    with os.fdopen(open_regular(file, os.O_RDWR | os.O_APPEND), "ab", buffering=0) as stream:
        if not hold(stream.fileno()):
            raise InputError(
                f"{file}: another process is exploring; wait for it, or choose another --out"
            )
        head, *known = _read_exploration(file)
        _refuse_other_settings(file, head.settings, settings)
        # without what a crash left of a line
        stream.truncate(read_bytes(file, LARGEST_MEMORY).rfind(b"\n") + 1)
        last = known[-1] if known else head
        writer = _TraceWriter(file, stream, last.seal)
        yield OpenExploration(tuple(known), writer.write)


def _refuse_other_settings(
    file: Path, kept: Mapping[str, str], settings: Mapping[str, str]
) -> None:
    changed: list[str] = []
    for name in sorted({*kept, *settings}):
        if kept.get(name) != settings.get(name):
            changed.append(name)
    if changed:
        raise InputError(
            f"{file}: is an exploration with another {', '.join(changed)}; remove it, or choose"
            " another --out"
        )


class _TraceWriter:
    """Adds episodes to an exploration's file, each line sealed with the one before."""

    def __init__(self, file: Path, stream: FileIO, seal: str) -> None:
        """`seal`: the checksum of the file's last line."""
        self._file = file
        self._stream = stream
        self._seal = seal

    def write(self, trace: Trace) -> None:
        row = {
            "type": "episode",
            "episode": trace.episode,
            "task": trace.task,
            "kind": trace.kind,
            "opening": trace.opening,
            "steps": trace.steps,
        }
        line, self._seal = sealed_line(self._seal, json.dumps(row))
        data = f"{line}\n".encode()
        with writing(self._file, "all episodes so far are whole"):
            while data:  # one call may write only a part
                written = self._stream.write(data)
                data = data[written:]


class SealedLine(NamedTuple):
    """A line with its checksum."""

    line: str
    seal: str


def sealed_line(before: str, text: str) -> SealedLine:
    """A JSON object in a line with its checksum, which is also over that of the line before."""
    seal = hashlib.sha256(f"{before}{text}".encode()).hexdigest()
    return SealedLine(f'{text[:-1]}{_SEAL}{seal}"}}', seal)
