"""`rpms learn`: play seen tasks and keep what they teach."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rpms.cli import options
from rpms.cli.screen import complain, make_console
from rpms.core.condition import LATER, named_condition
from rpms.core.errors import InputError
from rpms.learn.rounds import LearningPlan, Round, learn, learned
from rpms.models.accounting import parse_price, price_of
from rpms.models.base import Decoding
from rpms.models.catalogue import ModelOptions
from rpms.play.answering import NamedModel
from rpms.play.progress import progress
from rpms.play.run import Interrupted, Listener
from rpms.play.threads import Threads
from rpms.worlds.registry import find_world


def learn_split(
    world: options.WorldName,
    out: Annotated[Path, typer.Option(help="The memory to write, such as memory.jsonl; rounds are kept beside it.")],
    split: options.SplitName = None,
    rounds: Annotated[int, typer.Option(help="How often to play the split.")] = 3,
    task: options.TaskNames = None,
    limit: Annotated[int | None, typer.Option(help="Only the first so many tasks.")] = None,
    per_task: options.PerTask = None,
    sample: options.Sample = None,
    data: options.DataFolder = None,
    engine: options.EngineName = "native",
    model: options.ModelName = "planner",
    base_url: options.BaseUrl = None,
    later: Annotated[
        str, typer.Option(help="Condition of the rounds after the first, which is rules-only: full or rules-only.")
    ] = "full",
    preset: options.PresetName = "paper",
    enforce: options.Enforce = None,
    workers: Annotated[int | None, typer.Option(help="Episodes at once; by default 1, on a cluster its CPUs.")] = None,
    ray: Annotated[bool, typer.Option("--ray", help="Play on a Ray cluster.")] = False,
    record: Annotated[
        Path | None, typer.Option(help="Keep every answer in this folder, and ask nothing twice.")
    ] = None,
    steps: options.Steps = None,
    max_tokens: options.MaxTokens = None,
    temperature: Annotated[float, typer.Option(min=0, help="0 is greedy; above, each round samples anew.")] = 0.0,
    seed: Annotated[int, typer.Option(help="For --sample and for models that sample; recorded.")] = 0,
    price: Annotated[str | None, typer.Option(help="US dollars a million tokens: IN,OUT[,CACHED].")] = None,
    option: options.WorldOptions = None,
) -> None:
    """Play a split round by round, keep snippets, lessons and schemas, and freeze the memory they make."""
    found = find_world(world)
    if later not in LATER:
        raise InputError(f"--later {later!r}: choose {' or '.join(LATER)}")
    enforcement = options.make_enforcement(preset, enforce)
    options.refuse_choosing_without_menu(found, enforcement, model)
    setting = options.make_setting(found, data, engine, option)
    tasks, setting = options.choose_tasks(found, split, setting, task, per_task=per_task, sample=sample, seed=seed)
    plan = LearningPlan(
        found,
        model,
        NamedModel(model, world, ModelOptions(base_url=base_url), record.absolute() if record else None),
        rounds=rounds,
        split=split,
        tasks=tuple(tasks),
        limit=limit,
        setting=setting,
        decoding=Decoding(max_tokens or found.max_tokens, temperature, seed=seed if temperature else None),
        step_budget=steps,
        seed=seed,
        later=named_condition(later),
        enforcement=enforcement,
    )
    options.note_idle_parts(found, enforcement)
    options.note_free_actions(enforcement, model)
    console = make_console()
    known = parse_price(price) if price else price_of(model)

    def listen(number: int) -> Listener:
        console.print(f"round {number} of {rounds}", markup=False)
        return progress(console, known)

    def tell(result: Round) -> None:
        for line in learned([result]):
            console.print(line, markup=False, soft_wrap=True)

    try:
        engine_maker = options.on_ray() if ray else Threads
        results = learn(plan, out, workers, listen, engine=engine_maker, after=tell, empty=False)
    except Interrupted as stop:
        complain(f"rpms: {stop}")
        raise typer.Exit(130) from None
    last = results[-1]
    console.print(f"{last.entries} entries in {out}, frozen: sha256 {last.hash[:16]}…", markup=False, soft_wrap=True)
