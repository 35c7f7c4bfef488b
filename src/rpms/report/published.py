"""Numbers that others printed, from `published.yaml`.

They may stand beside measured ones, each row marked as published; nothing here is ever averaged with, tested against
or plotted as a measurement.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from ruamel.yaml import YAML

_FILE = files("rpms.report").joinpath("published.yaml")
PUBLISHED: dict[str, Any] = YAML(typ="safe", pure=True).load(_FILE.read_text(encoding="utf-8"))
TASKS: int = PUBLISHED["tasks"]
