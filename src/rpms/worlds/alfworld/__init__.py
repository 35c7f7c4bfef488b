"""ALFWorld: household games as text."""

from rpms.worlds.alfworld.world import world

__all__ = ["world"]
