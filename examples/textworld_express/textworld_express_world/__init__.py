"""TextWorldExpress, the third world: eight small games of others."""

from textworld_express_world.world import world

__all__ = ["world"]
