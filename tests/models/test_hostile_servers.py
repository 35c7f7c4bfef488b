"""Servers that send requests elsewhere, never end, unpack to gigabytes, echo keys, or answer
what nobody can read.
"""

from __future__ import annotations

import gzip
import json
import time

import pytest

from rpms.foreign.limits import MOST_PIECES, MOST_RECEIVED
from rpms.logic.errors import InputError, ModelError, ModelUnavailable
from rpms.models import wire
from rpms.models.catalogue import ModelOptions, open_model
from rpms.models.patience import Patience
from rpms.models.secrets import FORBID_VARIABLE, safe_excerpt, without_secrets
from rpms.models.windows import context_window
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.run import run
from rpms.store.answers import FolderOfAnswers
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world
from tests.models.prompts import request
from tests.models.raw_server import raw, response
from tests.models.server import Reply, anthropic_ok, openai_ok

KEY = "planted-key-51f0aa7be3"
PROTOCOLS = {
    "openai/gpt-x": ("OPENAI_API_KEY", "/v1", openai_ok),
    "anthropic/claude-x": ("ANTHROPIC_API_KEY", "", anthropic_ok),
}
OK = response(json.dumps(openai_ok().body).encode())


def connect(name, url, monkeypatch, **patience):
    if name.startswith("anthropic"):
        pytest.importorskip("anthropic", reason="the extra `anthropic` is not installed")
    variable, path, _ = PROTOCOLS[name]
    monkeypatch.setenv(variable, KEY)
    limits = {"tries": 2, "first_wait": 0.001, "timeout": 5.0, "whole": 20.0} | patience
    return open_model(name, ModelOptions(base_url=url + path, patience=Patience(**limits)))


# --- 1: where a request goes ---


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("name", PROTOCOLS)
def test_no_redirect_is_followed(name, status, server, monkeypatch):
    elsewhere = server.url.replace("127.0.0.1", "localhost")
    server.play(Reply(status, {}, {"Location": f"{elsewhere}/elsewhere"}))
    model = connect(name, server.url, monkeypatch)
    with pytest.raises(
        ModelUnavailable, match=r"another address \(30\d\), which is not followed.*--base-url"
    ):
        model.answer(request())
    model.close()
    assert len(server.seen) == 1


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_proxy_is_not_asked_for_this_machine(name, server, monkeypatch):
    with raw(lambda _: [OK]) as proxy:
        for variable in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(variable, proxy.url)
            monkeypatch.setenv(variable.lower(), proxy.url)
        server.play(PROTOCOLS[name][2]())
        model = connect(name, server.url, monkeypatch)
        model.answer(request())
        model.close()
        assert proxy.requests == []


