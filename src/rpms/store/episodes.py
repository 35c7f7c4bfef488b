"""The episode file: one compressed JSON an episode, the same JSON for the same episode on every
machine.

    import gzip, json
    episode = json.load(gzip.open(file))

Nothing in it tells when or where it was played; that is in the run's `timings.jsonl`. The first
line holds the numbers that tables need; the last field is a checksum of all that is before it. A
field that has nothing to say is left out.
"""

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cache
from itertools import starmap
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from rpms.foreign.file_reader import read_bytes
from rpms.foreign.json_text import NotJson, from_json, loads
from rpms.foreign.limits import LARGEST_EPISODE
from rpms.logic.belief import Belief
from rpms.logic.errors import FileError
from rpms.logic.goal import Progress
from rpms.paper.episode import Ending, Episode, Happening, Step, Usage
from rpms.paper.prompt import Block, CutItem, Form, Layout, Message, Part, Prompt, Shortened
from rpms.paper.verdict import Candidate
from rpms.paper.wording import memory_line

VERSION = 2
_SEAL = re.compile(rb'"sha256":"([0-9a-f]{64})"\}\n\Z')
_SEAL_LENGTH = len(b'"sha256":""}\n') + 64
_AGAIN = "the same `rpms run` as before plays this episode again"


def file_name(task: str) -> str:
    """The name of a task's file: readable, the same everywhere, and no path whatever the task
    is called.
    """
    digest = hashlib.sha256(task.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    slug = re.sub(r"[^A-Za-z0-9_-]+", "_", task)[:80].strip("_-")
    return f"{slug}-{digest}.json" if slug else f"{digest}.json"


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """An episode in numbers: all that tables count, small enough to keep by the thousand."""

    task: str
    type: str
    ending: Ending
    score: float
    steps: int
    infeasible: int
    foreseeable: int
    repeated_failures: int
    contradictions: int
    usage: Usage = field(default_factory=Usage)
    """Tokens alone; requests and seconds are what timings tell."""
    error: str = ""
    reasks: int = 0
    """Re-asks by the guard."""
    replaced: int = 0
    """Actions that were not the model's own."""
    truncated: int = 0
    """Steps whose answer was cut at the limit of new tokens."""
    shortened: int = 0
    """Steps whose prompt left out turns of the history for want of room."""
    crowded: int = 0
    """Steps whose prompt left out knowledge for want of room."""
    trial: int = 0
    """Number of the attempt at the task."""
    menus: int = 0
    """Steps with a menu."""
    sole: int = 0
    """Steps whose menu had one entry."""
    led: int = 0
    """Steps in which the menu's best entry was taken."""
    surprises: int = 0
    """Differences between the world's answers and what the manual foretold."""
    remembered: int | None = None
    """Steps whose prompt showed memories; None if an earlier version played them, which did not
    count."""
    missing: ClassVar[bool] = False
    """True for a task that has no episode."""

    @property
    def won(self) -> bool:
        return self.ending is Ending.WON

    @property
    def failed(self) -> bool:
        """True if a model or a world broke down, rather than the agent lost.

        Such episodes count like any other.
        """
        return self.ending in (Ending.MODEL_ERROR, Ending.WORLD_ERROR)

    @property
    def floored(self) -> float:
        """The score with a negative one counted as 0, as the papers on ScienceWorld count it."""
        return max(self.score, 0.0)


class MissingRow(EpisodeRow):
    """A task without an episode: not won, score 0, no steps."""

    missing = True

    def __init__(self, task: str, type_: str) -> None:
        super().__init__(task, type_, Ending.OUT_OF_STEPS, 0.0, 0, 0, 0, 0, 0)


def row_of(episode: Episode) -> EpisodeRow:
    """The numbers of an episode, as its file will give them back."""
    return EpisodeRow(
        episode.task,
        episode.type,
        episode.ending,
        episode.score,
        steps=len(episode.steps),
        usage=replace(episode.usage, requests=0, seconds=0.0),
        error=episode.error,
        trial=episode.trial,
        **episode.counts,
    )


@dataclass(frozen=True, slots=True)
class CandidateRecord:
    """A memory that came to mind, with its verdict."""

    entry: str
    """The entry's id."""
    kind: str
    wording: str
    """The words that the prompt has for it, or would have."""
    score: float
    rank: float
    fate: str
    reason: str = ""
    rule: str = ""
    fact: str = ""

    @classmethod
    def of(cls, candidate: Candidate) -> Self:
        entry = candidate.entry
        verdict = candidate.verdict
        return cls(
            entry.id,
            str(entry.kind),
            memory_line(candidate),
            candidate.score,
            candidate.rank,
            str(verdict.fate),
            verdict.reason,
            verdict.rule,
            verdict.fact,
        )


@dataclass(frozen=True, slots=True)
class BeliefRecord:
    """The belief at a step's decision."""

    location: str | None = None
    holding: tuple[str, ...] = ()
    containers: Mapping[str, bool] = field(default_factory=dict)
    last_seen: Mapping[str, str] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    """Lines as a prompt shows them; lines that two steps do not share are what changed."""
    signature: str = ""

    @classmethod
    def of(cls, belief: Belief, signature: str) -> Self:
        seen = dict(belief.last_seen)
        lids = dict(belief.containers)
        return cls(
            belief.location, tuple(belief.holding), lids, seen, tuple(belief.lines()), signature
        )


def _are_messages(value: object) -> bool:
    """True for a list of pairs of texts."""
    if not isinstance(value, list):
        return False
    for pair in value:
        if not isinstance(pair, list) or list(map(type, pair)) != [str, str]:
            return False
    return True


def _has_texts(value: object, names: Sequence[str]) -> bool:
    """True for a JSON object that has a text under each name."""
    return isinstance(value, dict) and all(isinstance(value.get(name), str) for name in names)


@dataclass(frozen=True)
class _AsSent:
    """Gives the messages that were recorded, whatever the blocks are."""

    messages: tuple[Message, ...]

    def __call__(self, _blocks: Sequence[Block]) -> tuple[Message, ...]:
        return self.messages


@dataclass(frozen=True, slots=True, kw_only=True)
class StepRecord(Happening):
    """One step, as its file tells it."""

    belief: BeliefRecord
    progress: Progress
    prompt: tuple[Block, ...]
    cut: tuple[CutItem, ...] = ()
    """The items that the budget removed from the prompt."""
    candidates: tuple[CandidateRecord, ...] = ()
    unlisted: int = 0
    extras: Mapping[str, Any] = field(default_factory=dict)
    """Records of features beyond the paper, by name."""
    left_out: tuple[str, ...] = ()
    """The active rules and schemas that the prompt does not show at this sub-goal."""

    def __post_init__(self) -> None:
        """Check the extras that are taken apart where they are shown: refusals, readings and
        messages. All others are shown as they are.
        """
        if not _are_messages(self.extras.get("messages", [])):
            raise ValueError("`messages` is not a list of pairs of texts: role and content")
        self._check_objects("refused", "command", "reason")
        self._check_objects("readings", "goal")

    def _check_objects(self, extra: str, *texts: str) -> None:
        """Refuse an extra that is no list of objects with these texts."""
        items = self.extras.get(extra, [])
        if not isinstance(items, list) or not all(_has_texts(each, texts) for each in items):
            raise ValueError(f"`{extra}` is not a list of objects, each with {' and '.join(texts)}")

    @classmethod
    def of(cls, step: Step) -> Self:
        decision = step.decision
        happened = {each.name: getattr(step, each.name) for each in fields(Happening)}
        return cls(
            **{**happened, "usage": replace(step.usage, requests=0, seconds=0.0)},
            belief=BeliefRecord.of(decision.belief, str(decision.state_signature)),
            progress=decision.progress,
            prompt=decision.prompt.blocks,
            cut=decision.prompt.cut,
            candidates=tuple(map(CandidateRecord.of, decision.candidates)),
            unlisted=decision.unlisted,
            extras=step.extras,
            left_out=decision.left_out,
        )


@dataclass(frozen=True)
class EpisodeRecord:
    """An episode as its file tells it."""

    row: EpisodeRow
    goal: str
    goal_signature: str
    layout: str = Prompt(()).layout.name
    form: Form = Prompt(()).form
    rules: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The ids of the active rules by tier."""
    steps: tuple[StepRecord, ...] = ()

    def __post_init__(self) -> None:
        if self.layout not in Layout.__members__:
            raise ValueError("layout: is not known here")
        for number, step in enumerate(self.steps, start=1):
            if step.number != number:
                raise ValueError(f"step {number} is numbered {step.number}")

    @classmethod
    def of(cls, episode: Episode) -> Self:
        if not episode.steps:
            return cls(row_of(episode), episode.goal, "")
        first = episode.steps[0].decision
        rules = {
            "universal": tuple(rule.id for rule in first.rules.universal),
            "domain": tuple(rule.id for rule in first.rules.domain),
            "environment": tuple(schema.name for schema in first.rules.environment),
        }
        return cls(
            row_of(episode),
            episode.goal,
            str(first.goal_signature),
            first.prompt.layout.name,
            first.prompt.form,
            rules,
            steps=tuple(map(StepRecord.of, episode.steps)),
        )

    @property
    def task(self) -> str:
        return self.row.task

    def prompt(self, number: int) -> Prompt:
        """The whole prompt of a step, from 1, to the letter: its text and messages are those
        that were sent.
        """
        step = self.steps[number - 1]
        sent = tuple(starmap(Message, step.extras.get("messages", ())))
        speak = _AsSent(sent) if sent else None
        no_room: list[Shortened] = []
        for part, items in step.extras.get("no_room", {}).items():
            no_room.append(Shortened(Part(part), items))
        layout = Layout[self.layout]
        return Prompt(step.prompt, step.cut, tuple(no_room), layout, self.form, speak)


class _Field(NamedTuple):
    """A field of a dataclass, with the value that need not be told."""

    name: str
    usual: Any


@cache
def _fields_of(kind: Any) -> tuple[_Field, ...]:
    found: list[_Field] = []
    for each in fields(kind):
        usual = each.default_factory() if each.default_factory is not MISSING else each.default
        found.append(_Field(each.name, usual))
    return tuple(found)


def _fields(value: object) -> dict[str, Any]:
    """The fields of a dataclass that say something: those without a default, and those that
    differ from theirs.
    """
    if isinstance(value, Mapping):
        return dict(value)
    found: dict[str, Any] = {}
    kind: Any = type(value)
    for name, usual in _fields_of(kind):
        item = getattr(value, name)
        if item != usual:
            found[name] = item
    return found


_encode = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), default=_fields).encode
"""Plain ASCII, so that any text, half characters included, can be written and comes back as it
was."""


def episode_text(episode: Episode | EpisodeRecord) -> str:
    """The JSON of an episode, played or recorded; equal episodes give equal texts, whatever
    their timings.
    """
    record = episode if isinstance(episode, EpisodeRecord) else EpisodeRecord.of(episode)
    return content_text({"version": VERSION, **_fields(record)})


def content_text(content: Mapping[str, Any]) -> str:
    """The JSON of a file: the steps one a line after all other fields, and last the checksum of
    all before it.
    """
    head = dict(content)
    head.pop("sha256", None)
    steps = head.pop("steps", ())
    listed = _encode(steps)
    if isinstance(steps, list | tuple):
        lines = ",\n".join(map(_encode, steps))
        listed = f"[{lines}]"
    body = f'{_encode(head)[:-1]},\n"steps":{listed},\n'
    return f'{body}"sha256":"{hashlib.sha256(body.encode()).hexdigest()}"}}\n'


def packed(text: str) -> bytes:
    """A file's bytes."""
    return gzip.compress(text.encode(), compresslevel=6, mtime=0)


def unpacked(file: Path) -> bytes:
    """The JSON of a file, if it is what was once written; anything else is a FileError."""
    unpack = zlib.decompressobj(wbits=31)
    try:
        data = unpack.decompress(read_bytes(file, LARGEST_EPISODE), LARGEST_EPISODE)
    except zlib.error:
        data = b""
    mark = None
    if unpack.eof and not unpack.unused_data:
        mark = _SEAL.search(data, max(0, len(data) - _SEAL_LENGTH))
    if mark is None:
        raise FileError(file, None, f"is not a whole episode file; {_AGAIN}")
    sealed = memoryview(data)[: mark.start()]
    if hashlib.sha256(sealed).hexdigest().encode() != mark[1]:
        raise FileError(file, None, f"was changed after it was written; {_AGAIN}")
    return data


def read_row(file: Path) -> EpisodeRow:
    """The numbers of an episode. A damaged file is a FileError, whichever part of it is damaged."""
    head, _, _ = unpacked(file).partition(b",\n")
    return _read(file, head + b"}").row


def read_episode(file: Path) -> EpisodeRecord:
    """Read an episode; a damaged file is a FileError."""
    return _read(file, unpacked(file))


def _read(file: Path, data: bytes) -> EpisodeRecord:
    try:
        tree = loads(data)
        if not isinstance(tree, dict) or tree.pop("version", None) != VERSION:
            raise FileError(
                file,
                None,
                "was written by another version of rpms, in a form that is not known here",
            )
        tree.pop("sha256", None)
        return from_json(EpisodeRecord, tree)
    except NotJson as error:
        raise FileError(file, None, f"is not an episode: {error}") from None
