"""RPMS: rules, memory and a deterministic belief for LLM agents in closed text worlds."""

__version__ = "0.1.0"
