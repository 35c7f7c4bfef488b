"""One small request that shows whether a model can be used: for `rpms models check NAME`."""

from __future__ import annotations

from rpms.core.prompt import Budget, Layout, Part, build, make_block
from rpms.core.usage import Price
from rpms.models.accounting import cost, price_of
from rpms.models.base import Decoding, Model, Request
from rpms.models.parsing import parse_answer

_INSTRUCTION = "Interact with a household to solve a task. Answer with one line `Thought: …` and one line `Action: …`."
_OBSERVATION = (
    "You are in a room. You see a closed drawer 1 and nothing else.",
    "Your task is to: open the drawer. Allowed actions: look, open drawer 1",
)


def check_model(model: Model, price: Price | None = None) -> tuple[str, ...]:
    """Ask once, with an obvious answer, and report line by line. Raises what the model raises."""
    blocks = (make_block(Part.INSTRUCTION, "", [_INSTRUCTION]), make_block(Part.OBSERVATION, "", _OBSERVATION))
    prompt = build(blocks, Layout.CACHED, Budget())
    answer = model.answer(Request(prompt, Decoding(max_tokens=64), "check"))
    usage, parsed = answer.usage, parse_answer(answer.text)
    paid = cost(usage, price or price_of(model.name))
    form = "as asked" if not parsed.repairs else f"understood after repair: {', '.join(parsed.repairs)}"
    return (
        f"model    {model.name}",
        f"latency  {usage.seconds:.2f} s, {usage.requests} request{'' if usage.requests == 1 else 's'}",
        f"tokens   {usage.prompt_tokens} prompt, {usage.cached_tokens} cached, {usage.completion_tokens} completion",
        f"cost     {'unknown (give --price)' if paid is None else f'${paid:.6f}'}",
        f"format   {'no action found' if parsed.action is None else form}",
        f"action   {parsed.action or '-'}",
        *(f"note     {note}" for note in answer.notes),
    )
