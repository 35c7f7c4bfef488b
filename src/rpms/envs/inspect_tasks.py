"""The worlds' tasks as an Inspect task, `inspect eval rpms/world`: RPMS decides, and Inspect's
model answers.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from rpms.envs.env_episodes import Episodes
from rpms.logic.errors import ContextOverflow, InputError, ModelError
from rpms.models.base import Answer, Request, ShorteningModel
from rpms.paper.compose import compose
from rpms.paper.episode import Ending, Episode, Usage
from rpms.paper.recall import EpisodicMemory
from rpms.play.seats import Play
from rpms.play.settings import Settings
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.store.memories import read_memory

try:
    from anyio import from_thread, to_thread
    from inspect_ai import Task, task
    from inspect_ai import model as chat
    from inspect_ai._util.error import PrerequisiteError
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.scorer import (
        CORRECT,
        INCORRECT,
        Score,
        Scorer,
        Target,
        accuracy,
        mean,
        scorer,
        stderr,
    )
    from inspect_ai.solver import Generate, Solver, TaskState, solver
    from rich.markup import escape
except ImportError:
    raise ImportError(
        "rpms.envs.inspect_tasks needs Inspect: pip install 'rpms[inspect]'"
    ) from None

_OUTCOME = "rpms"
"""Key of a sample's store that holds its episode's ending."""


class _Refused(InputError, PrerequisiteError):
    """A person's mistake, which Inspect's command prints as a line: of all errors it does so
    for its own kind alone.
    """

    def __init__(self, line: str) -> None:
        Exception.__init__(self, line)
        self.message = escape(line)


@contextmanager
def _mistakes_in_a_line() -> Iterator[None]:
    try:
        yield
    except InputError as error:
        raise _Refused(str(error)) from None


class _Chosen(NamedTuple):
    """The settings of an evaluation, and the tasks that it plays."""

    settings: Settings
    episodes: Episodes


def _chosen(name: str, split: str | None, settings: Mapping[str, Any]) -> _Chosen:
    """Divide the settings of an evaluation into those of a run and those of its games."""
    of_episodes: dict[str, Any] = {}
    of_run: dict[str, Any] = {"split": split}
    for key, value in settings.items():
        chosen = of_episodes if key in ("data", "engine", "options") else of_run
        chosen[key] = value
    given = Settings.read(of_run)
    return _Chosen(given, Episodes(name, split, **of_episodes, max_steps=given.steps))


@task
@_mistakes_in_a_line()
def world(name: str = "alfworld", split: str | None = None, **settings: Any) -> Task:
    """The tasks of a world's split, played by the model that Inspect was given.

    `settings` are data, engine and options of `Episodes`, and those of `rpms run`: condition,
    memory, preset and so on.
    """
    given, episodes = _chosen(name, split, settings)
    tasks, _ = given.tasks(episodes.world, episodes.setting)
    samples = [Sample(each.id, id=each.id, metadata={"type": each.type}) for each in tasks]
    return Task(
        dataset=MemoryDataset(samples, name=f"{episodes.world.name}/{episodes.split}"),
        solver=player(name, split, **settings),
        scorer=[done(), score()],
    )


@solver
@_mistakes_in_a_line()
def player(name: str, split: str | None = None, **settings: Any) -> Solver:
    """Play the task that a sample is named after: RPMS decides what is asked, Inspect's model
    answers.
    """
    given, episodes = _chosen(name, split, settings)
    found = episodes.world
    decoding = given.decoding(found)
    file = given.memory_file(found)
    memory = read_memory(file, found.name) if file is not None else EpisodicMemory(world=found.name)
    method = given.method(found).once("a sample is one attempt")
    knowledge = knowledge_of(
        found,
        given.sources(found, given.context or 0),
        decoding.max_tokens,
        method,
        steps=episodes.max_steps,
    )

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001
        chosen = episodes.choose(str(state.sample_id))
        own = replace(knowledge, manual=replace(knowledge.manual))  # samples are played at once
        condition = given.condition_value()
        mind = compose(condition, own, memory)
        game = await to_thread.run_sync(found.open, chosen, episodes.setting)
        try:
            model = ShorteningModel(_Asked(chat.get_model()))
            seat = Player(found, mind, model, decoding, method, condition.repair, condition.calls)
            play = await to_thread.run_sync(Play, seat, game, chosen, episodes.max_steps)
            while play.ending is None:
                await to_thread.run_sync(play.step)
                # at each step: a limit of Inspect's may end the sample at any time
                _tell(state, play.episode())
            state.completed = True
        finally:
            await to_thread.run_sync(game.close)
        return state

    return solve


def _tell(state: TaskState, episode: Episode) -> None:
    """Put an episode into the sample: its steps as messages, its end for the scorers."""
    messages: list[chat.ChatMessage] = []
    for step in episode.steps:
        messages += [
            chat.ChatMessageUser(content=step.observation),
            chat.ChatMessageAssistant(content=step.answer),
        ]
    if episode.steps:
        messages.append(chat.ChatMessageUser(content=episode.steps[-1].result))
    state.messages = messages
    state.output = chat.ModelOutput.from_content(str(state.model), str(episode.ending))
    state.metadata[_OUTCOME] = {
        "ending": str(episode.ending),
        "error": episode.error,
        "score": episode.score,
        "steps": len(episode.steps),
        "infeasible": episode.counts["infeasible"],
        "cut_answers": episode.counts["truncated"],
    }


class _Asked:
    """Inspect's model as RPMS asks one: from the thread that plays, in the loop that Inspect
    runs.
    """

    def __init__(self, model: chat.Model) -> None:
        self._model = model
        self.name = str(model)

    def answer(self, request: Request) -> Answer:
        said = {
            "system": chat.ChatMessageSystem,
            "user": chat.ChatMessageUser,
            "assistant": chat.ChatMessageAssistant,
        }
        messages = [said[each.role](content=each.content) for each in request.prompt.messages()]
        start = time.perf_counter()
        decoding = request.decoding
        config = chat.GenerateConfig(
            max_tokens=decoding.max_tokens,
            temperature=decoding.temperature,
            top_p=decoding.top_p,
            seed=decoding.seed,
            stop_seqs=list(decoding.stop),
        )
        output = from_thread.run(partial(self._model.generate, messages, config=config))
        if output.stop_reason == "model_length":
            raise ContextOverflow(f"{self.name}: the prompt is too long for the model")
        if output.error:
            raise ModelError(f"{self.name}: {output.error}")
        used = output.usage or chat.ModelUsage()
        usage = Usage(
            prompt_tokens=used.input_tokens,
            cached_tokens=used.input_tokens_cache_read or 0,
            completion_tokens=used.output_tokens,
            requests=1,
            seconds=time.perf_counter() - start,
        )
        cut = output.stop_reason == "max_tokens"
        return Answer(output.completion, usage, "length" if cut else output.stop_reason)

    def close(self) -> None:
        """Inspect opened it and closes it."""


@scorer(metrics=[accuracy(), stderr()])
def done() -> Scorer:
    """True if the task was done; an episode that the model or the world broke off was not."""

    async def judge(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        outcome = state.metadata.get(_OUTCOME, {})
        won = outcome.get("ending") == Ending.WON
        return Score(
            value=CORRECT if won else INCORRECT, answer=outcome.get("ending"), metadata=outcome
        )

    return judge


@scorer(metrics=[mean(), stderr()])
def score() -> Scorer:
    """The world's own score at the end; below zero it counts as 0, as is usual in ScienceWorld."""

    async def judge(state: TaskState, target: Target) -> Score:  # noqa: ARG001
        return Score(value=max(0.0, state.metadata.get(_OUTCOME, {}).get("score", 0.0)))

    return judge
