"""One ticket being worked on: calls in, what the tools say out, success by the task's own assertions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextvars import copy_context
from typing import Any, Final

from rpms.core.errors import InputError
from rpms.foreign.call_text import NotACall, WrittenCall, read_call
from rpms.foreign.shown import excerpt
from rpms.worlds.base import Outcome
from rpms.worlds.tau2_telecom.package import load_package, records

_SIDES = {"assistant": "tools", "user": "user_tools"}
"""Owner of a function → the environment's field that holds it."""
_MAKE_BILLS = frozenset({"refuel_data"})
"""Tools that may open a new bill."""


class Sandbox:
    """The state of one task. Each has a store of its own, so that many can be played at once."""

    def __init__(self) -> None:
        self._package = load_package()
        self._context = copy_context()
        self.store = self._package.make_store()
        self._context.run(self._package.use_store, self.store)

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
        opens = call.name in _MAKE_BILLS
        known = {bill.bill_id for bill in self.environment.tools.db.bills} if opens else set[str]()
        try:
            answer = self._context.run(_run, tool.tool, package.converted(arguments, tool.tool))
        except package.refusal as refusal:
            return f"Error: {refusal.message}"
        except (ValueError, TypeError, AttributeError) as error:  # a tool that does not check what it is given
            return f"Error: {excerpt(str(error))}"
        if opens:
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

    def _rename_bills(self, known: set[str]) -> None:
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


DONE: Final = "done"
"""Closes the ticket; the one tool of solo mode that the package does not have."""
TRANSFER: Final = "transfer_to_human_agents"
CLOSED: Final = "The ticket is closed."


class TelecomGame:
    """A ticket of τ²'s telecom domain in solo mode.

    It ends when the ticket is closed with `done()` or handed to a human agent. It is won then if all that the task
    asserts of database and phone is so, and, where the task counts actions too, if they were among the calls.
    """

    def __init__(self, name: str) -> None:
        if name not in records():
            raise InputError(f"tau2-telecom has no task {name!r}")
        self._task: Mapping[str, Any] = records()[name]
        self.sandbox = Sandbox()
        self._called: list[WrittenCall] = []
        self._over = False

    @property
    def state(self) -> Any:
        """Database and phone as they are, for comparisons; never for prompts."""
        return self.sandbox.environment

    def reset(self) -> Outcome:
        self.sandbox, self._called, self._over = Sandbox(), [], False
        self.sandbox.prepare((self._task["initial_state"] or {}).get("initialization_actions") or ())
        return Outcome(f"Today is {load_package().today}.\nTicket: {self._task['ticket']}")

    def step(self, command: str) -> Outcome:
        if self._over:
            return Outcome("Error: the ticket is closed", done=True)
        try:
            call = read_call(command)
        except NotACall as problem:
            return Outcome(f"Error: {problem}")
        if call.name == DONE:
            said = CLOSED if not call.arguments else f"Error: {DONE} takes no arguments"
        else:
            said = self.sandbox.call(call)
        if said.startswith("Error: "):
            return Outcome(said)
        self._called.append(call)
        self._over = call.name in (DONE, TRANSFER)
        won = self._over and self._solved()
        return Outcome(said, float(won), won, self._over)

    def _solved(self) -> bool:
        criteria = self._task["evaluation_criteria"] or {}
        wanted = criteria.get("actions") or () if "ACTION" in (criteria.get("reward_basis") or ()) else ()
        return self.sandbox.holds(criteria.get("env_assertions") or ()) and all(map(self._did, wanted))

    def _did(self, action: Mapping[str, Any]) -> bool:
        """True if an action was among the calls; of a transfer, and of what is not compared, the arguments are free."""
        compared = action["compare_args"] if action["compare_args"] is not None else list(action["arguments"])
        free = action["name"] == TRANSFER
        return any(
            call.name == action["name"]
            and (free or all(call.arguments.get(name) == action["arguments"].get(name) for name in compared))
            for call in self._called
        )

    def admissible(self) -> tuple[str, ...]:
        """Calls that no tool would refuse now, over the ids of the ticket's customer."""
        return () if self._over else tuple(sorted(map(str, self._accepted())))

    def _accepted(self) -> Iterator[WrittenCall]:
        tools, phone = self.state.tools, self.state.user_tools
        device = phone.device
        refused = {
            "toggle_wifi": device.airplane_mode,
            "connect_vpn": device.vpn_connected,
            "disconnect_vpn": not device.vpn_connected,
            "make_payment": phone.surroundings.payment_request is None,
        }
        plain = [name for name, tool in load_package().tools.items() if not tool.parameters.properties]
        yield from (WrittenCall(name) for name in plain if not refused.get(name))
        yield WrittenCall(DONE)
        for app, status in device.app_statuses.items():
            yield from (WrittenCall(name, {"app_name": app}) for name in ("check_app_status", "check_app_permissions"))
            for permission in type(status.permissions).model_fields:
                yield WrittenCall("grant_app_permission", {"app_name": app, "permission": permission})
        for mode in type(device.network_mode_preference):
            yield WrittenCall("set_network_mode_preference", {"mode": mode.value})
        number = phone.surroundings.phone_number
        yield WrittenCall("get_customer_by_phone", {"phone_number": number})
        yield from self._about(tools, tools.get_customer_by_phone(number))

    def _about(self, tools: Any, customer: Any) -> Iterator[WrittenCall]:
        who = {"customer_id": customer.customer_id}
        yield from (WrittenCall(name, who) for name in ("get_customer_by_id", "get_bills_for_customer"))
        yield WrittenCall("get_details_by_id", {"id": customer.customer_id})
        lines = [line for line in tools.db.lines if line.line_id in customer.line_ids]
        bills = [bill for bill in tools.db.bills if bill.bill_id in customer.bill_ids]
        for line in lines:
            which = {**who, "line_id": line.line_id}
            yield WrittenCall("get_details_by_id", {"id": line.line_id})
            yield WrittenCall("get_data_usage", which)
            yield WrittenCall("refuel_data", {**which, "gb_amount": 2.0})
            yield WrittenCall("disable_roaming" if line.roaming_enabled else "enable_roaming", which)
            if line.status.value == "Active":
                yield WrittenCall("suspend_line", {**which, "reason": "asked for"})
            elif line.status.value in ("Suspended", "Pending Activation"):
                yield WrittenCall("resume_line", which)
        asked = any(bill.status.value == "Awaiting Payment" for bill in bills)
        for bill in bills:
            yield WrittenCall("get_details_by_id", {"id": bill.bill_id})
            if not asked:
                yield WrittenCall("send_payment_request", {**who, "bill_id": bill.bill_id})

    def close(self) -> None:
        """Nothing is held outside this process."""
