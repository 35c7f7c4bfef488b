"""`study.json`: which run folder is which condition of a study."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from rpms.core.errors import FileError
from rpms.foreign.forms import Text, first_mistake
from rpms.foreign.json_text import NotJson, loads
from rpms.foreign.limits import LARGEST_TABLE
from rpms.store.files import read_text

INDEX = "study.json"


class Group(BaseModel):
    """One comparison of a study: its conditions, and the folder of each, relative to the index."""

    title: Text = ""
    model: Text = ""
    about: Text = ""
    tables: tuple[Text, ...] = ()
    """Those that are about it, first in a report."""
    runs: dict[Text, Text]


class StudyIndex(BaseModel):
    """The checked form of the file."""

    model_config = ConfigDict(extra="ignore")

    title: Text = ""
    about: Text = ""
    world: Text = ""
    tables: tuple[Text, ...] = ()
    varies: tuple[Text, ...] = ()
    """Fields in which its conditions may differ, beside those in which any may."""
    groups: tuple[Group, ...] = ()
    runs: dict[Text, Text] = {}
    """Of a study with one comparison, in place of groups."""

    @property
    def comparisons(self) -> tuple[Group, ...]:
        """The groups; where one says nothing of its own, what the index says holds."""
        said = self.model_dump(include={"title", "about", "tables"})
        groups = self.groups or (Group(runs=self.runs),)
        return tuple(Group(**{**said, **group.model_dump(exclude_defaults=True)}) for group in groups)


def read_study_index(file: Path, advice: str = "") -> StudyIndex:
    """Read an index; what is none is a FileError of one line, with advice at its end."""
    try:
        index = StudyIndex.model_validate(loads(read_text(file, LARGEST_TABLE)))
    except NotJson as error:
        raise FileError(file, None, f"is not the index of a study: {error}{advice}") from None
    except ValidationError as error:
        raise FileError(file, None, f"is not the index of a study: {first_mistake(error)}{advice}") from None
    if not index.groups and not index.runs:
        raise FileError(file, None, f"is not the index of a study: it names no runs{advice}")
    return index
