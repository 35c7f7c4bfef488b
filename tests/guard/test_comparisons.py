"""What a manual can compare, and that nothing passes by being written in another way."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpms.guard import Call, Guard, find_tool_mistakes, read_tool_manual
from rpms.guard.comparisons import COMPARISONS, pattern_mistake
from rpms.guard.tool_manuals import find_likely_mistakes
from rpms.logic.errors import FileError


@pytest.mark.parametrize(
    ("compare", "value", "other", "held"),
    [
        ("is", "prod", "prod", True),
        ("is", "test", "prod", False),
        *(
            ("is", odd, "prod", None)
            for odd in ("Prod", "prod ", "pr\u200bod", "ｐｒｏｄ", "prod\u00ad")
        ),
        ("is", "/etc//passwd", "/etc/passwd", None),
        ("is", "/etc/./x/../passwd", "/etc/passwd", None),
        ("is", 5, "5", True),
        ("is", 5.0, 5, True),
        *(("is", odd, 100, None) for odd in ("100.0", "1e2", "0100", " 100")),
        ("in", "b", ["a", "b"], True),
        ("in", "B", ["a", "b"], None),
        ("in", "c", ["a", "b"], False),
        ("has", ["a", "b"], "b", True),
        ("has", "a note on b", "b", True),
        ("has", {"a": 1}, "b", False),
        ("starts", "DROP TABLE", "drop", None),
        ("ends", "a.py", ".py", True),
        ("contains", "rm -rf /", "rm -rf", True),
        ("contains", "rm  -RF /", "rm -rf", None),
        ("contains", "ls", "rm -rf", False),
        ("matches", "W12", r"W\d+", True),
        ("matches", "w12", r"W\d+", None),
        ("matches", "W12 ", r"W\d+", None),
        ("matches", "V12", r"W\d+", False),
        ("matches", "x" * 501, "x*", None),
        ("contains", "rm  -rf /" + " " * 2_000, "rm -rf", None),
        ("contains", "x" * 2_000, "rm -rf", False),
        ("starts", "\tsudo x" + "y" * 2_000, "sudo", None),
        ("is", " " * 2_000 + "prod", "prod", None),
        ("is", "/etc" + "/" * 2_000 + "passwd", "/etc/passwd", None),
        ("in", ["prod"], ["prod", "live"], None),
        *(("above", odd, 100, None) for odd in ("nan", "inf", "0" * 40 + "101")),
        ("inside", "/srv/a//./b", "/srv", True),
        ("inside", "/etc/passwd", "/srv", False),
        ("inside", "/srvx", "/srv", False),
        ("inside", "a/b", "/srv", None),
        ("inside", "/home/me/private/s.txt", "private", None),
        ("inside", "Private/s.txt", "private", None),
        *(
            ("inside", odd, folder, None)
            for odd in (
                "private/x\\..\\..\\project\\a.sh",
                "project/current/../../private/s.txt",
                "../project/a.sh",
                "~/project/a.sh",
                "project/a\0b",
            )
            for folder in ("project", "private")
        ),
        ("inside", r"C:\shop\A.txt", r"c:\Shop", True),
        ("inside", "C:/shop/a.txt", r"C:\shop", True),
        ("inside", r"C:\shop\..\a.txt", r"C:\shop", None),
        ("inside", r"D:\shop\a.txt", r"C:\shop", False),
        ("is", "/srv/link/../x", "/etc/passwd", None),
        ("is", True, True, True),
        ("is", False, True, False),
        ("is", "true", True, True),
        *(("is", odd, True, None) for odd in ("yes", "on", "True", "1", 1, "x", ["x"], "false")),
        *(("is", odd, True, False) for odd in (None, 0, "")),
        *(("is", odd, False, None) for odd in (None, 0, "", "no", "off", "0", "False", [])),
        *(("is", odd, False, False) for odd in (1, "yes", "no such order", ["x"])),
        ("is", True, 1, None),
        ("in", "yes", [True, "never"], None),
        ("has", ["yes"], True, None),
        ("is", "٣", 3, None),
    ],
)
def test_a_comparison_has_three_values(compare, value, other, held):
    assert COMPARISONS[compare](value, other) is held


def test_links_are_followed_by_under_alone(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "away").symlink_to(Path("/etc"))
    path, folder = str(tmp_path / "in" / "away" / "passwd"), str(tmp_path / "in")
    assert COMPARISONS["inside"](path, folder) is True
    assert COMPARISONS["under"](path, folder) is False


def test_under_finds_the_file_that_the_system_would_open(tmp_path, monkeypatch):
    (tmp_path / "project" / "deep" / "er").mkdir(parents=True)
    (tmp_path / "private").mkdir()
    (tmp_path / "project" / "current").symlink_to(tmp_path / "project" / "deep" / "er")
    (tmp_path / "private" / "x").mkdir()
    monkeypatch.chdir(tmp_path)
    under = COMPARISONS["under"]
    written = "private/x\\..\\..\\project\\a.sh"
    Path(written).write_text("x")  # one name here, whatever its backslashes seem to say
    assert (tmp_path / "private" / written.removeprefix("private/")).exists()
    assert under(written, "project") is False
    assert under(written, "private") is True
    assert under("project/current/../../a", "project") is True  # in `deep`, then in `project`
    assert under("project/current/../../../private/s", "private") is True
    assert under("project", "project") is True
    assert under("projects", "project") is False
    assert under("~/x", "project") is None
    assert under(f"{tmp_path}/project/new/file", f"{tmp_path}/project") is True


def test_a_path_that_leads_nobody_knows_where_is_no_known_file():
    guard = files()
    guard.observe(Call("read_file", {"path": "/a/b.txt"}), "text")
    assert guard.check(Call("write_file", {"path": "/a/b.txt"})).goes_on
    for odd in ("/a/link/../b.txt", "/a\\b.txt", "~/b.txt"):
        refused = guard.check(Call("write_file", {"path": odd}))
        assert "write the path in full" in refused.remedy


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+b",
        "(a|a)*b",
        ".*.*.*x",
        "a?" * 30 + "a" * 30,
        "(",
        r"(\w+)\1",
        "(?=a)",
        "x" + "y*" * 4,
    ],
)
def test_a_pattern_that_could_run_for_long_is_a_mistake(pattern):
    assert pattern_mistake(pattern)


@given(st.text("ab.*+?|()[]{},0123 \\dw", max_size=12), st.text("ab \n", max_size=500))
def test_no_pattern_that_is_taken_runs_for_long(pattern, text):
    if not pattern_mistake(pattern):
        assert COMPARISONS["matches"](text, pattern) in (True, False, None)


FILES = """
facts:
  exists: {args: [path], as: path}
  was_read: {args: [path], initially: false, as: path, yes: <path> was read, no: <path> was not read}
  missing: {args: [text], path: <text>, contains: ENOENT}
