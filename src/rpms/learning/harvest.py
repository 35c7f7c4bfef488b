"""Entries of one episode: snippets by sub-goal, lessons from refusals, schemas with evidence,
critical failures.

Pure, and the same for every world: all it reads are the steps, their decisions, and the world's
whole manual. The manual gives schemas their form; a lesson is the precondition that was missing, by
the rules that the player had.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from rpms.learning.corrective_rules import (
    ActionThatWorked,
    corrective_rule,
    in_words,
    schema_effects,
    template_of,
)
from rpms.logic.actions import Instance
from rpms.logic.belief import Belief, Situation, StateSignature, has_asked
from rpms.logic.facts import Truth, kind_of
from rpms.logic.goal import Goal
from rpms.logic.rules import ActiveRules, RuleManual
from rpms.paper import memory
from rpms.paper.compose import compose
from rpms.paper.condition import RULES_ONLY
from rpms.paper.decide import Mind, decide
from rpms.paper.episode import Ending, Episode, OwnHarvest, Step, Usage
from rpms.paper.recall import EpisodicMemory
from rpms.parts import checked_harvest
from rpms.play.sources import knowledge_of
from rpms.store.evidence import Trace
from rpms.store.memories import write_memory
from rpms.worlds.base import World


@dataclass(frozen=True, slots=True)
class Harvest:
    """Rules for turning an episode into entries."""

    longest: int = 12
    """Actions of a snippet at most, the last ones: three of twelve fill the prompt's memory
    block."""
    means: tuple[str, ...] = ("find", "go_to")
    """Sub-goals by how their names begin that are no end in themselves: their actions open the
    next snippet."""
    through: tuple[str, ...] = ("take", "pick_up")
    """Sub-goals whose snippet is kept, and whose actions open the next one as well: Appendix F's
    snippet runs from the search with an empty hand to the heating, Section 3.3's from the search to
    the taking. What follows the taking is kept by itself too, for a hand that is full."""
    refused: bool = True
    """True if refused steps stay in snippets. The paper does not say that it is taken out, and
    arbitration (Table 4) has what rules object to in memories to work on."""
    longest_command: int = 120
    """Characters: what a model wrote beyond it is no command for later prompts."""
    longest_request: int = 400
    """Characters of a request that are remembered; people's have fifty."""
    longest_message: int = 160
    """Characters of a world's answer that a lesson keeps."""


PAPER = Harvest()
CLEAN = Harvest(through=(), refused=False)
"""Each sub-goal apart, and only what worked: for memories that act."""
HARVESTS = {"as_paper": PAPER, "clean": CLEAN}


def harvest_by(
    chosen: str | OwnHarvest, episode: Episode, manual: RuleManual, origin: str = ""
) -> tuple[memory.Entry, ...]:
    """The entries of an episode by a named harvest, or by one of one's own and the paper's
    together.
    """
    if isinstance(chosen, str):
        return harvest(episode, manual, origin, HARVESTS[chosen])
    own = checked_harvest(chosen)
    return memory.merge(harvest(episode, manual, origin), own(episode))


def harvest(
    episode: Episode, manual: RuleManual, origin: str = "", by: Harvest = PAPER
) -> tuple[memory.Entry, ...]:
    """The entries of one episode, merged and in a fixed order; `origin` names it in them, the
    task's id by default.
    """
    if not episode.steps:
        return ()
    return memory.merge(_Episode(episode, manual, origin or episode.task, by).entries())


class _Deed(NamedTuple):
    """An action, with names; empty for one that there is not."""

    action: str
    thing: str
    """The thing that it was done to."""
    tool: str
    """A place or tool that it was done with."""


