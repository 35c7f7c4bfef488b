"""`rpms learn`: a memory from rounds of a split; `rpms insights`: experience for expel."""

from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from rpms.cli import options
from rpms.cli.panels import takes_options
from rpms.cli.resources import Resources
from rpms.cli.screen import complain, make_console, say
from rpms.cli.setting_options import SettingOptions
from rpms.cli.shared_options import (
    BaseUrlOption,
    EngineOption,
    ModelOption,
    RunsWorldOption,
    WorldArgument,
    WorldOptions,
)
from rpms.foreign.file_reader import is_there
from rpms.foreign.shown import one_line
from rpms.learning.insights import gather_experience
from rpms.learning.rounds import LearningDesign, Round, continued, learn, learned
from rpms.logic.errors import InputError
from rpms.models.base import Decoding
from rpms.models.catalogue import (
    FROM_MENU,
    Backend,
    ModelOptions,
    parse_model_name,
)
from rpms.models.windows import context_window
from rpms.paper.condition import LATER, Condition, named_condition
from rpms.play.design import NamedModel, OpenModel
from rpms.play.display import progress
from rpms.play.run import Listener, RunOptions
from rpms.play.settings import Settings
from rpms.play.trials import trial_folders
from rpms.store.expel_material import write_experience
from rpms.store.memories import round_folder
from rpms.store.runs import RunFolder
from rpms.worlds.registry import find_world, world_named


@takes_options(Resources, SettingOptions)
def learn_memory(
    resources: Resources,
    given: SettingOptions,
    world: WorldArgument,
    out: Annotated[
        Path,
        typer.Option(
            help="The memory to write, such as memory.jsonl; the rounds are kept beside it."
        ),
    ],
    rounds: Annotated[int, typer.Option(help="How many times to play the split.")] = 3,
    engine: EngineOption = "native",
    model: ModelOption = "planner",
    later: Annotated[
        str,
        typer.Option(
            help="Condition of the later rounds: full or rules-only. --condition is the first's."
        ),
    ] = "full",
    option: WorldOptions = None,
    go_on: Annotated[
        bool,
        typer.Option(
            "--continue", help="Continue from the frozen memory in --out with more rounds."
        ),
    ] = False,
    audit: Annotated[
        bool,
        typer.Option(
            "--audit",
            help="Set aside memories that do harm; some are hidden (--mask 0.2) to find out which.",
        ),
    ] = False,
    lessons: Annotated[
        str,
        typer.Option(
            help="Who words lessons: seen (taken from what was seen), or model (then checked)."
        ),
    ] = "seen",
) -> None:
    """Play a split round by round and write what it teaches as a frozen memory: snippets, lessons
    and schemas.

    With --memory, learning starts from that memory; with --continue, from the one in --out.
    """
    settings = given.read()
    options.refuse_folders(out)
    found = find_world(world)
    _check_learning(settings, later, go_on=go_on)
    if audit and settings.mask is None:
        settings = replace(settings, mask=_AUDITED)
    first = replace(settings, condition=settings.condition or "rules-only").condition_value()
    after_it = replace(settings, condition=later).condition_value()
    options.require_menu(first.enforcement, model)
    tasks, setting = settings.tasks(
        found, options.make_setting(found, resources.data, engine, option)
    )
    named = resources.model(model, settings)
    price = resources.price_of(model)
    run_options = RunOptions(
        runner=resources.player(), price=price, meter=resources.meter({model: price})
    )
    window = context_window(model, settings.context, resources.base_url).tokens
    design = LearningDesign(
        settings.design(found, model, named, window, tasks=tasks, setting=setting, condition=first),
        rounds,
        first=first,
        later=after_it,
        start=options.memory_of(settings, found, model) if settings.memory else None,
        audit=audit,
        harvest=settings.harvesting,
        words=_wording(lessons, named, run_options),
    )
    if go_on:
        design = continued(design, out)
    if audit:
        _require_memory_to_audit(after_it, design.before + rounds)
    resources.check(named, begun=RunFolder(round_folder(out, design.before + 1)).begun)
    options.note_idle_parts(found, [first.enforcement], model)
    console = make_console()

    def listen(number: int) -> Listener:
        say(f"round {number} of {design.before + rounds}")
        return progress(console, price)

    def tell(result: Round) -> None:
        say("\n".join(learned([result])))

    *_, last = learn(design, out, resources.workers, listen, after=tell, empty=False, **run_options)
    say(f"{last.entries} entries in {out}, frozen: sha256 {last.hash[:16]}…")


