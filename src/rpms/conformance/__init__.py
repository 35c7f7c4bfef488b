"""Properties that every world must have, each checked by trying it on games of the world: `rpms
worlds check`.
"""

import traceback
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from rpms.conformance.game_properties import members
from rpms.conformance.properties import PROPERTIES
from rpms.conformance.walk import Broken, Failed, Skipped, Subject
from rpms.logic.errors import InputError, RPMSError
from rpms.worlds.base import Setting, World, lacking

__all__ = ["PROPERTIES", "Finding", "Status", "check_world"]


class Status(StrEnum):
    """Result of checking a property."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Finding:
    """One property and whether a world has it."""

    name: str
    claim: str
    """The claim in a sentence."""
    status: Status
    detail: str
    """Reason for a failure or a skip; for a success, the evidence."""


def check_world(
    world: World,
    setting: Setting | None = None,
    split: str | None = None,
    games: int = 6,
    steps: int = 30,
    seed: int = 0,
    only: Collection[str] = (),
) -> Iterator[Finding]:
    """Check one property after the other, or `only` some; a failure does not stop the rest."""
    checks = _chosen(only)
    setting = setting or Setting()
    if lacking(world):  # of something that is no world, nothing else can be asked
        yield _finding(members, Subject(world, setting, split or "", games, steps, seed))
        return
    subject = Subject(world, setting, split or world.splits[0], games, steps, seed)
    for check in checks:
        yield _finding(check, subject)


def _chosen(only: Collection[str]) -> list[Callable[[Subject], str]]:
    """The checks with some names; all of them if no name is given."""
    by_name = {check.__name__: check for check in PROPERTIES}
    unknown = sorted(set(only) - by_name.keys())
    if unknown:
        raise InputError(f"no property is called {unknown[0]!r}; choose from {', '.join(by_name)}")
    if not only:
        return list(PROPERTIES)
    return [check for name, check in by_name.items() if name in only]


def _finding(check: Callable[[Subject], str], subject: Subject) -> Finding:
    """The outcome of one check, whatever it raises."""
    name = check.__name__
    claim = " ".join((check.__doc__ or "").split()).rstrip(".")
    try:
        detail = check(subject)
    except Skipped as reason:
        return Finding(name, claim, Status.SKIPPED, str(reason))
    except Broken as broken:
        if broken.part != name:
            return Finding(name, claim, Status.SKIPPED, f"see {broken.part}")
        return Finding(name, claim, Status.FAILED, _in_words(broken.error))
    except Exception as error:  # noqa: BLE001  a stranger's world may raise anything, which is the finding
        return Finding(name, claim, Status.FAILED, _in_words(error))
    return Finding(name, claim, Status.OK, detail)


def _in_words(error: Exception) -> str:
    """Text of a failure; for an unexpected exception, the innermost place it came from."""
    if isinstance(error, Failed | RPMSError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = ""
    if frames:
        last = frames[-1]
        place = f" ({Path(last.filename).name}:{last.lineno}, in {last.name})"
    return f"raised {type(error).__name__}: {error}{place}"
