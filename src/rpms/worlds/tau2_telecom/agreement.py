"""State drift as a list: what a belief holds for known that is not so in database and phone."""

from __future__ import annotations

from typing import Any

from rpms.core.facts import Atom, Truth
from rpms.worlds.tau2_telecom.belief import TelecomBelief


def disagreements(belief: TelecomBelief, state: Any) -> tuple[str, ...]:
    """Compare all that is known with the simulator."""
    return (*_facts(belief, state.user_tools), *_records(belief, state.tools.db))


def _facts(belief: TelecomBelief, phone: Any) -> list[str]:
    device, around = phone.device, phone.surroundings
    speed, word = phone._run_speed_test()  # noqa: SLF001  the public one answers in a sentence
    truth = {
        "airplane": device.airplane_mode,
        "service": device.network_connection_status.value == "connected",
        "sim_missing": device.sim_card_missing,
        "sim_locked": device.sim_card_status.value != "active",
        "apn_broken": device.active_apn_settings.apn_name.value == "broken",
        "apn_resetting": device.active_apn_settings.reset_at_reboot,
        "mmsc_set": device.active_apn_settings.mmsc_url is not None,
        "data_on": device.data_enabled,
        "roaming_on": device.roaming_enabled,
        "data_saver": device.data_saver_mode,
        "vpn_on": device.vpn_connected,
        "wifi_on": device.wifi_enabled,
        "wifi_calling": device.wifi_calling_enabled,
        "requested": around.payment_request is not None and not around.payment_request.paid,
        "online": speed is not None,
        "fast": word == "Excellent",
        "mms_works": phone._can_send_mms(),  # noqa: SLF001
        "abroad": around.is_abroad,
    }
    facts = {Atom(name): holds for name, holds in truth.items()}
    facts |= {
        Atom("granted", (app, permission)): allowed
        for app, status in device.app_statuses.items()
        for permission, allowed in status.permissions.model_dump().items()
    }
    mode = device.network_mode_preference
    facts |= {Atom("preferred", (each.value,)): each is mode for each in type(mode)}
    return [
        f"{atom}: in truth {holds}"
        for atom, holds in facts.items()
        if belief.truth(atom) not in (_known(holds), Truth.UNKNOWN)
    ]


def _known(holds: bool) -> Truth:
    return Truth.TRUE if holds else Truth.FALSE


def _records(belief: TelecomBelief, database: Any) -> list[str]:
    tables = (
        (database.customers, "customer_id"),
        (database.lines, "line_id"),
        (database.bills, "bill_id"),
        (database.plans, "plan_id"),
    )
    rows = {getattr(row, name): row.model_dump(mode="json") for table, name in tables for row in table}
    return [
        f"{name}: {field} is {value!r}, in truth {rows[name][field]!r}"
        for name, record in belief.records.items()
        for field, value in record.items()
        if name in rows and field in rows[name] and not _agrees(value, rows[name][field])
    ]


def _agrees(value: Any, truth: Any) -> bool:
    """True if a field is as it is believed to be: one that was forgotten is, and of a list some may be known."""
    return value is None or (set(value) <= set(truth) if isinstance(value, list) else value == truth)
