"""The settings of an experiment as options of the commands that play."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

import typer

from rpms.logic.errors import InputError
from rpms.logic.rules import Tier
from rpms.paper.arbitration import Arbitration
from rpms.paper.condition import CONDITIONS
from rpms.paper.enforcement import PARTS
from rpms.paper.memory import told_kinds
from rpms.play.methods import METHODS
from rpms.play.setting_values import SettingError
from rpms.play.settings import Settings
from rpms.play.sources import WEIGHTS


def _listed(names: Iterable[object]) -> str:
    return ", ".join(map(str, names))


@dataclass(frozen=True)
class SettingOptions:
    """The fields of `Settings` as they are typed; None is not given."""

    condition: Annotated[
        str | None,
        typer.Option(help=f"Which parts of RPMS are on: {_listed(CONDITIONS)}.", metavar="NAME"),
    ] = None
    preset: Annotated[
        str | None,
        typer.Option(
            help=(
                "Defaults for all other settings: paper (its manual, prompt and belief, nothing"
                " enforced) or strict."
            ),
            metavar="NAME",
        ),
    ] = None
    enforce: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                f"One part of the enforcement, such as menu=5: {_listed(PARTS)}."
                " docs/enforcement.md lists their values."
            ),
            metavar="NAME=VALUE",
        ),
    ] = None
    arbitration: Annotated[
        str | None,
        typer.Option(
            help=(
                f"What to do with memories that conflict with rules: {_listed(Arbitration)}; or a"
                " judge of your own."
            ),
            metavar="MODE|MODULE:NAME",
        ),
    ] = None
    retriever: Annotated[
        str | None,
        typer.Option(
            help="A retriever of your own in place of Eq. 4. docs/change_the_method.md.",
            metavar="MODULE:NAME",
        ),
    ] = None
    consistency: Annotated[
        str | None,
        typer.Option(
            help="A state filter (COMPAT) of your own in place of Eq. 6.", metavar="MODULE:NAME"
        ),
    ] = None
    prompt: Annotated[
        str | None,
        typer.Option(
            help="Your own way to make messages of the prompt's blocks.", metavar="MODULE:NAME"
        ),
    ] = None
    state_filter: Annotated[
        str | None,
        typer.Option(
            help="Leave out memories that were learned in another state than the present one.",
            metavar="on|off",
        ),
    ] = None
    theta: Annotated[
        str | None,
        typer.Option(
            help="θ: how similar a memory's goal must be to this one, from 0 to 1.",
            metavar="NUMBER",
        ),
    ] = None
    k: Annotated[
        str | None,
        typer.Option(
            help=(
                "How many memories a prompt shows, for all kinds or by kind:"
                f" {_listed(told_kinds())}."
            ),
            metavar="KIND=N,…",
        ),
    ] = None
    schemas: Annotated[
        str | None,
        typer.Option(
            help="Verified schemas are recalled by the goals they were tried for, or for any goal.",
            metavar="goal|any",
        ),
    ] = None
    memory_tokens: Annotated[
        str | None,
        typer.Option(
            help="Tokens of the memory block; by default 280, and more where --k asks for more.",
            metavar="TOKENS",
        ),
    ] = None
    warnings: Annotated[
        str | None,
        typer.Option(
            help=(
                "Critical failures and lessons together in a prompt; by default 3, or as --k asks."
            ),
            metavar="N",
        ),
    ] = None
    examined: Annotated[
        str | None,
        typer.Option(
            help=(
                "Memories of a kind that are judged before giving up on finding enough; by default"
                " 100."
            ),
            metavar="N",
        ),
    ] = None
    weights: Annotated[
        str | None,
        typer.Option(
            help=(
                "How much each field of a goal counts in recall; they add up to 1:"
                f" {_listed(WEIGHTS)}."
            ),
            metavar="FIELD=N,…",
        ),
    ] = None
    mask: Annotated[
        str | None,
        typer.Option(
            help=(
                "Hide each memory in this share of the episodes, drawn with the seed, for `rpms"
                " memory audit`; 0.2 is usual."
            ),
            metavar="NUMBER",
        ),
    ] = None
    manual: Annotated[
        str | None,
        typer.Option(
            help="Rules: paper, complete, or a file with tiers 2 and 3.",
            metavar="paper|complete|FILE",
        ),
    ] = None
    tiers: Annotated[
        str | None,
        typer.Option(help=f"Tiers of the manual to use: {_listed(Tier)}.", metavar="TIER,…"),
    ] = None
    prompts: Annotated[
        str | None,
        typer.Option(
            help="A file with your own instruction, example and headings.", metavar="FILE"
        ),
    ] = None
    layout: Annotated[
        str | None,
        typer.Option(help="Order of the prompt's blocks: paper or cached.", metavar="NAME"),
    ] = None
    form: Annotated[
        str | None,
        typer.Option(
            help="How the prompt is sent: chat (one message per turn) or single.", metavar="NAME"
        ),
    ] = None
    belief: Annotated[
        str | None,
        typer.Option(help="How much of the belief is shown: paper or extended.", metavar="NAME"),
    ] = None
    notes: Annotated[
        str | None,
        typer.Option(
            help=(
                "Add notes to the world's texts: how an action was read, and that an answer held"
                " none."
            ),
            metavar="on|off",
        ),
    ] = None
    outcomes: Annotated[
        str | None,
        typer.Option(
            help=(
                "Track what became of objects (heated, cooled, cleaned); off as in the paper's"
                " Section 3.1."
            ),
            metavar="on|off",
        ),
    ] = None
    memory_words: Annotated[
        str | None,
        typer.Option(
            help=(
                "Lessons and verified schemas in the manual's words, or only as they were observed."
            ),
            metavar="manual|observed",
        ),
    ] = None
    repair: Annotated[
        str | None,
        typer.Option(
            help="What to correct in the way an action is written: off, form or belief.",
            metavar="NAME",
        ),
    ] = None
    calls: Annotated[
        str | None,
        typer.Option(
            help="How tools are called, where actions are tool calls: as text, or natively.",
            metavar="text|native",
        ),
    ] = None
    memory: Annotated[
        str | None,
        typer.Option(
            help="Episodic memory: a file, embedded, or none.", metavar="FILE|embedded|none"
        ),
    ] = None
    harvest: Annotated[
        str | None,
        typer.Option(
            help=(
                "What learning keeps of an episode: snippets as the paper's, refused steps"
                " included; or each sub-goal apart, and only what worked."
            ),
            metavar="as_paper|clean|MODULE:NAME",
        ),
    ] = None
    reader: Annotated[
        str | None,
        typer.Option(
            help=(
                "Who reads goals in people's words: a model, or a control (words, nearest, random);"
                " by default the model that plays. docs/requests.md."
            ),
            metavar="MODEL|words|nearest|random",
        ),
    ] = None
    overlap: Annotated[
        str | None,
        typer.Option(
            help=(
                "Tasks that the memory was learned from: refuse to play them, or allow it; then"
                " every table says so."
            ),
            metavar="refuse|allow",
        ),
    ] = None
    agent: Annotated[
        str | None,
        typer.Option(
            help=(
                f"The method: {_listed(METHODS)}. All but react play the baseline where no"
                " condition is given; docs/studies.md."
            ),
            metavar="NAME",
        ),
    ] = None
    trials: Annotated[
        str | None,
        typer.Option(
            help=(
                "At most N attempts at a task, for reflexion and clin; by default 12 and 5, as in"
                " their papers."
            ),
            metavar="N",
        ),
    ] = None
    insights: Annotated[
        str | None,
        typer.Option(
            help="The file that expel plays with; `rpms insights` writes it.", metavar="FILE"
        ),
    ] = None
    context: Annotated[
        str | None,
        typer.Option(
            help="The model's context window; by default looked up, or asked of its server.",
            metavar="TOKENS",
        ),
    ] = None
    max_tokens: Annotated[
        str | None, typer.Option(help="The most new tokens in an answer.", metavar="TOKENS")
    ] = None
    temperature: Annotated[
        str | None,
        typer.Option(help="Sampling temperature; the default, 0, is greedy.", metavar="NUMBER"),
    ] = None
    seed: Annotated[
        str | None,
        typer.Option(
            help="Seed for drawing tasks, hiding memories and sampling models; recorded.",
            metavar="NUMBER",
        ),
    ] = None
    split: Annotated[
        str | None,
        typer.Option(help="The split of tasks; by default the world's first.", metavar="NAME"),
    ] = None
    task: Annotated[
        list[str] | None,
        typer.Option(
            "--task",
            "--tasks",
            help=(
                "Only these tasks, by type, name or id; several with commas, or repeat the option."
            ),
            metavar="NAME,…",
        ),
    ] = None
    per_task: Annotated[
        str | None, typer.Option(help="Only the first N tasks of each type.", metavar="N")
    ] = None
    sample: Annotated[
        str | None, typer.Option(help="Only N tasks, drawn at random with the seed.", metavar="N")
    ] = None
    limit: Annotated[
        str | None, typer.Option(help="Only N tasks, taken from all types in turn.", metavar="N")
    ] = None
    steps: Annotated[
        str | None,
        typer.Option(
            help="The most steps in an episode; by default the world's own limit.", metavar="N"
        ),
    ] = None
    simplifications: Annotated[
        str | None,
        typer.Option(
            help="A world's simplifications, such as ScienceWorld's easy; none by default.",
            metavar="NAME,…",
        ),
    ] = None

    def read(self) -> Settings:
        """The settings; a wrong value is an error that names its option."""
        given = {name: value for name, value in vars(self).items() if value not in (None, [])}
        try:
            return Settings.read(given)
        except SettingError as error:
            option = f"--{error.name.replace('_', '-')}"
            raise InputError(f"{option} {error.problem}") from None


@dataclass(frozen=True)
class TeachingOptions(SettingOptions):
    """The same, where games are chosen to be taught."""

    split: Annotated[
        str | None,
        typer.Option(
            help=(
                "The split of games; by default the pairs' own, and for new pairs the world's first"
                " to learn from."
            ),
            metavar="NAME",
        ),
    ] = None
