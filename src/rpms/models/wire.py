"""The HTTP client of both SDKs: bounded in time and bytes, no redirects, no `.netrc`.

It uses the environment's proxy, except to this machine, and reads a response whole before anything
looks at it.
"""

from __future__ import annotations

import importlib
import importlib.util
import threading
import time
import zlib
from collections.abc import Iterable
from itertools import islice
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from rpms.foreign.json_text import NotJson, loads
from rpms.foreign.limits import MOST_HEAD, MOST_PIECES, MOST_RECEIVED, MOST_TOKENS, MOST_UNPACKED
from rpms.logic.errors import InputError, ModelError, ModelUnavailable, RPMSError
from rpms.models.patience import Endpoint, TryAgain
from rpms.models.secrets import (
    FORBID_VARIABLE,
    check_allowed,
    check_base_url,
    is_local,
    requests_forbidden,
    shown_url,
)

_OK = range(200, 300)
_TOO_MANY = f"the response comes in more than {MOST_PIECES:,} pieces"
JSON = "rpms.json"
"""The extension of a response that has its JSON, or its text where it is no JSON."""


def _bad(what: str) -> TryAgain:
    """The error for a response that cannot be right, in no words of the server's."""
    return TryAgain(what, lasting=ModelError)


class _Allowance(threading.local):
    """Seconds, bytes and reads left to the request of this thread.

    One thread makes one request at a time.
    """

    deadline = float("inf")
    left = 0
    reads = 0
    piece = "head"


class _Bounded:
    """A connection that stops when its thread's allowance is used up, in the head of a response
    too.

    With `FORBID_VARIABLE` set, it connects to nothing but this machine, whatever a name resolves
    to.
    """

    def __init__(self, inner: Any, allowance: _Allowance) -> None:
        self._inner = inner
        self._allowance = allowance

    def connect_tcp(self, *arguments: Any, **options: Any) -> _Bounded:
        stream = self._inner.connect_tcp(*arguments, **options)
        server = stream.get_extra_info("server_addr")
        if requests_forbidden() and not (server and is_local(str(server[0]))):
            stream.close()
            raise ModelUnavailable(
                f"the address is on another machine, and {FORBID_VARIABLE} forbids requests to"
                " those"
            )
        return _Bounded(stream, self._allowance)

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> _Bounded:
        return _Bounded(
            self._inner.start_tls(ssl_context, server_hostname, self._seconds(timeout)),
            self._allowance,
        )

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data: bytes = self._inner.read(max_bytes, timeout=self._seconds(timeout))
        self._allowance.left -= len(data)
        self._allowance.reads -= 1
        if self._allowance.reads < 0:
            raise _bad(_TOO_MANY)
        if self._allowance.left < 0:
            raise _bad(f"the response is too large: its {self._allowance.piece} does not end")
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, timeout=self._seconds(timeout))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _seconds(self, timeout: float | None) -> float:
        left = self._allowance.deadline - time.monotonic()
        if left <= 0:
            raise _bad("the response did not end in time")
        return left if timeout is None else min(timeout, left)


def fetch(url: str, key: str, seconds: float) -> Any:
    """The JSON at an address; None if none may be asked for, or none comes in time."""
    name = next(filter(importlib.util.find_spec, ("httpx2", "httpx")), "")
    if not name:  # the SDK that brings it is not installed
        return None
    library = importlib.import_module(name)
    try:
        check_base_url(url)
        check_allowed(url)
        with make_client(
            library, url, Endpoint(shown_url(url)), silence=seconds, whole=seconds
        ) as client:
            return client.get(
                url, headers={"Authorization": f"Bearer {key}"} if key else {}
            ).extensions[JSON]
    except (library.HTTPError, library.InvalidURL, TryAgain, RPMSError, ValueError):
        return None


