"""`rpms export`: runs as tables for other programs; `rpms convert`: run folders of earlier versions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rpms.cli.screen import complain, say
from rpms.report.export import FORMS, TABLES, export
from rpms.store.old_episodes import convert_run


def export_runs(
    runs: Annotated[list[Path], typer.Argument(help="Run folders, or a study's folder.", show_default=False)],
    to: Annotated[str, typer.Option(help=f"The format: {', '.join(FORMS)}. parquet needs `rpms\\[parquet]`.")] = "csv",
    out: Annotated[
        Path | None, typer.Option(help="The folder to write; by default export/FORMAT in the first folder.")
    ] = None,
    tables: Annotated[str, typer.Option(help="The tables to write, separated by commas.")] = ",".join(TABLES),
) -> None:
    """Write the episodes, steps and recalled memories of runs as tables; a run may still be going on."""
    names = tuple(dict.fromkeys(name.strip() for name in tables.split(",") if name.strip()))
    written = export(runs, to, out or runs[0] / "export" / to, names)
    for note in written.notes:
        complain(f"note: {note}")
    for name, lines in written.files.items():
        say(f"{written.folder / name}: {lines:,} lines")


def convert(
    runs: Annotated[list[Path], typer.Argument(help="Run folders that an earlier version wrote.", show_default=False)],
) -> None:
    """Write the episodes of run folders anew in the present form; what was converted already stays as it is."""
    for folder in runs:
        say(f"{folder}: {convert_run(folder):,} episodes converted")
