"""Protocols of an environment: a World is knowledge and needs nothing installed, a Game is one
live simulator.
"""

import re
import sys
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from inspect import signature
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from rpms.foreign.call_text import Tool
from rpms.logic.belief import Belief, FactFunction, Situation
from rpms.logic.errors import InputError, nearest
from rpms.logic.facts import grouped
from rpms.logic.goal import UNKNOWN_GOAL, Goal
from rpms.logic.rules import ActiveRules
from rpms.paper.consistency import same_occupancy
from rpms.paper.memory import Entry
from rpms.paper.recall import Retrieval
from rpms.paper.wording import Wording
from rpms.worlds.checked import check_methods
from rpms.worlds.exchange import (
    REQUEST,
    SENTENCE,
    Command,
    Game,
    Outcome,
    Setting,
    Task,
    game_of,
    games_won,
)

__all__ = [
    "REQUEST",
    "SENTENCE",
    "Command",
    "Game",
    "Outcome",
    "ReportedDeed",
    "Setting",
    "Task",
    "World",
    "asking",
    "by_verb",
    "game_of",
    "games_won",
    "keyed",
    "lacking",
    "read_deed",
    "read_table",
    "read_wording",
    "some",
]

_Function = TypeVar("_Function", bound=Callable[..., object])
_Ask = Callable[..., bool | None]