def make_client(
    library: ModuleType, base_url: str, endpoint: Endpoint, *, silence: float, whole: float
) -> Any:
    """A client of httpx, or of its successor.

    `silence`, `whole`: seconds without a word, and for a whole response.
    """
    allowance = _Allowance()
    try:
        inner = library.HTTPTransport(proxy=_proxy(base_url))
    except (ValueError, ImportError, library.InvalidURL) as error:
        raise InputError(
            f"the proxy that the environment names cannot be used: {type(error).__name__}"
        ) from None
    pool = getattr(inner, "_pool", None)
    if not hasattr(pool, "_network_backend"):  # the one thing here that no library promises
        raise ModelUnavailable(
            f"this version of {library.__name__} cannot be held to limits; pip install -U rpms"
        )
    pool._network_backend = _Bounded(pool._network_backend, allowance)  # type: ignore[union-attr]  # noqa: SLF001

    # of one library or the other
    class Transport(library.BaseTransport):  # type: ignore[misc, name-defined]
        """Sends a request and gives back an answer that is read and checked, with nothing of
        the server's around it.
        """

        def handle_request(self, request: Any) -> Any:
            # Answers are small. What is packed all the same is unpacked below, where it can be
            # bounded.
            request.headers["accept-encoding"] = "identity"
            allowance.deadline = time.monotonic() + whole
            allowance.left = MOST_HEAD
            allowance.piece = "head"
            allowance.reads = MOST_PIECES
            try:
                response = inner.handle_request(request)
                allowance.left = MOST_RECEIVED
                allowance.piece = "body"
                try:
                    body = _joined(response.stream)
                finally:
                    response.close()
            except library.TimeoutException:
                raise TryAgain("no answer in time") from None
            except library.TransportError as error:
                # If not a byte came, there is no server, rather than a bad one.
                if isinstance(error, library.RemoteProtocolError) and allowance.left != MOST_HEAD:
                    raise _bad("the response is not whole, or not HTTP") from None
                raise endpoint.unreached(error) from None
            found = _read(
                response.status_code, _unpacked(body, response.headers.get("content-encoding", ""))
            )
            if response.status_code not in _OK:
                raise endpoint.failed(
                    response.status_code, found, response.headers.get("retry-after")
                )
            return library.Response(response.status_code, request=request, extensions={JSON: found})

        def close(self) -> None:
            inner.close()

    return library.Client(
        transport=Transport(), follow_redirects=False, trust_env=False, timeout=silence
    )


def _joined(pieces: Iterable[bytes]) -> bytes:
    """A response's body, of not more pieces than any server has a reason to send."""
    taken = list(islice(pieces, MOST_PIECES + 1))
    if len(taken) > MOST_PIECES:
        raise _bad(_TOO_MANY)
    return b"".join(taken)


def _proxy(base_url: str) -> str | None:
    """The environment's proxy for an address; none to this machine, which no proxy leads back
    to.
    """
    parts = urlsplit(base_url)
    if not parts.hostname or is_local(parts.hostname) or proxy_bypass(parts.hostname):
        return None
    proxies = getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all")
    return found if not found or "://" in found else f"http://{found}"


def _unpacked(body: bytes, encoding: str) -> bytes:
    coding = encoding.strip().lower()
    if coding in {"", "identity"}:
        return body
    if coding not in {"gzip", "x-gzip", "deflate"}:
        raise _bad("the response is packed in a way that was not asked for")
    try:
        # gzip or zlib, by its first bytes
        data = zlib.decompressobj(wbits=47).decompress(body, MOST_UNPACKED + 1)
    except zlib.error:
        raise _bad("the response cannot be unpacked") from None
    if len(data) > MOST_UNPACKED:
        raise _bad(f"the response unpacks to more than {MOST_UNPACKED:,} bytes")
    return data


def _read(status: int, body: bytes) -> Any:
    """The JSON of a body, or its text.

    A failure's body is only words: one that cannot be read is left out.
    """
    try:
        return loads(body)
    except NotJson as error:
        if body.lstrip()[:1] not in {b"{", b"["}:  # never meant to be JSON
            return body.decode("utf-8", "replace").strip()
        if status in _OK:
            raise _bad(f"the response cannot be read: {error}") from None
        return ""


def dig(value: Any, *path: str | int) -> Any:
    """The value at a path in a server's JSON, which may be anything; None if there is none."""
    for step in path:
        try:
            value = value[step]
        except (LookupError, TypeError):
            return None
    return value


def count(value: object, *path: str | int) -> int:
    """The number at a path in a server's JSON; 0 if there is none."""
    found = dig(value, *path)
    whole = isinstance(found, int) and not isinstance(found, bool)
    return found if whole and 0 < found <= MOST_TOKENS else 0
