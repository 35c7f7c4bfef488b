"""Rules in a model's words: it may say a sentence better, and decides nothing."""

from __future__ import annotations

from rpms.core.errors import ModelError, ModelUnavailable
from rpms.core.prompt import Block, Layout, Part, Prompt
from rpms.core.tokens import estimate_tokens
from rpms.learn.rules.learn import Wording
from rpms.models.base import Decoding, Model, Request

LONGEST = 240
"""Characters of a sentence."""
_INSTRUCTION = (
    "Say the following rule in one short, plain English sentence. Keep every name in it exactly as written, in the "
    "same order. Answer with the sentence alone."
)


def keeps_names(before: str, after: str) -> bool:
    """Whether a sentence names, in the same order, all that the one before it listed, and stays one short line."""
    listed = [name.strip().casefold() for name in before.partition(":")[2].rstrip(".").replace(";", ",").split(",")]
    said, place = after.casefold(), 0
    for name in filter(None, listed):
        place = said.find(name, place)
        if place < 0:
            return False
        place += len(name)
    return 0 < len(after) <= LONGEST and after.isprintable()


def wording_by(model: Model) -> Wording:
    """Sentences by a model; one that drops or changes a name, or that never came, stays as the templates made it."""

    def word(texts: dict[str, str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for id_, text in texts.items():
            said = f"{_INSTRUCTION}\n\nRule: {text}"
            prompt = Prompt((Block(Part.INSTRUCTION, "", (said,), estimate_tokens(said)),), layout=Layout.CACHED)
            try:
                answer = model.answer(Request(prompt, Decoding(max_tokens=80), f"wording {id_}"))
            except ModelUnavailable:
                raise
            except ModelError:
                continue
            line = " ".join(answer.text.split())
            if keeps_names(text, line):
                found[id_] = line
        return found

    return word
