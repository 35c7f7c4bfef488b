"""Cost of an answer, from a list of prices or from the user's own."""

import math
import re
import tomllib
from importlib.resources import files
from typing import Any

from rpms.logic.errors import InputError
from rpms.paper.episode import Usage
from rpms.store.price import Price

KNOWN: dict[str, Any] = tomllib.loads(
    files("rpms.models").joinpath("known.toml").read_text(encoding="utf-8")
)
"""Prices and context windows of models, by name."""


def _read_prices() -> dict[str, Price]:
    prices: dict[str, Price] = {}
    for provider, models in KNOWN["prices"].items():
        for name, price in models.items():
            prices[f"{provider}/{name}"] = Price(*price)
    return prices


PRICES = _read_prices()
"""Prices by `provider/name`; `--price` goes before."""
_DATED = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$")


def price_of(model: str) -> Price | None:
    """The listed price of `provider/name`; a dated name without an entry of its own has its
    family's.
    """
    return PRICES.get(model) or PRICES.get(_DATED.sub("", model))


def parse_price(text: str) -> Price:
    """Read `IN,OUT` or `IN,OUT,CACHED`, US dollars for a million tokens, as given to `--price`."""
    try:
        numbers = [float(piece.strip().removeprefix("$")) for piece in text.split(",")]
    except ValueError:
        numbers = []
    are_prices = all(0 <= number < math.inf for number in numbers)
    if len(numbers) not in {2, 3} or not are_prices:
        raise InputError(
            f"--price {text[:60]!r}: give IN,OUT or IN,OUT,CACHED in US dollars for a million"
            " tokens, as 2.5,10,1.25"
        )
    return Price(*numbers)


def cost(usage: Usage, price: Price | None) -> float | None:
    """US dollars paid for one answer: 0 where no provider was asked, None where the price is
    not known.
    """
    return list_cost(usage, price) if usage.requests else 0.0


def list_cost(usage: Usage, price: Price | None) -> float | None:
    """US dollars these tokens cost at this price, asked for or from a record; None where the
    price is not known.
    """
    if price is None:
        return None
    fresh = max(usage.prompt_tokens - usage.cached_tokens - usage.written_tokens, 0)
    cached = price.prompt if price.cached is None else price.cached
    written = price.prompt if price.written is None else price.written
    prompt = fresh * price.prompt + usage.cached_tokens * cached + usage.written_tokens * written
    return (prompt + usage.completion_tokens * price.completion) / 1_000_000
