"""The episode file gives back what was played, to the letter, and notices damage."""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpms.foreign.limits import LARGEST_EPISODE
from rpms.logic.belief import StateSignature
from rpms.logic.errors import FileError
from rpms.logic.goal import GoalSignature
from rpms.models.base import Answer, Decoding, Request
from rpms.models.policy import FunctionModel, follow_plan
from rpms.paper.compose import compose
from rpms.paper.condition import FULL, named_condition
from rpms.paper.enforcement import STRICT, Enforcement, GuardMode
from rpms.paper.episode import Ending, Episode, Usage
from rpms.paper.memory import CriticalFailure, FailureLesson, Origin, SuccessSnippet, VerifiedSchema
from rpms.paper.prompt import Budget, Form, Layout
from rpms.paper.recall import EpisodicMemory
from rpms.paper.wording import memory_line
from rpms.play.seats import Play, play
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.store.episodes import (
    content_text,
    episode_text,
    file_name,
    packed,
    read_episode,
    read_row,
    row_of,
)
from rpms.store.files import write_whole
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world

WORLD = find_world("alfworld")
TASKS = WORLD.tasks("builtin", Setting())


def some_memory(type_: str) -> EpisodicMemory:
    dice = random.Random(7)
    entries = []
    for number in range(40):
        goal = GoalSignature(
            type_, dice.choice(["apple", "mug", "keychain"]), "", dice.choice(["shelf", "sofa"])
        )
        state = StateSignature.of(holding=dice.choice([(), ("apple 1",)]))
        origins = frozenset({Origin("earlier", number)})
        place = f"{dice.choice(['fridge', 'cabinet', 'shelf'])} {dice.randint(1, 3)}"
        entries += [
            SuccessSnippet(
                goal,
                state,
                "take",
                (f"go to {place}", f"open {place}"),
                origins=origins,
                id=f"s{number}",
            ),
            FailureLesson(
                goal, state, f"open {place}", "go there first", origins=origins, id=f"f{number}"
            ),
        ]
    entries.append(
        VerifiedSchema(
            "open <place>", "open", ("at place",), ("open",), frozenset({Origin("e", 1)}), "v"
        )
    )
    entries.append(
        CriticalFailure(
            goal, state, "eat the lamp", "do not", origins=frozenset({Origin("e", 2)}), id="c"
        )
    )
    return EpisodicMemory(entries, "alfworld")


def an_episode(
    condition=FULL, budget: Budget | None = None, answer=None, number: int = 5, most_steps: int = 12
) -> Episode:
    task = TASKS[number]
    knowledge = knowledge_of(WORLD)
    mind = compose(condition, knowledge, some_memory(task.type))
    if budget is not None:
        mind = replace(mind, style=replace(mind.style, budget=budget))
    dice = random.Random(number)

    def planner(request: Request) -> Answer:
        thought, action = follow_plan(request.decision)
        action = (
            action
            if dice.random() < 0.7
            else dice.choice(["take moon 1", "open the sky", "go to nowhere 1"])
        )
        text = answer(thought, action) if answer else f"Thought: {thought}\nAction: {action}"
        return Answer(text, Usage(100 + len(text), 50, 10, 1, dice.random(), 3))

    game = WORLD.open(task, Setting())
    return play(
        Play(Player(WORLD, mind, FunctionModel(planner), Decoding()), game, task, most_steps)
    )


def stored(folder: Path, episode: Episode):
    file = folder / file_name(episode.task)
    write_whole(file, packed(episode_text(episode)))
    return read_episode(file)


