"""The manual just learned, tried in play: the last steps of a learning play tasks with it, and
surprises are mended.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import count
from math import ceil
from typing import NamedTuple

from rpms.induction.conclusions.conclude import Doubts, Learned
from rpms.induction.conclusions.learned_manual import manual_from
from rpms.induction.evidence.recorded_episodes import spoken
from rpms.induction.exploring.explorer import Explorer
from rpms.induction.manuals.manual_edits import Edit
from rpms.induction.manuals.mend import RecordedStep, propose, recorded_steps
from rpms.induction.thresholds import LIMITS
from rpms.logic.errors import FileError, WorldError
from rpms.logic.facts import grouped
from rpms.logic.rules import RuleManual
from rpms.models.base import Decoding
from rpms.models.catalogue import open_model
from rpms.paper.compose import compose
from rpms.paper.condition import RULES_ONLY
from rpms.paper.decide import Mind
from rpms.paper.episode import Episode
from rpms.paper.recall import EpisodicMemory
from rpms.play.seats import Play, play
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.store.evidence import Trace, Witness
from rpms.worlds.base import Task

PLAYED = "played "
"""Prefix of the ids of episodes that the manual played; the others of a rehearsal explored what
it did not win."""


@dataclass
class Rehearsal:
    """Tasks played with the manual, one of each type in turn.

    A type that is not won is explored, and then played again. After a round with surprises
    conclusions are drawn anew, and what would still surprise in play is mended.
    """

    explorer: Explorer
    traces: list[Trace]  # All episodes so far; whoever plays takes in those that are played
    learned: Callable[[Doubts], Learned]
    """Draws the conclusions of all that was seen so far, without some needs."""
    doubted: Doubts = field(default_factory=dict)
    """Needs without which a type was won that the manual had lost: plans do not see to them any
    more."""
    results: dict[str, list[bool]] = field(default_factory=dict)
    """By goal type, the games in their order: won or not."""
    _mended: dict[str, int] = field(default_factory=dict)
    """By goal type, the games that were played before the manual was last mended."""
    _lost: dict[str, bool] = field(default_factory=dict)
    """By goal type, True if it is explored and not played next."""
    _quiet: Counter[str] = field(default_factory=Counter)
    """By type, games in a row that were won without surprises."""
    _enough: int = 0  # Number of these that ends the play of a type
    _steps: list[RecordedStep] = field(default_factory=list)
    """Those of all episodes that were read for mending."""
    _read: int = 0  # Number of these episodes
    _earlier: list[Trace] = field(default_factory=list)
    """Episodes that are known already and come next."""
    _surprised: bool = False  # True if anything surprised since the manual was last mended

    def play(self, known: Sequence[Trace] = ()) -> Iterator[Trace]:
        """Play until all steps are used or nothing surprises; episodes that are known already
        are not played again.
        """
        self._earlier = list(known)
        times_mended = 0
        mind: Mind | None = None
        for tasks in self._rounds():
            if mind is None or (self._surprised and times_mended <= LIMITS.rounds):
                mind = self._mended_mind()
                times_mended += 1
                self._surprised = False
            yield from self._play_round(tasks, mind)
            if self._is_over:
                return

    @property
    def _is_over(self) -> bool:
        """True if all steps are used."""
        return self.explorer.steps >= self.explorer.exploring.steps

    def _play_round(self, tasks: Mapping[str, Task], mind: Mind) -> Iterator[Trace]:
        """Play a task of each type, as long as there are steps."""
        for type_, task in tasks.items():
            trace = self._take_known_episode(task)
            if trace is not None:
                self._learn_from(type_, trace)
                self.traces.append(trace)
            else:
                trace = self._new_episode(task, mind)
                if trace is None:
                    continue
                self._learn_from(type_, trace)
                yield trace
            if self._is_over:
                return

    def _take_known_episode(self, task: Task) -> Trace | None:
        """Take the next of the episodes that are known already, if it is of a task: it is used
        once.
        """
        if not self._earlier or self._earlier[0].task != task.id:
            return None
        return self._earlier.pop(0)

    def _learn_from(self, type_: str, trace: Trace) -> None:
        """Learn from an episode of a type, and note whether anything surprised."""
        explorer = self.explorer
        explorer.episodes += 1
        explorer.steps += max(1, len(trace.steps))
        explorer.ledger.read(trace)
        ran_out_of_steps = self._is_over and not trace.won
        if not ran_out_of_steps:
            self._note_result(trace)
        if self._went_as_foretold(trace):
            self._quiet[type_] += 1
        else:
            self._quiet[type_] = 0
            self._surprised = True
        if not _is_played(trace):
            explorer.agenda.draw_conclusions()

    def _went_as_foretold(self, trace: Trace) -> bool:
        """True if the manual won an episode, and no command of it was refused."""
        if not _is_played(trace) or not trace.won:
            return False
        infeasible = self.explorer.world.infeasible
        return not any(infeasible(step.answer) for step in trace.steps)

    def _mended_mind(self) -> Mind:
        """A mind with the manual as it was learned and mended so far. With it each type has to
        be won once more.
        """
        explorer = self.explorer
        learned = self.learned(self.doubted)
        explorer.agenda.adopt(learned)
        knowledge = replace(knowledge_of(explorer.world), manual=self.mend(learned).manual)
        self._mended = {type_: len(games) for type_, games in self.results.items()}
        for type_, won in self._quiet.items():
            self._quiet[type_] = min(won, self._enough - 1)
        return compose(RULES_ONLY, knowledge, EpisodicMemory())

    def _rounds(self) -> Iterator[dict[str, Task]]:
        """Tasks, one of each type that may surprise in a round, until none does or none can be
        played.
        """
        types = grouped((self.explorer.type_of(task), task) for task in self.explorer.shuffled())
        self._enough = max(LIMITS.several, ceil(LIMITS.quiet_games / len(types)))
        for number in count():
            before = self.explorer.episodes
            round_: dict[str, Task] = {}
            for type_, tasks in types.items():
                if self._quiet[type_] < self._enough:
                    round_[type_] = tasks[number % len(tasks)]
            if self._is_over or not round_:
                return
            yield round_
            if self.explorer.episodes == before:
                return

    def mend(self, learned: Learned) -> "Mended":
        """Foretell what would surprise in the games played."""
        manual = manual_from(learned)
        if not any(map(_is_played, self.traces)):
            return Mended({}, manual)  # so that no episode has to be read again
        self._steps += recorded_steps(self.explorer.world, self.traces[self._read :])
        self._read = len(self.traces)
        played = [step for step in self._steps if step.witness.episode.startswith(PLAYED)]
        mending = propose(manual, self._steps, played, LIMITS.decisive)
        edits: dict[Edit, list[Witness]] = {}
        for proposal in mending.proposals:
            if proposal.edit is not None:
                where = edits.setdefault(proposal.edit, [])
                where += [step.witness for step in proposal.where]
        return Mended(edits, mending.manual)

    def _new_episode(self, task: Task, mind: Mind) -> Trace | None:
        """An episode played with the manual, or, where it has lost its type, one in which
        guesses are tried.
        """
        explorer = self.explorer
        if self._lost.get(explorer.type_of(task)):
            trace = explorer.episode(task, mending=True)
            return trace if trace.steps else None
        episode = self._play_task(task, mind)
        if episode is None or not episode.steps:
            return None
        said = tuple(step for step in spoken(episode.steps, episode.ending) if step.command)
        name = f"{PLAYED}{explorer.episodes + 1}:{task.id}"
        return Trace(name, task.id, task.type, episode.steps[0].observation, said)

    def _play_task(self, task: Task, mind: Mind) -> Episode | None:
        """An episode of the planner with the manual; None where the world fails to open it."""
        explorer = self.explorer
        world = explorer.world
        try:
            game = world.open(task, explorer.setting)
        except (WorldError, FileError):
            return None
        per_episode = explorer.exploring.per_episode or world.step_budget
        budget = min(per_episode, explorer.exploring.steps - explorer.steps)
        player = Player(world, mind, open_model("planner"), Decoding(world.max_tokens))
        with closing(game):
            return play(Play(player, game, task, budget, LIMITS.stuck_after))

    def _note_result(self, trace: Trace) -> None:
        """Note whether an episode was won. A type is explored next if the manual lost it, or if
        exploring did and the manual has never won it.
        """
        type_ = self.explorer.note_type(trace)
        results = self.results.setdefault(type_, [])
        if _is_played(trace):
            results.append(trace.won)
            self._lost[type_] = not trace.won
            return
        if trace.won:
            self._doubt_needs_of(trace)
        self._lost[type_] = not trace.won and not any(results)

    def _doubt_needs_of(self, trace: Trace) -> None:
        """Doubt what actions were thought to need and did without where exploring led to a win.

        A need that held each time is not to blame for the games that were lost with it.
        """
        learned = self.explorer.agenda.learned
        if learned is None:
            return
        for action in learned.actions:
            book = self.explorer.ledger.books[action.template]
            done = [each for each in book.successes if each.witness.episode == trace.episode]
            for literal in set(action.explaining) - set(action.likely):
                if not all(book.holds(literal, attempt) for attempt in done):
                    self.doubted.setdefault(action.template, set()).add(literal)

    def told(self) -> list[str]:
        """The record in lines, types that were not won since the manual was last mended first."""
        types = {*self.results}
        if self.explorer.tasks:
            types.update(self.explorer.ledger.goals)
        won = []
        lost = []
        for type_ in sorted(types):
            games = self.results.get(type_, [])
            since = games[self._mended.get(type_, 0) :] or games
            line = f"{type_}: won {sum(since)} of {len(since)} games played with this manual"
            if any(since):
                won.append(line)
            else:
                lost.append(f"NOT WON IN PLAY: {line}")
        return [*lost, *won]


class Mended(NamedTuple):
    """Edits that foretell what would surprise, each with these steps, and the manual with them."""

    edits: dict[Edit, list[Witness]]
    manual: RuleManual


def _is_played(trace: Trace) -> bool:
    """True if the manual played an episode, rather than explored it."""
    return trace.episode.startswith(PLAYED)
