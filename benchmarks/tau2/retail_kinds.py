"""Ways to break the shop's policy, each made from a reference action that keeps it."""

from __future__ import annotations

from random import Random
from typing import Any

from tau2 import retail_policy as policy
from tau2.cases import Kind
from tau2.making import Made, changed, done_twice, looked_up, shuffled, unconfirmed
from tau2.sandbox import Call
from tau2.session import Session

EXCHANGE, RETURN = "exchange_delivered_order_items", "return_delivered_order_items"
CANCEL, ITEMS = "cancel_pending_order", "modify_pending_order_items"
SOMEWHERE = dict.fromkeys(("address1", "address2", "city", "state", "country", "zip"), "elsewhere")
ADDRESS, PAYMENT, HOME = (
    "modify_pending_order_address",
    "modify_pending_order_payment",
    "modify_user_address",
)


def order_not_looked_up(session: Session, call: Call, _rng: Random) -> Made:
    yield session.without("get_order_details"), call


def product_not_looked_up(session: Session, call: Call, _rng: Random) -> Made:
    yield session.without("get_product_details"), call


def profile_not_looked_up(session: Session, call: Call, _rng: Random) -> Made:
    yield session.without("get_user_details"), call


def not_identified(session: Session, call: Call, _rng: Random) -> Made:
    yield session.without(*policy.FINDERS), call


def for_somebody_else(session: Session, call: Call, rng: Random) -> Made:
    for user in shuffled(session.sandbox.db.users, rng):
        yield looked_up(policy, session.with_customer(user.user_id), call)


def reading_somebody_else(session: Session, _call: Call, rng: Random) -> Made:
    for user in shuffled(session.sandbox.db.users, rng):
        yield session, Call("get_user_details", {"user_id": user.user_id})


def then(name: str, **more: Any) -> Any:
    """Another change of the same order right after the reference one."""

    def make(session: Session, call: Call, _rng: Random) -> Made:
        session = session.again()
        session.do([call])
        asked = {"order_id": call.arguments["order_id"], **more}
        if name in {RETURN, EXCHANGE}:
            asked["payment_method_id"] = call.arguments["payment_method_id"]
            asked["item_ids"] = [session.sandbox.db.orders[asked["order_id"]].items[-1].item_id]
        yield looked_up(policy, session, Call(name, asked))

    return make


def order_in(*statuses: str) -> Any:
    """The same call about an order in one of these states, whoever's it is."""

    def make(session: Session, call: Call, rng: Random) -> Made:
        for order in shuffled(session.sandbox.db.orders, rng):
            if order.status in statuses:
                other = session.with_customer(order.user_id)
                yield looked_up(policy, other, _moved(session, call, order))

    return make


def _moved(session: Session, call: Call, order: Any) -> Call:
    """The call as it would be for another order: its first item, its customer's way of paying."""
    asked = dict(call.arguments, order_id=order.order_id)
    if "item_ids" in asked:
        item = order.items[0]
        asked["item_ids"] = [item.item_id]
        variants = session.sandbox.db.products[item.product_id].variants.values()
        fits = [
            variant.item_id
            for variant in variants
            if variant.available and variant.item_id != item.item_id
        ]
        if "new_item_ids" in asked:
            asked["new_item_ids"] = fits[:1]
    if "payment_method_id" in asked:
        asked["payment_method_id"] = order.payment_history[0].payment_method_id
    return Call(call.name, asked)


def other_reason(session: Session, call: Call, rng: Random) -> Made:
    yield (
        session,
        changed(
            call,
            reason=rng.choice(
                ["found it cheaper elsewhere", "arrives too late", "changed my mind"]
            ),
        ),
    )


def foreign_item(session: Session, call: Call, rng: Random) -> Made:
    """An item of another order in place of the last one."""
    for order in shuffled(session.sandbox.db.orders, rng):
        yield looked_up(
            policy,
            session,
            changed(call, item_ids=[*call.arguments["item_ids"][:-1], order.items[0].item_id]),
        )


def product_for_item(session: Session, call: Call, _rng: Random) -> Made:
    """The product's id where the item's belongs."""
    order = session.sandbox.db.orders[call.arguments["order_id"]]
    product = next(
        item.product_id for item in order.items if item.item_id == call.arguments["item_ids"][-1]
    )
    yield session, changed(call, item_ids=[*call.arguments["item_ids"][:-1], product])