@dataclass(frozen=True)
class _Episode:
    episode: Episode
    manual: RuleManual
    origin: str
    by: Harvest

    def entries(self) -> Iterator[memory.Entry]:
        lost = self.episode.ending is Ending.LOST
        if not lost:  # progress in an episode that ended in disaster may have led to it
            yield from self._snippets()
        request = self._request() if self.episode.won else None
        if request is not None:
            yield request
        yield from self._lessons_and_schemas()
        if lost:
            yield self._critical_failure()

    def _lessons_and_schemas(self) -> Iterator[memory.Entry]:
        """Lessons and schemas that single steps teach. An episode is evidence for a lesson once,
        however often it failed in that way.
        """
        learned: set[tuple[str, ...]] = set()
        for step in self._survived:
            if not step.command or not self._usable(step):
                continue
            if has_asked(self._after(step)) or has_asked(step.decision.belief):
                continue
            for entry in self._of_step(step):
                is_lesson = isinstance(entry, memory.FailureLesson)
                if not is_lesson or entry.key() not in learned:
                    yield entry
                learned.add(entry.key())

    def _critical_failure(self) -> memory.CriticalFailure:
        """The last step of an episode that ended for good."""
        last = self.episode.steps[-1]
        return memory.CriticalFailure(
            goal_signature=last.decision.goal_signature,
            state_signature=last.decision.state_signature,
            failed_action=_in_full(last)[: self.by.longest_command],
            corrective_rule=(
                "it ended the task for good: before a step that cannot be undone, verify that"
                " its object is the one that the task names"
            ),
            failure_message=f"score = {last.score:g}, terminated",
            origins=self._origins(last),
        )

    @property
    def _survived(self) -> Sequence[Step]:
        """All steps but one that ended the episode for good: the world took it, but it confirms
        no action.
        """
        return self.episode.steps[:-1] if self.episode.ending is Ending.LOST else self.episode.steps

    def _usable(self, step: Step) -> bool:
        return len(step.command) <= self.by.longest_command and step.command.isprintable()

    def _rules(self, step: Step) -> ActiveRules:
        goal = step.decision.goal
        return self.manual.active(goal.type, goal.object)

    def _origins(self, step: Step, *, failed: bool = False) -> frozenset[memory.Origin]:
        return frozenset({memory.Origin(self.origin, step.number, failed)})

    def _after(self, step: Step) -> Belief | None:
        """The belief after a step; of the last one, nobody has it."""
        later = self.episode.steps[step.number :]
        return later[0].decision.belief if later else None

    def _snippets(self) -> Iterator[memory.SuccessSnippet]:
        """Cut the episode where its progress reached a new height, and keep what was done on
        the way there.
        """
        taken: list[Step] = []
        last_leg = 0  # place in `taken` of the first step after the last taking
        completing = self._completing()
        for step in self.episode.steps:
            if self._belongs_in_a_snippet(step):
                taken.append(step)
            if step.number not in completing:
                continue
            sub_goal = step.decision.progress.sub_goal
            for begin in dict.fromkeys((0, last_leg)):  # the whole way, and the last leg of it
                leg = taken[begin:]
                if leg and not self._only_moves(leg):
                    yield self._snippet(leg[-self.by.longest :], sub_goal)
            if self._leads_on(step):
                last_leg = len(taken)
            else:
                taken = []
                last_leg = 0

    def _completing(self) -> set[int]:
        """Numbers of the steps that win, or with which progress reached a new height by more
        than a means.
        """
        best = self.episode.steps[0].decision.progress.done
        found: set[int] = set()
        for step in self.episode.steps:
            done = self._done_after(step)
            if self._wins(step) or (done > best and not self._is_means(step, done)):
                found.add(step.number)
            best = max(best, done)
        return found

    def _leads_on(self, step: Step) -> bool:
        """True if the sub-goal that a step completed is told together with the next one."""
        through = self.by.through
        sub_goal = step.decision.progress.sub_goal
        return not self._wins(step) and bool(through) and sub_goal.startswith(through)

    def _wins(self, step: Step) -> bool:
        return step is self.episode.steps[-1] and self.episode.ending is Ending.WON

    def _done_after(self, step: Step) -> int:
        """Sub-goals that are done after a step."""
        if self._wins(step):
            return step.decision.progress.total
        later = self.episode.steps[step.number :]
        return (later[0] if later else step).decision.progress.done

    def _is_means(self, step: Step, done: int) -> bool:
        """True if all that a step completed is a sub-goal that is no end in itself."""
        progress = step.decision.progress
        return done == progress.done + 1 and progress.sub_goal.startswith(self.by.means)

    def _belongs_in_a_snippet(self, step: Step) -> bool:
        """True if a step is to be told as a part of a way that worked."""
        may_answer = has_asked(step.decision.belief) or step.infeasible
        if may_answer and step.command.isdecimal():
            # the number of an option means nothing elsewhere, nor where nothing was asked; what it
            # completed is the command asked about
            return False
        worked = not step.infeasible or has_asked(self._after(step))
        return (worked or self.by.refused) and self._is_action(step)

    def _only_moves(self, leg: Sequence[Step]) -> bool:
        """True if steps are a single one, and it led to another place."""
        after = self._after(leg[0])
        if len(leg) > 1 or after is None:
            return False
        return after.location != leg[0].decision.belief.location

    def _is_action(self, step: Step) -> bool:
        """True if the command of a step is an action that the world has; anything else teaches
        nothing.
        """
        if not step.command or not self._usable(step):
            return False
        return not step.infeasible or self._rules(step).instance(step.command) is not None

    def _request(self) -> memory.RememberedRequest | None:
        """The request of a won episode, with the reading that won and the kinds in the room."""
        kinds: set[str] = set()
        for names in self.episode.steps[0].decision.belief.names.values():
            kinds.update(map(kind_of, names))
        for last in reversed(self.episode.steps):
            if last.readings is not None:
                return memory.RememberedRequest(
                    goal_signature=last.decision.goal_signature,
                    state_signature=StateSignature.of(room=tuple(sorted(kinds))),
                    request=_one_line(last.readings.request, self.by.longest_request),
                    origins=self._origins(last),
                )
        return None

    def _snippet(self, steps: Sequence[Step], sub_goal: str) -> memory.SuccessSnippet:
        """A success snippet of the steps that reached a sub-goal."""
        first = steps[0]
        last = steps[-1]
        deed = self._deed(last)
        before: dict[str, object] = {"holding": _held(first), "action_type": deed.action}
        if deed.tool:
            before["tool_location"] = deed.tool
        return memory.SuccessSnippet(
            goal_signature=first.decision.goal_signature,
            state_signature=first.decision.state_signature,
            sub_goal_type=sub_goal,
            actions=tuple(step.command for step in steps),
            precondition=before,
            outcome={deed.action: deed.thing},
            origins=self._origins(last),
        )

    def _deed(self, step: Step) -> _Deed:
        """The action of a step, by the manual's schema if it has one, with what it was done to
        and with.
        """
        instance = self._rules(step).instance(step.command)
        if instance is None:
            return _Deed(step.command.split()[0], "", "")
        names = list(instance.binding.values())
        first = names[0] if names else ""
        thing = instance.binding.get("object") or first
        others = [name for name in names if name != thing]
        return _Deed(instance.schema.name, thing, others[0] if others else "")

    def _of_step(self, step: Step) -> Iterator[memory.Entry]:
        """The lesson of a refused step, if there is one, and the evidence of the step for the
        schema of its action.
        """
        instance = self._rules(step).instance(step.command)
        if instance is None:
            return
        situation = Situation(step.decision.belief, step.decision.goal)
        feasible = instance.feasible(situation)
        if step.infeasible:
            lesson = self._lesson(step, instance, feasible)
            if lesson is not None:
                yield lesson
            if feasible is Truth.FALSE:
                return  # it failed as the schema says it must: no evidence against it
        if instance.schema.preconditions or instance.schema.effects:
            yield self._schema(step, instance)

    def _lesson(
        self, step: Step, instance: Instance, feasible: Truth
    ) -> memory.FailureLesson | None:
        """The lesson of a refused step; None if no rule would have avoided it."""
        schema = instance.schema
        worked = [each for each in self._successes if each.instance.schema is schema]
        rule = corrective_rule(step, instance, worked)
        if not rule:
            return None
        return memory.FailureLesson(
            goal_signature=step.decision.goal_signature,
            state_signature=step.decision.state_signature,
            failed_action=step.command,
            corrective_rule=rule,
            failure_type=_FAILURES.get(feasible, "unexplained"),
            failure_message=_one_line(step.result, self.by.longest_message),
            origins=self._origins(step),
        )

    def _schema(self, step: Step, instance: Instance) -> memory.VerifiedSchema:
        """The action's schema, with this step as evidence for it or against it."""
        rules = self._rules(step)
        schema = instance.schema
        failed = step.infeasible or self._belies(step, instance)
        return memory.VerifiedSchema(
            action_template=template_of(schema, step.command),
            action_type=schema.name,
            preconditions=tuple(in_words(clause, rules) for clause in schema.preconditions),
            effects=schema_effects(schema, rules),
            origins=self._origins(step, failed=failed),
            goals=frozenset({step.decision.goal_signature}),
        )

    def _belies(self, step: Step, instance: Instance) -> bool:
        """True if what an action should have brought about is known not to hold after it."""
        after = self._after(step)
        if after is None:
            return False
        facts = Situation(after, step.decision.goal)
        return any(literal.truth(facts) is Truth.FALSE for literal in instance.effects)

    @cached_property
    def _successes(self) -> list[ActionThatWorked]:
        """Actions that the world took."""
        found: list[ActionThatWorked] = []
        for step in self._survived:
            instance = self._rules(step).instance(step.command)
            if instance is not None and not step.infeasible:
                found.append(ActionThatWorked(step.decision.belief, instance))
        return found


