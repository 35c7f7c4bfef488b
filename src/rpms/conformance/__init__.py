"""Properties that every world must have: `rpms worlds check`, and the same for a world's own tests."""

from rpms.conformance.check import PROPERTIES, Finding, Status, check_world

__all__ = ["PROPERTIES", "Finding", "Status", "check_world"]