class World(ABC):
    """Everything RPMS knows of an environment: text into facts, and the manual. Only `open` needs a
    simulator.

    A world is written as a subclass: a name, splits, a wording, the methods marked abstract, and a
    `manual.yaml` beside it. All else has a default. What to do in the world is nowhere written: it
    follows from the manual. What its methods return is checked (`rpms.worlds.checked`).
    """

    name: str
    splits: tuple[str, ...]
    """Known splits, the one to use by default first."""
    wording: Wording
    """The instruction and the example of its prompts."""
    engines: tuple[str, ...] = ("native",)
    step_budget: int = 50
    max_tokens: int = 256
    """New tokens a model may write at a step."""
    signatures: tuple[str, ...] = ()
    """Ways to write its commands, such as `take <thing> from <room>`, for a learner to try where
    the game lists no commands. A parameter is a role of the belief's names; `block_2` is a second
    block."""
    positive_needs: bool = False
    """True if no command needs a fact to be false, as in planning domains without negation."""
    nothing_hidden: bool = False
    """True if the belief knows every fact and commands are deterministic: for a learner, one
    refusal then proves as much as two."""
    not_understood: str = "Nothing happens."
    """The simulator's own answer to an unknown command."""
    options: tuple[str, ...] = ()
    """The names of its own options."""
    retrieval: Retrieval = Retrieval()
    manual_names: tuple[str, ...] = ("manual.yaml",)
    """The files of its manual's tiers 2 and 3, beside the module that it is written in."""
    paper_names: tuple[str, ...] = ()
    """Files of the manual at the paper's scale, if there is one beside the complete manual."""
    procedure_names: tuple[str, ...] = ()
    """Files with knowledge for plans alone, beyond the paper's manual: how tasks are solved. No
    prompt shows it."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        check_methods(cls, World)

    @abstractmethod
    def tasks(self, split: str, setting: Setting) -> Sequence[Task]:
        """The tasks of a split, in a fixed order."""

    @abstractmethod
    def open(self, task: Task, setting: Setting) -> Game:
        """Start a simulator for a task; it is reset before its first step."""

    @abstractmethod
    def goal(self, opening: str) -> Goal:
        """Read the goal out of the first observation; type `unknown` if it fits no template."""

    @abstractmethod
    def start(self, goal: Goal) -> Belief:
        """The belief before anything was seen."""

    @abstractmethod
    def update(self, belief: Any, action: str | None, observation: str) -> Belief:
        """f_UPD of Eq. 1: deterministic, from text alone.

        The belief is always one that this world made.
        """

    @abstractmethod
    def infeasible(self, observation: str) -> bool:
        """True if the world's answer says that the command could not be done."""

    def stating(self, opening: str, request: str) -> str:
        """An opening observation with a person's request for its task, in place of the one that
        the game states.
        """
        own = self.goal(opening)
        if own.type != UNKNOWN_GOAL and own.text in opening:
            return opening.replace(own.text, request, 1)
        return opening if request in opening else f"{opening}\nYour task is to: {request}"

    def goal_of(self, type_: str, named: Mapping[str, str], text: str) -> Goal:
        """A goal that a request was read as: its type, its object and destination, and the
        request.
        """
        return Goal(type_, named.get("object", ""), "", named.get("destination", ""), text)

    def called(self) -> Mapping[str, Sequence[str]]:
        """Kinds and goal types, each with further names that people have for it: `refrigerator`
        for a fridge.
        """
        return {}

    def chosen(self, setting: Setting) -> Mapping[str, str]:
        """The options of a setting; one that the world does not have is an InputError."""
        for name in setting.options:
            if name not in self.options:
                raise InputError(
                    f"{self.name} has no option {name!r}: {nearest(str(name), self.options)}"
                )
        return setting.options

    def manual(self) -> tuple[tuple[str, str], ...]:
        """The YAML texts of tier 2 and 3, each with its file for messages.

        Tier 1 is every world's.
        """
        return self.manual_files(*self.manual_names)

    def manual_files(self, *names: str) -> tuple[tuple[str, str], ...]:
        """Read files that lie beside the module that the world, or the one it extends, is
        written in.
        """
        folder = self._folder_of(names[0])
        here = Path.cwd()
        shown = folder.relative_to(here) if folder.is_relative_to(here) else folder
        try:
            return tuple(
                (str(shown / name), (folder / name).read_text(encoding="utf-8")) for name in names
            )
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
            where = f"{' and '.join(names)} beside {type(self).__module__}"
            raise InputError(f"{self.name} cannot read its manual, {where}: {reason}") from None

    def _folder_of(self, name: str) -> Path:
        """The folder, of this class's module or of one that it extends, that has a file; the
        first of them if none has.
        """
        folders = []
        for kind in type(self).__mro__:
            if not issubclass(kind, World) or kind is World:
                continue
            module = vars(sys.modules[kind.__module__]).get("__file__")
            if module:
                folders.append(Path(module).parent)
        for folder in folders:
            if (folder / name).is_file():
                return folder
        return folders[0] if folders else Path()

    def compat(self, situation: Situation, entry: Entry, rules: ActiveRules, /) -> str:
        """COMPAT of Eq. 6: why an experience does not suit the state; nothing if it does."""
        return same_occupancy(situation, entry, rules)

    def command(self, action: str, belief: Any) -> Command:  # noqa: ARG002  some worlds need it
        """Forgive harmless form: letter case, spaces, a trailing dot; in some worlds a synonym."""
        text = " ".join(action.split())
        forgiven = text.rstrip(".!").casefold()
        return Command(forgiven, ("form",) if forgiven != text else ())

    def form(self, action: str, belief: Any) -> Command:
        """Forgive form alone, where `command` also adds what the belief tells."""
        return self.command(action, belief)

    def paper_manual(self) -> tuple[tuple[str, str], ...]:
        """Files of the manual at the paper's scale; of the complete one, if there is no other."""
        return self.manual_files(*self.paper_names) if self.paper_names else self.manual()

    def procedures(self) -> tuple[tuple[str, str], ...]:
        """Files of the procedures, which only the planner adds to `paper_manual`."""
        return self.manual_files(*self.procedure_names) if self.procedure_names else ()

    def variation(self, name: str, number: int) -> Task | None:  # noqa: ARG002
        """One variation of a task, of any split; None in a world whose tasks have none."""
        return None

    def contradictions(self, belief: Any, game: Any) -> tuple[str, ...]:  # noqa: ARG002
        """Beliefs that the simulator contradicts: state drift, as a list."""
        return ()

    def edition(self, tasks: Sequence[Task], setting: Setting) -> Mapping[str, str]:  # noqa: ARG002
        """Text that tells apart games of the same names; recorded with every run."""
        return {}

    def tools(self) -> Sequence[Tool]:
        """The tools whose calls are the world's actions, for servers that take tools; none if its
        actions are other than calls.
        """
        return ()

    def not_installed(self) -> str:
        """Missing packages that `open` needs, with the command that installs them; empty if all
        is here.
        """
        return ""

    def embedded_memory(self) -> str:
        """A file with a memory that comes with the world; nothing if there is none."""
        return ""