tools:
  read_file:
    args: [path]
    reads: true
    effects: [was_read(path), exists(path)]
    on_failure: [not exists(path) if missing(result)]
  write_file: {args: [path], effects: [was_read(path), exists(path)]}
policies:
  P-READ-1:
    text: A file that exists is read before it is written.
    tools: write_file
    requires: was_read(path) or not exists(path)
"""


def files() -> Guard:
    return Guard(read_tool_manual(("files.yaml", FILES)))


def test_a_new_file_is_fine_and_an_existing_one_must_have_been_read():
    guard = files()
    write, read = Call("write_file", {"path": "/a//b.txt"}), Call("read_file", {"path": "/a/b.txt"})
    assert guard.check(write).remedy == "read_file first"
    guard.observe(read, "Error: ENOENT: no such file", failed=True)
    assert guard.check(write).goes_on
    guard.observe(write, "written")
    other = Call("write_file", {"path": "/a/c.txt"})
    guard.observe(Call("read_file", {"path": "/a/./c.txt"}), "text")
    assert guard.check(other).goes_on


ONCE = """
facts:
  paid: {args: [bill], initially: false, yes: <bill> was paid}
  never_set: {initially: false}
tools:
  pay: {args: [bill], needs: [not paid(bill)], effects: [paid(bill)]}
policies:
  P-X-1: {text: Never., tools: pay, when: never_set}
"""


@pytest.mark.parametrize("again", ["B1 ", "b1", "B\u200b1", "Ｂ1"])
def test_what_was_done_once_is_not_done_again_under_another_spelling(again):
    guard = Guard(read_tool_manual(("once.yaml", ONCE)))
    pay = Call("pay", {"bill": "B1"}, "c1")
    assert guard.check(pay).goes_on
    guard.observe(pay, "paid")
    refused = guard.check(Call("pay", {"bill": again}))
    assert refused.rule == "E-PAY"
    assert "as it was written before" in refused.remedy
    assert guard.check(Call("pay", {"bill": "B2"})).goes_on


@pytest.mark.parametrize(
    "tool", ["Pay", "pay ", "PAY", "server__pay", "mcp.pay", "pa\u200by", "p_a_y", "P-ay"]
)
def test_a_tool_by_another_name_is_not_let_through_unseen(tool):
    guard = Guard(read_tool_manual(("once.yaml", f"others: pass\n{ONCE}")))
    refused = guard.check(Call(tool, {"bill": "B1"}))
    assert (refused.word, refused.rule) == ("refuse", "G-OTHER")
    assert guard.check(Call("display", {})).goes_on


def test_a_tool_that_is_not_declared_is_refused_unless_the_manual_says_otherwise():
    closed = Guard(read_tool_manual(("once.yaml", ONCE)))
    refused = closed.check(Call("display", {}))
    assert (refused.word, refused.rule) == ("refuse", "G-OTHER")


def test_two_calls_with_one_id_are_not_both_made():
    guard = Guard(read_tool_manual(("once.yaml", ONCE)))
    pay = Call("pay", {"bill": "B1"}, "c1")
    assert guard.check(pay).goes_on
    assert "under way" in guard.check(pay).remedy
    guard.abandon(pay)
    assert "did not return" in guard.check(pay).remedy  # and its id does not help
    guard.tell('not paid("B1")')  # somebody found out
    assert guard.check(pay).goes_on


def test_a_result_about_something_else_tells_nothing():
    manual = """
