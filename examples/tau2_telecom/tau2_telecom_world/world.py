"""τ² telecom as a World: its knowledge in one place, f_UPD from tools' answers, its simulator a
lazy import away.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from math import inf, isfinite
from typing import Any

from rpms.foreign.call_text import NotACall, Tool, WrittenCall, read_call
from rpms.foreign.json_text import NotJson, loads
from rpms.logic.belief import Belief
from rpms.logic.facts import Atom, Literal, parse_literal
from rpms.logic.goal import UNKNOWN_GOAL, Goal
from rpms.paper.recall import Retrieval, Similarity
from rpms.worlds.base import Command, Game, Setting, Task, World, read_table, read_wording
from tau2_telecom_world.belief import TelecomBelief, disagreements
from tau2_telecom_world.game import (
    DONE,
    SPLITS,
    TelecomGame,
    list_tasks,
    load_package,
    missing,
)

_REFUSED = re.compile(
    r"Error: |Error\. |Cannot change Wi-Fi settings|Failed to set network mode|App '.*' not found"
    r"|You do not have a payment request|VPN already connected|No active VPN connection|No VPN"
    r" connection"
    r"|Roaming was already "
)
"""Beginnings of answers of tools that did nothing. The sandbox raises errors for some, and is
polite for the rest."""

_READING = ("check_", "get_", "run_", "can_")
"""Beginnings of the names of tools that change nothing."""
_OUTCOMES = ("fast", "online", "mms_works")
"""Facts that any change may change, and only a test shows."""


def refused(observation: str) -> bool:
    """True if a tool's answer says that it did nothing."""
    return _REFUSED.match(observation) is not None


def update(belief: TelecomBelief, action: str | None, observation: str) -> TelecomBelief:
    """f_UPD: take over what a text says, given the call that it answers."""
    try:
        call = read_call(action or "")
    except NotACall:
        call = WrittenCall("")
    done = not refused(observation)
    if done and call.name and not call.name.startswith(_READING):
        belief = belief.forget(_OUTCOMES)
    belief = _read_database(belief, call, observation)
    for pattern, read in _TEXTS:
        for match in pattern.finditer(observation):
            belief = read(belief, match)
    told = _AFTER.get(call.name)
    if told is not None and done:
        belief = told(belief, call, observation)
    return belief


# Records.

_ID_FIELD = re.compile(r"(customer|line|bill|device|plan)_ids?")


def _read_database(belief: TelecomBelief, call: WrittenCall, observation: str) -> TelecomBelief:
    """Take over records: their fields, whose they are, and the ids that they name."""
    if observation[:1] not in "{[":
        return belief
    try:
        value = loads(observation)
    except NotJson:
        return belief
    for one in _objects(value):
        first = next(iter(one), "")
        # a record begins with an id of its own
        if first.endswith("_id") and isinstance(one[first], str):
            plain = {name: field for name, field in one.items() if _is_plain(name, field)}
            belief = belief.noting(one[first], plain)
    if call.name == "get_customer_by_phone" and call.arguments.get("phone_number") == belief.number:
        found = value.get("customer_id") if isinstance(value, dict) else None
        if isinstance(found, str):
            belief = replace(belief, customer=found)
    for role, ids in _ids_by_role(value).items():
        belief = belief.learn(**{role: ids, "id": ids})
    return belief


def _ids_by_role(value: object) -> dict[str, list[str]]:
    """The ids of customers, lines, bills, devices and plans in an answer."""
    named: dict[str, list[str]] = {}
    for one in _objects(value):
        for name, field in one.items():
            role = _ID_FIELD.fullmatch(name)
            if role is not None:
                ids = field if isinstance(field, list) else [field]
                known = named.setdefault(role[1], [])
                known += [each for each in ids if isinstance(each, str) and each]
    return named


def _objects(value: object) -> Iterator[dict[str, Any]]:
    """Every object in an answer, the outer ones first."""
    queue = [value]
    while queue:
        one = queue.pop(0)
        if isinstance(one, dict):
            yield one
            queue += one.values()
        elif isinstance(one, list):
            queue += one


def _is_plain(name: str, value: object) -> bool:
    if name.endswith("_ids"):
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    if name == "roaming_enabled":
        return isinstance(value, bool)
    return value is None or isinstance(value, str | int | float)


# Texts.

_Match = re.Match[str]
_Reader = Callable[[TelecomBelief, _Match], TelecomBelief]


def _told(belief: TelecomBelief, **facts: bool) -> TelecomBelief:
    return belief.learn(*(Literal(Atom(name), negated=not holds) for name, holds in facts.items()))


def _sim(belief: TelecomBelief, word: str) -> TelecomBelief:
    if word == "missing":  # then a lock cannot be seen
        return _told(belief, sim_missing=True).forget(["sim_locked"])
    return _told(belief, sim_missing=False, sim_locked=word.startswith("locked"))


