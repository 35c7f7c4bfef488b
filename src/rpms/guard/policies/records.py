"""Functions of both policies: a record of an unexpected shape tells nothing; the meaning of a yes."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any

from rpms.guard.call_facts import Look

_YES = (
    "yes|yes please|yep|yeah|yup|sure|sure thing|ok|okay|absolutely|certainly|definitely|of course|correct|right|"
    "that is correct|that is right|that works|sounds good|looks good|agreed|i agree|confirmed|i confirm|i do confirm|"
    "go ahead|please go ahead|go for it|do it|please do|please do it|please do so|proceed|please proceed"
)
_DOING = (
    "cancel|book|change|exchange|return|refund|modify|update|process|make|do|send|add|upgrade|complete|proceed|submit|"
    "place|switch|charge|use|issue|remove"
)
_PLAIN_YES = re.compile(
    rf"(?:{_YES})(?:[,.!;:]|\s*$)|(?:yes|yeah|yep|yup)\s+(?:please\s+)?(?:{_DOING}|i|that|it|to|for|go|the)\b"
    rf"|(?:please )?(?:go ahead and|proceed (?:to|and)) (?:{_DOING})\b"
    r"|(?:please )?(?:go ahead|proceed) with\b|i confirm\b"
)
_NO = re.compile(r"\b(?:not?|nope|never|nothing|none|neither|nor|cannot)\b|n't\b")
_RESERVED = re.compile(
    r"\?|\b(?:wait|hold|stop|but|however|although|though|unless|until|if|instead|except|first|before|later|yet|maybe|perhaps|"
    r"actually|rather|unsure|think|mind|more|other|another|different|explain|tell|what|how|why|which|who|when|where)\b"
)
"""Words after which a yes is not plain."""
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
    """True for a plain yes, False for a no, None where only a person or a host can tell, who says `confirmed`."""
    said = " ".join(text.casefold().replace("’", "'").replace("'s ", " is ").split()).lstrip(" \"'*->")
    if _NO.search(said):
        return False
    return True if _PLAIN_YES.match(said) and not _RESERVED.search(said) else None


@fact
def agreed(look: Look) -> bool | None:
    """True if the customer said yes to this; unknown, not false, until then: what else is missing is named first."""
    return look.truth("confirmed") or None
