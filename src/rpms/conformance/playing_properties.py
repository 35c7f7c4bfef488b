"""Properties of prompts, and of games that are played by plans, with doubt and without."""

from collections import Counter
from itertools import pairwise, zip_longest

from rpms.conformance.walk import Skipped, Subject, require
from rpms.logic.belief import Situation
from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel, follow_plan
from rpms.paper.beyond import Surprise
from rpms.paper.compose import compose
from rpms.paper.condition import BASELINE, FULL, Condition
from rpms.paper.decide import Mind, decide
from rpms.paper.episode import Ending, Episode, Step
from rpms.paper.prompt import SHARED, Layout, Part, Prompt, Turn
from rpms.paper.recall import EpisodicMemory
from rpms.planning.noticed import SurpriseKind
from rpms.planning.reason import reasoner_of
from rpms.play.seats import play_task
from rpms.play.step import Player

_NO_STEP = "(no step)"


def prompts(subject: Subject) -> str:
    """The baseline's prompt is the full one with blocks left out."""
    count = 0
    for layout in Layout:
        full = _mind_told_in(layout, FULL, subject)
        base = _mind_told_in(layout, BASELINE, subject)
        for walk in subject.walks:
            prior = subject.world.start(walk.goal)
            history: list[Turn] = []
            for moment, after in pairwise(walk.moments):
                text = moment.outcome.observation
                one = decide(full, walk.goal, prior, moment.action, text, history)
                other = decide(base, walk.goal, prior, moment.action, text, history)
                where = f"{walk.task.id}, step {len(history)}"
                _compare_prompts(one.prompt, other.prompt, where)
                prior = moment.belief
                history.append(Turn(text, after.action or ""))
                count += 1
    return f"{count} prompts, in {len(Layout)} layouts"


def _mind_told_in(layout: Layout, condition: Condition, subject: Subject) -> Mind:
    shown = Condition(condition.rules, condition.memory, layout=layout)
    return compose(shown, subject.knowledge, EpisodicMemory())


def _compare_prompts(full: Prompt, base: Prompt, where: str) -> None:
    """The full prompt says what both say, and the baseline's nothing beyond it."""
    parts = {block.part for block in full.blocks if block.text.strip()}
    for part in (Part.INSTRUCTION, Part.EXAMPLE):
        require(part in parts, f"{where}: the {part} is empty")
    extra = [str(block.part) for block in base.injected()]
    require(not extra, f"{where}: the baseline's prompt has {', '.join(extra)}")
    shared = tuple(block for block in full.blocks if block.part in SHARED)
    require(
        full.cut != () or shared == base.blocks,
        f"{where}: full and baseline share no transcript",
    )


def planner(subject: Subject) -> str:
    """Whoever follows the plans that the manual gives wins; a manual without goals gives none."""
    if not subject.manual.purposes:
        raise Skipped("the manual has no goals")
    ended = Counter[str]()
    lost = ""
    player = Player(subject.world, subject.mind, PolicyModel("planner", follow_plan), Decoding())
    for walk in subject.walks:
        task = walk.task
        episode = play_task(player, task, subject.setting)
        require(episode.ending is not Ending.WORLD_ERROR, f"{task.id}: {episode.error}")
        ended[str(episode.ending)] += 1
        if episode.ending is not Ending.WON and not lost and episode.steps:
            last = episode.steps[-1].decision
            impasse = reasoner_of(last.schemas).impasse(Situation(last.belief, last.goal))
            lost = f"; {task.id} at its end: {impasse}"
    summary = ", ".join(f"{count} {ending}" for ending, count in sorted(ended.items()))
    require(bool(ended[str(Ending.WON)]), f"it wins none of its games: {summary}{lost}")
    return f"{summary}{lost}"


def doubt(subject: Subject) -> str:
    """Where its plans win and nothing contradicts the manual, doubting it changes no command, and
    no step lacks a plan.
    """
    if not subject.manual.purposes:
        raise Skipped("the manual has no goals")
    won = 0
    same = 0
    contradicted: list[str] = []
    for walk in subject.walks:
        trusting = subject.strict_episode(walk.task, doubt=False)
        if not trusting.won:
            continue
        won += 1
        doubting = subject.strict_episode(walk.task, doubt=True)
        same += _commands_of(trusting) == _commands_of(doubting)
        surprise = _contradiction(doubting)
        if surprise:
            contradicted.append(f"{walk.task.id}: {surprise}")
        _require_same_until_contradicted(trusting, doubting)
    note = f"; the manual is contradicted in {contradicted[0]}" if contradicted else ""
    return f"{same} of {won} games that plans win are the same{note}"


def _steps_of(episode: Episode) -> list[Step]:
    """The steps of an episode, without repetitions of refused commands. With doubt, such a command
    is not given again while nothing has changed; without doubt it may be.
    """
    refused: set[str] = set()
    found: list[Step] = []
    for step in episode.steps:
        if step.infeasible and step.command in refused:
            continue
        if step.infeasible:
            refused.add(step.command)
        found.append(step)
    return found


def _commands_of(episode: Episode) -> list[str]:
    return [step.command for step in _steps_of(episode)]


def _require_same_until_contradicted(trusting: Episode, doubting: Episode) -> None:
    """Refuse other commands with doubt than without it, and steps said to lack a plan, up to the
    first answer that contradicts the manual.
    """
    steps = _steps_of(doubting)
    commands = zip_longest(_commands_of(trusting), _commands_of(doubting), fillvalue=_NO_STEP)
    for number, (one, other) in enumerate(commands, start=1):
        require(
            one == other,
            f"{doubting.task}, step {number}: `{one}` without doubt, `{other}` with it, though"
            " nothing contradicts the manual",
        )
        surprises = steps[number - 1].surprises
        if any(_contradicts(surprise) for surprise in surprises):
            return
        require(
            all(surprise.kind != SurpriseKind.STRANDED for surprise in surprises),
            f"{doubting.task}, step {number}: nothing is known that leads to the goal, though the"
            " manual's plans win and nothing contradicts it",
        )


def _contradiction(episode: Episode) -> str:
    """The first contradiction of the manual; empty if there was none."""
    for step in episode.steps:
        for surprise in step.surprises:
            if _contradicts(surprise):
                return surprise.text
    return ""


def _contradicts(surprise: Surprise) -> bool:
    """True if an answer of the game surprised, and not a plan that is missing or led back."""
    return surprise.kind not in (SurpriseKind.STRANDED, SurpriseKind.CIRCLE)
