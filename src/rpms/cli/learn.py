"""`rpms learn`: play seen tasks and keep what they teach; `rpms insights`: draw from runs what expel plays with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from rpms.cli import options, playing
from rpms.cli.options import Resources
from rpms.cli.screen import complain, make_console, say
from rpms.core.condition import LATER, named_condition
from rpms.core.errors import InputError
from rpms.foreign.files import is_there
from rpms.foreign.shown import one_line
from rpms.learn.insights import gather_experience
from rpms.learn.rounds import LearningPlan, Round, continued, learn, learned, round_folder
from rpms.models.base import Decoding
from rpms.models.catalogue import ModelOptions
from rpms.models.providers import FROM_MENU, Backend, parse_model_name
from rpms.models.windows import context_window
from rpms.play.epochs import trial_folder
from rpms.play.plan import NamedModel
from rpms.play.progress import progress
from rpms.play.run import Interrupted, Listener
from rpms.play.settings import Settings
from rpms.store.experience import write_experience
from rpms.store.runs import PROTOCOL, RunFolder
from rpms.worlds.registry import find_world, world_named

USUAL_MASK = 0.2
"""Share of memories that an audit hides by default: small, so that a round still plays as usual."""


def _words_lessons(lessons: str, model: str) -> bool:
    """True if the model words lessons; one that reads no text is refused."""
    if lessons not in ("seen", "model"):
        raise InputError(f"--lessons {lessons!r}: choose seen or model")
    if lessons == "model" and parse_model_name(model).provider.backend in (Backend.PLANNER, *FROM_MENU):
        raise InputError(f"--lessons model: {model} writes no text; name an LLM with --model")
    return lessons == "model"


def _first_condition(settings: Settings) -> str:
    """Condition of the first round; one that uses memory needs a memory to start from."""
    name = settings.condition or "rules-only"
    if settings.memory is None and named_condition(name).memory:
        raise InputError(f"--condition {name}: the first round has no memory; give one with --memory")
    return name


def learn_split(
    *,
    world: str,
    out: Path,
    rounds: int,
    engine: str,
    model: str,
    later: str,
    option: list[str] | None,
    go_on: bool,
    audit: bool,
    lessons: str,
    resources: Resources,
    settings: Settings,
) -> None:
    """`rpms learn`, once its options are read."""
    found = find_world(world)
    if later not in LATER:
        raise InputError(f"--later {later!r}: choose {' or '.join(LATER)}")
    if go_on and settings.memory:
        raise InputError("--continue starts from the memory in --out, --memory from another: give only one of them")
    if audit and settings.mask is None:
        settings = replace(settings, mask=USUAL_MASK)
    names = (_first_condition(settings), later)
    first, after_it = (replace(settings, condition=name).condition_value() for name in names)
    enforcement = first.enforcement
    options.refuse_choosing_without_menu(enforcement, model)
    tasks, setting = settings.tasks(found, options.make_setting(found, resources.data, engine, option))
    named, player = resources.model(model, world, settings), resources.player()
    known = resources.price_of(model)
    meter = resources.meter({model: known})
    window = context_window(model, settings.context, resources.base_url).tokens
    plan = LearningPlan(
        settings.plan(found, model, named, window, tasks=tasks, setting=setting, condition=first),
        rounds,
        first=first,
        later=after_it,
        start=options.memory_of(settings, found, model) if settings.memory else None,
        audit=audit,
        harvest=settings.harvesting,
        words=(named if meter is None else meter.watching(named, known)) if _words_lessons(lessons, model) else None,
    )
    if go_on:
        plan = continued(plan, out)
    if audit and not (after_it.memory and plan.before + rounds > 1):
        raise InputError("--audit needs a round that plays with a memory: --rounds 2 or more, with --later full")
    resources.check(named, begun=RunFolder(round_folder(out, plan.before + 1)).begun)
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
        results = learn(
            plan, out, resources.workers, listen, engine=player, after=tell, empty=False, price=known, meter=meter
        )
    except Interrupted as stop:
        complain(f"rpms: {stop}")
        raise typer.Exit(130) from None
    last = results[-1]
    console.print(f"{last.entries} entries in {out}, frozen: sha256 {last.hash[:16]}…", markup=False, soft_wrap=True)


def gather_insights(
    runs: Annotated[list[Path], typer.Argument(help="Run folders of one world; their later trials are read too.")],
    out: Annotated[Path, typer.Option(help="The file to write, such as expel.jsonl.")],
    model: playing.ModelName,
    base_url: playing.BaseUrl = None,
    record: Annotated[
        Path | None, typer.Option(help="Keep every answer in this folder, so that it is asked for only once.")
    ] = None,
    context: Annotated[int | None, typer.Option(help="The model's context window, in tokens.", min=256)] = None,
    max_tokens: Annotated[int | None, typer.Option(help="The longest answer, in tokens.", min=1)] = None,
) -> None:
    """Let a model draw insights from recorded runs; `--agent expel` plays with these and with the won episodes.

    Use runs of tasks that you will not test on. Runs of `--agent reflexion` are best: a failure and a success at the
    same task teach most.
    """
    if parse_model_name(model).provider.backend in (Backend.PLANNER, *FROM_MENU):
        raise InputError(f"{model} writes no text; name an LLM with --model")
    if is_there(out):
        raise InputError(f"{out}: exists already; choose another file or remove it")
    folders = [RunFolder(each) for folder in runs for each in _trials(folder)]
    name = str(folders[0].protocol.settings.get("world", ""))
    world = world_named(name, folders[0].folder)
    answering = NamedModel(model, name, ModelOptions(base_url=base_url), record.absolute() if record else None)()
    try:
        decoding = Decoding(max_tokens=max_tokens or world.max_tokens)
        window = context_window(model, context, base_url).tokens
        found = gather_experience(folders, name, answering, decoding, window, lambda line: complain(f"note: {line}"))
    finally:
        answering.close()
    if not found.trajectories:
        raise InputError("no episode of these runs was won, so there is nothing to learn from")
    write_experience(out, found)
    for insight in found.insights:
        say(f"{insight.votes:3d}  {one_line(insight.text)}")
    say(f"{len(found.insights)} insights and {len(found.trajectories)} trajectories are in {out}")


def _trials(folder: Path) -> list[Path]:
    """A run, and its later trials where it has any."""
    found = [folder]
    while is_there((later := trial_folder(folder, len(found))) / PROTOCOL):
        found.append(later)
    return found
