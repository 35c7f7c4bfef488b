"""A report over HTTP, for a machine that one reaches over SSH: `ssh -L 8000:localhost:8000 host`."""

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from rpms.core.errors import InputError
from rpms.foreign.file_reader import is_there
from rpms.models.secrets import is_local

_LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")


class _Handler(SimpleHTTPRequestHandler):
    """Gives out the files of one folder, and nothing else: no listings, nothing that a link leads out to."""

    local: bool
    """True if only this machine may ask; then a page of another site must not ask in its name."""

    def send_head(self) -> Any:
        host = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
        if self.local and host not in _LOCAL_NAMES:
            self.send_error(403, "This report is served to this machine alone")
            return None
        folder, file = Path(self.directory).resolve(), Path(self.translate_path(self.path)).resolve()
        if file != folder and folder not in file.parents:
            self.send_error(404)
            return None
        return super().send_head()

    def list_directory(self, path: Any) -> None:
        del path
        self.send_error(404)

    def end_headers(self) -> None:
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-cache")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  as the base has it
        """Logs nothing."""


def make_server(folder: Path, host: str, port: int) -> ThreadingHTTPServer:
    """A server of a report's pages, which listens already; `serve_forever` answers. Port 0 takes any that is free."""
    if not is_there(folder / "index.html"):
        raise InputError(f"{folder}: there is no report here; `rpms report` writes one")
    handler = type("Handler", (_Handler,), {"local": is_local(host)})
    try:
        return ThreadingHTTPServer((host, port), partial(handler, directory=str(folder.resolve())))
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"cannot listen at {host}:{port}: {why}; choose another --port") from None
