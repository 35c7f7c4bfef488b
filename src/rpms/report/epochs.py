"""The table of epochs: by how much single runs of the same tasks differ."""

from __future__ import annotations

from rpms.report.labels import condition_label
from rpms.report.numbers import percent
from rpms.report.outcomes import Comparison
from rpms.report.table import DASH, Table, groups, line


def epochs_table(comparison: Comparison, *, with_published: bool = False) -> Table:
    """Success by epoch, pass^k and flip rate of every condition that was played more than once."""
    del with_published  # nobody has published such numbers for these tasks
    found = [(results, results.agreement) for results in comparison if results.agreement is not None]
    most = max(agreed.epochs for _, agreed in found)
    lines = [
        line(
            condition_label(results.name),
            str(agreed.epochs),
            percent(agreed.mean),
            f"{percent(min(agreed.rates))}–{percent(max(agreed.rates))}",
            *(percent(agreed.pass_hat(k)) if k <= agreed.epochs else DASH for k in range(2, most + 1)),
            percent(agreed.flip_rate),
            f"{agreed.flipped}/{agreed.tasks}",
        )
        for results, agreed in found
    ]
    left_out = [
        f"{condition_label(results.name)}: {agreed.left_out} tasks that an epoch lacks are left out of this table."
        for results, agreed in found
        if agreed.left_out
    ]
    return Table(
        "epochs",
        "The same tasks played several times. pass^k: how likely k attempts at a task are all won. Flip rate: how "
        "likely two attempts at a task end differently. In per cent; all other tables are of the first epoch.",
        ("Condition", "Epochs", "Mean", "Range", *(f"pass^{k}" for k in range(2, most + 1)), "Flip rate", "Flipped"),
        groups(lines),
        tuple(left_out),
    )
