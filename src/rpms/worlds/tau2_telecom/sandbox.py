"""One database and one phone, and the tools that work on them: what a call says, and what is so in the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import copy_context
from copy import deepcopy
from typing import Any

from rpms.foreign.calls import WrittenCall
from rpms.foreign.shown import excerpt
from rpms.worlds.tau2_telecom.package import load_package

_SIDES = {"assistant": "tools", "user": "user_tools"}
"""Owner of a function → the environment's field that holds it."""
_MAKE_BILLS = frozenset({"refuel_data"})
"""Tools that may open a new bill."""


class Sandbox:
    """The state of one task. Each has a store of its own, so that many can be played at once."""

    def __init__(self, store: Any = None) -> None:
        self._package = load_package()
        self._context = copy_context()
        self._store = store if store is not None else self._package.make_store()
        self._context.run(self._package.use_store, self._store)

    @property
    def environment(self) -> Any:
        """Database (`tools`) and phone (`user_tools`), each brought up to date with the other."""
        return self._context.run(self._package.make_environment)

    def prepare(self, actions: Sequence[Mapping[str, Any]]) -> None:
        """Do what a task's beginning says, which breaks one thing after the other."""
        environment = self.environment
        for action in actions:
            side = getattr(environment, _SIDES[action["env_type"]])
            getattr(side, action["func_name"])(**action["arguments"])
            environment.sync_tools()

    def call(self, call: WrittenCall) -> str:
        """A tool's answer; `Error: …` where it refuses, in the sandbox's own words."""
        package = self._package
        tool = package.tools.get(call.name)
        if tool is None:
            return f"Error: Tool {excerpt(call.name)} not found"
        arguments = dict(call.arguments)
        problem = package.problems(arguments, tool.parameters)
        if problem:
            return f"Error: {problem}"
        known = self._bills() if call.name in _MAKE_BILLS else None
        try:
            answer = self._context.run(_run, tool.tool, package.converted(arguments, tool.tool))
        except package.refusal as refusal:
            return f"Error: {refusal.message}"  # type: ignore[attr-defined]
        except (ValueError, TypeError, AttributeError) as error:  # a tool that does not check what it is given
            return f"Error: {excerpt(str(error))}"
        if known is not None:
            self._rename_bills(known)
        return answer

    def holds(self, assertions: Sequence[Mapping[str, Any]]) -> bool:
        """True if all that a task asserts is so."""
        environment = self.environment
        return all(
            getattr(getattr(environment, _SIDES[each["env_type"]]), each["func_name"])(**each["arguments"])
            == each["assert_value"]
            for each in assertions
        )

    def copy(self) -> Sandbox:
        """Another with the same state, to try something out in."""
        return Sandbox(type(self._store)(deepcopy(dict(self._store.items()))))

    def _bills(self) -> frozenset[str]:
        return frozenset(bill.bill_id for bill in self.environment.tools.db.bills)

    def _rename_bills(self, known: frozenset[str]) -> None:
        """Number new bills: the tools name them by chance, and a game is to be the same each time it is played."""
        database = self.environment.tools.db
        for bill in database.bills:
            if bill.bill_id not in known:
                old, bill.bill_id = bill.bill_id, f"B{len(database.bills):08d}"
                for customer in database.customers:
                    customer.bill_ids = [bill.bill_id if each == old else each for each in customer.bill_ids]


def _run(function: Any, arguments: Mapping[str, Any]) -> str:
    """Run a coroutine that never waits."""
    try:
        function(**arguments).send(None)
    except StopIteration as stop:
        return str(stop.value)
    raise RuntimeError("a tool waits for something outside the sandbox")
