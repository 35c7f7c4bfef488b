"""An agent for people with their own loop: they step the world, it decides."""

import asyncio
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from rpms.foreign.file_reader import is_there
from rpms.learning.harvest import harvest_by
from rpms.logic.belief import Situation
from rpms.logic.errors import InputError
from rpms.logic.goal import UNKNOWN_GOAL, Goal
from rpms.models.base import Decoding, Model
from rpms.models.catalogue import ModelOptions
from rpms.models.windows import context_window
from rpms.paper.compose import compose, remembered
from rpms.paper.condition import Condition
from rpms.paper.decide import Decision
from rpms.paper.episode import Ending, Episode
from rpms.paper.memory import Entry, merge
from rpms.paper.recall import EpisodicMemory
from rpms.paper.wording import rule_line, situation_lines, untagged_line
from rpms.play.course import Course, Move
from rpms.play.design import NamedModel
from rpms.play.methods import Earlier, reflect
from rpms.play.setting_values import SettingError
from rpms.play.settings import CONDITION_SETTINGS, Settings
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.play.understanding import Ask, Reads
from rpms.store.memories import freeze, read_frozen, write_memory
from rpms.worlds.base import Outcome, World
from rpms.worlds.registry import find_world


class _Made(NamedTuple):
    """A move, and the course that it was decided in."""

    course: Course
    move: Move


