"""Models that are no LLM: a plan followed, menus chosen from unread (controls), a script, a
plain function.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from rpms.foreign.file_reader import read_text
from rpms.foreign.json_text import NotJson, as_object, read_jsonl
from rpms.foreign.limits import LARGEST_SCRIPT
from rpms.logic.belief import Situation
from rpms.logic.errors import InputError, ModelError
from rpms.models.base import Answer, Request
from rpms.paper.beyond import Menu
from rpms.paper.decide import Decision

Policy = Callable[[Decision], "PlannedAnswer"]
"""Chooses a thought and an action by the step's decision."""
NO_MENU = "Thought: There is no menu to choose from."
"""The answer to a prompt without a menu. It has no action, and costs a step as any such answer
does."""


class PlannedAnswer(NamedTuple):
    """The answer of a program that follows plans."""

    thought: str
    command: str


def follow_plan(decision: Decision) -> PlannedAnswer:
    """The policy called `planner`: begin the best plan.

    What the decision does not know, it does not know.
    """
    from rpms.planning.advice import plan_of  # noqa: PLC0415  the paper loads no planner
    from rpms.planning.reason import reasoner_of  # noqa: PLC0415

    options = plan_of(decision).options
    if options:
        thought = f"I want to {decision.progress.text}."
        return PlannedAnswer(thought, options[0].command)
    reason = reasoner_of(decision.schemas).impasse(Situation(decision.belief, decision.goal))
    return PlannedAnswer(f"Nothing is left to try: {reason}.", _waiting(decision))


def _waiting(decision: Decision) -> str:
    """A command that is about no thing, such as a look around, and that nothing bars; empty if
    there is none.
    """
    for schema in decision.schemas.environment:
        if not schema.parameters and not decision.advice.bars(schema.syntax[0]):
            return schema.syntax[0]
    return ""


class FunctionModel:
    """A plain function as a model: for tests, baselines and models this package does not know."""

    def __init__(
        self,
        function: Callable[[Request], str | Answer],
        name: str = "function",
        *,
        constrains: bool = False,
        plans: bool = True,
    ) -> None:
        """`function` may be called from several threads at once.

        `constrains`: it answers with an entry of the menu. `plans`: it may read the step's plan
        (`rpms.planning.advice.plan_of`); without, a run of the paper's preset loads no planner.
        """
        self._function = function
        self.name = name
        self.constrains = constrains
        self.plans = plans

    def answer(self, request: Request) -> Answer:
        answer = self._function(request)
        return Answer(answer) if isinstance(answer, str) else answer

    def close(self) -> None:
        """Nothing is held."""


def _spoken(thought: object, action: object) -> str:
    """An answer in the words a model would use."""
    return f"Thought: {thought}\nAction: {action}" if thought else f"Action: {action}"


class PolicyModel(FunctionModel):
    """Answers with what a policy chooses; it may read the step's plan."""

    def __init__(self, name: str, policy: Policy) -> None:
        def answer(request: Request) -> str:
            thought, action = policy(_decision(request, name))
            return _spoken(thought, action)

        super().__init__(answer, name)


def _decision(request: Request, name: str) -> Decision:
    if request.decision is None:
        raise ModelError(f"{name} reads the step's decision, and the request carries none")
    return request.decision


def _menu_model(name: str, choose: Callable[[Request, Menu], int]) -> FunctionModel:
    """A model that answers with an entry of the menu, as shown: the one at the index that
    `choose` returns.
    """

    def answer(request: Request) -> str:
        menu = _decision(request, name).menu
        if not menu.choices:
            return NO_MENU
        index = choose(request, menu)
        return f"Action: {menu.choices[index]}"

    return FunctionModel(answer, name, constrains=True, plans=False)


def menu_first(name: str) -> FunctionModel:
    """Always the first entry shown."""
    return _menu_model(name, lambda _request, _menu: 0)


def menu_best(name: str) -> FunctionModel:
    """The entry that ranks highest for the sub-goal, which the menu's order does not show: a
    planner in disguise.
    """

    def choose(_request: Request, menu: Menu) -> int:
        ranks = [item.rank for item in menu.items]
        return ranks.index(min(ranks))

    return _menu_model(name, choose)


def menu_random(name: str, seed: str = "0") -> FunctionModel:
    """A uniform choice drawn from seed, episode and prompt alone, so that no scheduling changes
    a result.
    """
    if not seed.isdecimal():
        raise InputError(f"--model {name}: the seed must be a whole number, such as menu-random/1")

    def choose(request: Request, menu: Menu) -> int:
        prompt = request.prompt
        cut = [item.text for item in prompt.cut]
        what = "\x00".join((str(int(seed)), request.episode, prompt.text, *cut))
        digest = hashlib.sha256(what.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest, "big") % len(menu.choices)

    return _menu_model(name, choose)


@dataclass(eq=False)
class ScriptedModel:
    """Answers line after line.

    Each episode reads from the beginning, so that several at once change nothing.
    """

    plans: ClassVar[bool] = False

    name: str
    answers: Sequence[str]
    by_episode: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Answers of episodes that have a script of their own."""
    _given: dict[str, Iterator[int]] = field(default_factory=lambda: defaultdict(count))

    def answer(self, request: Request) -> Answer:
        answers = self.by_episode.get(request.episode, self.answers)
        position = next(self._given[request.episode])
        if position >= len(answers):
            raise ModelError(
                f"{self.name}: the script has {len(answers)} answers and the episode asks for"
                " another"
            )
        return Answer(answers[position])

    def close(self) -> None:
        """Forget how far each episode has read."""
        self._given.clear()


def read_script(path: Path, name: str | None = None) -> ScriptedModel:
    """Read a script: an action a line, or in `.jsonl` objects with `text`, or `action`,
    `thought`, `episode`.
    """
    lines = read_text(path, LARGEST_SCRIPT).splitlines()
    name = name or f"scripted/{path}"
    if path.suffix != ".jsonl":
        return ScriptedModel(name, _actions_in(lines))
    common: list[str] = []
    by_episode: dict[str, list[str]] = {}
    problem = "is not a JSON object with `text` or `action`"
    for _, line in read_jsonl(path, lines, _scripted, problem):
        if line.episode is None:
            common.append(line.text)
        else:
            by_episode.setdefault(str(line.episode), []).append(line.text)
    return ScriptedModel(name, common, by_episode)


def _actions_in(lines: Iterable[str]) -> list[str]:
    """The answers of a script that has an action a line; `#` begins a remark."""
    answers: list[str] = []
    for line in map(str.strip, lines):
        if line and not line.startswith("#"):
            answers.append(line if "action:" in line.lower() else f"Action: {line}")
    return answers


class _Line(NamedTuple):
    """An answer; and the episode that it is for, if it is for one alone."""

    text: str
    episode: object


def _scripted(value: Any) -> _Line:
    entry = as_object(value)
    if not isinstance(entry.get("text", entry.get("action")), str):
        raise NotJson("it has neither")
    text = entry["text"] if "text" in entry else _spoken(entry.get("thought"), entry["action"])
    return _Line(text, entry.get("episode"))
