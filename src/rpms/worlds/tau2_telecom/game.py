"""One ticket being worked on: calls in, what the tools say out, success by the task's own assertions."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import copy_context
from itertools import product
from typing import Any, Final

from rpms.core.errors import InputError
from rpms.foreign.call_text import NotACall, WrittenCall, read_call
from rpms.foreign.shown import excerpt
from rpms.worlds.base import Outcome
from rpms.worlds.tau2_telecom.package import load_package, records

_SIDES = {"assistant": "tools", "user": "user_tools"}
"""Owner of a function → the environment's field that holds it."""


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
        opens = call.name == "refuel_data"  # the one that may open a new bill
        known = {bill.bill_id for bill in self.environment.tools.db.bills} if opens else set[str]()
        try:
            answer = self._context.run(_run, tool.tool, package.converted(arguments, tool.tool))
        except package.refusal as refusal:
            return f"Error: {refusal.message}"
        except (ValueError, TypeError, AttributeError) as error:  # a tool that does not check what it is given
            return f"Error: {excerpt(str(error))}"
        database: Any = self.environment.tools.db if opens else None
        for bill in database.bills if database else ():
            if bill.bill_id not in known:  # named by chance, where a game is to be the same each time it is played
                old, bill.bill_id = bill.bill_id, f"B{len(database.bills):08d}"
                for customer in database.customers:
                    customer.bill_ids = [bill.bill_id if each == old else each for each in customer.bill_ids]
        return answer

    def holds(self, assertions: Sequence[Mapping[str, Any]]) -> bool:
        """True if all that a task asserts is so."""
        environment = self.environment
        return all(
            getattr(getattr(environment, _SIDES[each["env_type"]]), each["func_name"])(**each["arguments"])
            == each["assert_value"]
            for each in assertions
        )


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
_LINES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "enable_roaming": lambda line: not line.roaming_enabled,
    "disable_roaming": lambda line: line.roaming_enabled,
    "suspend_line": lambda line: line.status.value == "Active",
    "resume_line": lambda line: line.status.value in ("Suspended", "Pending Activation"),
}
"""Tools that refuse some lines, and those that they take."""


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
        criteria = self._task["evaluation_criteria"] or {}
        wanted = criteria.get("actions") or () if "ACTION" in (criteria.get("reward_basis") or ()) else ()
        asserted = criteria.get("env_assertions") or ()
        won = self._over and self.sandbox.holds(asserted) and all(map(self._did, wanted))
        return Outcome(said, float(won), won, self._over)

    def _did(self, action: Mapping[str, Any]) -> bool:
        """True if an action was among the calls; of a transfer, and of what is not compared, the arguments are free."""
        name, arguments, compared = action["name"], action["arguments"], action["compare_args"]
        compared = () if name == TRANSFER else arguments if compared is None else compared
        called = [call.arguments for call in self._called if call.name == name]
        return any(all(given.get(each) == arguments.get(each) for each in compared) for given in called)

    def admissible(self) -> tuple[str, ...]:
        """Calls that no tool would refuse now, over the ids of the ticket's customer."""
        return () if self._over else tuple(sorted(map(str, [*self._accepted(), WrittenCall(DONE)])))

    def _accepted(self) -> Iterator[WrittenCall]:
        tools, phone = self.sandbox.environment.tools, self.sandbox.environment.user_tools
        device, number = phone.device, phone.surroundings.phone_number
        customer = tools.get_customer_by_phone(number)
        lines = {line.line_id: line for line in tools.db.lines if line.line_id in customer.line_ids}
        bills = {bill.bill_id: bill for bill in tools.db.bills if bill.bill_id in customer.bill_ids}
        values: dict[str, Sequence[Any]] = {
            "app_name": list(device.app_statuses),
            "permission": list(type(next(iter(device.app_statuses.values())).permissions).model_fields),
            "mode": [mode.value for mode in type(device.network_mode_preference)],
            "phone_number": [number],
            "customer_id": [customer.customer_id],
            "line_id": list(lines),
            "bill_id": list(bills),
            "id": [customer.customer_id, *lines, *bills],
            "gb_amount": [2.0],
            "reason": ["asked for"],
        }
        refused = {
            "toggle_wifi": device.airplane_mode,
            "connect_vpn": device.vpn_connected,
            "disconnect_vpn": not device.vpn_connected,
            "make_payment": phone.surroundings.payment_request is None,
            "send_payment_request": any(bill.status.value == "Awaiting Payment" for bill in bills.values()),
        }
        for name, tool in load_package().tools.items():
            needed = tool.parameters.required
            for given in product(*(values.get(each, ()) for each in needed)):
                call = WrittenCall(name, dict(zip(needed, given, strict=True)))
                line = lines.get(str(call.arguments.get("line_id")))
                if not refused.get(name) and (name not in _LINES or _LINES[name](line)):
                    yield call

    def close(self) -> None:
        """Nothing is held outside this process."""
