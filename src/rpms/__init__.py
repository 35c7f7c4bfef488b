"""RPMS: rules, memory and a deterministic belief for LLM agents in closed text worlds."""

from __future__ import annotations

TYPE_CHECKING = (
    False  # as type checkers know it, without the import that every start would wait for
)
if TYPE_CHECKING:
    from rpms.agent import Agent

__version__ = "0.1.0"
__all__ = ["Agent", "__version__"]


def __getattr__(name: str) -> object:
    """Import the agent when it is first asked for: `import rpms` itself loads nothing."""
    if name == "Agent":
        from rpms.agent import Agent  # noqa: PLC0415

        return Agent
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