def read_wording(package: str | None, **own: Any) -> Wording:
    """A wording with the texts of `prompts.txt` in a world's package, each under a line `===
    name of its field`.
    """
    text = files(package or "").joinpath("prompts.txt").read_text(encoding="utf-8")
    _, *parts = re.split(r"^=== (\w+)\n", text, flags=re.MULTILINE)
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        own[name] = body.removesuffix("\n")
    return Wording(**own)


def read_table(package: str | None, file: str) -> dict[str, Any]:
    """A world's data: a TOML file in its package."""
    return tomllib.loads(files(package or "").joinpath(file).read_text(encoding="utf-8"))


class ReportedDeed(NamedTuple):
    """Something that a world's answer says was done, by the names in it."""

    verb: str
    object: str = ""
    place: str = ""


def read_deed(forms: Iterable[tuple[re.Pattern[str], str]], text: str) -> ReportedDeed | None:
    """The first deed whose form fits a whole text; `object` and `place` are groups that the form
    may have.
    """
    for pattern, verb in forms:
        match = pattern.fullmatch(text)
        if match is not None:
            said = match.groupdict()
            return ReportedDeed(verb, said.get("object") or "", said.get("place") or "")
    return None


def keyed(*functions: _Function) -> dict[str, _Function]:
    """Functions by their names, less the underscore: a manual's predicates, a table's changes."""
    return {function.__name__.removeprefix("_"): function for function in functions}


def asking(*functions: _Ask, **answers: _Ask) -> dict[str, FactFunction]:
    """The table for `Belief.answers`: by predicate, the number of its arguments beside the belief,
    and its function.

    A function given without a name answers for the predicate of its own name (`keyed`).
    """
    table = {}
    for name, ask in (keyed(*functions) | answers).items():
        table[name] = (len(signature(ask).parameters) - 1, ask)
    return table


def some(items: Sequence[str], most: int) -> str:
    """The first few names as a list in words, with the number of names left out."""
    more = f", +{len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more


def lacking(world: object) -> str:
    """Reason why something is no World, in words; empty if it is one."""
    if isinstance(world, type):
        kind = world.__name__
        return f"this is the class {kind}; name an instance of it: world = {kind}()"
    kind = type(world).__name__
    if not isinstance(world, World):
        return f"{kind} is no subclass of rpms.worlds.base.World"
    missing = [name for name in ("name", "splits", "wording") if not hasattr(world, name)]
    if missing:
        return f"{kind} has no {', '.join(missing)}"
    wrong = _wrong_value(world)
    return f"{kind}: {wrong}" if wrong else ""


def _wrong_value(world: World) -> str:
    """The first wrong field of a world, in words; empty if all are as they must be."""
    required = {
        "name must be a text": isinstance(world.name, str) and world.name,
        'splits must be names such as ("train", "test")': _are_names(world.splits),
        "wording must be a rpms.paper.wording.Wording": isinstance(world.wording, Wording),
        'engines must be names such as ("native",)': _are_names(world.engines),
        "step_budget must be a number above zero": _is_above_zero(world.step_budget),
        "max_tokens must be a number above zero": _is_above_zero(world.max_tokens),
    }
    for claim, holds in required.items():
        if not holds:
            return claim
    return ""


def _are_names(value: object) -> bool:
    if not isinstance(value, tuple | list) or not value:
        return False
    return all(isinstance(each, str) and each for each in value)


def _is_above_zero(value: object) -> bool:
    return isinstance(value, int) and value > 0


def by_verb(commands: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Commands grouped by their first word, so that a frequent one does not crowd out the rest."""
    groups = grouped((command.partition(" ")[0], command) for command in sorted(commands))
    return tuple(map(tuple, groups.values()))
