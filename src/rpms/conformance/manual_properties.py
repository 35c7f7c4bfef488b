"""Properties of a world's manual, compared with the games that were walked through."""

from collections.abc import Iterable
from itertools import pairwise

from rpms.conformance.walk import REPLAYS, Skipped, Subject, Walk, require
from rpms.logic.actions import ActionSchema, role_of
from rpms.logic.belief import Situation
from rpms.logic.facts import Truth
from rpms.logic.rules import ActiveRules, RuleManual
from rpms.paper.progress import standing
from rpms.planning.achievers import achievers_of
from rpms.planning.reason import plan_for
from rpms.planning.remedies import review


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
    """Roles without any known name, and the schemas that have a parameter in such a role."""
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
