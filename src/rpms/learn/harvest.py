"""Entries of one episode: snippets by sub-goal, lessons from refusals, schemas with evidence, critical failures.

Pure, and the same for every world: all it reads are the steps, their decisions, and the world's whole manual. The
manual gives schemas their form; a lesson is the precondition that was missing, by the rules that the player had.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from rpms.core.actions import Instance
from rpms.core.belief import Belief, Situation, StateSignature
from rpms.core.condition import RULES_ONLY, compose
from rpms.core.decide import decide
from rpms.core.episode import Ending, Episode, Step
from rpms.core.facts import Atom, Truth, kind_of
from rpms.core.memory import (
    CriticalFailure,
    Entry,
    FailureLesson,
    Origin,
    RememberedRequest,
    SuccessSnippet,
    VerifiedSchema,
    merge,
)
from rpms.core.recall import EpisodicMemory
from rpms.core.rules import ActiveRules, RuleManual
from rpms.core.usage import Usage
from rpms.learn.corrections import corrective_rule, in_words, schema_effects, template_of
from rpms.play.sources import knowledge_of
from rpms.store.memories import write_memory
from rpms.store.traces import Trace
from rpms.worlds.base import World


@dataclass(frozen=True, slots=True)
class Harvest:
    """Rules for turning an episode into entries."""

    longest: int = 12
    """Actions of a snippet at most; of more, the last ones. Three of twelve fill the prompt's memory block."""
    means: tuple[str, ...] = ("find", "go_to")
    """Sub-goals by how their names begin that are no end in themselves: their actions open the next snippet."""
    through: tuple[str, ...] = ("take", "pick_up")
    """Sub-goals whose snippet is kept, and whose actions open the next one as well: Appendix F's snippet runs from the
    search with an empty hand to the heating, Section 3.3's from the search to the taking. What follows the taking is
    kept by itself too, for a hand that is full."""
    refused: bool = True
    """True if what the world refused stays in snippets. The paper does not say that it is taken out, and arbitration
    (Table 4) has what rules object to in memories to work on."""
    longest_command: int = 120
    """Characters. What a model wrote beyond it is no command, and has no place in later prompts."""
    longest_request: int = 400  # Characters of a request that are remembered; people's have fifty
    longest_message: int = 160  # Characters of a world's answer that a lesson keeps


PAPER = Harvest()
CLEAN = Harvest(through=(), refused=False)  # Each sub-goal apart, and only what worked: for memories that act
HARVESTS = {"as_paper": PAPER, "clean": CLEAN}
Own = Callable[[Episode], Iterable[Entry]]
"""A harvest of one's own: entries of an episode, of any kind, beside which the paper's are harvested as well."""


def harvest_by(how: str | Own, episode: Episode, manual: RuleManual, origin: str = "") -> tuple[Entry, ...]:
    """The entries of an episode by a named harvest, or by one of one's own and the paper's together."""
    if isinstance(how, str):
        return harvest(episode, manual, origin, HARVESTS[how])
    return merge(harvest(episode, manual, origin), how(episode))


def harvest(episode: Episode, manual: RuleManual, origin: str = "", how: Harvest = PAPER) -> tuple[Entry, ...]:
    """The entries of one episode, merged and in a fixed order; `origin` names it in them, the task's id by default."""
    found = _Episode(episode, manual, origin or episode.task, how) if episode.steps else None
    return merge(found.entries()) if found is not None else ()