_AUDITED = 0.2
"""Share of memories that --audit hides: small, so that a round still plays as usual."""


def _require_memory_to_audit(later: Condition, rounds: int) -> None:
    """Refuse to audit if no round plays with a memory."""
    if not later.memory or rounds < 2:
        raise InputError(
            "--audit needs a round that plays with a memory: --rounds 2 or more, with --later full"
        )


def _check_learning(settings: Settings, later: str, *, go_on: bool) -> None:
    """Refuse conditions and memories that learning cannot begin with."""
    if later not in LATER:
        raise InputError(f"--later {later!r}: choose {' or '.join(LATER)}")
    if go_on and settings.memory:
        raise InputError(
            "--continue starts from the memory in --out, --memory from another: give only one of"
            " them"
        )
    first = settings.condition or "rules-only"
    if settings.memory is None and named_condition(first).memory:
        raise InputError(
            f"--condition {first}: the first round has no memory; give one with --memory"
        )


def gather_insights(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Run folders of one world; their later trials are read too."),
    ],
    out: Annotated[Path, typer.Option(help="The file to write, such as expel.jsonl.")],
    model: ModelOption,
    base_url: BaseUrlOption = None,
    record: Annotated[
        Path | None,
        typer.Option(help="Keep every answer in this folder, so that it is asked for only once."),
    ] = None,
    context: Annotated[
        int | None, typer.Option(help="The model's context window, in tokens.", min=256)
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help="The longest answer, in tokens.", min=1)
    ] = None,
    world: RunsWorldOption = None,
) -> None:
    """Let a model draw insights from recorded runs; `--agent expel` plays with these and with the
    won episodes.

    Use runs of tasks that you will not test on. Runs of `--agent reflexion` are best: a failure and
    a success at the same task teach most.
    """
    if parse_model_name(model).provider.backend in (Backend.PLANNER, *FROM_MENU):
        raise InputError(f"{model} writes no text; name an LLM with --model")
    if is_there(out):
        raise InputError(f"{out}: exists already; choose another file or remove it")
    folders = list(map(RunFolder, chain.from_iterable(map(trial_folders, runs))))
    name = str(folders[0].protocol.settings.get("world", ""))
    if world is not None:
        find_world(world)
    played_in = world_named(name, folders[0].folder)
    opens = NamedModel(
        model, ModelOptions(base_url=base_url), record.absolute() if record else None
    )
    with closing(opens()) as answering:
        decoding = Decoding(max_tokens=max_tokens or played_in.max_tokens)
        window = context_window(model, context, base_url).tokens
        found = gather_experience(
            folders, name, answering, decoding, window, lambda line: complain(f"note: {line}")
        )
    if not found.trajectories:
        raise InputError("no episode of these runs was won, so there is nothing to learn from")
    write_experience(out, found)
    say(*(f"{insight.votes:3d}  {one_line(insight.text)}" for insight in found.insights))
    say(f"{len(found.insights)} insights and {len(found.trajectories)} trajectories are in {out}")


def _wording(lessons: str, model: NamedModel, run_options: RunOptions) -> OpenModel | None:
    """The model, if it is to word lessons; one that reads no text is refused."""
    if lessons not in ("seen", "model"):
        raise InputError(f"--lessons {lessons!r}: choose seen or model")
    if lessons == "seen":
        return None
    if parse_model_name(model.name).provider.backend in (Backend.PLANNER, *FROM_MENU):
        raise InputError(f"--lessons model: {model.name} writes no text; name an LLM with --model")
    meter = run_options["meter"]
    return model if meter is None else meter.watching(model, run_options["price"])
