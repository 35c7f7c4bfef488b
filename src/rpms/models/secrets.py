"""A switch that forbids requests to other machines, and the removal of keys from every text a
person may see.
"""

import ipaddress
import os
import re
import unicodedata
from base64 import b64encode
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from rpms.foreign.limits import LONGEST_LINE
from rpms.foreign.shown import one_line, unseen
from rpms.logic.errors import InputError, ModelUnavailable

FORBID_VARIABLE = "RPMS_FORBID_REQUESTS"
"""If this is set to anything but `0`, no request leaves this machine. It is an environment variable
so that child processes inherit it."""

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL")
_KEY_SHAPE = re.compile(
    r"\b(?i:sk|gsk|hf|pk|rk)[-_][A-Za-z0-9_\-*.]{6,}"
    r"|(?i:bearer)\s+[A-Za-z0-9_\-.=]{6,}"
    # base64, as told from the words of `Basic authentication is required`
    r"|(?i:basic)\s+(?=[A-Za-z]*(?:[0-9+/=]|[a-z][A-Z]))[A-Za-z0-9+/]{4,}={0,2}"
)
_SHORTEST_SECRET = 6
_WORD = re.compile(r"[A-Za-z]{0,15}|[0-9]{0,15}")
"""Values that a variable named like a secret may hold without being one, as MAX_TOKENS does."""
_LONGEST_EXCERPT = 240
_REMOVED = "[key]"


def requests_forbidden() -> bool:
    """True if the switch is on."""
    return os.environ.get(FORBID_VARIABLE, "") not in {"", "0"}


def is_loopback(url: str) -> bool:
    """True if a URL names this very machine."""
    return is_local(urlsplit(url).hostname or "")


def is_local(host: str) -> bool:
    """True for a name or an address that only this machine can reach."""
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def check_base_url(url: str) -> None:
    """Refuse a text that is no address of a server, without showing it: it may hold a password."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise InputError(f"the base URL cannot be read: {one_line(str(error), 80)}") from None
    if parts.scheme not in {"http", "https"} or not host:
        raise InputError("the base URL must begin with http:// or https:// and name a host")
    if not url.isprintable() or " " in url or len(url) > LONGEST_LINE:
        raise InputError("the base URL holds characters that no address has, or too many")
    try:
        host.encode("idna")
    except UnicodeError:
        raise InputError("the base URL names a host that cannot be") from None
    if unicodedata.normalize("NFKC", host) != host:
        raise InputError("the base URL names a host in signs that only stand for letters or digits")


def check_allowed(url: str) -> None:
    """Raise ModelUnavailable where the switch forbids a request to this address."""
    if requests_forbidden() and not is_loopback(url):
        raise ModelUnavailable(
            f"requests to other machines are switched off by {FORBID_VARIABLE}, and"
            f" {shown_url(url)} is one"
        )


def shown_url(url: str) -> str:
    """The URL without a user name, password or query, which may hold a key."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def known_secrets() -> set[str]:
    """Every value in the environment whose variable is named like a secret."""
    named = {
        value.strip() for name, value in os.environ.items() if _SECRET_NAME.search(name.upper())
    }
    return {value for value in named if len(value) >= _SHORTEST_SECRET}


def url_secrets(url: str) -> tuple[str, ...]:
    """Secrets of a URL: its password, as written, decoded, and encoded for sending; keys in its
    query.
    """
    parts = urlsplit(url)
    user, sign, password = parts.netloc.rpartition("@")[0].partition(":")
    found: list[str] = []
    for name, value in parse_qsl(parts.query):
        if _SECRET_NAME.search(name.upper()):
            found.append(value)
    if user or password:
        secret = password if sign else user  # a name alone is a key
        sent = f"{unquote(user)}:{unquote(password)}"
        found += [secret, unquote(secret), b64encode(sent.encode()).decode()]
    long_enough = [secret for secret in found if len(secret) >= _SHORTEST_SECRET]
    return tuple(dict.fromkeys(long_enough))


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """An answer without secrets: those that are given, and those of the environment. Short or plain
    words stay.
    """
    given = {secret for secret in secrets if len(secret) >= _SHORTEST_SECRET}
    of_environment = {secret for secret in known_secrets() if not _WORD.fullmatch(secret)}
    return _cut(text, given | of_environment)


def _cut(text: str, secrets: Iterable[str]) -> str:
    """A text without some secrets, also where characters that are drawn as nothing, or wider
    letters, disguise them.
    """
    plain = [_plain(secret).letters for secret in secrets]
    wanted = sorted(filter(None, plain), key=len, reverse=True)
    if not wanted:
        return text
    any_of_them = "|".join(map(re.escape, wanted))
    seen = _plain(text)
    places = seen.places
    without = ""
    end = 0
    # they may overlap, and a server may write them in capitals
    for found in re.finditer(f"(?=({any_of_them}))", seen.letters, re.IGNORECASE):
        start = places[found.start(1)]
        if start >= end:
            without += text[end:start] + _REMOVED
        end = max(end, places[found.end(1) - 1] + 1)
    return without + text[end:]


class _Visible(NamedTuple):
    """The letters of a text that can be seen, each in its usual form."""

    letters: str
    places: Sequence[int]
    """The place of each in the text."""


def _plain(text: str) -> _Visible:
    """A text without what cannot be seen in it."""
    if text.isascii() and text.isprintable():
        return _Visible(text, range(len(text)))
    letters: list[str] = []
    places: list[int] = []
    for place, char in enumerate(text):
        if char != " " and (unseen(char) or char.isspace()):
            continue
        usual = char if char.isascii() else unicodedata.normalize("NFKC", char)
        letters.extend(usual)
        places.extend([place] * len(usual))
    return _Visible("".join(letters), places)


def safe_excerpt(text: str, secrets: Iterable[str] = ()) -> str:
    """One short line of a stranger's text, safe to show: no keys, whole or in part, and no
    control characters.
    """
    every = {*secrets, *known_secrets()} - {""}
    text = _cut(text[: 200 * _LONGEST_EXCERPT], every)
    text = one_line(text, 20 * _LONGEST_EXCERPT)
    return one_line(_KEY_SHAPE.sub(_REMOVED, text), _LONGEST_EXCERPT)
