"""`rpms run`, `learn`: play tasks and keep every episode, or what they teach; `rpms insights`:
what expel needs.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from rpms.cli import options
from rpms.cli.panels import takes_options
from rpms.cli.resources import Resources
from rpms.cli.screen import complain, make_console, say
from rpms.cli.setting_options import SettingOptions
from rpms.cli.shared_options import (
    BaseUrlOption,
    EngineOption,
    EpochsOption,
    ModelOption,
    RunsWorldOption,
    WorldArgument,
    WorldOptions,
)
from rpms.foreign.file_reader import is_there
from rpms.foreign.shown import one_line
from rpms.logic.errors import InputError
from rpms.logic.facts import grouped
from rpms.models.base import Decoding
from rpms.models.catalogue import (
    FROM_MENU,
    Backend,
    ModelOptions,
    parse_model_name,
    parse_parameter,
)
from rpms.models.windows import context_window
from rpms.paper.condition import LATER, Condition, named_condition
from rpms.paper.enforcement import PRESETS
from rpms.paper.episode import Usage
from rpms.play.controls import play_controls
from rpms.play.display import progress
from rpms.play.epochs import agreement, run_epochs
from rpms.play.meter import spending
from rpms.play.plan import NamedModel, OpenModel, RunPlan
from rpms.play.run import Listener, RunOptions
from rpms.play.setting_values import worded
from rpms.play.settings import Settings
from rpms.play.success_rate import wilson
from rpms.play.task_choice import read_part
from rpms.play.trials import Trials, run_trials, trial_folders
from rpms.report.table import TableCell, grid
from rpms.store.episodes import EpisodeRow
from rpms.store.expel_material import write_experience
from rpms.store.runs import CutAnswers, MemoryShown, RunFolder, RunSummary, lack_of_room
from rpms.worlds.base import games_won
from rpms.worlds.registry import find_world, world_named

_ERRORS_SHOWN = 3


@takes_options(Resources, SettingOptions)
def main(
    resources: Resources,
    given: SettingOptions,
    world: WorldArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            help=(
                "The run's folder; an existing run is continued. By default one in runs/, named"
                " after the settings."
            )
        ),
    ] = None,
    engine: EngineOption = "native",
    model: ModelOption = "planner",
    parameter: Annotated[
        list[str] | None,
        typer.Option(
            help="A decoding parameter of the provider's own.",
            metavar="NAME=VALUE",
            show_default=False,
        ),
    ] = None,
    epochs: EpochsOption = 1,
    stuck_after: Annotated[
        int,
        typer.Option(help="End an episode after N identical failures in a row; 0 is never.", min=0),
    ] = 0,
    retry_errors: Annotated[
        bool,
        typer.Option(
            "--retry-errors", help="Play episodes again that a model or world error ended."
        ),
    ] = False,
    option: WorldOptions = None,
    part: Annotated[
        str, typer.Option(help="One part of the tasks, dealt like cards: 1/2 is every second one.")
    ] = "1/1",
) -> None:
    """Play the tasks of a split and keep every episode; the same command continues where it
    stopped.
    """
    settings = given.read()
    found = find_world(world)
    options.require_menu(settings.condition_value().enforcement, model)
    player = resources.player()
    dealt = _read_part(part)
    setting = options.make_setting(found, resources.data, engine, option)
    tasks, setting = settings.tasks(found, setting, dealt)
    opened = resources.model(model, settings)
    window = context_window(model, settings.context, resources.base_url)
    extra = tuple(map(parse_parameter, parameter or ()))
    plan = settings.plan(
        found,
        model,
        opened,
        window.tokens,
        tasks=tasks,
        setting=setting,
        memory=options.memory_of(settings, found, model),
        decoding=replace(settings.decoding(found), extra=extra),
        stuck_after=stuck_after,
    )
    if out is None:
        split = settings.split or found.splits[0]
        played = split if dealt.step == 1 else f"{split}-{part}"
        out = default_folder(world, played, model, settings)
    price = resources.price_of(model)
    if not resources.price:
        price = RunFolder(out).price() or price
    meter = resources.meter({model: price})
    run_options = RunOptions(retry_errors=retry_errors, runner=player, price=price, meter=meter)
    resources.check(opened, begun=RunFolder(out).begun)
    options.note_knowledge(settings, plan, window)
    summaries = _play_epochs(plan, out, epochs, resources.workers, run_options)
    controls = play_controls(plan, out, resources.workers, player)
    say(*_remarks(plan, summaries, controls), f"episodes are in {out}")
    if any(_failed_throughout(summary) for summary in summaries):
        raise typer.Exit(1)


def _play_epochs(
    plan: RunPlan, out: Path, epochs: int, workers: int | None, run_options: RunOptions
) -> list[RunSummary]:
    """Play a plan once an epoch and tell each result; with several trials, the first one's is
    returned.
    """
    console = make_console()

    def listen(trial: int) -> Listener:
        if trial:
            say(f"trial {trial}, of the tasks not won so far")
        return progress(console, run_options.get("price"))

    def run_one(plan: RunPlan, folder: Path) -> Trials:
        if epochs > 1:
            say(f"epoch {plan.epoch} of {epochs}")
        trials = run_trials(plan, folder, workers, listen, **run_options)
        print_summary(console, trials.summaries[0], RunFolder(folder))
        if plan.method.question:
            say(*trial_lines(trials))
        return trials

    return [trials.summaries[0] for trials in run_epochs(plan, out, epochs, run_one)]


def _read_part(part: str) -> slice:
    try:
        return read_part(part)
    except ValueError as error:
        raise InputError(f"--part {error}") from None


def _remarks(
    plan: RunPlan, summaries: Sequence[RunSummary], controls: Mapping[str, RunSummary]
) -> Iterator[str]:
    """Remarks on a run: agreement of its epochs, wins of its controls, and tasks that the memory
    was learned from.
    """
    won_by_epoch = [{row.task: row.won for row in summary.rows} for summary in summaries]
    agreed = agreement(won_by_epoch)
    if agreed is not None:
        yield agreed.text()
    for name, each in controls.items():
        yield f"{name}, choosing from the same menus, won {each.won} of {each.total}"
    if plan.overlap:
        known_tasks = f"{len(plan.overlap)} of {len(plan.tasks)} tasks that were played"
        yield f"WARNING: the memory was learned from {known_tasks}"


def _failed_throughout(summary: RunSummary) -> bool:
    """True if there are episodes, and every one of them ended with an error."""
    return bool(summary.rows) and all(row.failed for row in summary.rows)


def trial_lines(trials: Trials) -> list[str]:
    """Each trial apart, and the best of all: what is above them is the first trial alone."""
    lines: list[str] = []
    for number, each in enumerate(trials.summaries):
        as_above = "" if number else ", as above"
        lines.append(f"trial {number}: {each.won} of {each.total} won{as_above}")
    best = trials.best
    low, high = wilson(best.won, best.total)
    rate = f"{best.won / best.total:.1%}, 95% interval {low:.1%} to {high:.1%}"
    of_all = f"best of all trials: {best.won} of {best.total} won ({rate})"
    tokens = sum((each.usage for each in trials.summaries), start=Usage())
    if tokens.prompt_tokens:
        of_all += (
            f"; all trials took {tokens.prompt_tokens:,} prompt and {tokens.completion_tokens:,}"
            " completion tokens"
        )
    return [*lines, of_all, f"as a run of its own: {trials.best_folder}"]


_NO_PART_OF_A_NAME = ("condition", "preset", "split", "memory", "task", "steps", "trials")
"""Settings that stand in a folder's name otherwise, or not at all: a run of other tasks there
is refused."""


def default_folder(world: str, split: str, model: str, settings: Settings) -> Path:
    """Default folder of a run: the same command finds it again.

    >>> given = Settings.read({"preset": "strict", "enforce": "menu=8", "theta": 0.6})
    >>> default_folder("alfworld", "train", "openai/gpt-4o", given).name
    'alfworld-train-openai-gpt-4o-strict-menu-8-theta-0.6'
    """
    named = (settings.condition or "full", settings.preset or "paper")
    unusual_names = [name for name in named if name not in ("full", "paper")]
    unusual = _unusual_values(settings)
    values = [f"{name}-{worded(value, between='-', equals='-')}" for name, value in unusual]
    parts = [world, split, model, *unusual_names, *values]
    return Path("runs", "-".join(map(_part_of_name, parts)))


def _unusual_values(settings: Settings) -> Iterator[tuple[str, Any]]:
    """Names and values that are not the preset's: of enforcement, then of other settings."""
    usual = PRESETS[settings.preset or "paper"]
    for name, value in vars(settings.condition_value().enforcement).items():
        if value != getattr(usual, name):
            yield name, value
    for name, value in settings.given.items():
        told_otherwise = name in (*_NO_PART_OF_A_NAME, "enforce")
        if not told_otherwise and value != getattr(settings.of_preset, name):
            yield name, value


