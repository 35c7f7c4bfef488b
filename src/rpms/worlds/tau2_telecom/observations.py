"""Reader of tools' answers: facts and records. A text that fits no pattern tells nothing."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from math import inf, isfinite
from typing import Any

from rpms.core.facts import Atom, Literal, parse_literal
from rpms.foreign.call_text import NotACall, WrittenCall, read_call
from rpms.foreign.json_text import NotJson, loads
from rpms.worlds.base import read_table
from rpms.worlds.tau2_telecom.belief import TelecomBelief

_REFUSED = re.compile(
    r"Error: |Error\. |Cannot change Wi-Fi settings|Failed to set network mode|App '.*' not found"
    r"|You do not have a payment request|VPN already connected|No active VPN connection|No VPN connection"
    r"|Roaming was already "
)
"""Beginnings of answers of tools that did nothing. The sandbox raises errors for some, and is polite for the rest."""

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
    if call.name and not call.name.startswith(_READING) and not refused(observation):
        belief = belief.forget(_OUTCOMES)
    belief = _read_database(belief, call, observation)
    for pattern, read in _TEXTS:
        for match in pattern.finditer(observation):
            belief = read(belief, match)
    told = _AFTER.get(call.name)
    return told(belief, call, observation) if told is not None and not refused(observation) else belief


# Records.


def _read_database(belief: TelecomBelief, call: WrittenCall, observation: str) -> TelecomBelief:
    if observation[:1] not in "{[":
        return belief
    try:
        value = loads(observation)
    except NotJson:
        return belief
    for one in _objects(value):
        first = next(iter(one), "")
        if first.endswith("_id") and isinstance(one[first], str):  # a record begins with an id of its own
            belief = belief.noting(one[first], {name: field for name, field in one.items() if _is_plain(name, field)})
    if call.name == "get_customer_by_phone" and call.arguments.get("phone_number") == belief.number:
        found = value.get("customer_id") if isinstance(value, dict) else None
        belief = replace(belief, customer=found) if isinstance(found, str) else belief
    named: dict[str, list[str]] = {}
    for name, field in [item for one in _objects(value) for item in one.items()]:
        if (role := re.fullmatch(r"(customer|line|bill|device|plan)_ids?", name)) is not None:
            ids = field if isinstance(field, list) else [field]
            named.setdefault(role[1], []).extend(each for each in ids if isinstance(each, str) and each)
    for of, ids in named.items():
        belief = belief.learn(**{of: ids, "id": ids})
    return belief


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
    if word == "missing":  # whether it is locked cannot be seen then
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
    "@mode": lambda belief, match: belief.learn("not preferred(_)", Literal(Atom("preferred", (match[1],)))),
    "@permissions": lambda belief, match: _permissions(belief, match[1], match[2].split(", ")),
    "@app_status": lambda belief, match: _permissions(belief, match[1], _LISTED.findall(match[2])),
    "@granted": lambda belief, match: belief.learn(Literal(Atom("granted", (match[2], match[1])))),
    "@awaited": lambda belief, match: belief.noting(match[1], {"status": "Awaiting Payment"}).learn(
        "requested", bill=[match[1]], id=[match[1]]
    ),
    "@paid": lambda belief, match: belief.noting(match[1], {"status": "Paid"}).learn("not requested"),
}


def _reader(told: str) -> _Reader:
    fact, switch, word = told.partition(": ")
    literal = parse_literal(fact) if switch else None
    if literal is not None:
        return lambda belief, match: belief.learn(literal if match[1] == word else literal.opposite())
    return _READERS.get(told) or (lambda belief, _: belief.learn(*told.split("; ")))


_TEXTS = [
    (re.compile(pattern, re.MULTILINE), _reader(told))
    for pattern, told in read_table(__package__, "texts.toml").items()
]


# What a call did, where its answer does not name it again.


def _sent(belief: TelecomBelief, call: WrittenCall, _said: str) -> TelecomBelief:
    bill, customer = str(call.arguments.get("bill_id", "")), call.arguments.get("customer_id")
    belief = belief.noting(bill, {"status": "Awaiting Payment"})
    return belief.learn("requested") if customer == belief.customer else belief.forget(["requested"])


def _roaming(enabled: bool) -> Callable[[TelecomBelief, WrittenCall, str], TelecomBelief]:
    return lambda belief, call, _: belief.noting(str(call.arguments.get("line_id", "")), {"roaming_enabled": enabled})


_ADDED = re.compile(r'"new_data_refueling_gb": (\d{1,320}(?:\.\d{1,320})?(?:e[+-]?\d{1,3})?)(?![\w.])')
"""Matched, not read as JSON: the charge for very much is written as Infinity."""


def _refuelled(belief: TelecomBelief, call: WrittenCall, said: str) -> TelecomBelief:
    added, line = _ADDED.search(said), str(call.arguments.get("line_id", ""))
    customer = str(call.arguments.get("customer_id", ""))
    for bill in _bills_of(belief, customer):  # one of the drafts is charged
        belief = belief.noting(bill, {"total_due": None}) if belief.of(bill, "status") == "Draft" else belief
    amount = float(added[1]) if added is not None else inf
    return belief.noting(line, {"data_refueling_gb": amount if isfinite(amount) else None})


def _set_apn(belief: TelecomBelief, call: WrittenCall, _said: str) -> TelecomBelief:
    """After all APN settings were replaced: the answer names one of them, and only a look shows the MMSC URL."""
    settings = call.arguments.get("apn_settings")
    resets = settings.get("reset_at_reboot", False) if isinstance(settings, dict) else None
    belief = belief.forget(["mmsc_set", "apn_resetting"])
    return _told(belief, apn_resetting=resets) if isinstance(resets, bool) else belief


def _listed(belief: TelecomBelief, call: WrittenCall, _said: str) -> TelecomBelief:
    """After a customer's bills were listed: those that are new are the customer's as well."""
    customer = str(call.arguments.get("customer_id", ""))
    if (known := belief.of(customer, "bill_ids")) is None:
        return belief
    return belief.noting(customer, {"bill_ids": list(dict.fromkeys((*known, *_bills_of(belief, customer))))})


def _bills_of(belief: TelecomBelief, customer: str) -> list[str]:
    return [bill for bill in belief.things.get("bill", ()) if belief.of(bill, "customer_id") == customer]


_AFTER: Mapping[str, Callable[[TelecomBelief, WrittenCall, str], TelecomBelief]] = {
    "send_payment_request": _sent,
    "enable_roaming": _roaming(True),
    "disable_roaming": _roaming(False),
    "refuel_data": _refuelled,
    "set_apn_settings": _set_apn,
    "get_bills_for_customer": _listed,
    "transfer_to_human_agents": lambda belief, _call, _said: belief.learn("escalated(_)"),
}
