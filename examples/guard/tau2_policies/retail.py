"""Facts of the shop that join several records: an order with its customer's profile, and with
its products.
"""

from collections import Counter
from typing import Any

from tau2_policies.records import PolicyFacts


class RetailFacts(PolicyFacts):
    """Facts that the shop's rules ask about a call; the manual says in words what each means."""

    def ours(self, order: str) -> bool | None:
        return self.truth("customer", self.record("order", order)["user_id"])

    def ordered(self, order: str, items: list[str]) -> bool | None:
        """True if an order has all these items, each as often as it is named; no item is no
        change.
        """
        bought = Counter(item["item_id"] for item in self.record("order", order)["items"])
        return bool(items) and not Counter(items) - bought

    def paired(self, old: list[str], new: list[str]) -> bool | None:
        return len(old) == len(new)

    def another_option(self, old: list[str], new: list[str]) -> bool | None:
        return all(one != other for one, other in zip(old, new, strict=False))

    def known_products(self, order: str, items: list[str]) -> bool | None:
        """True if the products of the items were looked up; the first that was not is asked for."""
        bought = self._bought(order)
        return all(
            self.record("product", bought[item]["product_id"]) for item in items if item in bought
        )

    def same_products(self, order: str, old: list[str], new: list[str]) -> bool | None:
        return all(variant is not None for _, variant in self._replacements(order, old, new))

    def in_stock(self, order: str, old: list[str], new: list[str]) -> bool | None:
        variants = [variant for _, variant in self._replacements(order, old, new)]
        return all(variant is not None and variant["available"] is True for variant in variants)

    def known_profile(self, order: str) -> bool | None:
        return self._methods(order) is not None

    def in_profile(self, order: str, method: str) -> bool | None:
        return method in self._methods(order)

    def gift_card(self, order: str, method: str) -> bool | None:
        known = self._methods(order).get(method)
        return known is not None and known["source"] == "gift_card"

    def covers_difference(
        self, order: str, old: list[str], new: list[str], method: str
    ) -> bool | None:
        """True if a payment method can pay what new items cost beyond the old ones; only gift
        cards have a limit.
        """
        pairs = self._replacements(order, old, new)
        difference = sum(
            variant["price"] - item["price"] for item, variant in pairs if variant is not None
        )
        return self._covers(order, method, difference)

    def covers_total(self, order: str, method: str) -> bool | None:
        """True if a payment method can pay the whole order; only gift cards have a limit."""
        return self._covers(
            order, method, self.record("order", order)["payment_history"][0]["amount"]
        )

    def _covers(self, order: str, method: str, amount: float) -> bool:
        known = self._methods(order)[method]
        return known["source"] != "gift_card" or bool(known["balance"] >= round(amount, 2))

    def _methods(self, order: str) -> dict[str, Any]:
        return dict(self.record("user", self.record("order", order)["user_id"])["payment_methods"])

    def _bought(self, order: str) -> dict[str, Any]:
        return {item["item_id"]: item for item in self.record("order", order)["items"]}

    def _replacements(
        self, order: str, old: list[str], new: list[str]
    ) -> list[tuple[dict[str, Any], Any]]:
        """Each item with the variant that takes its place, None where the product has no such
        variant.
        """
        bought = self._bought(order)
        pairs = [
            (bought[one], other) for one, other in zip(old, new, strict=False) if one in bought
        ]
        return [
            (item, self.record("product", item["product_id"])["variants"].get(other))
            for item, other in pairs
        ]
