"""τ²-bench's telecom domain in solo mode: a ticket, the tools of the agent and those of the
phone.
"""

from tau2_telecom_world.world import world

__all__ = ["world"]
