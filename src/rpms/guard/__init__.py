"""A guard for tool-calling agents: the same core, for JSON tool calls, with adapters for frameworks."""

from rpms.core.tools import Call, Look, ToolBelief, ToolManual, Unknown
from rpms.guard.guard import USER, Guard
from rpms.guard.rulings import Allow, Modify, Refuse, Ruling, Warn
from rpms.store.tool_manuals import find_tool_mistakes, open_tool_manual, read_tool_manual

__all__ = [
    "USER",
    "Allow",
    "Call",
    "Guard",
    "Look",
    "Modify",
    "Refuse",
    "Ruling",
    "ToolBelief",
    "ToolManual",
    "Unknown",
    "Warn",
    "find_tool_mistakes",
    "open_tool_manual",
    "read_tool_manual",
]
