"""A frozen memory: a file with its hash beside it, so that evaluation uses what was learned and nothing else."""

from __future__ import annotations

import hashlib
from pathlib import Path

from rpms.core.errors import FileError, InputError
from rpms.core.recall import EpisodicMemory
from rpms.foreign.files import read_bytes
from rpms.foreign.limits import LARGEST_MEMORY
from rpms.store.files import read_text, write_whole
from rpms.store.memories import read_memory


def freeze_file(file: Path) -> Path:
    """File of a memory's hash, in the form that `sha256sum --check` reads."""
    return file.with_name(f"{file.name}.sha256")


def freeze(file: Path) -> str:
    """Record the hash of a memory as it is now, and return it."""
    digest = _digest(file)
    write_whole(freeze_file(file), f"{digest}  {file.name}\n")
    return digest


def check_frozen(file: Path) -> str:
    """The recorded hash of a memory, or nothing if it was never frozen; one that has changed since is refused."""
    seal = freeze_file(file)
    if not seal.is_file():
        return ""
    recorded = read_text(seal).split()[:1]
    if not recorded or len(recorded[0]) != hashlib.sha256().digest_size * 2:
        raise FileError(seal, None, f"does not hold the hash of {file.name}; delete it to use the memory unfrozen")
    if recorded[0] != _digest(file):
        raise InputError(
            f"{file}: has changed since it was frozen; restore it, or delete {seal.name} to use it as it is now"
        )
    return recorded[0]


def read_frozen(file: Path, world: str = "") -> EpisodicMemory:
    """Read a memory for evaluation: `read_memory`, and the freeze is enforced where there is one."""
    if file.is_file():
        check_frozen(file)
    return read_memory(file, world)


def _digest(file: Path) -> str:
    return hashlib.sha256(read_bytes(file, LARGEST_MEMORY)).hexdigest()