def test_a_proxy_is_asked_for_another_machine_and_not_with_the_switch(monkeypatch):
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with raw(lambda _: [OK]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        model = connect("openai/gpt-x", "http://api.example.invalid", monkeypatch)
        with pytest.raises(ModelUnavailable, match=FORBID_VARIABLE):
            model.answer(request())
        assert proxy.requests == []
        monkeypatch.delenv(FORBID_VARIABLE)
        assert model.answer(request()).text.endswith("look")
        model.close()
        assert proxy.requests[0].startswith(b"POST http://api.example.invalid/v1/chat/completions")


def test_with_the_switch_a_name_that_leads_elsewhere_is_not_sent_to(monkeypatch):
    """The check is of the address that was reached: names can resolve to anything."""
    with raw(lambda _: [OK]) as server:
        monkeypatch.setattr(wire, "is_local", lambda _address: False)
        model = connect("openai/gpt-x", server.url, monkeypatch)
        with pytest.raises(ModelUnavailable, match="another machine"):
            model.answer(request())
        model.close()
        assert server.requests in ([], [b""])


def test_a_proxy_that_cannot_be_used_is_one_line(monkeypatch):
    monkeypatch.setenv("http_proxy", "gopher://x:y")
    monkeypatch.setenv("no_proxy", "")
    with pytest.raises(InputError, match="proxy"):
        connect("openai/gpt-x", "http://api.example.invalid", monkeypatch)


def test_a_netrc_file_is_not_read(server, monkeypatch, tmp_path):
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password hunter-2-hunter\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    server.play(openai_ok())
    model = connect("openai/gpt-x", server.url, monkeypatch)
    model.answer(request())
    model.close()
    assert server.seen[0].headers["authorization"] == f"Bearer {KEY}"


# --- 2: keys ---

DISGUISES = {
    "plain": KEY,
    "zero width": "\u200b".join(KEY),
    "joiners": "\u2060\ufeff".join(KEY),
    "control": KEY[:8] + "\x00\x1b\x7f" + KEY[8:],
    "a line break": KEY[:10] + "\n" + KEY[10:],
    "fillers": KEY[:5] + "\u3164\ufe0f" + KEY[5:],
    "wide letters": "".join(chr(ord(char) + 0xFEE0) for char in KEY),
}


@pytest.mark.parametrize("disguise", DISGUISES)
@pytest.mark.parametrize("name", PROTOCOLS)
def test_an_echoed_key_is_kept_nowhere_however_it_is_written(
    name, disguise, server, tmp_path, monkeypatch
):
    written = DISGUISES[disguise]
    reply = PROTOCOLS[name][2](f"Thought: it is {written}, I think\nAction: look")
    body = json.loads(json.dumps(reply.body))
    for holder in (body, *body.get("choices", [])):
        for field in ("finish_reason", "stop_reason", "model", "id", "system_fingerprint"):
            holder[field] = written
    server.play(Reply(body=body, headers={"X-Echo": KEY}))
    store = FolderOfAnswers(tmp_path)
    if name.startswith("anthropic"):
        pytest.importorskip("anthropic", reason="the extra `anthropic` is not installed")
    variable, path, _ = PROTOCOLS[name]
    monkeypatch.setenv(variable, KEY)
    model = open_model(name, ModelOptions(base_url=server.url + path), record=store)
    answer = model.answer(request())
    model.close()
    assert answer.text == "Thought: it is [key], I think\nAction: look"
    assert answer.finish == "[key]"
    assert "a key was removed from the answer" in answer.notes
    kept = "".join(file.read_text() for file in tmp_path.rglob("*.json"))
    assert KEY not in kept
    assert written not in json.loads(json.dumps(kept))


@pytest.mark.parametrize("write", [str.upper, str.swapcase, str.title])
def test_a_key_in_other_letters_is_removed_too(write, monkeypatch):
    key = "Planted-key-8c1d22e7f0a4"
    monkeypatch.setenv("SOME_API_KEY", key)
    for told in (
        safe_excerpt(f"bad key {write(key)}!"),
        without_secrets(f"bad key {write(key)}!", ()),
    ):
        assert key.lower() not in told.lower()
    assert "ABCDEF" not in safe_excerpt("no such key: SK-ABCDEFGH123456")


def test_other_text_stays_as_it_is(monkeypatch):
    monkeypatch.setenv("SOME_TOKEN", "desk12")
    text = "go to desk 1\tthen\u200b 12 \u2014 ünïcode\x07 ｄｅｓｋ and desk 12\n"
    assert without_secrets(text, ("EMPTY", "x", KEY)) == text
    assert without_secrets("the EMPTY box", ("EMPTY",)) == "the EMPTY box", "too short to be a key"


def test_an_error_does_not_show_a_disguised_key():
    assert safe_excerpt("bad key " + "\u200b".join(KEY), (KEY,)) == "bad key [key]"


# --- 3 and 4: one response ---


def forever(piece: bytes, head: bytes = b""):
    def say(_request):
        yield head
        while True:
            yield piece

    return say


def drip(server_box, first: bytes, piece: bytes):
    def say(_request):
        yield first
        while True:
            yield piece
            server_box[0].pause(0.05)

    return say


CHUNKED = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
BLOCK = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
BOMB = gzip.compress(b"0" * 60_000_000)

ENDLESS = {
    "an endless body": forever(BLOCK, CHUNKED),
    "an endless head": forever(b"x-filler: " + b"y" * 500 + b"\r\n", b"HTTP/1.1 200 OK\r\n"),
    "informational answers without end": forever(
        b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" * 50
    ),
    "a bomb": lambda _request: [response(BOMB, content_encoding="gzip")],
    "packed otherwise": lambda _request: [response(b"\x00\x01", content_encoding="br")],
    "not packed at all": lambda _request: [response(b"{}", content_encoding="gzip")],
}
UNREADABLE = {
    "not UTF-8": response(b'{"choices": [{"message": {"content": "\xff\xfe"}}]}'),
    "nested": response(b"[" * 200_000 + b"]" * 200_000),
    "nested a little too deeply": response(b'{"choices":' + b"[" * 900 + b"]" * 900 + b"}"),
    "digits": response(
        b'{"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": '
        + b"9" * 5000
        + b"}}"
    ),
    "a long number": response(
        b'{"choices": [{"message": {"content": "x"}}], "created": 1' + b"0" * 300 + b"}"
    ),
    "NaN": response(b'{"choices": [{"message": {"content": "x"}}], "created": NaN}'),
    "cut off": response(b'{"choices": [{"message": {"cont'),
}


@pytest.mark.parametrize("what", [*ENDLESS, *UNREADABLE])
def test_one_bad_response_is_a_failed_try_and_then_the_end_of_one_episode(what, monkeypatch):
    say = ENDLESS.get(what) or (lambda _request: [UNREADABLE[what]])
    with raw(say) as server:
        model = connect("openai/gpt-x", server.url, monkeypatch)
        with pytest.raises(ModelError, match="2 tries") as caught:
            model.answer(request())
        model.close()
        assert not isinstance(caught.value, ModelUnavailable)
        assert len(server.requests) == 2


def in_chunks(body: bytes, blanks: int) -> bytes:
    """A response that comes in chunks of one byte, after so many blanks."""
    return CHUNKED + b"1\r\n \r\n" * blanks + b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)


