"""ALFWorld games without a download: the generator, its proof, the builtin set, and the listing of any folder."""

from __future__ import annotations

from rpms.worlds.alfworld.games.builtin import (
    BUILTIN,
    LARGE,
    TRAIN,
    builtin_game,
    builtin_ids,
    builtin_walkthrough,
    load_builtin,
    save_builtin,
)
from rpms.worlds.alfworld.games.domain import DIALECTS, Dialect
from rpms.worlds.alfworld.games.goals import TASK_TYPES
from rpms.worlds.alfworld.games.make import MadeGame, MadeGames, make_game, make_games
from rpms.worlds.alfworld.games.reword import known_dialect
from rpms.worlds.alfworld.games.tasks import (
    builtin_tasks,
    is_marked_unsolvable,
    list_tasks,
    load_game,
    load_task,
    task_data,
    type_of,
)

__all__ = [
    "BUILTIN",
    "DIALECTS",
    "LARGE",
    "TASK_TYPES",
    "TRAIN",
    "Dialect",
    "MadeGame",
    "MadeGames",
    "builtin_game",
    "builtin_ids",
    "builtin_tasks",
    "builtin_walkthrough",
    "is_marked_unsolvable",
    "known_dialect",
    "list_tasks",
    "load_builtin",
    "load_game",
    "load_task",
    "make_game",
    "make_games",
    "save_builtin",
    "task_data",
    "type_of",
]
