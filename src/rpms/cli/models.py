"""`rpms models`: list the models, and check that one answers."""

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from rpms.cli.screen import make_console, say
from rpms.cli.shared_options import PriceOption
from rpms.logic.counting import counted
from rpms.models.accounting import cost, parse_price, price_of
from rpms.models.base import Decoding, Model, Request
from rpms.models.catalogue import (
    FROM_MENU,
    PROVIDERS,
    Backend,
    ModelOptions,
    available,
    open_model,
    parse_model_name,
)
from rpms.models.parsing import parse_answer
from rpms.models.patience import Patience
from rpms.paper.prompt import Budget, Layout, Part, make_block
from rpms.paper.selection import build
from rpms.report.table import TableCell, grid
from rpms.store.answers import PackedAnswers, open_answers, pack, shipped_records
from rpms.store.price import Price

app = typer.Typer(
    help="List the models that can be used, or check that one answers.", invoke_without_command=True
)


@app.callback()
def list_models(context: typer.Context) -> None:
    """List the providers, and what is missing before each can be used."""
    if context.invoked_subcommand is not None:
        return
    rows: list[Sequence[str | TableCell]] = []
    for provider in PROVIDERS.values():
        state = available(provider)
        rows.append((provider.form, ready_cell(ready=state.ready), state.why))
    make_console().print(grid(("--model", "ready", "because"), rows, words=3))
    for name, record in shipped_records().items():
        say(f"replay/{name} ships with this package: {record.line}")


def ready_cell(*, ready: bool) -> TableCell:
    """A cell that says if something can be used."""
    return TableCell("yes", style="green") if ready else TableCell("no", style="dim")


@app.command("check")
def check(
    name: Annotated[str, typer.Argument(help="The model, written as for --model.")],
    base_url: Annotated[str | None, typer.Option(help="Where its server is.")] = None,
    price: PriceOption = None,
) -> None:
    """Make one small request; report latency, tokens, cost and whether the answer has the right
    form.
    """
    own_price = parse_price(price) if price else None
    model_name = parse_model_name(name)
    provider = model_name.provider
    if provider.backend is Backend.REPLAY:
        store = open_answers(Path(model_name.rest))
        if isinstance(store, PackedAnswers):
            holds = store.heading.line
        else:
            holds = f"{len(store):,} recorded answers"
        say(f"{name}: {holds}; answers only what was asked then")
        return
    if provider.backend in FROM_MENU or provider.backend is Backend.PLANNER:
        say(f"{name}: ready, nothing to check; {provider.what}")
        return
    # someone is waiting to see whether it works: no patience with what does not
    reached_by = ModelOptions(base_url=base_url, patience=Patience(tries=2, timeout=60.0))
    with closing(open_model(name, reached_by)) as model:
        say("\n".join(check_model(model, own_price)))


@app.command("pack")
def pack_record(
    folder: Annotated[
        Path, typer.Argument(help="Answers that `--record FOLDER` kept.", show_default=False)
    ],
    file: Annotated[
        Path, typer.Argument(help="The file to write, NAME.answers.xz.", show_default=False)
    ],
    about: Annotated[str, typer.Option(help="What was played, for whoever replays it.")] = "",
) -> None:
    """Put recorded answers into one small file, without their questions; `--model replay/FILE`
    plays from it.
    """
    say(f"{file}: {pack(folder, file, about).line}")


_INSTRUCTION = (
    "Interact with a household to solve a task. Answer with one line `Thought: …` and one line"
    " `Action: …`."
)
_OBSERVATION = (
    "You are in a room. You see a closed drawer 1 and nothing else.",
    "Your task is to: open the drawer. Allowed actions: look, open drawer 1",
)


def check_model(model: Model, price: Price | None = None) -> tuple[str, ...]:
    """Ask once, with an obvious answer, and report line by line. Raises what the model raises."""
    blocks = (
        make_block(Part.INSTRUCTION, "", [_INSTRUCTION]),
        make_block(Part.OBSERVATION, "", _OBSERVATION),
    )
    prompt = build(blocks, Layout.CACHED, Budget())
    answer = model.answer(Request(prompt, Decoding(max_tokens=64), "check"))
    usage = answer.usage
    parsed = parse_answer(answer.text)
    paid = cost(usage, price or price_of(model.name))
    form = "as asked"
    if parsed.action is None:
        form = "no action found"
    elif parsed.repairs:
        form = f"understood after repair: {', '.join(parsed.repairs)}"
    return (
        f"model    {model.name}",
        f"latency  {usage.seconds:.2f} s, {counted(usage.requests, 'request')}",
        (
            f"tokens   {usage.prompt_tokens} prompt, {usage.cached_tokens} cached,"
            f" {usage.completion_tokens} completion"
        ),
        f"cost     {'unknown (give --price)' if paid is None else f'${paid:.6f}'}",
        f"format   {form}",
        f"action   {parsed.action or '-'}",
        *(f"note     {note}" for note in answer.notes),
    )
