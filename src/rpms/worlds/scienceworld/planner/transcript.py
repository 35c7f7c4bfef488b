"""What was said and done so far, read back from the prompt's own transcript."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from rpms.core.prompt import Part, Prompt

_TURN: Final = re.compile(r"(?P<heard>.*?)(?:\nThought: .*)?\nAction: (?P<action>[^\n]*)\Z", re.DOTALL)
_HEARD: Final = "Obs: "


class Heard(NamedTuple):
    """An action and what the world said to it."""

    action: str
    observation: str


class Transcript(NamedTuple):
    """An episode so far."""

    opening: str
    turns: tuple[Heard, ...]


def read_transcript(prompt: Prompt) -> Transcript:
    """Read an episode back from a prompt, with the turns that the budget cut put back in their place."""
    items = [item for block in prompt.blocks if block.part is Part.HISTORY for item in block.items]
    cut = [item for part, item in prompt.cut if part is Part.HISTORY]
    items[1:1] = cut
    current = "\n".join(block.text for block in prompt.blocks if block.part is Part.OBSERVATION)
    heard, actions = [], []
    for item in items:
        match = _TURN.match(item)
        heard.append(match["heard"] if match else item)
        actions.append(match["action"] if match else "")
    heard = [heard[0], *(text.removeprefix(_HEARD) for text in heard[1:])] if heard else []
    heard.append(current.removeprefix(_HEARD))
    return Transcript(heard[0], tuple(map(Heard, actions, heard[1:])))