LONG = "word " * 300
VARIANTS = {
    "full": {},
    "paper layout": {"condition": replace(FULL, layout=Layout.PAPER)},
    "as the paper": {
        "condition": replace(FULL, layout=Layout.PAPER, form=Form.CHAT),
        "most_steps": 30,
    },
    "conversation, history cut": {
        "condition": replace(FULL, form=Form.CHAT),
        "budget": Budget(prompt=900),
        "most_steps": 30,
    },
    "conversation, strict": {
        "condition": replace(FULL, form=Form.CHAT, enforcement=STRICT),
        "most_steps": 30,
    },
    "baseline": {"condition": named_condition("baseline")},
    "memory-only": {"condition": named_condition("memory-only")},
    "memories cut": {"budget": Budget(memory=60)},
    "history cut": {"budget": Budget(prompt=900), "most_steps": 30},
    "history cut to the opening": {"budget": Budget(prompt=200)},
    "thoughts too long to repeat": {
        "answer": lambda _, action: f"Thought: {LONG}\nAction: {action}"
    },
    "long thoughts and little room": {
        "answer": lambda _, action: f"Thought: {LONG}\nAction: {action}",
        "budget": Budget(prompt=1200),
    },
    "advised": {
        "condition": replace(FULL, enforcement=Enforcement(guard=GuardMode.ADVISE)),
        "most_steps": 30,
    },
    "strict": {"condition": replace(FULL, enforcement=STRICT), "most_steps": 30},
    "replaced": {
        "condition": replace(
            FULL, enforcement=replace(STRICT, replace=True, unstick=True, reasks=1)
        )
    },
    "no action": {"answer": lambda thought, _: thought},
    "half characters": {
        "answer": lambda _, action: f"Thought: \ud83d \x00 \u2028 é\nAction: {action}\udc00"
    },
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_prompt_comes_back_to_the_letter(tmp_path, variant):
    episode = an_episode(**VARIANTS[variant])
    record = stored(tmp_path, episode)
    for step in episode.steps:
        kept, was = record.prompt(step.number), step.decision.prompt
        assert kept.text == was.text
        assert kept.messages() == was.messages()
        assert [(block.part, block.tokens) for block in kept.blocks] == [
            (block.part, block.tokens) for block in was.blocks
        ]
        assert kept.cut == was.cut


def test_variants_cut_what_their_names_say(tmp_path):
    """Otherwise the test above would prove less than it seems to."""
    cut = {
        str(part) for part, _ in an_episode(**VARIANTS["history cut"]).steps[-1].decision.prompt.cut
    }
    assert "history" in cut
    assert an_episode(**VARIANTS["memories cut"]).steps[0].decision.prompt.cut
    fates = {str(c.verdict.fate) for step in an_episode().steps for c in step.decision.candidates}
    assert len(fates) >= 3


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_step_comes_back(tmp_path, variant):
    episode = an_episode(**VARIANTS[variant])
    record = stored(tmp_path, episode)
    assert record.row == row_of(episode) == read_row(tmp_path / file_name(episode.task))
    assert (record.goal, record.task) == (episode.goal, episode.task)
    assert record.goal_signature == str(episode.steps[0].decision.goal_signature)
    assert record.rules["domain"] == tuple(
        rule.id for rule in episode.steps[0].decision.rules.domain
    )
    assert len(record.steps) == len(episode.steps)
    for kept, was in zip(record.steps, episode.steps, strict=True):
        for name in (
            "number",
            "observation",
            "answer",
            "thought",
            "action",
            "command",
            "repairs",
            "result",
            "score",
        ):
            assert getattr(kept, name) == getattr(was, name), name
        for name in ("infeasible", "objection", "contradictions"):
            assert getattr(kept, name) == getattr(was, name), name
        decision, belief = was.decision, was.decision.belief
        assert kept.progress == decision.progress
        assert kept.unlisted == decision.unlisted
        assert kept.belief.lines == belief.lines()
        assert kept.belief.signature == str(decision.state_signature)
        assert (kept.belief.location, kept.belief.holding) == (belief.location, belief.holding)
        assert dict(kept.belief.containers) == dict(belief.containers)
        assert dict(kept.belief.last_seen) == dict(belief.last_seen)
        assert [
            (c.entry, c.wording, c.score, c.rank, c.fate, c.reason, c.rule, c.fact)
            for c in kept.candidates
        ] == [
            (c.entry.id, memory_line(c), c.score, c.rank, v.fate, v.reason, v.rule, v.fact)
            for c in decision.candidates
            for v in [c.verdict]
        ]
        assert kept.usage == replace(was.usage, requests=0, seconds=0.0)


def test_what_goes_past_the_paper_is_kept_too(tmp_path):
    episode = an_episode(**VARIANTS["replaced"])
    record = stored(tmp_path, episode)
    assert [dict(step.extras) for step in record.steps] == [step.extras for step in episode.steps]
    assert any("menu" in step.extras for step in record.steps)
    assert record.row.reasks == episode.counts["reasks"] > 0
    assert record.row.replaced == sum("replaced" in step.extras for step in record.steps) > 0


def test_what_a_prompt_leaves_out_at_a_sub_goal_is_kept(tmp_path):
    episode = an_episode(**VARIANTS["strict"])
    kept = [step.left_out for step in stored(tmp_path, episode).steps]
    assert kept == [step.decision.left_out for step in episode.steps]
    assert len(kept) > len(set(kept)) > 1
    assert "left_out" not in episode_text(an_episode())


def test_timings_and_requests_leave_no_trace_in_the_file():
    episode = an_episode()
    later = replace(
        episode,
        usage=replace(episode.usage, seconds=99.0, requests=0),
        steps=tuple(
            replace(step, usage=replace(step.usage, seconds=9.0, requests=0))
            for step in episode.steps
        ),
    )
    assert episode_text(later) == episode_text(episode)


def test_an_episode_without_steps_comes_back(tmp_path):
    episode = Episode("t", "walk", "", Ending.WORLD_ERROR, 0.0, (), "the simulator died")
    record = stored(tmp_path, episode)
    assert record.row.failed
    assert record.row.error == "the simulator died"
    assert record.steps == ()


def test_repeated_texts_cost_next_to_nothing():
    """The file grows with the steps, not with their square, although every prompt is in it
    whole.
    """
    few, many = (an_episode(named_condition("baseline"), number=3, answer=lambda *_: "Action: go to moon 1",
                            most_steps=steps) for steps in (10, 40))  # fmt: skip
    assert len(packed(episode_text(many))) < 4 * len(packed(episode_text(few)))


def test_two_lines_of_python_read_an_episode(tmp_path):
    episode = an_episode()
    stored(tmp_path, episode)
    content = json.load(gzip.open(tmp_path / file_name(episode.task)))  # noqa: SIM115  as the docs have it
    assert [step["command"] for step in content["steps"]] == [
        step.command for step in episode.steps
    ]
    assert content["steps"][-1]["prompt"][0]["items"] == list(
        episode.steps[-1].decision.prompt.blocks[0].items
    )


@given(cut=st.integers(0, 10_000), flip=st.integers(0, 10_000))
def test_a_damaged_file_is_named(tmp_path_factory, cut, flip):
    data = packed(TEXT)
    for damaged in (data[: cut * len(data) // 10_001], _flipped(data, flip * len(data) // 10_001)):
        file = tmp_path_factory.getbasetemp() / "damaged.json.gz"
        file.write_bytes(damaged)
        if damaged[:4] == data[:4] and damaged[10:] == data[10:]:
            continue  # the time and system that gzip notes say nothing of the episode
        for read in (read_row, read_episode):
            with pytest.raises(FileError, match=r"damaged\.json\.gz") as error:
                read(file)
            assert "\n" not in str(error.value)


TEXT = episode_text(an_episode(most_steps=3))


def _flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 0x11]) + data[place + 1 :]


def test_a_file_of_another_version_says_so(tmp_path):
    (tmp_path / "x.json.gz").write_bytes(packed(content_text({**json.loads(TEXT), "version": 7})))
    for read in (read_row, read_episode):
        with pytest.raises(FileError, match="another version"):
            read(tmp_path / "x.json.gz")
    (tmp_path / "y.json.gz").write_bytes(packed(content_text({"version": 2, "steps": []})))
    for read in (read_row, read_episode):
        with pytest.raises(FileError, match="is not an episode: row: is missing"):
            read(tmp_path / "y.json.gz")


@pytest.mark.parametrize("messages", ["hello", [["user"]], [["user", 5]], [{"role": "user"}]])
def test_messages_of_another_form_are_refused(tmp_path, messages):
    content = json.loads(TEXT)
    content["steps"][0]["extras"] = {"messages": messages}
    (tmp_path / "x.json.gz").write_bytes(packed(content_text(content)))
    with pytest.raises(FileError, match="`messages` is not a list of pairs"):
        read_episode(tmp_path / "x.json.gz")


def test_a_file_that_unpacks_to_far_more_than_an_episode_is_refused(tmp_path):
    (tmp_path / "bomb.json.gz").write_bytes(gzip.compress(bytes(LARGEST_EPISODE + 1), 1))
    with pytest.raises(FileError, match="not a whole episode"):
        read_row(tmp_path / "bomb.json.gz")


@given(st.text(st.characters(codec=None), max_size=300))
def test_a_file_name_is_never_a_path(task):
    name = file_name(task)
    assert Path(name).name == name
    assert name.isascii()
    assert not name.startswith((".", "-"))
    assert len(name) < 128
    assert "/" not in name
    assert "\\" not in name


@given(st.lists(st.text(st.characters(codec=None)), unique=True, max_size=8))
def test_no_two_tasks_share_a_file_even_where_case_does_not_count(tasks):
    assert len({file_name(task).casefold() for task in tasks}) == len(tasks)
