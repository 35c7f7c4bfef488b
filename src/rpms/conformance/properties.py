"""The properties that every world must have: a function says what it saw, or raises what it
found.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import islice, pairwise, product

from rpms.conformance.walk import (
    NONSENSE,
    REPLAYS,
    Failed,
    Skipped,
    Subject,
    Walk,
    WalkStep,
    require,
    truth_of,
    view,
)
from rpms.logic.achievers import achievers_of
from rpms.logic.actions import ActionSchema, role_of
from rpms.logic.belief import Belief, Situation, StateSignature
from rpms.logic.errors import InputError
from rpms.logic.facts import Atom, Truth
from rpms.logic.goal import UNKNOWN_GOAL, GoalSignature
from rpms.logic.rules import ActiveRules, Predicate, RuleManual
from rpms.models.base import Decoding
from rpms.models.policy import PolicyModel, follow_plan
from rpms.paper.beyond import Surprise
from rpms.paper.compose import compose
from rpms.paper.condition import BASELINE, FULL, Condition
from rpms.paper.decide import Mind, decide
from rpms.paper.episode import Ending, Episode, Step
from rpms.paper.progress import standing
from rpms.paper.prompt import SHARED, Layout, Part, Prompt, Turn
from rpms.paper.recall import EpisodicMemory
from rpms.planning.reason import plan_for, reasoner_of
from rpms.planning.remedies import review
from rpms.planning.surprise import SurpriseKind
from rpms.play.seats import play_task
from rpms.play.step import Player
from rpms.worlds.base import Task, World, lacking


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
    """Fail if a refused command has changed what is possible, in a game that always lists it
    alike.
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


_QUESTIONS = 300
"""Combinations of names that a predicate is asked about in one moment: enough for a small house."""


def goals(subject: Subject) -> str:
    """Goals are read from the opening, and nonsense is no goal."""
    for walk in subject.walks:
        opening = walk.moments[0].outcome.observation
        require(
            subject.world.goal(opening) == walk.goal,
            f"{walk.task.id}: the same opening gives another goal",
        )
        signature = walk.goal.signature
        require(
            GoalSignature.parse(str(signature)) == signature,
            f"{signature} is not what its text form says",
        )
    unknown = [walk.task.id for walk in subject.walks if walk.goal.type == UNKNOWN_GOAL]
    require(len(unknown) < len(subject.walks), f"no goal is understood, as of {unknown[:1]}")
    for text in NONSENSE:
        found = subject.world.goal(text).type
        require(
            found == UNKNOWN_GOAL,
            f"{text[:40]!r} is no goal, yet of type {found!r} instead of {UNKNOWN_GOAL!r}",
        )
    return (
        f"{len(subject.walks) - len(unknown)} of {len(subject.walks)} understood, nonsense is"
        " unknown"
    )


def belief(subject: Subject) -> str:
    """The belief follows from the texts alone, whatever they are, and does not change
    afterwards.
    """
    world = subject.world
    strange = [held for _, held in subject.strange_beliefs]
    for held in strange:
        view(held)
    for walk, moment in subject.moments():
        kept = view(moment.belief) == moment.shown
        require(
            kept,
            f"{walk.task.id}: update changed an earlier belief, the one after {moment.action!r}",
        )
    for walk in subject.walks:
        held = world.start(walk.goal)
        for number, moment in enumerate(walk.moments):
            text = moment.outcome.observation
            held = subject.updated(held, moment.action, text, walk.goal)
            atoms = tuple(subject.atoms(moment))
            same = view(held, atoms) == view(moment.belief, atoms)
            require(
                same,
                f"{walk.task.id}, step {number}: the same texts give another belief the second"
                " time",
            )
    return (
        f"{sum(len(walk.moments) for walk in subject.walks)} beliefs and {len(strange)} after"
        " nonsense"
    )


def signature(subject: Subject) -> str:
    """A state signature is what its text form says."""
    states = subject.states()
    for _, belief in states:
        signature = belief.signature()
        read = StateSignature.parse(str(signature))
        require(
            read == signature,
            f"{signature.fields} is written {str(signature)!r} and read as {read.fields}",
        )
    return f"{len(states)} signatures"


def facts(subject: Subject) -> str:
    """The belief answers every predicate of the manual, for any name."""
    manual = subject.manual
    asked = 0
    known: set[str] = set()
    for walk, moment in subject.moments():
        atoms = [*subject.atoms(moment), *subject.atoms_of_commands(walk, moment)]
        asked += len(atoms)
        for name in manual.predicates.keys() - known:
            atoms += _atoms_by_roles(manual.predicates[name], moment.belief)
        for atom in atoms:
            if truth_of(moment.belief, atom) is not Truth.UNKNOWN:
                known.add(atom.predicate)
    for _, moment in subject.some_moments():
        _ask_strange_facts(moment.belief, manual)
    needed = _needed_by(manual)
    _require_needs_known(manual, needed, known)
    silent: list[str] = []
    for name in sorted(manual.predicates.keys() - known):
        by = f" (needed by {', '.join(needed[name])})" if name in needed else ""
        silent.append(f"{name}{by}")
    note = f"; never known on these walks: {', '.join(silent)}" if silent else ""
    return f"{len(known)} predicates, {asked} questions{note}"


