"""Evidence for each line of a learned manual, in a file beside it: `manual.yaml` has `manual.evidence.jsonl`.

The first line is the header, every other line a claim. A claim that stands in the manual has the place where it stands,
and every claim has steps of episodes that speak for it. The episodes of an exploration are kept in
`manual.episodes.jsonl` (see `store.traces`); those of recorded runs are in the runs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from rpms.core.errors import FileError, InputError
from rpms.foreign.file_reader import is_there
from rpms.foreign.json_text import read_jsonl
from rpms.foreign.limits import LARGEST_MEMORY
from rpms.foreign.typed import tagged_reader
from rpms.store.files import read_text, remove_leftovers, write_whole
from rpms.store.manual_reader import manual_text

SUFFIX = ".evidence.jsonl"
GUARD = "guard"
"""Among the settings of evidence: the manual that a guard's log was read with. It is of tools, and of no world."""


class Label(StrEnum):
    """Certainty of a claim."""

    NECESSARY = "necessary"
    """A precondition: an action was refused with this false and all else that it may need true. The guard uses it."""
    POSSIBLE = "possible"
    """A precondition that was true in every success, and false only where something else was missing too. Plans see
    to it (`plan` in the manual); the guard lets pass what breaks it."""
    UNTESTED = "untested"
    """True in every attempt, so that nothing is known of it. Not in the manual."""
    IMPLIED = "implied"
    """True whenever another precondition was: it adds nothing. Not in the manual; `note` names the other one."""
    REFUTED = "refuted"
    """No precondition: an action succeeded with this false. Not in the manual."""
    SEEN = "seen"
    """Everything that is no precondition: an effect, what was revealed, kinds in a role, a place, a goal's fact."""
    TAKEN_OUT = "taken out"
    """Induced, and then taken out, since on episodes kept aside it was wrong; `note` says how. Not in the manual."""
    EDITED = "edited"
    """A person has changed this line of the manual since it was learned; `note` says how. Edits are kept."""


_ENTRIES = frozenset({"environment", "kinds", "goals", "procedures", "processes", "facts", "tools"})
"""Sections of manuals in which learning writes entries; and into `localities`, which has no entries but lists."""
_LISTS = frozenset(
    {"syntax", "preconditions", "plan", "effects", "observes", "forbids", "holds", "yes", "no", "steps", "needs"}
)


class Witness(NamedTuple):
    """A step that speaks for or against a claim."""

    episode: str
    """The episode's id: of an exploration, its number and task; of a run, the run's folder and the task."""
    step: int
    """From 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """Evidence for and against something learned."""

    label: Label = Label.SEEN
    confirmed: int = 0
    """Steps that speak for it. Of a precondition: successes in which it was true."""
    against: int = 0
    """Steps that speak against it. Of a precondition: successes in which it was false."""
    decisive: int = 0
    """Of a precondition: refusals in which this alone was false."""
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
        return Claim(at, key, text, **{each.name: getattr(self, each.name) for each in fields(Support)})


@dataclass(frozen=True, slots=True)
class Claim(Support):
    """One line of a learned manual, or one that did not make it into the manual, with what speaks for it."""

    at: tuple[str, ...]
    """The mapping where it stands, or would: `("environment", "heat")`, `("kinds", "heat_place")`."""
    key: str
    """Its key: one of `_LISTS`; of `facts` and `localities`, a kind of things or place."""
    text: str
    """As the manual writes it: `holding(object)`."""

    def __post_init__(self) -> None:
        place = len(self.at) == 2 and self.at[0] in _ENTRIES and (self.key in _LISTS or self.at[0] == "facts")
        if self.label is not Label.EDITED and not place and self.at != ("localities",):
            raise ValueError("at: should be where a learned manual has lines")

    @property
    def place(self) -> str:
        """Its place in one text: `environment/heat/preconditions/holding(object)`. Unique in its file."""
        return "/".join((*self.at, self.key, self.text))

    @property
    def stands(self) -> bool:
        """True for a line of the manual. One of tools is for a guard alone, and holds only what is certain."""
        if self.label is Label.POSSIBLE:
            return self.at[:1] != ("tools",)
        return self.label in (Label.NECESSARY, Label.SEEN)

    @property
    def id(self) -> str:
        """A short name for it that stays the same from one learning to the next."""
        place = "/".join(about(self.at, self.key, self.text))
        return hashlib.sha256(place.encode("utf-8", "replace")).hexdigest()[:8]


def about(at: tuple[str, ...], key: str, text: str) -> tuple[str, ...]:
    """Identity of a line. A condition passes from `plan` to `preconditions` and back, as evidence comes in."""
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
    """Attempts of which another one, with the same action and the same facts, went the other way."""
    written: str = ""
    """The manual's text as it was written: what differs from it in the manual by now, a person has changed."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Further settings that decide the result, such as the seed."""
    replaced: str = ""
    """The text of a manual that is being replaced, and what of it was written so: see `write_learned`."""
    replaced_written: str = ""

    def of(self, *at: str) -> tuple[Claim, ...]:
        """The claims about one entry of the manual."""
        return tuple(claim for claim in self.claims if claim.at == at)


