"""Prompts of the usual form, for tests."""

from __future__ import annotations

from rpms.models.base import Decoding, Request
from rpms.paper.prompt import Budget, Form, Layout, Part, Turn, make_block
from rpms.paper.selection import build
from rpms.paper.wording import transcript


def prompt(
    turns: int = 2,
    layout: Layout = Layout.CACHED,
    memory: str = "open it first",
    form: Form = Form.SINGLE,
):
    history = [
        Turn(f"You see thing {n}.", f"go to place {n}", f"thought {n}") for n in range(turns)
    ]
    return build(
        (
            make_block(Part.INSTRUCTION, "", ["Solve the task."]),
            make_block(Part.EXAMPLE, "Example", ["Obs: a", "Action: b"]),
            make_block(Part.UNIVERSAL, "Rules", ["hands hold one thing", "open before you look"]),
            make_block(Part.BELIEF, "Belief", [f"turn {turns}"]),
            make_block(Part.MEMORY, "Memory", [memory]),
            *transcript(history, "Now you see a drawer."),
        ),
        layout,
        Budget(),
        form=form,
    )


def request(
    episode: str = "e1", turns: int = 2, decoding: Decoding | None = None, **options
) -> Request:
    return Request(prompt(turns, **options), decoding or Decoding(), episode)
