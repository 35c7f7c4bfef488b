"""Checks all that a world returns, for every caller: anybody may write one, and it may do anything.

Whatever a world raises, SystemExit too, and whatever it returns that is not what was asked for, is
a WorldError in one line. `World` wraps the methods of each subclass in this as it is written, so
that no caller can forget it.
"""

import functools
import logging
import math
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any, NoReturn

from rpms.foreign.limits import LONGEST_COMMAND, LONGEST_OBSERVATION, MOST_COMMANDS
from rpms.foreign.own_code import error_in_words
from rpms.foreign.shown import excerpt, whole_letters
from rpms.logic.belief import Belief
from rpms.logic.errors import RPMSError, WorldError
from rpms.logic.facts import Truth
from rpms.logic.goal import Goal
from rpms.worlds.exchange import Command, Game, Outcome, Task

_LOG = logging.getLogger("rpms")
Check = Callable[[str, Any], Any]
"""A check: from a method's name and its return value to a value that can be relied on."""
_GIVEN_GAMES = frozenset({"contradictions"})
"""The methods of a world that are given a live game."""


def check_methods(kind: type, base: type) -> None:
    """Wrap the methods that a world's class writes, so that each is checked; those of `base` are
    ours.
    """
    for name, check in _CHECKS.items():
        written = vars(kind).get(name)
        if written is vars(base).get(name):
            continue
        if isinstance(written, staticmethod | classmethod):
            function = _checked(name, written.__func__, check)
            setattr(kind, name, type(written)(function))
        elif callable(written) and not getattr(written, "__isabstractmethod__", False):
            setattr(kind, name, _checked(name, written, check))


