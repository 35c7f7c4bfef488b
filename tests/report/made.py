"""Comparisons made by hand."""

from __future__ import annotations

from rpms.paper.condition import CONDITIONS
from rpms.paper.episode import Ending
from rpms.report.comparison import Comparison
from rpms.report.outcomes import Results
from rpms.store.episodes import EpisodeRow, MissingRow

TYPES = {
    "look_at_obj_in_light": 18,
    "pick_and_place_simple": 24,
    "pick_clean_then_place_in_recep": 31,
    "pick_cool_then_place_in_recep": 21,
    "pick_heat_then_place_in_recep": 23,
    "pick_two_obj_and_place": 17,
}
PAPER_WON = {
    "baseline": (10, 8, 9, 9, 7, 5),
    "memory-only": (2, 17, 12, 11, 6, 7),
    "rules-only": (6, 18, 13, 13, 12, 6),
    "full": (12, 19, 17, 10, 15, 7),
}
"""Wins by type that give the paper's percentages."""


def row(
    task: str, kind: str, ending: str = "", score: float = 0.0, steps: int = 0, error: str = ""
) -> EpisodeRow:
    """An episode in numbers; without an ending, a task that nobody has played."""
    if not ending:
        return MissingRow(task, kind)
    return EpisodeRow(task, kind, Ending(ending), score, steps, 0, 0, 0, 0, error=error)


def results(name: str, wins: list[bool], **more) -> Results:
    rows = {
        f"t{number}": row(
            f"t{number}", "some_type", "won" if win else "out of steps", float(win), 10
        )
        for number, win in enumerate(wins)
    }
    return Results(name, rows, **more)


def switches(name: str, **more) -> dict[str, object]:
    condition = CONDITIONS[name]
    return {
        "rules": condition.rules,
        "memory": condition.memory,
        "arbitration": "hard+soft",
        "state_filter": True,
        **more,
    }


def paper() -> Comparison:
    """Outcomes with the paper's counts, by type and condition."""
    conditions = {}
    for name, wins in PAPER_WON.items():
        rows = {}
        for (kind, count), won in zip(TYPES.items(), wins, strict=True):
            for number in range(count):
                task = f"{kind}/{number}"
                win = number < won
                rows[task] = row(
                    task, kind, "won" if win else "out of steps", float(win), 14 if win else 50
                )
        conditions[name] = Results(
            name, rows, switches=switches(name), protocol={"world": "alfworld"}
        )
    return Comparison(conditions)
