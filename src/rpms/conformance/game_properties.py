"""Properties of a world's tasks and games, and of the commands that they read."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from rpms.conformance.walk import NONSENSE, REPLAYS, Failed, Subject, Walk, WalkStep, require
from rpms.logic.errors import InputError
from rpms.worlds.base import Task, lacking


def members(subject: Subject) -> str:
    """It has everything a World has."""
    problem = lacking(subject.world)
    require(not problem, problem)
    return f"splits {', '.join(subject.world.splits)}"


def tasks(subject: Subject) -> str:
    """Tasks are listed in a fixed order, each with an id of its own."""
    first = list(subject.world.tasks(subject.split, subject.setting))
    again = list(subject.world.tasks(subject.split, subject.setting))
    require(bool(first), f"split {subject.split!r} has no tasks")
    require(first == again, "a second listing is another one")
    _require_own_ids(first)
    for task in first:
        is_whole = task.id and task.type and task.split == subject.split
        require(bool(is_whole), f"{task}: needs an id, a type, and the split it was listed for")
    try:
        found = list(subject.world.tasks("no such split", subject.setting))
    except InputError:
        return f"{len(first)} in split {subject.split}, {len({task.type for task in first})} types"
    raise Failed(f"an unknown split is not an InputError but {len(found)} tasks")


def _require_own_ids(tasks: Iterable[Task]) -> None:
    ids = Counter(task.id for task in tasks)
    twice = sorted(name for name, times in ids.items() if times > 1)
    require(not twice, f"{', '.join(twice[:3])} named more than once")


def games(subject: Subject) -> str:
    """A game is the same each time it is played."""
    count = 0
    for walk in subject.walks:
        where = walk.task.id
        with subject.opened(walk.task) as game:
            played = subject.lead(game, walk, len(walk.moments))
        for number, (then, now) in enumerate(zip(walk.moments, played, strict=True)):
            differs = f"{where}, step {number}: {then.outcome} the first time, then {now}"
            require(then.outcome == now, differs)
        count += len(played) - 1
        with subject.opened(walk.task) as game:
            opening = game.reset()
            game.step(NONSENSE[2])
            require(game.reset() == opening, f"{where}: a second reset gives another opening")
            is_sorted = list(game.admissible()) == sorted(game.admissible())
            require(is_sorted, f"{where}: admissible() is not sorted")
            game.close()  # twice does no harm
    return f"{len(subject.walks)} games, {count} steps, played twice"


def refusals(subject: Subject) -> str:
    """Infeasible commands are refused, recognised as refused, and change nothing."""
    nonsense = sum(_refuse_nonsense(subject, task) for task in subject.tasks)
    listed = worked = 0
    for walk in subject.walks:
        asked = False
        for number, (before, after) in enumerate(pairwise(walk.moments)):
            answered = asked
            asked = _is_question(before, after)
            refused = subject.world.infeasible(after.outcome.observation)
            if after.action in before.admissible:
                listed += 1
                worked += not refused
            if refused and not asked and not answered:
                _require_unchanged(subject, walk, number)
    all_refused = f"infeasible() takes the answers to all {listed} listed commands for refusals"
    require(worked > 0 or not listed, all_refused)
    of_listed = f"of {listed} commands that the games list, {worked} worked"
    return f"{nonsense} nonsense commands refused; {of_listed}"


def _require_unchanged(subject: Subject, walk: Walk, number: int) -> None:
    """Fail if a refused command has changed the list of possible commands, in a game that otherwise
    lists the same ones.
    """
    before, after = walk.moments[number : number + 2]
    if before.admissible != after.admissible:
        changed = f"{walk.task.id}: {after.action!r} is refused and changes what is possible"
        require(_lists_by_chance(subject, walk, number), changed)


def _refuse_nonsense(subject: Subject, task: Task) -> int:
    """Try commands that no game has; the number of them."""
    with subject.opened(task) as game:
        game.reset()
        possible = game.admissible()
        for text in NONSENSE[1:]:
            said = game.step(text).observation
            require(
                subject.world.infeasible(said),
                f"{task.id}: {text[:40]!r} is answered {said[:80]!r}, no refusal for infeasible()",
            )
        require(
            game.admissible() == possible,
            f"{task.id}: refused commands changed what is possible",
        )
    return len(NONSENSE[1:])


def _is_question(before: WalkStep, after: WalkStep) -> bool:
    """True if only the answers that a text lists are possible now."""
    if not after.admissible or not {*after.admissible}.isdisjoint(before.admissible):
        return False
    return all(answer in after.outcome.observation for answer in after.admissible)


def _lists_by_chance(subject: Subject, walk: Walk, number: int) -> bool:
    """True if a game lists other commands each time it is asked."""
    with subject.opened(walk.task) as game:
        subject.lead(game, walk, number)
        return list(game.admissible()) != list(game.admissible())


def commands(subject: Subject) -> str:
    """Exact commands still work, and what is forgiven once is forgiven for good."""
    world = subject.world
    count = 0
    replays = REPLAYS
    for walk in subject.walks:
        for number, moment in enumerate(walk.moments):
            for text in moment.admissible:
                written = world.command(text, moment.belief).text
                if written != text and written not in moment.admissible and replays:
                    replays -= 1
                    _require_same_answer(subject, walk, number, text, written)
            guess = subject.guess(walk.goal, moment)
            shouted = [f" {text.upper()}. " for text in (*moment.admissible[:3], guess)]
            for text in (guess, *NONSENSE, *shouted):
                once = world.command(text, moment.belief).text
                twice = world.command(once, moment.belief).text
                changed = f"{walk.task.id}: {text!r} becomes {once!r}, and that {twice!r}"
                require(twice == once, changed)
                count += 1
    return f"{count} commands"


def _require_same_answer(subject: Subject, walk: Walk, step: int, text: str, written: str) -> None:
    """Fail if an exact command is written as one that the game answers otherwise."""
    same = subject.answer(walk, step, text) == subject.answer(walk, step, written)
    becomes = f"the exact command {text!r} becomes {written!r}"
    require(same, f"{walk.task.id}: {becomes}, which does another thing")