def item_too_often(session: Session, call: Call, _rng: Random) -> Made:
    order = session.sandbox.db.orders[call.arguments["order_id"]]
    item = call.arguments["item_ids"][-1]
    asked = {"item_ids": [item] * (1 + sum(each.item_id == item for each in order.items))}
    if "new_item_ids" in call.arguments:
        asked["new_item_ids"] = call.arguments["new_item_ids"][-1:] * len(asked["item_ids"])
    yield session, changed(call, **asked)


def fewer_new_items(session: Session, call: Call, _rng: Random) -> Made:
    yield session, changed(call, new_item_ids=call.arguments["new_item_ids"][:-1])


def _replaced(session: Session, call: Call, new: str) -> tuple[Session, Call]:
    return session, changed(call, new_item_ids=[*call.arguments["new_item_ids"][:-1], new])


def other_product(session: Session, call: Call, rng: Random) -> Made:
    for product in shuffled(session.sandbox.db.products, rng):
        for variant in shuffled(product.variants, rng):
            if variant.available:
                bad = _replaced(session, call, variant.item_id)
                bad[0].do([Call("get_product_details", {"product_id": product.product_id})])
                yield bad


def _variants(session: Session, call: Call) -> dict[str, Any]:
    order = session.sandbox.db.orders[call.arguments["order_id"]]
    item = next(item for item in order.items if item.item_id == call.arguments["item_ids"][-1])
    return session.sandbox.db.products[item.product_id].variants


def unavailable(session: Session, call: Call, rng: Random) -> Made:
    for variant in shuffled(_variants(session, call), rng):
        yield _replaced(session, call, variant.item_id)


def same_item(session: Session, call: Call, _rng: Random) -> Made:
    yield _replaced(session, call, call.arguments["item_ids"][-1])


def foreign_payment(session: Session, call: Call, rng: Random) -> Made:
    for user in shuffled(session.sandbox.db.users, rng):
        for name in user.payment_methods:
            yield session, changed(call, payment_method_id=name)


def other_card(session: Session, call: Call, rng: Random) -> Made:
    """A method of the customer that did not pay; for a customer with none, another order's
    customer.
    """
    for order in [
        session.sandbox.db.orders[call.arguments["order_id"]],
        *shuffled(session.sandbox.db.orders, rng),
    ]:
        other = session.with_customer(order.user_id)
        for name in session.sandbox.db.users[order.user_id].payment_methods:
            bad = _moved(session, call, order)
            yield looked_up(policy, other, changed(bad, payment_method_id=name))


def poor_gift_card(session: Session, call: Call, rng: Random) -> Made:
    """Dearer items than the customer's gift card covers; for a customer without one, another
    order's customer.
    """
    for order in [
        session.sandbox.db.orders[call.arguments["order_id"]],
        *shuffled(session.sandbox.db.orders, rng),
    ]:
        user = session.sandbox.db.users[order.user_id]
        for method in user.payment_methods.values():
            if method.source == "gift_card":
                item = order.items[0]
                variants = session.sandbox.db.products[item.product_id].variants.values()
                dear = max(
                    (v for v in variants if v.available), key=lambda v: v.price, default=None
                )
                if dear is not None:
                    asked = {
                        "order_id": order.order_id,
                        "item_ids": [item.item_id],
                        "new_item_ids": [dear.item_id],
                    }
                    bad = changed(call, **asked, payment_method_id=method.id)
                    yield looked_up(policy, session.with_customer(order.user_id), bad)


def _pay(session: Session, call: Call, name: str) -> tuple[Session, Call]:
    asked = {"order_id": call.arguments["order_id"], "payment_method_id": name}
    return looked_up(policy, session, Call(PAYMENT, asked))


def pay_as_before(session: Session, call: Call, _rng: Random) -> Made:
    for name in session.sandbox.db.users[session.customer].payment_methods:
        yield _pay(session, call, name)


def pay_with_foreign(session: Session, call: Call, rng: Random) -> Made:
    for _, bad in foreign_payment(session, call, rng):
        yield _pay(session, call, bad.arguments["payment_method_id"])


def pay_with_poor_gift_card(session: Session, call: Call, rng: Random) -> Made:
    for order in shuffled(session.sandbox.db.orders, rng):
        for method in session.sandbox.db.users[order.user_id].payment_methods.values():
            if order.status == "pending" and method.source == "gift_card":
                other = session.with_customer(order.user_id)
                yield _pay(other, changed(call, order_id=order.order_id), method.id)