def _atoms_by_roles(predicate: Predicate, belief: Belief) -> list[Atom]:
    """Facts of a predicate, with known names in the roles of its arguments."""
    names = [belief.names.get(role, ()) for role in predicate.args]
    return [Atom(predicate.name, args) for args in islice(product(*names), _QUESTIONS)]


def _ask_strange_facts(belief: Belief, manual: RuleManual) -> None:
    """Ask for a predicate that there is not, which is unknown, and for one argument too many."""
    stranger = truth_of(belief, Atom("no_such_predicate", ("thing 1",)))
    require(
        stranger is Truth.UNKNOWN,
        f"a predicate that no manual has is {stranger.value}, not unknown",
    )
    for predicate in manual.predicates.values():
        truth_of(belief, Atom(predicate.name, ("thing 1",) * (len(predicate.args) + 1)))


def _require_needs_known(
    manual: RuleManual, needed: Mapping[str, Mapping[str, None]], known: set[str]
) -> None:
    """Refuse a belief that knows nothing of what actions need."""
    actions = {schema.name for schema in manual.actions}
    asked_for: set[str] = set()
    for name, by in needed.items():
        if name in manual.predicates and actions & by.keys():
            asked_for.add(name)
    unmet = f"nothing that actions need is ever known: {', '.join(sorted(asked_for))}"
    require(not asked_for or bool(asked_for & known), unmet)


def _needed_by(manual: RuleManual) -> dict[str, dict[str, None]]:
    """Actions and processes that need a fact, each once, by its predicate."""
    needed: dict[str, dict[str, None]] = {}
    for schema in (*manual.actions, *manual.lore.processes):
        for clause in (*schema.preconditions, *schema.plan):
            for literal in clause.literals:
                needed.setdefault(literal.atom.predicate, {})[schema.name] = None
    return needed


def drift(subject: Subject) -> str:
    """The belief never contradicts the game."""
    if type(subject.world).contradictions is World.contradictions:
        raise Skipped(
            "the world has no method `contradictions`, so nothing compares its belief with the game"
        )
    moments = list(subject.moments())
    for walk, moment in moments:
        wrong = f"{walk.task.id}, after {moment.action!r}: {'; '.join(moment.contradictions[:2])}"
        require(not moment.contradictions, wrong)
    return f"{len(moments)} moments without a contradiction"


def manual(subject: Subject) -> str:
    """The manual loads, and each of its actions is read as itself."""
    manual = subject.manual
    require(
        manual.world == subject.world.name,
        f"it says `world: {manual.world}`, the world is {subject.world.name}",
    )
    for name, predicate in manual.predicates.items():
        _require_sound_exclusion(manual, name, predicate.exclusive)
    rules = manual.active("", "")
    for schema in manual.actions:
        for syntax in schema.syntax:
            _require_read_as_itself(rules, schema, syntax)
    checkable = sum(bool(schema.preconditions) for schema in manual.actions)
    note = "" if checkable else "; none has preconditions, so nothing can be checked against it"
    return (
        f"{len(manual.rules)} rules, {len(manual.actions)} actions, {checkable} with"
        f" preconditions{note}"
    )


def _require_read_as_itself(rules: ActiveRules, schema: ActionSchema, syntax: str) -> None:
    """Fail if a command that is written by a syntax is read as another action."""
    found = rules.instance(syntax.replace("<", "").replace(">", " 1"))
    name = "nothing" if found is None else found.schema.name
    is_itself = found is not None and found.schema is schema
    require(is_itself, f"`{syntax}` of {schema.name} is read as {name}")


def _require_sound_exclusion(manual: RuleManual, name: str, exclusive: str) -> None:
    if exclusive not in ("", "always"):
        other = manual.predicates.get(exclusive)
        wanted = "exclusive must be `always` or a predicate of two arguments"
        is_of_two = other is not None and len(other.args) == 2
        require(is_of_two, f"{name}: {wanted}, not {exclusive}")


def schemas(subject: Subject) -> str:
    """The manual blocks nothing that the game allows."""
    allowed = refused = foreseen = 0
    replays = 5 * REPLAYS
    for walk in subject.walks:
        rules = subject.rules(walk.goal)
        for number, (before, after) in enumerate(pairwise(walk.moments)):
            situation = Situation(before.belief, walk.goal)
            done = after.action or ""
            possible = {*before.admissible, done}
            if subject.world.infeasible(after.outcome.observation):
                possible.discard(done)
                refused += 1
                foreseen += review(done, rules, situation) is not None
            allowed += len(possible)
            blocked = _blocked(possible, rules, situation)
            for command, reason in blocked[:replays]:
                _require_refusal(subject, walk, number, command, reason)
            replays = max(0, replays - len(blocked))
    if not allowed:
        raise Skipped("no command worked on any walk, and the game lists none")
    return f"of {allowed} possible commands none blocked; of {refused} refused, {foreseen} foreseen"


