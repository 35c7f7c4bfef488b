"""`rpms learn`: play seen tasks and keep what they teach."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import typer

from rpms.cli import choices
from rpms.cli.resources import Resources
from rpms.cli.screen import complain, make_console
from rpms.core.condition import LATER, named_condition
from rpms.core.errors import InputError
from rpms.learn.rounds import LearningPlan, Round, continued, learn, learned, round_folder
from rpms.models.providers import FROM_MENU, Backend, parse_model_name
from rpms.play.plan import plan_run
from rpms.play.progress import progress
from rpms.play.run import Interrupted, Listener
from rpms.play.settings import Settings
from rpms.store.runs import RunFolder
from rpms.worlds.registry import find_world

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
    choices.refuse_choosing_without_menu(enforcement, model)
    tasks, setting = settings.tasks(found, choices.make_setting(found, resources.data, engine, option))
    named, player = resources.model(model, world, settings), resources.player()
    known = resources.price_of(model)
    meter = resources.meter({model: known})
    terms = choices.terms_of(settings, found, model, resources.base_url)
    terms["open_reader"] = resources.reader(world, settings)
    terms["condition"] = first
    plan = LearningPlan(
        plan_run(found, model, named, split=settings.split, tasks=tasks, setting=setting, **terms),
        rounds,
        first=first,
        later=after_it,
        start=choices.memory_of(settings, found, model) if settings.memory else None,
        audit=audit,
        harvest=settings.harvesting,
        words=(named if meter is None else meter.watching(named, known)) if _words_lessons(lessons, model) else None,
    )
    if go_on:
        plan = continued(plan, out)
    if audit and not (after_it.memory and plan.before + rounds > 1):
        raise InputError("--audit needs a round that plays with a memory: --rounds 2 or more, with --later full")
    resources.check(named, begun=RunFolder(round_folder(out, plan.before + 1)).begun)
    choices.note_idle_parts(found, enforcement)
    choices.note_free_actions(enforcement, model)
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
