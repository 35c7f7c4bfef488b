"""Exploration by experiment: actions are chosen to settle what is open. No LLM is asked.

At each step some actions are imagined with names that are known. Worth trying is one of which everything that it may
need is true with kinds never tried, or of which one fact alone is false whose part is not settled yet. Where nothing of
the sort is at hand, a plan leads towards one; the plans are the engine's, over what was learned so far. In some
episodes the goal itself is the question: facts about the goal's things are brought about until one of them wins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from rpms.core.errors import FileError, WorldError
from rpms.learn.rules.agenda import Agenda, Exploring
from rpms.learn.rules.ledger import Ledger
from rpms.learn.rules.session import Session
from rpms.store.traces import Spoken, Trace
from rpms.worlds.base import Setting, Task, World

ASIDE = 10
"""One episode in so many is kept aside: nothing is learned from it, and the manual is verified on it."""


@dataclass
class Explorer:
    """Plays episodes, each so that it settles what is open after the ones before it."""

    world: World
    setting: Setting
    tasks: Sequence[Task]
    ledger: Ledger
    how: Exploring = field(default_factory=Exploring)
    aside: list[Trace] = field(default_factory=list)
    """Episodes that nothing was learned from."""
    episodes: int = 0
    steps: int = 0

    def __post_init__(self) -> None:
        self.agenda = Agenda(self.ledger, self.how)

    def explore(self, known: Sequence[Trace] = ()) -> Iterator[Trace]:
        """Play until there were so many steps, going on after episodes that are known already."""
        for number, trace in enumerate(known, 1):
            self.episodes, self.steps = number, self.steps + len(trace.steps)
            if number % ASIDE == 0:
                self.aside.append(trace)
            else:
                self.ledger.read(trace)
                self.agenda.draw_conclusions()
        order = list(range(len(self.tasks)))
        Random(self.how.seed).shuffle(order)  # noqa: S311  dice, not secrets
        while self.steps < self.how.steps:
            task = self.tasks[order[self.episodes % len(order)]]
            self.episodes += 1
            trace = self._episode(self.episodes, task)
            self.steps += max(1, len(trace.steps))
            yield trace
            self.agenda.draw_conclusions()

    def _episode(self, number: int, task: Task) -> Trace:
        try:
            game = self.world.open(task, self.setting)
        except (WorldError, FileError):
            return Trace(f"{number}:{task.id}", task.id, task.type, "")  # teaches nothing
        try:
            opening = game.reset().observation
            aside = number % ASIDE == 0
            ledger = Ledger(self.world, self.ledger.vocabulary, self.ledger.names) if aside else self.ledger
            diary = ledger.begin(f"{number}:{task.id}", opening)
            session = Session(self.agenda, diary, game, Random(f"{self.how.seed}:{number}"))  # noqa: S311
            left = min(self.how.per_episode or self.world.step_budget, self.how.steps - self.steps)
            for session.left in range(left, 0, -1):
                command = session.choose()
                outcome = game.step(command)
                refused = diary.add(
                    Spoken(command, outcome.observation, outcome.score, outcome.won, outcome.done and not outcome.won)
                )
                session.told(command, refused=refused)
                if outcome.done:
                    break
        except WorldError:
            pass  # what was seen until then was seen
        finally:
            game.close()
        trace = Trace(f"{number}:{task.id}", task.id, task.type, opening, tuple(diary.steps))
        if aside:
            self.aside.append(trace)
        return trace
