"""`rpms learn`: play seen tasks and keep what they teach."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from rpms.cli import options
from rpms.cli.knobs import with_settings
from rpms.cli.run import model_options
from rpms.cli.screen import complain, make_console
from rpms.core.condition import LATER
from rpms.core.errors import InputError
from rpms.learn.rounds import LearningPlan, Round, continued, learn, learned
from rpms.models.accounting import parse_price, price_of
from rpms.models.providers import FROM_MENU, Backend, parse_model_name
from rpms.play.answering import NamedModel
from rpms.play.progress import progress
from rpms.play.run import Interrupted, Listener
from rpms.play.settings import Settings
from rpms.play.threads import Threads
from rpms.worlds.registry import find_world

USUAL_MASK = 0.2
"""How many memories an audit hides where nothing else is said: little enough that a round still plays as usual."""


def _words_lessons(lessons: str, model: str) -> bool:
    """Whether the model words lessons; one that reads no text is refused."""
    if lessons not in ("seen", "model"):
        raise InputError(f"--lessons {lessons!r}: choose seen or model")
    if lessons == "model" and parse_model_name(model).provider.backend in (Backend.PLANNER, *FROM_MENU):
        raise InputError(f"--lessons model: {model} writes no text; name an LLM with --model")
    return lessons == "model"


@with_settings(without=("condition",))
def learn_split(
    world: options.WorldName,
    out: Annotated[Path, typer.Option(help="The memory to write, such as memory.jsonl; rounds are kept beside it.")],
    rounds: Annotated[int, typer.Option(help="How often to play the split.")] = 3,
    data: options.DataFolder = None,
    engine: options.EngineName = "native",
    model: options.ModelName = "planner",
    base_url: options.BaseUrl = None,
    later: Annotated[
        str, typer.Option(help="Condition of the rounds after the first, which is rules-only: full or rules-only.")
    ] = "full",
    workers: Annotated[int | None, typer.Option(help="Episodes at once; by default 1, on a cluster its CPUs.")] = None,
    ray: Annotated[bool, typer.Option("--ray", help="Play on a Ray cluster.")] = False,
    record: Annotated[
        Path | None, typer.Option(help="Keep every answer in this folder, and ask nothing twice.")
    ] = None,
    price: Annotated[str | None, typer.Option(help="US dollars a million tokens: IN,OUT[,CACHED].")] = None,
    max_cost: options.MaxCost = None,
    max_requests: options.MaxRequests = None,
    max_time: options.MaxTime = None,
    option: options.WorldOptions = None,
    go_on: Annotated[
        bool, typer.Option("--continue", help="Go on from the frozen memory in --out: rounds are counted on.")
    ] = False,
    audit: Annotated[
        bool,
        typer.Option("--audit", help="Set aside what turns out harmful; hides memories (--mask 0.2) to find out."),
    ] = False,
    lessons: Annotated[
        str, typer.Option(help="Who words lessons: seen (what was seen, deterministic), or model, which is checked.")
    ] = "seen",
    *,
    settings: Settings,
) -> None:
    """Play a split round by round, keep snippets, lessons and schemas, and freeze the memory they make.

    With --memory, learning goes on from that memory; with --continue, from the one in --out.
    """
    found = find_world(world)
    if later not in LATER:
        raise InputError(f"--later {later!r}: choose {' or '.join(LATER)}")
    if go_on and settings.memory:
        raise InputError("--continue goes on from the memory in --out, --memory from another: give one of them")
    if audit and settings.mask is None:
        settings = replace(settings, mask=USUAL_MASK)
    first, after_it = (replace(settings, condition=name).condition_value() for name in ("rules-only", later))
    enforcement = first.enforcement
    options.refuse_choosing_without_menu(enforcement, model)
    tasks, setting = settings.tasks(found, options.make_setting(found, data, engine, option))
    named = NamedModel(model, world, model_options(base_url, settings), record.absolute() if record else None)
    known = parse_price(price) if price else price_of(model)
    meter = options.make_meter(max_cost, max_requests, max_time, {model: known})
    plan = LearningPlan(
        found,
        model,
        named,
        rounds=rounds,
        split=settings.split,
        tasks=tuple(tasks),
        setting=setting,
        decoding=settings.decoding(found),
        step_budget=settings.steps,
        seed=settings.seed or 0,
        first=first,
        later=after_it,
        sources=options.sources_of(settings, found, model, base_url),
        start=options.memory_of(settings, found, model) if settings.memory else None,
        audit=audit,
        method=settings.method(found).once("learning plays each task once a round"),
        words=(named if meter is None else meter.watching(named, known)) if _words_lessons(lessons, model) else None,
    )
    if go_on:
        plan = continued(plan, out)
    if audit and not (after_it.memory and plan.before + rounds > 1):
        raise InputError("--audit needs a round that plays with a memory: --rounds 2 or more, with --later full")
    options.note_idle_parts(found, enforcement)
    options.note_free_actions(enforcement, model)
    console = make_console()

    def listen(number: int) -> Listener:
        console.print(f"round {number} of {plan.before + rounds}", markup=False)
        return progress(console, known)

    def tell(result: Round) -> None:
        for line in learned([result]):
            console.print(line, markup=False, soft_wrap=True)

    try:
        engine_maker = options.on_ray() if ray else Threads
        results = learn(
            plan, out, workers, listen, engine=engine_maker, after=tell, empty=False, price=known, meter=meter
        )
    except Interrupted as stop:
        complain(f"rpms: {stop}")
        raise typer.Exit(130) from None
    last = results[-1]
    console.print(f"{last.entries} entries in {out}, frozen: sha256 {last.hash[:16]}…", markup=False, soft_wrap=True)
