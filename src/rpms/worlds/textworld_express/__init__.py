"""TextWorldExpress, the third world: eight small games of others."""

from rpms.worlds.textworld_express.world import world

__all__ = ["world"]
