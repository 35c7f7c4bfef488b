"""Events between an agent and one customer: tools called, their answers, and what only the
customer said.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tau2.sandbox import Call, Result, Sandbox

READING = ("calculate", "find_", "get_", "list_", "search_", "transfer_")
"""Beginnings of the names of tools that change nothing."""


@dataclass
class Session:
    """One conversation's tool calls on one database, and what the tools cannot show."""

    sandbox: Sandbox
    customer: str
    """The owner of the account that the reference actions serve."""
    turns: list[tuple[Call, Result]] = field(default_factory=list)
    reason: str | None = None
    """Why the customer wants to cancel, in the customer's words."""
    confirmed: bool = True
    """True if the customer said yes to the call about to be made."""

    def do(self, calls: Iterable[Call]) -> None:
        """Call these tools, one after the other."""
        for call in calls:
            self.turns.append((call, self.sandbox.call(call)))

    def called(self, name: str, **arguments: object) -> bool:
        """True if this tool answered, without an error, a call with at least these arguments."""
        return any(
            call.name == name and not result.failed and arguments.items() <= call.arguments.items()
            for call, result in self.turns
        )

    def shown(self, **arguments: object) -> bool:
        """True if any tool answered a call about this; tools that change a record return it."""
        return any(self.called(call.name, **arguments) for call, _ in self.turns)

    def since_last_change(self) -> list[Call]:
        """The calls after the last that changed something."""
        calls = [call for call, _ in self.turns]
        changes = [place for place, call in enumerate(calls) if not call.name.startswith(READING)]
        return calls[changes[-1] + 1 :] if changes else calls

    def branch(self) -> Session:
        """The same conversation up to here, to go on differently without changing the database."""
        return Session(self.sandbox, self.customer, list(self.turns), self.reason, self.confirmed)

    def again(self) -> Session:
        """The same conversation on a database of its own, which may be changed."""
        session = self.branch()
        session.sandbox = Sandbox(self.sandbox.domain)
        for call, _ in self.turns:
            if not call.name.startswith(READING):
                session.sandbox.call(call)
        return session

    def with_customer(self, customer: str) -> Session:
        """A new conversation with somebody else, on this database."""
        return Session(self.sandbox, customer, [], self.reason, self.confirmed)

    def without(self, *names: str) -> Session:
        """The same conversation, had these tools not been called."""
        session = self.branch()
        session.turns = [(call, result) for call, result in self.turns if call.name not in names]
        return session