def _held(step: Step) -> object:
    """The things in hand at a step: none, one, or several."""
    held = list(step.decision.belief.holding)
    if len(held) > 1:
        return held
    return held[0] if held else None


def _in_full(step: Step) -> str:
    """The command of a step; the number of an option that the world offered is that option."""
    if not (step.command.isdecimal() and has_asked(step.decision.belief)):
        return step.command
    option = re.search(rf"^{step.command}:\s*(.+)$", step.observation, re.MULTILINE)
    return " ".join(option[1].split()) if option else step.command


def _one_line(text: str, most: int) -> str:
    return " ".join(text.split())[:most]


_FAILURES = {Truth.FALSE: "precondition_not_met", Truth.UNKNOWN: "precondition_unverified"}
"""Kinds of failure by what manual and belief say of the action; no prompt shows them."""
MOST_LOST = 40
"""Episodes without a win that lessons are taken from: they repeat each other."""


class PlayedTrace(NamedTuple):
    """An exploration's episode as one that an agent played, and where it comes from."""

    origin: str
    episode: Episode


def episodes_of(world: World, manual: RuleManual, traces: Iterable[Trace]) -> Iterator[PlayedTrace]:
    """Episodes as if an agent with the manual had played them, so that their progress is known."""
    mind = compose(RULES_ONLY, replace(knowledge_of(world), manual=manual), EpisodicMemory())
    for trace in traces:
        goal = world.goal(trace.opening)
        steps = tuple(_steps_of(trace, goal, world, mind))
        ending = Ending.WON if trace.won else Ending.OUT_OF_STEPS
        score = trace.steps[-1].score if trace.steps else 0.0
        episode = Episode(trace.task, trace.kind, goal.text, ending, score, steps)
        yield PlayedTrace(trace.episode, episode)