def _status_bar(belief: TelecomBelief, match: _Match) -> TelecomBelief:
    shown = match[1]
    flying = "Airplane Mode" in shown
    service = not flying and "No Signal" not in shown
    belief = _told(belief, airplane=flying, service=service, vpn_on="VPN Connected" in shown)
    if "Data Enabled" in shown:
        return _told(belief, data_on=True, data_saver="Data Saver" in shown)
    return _told(belief, data_on=False) if service else belief


def _permissions(belief: TelecomBelief, app: str, granted: list[str]) -> TelecomBelief:
    if not app or "," in app:
        return belief
    facts = [Literal(Atom("granted", (app, each))) for each in granted if each]
    return belief.learn(Literal(Atom("granted", (app, "_")), negated=True), *facts)


_LISTED = re.compile(r"^   - (\w+)$", re.MULTILINE)
_READERS: Mapping[str, _Reader] = {
    "@sim": lambda belief, match: _sim(belief, match[1]),
    "@no_sim": lambda belief, _: _sim(belief, "missing"),
    "@status_bar": _status_bar,
    "@mode": lambda belief, match: belief.learn(
        "not preferred(_)", Literal(Atom("preferred", (match[1],)))
    ),
    "@permissions": lambda belief, match: _permissions(belief, match[1], match[2].split(", ")),
    "@app_status": lambda belief, match: _permissions(belief, match[1], _LISTED.findall(match[2])),
    "@granted": lambda belief, match: belief.learn(Literal(Atom("granted", (match[2], match[1])))),
    "@awaited": (
        lambda belief, match: belief.noting(match[1], {"status": "Awaiting Payment"}).learn(
            "requested", bill=[match[1]], id=[match[1]]
        )
    ),
    "@paid": (
        lambda belief, match: belief.noting(match[1], {"status": "Paid"}).learn("not requested")
    ),
}


def _reader(told: str) -> _Reader:
    fact, switch, word = told.partition(": ")
    literal = parse_literal(fact) if switch else None
    if literal is not None:
        return lambda belief, match: belief.learn(
            literal if match[1] == word else literal.opposite()
        )
    return _READERS.get(told) or (lambda belief, _: belief.learn(*told.split("; ")))


_TEXTS = [
    (re.compile(pattern, re.MULTILINE), _reader(told))
    for pattern, told in read_table(__package__, "texts.toml").items()
]


# Effects of calls that their answers do not name again.


def _sent(belief: TelecomBelief, call: WrittenCall, _said: str) -> TelecomBelief:
    bill = str(call.arguments.get("bill_id", ""))
    customer = call.arguments.get("customer_id")
    belief = belief.noting(bill, {"status": "Awaiting Payment"})
    return (
        belief.learn("requested") if customer == belief.customer else belief.forget(["requested"])
    )


def _roaming(enabled: bool) -> Callable[[TelecomBelief, WrittenCall, str], TelecomBelief]:
    return lambda belief, call, _: belief.noting(
        str(call.arguments.get("line_id", "")), {"roaming_enabled": enabled}
    )


_ADDED = re.compile(
    r'"new_data_refueling_gb": (\d{1,320}(?:\.\d{1,320})?(?:e[+-]?\d{1,3})?)(?![\w.])'
)
"""Matched, not read as JSON: the charge for very much is written as Infinity."""


def _refuelled(belief: TelecomBelief, call: WrittenCall, said: str) -> TelecomBelief:
    added = _ADDED.search(said)
    line = str(call.arguments.get("line_id", ""))
    customer = str(call.arguments.get("customer_id", ""))
    for bill in _bills_of(belief, customer):  # one of the drafts is charged
        belief = (
            belief.noting(bill, {"total_due": None})
            if belief.of(bill, "status") == "Draft"
            else belief
        )
    amount = float(added[1]) if added is not None else inf
    return belief.noting(line, {"data_refueling_gb": amount if isfinite(amount) else None})


def _set_apn(belief: TelecomBelief, call: WrittenCall, _said: str) -> TelecomBelief:
    """After all APN settings were replaced: the answer names one of them, and only a look shows
    the MMSC URL.
    """
    settings = call.arguments.get("apn_settings")
    resets = settings.get("reset_at_reboot", False) if isinstance(settings, dict) else None
    belief = belief.forget(["mmsc_set", "apn_resetting"])
    return _told(belief, apn_resetting=resets) if isinstance(resets, bool) else belief


def _listed(belief: TelecomBelief, call: WrittenCall, _said: str) -> TelecomBelief:
    """After a customer's bills were listed: those that are new are the customer's as well."""
    customer = str(call.arguments.get("customer_id", ""))
    if (known := belief.of(customer, "bill_ids")) is None:
        return belief
    return belief.noting(
        customer, {"bill_ids": list(dict.fromkeys((*known, *_bills_of(belief, customer))))}
    )


def _bills_of(belief: TelecomBelief, customer: str) -> list[str]:
    return [
        bill for bill in belief.things.get("bill", ()) if belief.of(bill, "customer_id") == customer
    ]


