"""Between two attempts at a task: the model reads the last one and writes what is carried to the next."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from pydantic import TypeAdapter, ValidationError

from rpms.core.episode import Episode
from rpms.core.errors import FileError, ModelError, ModelUnavailable
from rpms.core.prompt import Budget, Form, Layout, Part, Prompt, Turn, build, make_block, prompt_limit, transcript
from rpms.core.usage import Usage
from rpms.foreign.forms import Text
from rpms.foreign.json_text import NotJson, loads
from rpms.foreign.shown import excerpt, one_line
from rpms.models.base import Decoding, Model, Request
from rpms.models.parsing import LONGEST_TEXT
from rpms.play.methods import Method
from rpms.store.episodes import EpisodeRecord

CARRIED = "carried"
"""The folder of a run that holds what each of its episodes brought along from earlier attempts."""
LONGEST_ITEM = 1_000
MOST_LINES, LONGEST_LINE = 10, 200
"""Of a text that is carried line by line."""


@dataclass(frozen=True)
class Earlier:
    """The last attempt at a task, and what it had brought along."""

    turns: tuple[Turn, ...]
    last: str
    """The world's last text."""
    ending: str
    carried: tuple[str, ...] = ()

    @classmethod
    def of(cls, episode: Episode | EpisodeRecord, ending: str, carried: tuple[str, ...] = ()) -> Earlier:
        """From an episode that was just played, or from its file."""
        turns = tuple(Turn(step.observation, step.command, step.thought) for step in episode.steps)
        return cls(turns, episode.steps[-1].result if episode.steps else "", ending, carried)


@dataclass(frozen=True, slots=True)
class Reflection:
    """Texts carried to the next attempt, with the cost of asking for them."""

    carried: tuple[str, ...]
    usage: Usage
    note: str
    """Notes for the record of the episode."""


NOTHING = Reflection((), Usage(), "")


def reflect(
    method: Method, earlier: Earlier, model: Model, decoding: Decoding, episode: str, context: int = 0
) -> Reflection:
    """Ask the model about an attempt. One that fails to answer carries what it had; ModelUnavailable passes through."""
    prompt = question(method, earlier, prompt_limit(context, decoding.max_tokens))
    try:
        answer = model.answer(Request(prompt, replace(decoding, stop=()), f"{episode} after"))
    except ModelUnavailable:
        raise
    except ModelError as error:
        return Reflection(earlier.carried, Usage(), f"nothing was written after the last attempt: {excerpt(error)}")
    written = _items(method, answer.text)
    if not written:
        return Reflection(earlier.carried, answer.usage, "nothing of use was written after the last attempt")
    carried = (*earlier.carried, *written)[-method.kept :] if method.kept else written
    return Reflection(carried, answer.usage, "the last attempt was read first, and its tokens are counted here")


def question(method: Method, earlier: Earlier, limit: int = 0) -> Prompt:
    """The prompt: what is asked, what was carried, and the attempt, of which the oldest turns give way first."""
    history, last = transcript(earlier.turns, earlier.last)
    end = f"The attempt ended here: {earlier.ending}. {'Now write.' if not earlier.carried else 'Now write anew.'}"
    blocks = (
        make_block(Part.INSTRUCTION, "", [method.question]),
        make_block(Part.CARRIED, method.heading, earlier.carried),
        history,
        last,
        make_block(Part.NOTICE, "", [end]),
    )
    return build(blocks, Layout.CACHED, Budget(prompt=limit), form=Form.SINGLE)


def _items(method: Method, text: str) -> tuple[str, ...]:
    """A model's text, bounded: as one item, or the lines of it that have the method's form."""
    text = re.split(r"</think(?:ing)?>", text[:LONGEST_TEXT])[-1]  # what was reasoned before is no part of it
    if not method.form:
        item = one_line(text, LONGEST_ITEM).strip()
        return (f"  - {item}",) if item else ()
    lines = (one_line(line.strip(" -*•\t"), LONGEST_LINE) for line in text.splitlines())
    found = dict.fromkeys(line for line in lines if re.search(method.form, line, re.IGNORECASE))
    return tuple(f"  - {line}" for line in list(found)[:MOST_LINES])


def carried_text(carried: Iterable[str]) -> str:
    """Text kept beside an episode."""
    return json.dumps(list(carried)) + "\n"


_TEXTS: TypeAdapter[tuple[str, ...]] = TypeAdapter(tuple[Text, ...])


def read_carried(text: str, where: str) -> tuple[str, ...]:
    """Read back the text kept beside an episode."""
    try:
        return _TEXTS.validate_python(loads(text))
    except (NotJson, ValidationError):
        raise FileError(where, None, "is not what an episode brought along") from None
