"""Toolbox: tickets about files on hosts, worked off with tools that say little when they fail."""

from toolbox_world.world import world

__all__ = ["world"]
