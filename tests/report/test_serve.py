"""A report over HTTP: its files, to this machine, and nothing else."""

from __future__ import annotations

import http.client
import threading

import pytest

from rpms.cli.serving import make_server
from rpms.logic.errors import InputError
from rpms.models.secrets import is_local
from tests.cli.command import Rpms, rpms

__all__ = ["rpms"]


@pytest.fixture
def served(tmp_path):
    folder = tmp_path / "report"
    (folder / "data").mkdir(parents=True)
    (folder / "index.html").write_text("<h1>numbers</h1>")
    (folder / "data/tasks.js").write_text("1")
    (tmp_path / "secret.txt").write_text("a key")
    (folder / "out").symlink_to(tmp_path / "secret.txt")
    with make_server(folder, "127.0.0.1", 0) as server:
        thread = threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def ask(port: int, path: str, host: str = "", method: str = "GET") -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, headers={"Host": host} if host else {})
    answer = connection.getresponse()
    body = answer.read().decode()
    connection.close()
    return answer.status, body


def test_pages_and_their_data_are_served(served):
    assert ask(served, "/") == (200, "<h1>numbers</h1>")
    assert ask(served, "/data/tasks.js") == (200, "1")


@pytest.mark.parametrize(
    "path", ["/../secret.txt", "/%2e%2e/secret.txt", "//etc/passwd", "/out", "/data/", "/none"]
)
def test_nothing_else_is(served, path):
    assert ask(served, path)[0] in (403, 404)


def test_a_page_of_another_site_cannot_ask_in_the_readers_name(served):
    assert ask(served, "/", host="evil.example")[0] == 403
    assert ask(served, "/", host=f"localhost:{served}")[0] == 200
    assert ask(served, "/", method="POST")[0] == 501


def test_what_cannot_be_served_is_one_line(rpms: Rpms, served, tmp_path):
    assert "there is no report here" in rpms("view", tmp_path / "report/data", "--port", 0).line
    taken = rpms("view", tmp_path / "report", "--port", served).line
    assert taken.startswith(f"cannot listen at 127.0.0.1:{served}")
    with pytest.raises(InputError, match="cannot listen"):
        make_server(tmp_path / "report", "127.0.0.1", 70_000)


def test_only_loopback_is_local():
    assert [
        is_local(host)
        for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "192.0.2.1", "example.org")
    ] == [
        True,
        True,
        True,
        False,
        False,
        False,
    ]