@dataclass(frozen=True)
class _Episode:
    episode: Episode
    manual: RuleManual
    origin: str
    how: Harvest

    def entries(self) -> Iterator[Entry]:
        if self.episode.ending is not Ending.LOST:
            # what an episode that ended in disaster took for progress may have led there
            yield from self._snippets()
        if self.episode.won:
            yield from self._requests()
        learned: set[tuple[str, ...]] = set()
        for step in self._survived:
            if step.command and self._usable(step) and not self._asked(step) and not self._answers(step):
                for entry in self._of_step(step):
                    again = isinstance(entry, FailureLesson) and entry.key() in learned
                    if not again:  # an episode is evidence for a lesson once, however often it failed in that way
                        yield entry
                    learned.add(entry.key())
        if self.episode.ending is Ending.LOST:
            yield self._critical(self.episode.steps[-1])

    @property
    def _survived(self) -> Sequence[Step]:
        """All steps but one that ended the episode for good: the world took it, but it confirms no action."""
        return self.episode.steps[:-1] if self.episode.ending is Ending.LOST else self.episode.steps

    def _usable(self, step: Step) -> bool:
        return len(step.command) <= self.how.longest_command and step.command.isprintable()

    def _rules(self, step: Step) -> ActiveRules:
        goal = step.decision.goal
        return self.manual.active(goal.type, goal.object)

    def _origins(self, step: Step, *, failed: bool = False) -> frozenset[Origin]:
        return frozenset({Origin(self.origin, step.number, failed)})

    def _after(self, step: Step) -> Belief | None:
        """The belief after a step; of the last one, nobody has it."""
        later = self.episode.steps[step.number :]
        return later[0].decision.belief if later else None

    def _asked(self, step: Step) -> bool:
        """True if the world answered with a question: neither a deed nor a refusal."""
        return _has_asked(self._after(step), step)

    def _answers(self, step: Step) -> bool:
        """True if a step was decided with a question open."""
        return _has_asked(step.decision.belief, step)

    def _snippets(self) -> Iterator[SuccessSnippet]:
        """Cut the episode where its progress reached a new height, and keep what was done on the way there."""
        steps = self.episode.steps
        best = steps[0].decision.progress.done
        taken: list[Step] = []
        began = 0  # where in them the leg begins that follows the last taking
        for place, step in enumerate(steps):
            if self._answers(step) and step.command.isdecimal():
                pass  # the number of an option means nothing elsewhere; what it completed is the command asked about
            elif (self.how.refused or self._asked(step) or not step.infeasible) and self._is_action(step):
                taken.append(step)
            now = step.decision.progress
            last = place + 1 == len(steps)
            won = last and self.episode.ending is Ending.WON
            done = (now.total if won else now.done) if last else steps[place + 1].decision.progress.done
            if not won and done <= best:
                continue
            small = done == now.done + 1 and now.sub_goal.startswith(self.how.means)
            best = max(best, done)
            if small and not won:
                continue
            for part in dict.fromkeys((0, began)):  # the whole way, and the last leg of it
                leg = taken[part:]
                if leg and not (len(leg) == 1 and self._moved(leg[0])):
                    yield self._snippet(leg[-self.how.longest :], now.sub_goal)
            onward = not won and now.sub_goal.startswith(self.how.through or (" ",))
            taken, began = (taken, len(taken)) if onward else ([], 0)

    def _is_action(self, step: Step) -> bool:
        """True if a step is one that the world has: what is none of its actions teaches nothing."""
        known = bool(step.command) and self._usable(step)
        return known and (not step.infeasible or self._rules(step).instance(step.command) is not None)

    def _requests(self) -> Iterator[RememberedRequest]:
        """The request of a won episode, with the reading that won and the kinds in the room."""
        read = [step for step in self.episode.steps if step.readings is not None]
        if not read or read[-1].readings is None:
            return
        last, names = read[-1], self.episode.steps[0].decision.belief.names
        kinds = sorted({kind_of(name) for each in names.values() for name in each})
        request = _one_line(read[-1].readings.request, self.how.longest_request)
        yield RememberedRequest(
            goal_signature=last.decision.goal_signature,
            state_signature=StateSignature.of(room=tuple(kinds)),
            request=request,
            origins=self._origins(last),
        )

    def _moved(self, step: Step) -> bool:
        after = self._after(step)
        return after is not None and after.location != step.decision.belief.location

    def _snippet(self, steps: Sequence[Step], sub_goal: str) -> SuccessSnippet:
        first, last = steps[0], steps[-1]
        instance = self._rules(last).instance(last.command)
        belief = first.decision.belief
        held = list(belief.holding)
        before: dict[str, object] = {"holding": (held[0] if len(held) == 1 else held) if held else None}
        name, binding = (instance.schema.name, instance.binding) if instance else (last.command.split()[0], {})
        before["action_type"] = name
        thing = binding.get("object") or next(iter(binding.values()), "")
        tool = next((value for value in binding.values() if value != thing), "")
        if tool:
            before["tool_location"] = tool
        return SuccessSnippet(
            goal_signature=first.decision.goal_signature,
            state_signature=first.decision.state_signature,
            sub_goal_type=sub_goal,
            actions=tuple(step.command for step in steps),
            precondition=before,
            outcome={name: thing},
            origins=self._origins(last),
        )

    def _of_step(self, step: Step) -> Iterator[Entry]:
        """The lesson of a refusal, and what the step says of its action's schema."""
        rules = self._rules(step)
        instance = rules.instance(step.command)
        if step.infeasible and instance is not None:
            yield from self._lesson(step, instance)
        if instance is None or not (instance.schema.preconditions or instance.schema.effects):
            return
        situation = Situation(step.decision.belief, step.decision.goal)
        if step.infeasible and instance.feasible(situation) is Truth.FALSE:
            return  # it failed as the schema says it must: no evidence against it
        failed = step.infeasible or self._belied(step, instance)
        yield VerifiedSchema(
            action_template=template_of(instance.schema, step.command),
            action_type=instance.schema.name,
            preconditions=tuple(in_words(clause, rules) for clause in instance.schema.preconditions),
            effects=schema_effects(instance.schema, rules),
            origins=self._origins(step, failed=failed),
            goals=frozenset({step.decision.goal_signature}),
        )

    def _belied(self, step: Step, instance: Instance) -> bool:
        """True if the world took the action, and then an effect of it is known not to have come about."""
        after = self._after(step)
        if after is None:
            return False
        facts = Situation(after, step.decision.goal)
        return any(literal.truth(facts) is Truth.FALSE for literal in instance.effects)

    def _lesson(self, step: Step, instance: Instance) -> Iterator[FailureLesson]:
        """The precondition that was missing, where it can be told."""
        worked = [(each.decision.belief, found) for each, found in self._successes if found.schema is instance.schema]
        if rule := corrective_rule(step, instance, worked):
            yield FailureLesson(
                goal_signature=step.decision.goal_signature,
                state_signature=step.decision.state_signature,
                failed_action=step.command,
                corrective_rule=rule,
                failure_type=_failure_type(step, instance),
                failure_message=_one_line(step.result, self.how.longest_message),
                origins=self._origins(step),
            )

    @cached_property
    def _successes(self) -> list[tuple[Step, Instance]]:
        """Steps that the world took, each with its action."""
        read = [(step, self._rules(step).instance(step.command)) for step in self._survived if not step.infeasible]
        return [(step, instance) for step, instance in read if instance is not None]

    def _critical(self, step: Step) -> CriticalFailure:
        return CriticalFailure(
            goal_signature=step.decision.goal_signature,
            state_signature=step.decision.state_signature,
            failed_action=step.command if self._usable(step) else step.command[: self.how.longest_command],
            corrective_rule="it ended the task for good; before such a step, make sure that the task asks for it",
            failure_message=f"score = {step.score:g}, terminated",
            origins=self._origins(step),
        )


