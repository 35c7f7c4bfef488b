"""Parts of one's own, as `module:function` or by an entry point of `rpms.SEAM`; protocols hash their source."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable
from dataclasses import fields
from importlib import import_module
from importlib.metadata import PackageNotFoundError, entry_points, packages_distributions, version
from pathlib import Path
from typing import Any

from rpms.core.errors import InputError
from rpms.core.names import nearest
from rpms.core.seams import Seams
from rpms.foreign.shown import excerpt

SEAMS = tuple(each.name for each in fields(Seams))
Part = Callable[..., Any]


def find_part(seam: str, name: str, folder: Path | None = None) -> Part:
    """Load a part. `folder` is searched for its module as well: the present one, where a person typed the name."""
    points = {point.name: point for point in entry_points(group=f"rpms.{seam}")}
    module, sign, attribute = name.partition(":")
    if name not in points and not (sign and attribute.isidentifier() and all(map(str.isidentifier, module.split(".")))):
        known = f"; {nearest(name, points)}" if points else ""
        raise InputError(f"{excerpt(name)!r} is no {seam}: write it as module:name{known}")
    before = list(sys.path)
    try:
        sys.path[:0] = [str(folder)] if folder is not None else []
        part = points[name].load() if name in points else getattr(import_module(module), attribute)
    except Exception as error:  # noqa: BLE001  a stranger's module may raise anything
        reason = excerpt(f"{type(error).__name__}: {error}")
        raise InputError(f"the {seam} {excerpt(name)} cannot be loaded: {reason}") from None
    finally:
        sys.path[:] = before
    part = part() if inspect.isclass(part) else part
    if not callable(part):
        raise InputError(f"the {seam} {excerpt(name)} is {excerpt(part, 60)}, which cannot be called")
    return part  # type: ignore[no-any-return]


def name_of(part: str | Part) -> str:
    """A value of a setting that is a name, or a part of one's own by its name and source."""
    if isinstance(part, str):
        return part
    known = identity(part)
    return f"{known['name']} {known['source'][:16]}"


def identity(part: Part) -> dict[str, str]:
    """Entry of a part in a protocol: its name, its package's version, and a hash of its module's source."""
    owner = part if inspect.isroutine(part) or inspect.isclass(part) else type(part)
    module = inspect.getmodule(owner)
    name = f"{owner.__module__}:{getattr(owner, '__qualname__', type(part).__name__)}"
    try:
        source = inspect.getsource(module) if module is not None else ""
    except (OSError, TypeError):
        source = ""
    package = packages_distributions().get(owner.__module__.partition(".")[0], [""])[0]
    try:
        released = version(package) if package else ""
    except PackageNotFoundError:
        released = ""
    return {"name": name, "version": released, "source": hashlib.sha256(source.encode()).hexdigest()}
