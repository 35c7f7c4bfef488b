"""One ticket being worked on: calls in, what the tools say out, success by the task's own
assertions.

`load_package` is the one door to the package that holds τ²'s data and tools. Importing it takes
about three seconds, so it is late. Nearly all of that is Inspect itself, which the tools are
written for; no path into the package avoids it. Its runtime is not needed: a tool is a coroutine
that never waits, working on a store that a context variable names.
"""

import gzip
import json
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextvars import copy_context
from functools import cache
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from rpms.foreign.call_text import NotACall, WrittenCall, read_call
from rpms.foreign.shown import excerpt
from rpms.logic.errors import InputError
from rpms.worlds.base import Outcome, Task

INSTALL: Final = "pip install inspect-evals"
DATA: Final = ("tau2", "data", "domains", "telecom")
OFFICIAL: Final = ("train", "test", "base", "small", "full")


@cache
def load_package() -> SimpleNamespace:
    """Import the package: its parts in use, under our own names.

    If it is missing, one line says what to install.
    """
    try:
        from inspect_ai.model._call_tools import tool_params, validate_tool_input  # noqa: PLC0415
        from inspect_ai.tool import ToolDef, ToolError  # noqa: PLC0415
        from inspect_ai.util import Store  # noqa: PLC0415
        from inspect_ai.util._store import init_subtask_store  # noqa: PLC0415
        from inspect_evals.tau2.telecom.environment import get_environment  # noqa: PLC0415
        from inspect_evals.tau2.telecom.tools import all_telecom_agent_tools  # noqa: PLC0415
        from inspect_evals.tau2.telecom.user_tools import all_telecom_user_tools  # noqa: PLC0415
        from inspect_evals.tau2.telecom.utils import get_today  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise _missing(error.name or "inspect_evals") from None
    except ImportError as error:
        raise InputError(
            f"this version of inspect-evals is not one that this world knows ({error}): {INSTALL} -U"
        ) from None
    definitions = [ToolDef(make()) for make in (*all_telecom_agent_tools, *all_telecom_user_tools)]
    return SimpleNamespace(
        # as the sandbox defines them: description, schema, function
        tools={each.name: each for each in definitions},
        # the database and the phone of the store in force, made at the first call
        make_environment=get_environment,
        make_store=Store,
        use_store=init_subtask_store,  # makes a store the one in force, in this context
        # the sandbox's words for arguments that do not fit a tool's schema
        problems=validate_tool_input,
        converted=tool_params,  # arguments as the tool's function wants them
        refusal=ToolError,
        today=get_today().isoformat(),
    )


def _missing(module: str) -> InputError:
    return InputError(f"the tools of τ²-bench are not installed ({module} is missing): {INSTALL}")


def missing() -> str:
    """Missing package, with the way to install it; empty if all is here."""
    absent = next(
        (name for name in ("inspect_evals", "inspect_ai") if find_spec(name) is None), None
    )
    return "" if absent is None else str(_missing(absent))


@cache
def splits() -> Mapping[str, tuple[str, ...]]:
    """The official splits: the ids of their tasks, in order."""
    read = _read("split_tasks.json")
    if missing := [name for name in OFFICIAL if name not in read]:
        raise InputError(
            f"the installed inspect-evals has no split {missing[0]!r} of telecom tasks:"
            f" {INSTALL} -U"
        )
    return {name: tuple(read[name]) for name in OFFICIAL}


@cache
def records() -> Mapping[str, Mapping[str, Any]]:
    """Every task of the package by its id: ticket, how it begins, what is asserted in the end."""
    return {task["id"]: task for task in _read("tasks.json.gz")}


def _read(name: str) -> Any:
    """A file of the tasks, found without importing anything."""
    if (spec := find_spec("inspect_evals")) is None or not spec.submodule_search_locations:
        raise _missing("inspect_evals")
    file = Path(spec.submodule_search_locations[0], *DATA, name)
    try:
        content = file.read_bytes()
        return json.loads(gzip.decompress(content) if name.endswith(".gz") else content)
    except (OSError, EOFError, ValueError) as error:
        raise InputError(
            f"inspect-evals has no readable {'/'.join((*DATA, name))} ({error}): {INSTALL} -U"
        ) from None


SPLITS: Final = (*OFFICIAL, "full-train")
"""Train and test are disjoint and make up base. Full holds every task, those of test included;
full-train, which is our own, holds the others: there is much to learn from, and nothing of test."""

_TYPE = re.compile(r"\[([a-z_]+)\]")


