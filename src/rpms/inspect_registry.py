"""Registry that Inspect finds under the name `rpms`: it imports this module when a
configuration names it.
"""

from rpms.envs.inspect_tasks import done, player, score, world
from rpms.guard.inspect import Notices, guard

__all__ = ["Notices", "done", "guard", "player", "score", "world"]
