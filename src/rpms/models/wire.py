"""The HTTP client of both SDKs: bounded in time and bytes, no redirects, no `.netrc`.

It uses the environment's proxy, except to this machine, and reads a response whole before anything looks at it.
"""

from __future__ import annotations

import importlib
import importlib.util
import threading
import time
import zlib
from collections.abc import Mapping
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from rpms.core.errors import InputError, ModelUnavailable, RPMSError
from rpms.foreign.json_text import NotJson, loads
from rpms.foreign.limits import MOST_HEAD, MOST_RECEIVED, MOST_UNPACKED
from rpms.models.secrets import FORBID_VARIABLE, check_allowed, check_base_url, is_local, requests_forbidden

_LIBRARIES = ("httpx2", "httpx")
"""HTTP libraries of the SDKs: the first since openai 3 and anthropic 2, the second before."""
_KEPT_HEADERS = ("content-type", "retry-after")
_OK = range(200, 300)
JSON = "rpms.json"
"""The extension of a response that has its JSON; None where it is no JSON."""


class BadResponse(Exception):
    """A response that cannot be what was asked for. Its words are for people, and none of them is the server's."""


class NotAllowed(Exception):
    """A connection that the switch forbids."""


class _Allowance(threading.local):
    """Seconds left to the request of this thread. One thread makes one request at a time."""

    deadline = float("inf")
    left = 0
    piece = "head"


class _Stream:
    """A connection that stops reading when its thread's allowance is used up, in the head of a response too."""

    def __init__(self, inner: Any, allowance: _Allowance) -> None:
        self._inner, self._allowance = inner, allowance

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data: bytes = self._inner.read(max_bytes, timeout=self._seconds(timeout))
        self._allowance.left -= len(data)
        if self._allowance.left < 0:
            raise BadResponse(f"the response is too large: its {self._allowance.piece} does not end")
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, timeout=self._seconds(timeout))

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> _Stream:
        inner = self._inner.start_tls(ssl_context, server_hostname, self._seconds(timeout))
        return _Stream(inner, self._allowance)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def _seconds(self, timeout: float | None) -> float:
        left = self._allowance.deadline - time.monotonic()
        if left <= 0:
            raise BadResponse("the response did not end in time")
        return left if timeout is None else min(timeout, left)


class _Network:
    """Makes bounded connections, and with the switch on none but to this machine, whatever a name resolves to."""

    def __init__(self, inner: Any, allowance: _Allowance) -> None:
        self._inner, self._allowance = inner, allowance

    def connect_tcp(self, *arguments: Any, **options: Any) -> _Stream:
        stream = self._inner.connect_tcp(*arguments, **options)
        server = stream.get_extra_info("server_addr")
        if requests_forbidden() and not (server and is_local(str(server[0]))):
            stream.close()
            raise NotAllowed(f"the address is on another machine, and {FORBID_VARIABLE} forbids requests to those")
        return _Stream(stream, self._allowance)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def make_client(sdk: ModuleType, base_url: str, *, silence: float, whole: float) -> Any:
    """A client for an SDK. `silence`, `whole`: seconds a server may say nothing, and a response may take in all."""
    roots = {kind.__module__.partition(".")[0] for kind in getattr(sdk, "DefaultHttpxClient", type(None)).__mro__}
    library = next((name for name in _LIBRARIES if name in roots), None)
    if library is None:
        raise ModelUnavailable(
            f"this version of {sdk.__name__} cannot be kept from following redirects: pip install -U {sdk.__name__}"
        )
    return _client(importlib.import_module(library), base_url, silence, whole)


def fetch(url: str, headers: Mapping[str, str], *, seconds: float) -> Any:
    """The JSON at an address, asked for like everything else; None where none may be, or can be, had in time."""
    found = next((name for name in _LIBRARIES if importlib.util.find_spec(name) is not None), None)
    if found is None:
        return None
    library = importlib.import_module(found)
    try:
        check_base_url(url)
        check_allowed(url)
        with _client(library, url, seconds, seconds) as client:
            reply = client.get(url, headers=dict(headers))
            return reply.extensions[JSON] if reply.status_code in _OK else None
    except (library.HTTPError, library.InvalidURL, BadResponse, NotAllowed, RPMSError, ValueError):
        return None