_AFTER: Mapping[str, Callable[[TelecomBelief, WrittenCall, str], TelecomBelief]] = {
    "send_payment_request": _sent,
    "enable_roaming": _roaming(True),
    "disable_roaming": _roaming(False),
    "refuel_data": _refuelled,
    "set_apn_settings": _set_apn,
    "get_bills_for_customer": _listed,
    "transfer_to_human_agents": lambda belief, _call, _said: belief.learn("escalated(_)"),
}


_TICKET = re.compile(r"Today is (?P<today>\d{4}-\d\d-\d\d)\.\nTicket: (?P<ticket>.+)", re.DOTALL)
_TYPES = {
    "mms_issue": "unable to send MMS messages",
    "mobile_data_issue": "issues with their mobile data",
    "service_issue": "issues with their phone service",
}
_NUMBER = re.compile(r"phone number: ([0-9][0-9-]{2,30}[0-9])")
_PLACE = re.compile(r"current location: (abroad|at home)")
_AMOUNT = re.compile(r"refuel (\d{1,4}(?:\.\d{1,3})?) GB")
_PAYING = "permission to pay all their overdue bills"


@dataclass(frozen=True)
class Ticket(Goal):
    """A goal with what its ticket tells."""

    today: str = ""
    number: str = ""
    amount: str = ""
    """Gigabytes that the customer would pay for."""
    may_pay: bool = False


def parse_ticket(opening: str) -> Goal:
    """Read the opening; type `unknown` where it is no ticket of a known kind."""
    match = _TICKET.match(opening)
    text = match["ticket"].strip() if match else opening
    type_ = next((name for name, words in _TYPES.items() if words in text), UNKNOWN_GOAL)
    number = _NUMBER.search(text)
    if match is None or type_ == UNKNOWN_GOAL or number is None:
        return Goal(UNKNOWN_GOAL, text=text)
    place, amount = _PLACE.search(text), _AMOUNT.search(text)
    return Ticket(
        type_,
        state={"abroad": "abroad", "at home": "home"}[place[1]] if place else "",
        text=text,
        today=match["today"],
        number=number[1],
        amount=str(float(amount[1])) if amount else "",
        may_pay=_PAYING in text,
    )


WORDING = read_wording(__package__)
SIGNATURES: Mapping[str, tuple[str, ...]] = {
    **{
        name: tuple(given.split(", "))
        for name, given in re.findall(r"(\w+)\((\w[\w, ]*)\)", WORDING.instruction)
    },
    "get_bills_for_customer": ("customer_id", "limit"),  # the prompt does not list it
}
"""The parameters of the tools that have any, in order: how a call is written in one way."""


class Tau2Telecom(World):
    """The World of tickets about phones."""

    name = "tau2-telecom"
    splits: tuple[str, ...] = SPLITS
    wording = WORDING
    retrieval = Retrieval(similarity=Similarity(type=0.6, object=0.0, state=0.4, destination=0.0))
    """Goals differ by the complaint, and by whether the user is abroad."""

    def tasks(self, split: str, setting: Setting) -> Sequence[Task]:
        self.chosen(setting)
        return list_tasks(split)

    def open(self, task: Task, setting: Setting) -> Game:
        self.chosen(setting)
        return TelecomGame(task.id)

    goal = staticmethod(parse_ticket)
    update = staticmethod(update)
    infeasible = staticmethod(refused)
    not_installed = staticmethod(missing)

    def start(self, goal: Goal) -> Belief:
        belief = TelecomBelief().learn("not closed", "not escalated(_)", "not apn_resetting")
        if not isinstance(goal, Ticket):
            return belief
        told = [f"{'' if goal.state == 'abroad' else 'not '}abroad"] if goal.state else []
        told.append(f"{'' if goal.may_pay else 'not '}may_pay")
        named = {"amount": [goal.amount]} if goal.amount else {}
        belief = belief.learn(*told, number=[goal.number], **named)
        return replace(belief, today=goal.today, number=goal.number)

    def command(self, action: str, belief: TelecomBelief) -> Command:  # noqa: ARG002
        """A call in the one way of writing it; what is no call stays as it is, for the sandbox
        to refuse.
        """
        text = " ".join(action.split())
        try:
            call = read_call(text, SIGNATURES)
        except NotACall:
            return Command(text)
        name = call.name.lower()
        written = str(WrittenCall(name, call.arguments).ordered(SIGNATURES.get(name, ())))
        return Command(written, ("form",) if written != text else ())

    def tools(self) -> Sequence[Tool]:
        """As the sandbox describes them, and `done`."""
        tools = load_package().tools.items()
        known = [
            Tool(name, tool.description, tool.parameters.model_dump(exclude_none=True))
            for name, tool in tools
        ]
        return (*known, Tool(DONE, "Close the ticket: it is solved."))

    def contradictions(self, belief: TelecomBelief, game: Game) -> tuple[str, ...]:
        return disagreements(belief, game.environment) if isinstance(game, TelecomGame) else ()

    def edition(self, _tasks: Sequence[Task], _setting: Setting) -> Mapping[str, str]:
        """The version of the package: its tasks and tools are what is played."""
        try:
            return {"inspect-evals": version("inspect-evals")}
        except PackageNotFoundError:
            return {}


world: World = Tau2Telecom()
