"""Estimates the tokens of a text without a tokenizer."""

from __future__ import annotations

import re
from functools import lru_cache

_PIECE = re.compile(r"[A-Za-z]{1,8}|\d|[^\sA-Za-z\d]{1,3}")


@lru_cache(maxsize=8_192)
def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text: word pieces of up to eight letters, single digits, signs by threes.

    Deterministic and the same on every machine, so that budgets cut the same blocks everywhere.
    """
    return len(_PIECE.findall(text))


def brief(text: str, most: int = 120) -> str:
    """A text that is a model's own, short enough to be repeated to it: its ramblings are not."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
