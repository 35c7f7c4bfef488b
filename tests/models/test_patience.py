"""Waiting, and the removal of keys from texts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpms.logic.errors import ModelUnavailable
from rpms.models.patience import Patience, TryAgain, retry, retry_after
from rpms.models.secrets import check_allowed, is_loopback, safe_excerpt, shown_url

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("3", 3.0),
        (" 0.5 ", 0.5),
        ("-4", 0.0),
        ("Thu, 01 Jan 2026 12:01:30 GMT", 90.0),
        ("Thu, 01 Jan 2026 11:00:00 GMT", 0.0),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_a_number_or_a_date(value, seconds):
    assert retry_after(value, NOW) == seconds


@given(st.text(max_size=60))
def test_any_retry_after_is_read(value):
    seconds = retry_after(value, NOW)
    assert seconds is None or seconds >= 0


@given(
    st.integers(1, 12),
    st.floats(0.01, 5),
    st.floats(1, 100),
    st.lists(st.none() | st.floats(0, 1000), min_size=12, max_size=12),
)
def test_the_limits_hold_whatever_the_server_asks(tries, first, total, asked):
    time = 0.0
    calls = 0

    def sleep(seconds):
        nonlocal time
        time += seconds

    def fail():
        nonlocal calls
        calls += 1
        raise TryAgain("no", asked[calls - 1])

    patience = Patience(tries=tries, first_wait=first, total=total, now=lambda: time, sleep=sleep)
    with pytest.raises(ModelUnavailable):
        retry(fail, patience, "there")
    assert calls <= tries
    assert time <= total


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:8000/v1", True),
        ("http://127.0.0.1/", True),
        ("http://127.8.8.8:1", True),
        ("http://[::1]:8080/v1", True),
        ("https://api.openai.com/v1", False),
        ("http://localhost.example.com", False),
        ("http://10.0.0.3:8000", False),
        ("http://0.0.0.0:8000", False),
        ("nonsense", False),
    ],
)
def test_this_machine_is_told_from_others(url, local):
    assert is_loopback(url) == local
    if local:
        check_allowed(url)
    else:
        with pytest.raises(ModelUnavailable):
            check_allowed(url)


def test_the_switch_can_be_off(monkeypatch):
    monkeypatch.setenv("RPMS_FORBID_REQUESTS", "0")
    check_allowed("https://api.openai.com/v1")


def test_a_url_is_shown_without_what_may_be_secret():
    assert shown_url("https://me:secret@host:8443/v1?key=secret#secret") == "https://host:8443/v1"


@given(st.text(max_size=100), st.text(max_size=100), st.integers(0, 400))
def test_no_excerpt_holds_a_key_nor_the_beginning_of_one(before, after, padding):
    secret = "planted-4711-secret"
    shown = safe_excerpt("x" * padding + before + secret + after, (secret,))
    assert secret[:12] not in shown
    assert shown.isprintable()
    assert len(shown) <= 240
