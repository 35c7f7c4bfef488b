"""Properties of tasks and games: a function says what it saw, or raises what it found."""

from __future__ import annotations

from rpms.conformance.walk import NONSENSE, Failed, Moment, Subject, Walk, require
from rpms.core.errors import InputError
from rpms.worlds.base import lacking


def members(subject: Subject) -> str:
    """It has everything a World has."""
    problem = lacking(subject.world)
    require(not problem, problem)
    return f"splits {', '.join(subject.world.splits)}"


def tasks(subject: Subject) -> str:
    """Tasks are listed in a fixed order, each with an id of its own."""
    first, again = (subject.world.tasks(subject.split, subject.setting) for _ in range(2))
    require(bool(first), f"split {subject.split!r} has no tasks")
    require(list(first) == list(again), "a second listing is another one")
    ids = [task.id for task in first]
    twice = sorted({name for name in ids if ids.count(name) > 1}) if len(set(ids)) < len(ids) else []
    require(not twice, f"{', '.join(twice[:3])} named more than once")
    odd = next((task for task in first if task.split != subject.split or not task.type or not task.id), None)
    require(odd is None, f"{odd}: needs an id, a type, and the split it was listed for")
    try:
        found = list(subject.world.tasks("no such split", subject.setting))
    except InputError:
        return f"{len(ids)} in split {subject.split}, {len({task.type for task in first})} types"
    raise Failed(f"an unknown split is not an InputError but {len(found)} tasks")


def games(subject: Subject) -> str:
    """A game is the same each time it is played."""
    count = 0
    for walk in subject.walks:
        commands = [moment.action for moment in walk.moments if moment.action is not None]
        played = subject.play(walk.task, commands)
        for number, (then, now) in enumerate(zip(walk.moments, played, strict=True)):
            require(then.outcome == now, f"{walk.task.id}, step {number}: {then.outcome} the first time, then {now}")
        count += len(commands)
        with subject.opened(walk.task) as game:
            opening = game.reset()
            game.step(NONSENSE[2])
            require(game.reset() == opening, f"{walk.task.id}: a second reset gives another opening")
            require(list(game.admissible()) == sorted(game.admissible()), f"{walk.task.id}: admissible() is not sorted")
            game.close()  # twice does no harm
    return f"{len(subject.walks)} games, {count} steps, played twice"


def refusals(subject: Subject) -> str:
    """Infeasible commands are refused, recognised as refused, and change nothing."""
    world, count = subject.world, 0
    for task in subject.tasks:
        with subject.opened(task) as game:
            game.reset()
            possible = game.admissible()
            for text in NONSENSE[1:]:
                said = game.step(text).observation
                recognised = world.infeasible(said)
                require(recognised, f"{task.id}: {text[:40]!r} is answered {said[:80]!r}, no refusal for infeasible()")
                count += 1
            require(game.admissible() == possible, f"{task.id}: refused commands changed what is possible")
    listed = worked = 0
    for walk in subject.walks:
        asked = False
        for number, (before, after) in enumerate(walk.steps()):
            answered, asked = asked, _asks(before, after)
            refused = world.infeasible(after.outcome.observation)
            listed += after.action in before.admissible
            worked += after.action in before.admissible and not refused
            same = not refused or asked or answered or before.admissible == after.admissible
            wrong = f"{walk.task.id}: {after.action!r} is refused and changes what is possible"
            require(same or _lists_by_chance(subject, walk, number), wrong)
    require(worked > 0 or not listed, f"infeasible() takes the answers to all {listed} listed commands for refusals")
    return f"{count} nonsense commands refused; of {listed} commands that the games list, {worked} worked"


def _asks(before: Moment, after: Moment) -> bool:
    """True if a command is answered with a question: only the answers that its text lists are possible now."""
    new = bool(after.admissible) and not {*after.admissible} & {*before.admissible}
    return new and all(answer in after.outcome.observation for answer in after.admissible)


def _lists_by_chance(subject: Subject, walk: Walk, number: int) -> bool:
    """True if the game, asked twice at a moment of a walk, lists different commands."""
    with subject.opened(walk.task) as game:
        game.reset()
        for earlier in walk.moments[1 : number + 1]:
            game.step(earlier.action or "")
        return list(game.admissible()) != list(game.admissible())
