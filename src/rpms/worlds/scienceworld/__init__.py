"""ScienceWorld, the second world: elementary science as text."""

from rpms.worlds.scienceworld.world import world

__all__ = ["world"]
