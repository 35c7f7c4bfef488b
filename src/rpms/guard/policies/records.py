"""What the functions of a policy share: a record of an unexpected shape tells nothing."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from rpms.core.tools import Look

Fact = Callable[..., bool | None]


def fact(function: Fact) -> Fact:
    """Turn a record or an argument that is not of the shape it should have into an unknown fact."""

    @wraps(function)
    def told(look: Look, *args: Any) -> bool | None:
        try:
            return function(look, *args)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            return None

    return told