def _one_line(text: str, most: int) -> str:
    return " ".join(text.split())[:most]


_ASKED = Atom("asked", ())  # The fact of a world that asks back, such as which of several things was meant


def _has_asked(belief: Belief | None, step: Step) -> bool:
    return belief is not None and Situation(belief, step.decision.goal).truth(_ASKED) is Truth.TRUE


def _failure_type(step: Step, instance: Instance) -> str:
    """The kind of failure, as far as the manual and the belief tell; no prompt shows it."""
    feasible = instance.feasible(Situation(step.decision.belief, step.decision.goal))
    return {Truth.FALSE: "precondition_not_met", Truth.UNKNOWN: "precondition_unverified"}.get(feasible, "unexplained")


MOST_LOST = 40  # Episodes without a win that lessons are taken from: they repeat each other


def episodes_of(world: World, manual: RuleManual, traces: Iterable[Trace]) -> Iterator[tuple[str, Episode]]:
    """Episodes as if an agent with the manual had played them, so that their progress is known."""
    mind = compose(RULES_ONLY, replace(knowledge_of(world), manual=manual), EpisodicMemory())
    for trace in traces:
        goal = world.goal(trace.opening)
        belief, action, observation = world.start(goal), None, trace.opening
        steps: list[Step] = []
        for number, spoken in enumerate(trace.steps, 1):
            decision = decide(mind, goal, belief, action, observation, ())
            infeasible = world.infeasible(spoken.answer)
            steps.append(
                Step(
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
                    infeasible=infeasible,
                    objection="",
                    contradictions=(),
                    usage=Usage(),
                )
            )
            belief, action, observation = decision.belief, spoken.command, spoken.answer
        ending = Ending.WON if trace.won else Ending.OUT_OF_STEPS
        score = trace.steps[-1].score if trace.steps else 0.0
        yield trace.episode, Episode(trace.task, trace.kind, goal.text, ending, score, tuple(steps))


def experience_of(world: World, manual: RuleManual, traces: Iterable[Trace]) -> tuple[Entry, ...]:
    """Entries that won episodes and some of the others teach."""
    every = list(traces)
    won = [trace for trace in every if trace.won]
    lost = [trace for trace in every if not trace.won and trace.steps][:MOST_LOST]
    found: list[Entry] = []
    for origin, episode in episodes_of(world, manual, (*won, *lost)):
        found += harvest(episode, manual, origin)
    return merge(found)


def write_experience(file: Path, world: World, manual: RuleManual, traces: Iterable[Trace]) -> int:
    """Write a memory; how many entries it has."""
    entries = experience_of(world, manual, traces)
    write_memory(file, entries, world.name)
    return len(entries)
