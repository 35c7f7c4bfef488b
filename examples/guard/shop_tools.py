"""A shop with one order and two tools, for the examples beside it."""

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


LOOK = {"order_id": "W1"}
CANCEL = {"order_id": "W1", "user_id": "mia"}
