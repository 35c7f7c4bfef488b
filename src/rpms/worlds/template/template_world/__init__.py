"""A lighthouse: four rooms, a lamp in each, and a keeper with a duty."""

from .world import world

__all__ = ["world"]
