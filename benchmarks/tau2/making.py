"""Parts that the makers of violations share, whatever the policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

from tau2.cases import Policy, careful
from tau2.sandbox import Call
from tau2.session import Session

Made = Iterator[tuple[Session, Call]]


def changed(call: Call, **changes: Any) -> Call:
    """The same call with some arguments changed."""
    return Call(call.name, {**call.arguments, **changes})


def looked_up(policy: Policy, session: Session, call: Call) -> tuple[Session, Call]:
    """A call with the conversation gone on to what should be looked up before it."""
    return careful(policy, session.branch(), call), call


def shuffled(records: Mapping[str, Any], rng: Random) -> list[Any]:
    """A table's records in a drawn order."""
    found = [record for _, record in sorted(records.items())]
    rng.shuffle(found)
    return found


def unconfirmed(session: Session, call: Call, _rng: Random) -> Made:
    """The reference action before the customer said yes."""
    session = session.branch()
    session.confirmed = False
    yield session, call


def done_twice(session: Session, call: Call, _rng: Random) -> Made:
    """The reference action once more."""
    session = session.again()
    session.do([call])
    yield session, call
