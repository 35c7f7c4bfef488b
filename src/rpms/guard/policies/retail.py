"""Facts of the shop that join several records: an order with its customer's profile, and with its products."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rpms.guard.call_facts import Look


def ours(look: Look, order: str) -> bool | None:
    """True if the order belongs to whom the conversation is with."""
    return look.truth("customer", look.record("order", order)["user_id"])


def ordered(look: Look, order: str, items: list[str]) -> bool | None:
    """True if an order has all these items, each as often as it is named; no item is no change."""
    return bool(items) and not Counter(items) - Counter(
        item["item_id"] for item in look.record("order", order)["items"]
    )


def paired(_look: Look, old: list[str], new: list[str]) -> bool | None:
    """True if there are as many new items as old ones."""
    return len(old) == len(new)


def another_option(_look: Look, old: list[str], new: list[str]) -> bool | None:
    """True if no item is replaced by itself."""
    return all(one != other for one, other in zip(old, new, strict=False))


def known_products(look: Look, order: str, items: list[str]) -> bool | None:
    """True if the products of the items were looked up; the first that was not is asked for."""
    bought = _bought(look, order)
    return all(look.record("product", bought[item]["product_id"]) for item in items if item in bought)


def same_products(look: Look, order: str, old: list[str], new: list[str]) -> bool | None:
    """True if each new item is a variant of the product that it replaces."""
    return all(variant is not None for _, variant in _replacements(look, order, old, new))


def in_stock(look: Look, order: str, old: list[str], new: list[str]) -> bool | None:
    """True if each new item can be had."""
    variants = [variant for _, variant in _replacements(look, order, old, new)]
    return all(variant is not None and variant["available"] is True for variant in variants)


def known_profile(look: Look, order: str) -> bool | None:
    """True if the customer's profile was looked up."""
    _methods(look, order)
    return True


def in_profile(look: Look, order: str, method: str) -> bool | None:
    """True if a payment method is one of the customer's."""
    return method in _methods(look, order)


def gift_card(look: Look, order: str, method: str) -> bool | None:
    """True if a payment method is a gift card of the customer."""
    known = _methods(look, order).get(method)
    return known is not None and known["source"] == "gift_card"


def covers_difference(look: Look, order: str, old: list[str], new: list[str], method: str) -> bool | None:
    """True if a payment method can pay what new items cost beyond the old ones; only gift cards have a limit."""
    pairs = _replacements(look, order, old, new)
    difference = sum(variant["price"] - item["price"] for item, variant in pairs if variant is not None)
    return _covers(look, order, method, difference)


def covers_total(look: Look, order: str, method: str) -> bool | None:
    """True if a payment method can pay the whole order; only gift cards have a limit."""
    return _covers(look, order, method, look.record("order", order)["payment_history"][0]["amount"])


def _covers(look: Look, order: str, method: str, amount: float) -> bool:
    known = _methods(look, order)[method]
    return known["source"] != "gift_card" or bool(known["balance"] >= round(amount, 2))


def _methods(look: Look, order: str) -> dict[str, Any]:
    return dict(look.record("user", look.record("order", order)["user_id"])["payment_methods"])


def _bought(look: Look, order: str) -> dict[str, Any]:
    return {item["item_id"]: item for item in look.record("order", order)["items"]}


def _replacements(look: Look, order: str, old: list[str], new: list[str]) -> list[tuple[dict[str, Any], Any]]:
    """Each item with the variant that takes its place, None where the product has no such variant."""
    bought = _bought(look, order)
    pairs = [(bought[one], other) for one, other in zip(old, new, strict=False) if one in bought]
    return [(item, look.record("product", item["product_id"])["variants"].get(other)) for item, other in pairs]
