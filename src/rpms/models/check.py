"""One small request that shows whether a model can be used: for `rpms models check NAME`."""

from __future__ import annotations

from dataclasses import dataclass

from rpms.core.prompt import Budget, Layout, Part, Prompt, build, make_block
from rpms.core.usage import Price
from rpms.models.accounting import cost, price_of
from rpms.models.base import Answer, Decoding, Model, Request
from rpms.models.parsing import ParsedAnswer, parse_answer


@dataclass(frozen=True, slots=True)
class Check:
    """Findings of one request."""

    model: str
    answer: Answer
    parsed: ParsedAnswer
    cost: float | None

    @property
    def format(self) -> str:
        """Form of the answer, in words."""
        if self.parsed.action is None:
            return "no action found"
        return "as asked" if not self.parsed.repairs else "understood after repair: " + ", ".join(self.parsed.repairs)

    @property
    def lines(self) -> tuple[str, ...]:
        """The report, line by line."""
        usage = self.answer.usage
        tokens = (usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens)
        price = "unknown (give --price)" if self.cost is None else f"${self.cost:.6f}"
        return (
            f"model    {self.model}",
            f"latency  {usage.seconds:.2f} s, {usage.requests} request{'' if usage.requests == 1 else 's'}",
            "tokens   {} prompt, {} cached, {} completion".format(*tokens),
            f"cost     {price}",
            f"format   {self.format}",
            f"action   {self.parsed.action or '-'}",
            *(f"note     {note}" for note in self.answer.notes),
        )


def check_prompt() -> Prompt:
    """A prompt of the usual form with an obvious answer."""
    blocks = (
        make_block(
            Part.INSTRUCTION,
            "",
            ["Interact with a household to solve a task. Answer with one line `Thought: …` and one line `Action: …`."],
        ),
        make_block(
            Part.OBSERVATION,
            "",
            [
                "You are in a room. You see a closed drawer 1 and nothing else.",
                "Your task is to: open the drawer. Allowed actions: look, open drawer 1",
            ],
        ),
    )
    return build(blocks, Layout.CACHED, Budget())


def check_model(model: Model, price: Price | None = None) -> Check:
    """Ask once and report. Raises what the model raises: the text says what to do."""
    answer = model.answer(Request(check_prompt(), Decoding(max_tokens=64), "check"))
    return Check(model.name, answer, parse_answer(answer.text), cost(answer.usage, price or price_of(model.name)))
