"""Properties of the manual: what it forbids, what it says that actions do, and what it plans."""

from __future__ import annotations

from rpms.conformance.walk import REPLAYS, Skipped, Subject, require
from rpms.core.acting.action_guard import review
from rpms.core.belief import Situation
from rpms.core.facts import Truth
from rpms.core.planning.reason import plan_for, reasoner_of


def manual(subject: Subject) -> str:
    """The manual loads, and each of its actions is read as itself."""
    manual = subject.manual
    require(manual.world == subject.world.name, f"it says `world: {manual.world}`, the world is {subject.world.name}")
    for name, predicate in manual.predicates.items():
        other = manual.predicates.get(predicate.exclusive)
        sound = predicate.exclusive in ("", "always") or (other is not None and len(other.args) == 2)
        require(sound, f"{name}: exclusive must be `always` or a predicate of two arguments, not {predicate.exclusive}")
    rules = manual.active("", "")
    for schema in manual.actions:
        for syntax in schema.syntax:
            command = syntax.replace("<", "").replace(">", " 1")
            found = rules.instance(command)
            name = found.schema.name if found else "nothing"
            require(found is not None and found.schema is schema, f"`{syntax}` of {schema.name} is read as {name}")
    checkable = sum(bool(schema.preconditions) for schema in manual.actions)
    note = "" if checkable else "; none has preconditions, so nothing can be checked against it"
    return f"{len(manual.rules)} rules, {len(manual.actions)} actions, {checkable} with preconditions{note}"


def schemas(subject: Subject) -> str:
    """The manual blocks nothing that the game allows."""
    allowed = refused = foreseen = 0
    replays = 5 * REPLAYS
    for walk in subject.walks:
        rules = subject.rules(walk.goal)
        for number, (before, after) in enumerate(walk.steps()):
            situation = Situation(before.belief, walk.goal)
            failed = subject.world.infeasible(after.outcome.observation)
            possible = {*before.admissible, after.action or ""} - ({after.action} if failed else set())
            for command in sorted(possible):
                refusal = review(command, rules, situation)
                if refusal is not None and replays:
                    replays -= 1
                    text = subject.answers(walk, number, command)[0].observation
                    where = f"{walk.task.id}, step {number}"
                    wrong = f"{where}: the game allows `{command}`, the manual does not: {refusal.text}"
                    require(subject.world.infeasible(text), wrong)
            allowed += len(possible)
            refused += failed
            foreseen += failed and review(after.action or "", rules, situation) is not None
    if not allowed:
        raise Skipped("no command worked on any walk, and the game lists none")
    return f"of {allowed} possible commands none blocked; of {refused} refused, {foreseen} foreseen"


def effects(subject: Subject) -> str:
    """The belief never denies an effect that the manual states."""
    count = 0
    for walk in subject.walks:
        rules = subject.rules(walk.goal)
        for _, after in walk.steps():
            instance = rules.instance(after.action or "")
            if instance is None or subject.world.infeasible(after.outcome.observation):
                continue
            for literal in instance.effects:
                count += 1
                value = literal.truth(Situation(after.belief, walk.goal))
                require(
                    value is not Truth.FALSE,
                    f"{walk.task.id}: after `{after.action}` the manual says {literal}, the belief says it is not so",
                )
    return f"{count} effects"


def progress(subject: Subject) -> str:
    """There is always a sub-goal."""
    states = subject.states()
    for goal, belief in states:
        found = reasoner_of(subject.rules(goal)).standing(Situation(belief, goal)).progress
        require(bool(found.sub_goal) and 0 <= found.done <= found.total, f"{found} is no progress")
    return f"{len(states)} states"


def plans(subject: Subject) -> str:
    """Plans are the same each time, and feasible as far as is known."""
    states, options = subject.states(), 0
    for goal, belief in states:
        rules, situation = subject.rules(goal), Situation(belief, goal)
        plan = plan_for(rules, situation)
        require(plan == plan_for(rules, situation), "another plan the second time")
        for option in plan.options:
            refusal = review(option.command, rules, situation)
            require(refusal is None, f"{option.command!r} is planned, and known to fail: {refusal}")
        options += len(plan.options)
    nameless = [f"<{role}> of {', '.join(names)}" for role, names in subject.nameless().items()]
    note = f"; never named on these walks, so no plan can use them: {'; '.join(nameless)}" if nameless else ""
    if not options:
        cause = "the manual has no goals, or says of no action what it does or reveals"
        raise Skipped(f"no plan begins anywhere: {cause}{note}")
    return f"{options} choices in {len(states)} states{note}"
