"""Calls that break a policy, made from the calls that keep it. The same seed makes the same ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Protocol

from tau2.sandbox import Call, Sandbox, Task
from tau2.session import Session

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
    """One way to break a policy: in words, the rule it breaks, the tools it can be done with, and how."""

    name: str
    rule: str
    tools: frozenset[str]
    make: Maker
    most: int = 1
    """How many are made from one reference action."""


@dataclass(frozen=True)
class Case:
    """A call to be judged after a conversation. Without a kind it is a reference action."""

    task: str
    session: Session
    call: Call
    rules: frozenset[str]
    """What the call breaks, by the measure."""
    kind: Kind | None = None


def careful(policy: Policy, session: Session, call: Call) -> Session:
    """The conversation, gone on with all that should be looked up before this call."""
    session.do(policy.lookups(session, call))
    return session


def replay(policy: Policy, domain: str, task: Task) -> Iterator[tuple[Session, Call]]:
    """Every reference action with the conversation it comes after; after a yield, the action is done."""
    session = Session(Sandbox(domain), "")
    owners = [policy.owner(session.sandbox.db, call) for call in task.actions if call.name in policy.WRITES]
    session.customer = next((owner for owner in owners if owner), "")
    for call in task.actions:
        session.reason = policy.reason_for(session, call)
        yield careful(policy, session, call), call
        session.do([call])


def references(policy: Policy, domain: str, tasks: Iterable[Task]) -> Iterator[Case]:
    """Each reference action that changes something, after what a careful agent looks up."""
    for task in tasks:
        for session, call in replay(policy, domain, task):
            if call.name in policy.WRITES:
                yield Case(task.id, session.branch(), call, frozenset(policy.broken(session, call)))


def violations(policy: Policy, domain: str, kinds: Iterable[Kind], tasks: Iterable[Task], seed: int) -> Iterator[Case]:
    """Calls that break exactly the rule their kind says, made from the reference actions that break none."""
    kinds = list(kinds)
    for task in tasks:
        for number, (session, call) in enumerate(replay(policy, domain, task)):
            if call.name not in policy.WRITES or policy.broken(session, call):
                continue
            for kind in kinds:
                if call.name in kind.tools:
                    yield from _of_kind(
                        policy, kind, task, session, call, Random(f"{seed} {task.id} {number} {kind.name}")
                    )


def _of_kind(policy: Policy, kind: Kind, task: Task, session: Session, call: Call, rng: Random) -> Iterator[Case]:
    made = 0
    for changed, bad in kind.make(session, call, rng):
        if policy.broken(changed, bad) == {kind.rule}:
            yield Case(task.id, changed.branch(), bad, frozenset({kind.rule}), kind)
            made += 1
        if made == kind.most:
            return
