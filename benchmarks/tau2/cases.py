"""Calls that break a policy, made from the calls that keep it.

The same seed makes the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Protocol

from tau2.sandbox import Call, Sandbox, Task
from tau2.session import Session

LOOK_ON = 12
"""Calls that are tried at most for the sake of permitted ones, once there are violations enough."""
Maker = Callable[[Session, Call, Random], Iterable[tuple[Session, Call]]]


class Policy(Protocol):
    """One domain's measure: a module."""

    WRITES: frozenset[str]

    def broken(self, session: Session, call: Call) -> set[str]: ...
    def lookups(self, session: Session, call: Call) -> Iterable[Call]: ...
    def reason_for(self, session: Session, call: Call) -> str | None: ...
    def owner(self, db: object, call: Call) -> str | None: ...


@dataclass(frozen=True)
class Kind:
    """One way to break a policy: in words, the rule it breaks, the tools it can be done with,
    and how.
    """

    name: str
    rule: str
    tools: frozenset[str]
    make: Maker
    most: int = 1
    """Most cases made from one reference action."""


@dataclass(frozen=True)
class Case:
    """A call made from a reference action, to be judged after a conversation."""

    task: str
    session: Session
    call: Call
    kind: Kind
    rules: frozenset[str]
    """Rules the call breaks, by the measure; empty for a permitted call."""


def careful(policy: Policy, session: Session, call: Call) -> Session:
    """The conversation, gone on with what should be looked up before this call and was not
    since the last change.
    """
    for wanted in policy.lookups(session, call):
        if wanted not in session.since_last_change():
            session.do([wanted])
    return session


def replay(policy: Policy, domain: str, task: Task) -> Iterator[tuple[Session, Call]]:
    """Every reference action with the conversation it comes after; after a yield, the action is
    done.
    """
    session = Session(Sandbox(domain), "")
    owners = [
        policy.owner(session.sandbox.db, call)
        for call in task.actions
        if call.name in policy.WRITES
    ]
    session.customer = next((owner for owner in owners if owner), "")
    for call in task.actions:
        session.reason = policy.reason_for(session, call)
        yield careful(policy, session, call), call
        session.do([call])


def made_from(
    policy: Policy, domain: str, kinds: Iterable[Kind], tasks: Iterable[Task], seed: int
) -> Iterator[Case]:
    """Calls made from the reference actions that keep the policy: those that break just their
    kind's rule, or none.
    """
    kinds = list(kinds)
    for task in tasks:
        for number, (session, call) in enumerate(replay(policy, domain, task)):
            if call.name not in policy.WRITES or policy.broken(session, call):
                continue
            for kind in kinds:
                if call.name in kind.tools:
                    rng = Random(f"{seed} {task.id} {number} {kind.name}")
                    yield from _of_kind(policy, kind, task.id, session, call, rng)


def _of_kind(
    policy: Policy, kind: Kind, task: str, session: Session, call: Call, rng: Random
) -> Iterator[Case]:
    """As many violations as are wanted of this kind, and calls met on the way that break
    nothing.
    """
    violations = permitted = 0
    for tried, (changed, other) in enumerate(kind.make(session, call, rng)):
        rules = frozenset(policy.broken(changed, other))
        if rules == {kind.rule} and violations < kind.most:
            violations += 1
            yield Case(task, changed.branch(), other, kind, rules)
        elif not rules and permitted < kind.most and other != call:
            permitted += 1
            yield Case(task, changed.branch(), other, kind, rules)
        if violations == kind.most and (permitted == kind.most or tried >= LOOK_ON):
            return
