"""τ²-bench's telecom domain in solo mode: a ticket, the tools of the agent and those of the
phone.
"""

from rpms.worlds.tau2_telecom.world import world

__all__ = ["world"]