def home_of_somebody_else(session: Session, call: Call, rng: Random) -> Made:
    for user in shuffled(session.sandbox.db.users, rng):
        yield session, changed(call, user_id=user.user_id)


EVERY = policy.WRITES
ORDERS = policy.ON_PENDING | policy.ON_DELIVERED
BUYING = policy.REPLACING
CHOOSING = BUYING | {RETURN}
PENDING = policy.ON_PENDING
ON_THE_WAY = ("pending", "processed", "cancelled")
ELSEWHERE = ("processed", "delivered", "cancelled")


def _kind(name: str, rule: str, tools: set[str] | frozenset[str], make: Any, most: int = 1) -> Kind:
    return Kind(name, f"SHOP-{rule}", frozenset(tools), make, most)


KINDS = (
    _kind("act without a yes from the customer", "CONFIRM", EVERY, unconfirmed),
    _kind("act before the customer is identified", "IDENTIFY", EVERY, not_identified),
    _kind("act before looking up the order", "LOOKUP", ORDERS, order_not_looked_up),
    _kind("replace before looking up the product", "PRODUCT-LOOKUP", BUYING, product_not_looked_up),
    _kind("charge or refund before looking up the profile", "PROFILE-LOOKUP", CHOOSING, profile_not_looked_up),
    _kind("act on another customer's order", "CUSTOMER", ORDERS, for_somebody_else),
    _kind("change another customer's address", "ACCOUNT", {HOME}, home_of_somebody_else, 3),
    _kind("read another customer's profile", "ACCOUNT", EVERY, reading_somebody_else),
    _kind("cancel an order that is not pending", "PENDING", {CANCEL}, order_in(*ELSEWHERE), 3),
    _kind("change the items of an order that is not pending", "PENDING", {ITEMS}, order_in(*ELSEWHERE), 3),
    _kind("change the address of an order that is not pending", "PENDING", {ADDRESS}, order_in(*ELSEWHERE), 3),
    _kind("return from an order that is not delivered", "DELIVERED", {RETURN}, order_in(*ON_THE_WAY), 2),
    _kind("exchange in an order that is not delivered", "DELIVERED", {EXCHANGE}, order_in(*ON_THE_WAY), 2),
    _kind("exchange twice", "ONCE", {EXCHANGE}, done_twice),
    _kind("change items twice", "ONCE", {ITEMS}, done_twice),
    _kind("return twice", "ONCE", {RETURN}, done_twice),
    _kind("return after an exchange", "ONCE", {EXCHANGE}, then(RETURN)),
    _kind("cancel after a change of items", "ONCE", {ITEMS}, then(CANCEL, reason="no longer needed")),
    _kind("change the address after a change of items", "ONCE", {ITEMS}, then(ADDRESS, **SOMEWHERE)),
    _kind("cancel twice", "PENDING", {CANCEL}, done_twice),
    _kind("cancel for a reason that is not accepted", "REASON", {CANCEL}, other_reason),
    _kind("wrong item: not in the order", "ITEMS", CHOOSING, foreign_item),
    _kind("wrong item: a product's id", "ITEMS", CHOOSING, product_for_item),
    _kind("wrong item: more than were ordered", "ITEMS", CHOOSING, item_too_often),
    _kind("replace by an item of another product", "SAME-PRODUCT", BUYING, other_product),
    _kind("replace by an item out of stock", "AVAILABLE", BUYING, unavailable),
    _kind("replace by the same item", "OTHER-OPTION", {ITEMS}, same_item),
    _kind("new items do not pair with the old", "PAIRS", BUYING, fewer_new_items),
    _kind("refund or charge to a method not in the profile", "PROFILE", CHOOSING, foreign_payment),
    _kind("refund to a card that did not pay", "REFUND", {RETURN}, other_card),
    _kind("wrong price: gift card does not cover the difference", "BALANCE", BUYING, poor_gift_card),
    _kind("change payment to the method already used", "NEW-METHOD", PENDING, pay_as_before),
    _kind("change payment to a method not in the profile", "PROFILE", PENDING, pay_with_foreign),
    _kind("change payment to a gift card too small", "BALANCE-TOTAL", PENDING, pay_with_poor_gift_card),
)  # fmt: skip
