"""What the functions of both policies share: a record of an unexpected shape tells nothing, and what a yes is."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any

from rpms.guard.call_facts import Look

_YES = re.compile(r"\W*(?:yes|yep|yeah|i confirm|confirmed|go ahead|please do|please proceed)\b", re.IGNORECASE)
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


@fact
def says_yes(_look: Look, text: str) -> bool | None:
    """Whether what the customer said begins with a yes. A host that knows better tells `confirmed` itself."""
    return _YES.match(text) is not None


@fact
def agreed(look: Look) -> bool | None:
    """Whether the customer said yes to this; unknown, not false, until then: what else is missing is named first."""
    return look.truth("confirmed") or None