def _part_of_name(text: str) -> str:
    """The end of a text, with dashes for what has no place in a folder's name."""
    return re.sub(r"[^\w.]+", "-", text).strip("-.")[-60:]


def print_summary(console: Console, summary: RunSummary, folder: RunFolder) -> None:
    """Success overall and by type, steps, infeasible actions; tokens and cost where a model has
    used any.
    """
    by_type = grouped((row.type, row) for row in summary.rows)
    table: list[Sequence[str | TableCell]] = []
    for name, rows in sorted(by_type.items()):
        table.append((name, *_cells(rows)))
    if len(by_type) != 1:
        table.append([TableCell(text, strong=True) for text in ("all", *_cells(summary.rows))])
    console.print(grid(("type", "won", "success", "score", "steps", "infeas."), table))
    low, high = wilson(summary.won, summary.done)
    interval = f"95% interval {low:.1%} to {high:.1%}"
    endings = ", ".join(f"{count} {ending}" for ending, count in summary.endings.most_common())
    console.print(f"{summary.done} of {summary.total} episodes: {endings}; {interval}")
    lines = (
        *_counts(summary),
        *_memory_shown(summary, folder),
        *_warnings(summary),
        *spending_lines(*spending(folder, summary.rows), summary.won),
    )
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)
    _print_errors(console, summary)


