"""`rpms rules learn` and `rpms rules verify`: learn a manual from interaction, and test one on
recorded episodes.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from rpms.cli import options
from rpms.cli.screen import complain, make_console, say
from rpms.cli.shared_options import DataOption, EngineOption, WorldOptions
from rpms.guard.guard import Guard
from rpms.guard.log import is_guard_log
from rpms.guard.python_facts import load_python
from rpms.guard.replay import tried
from rpms.induction.conclusions.action_model import ActionModel
from rpms.induction.conclusions.conclude import Learned
from rpms.induction.conclusions.goal_models import GoalModel
from rpms.induction.evidence.recorded_episodes import recorded
from rpms.induction.exploring.agenda import Exploring
from rpms.induction.learn import RulesLearned, RulesPlan, learn_rules
from rpms.induction.manuals.manual_verify import Verification, table, verify
from rpms.induction.tool_rules import ToolsLearned, learn_tools
from rpms.learning.harvest import write_memory_of
from rpms.logic.errors import InputError
from rpms.play.run import Interrupted
from rpms.play.sources import choose_manual, manual_of, universal_tier
from rpms.report.table import grid
from rpms.store.evidence import Claim, Label, counts_of, evidence_file, traces_file
from rpms.store.manual_reader import manual_text
from rpms.store.manuals import read_manual
from rpms.worlds.base import Setting, World
from rpms.worlds.registry import find_world, world_named

_STEPS = 20_000
_MOST_SAID = 20
"""Lines about what is blocked wrongly."""


def learn(
    world: Annotated[
        str,
        typer.Argument(help="A world's name or folder; with a guard's logs, the guard's manual."),
    ],
    out: Annotated[
        Path,
        typer.Option(
            help="The manual to write, such as manual.yaml; its evidence is kept beside it."
        ),
    ],
    split: Annotated[
        str | None,
        typer.Option(help="The split to explore; by default train, if the world has it."),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            help="How many steps to explore; by default 20,000, or 0 with --from.",
            show_default=False,
            min=0,
        ),
    ] = None,
    from_: Annotated[
        list[Path] | None,
        typer.Option(
            "--from",
            help=(
                "Learn from these: folders of `rpms run`, an exploration's .episodes.jsonl, or a"
                " guard's logs."
            ),
        ),
    ] = None,
    memory: Annotated[
        Path | None,
        typer.Option(help="Also write a memory of these episodes: snippets, lessons, schemas."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of all random choices.")] = 0,
    data: DataOption = None,
    engine: EngineOption = "native",
    option: WorldOptions = None,
    python: Annotated[
        Path | None,
        typer.Option(
            help="With a guard's logs: the Python file with the functions its manual names."
        ),
    ] = None,
) -> None:
    """Learn a world's manual by experiment or from recorded runs; every line comes with its
    evidence.

    No LLM is asked. The same command continues an exploration that was stopped, and keeps what you
    edited by hand in the manual. With a guard's logs, give the guard's manual instead of a world:
    the facts it knows are used to learn what its tools need.
    """
    options.refuse_folders(out, memory)
    runs = tuple(from_ or ())
    if any(map(is_guard_log, runs)):
        learn_from_logs(Path(world), runs, out, python)
        return
    found = find_world(world)
    setting = options.make_setting(found, data, engine, option)
    if steps is None:
        steps = 0 if runs else _STEPS
    plan = _make_plan(found, setting, split, Exploring(steps=steps, seed=seed), runs)
    console = make_console(soft_wrap=True)
    result = _learn(console, plan, out)
    say("\n".join(_report(result, out)))
    console.print(_table(result.verification))
    if memory is not None:
        count = write_memory_of(memory, found, result.manual, result.traces)
        say(f"{count} entries in {memory}")


def _make_plan(
    world: World, setting: Setting, split: str | None, exploring: Exploring, runs: tuple[Path, ...]
) -> RulesPlan:
    """The plan of learning: tasks to explore, or recorded runs to learn from, or both."""
    if not split:
        split = "train" if "train" in world.splits else world.splits[0]
    tasks = tuple(world.tasks(split, setting)) if exploring.steps else ()
    if not tasks and not runs:
        raise InputError("nothing to learn from: use --steps above 0, or --from with recorded runs")
    return RulesPlan(world, tasks, setting, split if tasks else "", exploring, runs)


def _learn(console: Console, plan: RulesPlan, out: Path) -> RulesLearned:
    """Learn, with the number of steps on screen; what was explored until Ctrl-C is kept."""
    wanted = plan.exploring.steps
    try:
        with console.status("exploring") as status:

            def show(episodes: int, done: int) -> None:
                status.update(f"{episodes:,} episodes, {done:,} of {wanted:,} steps")

            return learn_rules(plan, out, show)
    except KeyboardInterrupt:
        kept = ""
        if plan.tasks:
            kept = (
                f"; {traces_file(out)} keeps what was explored, and the same command goes on from"
                " there"
            )
        raise Interrupted(f"stopped{kept}") from None


def _report(result: RulesLearned, out: Path) -> Iterator[str]:
    """Lines on what was learned, what was left out and why, and where the evidence is."""
    learned = result.learned
    evidence = result.evidence
    goals = len(learned.goals) + len(learned.scoring) + len(learned.by_deed)
    found = (
        f"{len(learned.actions)} actions, {goals} goal types, {len(learned.localities)} kinds with"
        " places"
    )
    yield f"{out}: {found}, from {evidence.episodes:,} episodes with {evidence.steps:,} steps"
    for action in learned.actions:
        yield _action_line(action)
        for kinds in action.tables:
            if kinds.of_names:
                yield f"    {kinds.name}: a table of names, unknown for any other name"
    yield from _goal_lines(learned)
    if evidence.undetermined:
        share = 100 * evidence.undetermined / evidence.steps
        yield (
            f"contradictory: {evidence.undetermined} attempts ({share:.1f}%) ended both ways on the"
            " same facts"
        )
    yield from (f"taken out: {claim.place}: {claim.note}" for claim in result.taken_out)
    yield from map(_edited, result.edits)
    yield from map(_no_goal, learned.without_goal)
    yield from result.played
    for blocked in result.verification.blocked[:_MOST_SAID]:
        yield (
            f"kept although wrong: {blocked.clause} blocks `{blocked.command}`, which the world"
            " allowed"
        )
    yield (
        f"evidence: {evidence_file(out)}. On {evidence.kept_aside} episodes kept aside for testing:"
    )


def _action_line(action: ActionModel) -> str:
    """An action's successes and refusals, and how certain its needs are."""
    certain = len(action.labelled(Label.NECESSARY))
    possible = len(action.labelled(Label.POSSIBLE))
    line = f"  {action.syntax}: {action.successes} successes, {action.refusals} refusals"
    line += f"; needs: {certain} certain"
    if possible:
        line += f", {possible} possible"
    if not action.refusals:
        line += "; never refused, so what it needs is unknown"
    if action.unexplained:
        line += f"; {action.unexplained} refusals unexplained"
    return line


