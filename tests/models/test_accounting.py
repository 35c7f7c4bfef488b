"""Prices and costs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpms.logic.errors import InputError
from rpms.models.accounting import PRICES, cost, list_cost, parse_price, price_of
from rpms.models.base import Usage
from rpms.models.catalogue import PROVIDERS
from rpms.store.price import Price


def test_each_kind_of_token_has_its_price():
    usage = Usage(
        prompt_tokens=1_000_000,
        cached_tokens=400_000,
        completion_tokens=100_000,
        requests=1,
        written_tokens=100_000,
    )
    price = Price(prompt=2.0, completion=10.0, cached=0.5, written=3.0)
    assert cost(usage, price) == pytest.approx(0.5 * 2 + 0.4 * 0.5 + 0.1 * 3 + 0.1 * 10)


def test_without_a_cached_price_cached_tokens_cost_as_any_other():
    usage = Usage(prompt_tokens=1_000_000, cached_tokens=900_000, requests=1)
    assert cost(usage, Price(2.0, 10.0)) == pytest.approx(2.0)


def test_an_unknown_price_is_not_zero():
    assert cost(Usage(prompt_tokens=10, requests=1), None) is None


def test_an_answer_from_a_record_cost_nothing_and_has_a_list_price():
    usage = Usage(prompt_tokens=1_000_000, requests=0)
    assert cost(usage, Price(2.0, 10.0)) == 0.0
    assert cost(usage, None) == 0.0
    assert list_cost(usage, Price(2.0, 10.0)) == pytest.approx(2.0)


def test_dated_names_have_their_familys_price_unless_they_have_their_own():
    assert price_of("openai/gpt-4o-2024-08-06") == PRICES["openai/gpt-4o"]
    assert price_of("openai/gpt-4o-2024-05-13") == Price(5.0, 15.0)
    assert price_of("anthropic/claude-sonnet-4-5-20250929") == PRICES["anthropic/claude-sonnet-4-5"]
    assert price_of("openai/gpt-4o-mini-tts") is None
    assert price_of("vllm/gpt-4o") is None


@pytest.mark.parametrize("name", sorted(PRICES))
def test_the_list_is_sound(name):
    provider, _, model = name.partition("/")
    price = PRICES[name]
    assert provider in PROVIDERS
    assert model
    assert 0 < price.prompt <= price.completion
    assert price.cached is None or 0 < price.cached < price.prompt
    assert price.written is None or price.written > price.prompt


def test_a_price_is_read():
    assert parse_price("2.5,10") == Price(2.5, 10.0)
    assert parse_price(" $2.5, $10 , 1.25") == Price(2.5, 10.0, 1.25)
    assert parse_price("0,0") == Price(0.0, 0.0)


@pytest.mark.parametrize("text", ["", "1", "1,2,3,4", "a,b", "-1,2", "nan,1", "inf,1", "1,", "1;2"])
def test_a_wrong_price_says_how_to_write_it(text):
    with pytest.raises(InputError, match="IN,OUT"):
        parse_price(text)


usages = st.builds(
    Usage,
    prompt_tokens=st.integers(0, 10**6),
    cached_tokens=st.integers(0, 10**6),
    completion_tokens=st.integers(0, 10**5),
    requests=st.integers(1, 3),
)


@given(usages, usages)
def test_usage_adds_up(one, two):
    both = one + two
    assert both.prompt_tokens == one.prompt_tokens + two.prompt_tokens
    assert both.requests == one.requests + two.requests
    assert (list_cost(both, Price(1, 2)) or 0) <= (list_cost(one, Price(1, 2)) or 0) + (
        list_cost(two, Price(1, 2)) or 0
    ) + 1e-9
