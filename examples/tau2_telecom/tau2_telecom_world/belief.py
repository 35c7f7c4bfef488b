"""The belief: facts as the phone's texts told them, and records as the database gave them.

Numbers and dates stay what they are in the records. What is asked of them is a plain fact: whether
the data is used up follows from what was used, what the plan allows and what was added; whether the
contract is over, from two dates.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, Self

from rpms.logic.belief import FactBelief, StateSignature
from rpms.logic.facts import Atom, Truth, parse_literal
from rpms.worlds.base import asking, read_table

Record = Mapping[str, Any]

SWITCHES = (
    "airplane",
    "sim_missing",
    "service",
    "data_on",
    "roaming_on",
    "data_saver",
    "vpn_on",
    "wifi_calling",
)
"""Facts of the phone that are kept with an experience."""


@dataclass(frozen=True)
class TelecomBelief(FactBelief):
    """One moment's belief. What neither a fact nor a record tells is unknown."""

    records: Mapping[str, Record] = field(default_factory=dict)
    """Known records of each customer, line, bill and plan, by id."""
    today: str = ""
    number: str = ""
    """The phone number of the ticket."""
    customer: str = ""
    """The customer it belongs to, once found."""

    def called(self, word: str) -> Sequence[str]:
        """The ticket's customer, or the lines that may be the ticket's."""
        if word == "customer":
            return (self.customer,) if self.customer else ()
        if word == "line":
            own = self.of(self.customer, "line_ids")
            lines = [line for line in self.things.get("line", ()) if own is None or line in own]
            return [line for line in lines if _registered(self, line) is not False]
        return super().called(word)

    def of(self, name: str, field_name: str) -> Any:
        """A field of a record; None where it is unknown or empty."""
        return self.records.get(name, {}).get(field_name)

    def noting(self, name: str, fields: Record) -> Self:
        """The same with some fields of a record told anew."""
        if not name:
            return self
        return replace(
            self, records={**self.records, name: {**self.records.get(name, {}), **fields}}
        )

    def forget(self, predicates: Iterable[str]) -> Self:
        """The same without what is known by some predicates."""
        gone = frozenset(predicates)
        return replace(
            self,
            known={atom: holds for atom, holds in self.known.items() if atom.predicate not in gone},
        )

    def signature(self) -> StateSignature:
        switched = tuple(name for name in SWITCHES if self.truth(Atom(name)) is Truth.TRUE)
        off = tuple(name for name in SWITCHES if self.truth(Atom(name)) is Truth.FALSE)
        return StateSignature.of(on=switched or None, off=off or None)

    @property
    def fingerprint(self) -> str:
        return f"{super().fingerprint}{sorted(self.records.items())!r}"

    def lines(self) -> tuple[str, ...]:
        """The ticket's line, then the phone, as far as they are known."""
        told = [f"Customer: {self.customer or 'not identified yet'}"]
        for line in filter(self.records.__contains__, self.called("line")):
            shown = [
                f"{name} {self.of(line, name)}"
                for name in _SHOWN
                if self.of(line, name) is not None
            ]
            told.append(f"{line}: {', '.join(shown)}")
        bills = [
            bill for bill in self.of(self.customer, "bill_ids") or () if self.of(bill, "status")
        ]
        told += [
            f"{bill}: {self.of(bill, 'status')}, {self.of(bill, 'total_due')} USD" for bill in bills
        ]
        facts = [
            str(atom) if holds else f"not {atom}"
            for atom, holds in self.known.items()
            if "_" not in atom.args
        ]
        return (*told, f"Phone: {'; '.join(sorted(facts)) or 'nothing known yet'}")


_SHOWN = (
    *(
        "phone_number",
        "status",
        "plan_id",
        "data_used_gb",
        "data_limit_gb",
        "data_refueling_gb",
        "roaming_enabled",
    ),
    "contract_end_date",
)


def _registered(belief: TelecomBelief, line: str) -> bool | None:
    number = belief.of(line, "phone_number")
    return number == belief.number if number is not None and belief.number else None


def _owns(belief: TelecomBelief, customer: str, thing: str) -> bool | None:
    record = belief.records.get(customer, {})
    if "line_ids" not in record or "bill_ids" not in record:
        return None
    if thing in (*record["line_ids"], *record["bill_ids"]):
        return True
    return None if thing.endswith("?") else False


