"""Files of prompts: a person's texts in place of a world's instruction, example and headings."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ruamel.yaml.scalarstring import LiteralScalarString

from rpms.logic.errors import is_near, nearest
from rpms.paper.prompt import SHARED, Part
from rpms.paper.wording import Wording
from rpms.store.files import read_text
from rpms.store.yaml_files import Place, YamlFile, YamlKind, read_yaml, yaml_text

_KEYS = ("instruction", "example", "headings")
PROMPTS = YamlKind("a file of prompts", 200_000, 16, f"the keys {', '.join(_KEYS)}")
_HEADED = {str(part).removeprefix("rules."): part for part in Part if part not in SHARED}
"""The blocks that have headings, by their names in the file."""


@dataclass(frozen=True)
class Prompts:
    """Texts in place of a world's; None is the world's own."""

    instruction: str | None = None
    """First words of the system, in every condition; the example follows them."""
    example: str | None = None
    headings: Mapping[Part, str] = field(default_factory=dict)
    """Headings of the blocks; in a file by their names: `{belief: "[State]", memory:
    "[Experience]", …}`."""

    def over(self, wording: Wording) -> Wording:
        """A world's wording with these texts.

        An example of one's own also stands where a menu is shown.
        """
        own: dict[str, Any] = {"headings": {**wording.headings, **self.headings}}
        if self.instruction is not None:
            own |= {"instruction": self.instruction, "printed": ""}
        if self.example is not None:
            own |= {"example": self.example, "choosing": ""}
        return replace(wording, **own)


def prompts_hash(wording: Wording) -> str:
    """Hash of the instruction, examples and headings."""
    headings = {str(part): text for part, text in wording.headings.items()}
    texts = [wording.instruction, wording.printed, wording.example, wording.choosing, headings]
    return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()


def read_prompts(file: Path) -> Prompts:
    """Read a file of prompts; the first mistake is a FileError with its line."""
    yaml = read_yaml(str(file), read_text(file), PROMPTS)
    _check_keys(yaml)
    headings = _read_headings(yaml)
    instruction = _text(yaml.at("instruction"), yaml.tree.get("instruction"))
    example = _text(yaml.at("example"), yaml.tree.get("example"))
    return Prompts(instruction, example, headings)


def _check_keys(yaml: YamlFile) -> None:
    """Refuse an unknown key, by its name only where the file seems to be one of prompts."""
    has_known = not yaml.tree.keys().isdisjoint(_KEYS)
    for key in yaml.tree:
        if key in _KEYS:
            continue
        problem = f"is not a known field; {nearest(str(key), _KEYS)}"
        place = yaml.at(key)
        if has_known or is_near(str(key), _KEYS):
            raise place.mistake(problem)
        raise place.error(problem)


def _read_headings(yaml: YamlFile) -> dict[Part, str]:
    given = yaml.tree.get("headings") or {}
    if not isinstance(given, Mapping):
        raise yaml.at("headings").mistake("write a mapping of blocks to texts")
    headings: dict[Part, str] = {}
    for name, text in given.items():
        place = yaml.at("headings", name)
        part = _HEADED.get(str(name).removeprefix("rules."))
        if part is None:
            raise place.mistake(f"no block is called so; {nearest(str(name), _HEADED)}")
        headings[part] = _text(place, text) or ""
    return headings


def _text(place: Place, value: object) -> str | None:
    if not isinstance(value, str | None):
        raise place.mistake("must be a text")
    return None if value is None else str(value).rstrip("\n")


def prompts_text(wording: Wording) -> str:
    """A file of prompts that says what a world's wording says."""
    headings: dict[str, str] = {}
    for name, part in _HEADED.items():
        if part in wording.headings:
            headings[name] = _block(wording.headings[part])
    texts = {
        "instruction": _block(wording.instruction),
        "example": _block(wording.example),
        "headings": headings,
    }
    return yaml_text(texts, width=4096)


def _block(text: str) -> str:
    """A text of several lines in YAML's block form, as people write them."""
    return LiteralScalarString(f"{text}\n") if "\n" in text else text