def _warnings(summary: RunSummary) -> Iterator[str]:
    """Prompts that did not fit, and answers that were cut."""
    for words in lack_of_room(summary.rows):
        yield f"WARNING: {words}"
    cut = CutAnswers.of(summary.rows)
    if cut.count:
        yield f"{'WARNING: ' if cut.too_many else ''}{cut.numbers} {cut.words}"


def _print_errors(console: Console, summary: RunSummary) -> None:
    """Print the first few errors, each once, and how many more there are."""
    errors = list(dict.fromkeys(row.error for row in summary.rows if row.error))
    for error in errors[:_ERRORS_SHOWN]:
        console.print(f"error: {error}", markup=False, soft_wrap=True)
    more = len(errors) - _ERRORS_SHOWN
    if more > 0:
        console.print(f"and {more} other errors; the episode files have them")


def _counts(summary: RunSummary) -> Iterator[str]:
    """Counts above zero: games won in all their sentences, refused actions, re-asks, replaced
    actions.
    """
    games = games_won((row.task, row.won) for row in summary.rows)
    if games:
        won = f"{games.in_every} of {games.total} won in every sentence"
        yield f"games: {won}, {games.in_some} in at least one"
    steps = summary.steps
    refused = foreseeable = reasks = replaced = 0
    for row in summary.rows:
        refused += row.infeasible
        foreseeable += row.foreseeable
        reasks += row.reasks
        replaced += row.replaced
    if refused:
        yield f"infeasible: {refused:,} of {steps:,} actions, {foreseeable:,} of them foreseeable"
    if reasks:
        yield f"re-asks: {reasks:,} ({reasks / max(1, steps):.2f} a step)"
    if replaced:
        yield f"replaced: {replaced:,} of {steps:,} actions were not the model's own"


def _memory_shown(summary: RunSummary, folder: RunFolder) -> Iterator[str]:
    """Steps in which a run with a memory had any of it in the prompt."""
    memory = folder.protocol.settings.get("memory")
    shown = MemoryShown.of(summary.rows)
    if isinstance(memory, Mapping) and memory.get("entries") and shown.steps:
        yield f"memory: in the prompt in {shown.numbers} steps"


def spending_lines(usage: Usage, cost: float | None, won: int) -> list[str]:
    """Tokens, cost and time of a run in words; empty without an LLM."""
    if not usage.prompt_tokens and not usage.completion_tokens:
        return []
    asked = f"{usage.prompt_tokens:,} prompt ({usage.cached_tokens:,} cached)"
    wrote = f"{usage.completion_tokens:,} completion; {usage.seconds:,.1f} s of model time"
    lines = [f"tokens: {asked}, {wrote}"]
    if cost is not None:
        each = f", ${cost / won:,.4f} a task solved" if won else ""
        lines.append(f"cost: ${cost:,.4f}{each}")
    return lines


def _cells(rows: Sequence[EpisodeRow]) -> list[str]:
    count = len(rows)
    if not count:
        return ["0/0", "-", "-", "-", "-"]
    won = sum(row.won for row in rows)
    steps = sum(row.steps for row in rows)
    score = sum(row.score for row in rows) / count
    refused = "-"
    if steps:
        refused = f"{sum(row.infeasible for row in rows) / steps:.1%}"
    return [f"{won}/{count}", f"{won / count:.1%}", f"{score:.2f}", f"{steps / count:.1f}", refused]


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
    from rpms.learning.rounds import (  # noqa: PLC0415  not for `run`
        LearningPlan,
        Round,
        continued,
        learn,
        learned,
    )
    from rpms.store.memories import round_folder  # noqa: PLC0415  not for `run`

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
    plan = LearningPlan(
        settings.plan(found, model, named, window, tasks=tasks, setting=setting, condition=first),
        rounds,
        first=first,
        later=after_it,
        start=options.memory_of(settings, found, model) if settings.memory else None,
        audit=audit,
        harvest=settings.harvesting,
        words=_wording(lessons, named, run_options),
    )
    if go_on:
        plan = continued(plan, out)
    if audit:
        _require_memory_to_audit(after_it, plan.before + rounds)
    resources.check(named, begun=RunFolder(round_folder(out, plan.before + 1)).begun)
    options.note_idle_parts(found, [first.enforcement], model)
    console = make_console()

    def listen(number: int) -> Listener:
        say(f"round {number} of {plan.before + rounds}")
        return progress(console, price)

    def tell(result: Round) -> None:
        say("\n".join(learned([result])))

    *_, last = learn(plan, out, resources.workers, listen, after=tell, empty=False, **run_options)
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
    from rpms.learning.insights import gather_experience  # noqa: PLC0415  not for `run`

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
