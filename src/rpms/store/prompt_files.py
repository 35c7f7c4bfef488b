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
from rpms.store.yaml_files import YamlFile, YamlKind, read_yaml, yaml_text

_KEYS = ("instruction", "example", "headings")
PROMPTS = YamlKind("a file of prompts", 200_000, 16, f"the keys {', '.join(_KEYS)}")
_HEADED = {str(part).removeprefix("rules."): part for part in Part if part not in SHARED}
"""The blocks that have headings, by their names in the file."""


@dataclass(frozen=True)
class Prompts:
    """Texts in place of a world's; None is the world's own."""

    instruction: str | None = None
    """What the system says first, in every condition; the example follows it."""
    example: str | None = None
    headings: Mapping[Part, str] = field(default_factory=dict)
    """In a file by the names of the blocks: `{belief: "[State]", memory: "[Experience]", …}`."""

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
    for key in yaml.tree:
        if key not in _KEYS:
            named = f"{key}: " if is_near(str(key), _KEYS) or yaml.tree.keys() & set(_KEYS) else ""
            raise yaml.error((key,), f"{named}is not a known field; {nearest(str(key), _KEYS)}")
    given = yaml.tree.get("headings") or {}
    if not isinstance(given, Mapping):
        raise yaml.error(("headings",), "headings: write a mapping of blocks to texts")
    headings: dict[Part, str] = {}
    for name in given:
        part = _HEADED.get(str(name).removeprefix("rules."))
        if part is None:
            problem = f"headings.{name}: no block is called so; {nearest(str(name), _HEADED)}"
            raise yaml.error(("headings", name), problem)
        headings[part] = _text(yaml, given, "headings", name) or ""
    return Prompts(
        _text(yaml, yaml.tree, "instruction"), _text(yaml, yaml.tree, "example"), headings
    )


def _text(yaml: YamlFile, entries: Mapping[str, object], *path: str) -> str | None:
    value = entries.get(path[-1])
    if not isinstance(value, str | None):
        raise yaml.error(path, f"{'.'.join(path)}: must be a text")
    return None if value is None else str(value).rstrip("\n")


def prompts_text(wording: Wording) -> str:
    """A file of prompts that says what a world's wording says."""
    texts = {"instruction": wording.instruction, "example": wording.example}
    told = {
        name: _block(wording.headings[part])
        for name, part in _HEADED.items()
        if part in wording.headings
    }
    return yaml_text(
        {**{name: _block(text) for name, text in texts.items()}, "headings": told}, width=4096
    )


def _block(text: str) -> str:
    """A text of several lines in YAML's block form, as people write them."""
    return LiteralScalarString(f"{text}\n") if "\n" in text else text