def _is(belief: TelecomBelief, thing: str, *statuses: str) -> bool | None:
    status = belief.of(thing, "status")
    return None if status is None else status in statuses


def _contract_over(belief: TelecomBelief, line: str) -> bool | None:
    record = belief.records.get(line, {})
    if "contract_end_date" not in record or not belief.today:
        return None
    return (
        record["contract_end_date"] is not None and str(record["contract_end_date"]) < belief.today
    )


def _used_up(belief: TelecomBelief, line: str) -> bool | None:
    used = belief.of(line, "data_used_gb")
    added = belief.of(line, "data_refueling_gb")
    limit = belief.of(line, "data_limit_gb")
    if limit is None:
        limit = belief.of(str(belief.of(line, "plan_id")), "data_limit_gb")
    known = all(isinstance(value, int | float) for value in (used, added, limit))
    return bool(used >= limit + added) if known else None


def _any_bill(belief: TelecomBelief, customer: str, *statuses: str) -> bool | None:
    """True if some bill of a customer is in one of the states; False once all bills are known."""
    bills = belief.of(customer, "bill_ids")
    known = [None] if bills is None else [_is(belief, bill, *statuses) for bill in bills]
    return True if True in known else None if None in known else False


TelecomBelief.answers = asking(
    *(_registered, _owns, _contract_over, _used_up),
    listed=lambda belief, name: (
        True if any(name in names for names in belief.things.values()) else None
    ),
    active=lambda belief, line: _is(belief, line, "Active"),
    suspended=lambda belief, line: _is(belief, line, "Suspended", "Pending Activation"),
    roams=lambda belief, line: belief.of(line, "roaming_enabled"),
    overdue=lambda belief, bill: _is(belief, bill, "Overdue"),
    awaiting=lambda belief, bill: _is(belief, bill, "Awaiting Payment"),
    paid=lambda belief, bill: _is(belief, bill, "Paid"),
    owing=lambda belief, customer: _any_bill(belief, customer, "Overdue", "Awaiting Payment"),
    asked_to_pay=lambda belief, customer: _any_bill(belief, customer, "Awaiting Payment"),
)
"""Predicates that records answer: True, False, or None for unknown."""


_PHONE = [
    (parse_literal(fact), attrgetter(path), value)
    for fact, (path, value) in read_table(__package__, "phone.toml").items()
]


def disagreements(belief: TelecomBelief, state: Any) -> tuple[str, ...]:
    """Compare all that is known with the simulator."""
    rows = {
        getattr(row, f"{kind}_id"): row.model_dump(mode="json")
        for kind in ("customer", "line", "bill", "plan")
        for row in getattr(state.tools.db, f"{kind}s")
    }
    wrong = _facts(belief, state.user_tools)
    for name, record in belief.records.items():
        for field_name in record.keys() & rows.get(name, {}).keys():
            value, truth = record[field_name], rows[name][field_name]
            # of a list, some may be known
            some_of = isinstance(value, list) and set(value) <= set(truth)
            if value not in (None, truth) and not some_of:  # a forgotten value is None
                wrong.append(f"{name}: {field_name} is {value!r}, in truth {truth!r}")
    return tuple(wrong)


def _facts(belief: TelecomBelief, phone: Any) -> list[str]:
    device, request = phone.device, phone.surroundings.payment_request
    speed, word = phone._run_speed_test()  # noqa: SLF001  the public one answers in a sentence
    facts = {fact.atom: (find(phone) == value) is not fact.negated for fact, find, value in _PHONE}
    facts[Atom("mmsc_set")] = device.active_apn_settings.mmsc_url is not None
    facts[Atom("requested")] = request is not None and not request.paid
    facts[Atom("online")], facts[Atom("fast")] = speed is not None, word == "Excellent"
    facts[Atom("mms_works")] = phone._can_send_mms()  # noqa: SLF001
    for app, status in device.app_statuses.items():
        for permission, allowed in status.permissions.model_dump().items():
            facts[Atom("granted", (app, permission))] = allowed
    mode = device.network_mode_preference
    facts |= {Atom("preferred", (each.value,)): each is mode for each in type(mode)}
    told = {atom: belief.truth(atom).known for atom in facts}
    return [
        f"{atom}: in truth {holds}" for atom, holds in facts.items() if told[atom] is (not holds)
    ]