def _goal_lines(learned: Learned) -> Iterator[str]:
    for goal in learned.goals:
        wanted = " and ".join(str(fact.clause) for fact in goal.holds)
        yield f"  goal {goal.type}: {wanted} ({goal.wins} wins)"
    for type_ in learned.scoring:
        yield f"  goal {type_}: do what scores: {_deed_words(learned, type_)}"
    for type_ in learned.by_deed:
        yield f"  goal {type_}: do what won: {_deed_words(learned, type_)}"


def _deed_words(learned: Learned, type_: str) -> str:
    """The commands that score or win with goals of a type, each with how often it did."""
    deeds: list[str] = []
    for each in learned.processes:
        if str(each.schema.preconditions[-1]) == f"goal_type({type_})":
            deeds.append(f"{each.schema.syntax[0]} ({each.support.confirmed} times)")
    return "; ".join(deeds)


def _no_goal(refuted: GoalModel) -> str:
    """The facts that were taken for a goal, and a state that speaks against it."""
    facts = " and ".join(sorted(map(str, refuted.state)))
    held = f"{facts} held in {len(refuted.refuted)} states in which the game went on"
    first = refuted.refuted[0]
    return f"NO GOAL for {refuted.type}: {held}, such as {first.episode} step {first.step}"


def _edited(claim: Claim) -> str:
    """An edit of a person that was kept."""
    return f"edited: {'/'.join((*claim.at, claim.key))}: {claim.text or 'all'} {claim.note}"


