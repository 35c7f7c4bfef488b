"""Properties of a world that is played: its commands, its prompts, and whether its planner wins."""

from __future__ import annotations

from rpms.conformance.walk import NONSENSE, REPLAYS, Skipped, Subject, require
from rpms.core.belief import Situation
from rpms.core.condition import BASELINE, FULL, compose
from rpms.core.decide import Decision, decide
from rpms.core.episode import Ending
from rpms.core.planning.reason import reasoner_of
from rpms.core.prompt import SHARED, Layout, Part, Turn
from rpms.core.recall import EpisodicMemory
from rpms.models.base import Decoding, Request
from rpms.models.policy import FunctionModel, follow_plan
from rpms.play.episode import Play
from rpms.play.step import Player


def commands(subject: Subject) -> str:
    """Exact commands still work, and what is forgiven once is forgiven for good."""
    world, count, replays = subject.world, 0, REPLAYS
    for walk in subject.walks:
        for number, moment in enumerate(walk.moments):
            for text in moment.admissible:
                written = world.command(text, moment.belief).text
                if written != text and written not in moment.admissible and replays:
                    replays -= 1
                    exact, other = subject.answers(walk, number, text, written)
                    wrong = f"{walk.task.id}: the exact command {text!r} becomes {written!r}, which does another thing"
                    require(exact == other, wrong)
            guesses = (subject.guess(walk.goal, moment), *NONSENSE)
            for text in (*guesses, *(f" {command.upper()}. " for command in (*moment.admissible[:3], guesses[0]))):
                once = world.command(text, moment.belief).text
                twice = world.command(once, moment.belief).text
                require(twice == once, f"{walk.task.id}: {text!r} becomes {once!r}, and that {twice!r}")
                count += 1
    return f"{count} commands"


def prompts(subject: Subject) -> str:
    """The baseline's prompt is the full one with blocks left out."""
    knowledge, count = subject.knowledge, 0
    for layout in Layout:
        full, base = (
            compose(type(condition)(condition.rules, condition.memory, layout=layout), knowledge, EpisodicMemory())
            for condition in (FULL, BASELINE)
        )
        for walk in subject.walks:
            prior, history = subject.world.start(walk.goal), list[Turn]()
            for moment, after in walk.steps():
                text = moment.outcome.observation
                one, other = (decide(mind, walk.goal, prior, moment.action, text, history) for mind in (full, base))
                _compare(one, other, f"{walk.task.id}, step {len(history)}")
                prior = moment.belief
                history.append(Turn(text, after.action or ""))
                count += 1
    return f"{count} prompts, in {len(Layout)} layouts"


def _compare(full: Decision, base: Decision, where: str) -> None:
    parts = {block.part for block in full.prompt.blocks if block.text.strip()}
    for part in (Part.INSTRUCTION, Part.EXAMPLE):
        require(part in parts, f"{where}: the {part} is empty")
    extra = [str(block.part) for block in base.prompt.injected()]
    require(not extra, f"{where}: the baseline's prompt has {', '.join(extra)}")
    shared = tuple(block for block in full.prompt.blocks if block.part in SHARED)
    require(full.prompt.cut != () or shared == base.prompt.blocks, f"{where}: full and baseline share no transcript")


def planner(subject: Subject) -> str:
    """Whoever follows the plans that the manual gives wins; a manual without goals gives none."""
    world, ended, last, lost = subject.world, dict[str, int](), list[Decision](), ""
    if not subject.manual.purposes:
        raise Skipped("the manual has no goals")
    mind = compose(FULL, subject.knowledge, EpisodicMemory())

    def answer(request: Request) -> str:
        assert request.decision is not None
        last[:] = [request.decision]
        thought, action = follow_plan(request.decision)
        return f"Thought: {thought}\nAction: {action}"

    for task in (walk.task for walk in subject.walks):
        with subject.opened(task) as game:
            play = Play(Player(world, mind, FunctionModel(answer), Decoding()), game, task, world.step_budget)
            while play.ending is None:
                play.step()
        require(play.ending is not Ending.WORLD_ERROR, f"{task.id}: {play.error}")
        ended[str(play.ending)] = ended.get(str(play.ending), 0) + 1
        if play.ending is not Ending.WON and not lost and last:
            stood = Situation(last[0].belief, last[0].goal)
            lost = f"; {task.id} at its end: {reasoner_of(last[0].schemas).impasse(stood)}"
    summary = ", ".join(f"{count} {ending}" for ending, count in sorted(ended.items()))
    require(bool(ended.get(str(Ending.WON))), f"it wins none of its games: {summary}{lost}")
    return f"{summary}{lost}"
