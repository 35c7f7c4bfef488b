"""Facts that calls have set or are about to set, here and in other guards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple
from uuid import uuid4

from rpms.guard.belief import ToolBelief
from rpms.guard.calls import Call, ToolFact, ToolManual
from rpms.guard.causes import Cause, WrittenOtherwise
from rpms.guard.shared_facts import SharedFacts
from rpms.guard.under_way import UnderWay
from rpms.logic.facts import Atom, Literal, Truth


class TruthWithCause(NamedTuple):
    """Truth of a fact, and why it is unknown if it is."""

    truth: Truth
    cause: Cause | None = None


class ConversationFacts:
    """The belief of one conversation, and the calls that are about to change it.

    Facts that the manual says are `shared` are those of all guards with the same store.
    """

    def __init__(self, belief: ToolBelief, shared: SharedFacts | None = None) -> None:
        self.belief = belief
        self.shared = shared
        self._under_way = UnderWay()
        self._name = uuid4().hex

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Let no other guard with the same store judge meanwhile."""
        if self.shared is None:
            yield
            return
        with self.shared.transaction():
            yield

    def ask(self, fact: ToolFact, atom: Atom) -> TruthWithCause:
        """Truth of a fact by what calls have told."""
        held = self._held(fact, atom)
        if held is None:
            near = self._near(fact, atom)
            if near is not None:
                return TruthWithCause(Truth.UNKNOWN, WrittenOtherwise(near))
            held = fact.initially
        coming = self._under_way.coming(atom)
        if coming is None and fact.shared and self.shared is not None:
            coming = self.shared.coming(atom, self._name)
        if coming is None or coming.value is held:
            return TruthWithCause(Truth.of(held))
        return TruthWithCause(Truth.UNKNOWN, coming)

    def _held(self, fact: ToolFact, atom: Atom) -> bool | None:
        if fact.shared and self.shared is not None:
            shared = self.shared.holds(atom)
            if shared is not None:
                return shared
        return self.belief.known.get(atom)

    def _near(self, fact: ToolFact, atom: Atom) -> Atom | None:
        """A fact in another writing that is not as it was at first."""
        near = self.belief.near(atom, fact.initially)
        if near is None and fact.shared and self.shared is not None:
            near = self.shared.near(atom, fact.initially)
        return near

    def learn(self, facts: Sequence[Literal], manual: ToolManual) -> bool:
        """Take facts as known; calls that were about to change them are no longer waited for. True
        if that changed anything.
        """
        self._under_way.settle(facts)
        if self.shared is None:
            return self.belief.learn(facts)
        theirs = _shared(facts, manual)
        changed = any(self.shared.holds(each.atom) is not (not each.negated) for each in theirs)
        self.shared.tell(theirs)
        mine = [each for each in facts if each not in theirs]
        return self.belief.learn(mine) or changed

    def announce(self, call: Call, changes: Sequence[Literal], manual: ToolManual) -> None:
        """Expect changes of a call that is about to be made."""
        self._under_way.add(call, changes)
        if self.shared is not None:
            self.shared.announce(self._name, call.place, _shared(changes, manual))

    def end(self, call: Call) -> None:
        """Note that a call returned, or was not made after all."""
        self._under_way.end(call)
        if self.shared is not None:
            self.shared.end(self._name, call.place)

    def lose(self, call: Call) -> None:
        """Note that nobody waits for a call any more: it may have been done or not."""
        self._under_way.lose(call)
        if self.shared is not None:
            self.shared.lose(self._name, call.place)


def _shared(facts: Sequence[Literal], manual: ToolManual) -> list[Literal]:
    """The facts that the manual says are shared."""
    return [each for each in facts if manual.shares(each.atom.predicate)]