def test_a_response_in_tiny_pieces_is_bounded_in_work_and_not_only_in_bytes(monkeypatch):
    body = json.dumps(openai_ok().body).encode()
    whole = in_chunks(body, MOST_PIECES + 1)
    assert len(whole) < MOST_RECEIVED
    answers = iter([whole, in_chunks(body, 2_000)])
    with raw(lambda _request: [next(answers)]) as server:
        model = connect("openai/gpt-x", server.url, monkeypatch)
        assert model.answer(request()).usage.requests == 2
        model.close()
    with raw(lambda _request: [whole]) as server:
        model = connect("openai/gpt-x", server.url, monkeypatch)
        with pytest.raises(ModelError, match=f"more than {MOST_PIECES:,} pieces"):
            model.answer(request())
        model.close()


def test_a_good_answer_after_a_bad_one_is_taken(monkeypatch):
    answers = iter([UNREADABLE["nested"], OK])
    with raw(lambda _request: [next(answers)]) as server:
        model = connect("openai/gpt-x", server.url, monkeypatch)
        assert model.answer(request()).usage.requests == 2
        model.close()


@pytest.mark.parametrize(
    ("first", "piece"),
    [
        (CHUNKED, b"1\r\n \r\n"),
        (b"HTTP/1.1 200 OK\r\n", b"x-drip: 1\r\n"),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
    ids=["body", "head", "informational"],
)
def test_a_drip_ends_when_the_whole_response_may_take_no_longer(first, piece, monkeypatch):
    box = []
    with raw(drip(box, first, piece)) as server:
        box.append(server)
        model = connect("openai/gpt-x", server.url, monkeypatch, whole=0.4)
        with pytest.raises(ModelError, match=r"did not end in time|no answer in time"):
            model.answer(request())
        model.close()


@pytest.mark.parametrize(
    "value",
    [
        "1e400",
        "nan",
        "-inf",
        "9" * 400,
        "Fri, 31 Dec 99999 23:59:59 GMT",
        "Mon, 01 Jan 0001 00:00:00 +2359",
        "\u0663",
    ],
)
def test_a_wait_beyond_any_calendar_is_not_believed(value, monkeypatch):
    busy = response(
        b"{}", "429 Too Many Requests", retry_after=value.encode("ascii", "replace").decode()
    )
    answers = iter([busy, OK])
    with raw(lambda _request: [next(answers)]) as server:
        model = connect("openai/gpt-x", server.url, monkeypatch)
        assert model.answer(request()).text
        model.close()


@pytest.mark.parametrize("charset", ["zlib", "idna", "utf-7", "rot13", "nonsense", "undefined"])
@pytest.mark.parametrize("status", ["200 OK", "400 Bad Request", "500 Oops"])
def test_no_codec_that_a_server_names_is_used(charset, status, monkeypatch):
    body = json.dumps({**openai_ok().body, "error": {"message": "why"}}).encode()
    with raw(
        lambda _request: [
            response(body, status, content_type=f"application/json; charset={charset}")
        ]
    ) as server:
        model = connect("openai/gpt-x", server.url, monkeypatch)
        if status.startswith("200"):
            assert model.answer(request()).text.endswith("look")
        else:
            with pytest.raises(ModelError, match="why"):
                model.answer(request())
        model.close()


def test_a_run_goes_on_after_an_episode_that_met_a_bad_response(monkeypatch, tmp_path):
    world = find_world("alfworld")
    tasks = world.tasks("builtin", Setting())[:3]
    bad = world.open(tasks[1], Setting()).reset().observation
    goal = bad.strip().splitlines()[-1].encode()

    def say(sent):
        yield UNREADABLE["digits"] if goal in sent else OK

    with raw(say) as server:
        model = connect("openai/gpt-x", server.url, monkeypatch)
        design = design_run(
            world, model.name, lend(model), tasks=tasks, step_budget=3, memory=EpisodicMemory()
        )
        summary = run(design, tmp_path / "run", 2)
        model.close()
    assert summary.done == 3
    assert summary.endings["model error"] >= 1
    assert summary.endings["out of steps"] >= 1
    assert all("cannot be read" in row.error for row in summary.rows if row.error)


@pytest.mark.parametrize(
    "say",
    [
        lambda _: [response(b'{"data": [{"id": "m", "max_model_len": 4096}]}')],
        lambda _: [response(b"{}", "307 Elsewhere", location="http://localhost:9/models")],
        lambda _: [response(b'{"data": [{"id": "m", "max_model_len": 1e999}]}')],
        lambda _: [response(b'{"data": [{"id": "m", "max_model_len": true}]}')],
        lambda _: [response(b'{"data": ' + b"[" * 100_000)],
        lambda _: [b"nonsense\r\n\r\n"],
        lambda _: [b"HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{"],
        lambda _: forever(BLOCK, CHUNKED)(b""),
        lambda _: [],
    ],
    ids=[
        "good",
        "redirect",
        "infinite",
        "true",
        "deep",
        "no HTTP",
        "cut off",
        "endless",
        "nothing",
    ],
)
def test_a_server_that_is_asked_for_its_window_cannot_hurt_either(say, monkeypatch):
    with raw(say) as server, raw(lambda _: [OK]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        window = context_window("vllm/m", base_url=f"{server.url}/v1")
        assert proxy.requests == []
        assert all(sent.startswith(b"GET /v1/models") for sent in server.requests)
    assert (window.tokens, window.source) in ((4_096, "asked"), (8_192, "assumed"))


def test_what_is_read_is_bounded_in_memory(monkeypatch):
    """The server cannot make us take more than the limit, give or take what is on the way."""
    taken = []

    def say(_request):
        yield CHUNKED
        while True:
            taken.append(len(BLOCK))
            yield BLOCK

    with raw(say) as server:
        model = connect("openai/gpt-x", server.url, monkeypatch, tries=1)
        with pytest.raises(ModelError, match="its body does not end"):
            model.answer(request())
        model.close()
        time.sleep(0.05)
    assert sum(taken) < 3 * MOST_RECEIVED + 20_000_000