def _client(library: ModuleType, base_url: str, silence: float, whole: float) -> Any:
    allowance = _Allowance()
    try:
        inner = library.HTTPTransport(proxy=_proxy(base_url))
    except (ValueError, ImportError, library.InvalidURL) as error:
        raise InputError(f"the proxy that the environment names cannot be used: {type(error).__name__}") from None
    pool = getattr(inner, "_pool", None)
    if not hasattr(pool, "_network_backend"):  # the one thing here that no library promises
        raise ModelUnavailable(f"this version of {library.__name__} cannot be held to limits; pip install -U rpms")
    pool._network_backend = _Network(pool._network_backend, allowance)  # type: ignore[union-attr]  # noqa: SLF001
    transport = _bounded(library, inner, allowance, whole)
    return library.Client(transport=transport, follow_redirects=False, trust_env=False, timeout=silence)


def _proxy(base_url: str) -> str | None:
    """The environment's proxy for an address; none to this machine, which no proxy leads back to."""
    parts = urlsplit(base_url)
    if not parts.hostname or is_local(parts.hostname) or proxy_bypass(parts.hostname):
        return None
    proxies = getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all")
    return found if not found or "://" in found else f"http://{found}"


def _bounded(library: ModuleType, inner: Any, allowance: _Allowance, whole: float) -> Any:
    class Transport(library.BaseTransport):  # type: ignore[misc, name-defined]  # of one library or the other
        """Sends a request and gives back a response that is read, checked and bare."""

        def handle_request(self, request: Any) -> Any:
            # Answers are small. What is packed all the same is unpacked below, where it can be bounded.
            request.headers["accept-encoding"] = "identity"
            allowance.deadline = time.monotonic() + whole
            try:
                allowance.left, allowance.piece = MOST_HEAD, "head"
                response = inner.handle_request(request)
                allowance.left, allowance.piece = MOST_RECEIVED, "body"
                try:
                    body = b"".join(response.stream)
                finally:
                    response.close()
            except library.RemoteProtocolError:
                if allowance.left == MOST_HEAD:  # not a byte came: there is no server, rather than a bad one
                    raise
                raise BadResponse("the response is not whole, or not HTTP") from None
            body = _unpacked(body, response.headers.get("content-encoding", ""))
            headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
            if "content-type" in headers:  # a charset may name any codec, of which some fail or unpack
                headers["content-type"] = headers["content-type"].partition(";")[0]
            content, found = _checked(response.status_code, body)
            read = {"headers": headers, "content": content, "extensions": {JSON: found}}
            return library.Response(response.status_code, request=request, **read)

        def close(self) -> None:
            inner.close()

    return Transport()


def _unpacked(body: bytes, encoding: str) -> bytes:
    coding = encoding.strip().lower()
    if coding in {"", "identity"}:
        return body
    if coding not in {"gzip", "x-gzip", "deflate"}:
        raise BadResponse("the response is packed in a way that was not asked for")
    unpacker = zlib.decompressobj(wbits=47)  # gzip or zlib, by its first bytes
    try:
        data = unpacker.decompress(body, MOST_UNPACKED + 1)
    except zlib.error:
        raise BadResponse("the response cannot be unpacked") from None
    if len(data) > MOST_UNPACKED:
        raise BadResponse(f"the response unpacks to more than {MOST_UNPACKED:,} bytes")
    return data


def _checked(status: int, body: bytes) -> tuple[bytes, Any]:
    """A body that can be read safely, and its JSON. A failure's body is only words: one not to be read is left out."""
    try:
        return body, loads(body)
    except NotJson as error:
        broken = body.lstrip()[:1] in {b"{", b"["}  # it would be JSON
        if status not in _OK:
            return b"" if broken else body.decode("utf-8", "replace").encode(), None
        if broken:
            raise BadResponse(f"the response cannot be read: {error}") from None
    return body, None  # the caller reports it
