"""A shop with one order and four tools, for the examples beside it."""

ORDER = {
    "id": "W1",
    "status": "delivered",
    "placed": "2024-05-15T09:00:00",
    "user_id": "mia",
    "items": [{"id": "a1"}],
}


def get_order(order_id: str) -> dict:
    """Look up an order.

    Args:
        order_id: Which one.
    """
    return {**ORDER, "id": order_id}


def cancel_order(order_id: str, user_id: str) -> str:
    """Cancel an order of a user.

    Args:
        order_id: Which one.
        user_id: Whose.
    """
    return f"cancelled {order_id} of {user_id}"


def get_user(user_id: str) -> dict:
    """Look up a user.

    Args:
        user_id: Which one.
    """
    return {"id": user_id, "payment_methods": {"card": {}}}


def return_items(order_id: str, user_id: str, items: list[str], method: str) -> dict:
    """Take items of an order back, for money.

    Args:
        order_id: Which order.
        user_id: Whose.
        items: What is sent back.
        method: Where the money goes.
    """
    return {**ORDER, "id": order_id, "status": f"{len(items)} returned by {user_id} to {method}"}


LOOK = {"order_id": "W1"}
CANCEL = {"order_id": "W1", "user_id": "mia"}
