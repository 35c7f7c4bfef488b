"""What of a world's knowledge a run is given: which manual, which texts, how it recalls, and how much room there is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from rpms.core.errors import FileError, InputError
from rpms.core.memory import Kind
from rpms.core.recall import Retrieval
from rpms.store.manuals import ManualText, manual_text, read_manual
from rpms.store.prompts import Prompts
from rpms.worlds.base import World

PAPER_MANUAL, COMPLETE_MANUAL = "paper", "complete"
MANUALS = (PAPER_MANUAL, COMPLETE_MANUAL)
WEIGHTS = ("type", "object", "state", "destination")
"""The fields of a goal signature that d_γ weighs."""


def universal_tier() -> ManualText:
    """Tier 1, which every world shares unchanged."""
    file = files("rpms.worlds").joinpath("universal.yaml")
    return ManualText("universal.yaml", file.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class ManualChoice:
    """Which manual: a world's at the paper's scale, its complete one, or a file of one's own laid over that."""

    name: str = COMPLETE_MANUAL
    """`paper`, `complete`, or the file's name."""
    own: ManualText | None = None

    def texts(self, world: World) -> tuple[ManualText, ...]:
        """The texts it is read from, tier 1 first. A world with one manual has that at any scale."""
        own = world.paper_manual() if self.name == PAPER_MANUAL else world.manual()
        texts = (universal_tier(), *(ManualText(name, text) for name, text in own))
        return texts if self.own is None else (*texts, self.own)

    def hash(self, world: World) -> str:
        """The same hash, the same rules, all tiers together."""
        digest = hashlib.sha256()
        for text in self.texts(world):
            digest.update(hashlib.sha256(text.text.encode()).digest())
        return digest.hexdigest()


def choose_manual(choice: str | Path) -> ManualChoice:
    """A manual by its name, or a file of one's own; one that cannot be read is a FileError."""
    if str(choice) in MANUALS:
        return ManualChoice(str(choice))
    file = Path(choice)
    if not file.is_file():
        raise InputError(f"{choice}: is no manual: choose {' or '.join(MANUALS)}, or give a file with tiers 2 and 3")
    return ManualChoice(file.name, replace(manual_text(file), own=True))


@dataclass(frozen=True)
class Recalling:
    """θ, k and the weights, where they are not the world's, and how much of what is recalled is hidden."""

    threshold: float | None = None
    top: Mapping[Kind, int] = field(default_factory=dict)
    weights: Mapping[str, float] = field(default_factory=dict)
    mask: float = 0.0

    def over(self, retrieval: Retrieval) -> Retrieval:
        """A world's retrieval with these numbers."""
        return replace(
            retrieval,
            similarity=replace(retrieval.similarity, **self.weights),  # type: ignore[arg-type]  # its weights alone
            threshold=retrieval.threshold if self.threshold is None else self.threshold,
            top={**retrieval.top, **self.top},
            mask=self.mask,
        )


@dataclass(frozen=True)
class Sources:
    """The knowledge of a run. Small, and free of files: it goes to wherever episodes are played."""

    manual: ManualChoice = field(default_factory=ManualChoice)
    prompts: Prompts = field(default_factory=Prompts)
    recalling: Recalling = field(default_factory=Recalling)
    context: int = 0
    """Tokens of the model's context window; 0 for no limit."""

    def check(self, world: World) -> None:
        """Raise what is wrong with a manual or numbers of one's own, before anything is played."""
        try:
            read_manual(*self.manual.texts(world))
        except FileError as error:
            raise FileError(error.file, error.line, f"{error.problem} (in the manual of {world.name})") from None
        self.recalling.over(world.retrieval)


def retrieval_settings(retrieval: Retrieval) -> dict[str, Any]:
    """How memories are recalled, as a protocol records it."""
    similarity = retrieval.similarity
    named = {one.name: getattr(similarity, one.name) for one in fields(similarity) if one.type == "float"}
    return {
        "theta": retrieval.threshold,
        "k": {str(kind): number for kind, number in sorted(retrieval.top.items())},
        "weights": named,
        **({"mask": retrieval.mask} if retrieval.mask else {}),
    }
