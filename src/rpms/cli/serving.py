"""Pages over HTTP, to this machine: a report's files, and the live page of runs that go on."""

from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rpms.cli.screen import complain, flush, say
from rpms.foreign.file_reader import is_there
from rpms.logic.errors import InputError
from rpms.models.secrets import is_local
from rpms.report.live import Watcher, live_file, live_page, live_part

_HERE = ("localhost", "127.0.0.1", "[::1]")
_FILES = {"/style.css": "text/css", "/live.css": "text/css", "/live.js": "text/javascript"}
_POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'"
"""Files that a browser may load for the live page: its two style sheets and its program."""


class _ToThisMachine(BaseHTTPRequestHandler):
    """Refuses what a page of another site asks in the reader's name, and logs nothing."""

    local: bool
    """True if only this machine may ask."""

    def is_refused(self) -> bool:
        """Answer a request that names another host, as a page of another site would."""
        named = self.headers.get("Host", "")
        host = named.rpartition(":")[0] or named
        if not self.local or host in _HERE:
            return False
        self.send_error(403, "This page is served to this machine alone")
        return True

    def end_headers(self) -> None:
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  as the base has it
        """Logs nothing."""


class _ReportHandler(_ToThisMachine, SimpleHTTPRequestHandler):
    """Serves the files of one folder only: it lists no folder, and follows no link out of it."""

    def send_head(self) -> Any:
        if self.is_refused():
            return None
        folder = Path(self.directory).resolve()
        file = Path(self.translate_path(self.path)).resolve()
        if file != folder and folder not in file.parents:
            self.send_error(404)
            return None
        return super().send_head()

    def list_directory(self, path: Any) -> None:
        del path
        self.send_error(404)


class _LiveHandler(_ToThisMachine):
    """Gives out the live page and its three files. A path is a name from a list, never a file's."""

    watcher: Watcher

    def do_GET(self) -> None:
        if self.is_refused():
            return
        path = urlsplit(self.path).path
        if path == "/":
            self._send_html(live_page(self.watcher.folder, self.watcher.runs()))
        elif path == "/now":
            self._send_html(live_part(self.watcher.runs()))
        elif path in _FILES:
            self._send(live_file(path.removeprefix("/")), _FILES[path])
        else:
            self.send_error(404)

    def _send_html(self, text: str) -> None:
        self._send(text.encode("utf-8", "replace"), "text/html")  # names may have half letters

    def _send(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", _POLICY)
        self.end_headers()
        self.wfile.write(body)


def make_server(folder: Path, host: str, port: int) -> ThreadingHTTPServer:
    """A server of a report's pages, which listens already; `serve_forever` answers.

    Port 0 takes any that is free.
    """
    if not is_there(folder / "index.html"):
        raise InputError(f"{folder}: there is no report here; `rpms report` writes one")
    handler = type("Handler", (_ReportHandler,), {"local": is_local(host)})
    return _listening(host, port, partial(handler, directory=str(folder.resolve())))


def make_live_server(folder: Path, host: str, port: int) -> ThreadingHTTPServer:
    """A server of the live page of the runs in a folder; otherwise like `make_server`."""
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; name the one after --out of the run")
    fields = {"local": is_local(host), "watcher": Watcher(folder)}
    return _listening(host, port, type("Handler", (_LiveHandler,), fields))


def _listening(host: str, port: int, handler: Any) -> ThreadingHTTPServer:
    try:
        server = ThreadingHTTPServer((host, port), handler)
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"cannot listen at {host}:{port}: {why}; choose another --port") from None
    server.daemon_threads = True
    return server


def serve(server: ThreadingHTTPServer, what: str, host: str) -> None:
    """Say where a page is, and serve it until Ctrl-C."""
    with server:
        if not is_local(host):
            complain(f"note: whoever reaches {host} can read this report")
        name = f"[{host}]" if ":" in host else host
        say(f"{what} is at http://{name}:{server.server_port}/ until Ctrl-C")
        flush()
        with suppress(KeyboardInterrupt):  # as it was told, the way to end it
            server.serve_forever(poll_interval=0.1)
