"""ALFWorld games without a download: the generator, its proof, the builtin set, and the listing of any folder."""

from __future__ import annotations

from rpms.worlds.alfworld.games.builtin import (
    BUILTIN,
    LARGE,
    builtin_game,
    builtin_ids,
    builtin_walkthrough,
    load_builtin,
    save_builtin,
)
from rpms.worlds.alfworld.games.domain import DIALECTS, Dialect
from rpms.worlds.alfworld.games.goals import TASK_TYPES
from rpms.worlds.alfworld.games.make import MadeGame, MadeGames, make_game, make_games
from rpms.worlds.alfworld.games.tasks import builtin_tasks, list_tasks, load_task

__all__ = [
    "BUILTIN",
    "DIALECTS",
    "LARGE",
    "TASK_TYPES",
    "Dialect",
    "MadeGame",
    "MadeGames",
    "builtin_game",
    "builtin_ids",
    "builtin_tasks",
    "builtin_walkthrough",
    "list_tasks",
    "load_builtin",
    "load_task",
    "make_game",
    "make_games",
    "save_builtin",
]
