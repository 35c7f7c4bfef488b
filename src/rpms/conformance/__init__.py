"""Properties that every world must have, each checked by trying it on games of the world: `rpms
worlds check`.
"""

import traceback
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from rpms.conformance.properties import PROPERTIES, members
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
    claim: str  # In a sentence
    status: Status
    detail: str  # Reason for a failure or a skip; for a success, the evidence


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
    unknown = sorted(set(only) - {check.__name__ for check in PROPERTIES})
    if unknown:
        names = ", ".join(check.__name__ for check in PROPERTIES)
        raise InputError(f"no property is called {unknown[0]!r}; choose from {names}")
    sound = not lacking(world)
    subject = Subject(
        world, setting or Setting(), split or (world.splits[0] if sound else ""), games, steps, seed
    )
    for check in PROPERTIES if sound else (members,):
        if only and sound and check.__name__ not in only:
            continue
        try:
            status, detail = Status.OK, check(subject)
        except Skipped as reason:
            status, detail = Status.SKIPPED, str(reason)
        except Broken as broken:
            here = broken.part == check.__name__
            status, detail = (
                (Status.FAILED, _told(broken.error))
                if here
                else (Status.SKIPPED, f"see {broken.part}")
            )
        except Exception as error:  # noqa: BLE001  a stranger's world may raise anything, which is the finding
            status, detail = Status.FAILED, _told(error)
        claim = " ".join((check.__doc__ or "").split()).rstrip(".")
        yield Finding(check.__name__, claim, status, detail)


def _told(error: Exception) -> str:
    """Text of a failure; for an unexpected exception, the innermost place it came from."""
    if isinstance(error, Failed | RPMSError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    place = (
        f" ({Path(frames[-1].filename).name}:{frames[-1].lineno}, in {frames[-1].name})"
        if frames
        else ""
    )
    return f"raised {type(error).__name__}: {error}{place}"
