"""Properties that every world must have: `rpms worlds check`, and the same for a world's own tests."""

from rpms.conformance.check import Finding, Status, check_world
from rpms.conformance.properties import PROPERTIES

__all__ = ["PROPERTIES", "Finding", "Status", "check_world"]