def _steps_of(trace: Trace, goal: Goal, world: World, mind: Mind) -> Iterator[Step]:
    """The steps of an exploration's episode, each as an agent would have decided it."""
    belief = world.start(goal)
    action = None
    observation = trace.opening
    for number, spoken in enumerate(trace.steps, 1):
        decision = decide(mind, goal, belief, action, observation, ())
        yield Step(
            number=number,
            observation=observation,
            decision=decision,
            answer=spoken.command,
            thought="",
            action=spoken.command,
            command=spoken.command,
            repairs=(),
            result=spoken.answer,
            score=spoken.score,
            infeasible=world.infeasible(spoken.answer),
            objection="",
            contradictions=(),
            usage=Usage(),
        )
        belief = decision.belief
        action = spoken.command
        observation = spoken.answer


def write_memory_of(file: Path, world: World, manual: RuleManual, traces: Sequence[Trace]) -> int:
    """Write a memory of what won episodes and some of the others teach; returns the number of
    its entries.
    """
    won: list[Trace] = []
    lost: list[Trace] = []
    for trace in traces:
        if trace.won:
            won.append(trace)
        elif trace.steps and len(lost) < MOST_LOST:
            lost.append(trace)
    learned: list[Sequence[memory.Entry]] = []
    for origin, episode in episodes_of(world, manual, (*won, *lost)):
        learned.append(harvest(episode, manual, origin))
    entries = memory.merge(*learned)
    write_memory(file, entries, world.name)
    return len(entries)