def counts_of(claim: Claim) -> str:
    """Evidence for and against a claim, in words."""
    told = [(claim.confirmed, "steps for it"), (claim.against, "against it"), (claim.unknown, "where it was unknown")]
    if claim.key in ("preconditions", "plan", "needs"):
        told[:2] = [
            (claim.confirmed, "successes with it"),
            (claim.against, "without it"),
            (claim.decisive, "refusals that show it"),
        ]
    if claim.key == "syntax":
        told = [(claim.confirmed, "successes"), (claim.against, "refusals")]
    words = [f"{count:,} {what}" for count, what in told if count]
    return "; ".join([*words, *filter(None, [claim.note])]) or "no step speaks for it"


def evidence_file(manual: Path) -> Path:
    """File of a manual's evidence."""
    return manual.with_name(f"{manual.stem}{SUFFIX}")


def write_evidence(file: Path, evidence: Evidence) -> None:
    """Write the file, whole or not at all."""
    header = {name: value for name, value in vars(evidence).items() if name != "claims"}
    rows: list[dict[str, object]] = [{"type": "evidence", "version": 1, **header, "settings": dict(evidence.settings)}]
    for claim in evidence.claims:  # without what it does not say
        said = {name: value for name, value in asdict(claim).items() if value}
        rows.append({"type": "claim", "at": claim.at, "key": claim.key, "text": claim.text} | said)
    write_whole(file, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def read_evidence(file: Path) -> Evidence:
    """Read the file; a mistake is a FileError with its line."""
    lines, read = read_text(file, LARGEST_MEMORY).split("\n"), tagged_reader({"evidence": Evidence, "claim": Claim})
    rows = (row for _, row in read_jsonl(file, lines, read, "is no evidence", halves=False))
    header: Evidence | None = next(rows, None)
    if header is None:
        raise FileError(file, 1, "is empty: `rpms rules learn` writes it with a manual")
    return replace(header, claims=tuple(rows))


def evidence_of(manual: Path) -> Evidence:
    """The evidence beside a manual; an InputError where it has none."""
    file = evidence_file(manual)
    if not file.is_file():
        raise InputError(f"{manual}: was not learned: there is no {file.name} beside it")
    return read_evidence(file)


def manual_before(manual: Path) -> tuple[str, str] | None:
    """A manual's text as it was written and as it is now; None where there is none, an InputError for another's."""
    if not is_there(manual):
        return None
    if not is_there(evidence_file(manual)):
        raise InputError(f"{manual}: is there already and was not learned; choose another --out")
    evidence, now = read_evidence(evidence_file(manual)), manual_text(manual).text
    return (evidence.replaced_written if now == evidence.replaced else evidence.written), now


def write_learned(manual: Path, text: str, evidence: Evidence) -> None:
    """Write a manual and its evidence, and remove what killed processes left half written of either.

    Whoever writes the two files may be killed in between: while a manual is being replaced, the evidence names the new
    text. Afterwards both files depend on what was learned alone.
    """
    remove_leftovers(manual.parent, manual.stem)
    before, file = manual_before(manual), evidence_file(manual)
    if before is not None and before[1] != text:
        written, now = before
        write_evidence(file, replace(evidence, replaced=now, replaced_written=written))
        write_whole(manual, text)
    write_evidence(file, replace(evidence, replaced="", replaced_written=""))
    if before is None:
        write_whole(manual, text)