def _blocked(
    commands: Iterable[str], rules: ActiveRules, situation: Situation
) -> list[tuple[str, str]]:
    """The commands that the manual blocks, in the order of their letters, each with the reason."""
    blocked: list[tuple[str, str]] = []
    for command in sorted(commands):
        refusal = review(command, rules, situation)
        if refusal is not None:
            blocked.append((command, refusal.text))
    return blocked


def _require_refusal(subject: Subject, walk: Walk, step: int, command: str, reason: str) -> None:
    """Fail unless the game too refuses a command at some step of a walk."""
    text = subject.answer(walk, step, command).observation
    require(
        subject.world.infeasible(text),
        f"{walk.task.id}, step {step}: the game allows `{command}`, the manual does not: {reason}",
    )


def effects(subject: Subject) -> str:
    """The belief never denies an effect that the manual states."""
    count = 0
    for walk in subject.walks:
        rules = subject.rules(walk.goal)
        for _, after in pairwise(walk.moments):
            instance = rules.instance(after.action or "")
            if instance is None or subject.world.infeasible(after.outcome.observation):
                continue
            for literal in instance.effects:
                count += 1
                denied = literal.truth(Situation(after.belief, walk.goal)) is Truth.FALSE
                wrong = (
                    f"after `{after.action}` the manual says {literal}, the belief says it is"
                    " not so"
                )
                require(not denied, f"{walk.task.id}: {wrong}")
    return f"{count} effects"


def progress(subject: Subject) -> str:
    """There is always a sub-goal."""
    states = subject.states()
    for goal, belief in states:
        found = standing(subject.rules(goal), Situation(belief, goal)).progress
        require(bool(found.sub_goal) and 0 <= found.done <= found.total, f"{found} is no progress")
    return f"{len(states)} states"


def plans(subject: Subject) -> str:
    """Plans are the same each time, and feasible as far as is known."""
    states = subject.states()
    options = 0
    first = [plan_for(subject.rules(goal), Situation(belief, goal)) for goal, belief in states]
    # after all others: what was derived at once is kept
    for (goal, belief), plan in zip(states, first, strict=True):
        rules = subject.rules(goal)
        situation = Situation(belief, goal)
        require(plan == plan_for(rules, situation), "another plan the second time")
        for option in plan.options:
            refusal = review(option.command, rules, situation)
            require(refusal is None, f"{option.command!r} is planned, and known to fail: {refusal}")
        options += len(plan.options)
    nameless = _nameless_roles(subject)
    note = ""
    if nameless:
        missing = [f"<{role}> of {', '.join(names)}" for role, names in nameless.items()]
        note = f"; never named on these walks, so no plan can use them: {'; '.join(missing)}"
    if not options:
        cause = "the manual has no goals, or says of no action what it does or reveals"
        raise Skipped(f"no plan begins anywhere: {cause}{note}")
    return f"{options} choices in {len(states)} states{note}"


def _nameless_roles(subject: Subject) -> dict[str, list[str]]:
    """Roles without any known name, with the schemas that have such a parameter."""
    roles: set[str] = set()
    for _, moment in subject.moments():
        for role, names in moment.belief.names.items():
            if names:
                roles.add(role)
    for walk in subject.walks:
        roles |= achievers_of(subject.rules(walk.goal)).lasting_names.keys()
    nameless: dict[str, list[str]] = {}
    for schema in (*subject.manual.lore.processes, *subject.manual.actions):
        for role in schema.variables:
            if role not in roles and role_of(role) not in roles:
                nameless.setdefault(role, []).append(schema.name)
    return nameless


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
    """The steps of an episode, without repetitions of commands that were refused: who doubts gives
    no such command again while all is as it was, and who does not doubt may.
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
    without = _commands_of(trusting)
    steps = _steps_of(doubting)
    for number in range(1, max(len(without), len(steps)) + 1):
        one = without[number - 1] if number <= len(without) else _NO_STEP
        other = steps[number - 1].command if number <= len(steps) else _NO_STEP
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


_NO_STEP = "(no step)"


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


PROPERTIES: tuple[Callable[[Subject], str], ...] = (
    members,
    tasks,
    manual,
    games,
    refusals,
    goals,
    belief,
    signature,
    facts,
    schemas,
    effects,
    drift,
    progress,
    commands,
    prompts,
    planner,
    plans,
    doubt,
)
"""The checks, in the order of trial. A function's name is the property's, its docstring the
claim."""
