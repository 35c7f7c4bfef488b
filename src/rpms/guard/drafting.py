"""Draft of a manual, from the tools that a server lists."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from rpms.foreign.shown import excerpt
from rpms.guard.calls import RESULT
from rpms.guard.tool_manuals import ARGUMENT, LAST_LINE

_HEAD = """# Drafted from what the server says of its tools. A person approves every call of a tool that does not say it only
# reads, and whatever a rule cannot tell. Tools that the server adds later are refused until they are declared here.
# Next: rpms guard mcp --observe-only --manual THIS --log calls.jsonl -- the server; then
# rpms rules learn THIS --from calls.jsonl --out LEARNED adds what the recorded calls show that tools need.
others: refuse
unknown: ask
"""  # noqa: E501  a comment in a file


def draft_manual(tools: Sequence[Mapping[str, Any]]) -> str:
    """A manual of the tools in an answer to `tools/list`: required arguments are needed, and a
    person approves whatever may destroy something.
    """
    entries: list[str] = []
    policies: list[str] = []
    for tool in tools:
        said = excerpt(tool.get("description") or "", 100)
        if said:
            entries.append(f"  # {said}")
        entries.append(f"  {json.dumps(tool['name'])}: {json.dumps(_entry(tool))}")
        if _may_destroy(tool):
            policies.append(_approval_of(tool["name"], len(policies) + 1))
    lines = [_HEAD, "tools:", *(entries or ["  {}"])]
    if policies:
        lines += ["policies:", *policies]
    return "\n".join([*lines, f"{LAST_LINE}\n"])


def _approval_of(tool: str, number: int) -> str:
    """The line of a policy that has a person approve each call of a tool."""
    rule = {"text": f"A person approves {tool}.", "tools": tool, "asks": True}
    words = re.sub("[^A-Z0-9]+", "-", tool.upper()).strip("-") or "TOOL"
    return f"  P-{words}-{number:03}: {json.dumps(rule)}"


def _entry(tool: Mapping[str, Any]) -> dict[str, Any]:
    """The declaration of a tool."""
    schema = _object_of(tool.get("inputSchema"))
    listed = _object_of(schema.get("properties"))
    names = [name for name in listed if ARGUMENT.fullmatch(name) and name != RESULT]
    entry: dict[str, Any] = {"args": names}
    listed_as_required = schema.get("required") or ()
    required = [name for name in names if name in listed_as_required]
    if required:
        entry["needs"] = [f"given({name})" for name in required]
    if _only_reads(tool):
        entry["reads"] = True
    return entry


def _object_of(value: Any) -> Mapping[str, Any]:
    """A value that should be an object; an empty one if it is not."""
    return value if isinstance(value, Mapping) else {}


def _only_reads(tool: Mapping[str, Any]) -> bool:
    return _object_of(tool.get("annotations")).get("readOnlyHint") is True


def _may_destroy(tool: Mapping[str, Any]) -> bool:
    """True unless a tool says otherwise: without hints, MCP takes it for destructive."""
    hints = _object_of(tool.get("annotations"))
    return not _only_reads(tool) and hints.get("destructiveHint") is not False
