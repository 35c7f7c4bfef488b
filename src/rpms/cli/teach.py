"""`rpms teach`: write the planner's steps as prompts with answers, train a small model on them, and
correct its mistakes.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from rpms.cli import options
from rpms.cli.panels import takes_options
from rpms.cli.resources import Resources
from rpms.cli.screen import make_console, say
from rpms.cli.setting_options import TeachingOptions
from rpms.cli.shared_options import EngineOption, WorldArgument, WorldOptions
from rpms.foreign.file_reader import is_there
from rpms.logic.counting import counted
from rpms.logic.errors import InputError, nearest
from rpms.models.catalogue import PROVIDERS, taught_on
from rpms.models.windows import context_window
from rpms.paper.condition import CONDITIONS
from rpms.play.display import Lines, progress
from rpms.play.settings import ALLOW, NO_MEMORY, REFUSE, Settings
from rpms.store.files import write_whole
from rpms.teaching.classroom import Classroom, TaughtPairs, correct, read_conditions, teach_pairs
from rpms.teaching.pairs import (
    Pair,
    messages_text,
    pairs_so_far,
    read_pairs,
    splits_to_learn_from,
)
from rpms.teaching.teacher import Thoughts
from rpms.teaching.trainer import Training
from rpms.teaching.training import train
from rpms.worlds.base import World
from rpms.worlds.registry import find_world

app = typer.Typer(
    help="Teach a small model to read what it is told: pairs, train, correct.", no_args_is_help=True
)

_NOT_OF_TEACHING = (
    *("condition", "preset", "enforce", "agent", "trials", "insights", "harvest", "reader", "mask"),
    *("ray", "price", "max_cost", "max_requests", "max_time"),
)
"""Options that teaching does not have. They change no prompt that is told as in the paper, and only
such prompts are taught; and its games are played on this machine, without a count of costs."""
_OF_A_MODEL = ("base_url", "record", "timeout", "temperature", "max_tokens", "context")
_NOT_OF_PAIRS = (*_NOT_OF_TEACHING, *_OF_A_MODEL)
"""The planner, which plays what pairs are made of, takes no options of a model that answers."""

_RATE = 2e-4
"""Learning rate of added low-rank weights."""
_RATE_OF_ALL = 1e-5
"""Learning rate of all weights."""
_MOST_NAMED = 5
"""Games that are named where the teacher lost some."""


_ALL_CONDITIONS = ",".join(CONDITIONS)
ConditionsOption = Annotated[
    str, typer.Option(help="The conditions that prompts are written for.", metavar="NAME,…")
]
ThoughtsOption = Annotated[
    Thoughts,
    typer.Option(help="How a thought says the sub-goal: in words, or as the prompt prints it."),
]
MessagesOption = Annotated[
    Path | None,
    typer.Option(
        help="Also write all pairs as `messages`, for OpenAI, Axolotl or LLaMA-Factory.",
        metavar="FILE",
    ),
]


@app.command("pairs")
@takes_options(Resources, TeachingOptions, without=_NOT_OF_PAIRS)
def write_pairs(
    resources: Resources,
    given: TeachingOptions,
    world: WorldArgument,
    out: Annotated[
        Path,
        typer.Option(
            help="The pairs to write, such as pairs.jsonl; the teacher's games are kept beside it."
        ),
    ],
    conditions: ConditionsOption = _ALL_CONDITIONS,
    thoughts: ThoughtsOption = Thoughts.WORDS,
    messages: MessagesOption = None,
    engine: EngineOption = "native",
    option: WorldOptions = None,
) -> None:
    """Let the planner play, and write each of its steps as the prompt of every condition with the
    right answer.

    TRL reads the lines as they are, and OpenAI, Axolotl and LLaMA-Factory those of --messages
    (docs/teaching.md). Only what is new is added to a file; the same command continues where it
    stopped.

    Without --split, games come from the world's first split to learn from; --overlap allow also
    takes one that is measured on.
    """
    settings = given.read()
    options.refuse_folders(out)
    _check_messages(out, messages)
    room = _classroom(resources, settings, find_world(world), conditions, engine, option)
    room = replace(room, thoughts=thoughts)
    _say_what_differs(room, out, pairs_so_far(out))
    done = teach_pairs(room, out, resources.workers, progress(make_console()), resources.processes)
    report(done, out)
    _write_messages(out, messages)
    both = {"rules-only", "full"} <= set(room.conditions)
    if done.found and both and settings.memory == NO_MEMORY:
        say(
            "note: without a memory the prompts of full and rules-only are the same, and each is"
            " taught twice; --conditions leaves one out"
        )


@app.command("train")
def train_model(
    base: Annotated[
        str,
        typer.Argument(
            help=(
                "The chat model to begin with: a folder, a .gguf file or a name on the Hugging Face"
                " hub."
            )
        ),
    ],
    pairs: Annotated[
        list[Path], typer.Argument(help="Files that `rpms teach pairs` wrote.", show_default=False)
    ],
    out: Annotated[
        Path, typer.Option(help="The folder to write: an adapter, or with --all-weights a model.")
    ],
    epochs: Annotated[float, typer.Option(help="How often each pair is read.", min=0.01)] = 1.0,
    learning_rate: Annotated[
        float | None,
        typer.Option(help="By default 0.0002, or 0.00001 of all weights.", show_default=False),
    ] = None,
    rank: Annotated[int, typer.Option(help="Rank of the weights that are added.", min=1)] = 16,
    batch: Annotated[int, typer.Option(help="Pairs in one step of the optimiser.", min=1)] = 8,
    at_once: Annotated[
        int, typer.Option(help="Pairs on the device at a time; fewer take less memory.", min=1)
    ] = 2,
    seed: Annotated[
        int, typer.Option(help="The same seed, the same order of pairs and the same start.")
    ] = 0,
    all_weights: Annotated[
        bool, typer.Option("--all-weights", help="Train all weights instead of adding some.")
    ] = False,
    cpu: Annotated[bool, typer.Option("--cpu", help="Go on without a GPU.")] = False,
    overlap: Annotated[
        str, typer.Option(help="Also teach on splits that are measured on.", metavar="refuse|allow")
    ] = "refuse",
) -> None:
    """Train a chat model on pairs: TRL's trainer, low-rank weights, and the loss of the answers
    alone.

    Play with `--model hf/BASE+OUT`. The same command continues a training that was stopped.
    """
    if overlap not in (REFUSE, ALLOW):
        choices = nearest(overlap, (REFUSE, ALLOW))
        raise InputError(f"--overlap {overlap!r} is none of its values; {choices}")
    usual = _RATE_OF_ALL if all_weights else _RATE
    rate = usual if learning_rate is None else learning_rate
    training = Training(epochs, rate, rank, batch, at_once, seed, all_weights)
    taught = train(base, pairs, out, training, say, on_processor=cpu, overlap=overlap == ALLOW)
    last = [loss for _, loss in taught.losses[-10:]]
    mean = sum(last) / len(last)
    games = counted(len(taught.tasks), "game")
    say(f"{out}: taught on {games} in {taught.seconds:,.0f} s, loss {mean:.4f}")
    place = base.removeprefix("hf/")
    say(f"play with --model hf/{out if all_weights else f'{place}+{out}'}")


@app.command("correct")
@takes_options(Resources, TeachingOptions, without=_NOT_OF_TEACHING)
def correct_student(
    resources: Resources,
    given: TeachingOptions,
    student: Annotated[
        str, typer.Argument(help="A taught model: its folder, or a name as after --model.")
    ],
    world: WorldArgument,
    pairs: Annotated[
        Path, typer.Option(help="The pairs to add to; the student's games are kept beside it.")
    ],
    conditions: Annotated[
        str | None,
        typer.Option(
            help="The conditions that the student plays; by default those of the pairs.",
            metavar="NAME,…",
            show_default=False,
        ),
    ] = None,
    thoughts: Annotated[
        Thoughts | None,
        typer.Option(
            help="How a thought says the sub-goal; by default as in the pairs that are there.",
            show_default=False,
        ),
    ] = None,
    messages: MessagesOption = None,
    most: Annotated[
        int,
        typer.Option(
            help="States of one episode that are corrected at most, spread over it.", min=1
        ),
    ] = 25,
    engine: EngineOption = "native",
    option: WorldOptions = None,
) -> None:
    """Let a taught model play, and add what the planner would have done wherever it came, loops
    included.

    By default it plays the games that the pairs are of. Then train again, on all pairs.
    """
    settings = given.read()
    options.refuse_folders(pairs)
    _check_messages(pairs, messages)
    found = find_world(world)
    if settings.given.keys().isdisjoint(("task", "sample", "limit", "per_task")):
        settings = _same_games(settings, pairs, found)
    before = pairs_so_far(pairs)
    room = _classroom(
        resources, settings, found, conditions or _same_conditions(before), engine, option
    )
    room = replace(room, thoughts=thoughts or _same_thoughts(before))
    model = student if student.partition("/")[0] in PROVIDERS else f"hf/{student}"
    named = resources.model(model, settings)
    named.check()
    _say_what_differs(room, pairs, before)
    console = make_console()

    def listen(condition: str) -> Lines:
        return Lines(
            lambda text: console.print(
                f"{condition}: {text}", markup=False, highlight=False, soft_wrap=True
            )
        )

    window = context_window(model, settings.context, resources.base_url)
    done = correct(
        room, named, window.tokens, pairs, listen, most, resources.workers, resources.processes
    )
    report(done, pairs)
    _write_messages(pairs, messages)


def _check_messages(pairs: Path, messages: Path | None) -> None:
    """Refuse a place for messages that cannot be written, before anything is played."""
    options.refuse_folders(messages)
    if messages is not None and messages.absolute() == pairs.absolute():
        raise InputError(f"--messages {messages}: is the file of the pairs: give another")


def _write_messages(pairs: Path, messages: Path | None) -> None:
    """Write all pairs of a file as lists of messages, if that was asked for and there are any."""
    if messages is not None and is_there(pairs):
        write_whole(messages, messages_text(read_pairs(pairs)))
        say(f"{messages}: the same pairs as messages")


def _same_games(settings: Settings, pairs: Path, world: World) -> Settings:
    """The settings with the games of a file of pairs chosen."""
    if not is_there(pairs):
        raise InputError(
            f"{pairs}: there is no such file: write it with `rpms teach pairs`, or choose games"
            " with --sample"
        )
    old_pairs = read_pairs(pairs)
    first = old_pairs[0]
    if first.world != world.name:
        raise InputError(f"{pairs}: holds pairs of {first.world}, not of {world.name}")
    if settings.split not in (None, first.split):
        raise InputError(
            f"--split {settings.split}: the games of {pairs} are of {first.split}: leave it out"
            " to correct these, or choose games of that split with --sample"
        )
    return replace(
        settings, task=tuple(dict.fromkeys(pair.task for pair in old_pairs)), split=first.split
    )


def _say_what_differs(room: Classroom, pairs: Path, before: Sequence[Pair]) -> None:
    """Note that new pairs would show other rules or memories than those that a file has."""
    differs = room.knowledge_unlike(before)
    if differs:
        others = " and ".join(f"another {each}" for each in differs)
        say(f"note: {pairs} was written with {others}: give the same unless they are to be mixed")


def _same_conditions(before: Sequence[Pair]) -> str:
    """The conditions whose prompts are taught so far; all four where none is."""
    taught = {pair.condition for pair in before}
    return ",".join(name for name in CONDITIONS if name in taught) or _ALL_CONDITIONS


def _same_thoughts(before: Sequence[Pair]) -> Thoughts:
    """The way in which the pairs so far say sub-goals; in words where there are none, or both."""
    printed = {pair.thoughts for pair in before} == {Thoughts.PRINTED}
    return Thoughts.PRINTED if printed else Thoughts.WORDS


def _classroom(
    resources: Resources,
    settings: Settings,
    world: World,
    conditions: str,
    engine: str,
    option: list[str] | None,
) -> Classroom:
    if settings.split is None:
        learned_from = splits_to_learn_from(world.splits)
        settings = replace(settings, split=(learned_from or world.splits)[0])
    setting = options.make_setting(world, resources.data, engine, option)
    tasks, setting = settings.tasks(world, setting)
    return Classroom(world, tuple(tasks), setting, settings, read_conditions(conditions))


def report(done: TaughtPairs, out: Path) -> None:
    """Print who won which games, and how many pairs they gave."""
    for name, summary in done.played.items():
        say(f"{name}: {summary.won} of {summary.done} games won, {counted(summary.steps, 'step')}")
    if done.not_taught:
        named = [f"{row.task} ({row.ending})" for row in done.not_taught[:_MOST_NAMED]]
        more = ["…"] if len(done.not_taught) > _MOST_NAMED else []
        say(f"not won, and so not taught: {', '.join([*named, *more])}")
    if not done.found:
        say(f"{out}: these games gave no pairs")
        return
    new = "1 pair is new" if done.added == 1 else f"{done.added:,} pairs are new"
    say(f"{out}: {new}, of {done.found:,} in these games")


@app.command("show")
def show_taught(
    model: Annotated[
        str, typer.Argument(help="A taught model: its folder, or a name as after --model.")
    ],
) -> None:
    """Say what a taught model was taught: games, conditions, corrections, and how."""
    name = model if model.partition("/")[0] in PROVIDERS else f"hf/{model}"
    taught = taught_on(name)
    if taught is None and "/" not in model and not is_there(Path(model)):
        raise InputError(f"{model}: there is no such folder")
    if taught is None:
        raise InputError(
            f"{model}: nothing says that it was taught; give the folder that `rpms teach train`"
            " wrote"
        )
    conditions = ", ".join(taught.conditions)
    games = f"{counted(len(taught.tasks), 'game')} of {', '.join(taught.splits)}"
    say(f"{taught.world}: {games}, in {conditions}")
    pairs = f"{counted(taught.pairs, 'pair')}, {taught.corrections:,} of them corrections"
    said = f"; thoughts: {' and '.join(taught.thoughts)}" if taught.thoughts else ""
    say(f"{pairs}; base {taught.base}{said}")
    say("; ".join(f"{name} {value}" for name, value in taught.settings.items()))
