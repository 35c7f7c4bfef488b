"""A guard for tool-calling agents: the same core, for JSON tool calls, with adapters for
frameworks.
"""

from rpms.guard.call_facts import Look, Unknown
from rpms.guard.calls import USER, Allow, Ask, Call, Modify, Refuse, Ruling, ToolManual, Warn
from rpms.guard.functions import CallRefused, guarded
from rpms.guard.guard import Guard
from rpms.guard.tool_manuals import find_tool_mistakes, open_tool_manual, read_tool_manual

__all__ = [
    "USER",
    "Allow",
    "Ask",
    "Call",
    "CallRefused",
    "Guard",
    "Look",
    "Modify",
    "Refuse",
    "Ruling",
    "ToolManual",
    "Unknown",
    "Warn",
    "find_tool_mistakes",
    "guarded",
    "open_tool_manual",
    "read_tool_manual",
]
