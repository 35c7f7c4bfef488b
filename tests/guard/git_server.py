"""Where the public MCP server is that the guard's proxy is tried with."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path


def server() -> str | None:
    """The command, beside the interpreter or on the path; None where it is not installed."""
    return shutil.which("mcp-server-git", path=str(Path(sys.executable).parent)) or shutil.which("mcp-server-git")
