"""Compares calls and manuals with the schemas of MCP tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from rpms.foreign.shown import excerpt
from rpms.guard.calls import FORM, OTHER, PROMPT, RESOURCE, USER, Call, Refuse, ToolManual

if TYPE_CHECKING:
    from fastmcp.tools.base import Tool

_TYPES: Mapping[str, tuple[type, ...]] = {
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "string": (str,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def mistake_in(manual: ToolManual, call: Call, tool: Tool | None) -> Refuse | None:
    """The ruling on a call that no rule need be asked about."""
    if tool is None or tool.name != call.tool:
        return Refuse(f"no server has a tool {excerpt(call.tool)!r}", OTHER)
    declared = manual.tools.get(call.tool)
    known = tool.parameters.get("properties")
    if declared is None or not isinstance(known, dict):
        return None
    for name in sorted(declared.arguments & known.keys() & call.arguments.keys()):
        wanted = _types_of(known[name])
        if wanted and not _is_of(call.arguments[name], wanted):
            reason = f"the tool takes {' or '.join(wanted)} as {name}"
            return Refuse(reason, FORM, "", f"write {name} as {' or '.join(wanted)}")
    return None


def _types_of(schema: Any) -> list[str]:
    """The types that a schema allows; none if it does not say."""
    if not isinstance(schema, dict):
        return []
    choices = schema.get("anyOf")
    if isinstance(choices, list):
        found = [_types_of(each) for each in choices]
        return list(chain.from_iterable(found)) if all(found) else []
    kinds = schema.get("type")
    names: list[Any] = kinds if isinstance(kinds, list) else [kinds]
    are_known = all(isinstance(name, str) and name in _TYPES for name in names)
    return names if are_known else []


def _is_of(value: Any, wanted: Sequence[str]) -> bool:
    """True if a value is of one of some types, as no reader would doubt."""
    if isinstance(value, bool):
        return "boolean" in wanted
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return any(isinstance(value, _TYPES[name]) for name in wanted)


def differences(manual: ToolManual, tools: Sequence[Tool]) -> list[str]:
    """Tools and arguments of a manual that a server does not have, in words for the operator."""
    names = [tool.name for tool in tools]
    found = []
    missing = sorted(set(manual.tools) - {USER, RESOURCE, PROMPT, *names})
    if missing:
        lacking = "the manual declares tools that the server does not have"
        found.append(f"{lacking}: {_listed(missing)}")
    for tool in tools:
        declared = manual.tools.get(tool.name)
        known = tool.parameters.get("properties")
        if declared is None or not isinstance(known, dict):
            continue
        strange = sorted(declared.arguments - known.keys())
        if strange:
            what = f"the tool {excerpt(tool.name, 60)} has no argument {', '.join(strange)}"
            found.append(f"{what}; it has {_listed(known)}")
    return found


def _listed(names: Iterable[str]) -> str:
    return ", ".join(excerpt(name, 60) for name in names) or "none"