def _table(found: Verification) -> Table:
    head, *rows = table(found)
    return grid(head, rows)


def check_against(
    manual: Annotated[str, typer.Argument(help="A manual's file, or a world for its own manual.")],
    runs: Annotated[
        list[Path],
        typer.Argument(help="Folders of `rpms run`, or an exploration's .episodes.jsonl."),
    ],
    world: Annotated[
        str | None, typer.Option(help="The world, if the manual does not name it.")
    ] = None,
) -> None:
    """Test a manual on recorded episodes: what it blocks, which commands it knows, which
    effects it predicts.
    """
    file = Path(manual)
    if file.is_file():
        found = find_world(world) if world else _world_of_manual(file)
        whole = manual_of(found, choose_manual(file))
    elif world in (None, manual):
        found = find_world(manual)
        whole = manual_of(found)
    else:
        raise InputError(f"{manual}: there is no such file")
    result = verify(whole, found, recorded(found, runs))
    say(f"{manual} on {result.episodes:,} episodes, {result.steps:,} steps")
    make_console(soft_wrap=True).print(_table(result))
    for blocked in result.blocked[:_MOST_SAID]:
        where = f"{blocked.witness.episode} step {blocked.witness.step}"
        say(f"blocked `{blocked.command}` for {blocked.clause} ({where})")
    unknown = [f"{word} {count}" for word, count in result.unknown.most_common(8) if count]
    if unknown:
        complain(
            f"note: the world accepted commands that the manual does not have: {', '.join(unknown)}"
        )


def _world_of_manual(file: Path) -> World:
    """The world that a manual's file names."""
    name = read_manual(universal_tier(), manual_text(file)).world
    if not name:
        raise InputError(f"{file}: does not name its world; use --world")
    return world_named(name, file)


def learn_from_logs(
    manual: Path, logs: Sequence[Path], out: Path, python: Path | None = None
) -> None:
    """Learn from the logs of a guard, over the facts that its manual declares, and say what was
    found.
    """
    if not manual.is_file():
        raise InputError(
            f"{manual}: with a guard's log, give the guard's manual instead of a world"
        )
    for log in logs:
        if not is_guard_log(log):
            raise InputError(f"{log}: not a guard's log; learn from logs only, or from runs only")
    guard = Guard([manual], python=load_python(python))
    calls = chain.from_iterable(tried(guard, log) for log in logs)
    say(*_tools_report(learn_tools(calls, manual, out), out))


def _tools_report(result: ToolsLearned, out: Path) -> Iterator[str]:
    """Lines on the learned needs of tools, and where the evidence is."""
    needs = f"{len(result.needs)} needs"
    yield f"{out}: {needs}, from {result.calls:,} calls of which {result.failed:,} failed"
    for claim in result.needs:
        yield f"  {claim.owner} needs {claim.text}: {counts_of(claim)}"
    for claim in result.possible:
        yield f"  {claim.owner} may need {claim.text}; it is not in the manual"
    if result.silent:
        silent = ", ".join(result.silent)
        yield f"nothing is known about tools that always worked or never did: {silent}"
    if not result.needs and not result.possible:
        yield (
            "no fact of the manual separates failures from successes; declare more facts or log"
            " more calls"
        )
    yield from map(_edited, result.edits)
    yield f"evidence: {evidence_file(out)}"
