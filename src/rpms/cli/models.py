"""`rpms models`: which models there are, and whether one answers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from rpms.cli.screen import make_console, say
from rpms.models.accounting import parse_price
from rpms.models.catalogue import ModelOptions, open_model
from rpms.models.check import check_model
from rpms.models.patience import Patience
from rpms.models.providers import FROM_MENU, Backend, all_available, parse_model_name
from rpms.store.packed_answers import PackedAnswers, open_answers, pack, shipped_records

app = typer.Typer(help="List the models that can be used, or check that one answers.", invoke_without_command=True)


@app.callback()
def list_models(context: typer.Context) -> None:
    """List the providers, and what is missing before each can be used."""
    if context.invoked_subcommand is not None:
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("--model", "ready", "because"):
        table.add_column(heading, overflow="fold")
    for row in all_available():
        ready = Text("yes", style="green") if row.ready else Text("no", style="dim")
        table.add_row(Text(row.provider.form), ready, Text(row.why))
    make_console().print(table)
    for name, record in shipped_records().items():
        say(f"replay/{name} ships with this package: {record.line}")


@app.command("check")
def check(
    name: Annotated[str, typer.Argument(help="The model, written as for --model.")],
    base_url: Annotated[str | None, typer.Option(help="Where its server is.")] = None,
    price: Annotated[str | None, typer.Option(help="US dollars per million tokens: IN,OUT[,CACHED].")] = None,
) -> None:
    """Make one small request; report latency, tokens, cost and whether the answer has the right form."""
    known = parse_price(price) if price else None
    provider = parse_model_name(name).provider
    if provider.backend is Backend.REPLAY:
        store = open_answers(Path(parse_model_name(name).rest))
        told = store.heading.line if isinstance(store, PackedAnswers) else f"{len(store):,} recorded answers"
        say(f"{name}: {told}; answers only what was asked then")
        return
    if provider.backend in FROM_MENU or provider.backend is Backend.PLANNER:
        say(f"{name}: ready, nothing to check; {provider.what}")
        return
    # someone is waiting to see whether it works: no patience with what does not
    model = open_model(name, ModelOptions(base_url=base_url, patience=Patience(tries=2, timeout=60.0)))
    try:
        for line in check_model(model, known):
            say(line)
    finally:
        model.close()


@app.command("pack")
def pack_record(
    folder: Annotated[Path, typer.Argument(help="Answers that `--record FOLDER` kept.", show_default=False)],
    file: Annotated[Path, typer.Argument(help="The file to write, NAME.answers.xz.", show_default=False)],
    about: Annotated[str, typer.Option(help="What was played, for whoever replays it.")] = "",
) -> None:
    """Put recorded answers into one small file, without their questions; `--model replay/FILE` plays from it."""
    say(f"{file}: {pack(folder, file, about).line}")