def _guarded(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a world's own code that may answer anything, and raises nothing but a
    WorldError that says where. Only Ctrl-C, which is a person's, passes.
    """

    @functools.wraps(method)
    def ask(*arguments: Any, **options: Any) -> Any:
        try:
            return method(*arguments, **options)
        except (RPMSError, KeyboardInterrupt):
            raise
        except BaseException as error:  # a world with a loop of its own may cancel it
            raise _failure(name, error) from error

    return ask


def _guarded_answer(predicate: str, answer: Callable[..., Any]) -> Callable[..., Any]:
    """The guard for a predicate's answer. It takes no options: plans ask so often that they would
    be felt.
    """

    @functools.wraps(answer)
    def ask(*arguments: Any) -> Any:
        try:
            return answer(*arguments)
        except (RPMSError, KeyboardInterrupt):
            raise
        except BaseException as error:  # as above
            raise _failure(predicate, error) from error

    return ask


def _checked(name: str, method: Callable[..., Any], check: Check) -> Callable[..., Any]:
    """A method whose answer is checked."""
    given = _with_bare_games(method) if name in _GIVEN_GAMES else method

    @functools.wraps(method)
    def ask(*arguments: Any, **options: Any) -> Any:
        return check(name, given(*arguments, **options))

    return _guarded(name, ask)


def _with_bare_games(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a world that takes games: it is given the world's own, not the checked ones."""

    @functools.wraps(method)
    def ask(*arguments: Any, **options: Any) -> Any:
        return method(*map(_bare, arguments), **options)

    return ask


def _bare(argument: Any) -> Any:
    """A game as its world knows it."""
    while isinstance(argument, CheckedGame):
        argument = argument.inner
    return argument


def _failure(name: str, error: BaseException) -> WorldError:
    """A world's error, in one line that says where."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(frame.filename).name}:{frame.lineno}"
    return WorldError(f"the world failed in {name} ({place}): {error_in_words(error)}")


def _refuse(name: str, returned: Any, wanted: str) -> NoReturn:
    raise WorldError(f"the world answered {name} with {type(returned).__name__}, not with {wanted}")


class CheckedGame:
    """A live game, each of whose answers is checked; in all else it is as its world made it."""

    def __init__(self, inner: Game) -> None:
        self.inner = inner

    def reset(self) -> Outcome:
        outcome: Outcome = _guarded("reset", lambda: _outcome("reset", self.inner.reset()))()
        return outcome

    def step(self, command: str) -> Outcome:
        outcome: Outcome = _guarded("step", lambda: _outcome("step", self.inner.step(command)))()
        return outcome

    def admissible(self) -> tuple[str, ...]:
        commands: tuple[str, ...] = _guarded(
            "admissible", lambda: _commands(self.inner.admissible())
        )()
        return commands

    def close(self) -> None:
        """Release the game.

        One that cannot be released has played to its end: that is reported, and ends nothing.
        """
        try:
            _guarded("close", self.inner.close)()
        except WorldError as error:
            _LOG.warning("%s", error)

    def __getattr__(self, name: str) -> Any:
        if name == "inner":  # a copy that is being made has none yet
            raise AttributeError(name)
        return getattr(self.inner, name)


def _outcome(name: str, returned: Any) -> Outcome:
    """Check that the parts of an outcome are of the types that they are declared to be."""
    if not isinstance(returned, Outcome) or not isinstance(returned.observation, str):
        _refuse(name, returned, "an Outcome and its text")
    outcome: Outcome = returned
    if len(outcome.observation) > LONGEST_OBSERVATION:
        said = f"{len(outcome.observation):,} characters"
        raise WorldError(
            f"the world said {said} at once; an observation has at most {LONGEST_OBSERVATION:,}"
        )
    if type(outcome.score) is not float or not math.isfinite(outcome.score):
        outcome = replace(outcome, score=_number(outcome.score))
    if type(outcome.won) is not bool or type(outcome.done) is not bool:
        won = _flag("won", outcome.won)
        outcome = replace(outcome, won=won, done=_flag("done", outcome.done))
    if not outcome.observation.isascii():
        return replace(outcome, observation=whole_letters(outcome.observation))
    return outcome


def _number(score: Any) -> float:
    """A score as a number that can be written down."""
    number = math.nan
    if isinstance(score, Real):
        with suppress(OverflowError):  # of a whole number that is larger than all others
            number = float(score)
    if not math.isfinite(number):
        raise WorldError(f"the world gave the score {excerpt(score, 60)}, which is no number")
    return number


def _flag(name: str, value: Any) -> bool:
    """True or False, of Python or of NumPy."""
    if type(value).__name__ not in ("bool", "bool_"):
        raise WorldError(f"the world gave {name} as {excerpt(value, 60)}: it is True or False")
    return bool(value)


def _commands(listed: Any) -> tuple[str, ...]:
    """Commands as a tuple of texts, not more of them than a world can mean."""
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        _refuse("admissible", listed, "a list of commands")
    if len(listed) > MOST_COMMANDS:
        raise WorldError(
            f"the world lists {len(listed):,} commands at once; there are at most {MOST_COMMANDS:,}"
        )
    for command in listed:
        if not isinstance(command, str) or len(command) > LONGEST_COMMAND:
            what = f"a command of at most {LONGEST_COMMAND:,} characters"
            _refuse("admissible", command, what)
    return tuple(listed)


def _game(name: str, game: Any) -> CheckedGame:
    for member in ("reset", "step", "admissible", "close"):
        if not hasattr(game, member):
            _refuse(name, game, f"a game: it has no {member}")
    return CheckedGame(game)


def _tasks(name: str, tasks: Any) -> Sequence[Task]:
    if not isinstance(tasks, Sequence) or isinstance(tasks, str):
        _refuse(name, tasks, "a list of tasks")
    for task in tasks:
        if not _is_task(task):
            _refuse(name, task, "a list of tasks, each a Task with an id, a split and a type")
    return tasks


def _is_task(task: Any) -> bool:
    if not isinstance(task, Task) or not isinstance(task.source, Mapping):
        return False
    return bool(task.id) and _are_texts((task.id, task.split, task.type))


def _are_texts(values: Iterable[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _task_or_none(name: str, task: Any) -> Task | None:
    if task is not None and not _is_task(task):
        _refuse(name, task, "a Task or None")
    found: Task | None = task
    return found


def _files(name: str, files: Any) -> tuple[tuple[str, str], ...]:
    """Texts of a manual, each with its file's name."""
    if not isinstance(files, tuple | list):
        _refuse(name, files, "texts, each with the name of its file")
    for file in files:
        if not isinstance(file, tuple) or len(file) != 2 or not _are_texts(file):
            _refuse(name, file, "texts, each with the name of its file")
    return tuple(files)


def _by_name(name: str, values: Any) -> Mapping[str, Any]:
    if not isinstance(values, Mapping) or not _are_texts(values):
        _refuse(name, values, "values by their names")
    return values


def _texts_by_name(name: str, texts: Any) -> Mapping[str, str]:
    if not _are_texts(_by_name(name, texts).values()):
        _refuse(name, texts, "texts by their names")
    found: Mapping[str, str] = texts
    return found


def _list(name: str, values: Any) -> Sequence[Any]:
    if not isinstance(values, Sequence) or isinstance(values, str):
        _refuse(name, values, "a list")
    return values


def _command(name: str, command: Any) -> Command:
    if not isinstance(command, Command) or not isinstance(command.text, str):
        _refuse(name, command, "a Command and its text")
    return command


def _text(name: str, text: Any) -> str:
    if not isinstance(text, str):
        _refuse(name, text, "a text")
    return text


def _texts(name: str, texts: Any) -> tuple[str, ...]:
    if not isinstance(texts, tuple | list) or not _are_texts(texts):
        _refuse(name, texts, "texts")
    return tuple(texts)


def _a_goal(name: str, goal: Any) -> Goal:
    if not isinstance(goal, Goal):
        _refuse(name, goal, "a Goal")
    if not _are_texts((goal.type, goal.object, goal.state, goal.destination, goal.text)):
        _refuse(name, goal, "a Goal whose fields are texts")
    return goal


def _a_belief(name: str, belief: Any) -> Belief:
    if not isinstance(belief, Belief):
        _refuse(name, belief, "a Belief")
    _check_belief(type(belief))
    return belief


_BELIEFS_CHECKED: set[type] = {Belief}


def _check_belief(kind: type[Belief]) -> None:
    """Wrap what a class of beliefs writes itself, as the methods of a world are wrapped.

    Beliefs of this package are left alone: plans ask them so often that it would be felt.
    """
    if kind in _BELIEFS_CHECKED or kind.__module__.startswith("rpms."):
        return
    _BELIEFS_CHECKED.add(kind)
    for name in vars(Belief):
        written = vars(kind).get(name)
        if written is not None and not name.startswith("_"):
            _check_member(kind, name, written)
    if "answers" in vars(kind):
        _check_answers(kind)
    for base in kind.__bases__:
        if issubclass(base, Belief):
            _check_belief(base)


def _check_answers(kind: type[Belief]) -> None:
    """Wrap the functions that answer for predicates."""
    answers = {}
    for predicate, (arity, ask) in kind.answers.items():
        answers[predicate] = (arity, _guarded_answer(predicate, ask))
    kind.answers = answers


def _check_member(kind: type[Belief], name: str, written: Any) -> None:
    """Wrap one member that a class of beliefs writes itself."""
    if isinstance(written, property):
        setattr(kind, name, written.getter(_guarded(name, _getter_of(written))))
    elif name == "truth":
        setattr(kind, name, _checked(name, written, _a_truth))
    elif callable(written):
        setattr(kind, name, _guarded(name, written))


def _getter_of(written: property) -> Callable[..., Any]:
    assert written.fget is not None, "a property that nobody can read"
    return written.fget


def _a_truth(name: str, value: Any) -> Truth:
    if not isinstance(value, Truth):
        _refuse(name, value, "a Truth")
    return value


def _truth(_name: str, value: Any) -> bool:
    return bool(value)


_CHECKS: Mapping[str, Check] = {
    "open": _game,
    "tasks": _tasks,
    "goal": _a_goal,
    "goal_of": _a_goal,
    "start": _a_belief,
    "update": _a_belief,
    "infeasible": _truth,
    "command": _command,
    "form": _command,
    "stating": _text,
    "compat": _text,
    "not_installed": _text,
    "embedded_memory": _text,
    "contradictions": _texts,
    "manual": _files,
    "paper_manual": _files,
    "procedures": _files,
    "called": _by_name,
    "chosen": _texts_by_name,
    "variation": _task_or_none,
    "edition": _texts_by_name,
    "tools": _list,
}
"""The methods of a world, each with the check of what it returns."""
