"""Games of TextWorld's generator: a kind and a seed make the same game on every machine."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from rpms.worlds.base import Task

SPLITS = {"train": range(1, 31), "test": range(501, 531)}
"""The seeds of each split. Each kind is made with each seed."""
KINDS = ("treasure", "coin", "custom")
_HUNTS = (
    ("easy", 5, 2),
    ("easy", 5, 4),
    ("medium", 10, 3),
    ("medium", 10, 6),
    ("medium", 10, 8),
    ("hard", 20, 3),
)
"""Mode, rooms and length of TextWorld's treasure hunts of levels 3, 8, 12, 15, 18 and 21."""
REVERSE = {"north": "south", "south": "north", "east": "west", "west": "east"}


def tasks(split: str) -> tuple[Task, ...]:
    """Every kind with every seed of a split."""
    games = [(kind, str(seed)) for seed in SPLITS[split] for kind in KINDS]
    return tuple(
        Task(f"{kind}-{seed}", split, kind, {"kind": kind, "seed": seed}) for kind, seed in games
    )


@lru_cache(maxsize=256)
def make(kind: str, seed: int) -> Any:
    """A TextWorld game. The seed also says how large it is."""
    import textworld  # noqa: PLC0415  only playing needs it
    from textworld.challenges.tw_treasure_hunter import treasure_hunter  # noqa: PLC0415

    options = textworld.GameOptions()
    options.seeds = seed
    options.grammar.only_last_action = True
    options.kb = _logic(treasure_hunter.KB_PATH if kind == "treasure" else None)
    if kind == "treasure":
        mode, options.nb_rooms, options.quest_length = _HUNTS[seed % len(_HUNTS)]
        return treasure_hunter.make_game(mode, options)
    if kind == "coin":
        return _coin(options, length=3 + seed % 4)
    options.nb_rooms, options.nb_objects, options.quest_length = (
        3 + seed % 4,
        8 + seed % 7,
        2 + seed % 5,
    )
    return textworld.generator.make_game(options)


@lru_cache
def _logic(folder: str | None) -> Any:
    """The rules and words of games, read once: TextWorld reads them anew for every game, which
    takes longest.
    """
    from textworld.generator import KnowledgeBase  # noqa: PLC0415

    return KnowledgeBase.load(folder)


def _coin(options: Any, length: int) -> Any:
    """A coin at the end of a chain of rooms, with a dead end beside each (TextWorld's own coin
    game needs Inform 7).
    """
    from textworld import GameMaker  # noqa: PLC0415
    from textworld.generator.game import Event, Quest  # noqa: PLC0415

    options.grammar.allowed_variables_numbering = True
    maker, dice = GameMaker(options), options.rngs["map"]

    def attach(room: Any) -> Any:
        free = [way for way in REVERSE if room.exits[way].dest is None]
        way = free[dice.randint(len(free))]
        other = maker.new_room()
        maker.connect(room.exits[way], other.exits[REVERSE[way]])
        return other

    rooms = [maker.new_room()]
    for _ in range(length):
        rooms.append(attach(rooms[-1]))
    for room in rooms[:-1]:
        attach(room)
    maker.set_player(rooms[0])
    coin = maker.new(type="o", name="coin")
    rooms[-1].add(coin)
    maker.quests = [
        Quest(win_events=[Event(conditions={maker.new_fact("in", coin, maker.inventory)})])
    ]
    game = maker.build(validate=False)
    game.objective = "Your objective is to pick up the coin."
    return game
