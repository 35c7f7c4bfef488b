"""The one interface between the agent and whatever answers for it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from rpms.foreign.call_text import Tool
from rpms.logic.errors import ContextOverflow, InputError
from rpms.paper.decide import Decision
from rpms.paper.episode import Usage
from rpms.paper.prompt import Block, CutItem, Part, Prompt

__all__ = ["Answer", "CannotHold", "Decoding", "Model", "Request", "Scalar", "Usage"]

Scalar = str | int | float | bool
"""The value of a provider's own parameter."""


@dataclass(frozen=True, slots=True)
class Decoding:
    """Decoding of an answer.

    The defaults are the paper's: greedy, short, no observations of its own.
    """

    max_tokens: int = 256
    """New tokens at most; a world sets its own default (256 in ALFWorld, 512 in ScienceWorld)."""
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None
    stop: tuple[str, ...] = ("\nObs:", "\nObservation:")
    """Texts to stop at, so that a model cannot write the world's answer itself."""
    extra: tuple[tuple[str, Scalar], ...] = ()
    """A provider's other parameters by name (`top_k`, `reasoning_effort`), sent as given and
    part of the record."""


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model."""

    prompt: Prompt
    decoding: Decoding
    episode: str
    """The episode that asks. A local model keeps one context for each, so that a prefix is not
    computed again."""
    decision: Decision | None = field(default=None, compare=False)
    """The step's whole decision, for models that are no LLM and read the belief instead of the
    text."""
    choices: tuple[str, ...] = ()
    """The actions to choose from, where the action is to be held to them while it is written;
    none: any."""
    templates: tuple[str, ...] = ()
    """Templates of actions, such as `go to <place>`. Without choices, the answer is held to one of
    them."""
    tools: tuple[Tool, ...] = ()
    """The tools to answer with a call of, where calls are the server's own; the answer's text
    says which it was."""
    weigh: bool = False
    """True if the answer is the likelihood of each choice, with nothing written before it."""
    begun: str = ""
    """Beginning of the answer that each weighed choice would go on."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's text, unparsed: it is data and is never evaluated."""

    text: str
    usage: Usage = field(default_factory=Usage)
    finish: str = "stop"
    """Reason for its end: `stop`, `length`, or the provider's own word."""
    notes: tuple[str, ...] = ()
    """Departures from the request: parameters a model does not take, history dropped to fit its
    context window."""
    weights: tuple[float, ...] = ()
    """Logarithms of the choices' probabilities, if they were to be weighed."""

    @property
    def truncated(self) -> bool:
        """True if it ended because no more new tokens were allowed."""
        return self.finish == "length"


class CannotHold(InputError):
    """A model that takes choices does not take templates. It can be asked the same without them."""


class Model(Protocol):
    """Prompt in, answer and usage out. `answer` may be called from several threads at once.

    A model that can hold its action to a request's choices says so by a true attribute
    `constrains`. One that can do so for choices and not for templates raises CannotHold where it is
    sent templates. One whose server takes tools says so by a true attribute `calls_tools`, one that
    can weigh choices by `weighs`, and a language model by `reads`. Whatever is no language model
    may read the step's plan in place of its prompt; an attribute `plans` says otherwise.
    """

    @property
    def name(self) -> str:
        """The name as the user wrote it after `--model`."""

    def answer(self, request: Request) -> Answer:
        """Answer, or raise ModelUnavailable (nothing will work), ContextOverflow, or ModelError
        (this one failed).
        """

    def close(self) -> None:
        """Release connections, processes and memory."""


def able(model: Model, ability: str) -> bool:
    """True if a model says that it can: one that does not say so cannot.

    Whoever weighs choices also reads, and whoever does not read may ask for a plan.
    """
    if ability == "plans":
        return bool(getattr(model, ability, not able(model, "reads")))
    if ability == "reads" and able(model, "weighs"):
        return True
    return bool(getattr(model, ability, False))


def cut_at_stop(text: str, stop: Sequence[str]) -> str:
    """The text up to the first stop sequence, for models and servers that do not stop by
    themselves.
    """
    ends = [text.find(mark) for mark in stop if mark and mark in text]
    return text[: min(ends)] if ends else text


class WrappedModel:
    """Wraps a model under its own name and abilities, to change one thing about it."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    def __getattr__(self, name: str) -> bool:
        if name in ("constrains", "calls_tools", "weighs", "reads"):
            return bool(getattr(self._model, name, False))
        if name == "plans" and hasattr(self._model, "plans"):
            return bool(self._model.plans)
        raise AttributeError(name)

    def answer(self, request: Request) -> Answer:
        return self._model.answer(request)

    def close(self) -> None:
        self._model.close()


class ShorteningModel(WrappedModel):
    """Asks again with the older half of the turns dropped while the window is too small; the
    notes say how many.
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
                if not dropped:
                    return answer
                note = f"history: {dropped} oldest turns dropped to fit the context window"
                return replace(answer, notes=(*answer.notes, note))


class FewerTurns(NamedTuple):
    """A prompt without some of its turns, and how many these were."""

    prompt: Prompt
    dropped: int


def drop_older_half(prompt: Prompt) -> FewerTurns:
    """The prompt without the older half (rounded up) of the turns after the opening one."""
    blocks: list[Block] = []
    cut = list(prompt.cut)
    fewer = 0
    for block in prompt.blocks:
        kept = block
        if block.part is Part.HISTORY and len(block.items) > 1:
            fewer = len(block.items) // 2
            cut += [CutItem(block.part, item) for item in block.items[1 : 1 + fewer]]
            kept = block.keeping((0, *range(1 + fewer, len(block.items))))
        blocks.append(kept)
    if not fewer:
        return FewerTurns(prompt, 0)
    return FewerTurns(replace(prompt, blocks=tuple(blocks), cut=tuple(cut)), fewer)
