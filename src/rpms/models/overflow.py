"""Shortening of a prompt that does not fit a model's context window."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rpms.core.errors import ContextOverflow
from rpms.core.prompt import Part, Prompt
from rpms.models.base import WrappedModel

if TYPE_CHECKING:
    from rpms.models.base import Answer, Request


class ShorteningModel(WrappedModel):
    """Asks a model again with a shorter history if its context window is too small.

    The opening observation stays; the older half of the turns after it is dropped until the model answers or none is
    left. The answer's notes say how many were dropped.
    """

    reads = True

    def answer(self, request: Request) -> Answer:
        prompt = request.prompt
        dropped = 0
        while True:
            try:
                answer = self._model.answer(replace(request, prompt=prompt))
            except ContextOverflow:
                prompt, fewer = drop_older_half(prompt)
                if not fewer:
                    raise
                dropped += fewer
            else:
                note = (f"history: {dropped} oldest turns dropped to fit the context window",) if dropped else ()
                return replace(answer, notes=answer.notes + note)


def drop_older_half(prompt: Prompt) -> tuple[Prompt, int]:
    """The prompt without the older half (rounded up) of the turns after the opening one, and how many these were."""
    blocks = list(prompt.blocks)
    for index, block in enumerate(blocks):
        if block.part is not Part.HISTORY or len(block.items) < 2:
            continue
        fewer = len(block.items) // 2
        cut = block.items[1 : 1 + fewer]
        blocks[index] = block.keeping((0, *range(1 + fewer, len(block.items))))
        noted = tuple((block.part, item) for item in cut)
        return replace(prompt, blocks=tuple(blocks), cut=prompt.cut + noted), fewer
    return prompt, 0
