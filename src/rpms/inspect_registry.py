"""What Inspect finds under the name `rpms`: it imports this module when a configuration names something of it."""

from rpms.guard.inspect import guard

__all__ = ["guard"]