def list_tasks(split: str) -> Sequence[Task]:
    """The tasks of a split, in the official order."""
    if split not in SPLITS:
        raise InputError(f"tau2-telecom has no split {split!r}; choose one of {', '.join(SPLITS)}")
    known = splits()
    held_out = frozenset(known["test"])
    names = (
        [name for name in known["full"] if name not in held_out]
        if split == "full-train"
        else known[split]
    )
    return [
        Task(name, split, match[1] if (match := _TYPE.match(name)) else "other") for name in names
    ]


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

    It ends when the ticket is closed with `done()` or handed to a human agent. It is won then if
    all that the task asserts of database and phone is so, and, where the task counts actions too,
    if they were among the calls.
    """

    def __init__(self, name: str) -> None:
        if name not in records():
            raise InputError(f"tau2-telecom has no task {name!r}")
        self._task: Mapping[str, Any] = records()[name]
        self._package = load_package()
        self.clear()

    def clear(self) -> None:
        """Begin with a store of its own, so that many can be played at once, in which nothing
        is broken yet.
        """
        self._context, self.store = copy_context(), self._package.make_store()
        self._context.run(self._package.use_store, self.store)
        self._called: list[WrittenCall] = []
        self._over = False

    def reset(self) -> Outcome:
        self.clear()
        environment = self.environment
        for action in (self._task["initial_state"] or {}).get("initialization_actions") or ():
            self._on(environment, action)
            environment.sync_tools()
        return Outcome(f"Today is {self._package.today}.\nTicket: {self._task['ticket']}")

    @property
    def environment(self) -> Any:
        """Database (`tools`) and phone (`user_tools`), each brought up to date with the other."""
        return self._context.run(self._package.make_environment)

    def _on(self, environment: Any, action: Mapping[str, Any]) -> Any:
        """Do, or ask, on the side that has it what a task says of its beginning or its end."""
        side = environment.tools if action["env_type"] == "assistant" else environment.user_tools
        return getattr(side, action["func_name"])(**action["arguments"])

    def step(self, command: str) -> Outcome:
        if self._over:
            return Outcome("Error: the ticket is closed", done=True)
        try:
            call = read_call(command)
        except NotACall as problem:
            return Outcome(f"Error: {problem}")
        if (said := self.call(call)).startswith("Error: "):
            return Outcome(said)
        self._called.append(call)
        self._over = call.name in (DONE, TRANSFER)
        if not self._over:
            return Outcome(said)
        environment = self.environment
        criteria = self._task["evaluation_criteria"] or {}
        wanted = (
            criteria.get("actions") or ()
            if "ACTION" in (criteria.get("reward_basis") or ())
            else ()
        )
        asserted = criteria.get("env_assertions") or ()
        holds = all(self._on(environment, each) == each["assert_value"] for each in asserted)
        won = holds and all(map(self._did, wanted))
        return Outcome(said, float(won), won, done=True)

    def call(self, call: WrittenCall) -> str:
        """A tool's answer; `Error: …` where it refuses, in the sandbox's own words."""
        if call.name == DONE:
            return CLOSED if not call.arguments else f"Error: {DONE} takes no arguments"
        package = self._package
        tool = package.tools.get(call.name)
        if tool is None:
            return f"Error: Tool {excerpt(call.name)} not found"
        arguments = dict(call.arguments)
        if problem := package.problems(arguments, tool.parameters):
            return f"Error: {problem}"
        bills_before = self._bill_ids()
        try:
            answer = self._context.run(_run, tool.tool, package.converted(arguments, tool.tool))
        except package.refusal as refusal:
            return f"Error: {refusal.message}"
        except (ValueError, TypeError, AttributeError) as error:
            # a tool that does not check what it is given
            return f"Error: {excerpt(str(error))}"
        if call.name == "refuel_data":  # the one that may open a new bill
            self._number_new_bills(bills_before)
        return answer

    def _bill_ids(self) -> set[str]:
        return {bill.bill_id for bill in self.environment.tools.db.bills}

    def _number_new_bills(self, known: Container[str]) -> None:
        """Give new bills a number for a name: the sandbox names them by chance, and a game is to
        be the same each time it is played.
        """
        database: Any = self.environment.tools.db
        for bill in database.bills:
            if bill.bill_id in known:
                continue
            old = bill.bill_id
            bill.bill_id = f"B{len(database.bills):08d}"
            for customer in database.customers:
                customer.bill_ids = [
                    bill.bill_id if each == old else each for each in customer.bill_ids
                ]

    def _did(self, action: Mapping[str, Any]) -> bool:
        """True if an action was among the calls; of a transfer, and of what is not compared,
        the arguments are free.
        """
        name = action["name"]
        arguments = action["arguments"]
        compared = action["compare_args"]
        compared = () if name == TRANSFER else arguments if compared is None else compared
        called = [call.arguments for call in self._called if call.name == name]
        return any(
            all(given.get(each) == arguments.get(each) for each in compared) for given in called
        )

    def admissible(self) -> tuple[str, ...]:
        """Calls that no tool would refuse now, over the ids of the ticket's customer."""
        return () if self._over else tuple(sorted(map(str, [*self._accepted(), WrittenCall(DONE)])))

    def _accepted(self) -> Iterator[WrittenCall]:
        tools = self.environment.tools
        phone = self.environment.user_tools
        device, number = phone.device, phone.surroundings.phone_number
        customer = tools.get_customer_by_phone(number)
        lines = {line.line_id: line for line in tools.db.lines if line.line_id in customer.line_ids}
        bills = {bill.bill_id: bill for bill in tools.db.bills if bill.bill_id in customer.bill_ids}
        values: dict[str, Sequence[Any]] = {
            "app_name": list(device.app_statuses),
            "permission": list(
                type(next(iter(device.app_statuses.values())).permissions).model_fields
            ),
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
            "send_payment_request": any(
                bill.status.value == "Awaiting Payment" for bill in bills.values()
            ),
        }
        for name, tool in self._package.tools.items():
            needed = tool.parameters.required
            for given in product(*(values.get(each, ()) for each in needed)):
                call = WrittenCall(name, dict(zip(needed, given, strict=True)))
                line = lines.get(str(call.arguments.get("line_id")))
                if not refused.get(name) and (name not in _LINES or _LINES[name](line)):
                    yield call

    def close(self) -> None:
        """Nothing is held outside this process."""


def _run(function: Any, arguments: Mapping[str, Any]) -> str:
    """Run a coroutine that never waits."""
    try:
        function(**arguments).send(None)
    except StopIteration as stop:
        return str(stop.value)
    raise RuntimeError("a tool waits for something outside the sandbox")
