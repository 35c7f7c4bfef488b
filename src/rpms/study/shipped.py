"""The studies that come with the package, one file for each table of the paper, found by their names."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rpms.core.errors import InputError
from rpms.core.names import nearest

_PACKAGE = Path(__file__).parents[1]
_FOLDERS = (_PACKAGE / "studies", _PACKAGE.parents[1] / "studies")
"""In an installed package they are inside of it; in a clone at its top."""


def shipped_studies() -> Mapping[str, Path]:
    """The files by name, in alphabetical order."""
    folder = next((each for each in _FOLDERS if (each / "quickstart.yaml").is_file()), None)
    return {} if folder is None else {file.stem: file for file in sorted(folder.glob("*.yaml"))}


def find_study(given: Path) -> Path:
    """A study's file: the one that was given, or one that comes with the package, by its name."""
    if given.exists():
        return given
    known = shipped_studies()
    if str(given) in known:
        return known[str(given)]
    if given.suffix or given.parent != Path():
        raise InputError(f"{given}: there is no such file; `rpms study list` names the studies that come with rpms")
    raise InputError(f"there is no study {str(given)!r}; {nearest(str(given), known)}")
