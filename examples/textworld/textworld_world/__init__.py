"""TextWorld: games of its own generator, each made from a kind and a seed."""

from .world import world

__all__ = ["world"]