records:
  order: {from: get_order, key: result.id, asked: arguments.order_id}
facts:
  open: {args: [order], of: order, path: status, is: open}
tools: {get_order: [order_id], cancel: [order_id]}
policies: {P-X-1: {text: Only open ones., tools: cancel, requires: open(order_id)}}
"""
    guard = Guard(read_tool_manual(("m.yaml", manual)))
    guard.observe(Call("get_order", {"order_id": "W2"}), {"id": "W1", "status": "open"})
    assert not guard.check(Call("cancel", {"order_id": "W1"})).goes_on
    guard.observe(Call("get_order", {"order_id": "W1"}), {"id": "W1", "status": "open"})
    assert guard.check(Call("cancel", {"order_id": "W1"})).goes_on
    guard.observe(
        Call("get_order", {"order_id": "W1"}), '{"id": "W1", "status": "open", "status": "closed"}'
    )
    guard.observe(
        Call("get_order", {"order_id": "W3"}), '{"id": "W3", "status": "closed", "status": "open"}'
    )
    assert not guard.check(
        Call("cancel", {"order_id": "W3"})
    ).goes_on  # the same name twice: readers differ


@pytest.mark.parametrize(
    ("fails", "result", "failed"),
    [
        ("", "Error: no", True),
        ("", "error, no", True),
        ("", "Failed: no", True),
        ("", '{"error": "no"}', True),
        ("", '{"error": null, "id": 1}', False),
        ("", "done, no error", False),
        ("fails: [Oops, {path: ok, is: false}]", '{"ok": false}', True),
        ("fails: [Oops, {path: ok, is: false}]", '{"ok": true, "error": "x"}', False),
        ("fails: [Oops, {path: ok, is: false}]", "oops", True),
    ],
)
def test_failures_are_told_by_texts_and_by_json(fails, result, failed):
    guard = Guard(read_tool_manual(("once.yaml", fails + ONCE)))
    pay = Call("pay", {"bill": "B1"})
    guard.observe(pay, result)
    assert guard.check(pay).goes_on is failed


def test_a_given_argument_is_named_and_not_told():
    manual = (
        "tools: {log: [head]}\npolicies: {P-X-1: {text: No heads., tools: log, when: given(head)}}"
    )
    assert (
        Guard(read_tool_manual(("m.yaml", manual))).check(Call("log", {"head": 1000})).fact
        == "head is given"
    )


def test_facts_that_nothing_sets_are_noted():
    said = [each.problem for each in find_likely_mistakes(("once.yaml", ONCE))]
    assert any("nothing sets never_set" in each for each in said)
    twice = """
facts: {a: {args: [x], path: <x>, is: 1}, b: {args: [x], path: <x>, is: 2}}
tools: {t: [x], u: [x]}
policies:
  P-A-1: {text: A., tools: [t, u], requires: [a(x), b(x)]}
  P-A-2: {text: A again., tools: t, requires: a(x)}
  P-A-3: {text: Never., tools: t, when: [a(x), not a(x)]}
  P-A-4: {text: Always., tools: t, requires: a(x) or not a(x)}
  P-A-5: {text: Other., tools: t, when: b(x), requires: not a(x)}
"""
    said = [each.problem for each in find_likely_mistakes(("twice.yaml", twice))]
    assert [each.split(" ")[0] for each in said] == ["P-A-2", "P-A-3", "P-A-4"]
    assert find_tool_mistakes(("m.yaml", "facts: {a: {args: [x], path: <x>, matches: '(a+)+'}}"))
    with pytest.raises(FileError):
        read_tool_manual(("m.yaml", "facts: {a: {args: [x], path: <x>, matches: '(a+)+'}}"))
