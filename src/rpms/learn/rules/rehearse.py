"""The manual just learned, tried in play: the last steps of a learning play tasks with it, and surprises are mended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from rpms.core.condition import RULES_ONLY, compose
from rpms.core.decide import Mind
from rpms.core.episode import Ending, Step
from rpms.core.errors import FileError, WorldError
from rpms.core.recall import EpisodicMemory
from rpms.core.rules import RuleManual
from rpms.learn.rules.session import Explorer
from rpms.learn.rules.thresholds import LIMITS
from rpms.models.base import Decoding
from rpms.models.catalogue import open_model
from rpms.play.episode import Play, play
from rpms.play.sources import knowledge_of
from rpms.store.traces import Spoken, Trace
from rpms.worlds.base import Task


@dataclass
class Rehearsal:
    """Tasks played with the manual, one of each type in turn; it is learned anew after a round with surprises."""

    explorer: Explorer
    manual: Callable[[], RuleManual]  # Draws the conclusions of all that was seen so far
    results: dict[str, list[bool]] = field(default_factory=dict)
    """By goal type, the games that were won, in their order."""
    _mended: dict[str, int] = field(default_factory=dict)
    """By goal type, the games that were played before the manual was last mended."""

    def play(self, known: Sequence[Trace] = ()) -> Iterator[Trace]:
        """Play until all steps are used, going on after episodes that are known already."""
        explorer, surprised = self.explorer, False
        for trace in known:
            self._take_in(trace)
        mind = self._mind()
        mended = 0
        for tasks in self._rounds():
            if surprised and mended < LIMITS.rounds:
                mind, surprised, mended = self._mind(), False, mended + 1
                self._mended = {type_: len(games) for type_, games in self.results.items()}
            for task in tasks:
                played = self._episode(task, mind)
                if played is None:
                    continue
                surprised |= self._take_in(played)
                yield played
                if explorer.steps >= explorer.how.steps:
                    return

    def _rounds(self) -> Iterator[list[Task]]:
        """Tasks, one of each type in a round, in the explorer's order; rounds end when no task could be played."""
        types: dict[str, list[Task]] = {}
        for task in islice(self.explorer.upcoming(), len(self.explorer.tasks)):
            types.setdefault(task.type, []).append(task)
        number = 0
        while self.explorer.steps < self.explorer.how.steps and types:
            before = self.explorer.episodes
            yield [tasks[number % len(tasks)] for tasks in types.values()]
            number += 1
            if self.explorer.episodes == before:
                return

    def _mind(self) -> Mind:
        knowledge = replace(knowledge_of(self.explorer.world), manual=self.manual())
        return compose(RULES_ONLY, knowledge, EpisodicMemory())

    def _episode(self, task: Task, mind: Mind) -> Trace | None:
        explorer = self.explorer
        try:
            game = explorer.world.open(task, explorer.setting)
        except (WorldError, FileError):
            return None
        budget = explorer.how.per_episode or explorer.world.step_budget
        budget = min(budget, explorer.how.steps - explorer.steps)
        try:
            decoding = Decoding(max_tokens=explorer.world.max_tokens)
            episode = play(
                Play(explorer.world, game, task, mind, open_model("planner"), decoding, budget, LIMITS.stuck_after)
            )
        finally:
            game.close()
        if not episode.steps:
            return None
        number = explorer.episodes + 1
        last = episode.steps[-1]

        def spoken(step: Step) -> Spoken:
            ended = episode.ending if step is last else None
            return Spoken(step.command, step.result, step.score, ended is Ending.WON, ended is Ending.LOST)

        opening, steps = episode.steps[0].observation, tuple(spoken(step) for step in episode.steps if step.command)
        return Trace(f"{number}:{task.id}", task.id, task.type, opening, steps)

    def _take_in(self, trace: Trace) -> bool:
        """Learn from an episode; True if it was not won, or something was refused in it."""
        explorer = self.explorer
        explorer.episodes, explorer.steps = explorer.episodes + 1, explorer.steps + max(1, len(trace.steps))
        explorer.ledger.read(trace)
        if explorer.steps >= explorer.how.steps and not trace.won:
            return False  # the steps ran out
        self.results.setdefault(explorer.world.goal(trace.opening).type, []).append(trace.won)
        return not trace.won or any(explorer.world.infeasible(step.answer) for step in trace.steps)

    def told(self) -> list[str]:
        """The record in lines, types that were not won since the manual was last mended first."""
        bad: list[str] = []
        good: list[str] = []
        for type_, games in sorted(self.results.items()):
            since = games[self._mended.get(type_, 0) :] or games
            line = f"{type_}: won {sum(since)} of {len(since)} games played with this manual"
            (good if any(since) else bad).append(line)
        return [*(f"NOT WON IN PLAY: {line}" for line in bad), *good]