class Agent(AbstractContextManager["Agent"], AbstractAsyncContextManager["Agent"]):
    """RPMS without its games: `reset` with a task, then `act` on each observation.

    Tell it how an episode ended, with `outcome`, and it learns from it; `save` keeps what it
    learned. Use it as a context manager, or `close` it, where the model holds something. Not for
    several threads at once; in asyncio, `await agent.act_async(observation)` lets others play while
    this one waits for its model.
    """

    def __init__(
        self,
        world: str | World,
        model: str | Model = "planner",
        memory: Path | str | EpisodicMemory | None = None,
        condition: str | Condition | None = None,
        *,
        decoding: Decoding | None = None,
        options: ModelOptions | None = None,
        ask: Ask | None = None,
        **settings: Any,
    ) -> None:
        """`model` is a name as after `--model`, or an open model, which stays open; `memory` a file
        or a memory.

        `settings` are those of the command line, by the same names: `preset="strict"`,
        `manual="paper"`, `theta=0.6`, `tiers="universal,environment"`. A `Condition` in place of a
        name says all that settings can say of it. `ask` is called with a goal in somebody's words
        that cannot be read and the goals there are; it returns other words.
        """
        self.world = find_world(world) if isinstance(world, str) else world
        given = self._read(condition, memory, settings)
        self.condition = condition if isinstance(condition, Condition) else given.condition_value()
        self.memory = self._remember(given, memory)
        self._own = isinstance(model, str)
        self.method = given.method(self.world)
        self._harvest = given.harvesting
        self._carried: dict[str, tuple[str, ...]] = {}
        reached_by = options or ModelOptions()
        self._context = given.context or 0
        if isinstance(model, str):
            self._context = context_window(model, given.context, reached_by.base_url).tokens
        sources = given.sources(self.world, self._context)
        decoding = decoding or given.decoding(self.world)
        knowledge = knowledge_of(self.world, sources, decoding.max_tokens, self.method)
        mind = compose(self.condition, knowledge, self.memory)
        opened = NamedModel(model, reached_by)() if isinstance(model, str) else model
        reader = given.reader or ""
        reads = Reads.by(reader, NamedModel(reader, reached_by), opened, ask)
        own = self.condition
        self._player = Player(
            self.world, mind, opened, decoding, self.method, own.repair, own.calls, reads
        )
        self._episodes = 0
        self._course: Course | None = None
        self._move: Move | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._making: Future[_Made] | None = None

    def _read(
        self, condition: str | Condition | None, memory: object, settings: Mapping[str, Any]
    ) -> Settings:
        """The settings, without those that a condition or a loop of one's own decides."""
        named = {"condition": condition} if isinstance(condition, str) else {}
        file = memory if isinstance(memory, str | Path) else None
        given = Settings.read({**named, **settings, "memory": file})
        if given.mask:
            raise SettingError("mask", "is for runs, whose episodes are kept for an audit to read")
        for name in given.only(tasks=True).given:
            raise SettingError(
                name, "chooses what is played, and an Agent is shown that by your own loop"
            )
        if isinstance(condition, Condition):
            for name in given.given:
                if name in CONDITION_SETTINGS:
                    raise SettingError(
                        name, "is a part of the condition; give it there, or name the condition"
                    )
        return given

    def _remember(self, given: Settings, memory: object) -> EpisodicMemory:
        if isinstance(memory, EpisodicMemory):
            if memory.world and memory.world != self.world.name:
                raise InputError(f"this is a memory of {memory.world}, not of {self.world.name}")
            return memory
        own = self.condition  # may be a value without a name
        like_it = "baseline"
        if own.memory:
            like_it = "full" if own.rules else "memory-only"
        wanted = replace(given, condition=like_it)
        file = wanted.memory_file(self.world, embedded_games=False)
        if file is None:
            return EpisodicMemory(world=self.world.name)
        return read_frozen(file, self.world.name)

    def reset(self, task: str, goal: str = "") -> Goal:
        """Begin an episode. `task` is the first observation, if it states the task, or the task's
        own text.

        `goal`: what is wanted in a person's own words, whatever task the observation states. What
        the world does not know for a goal is read: by the model, with rules, memory and what the
        observation shows.
        """
        goal = " ".join(goal.split())
        opening = self.world.stating(task, goal) if goal else task
        if self.world.goal(opening).type == UNKNOWN_GOAL and not goal:
            stated = f"Your task is to: {task}"
            opening = stated if self.world.goal(stated).type != UNKNOWN_GOAL else opening
        name = f"agent-{self._episodes + 1}"
        read = self._player.understand(opening, name, goal)
        task = goal or task
        carried = (*self._carried.get(task, ()), *self.method.opening(read.goal, task))
        self._task = task
        self._request = goal
        self._player = replace(self._player, mind=replace(self._player.mind, carried=carried))
        self._course = self._player.begin(read)
        self._move = None
        self.usage = read.usage
        self._episodes += 1
        self._name = name
        return read.goal

    def act(self, observation: str) -> str:
        """The command to give to the world; empty if the model's answer held none.

        The first observation is what the world says before any command; where it does not state the
        task itself, the task is added to it. Raises ModelError if the model cannot answer: the same
        call may be made again.
        """
        return self._take(self._make(observation))

    async def act_async(self, observation: str) -> str:
        """The same as `act`, without holding up the event loop: a thread of the agent's own waits
        for the model.

        A call that fails or is cancelled leaves the agent as it was, and may be made again once its
        model has let go.
        """
        if self._making is not None and not self._making.done():
            raise InputError(
                "this agent is still deciding; await its last act_async first, or use one agent an"
                " episode"
            )
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="rpms agent")
        self._making = self._thread.submit(self._make, observation)
        return self._take(await asyncio.wrap_future(self._making))

    def _make(self, observation: str) -> _Made:
        """Hear what came of the last command, decide and ask; nothing of the agent is changed."""
        course = self._course
        move = self._move
        if course is None:
            raise InputError("call reset(task) before act(observation)")
        if move is None:
            observation = self._stating_the_task(observation, course.goal)
        else:
            course = self._player.after(course, move, Outcome(observation))
        return _Made(course, self._player.choose(course, observation, self._name))

    def _take(self, made: _Made) -> str:
        self._course = made.course
        self._move = made.move
        self.usage = self.usage + made.move.asked.usage
        return made.move.command

    def _stating_the_task(self, observation: str, goal: Goal) -> str:
        if self._request:
            return self.world.stating(observation, self._request)
        if self._task.strip() in observation or (goal.text and goal.text in observation):
            return observation
        task = self._task.strip()
        if not task.casefold().startswith("your task is to"):
            task = f"Your task is to: {task}"
        return f"{observation}\n{task}"

    def outcome(
        self, *, won: bool, observation: str = "", fatal: bool = False
    ) -> tuple[Entry, ...]:
        """End the episode, learn from it, and return the entries it taught, which later episodes
        recall at once.

        `observation`: what the world said to the last command; without it, that step teaches only
        where it won. `fatal`: the world ended the task for good, which is a lesson of its own. The
        same episode told twice, here or in another process, is one piece of evidence. A method with
        trials has the model write, after a failure, what it will read when the same task is reset
        next.
        """
        if won and fatal:
            raise InputError(
                "an episode that is won did not end for good: give won or fatal, not both"
            )
        ending = Ending.OUT_OF_STEPS
        if fatal:
            ending = Ending.LOST
        if won:
            ending = Ending.WON
        episode = self._end(ending, observation)
        origin = f"agent/{_name_of(episode)}"
        found = harvest_by(self._harvest, episode, self._player.mind.schemas, origin)
        self._course = None
        self._move = None
        self._remember_too(found)
        if self.method.question and not won:
            self._reflect_on(episode)
        return found

    def _end(self, ending: Ending, observation: str) -> Episode:
        """The episode as it was played; its last step is included if anything is known of it."""
        course = self._course
        if course is None:
            raise InputError(
                "there is no episode to end; call reset(task) and act(observation) first"
            )
        says_something = bool(observation) or ending is not Ending.OUT_OF_STEPS
        if self._move is not None and says_something:
            course = self._player.after(course, self._move, Outcome(observation))
        won = ending is Ending.WON
        return Episode(
            self._task, course.goal.type, course.goal.text, ending, float(won), course.steps
        )

    def _remember_too(self, found: Iterable[Entry]) -> None:
        """Add entries to the memory, and have the player recall them."""
        self.memory = EpisodicMemory(merge(self.memory.entries, found), self.world.name)
        if self.condition.memory:
            mind = self._player.mind
            recalled = remembered(self.condition, self.memory)
            experience = replace(mind.experience, memory=recalled)
            self._player = replace(self._player, mind=replace(mind, experience=experience))

    def _reflect_on(self, episode: Episode) -> None:
        """Have the model write what it will read when the task is reset next."""
        carried = self._carried.get(self._task, ())
        earlier = Earlier.of(episode, str(episode.ending), carried)
        player = self._player
        written = reflect(
            self.method, earlier, player.model, player.decoding, self._name, self._context
        )
        self._carried[self._task] = written.carried
        self.usage = self.usage + written.usage

    def save(self, path: Path | str) -> str:
        """Write the memory it began with and what it learned, frozen, and return the hash.

        What the file already holds is merged in, so that nothing is lost; entries that say the same
        stay one entry.
        """
        file = Path(path)
        there = read_frozen(file, self.world.name).entries if is_there(file) else ()
        entries = merge(there, self.memory.entries)
        if not entries:
            raise InputError(
                f"{file}: there is nothing to save; end an episode with outcome(won=…) first"
            )
        write_memory(file, entries, self.world.name)
        return freeze(file)

    @property
    def decision(self) -> Decision:
        """Everything the last command was decided by."""
        return self._last().decision

    def _last(self) -> Move:
        if self._move is None:
            raise InputError("nothing has been decided yet; call act(observation) first")
        return self._move

    @property
    def stuck(self) -> str:
        """The reason that nothing was left to do for the goal at the last command, such as that the
        thing it names is nowhere. It is empty if something is left, and for models that may know
        better than plans.
        """
        return self._player.gives_up(self._last())

    def explain(self) -> str:
        """The last decision as text: belief, rules, memories with verdicts, the prompt by
        block, the answer.
        """
        move = self._last()
        decision = move.decision
        asked = move.asked
        progress = decision.progress
        lines = [f"goal: {decision.goal_signature}"]
        if move.read is not None:
            lines += move.read.notes
            readings = move.read.readings
            if readings is not None and not readings.fits_template:
                lines += readings.lines()
        lines += [f"sub-goal: {progress.text} ({progress.percent}%)", "", "belief:"]
        lines += [f"  {line}" for line in decision.belief.lines()]
        lines += [f"  signature: {decision.state_signature}", ""]
        lines += _rules_in_words(decision)
        lines.append("")
        lines += _memories_in_words(decision)
        lines += ["", f"prompt ({decision.prompt.tokens} tokens):"]
        for block in decision.prompt.blocks:
            lines += [f"--- {block.part}, {block.tokens} tokens", block.text]
        lines += [
            "",
            f"thought: {asked.parsed.thought}",
            f"action: {asked.command.text or '(none)'}",
        ]
        lines += [f"refused: {command}: {why}" for command, why in asked.refused]
        return "\n".join(lines)

    def close(self) -> None:
        """Close the model, if the agent opened it."""
        if self._thread is not None:
            self._thread.shutdown(wait=False, cancel_futures=True)
            self._thread = None
        if self._own:
            self._player.model.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aexit__(self, *_: object) -> None:
        self.close()


def _name_of(episode: Episode) -> str:
    """A name that follows from an episode's commands and answers: told twice, it is one."""
    said = [episode.task]
    for step in episode.steps:
        said += [step.command, step.result]
    text = "\0".join(said).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=8).hexdigest()


def _rules_in_words(decision: Decision) -> Iterator[str]:
    active = decision.rules
    counts = (
        f"{len(active.universal)} universal, {len(active.domain)} domain,"
        f" {len(active.environment)} actions"
    )
    yield f"active rules ({counts}):"
    for rule in active.rules:
        if not rule.when:
            yield rule_line(rule)
    yield from situation_lines(active, Situation(decision.belief, decision.goal))


def _memories_in_words(decision: Decision) -> Iterator[str]:
    considered = f"{len(decision.candidates)} considered, {decision.unlisted} more not listed"
    yield f"memories ({considered}):"
    for each in decision.candidates:
        verdict = each.verdict
        words = " ".join(untagged_line(each).split())
        reason = f": {verdict.reason}" if verdict.reason else ""
        yield f"  [{verdict.fate}{reason}] {each.entry.id} {each.score:.2f} {words}"
