"""An answer held to a choice of actions while it is written: a free thought, then one of the actions.

Choices come from a world's text and are a stranger's: each form escapes them, so that none can end a string, open a
group or add a rule.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rpms.models.answers import LONGEST_ACTION, parse_answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

THOUGHT = "Thought:"
ACTION = "\nAction:"
THOUGHT_CHARACTERS = 400
"""A thought in the paper's transcripts is one sentence or two; what is longer would leave no room for the action."""
THOUGHT_TOKENS = 100
"""The same limit where tokens are counted."""
ACTION_TOKENS = 48
"""New tokens that are kept free for the action and its label."""
NOT_HELD = "the action was not held to the choices"
"""How the note of an answer begins whose backend turned out not to hold it to the choices it was sent."""

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Form:
    """One way to tell a server the choices."""

    name: str
    """The parameter that carries them."""
    fields: Callable[[tuple[str, ...], int], Fields]
    """From the choices and the limit of new tokens to what the request's body holds."""


def usable(choices: Iterable[str]) -> tuple[str, ...]:
    """The choices that one line can hold, each once: what is empty, too long or not printable is left out."""
    kept = (choice for choice in choices if choice.strip() and choice.isprintable() and len(choice) <= LONGEST_ACTION)
    return tuple(dict.fromkeys(kept))


def thought_characters(max_tokens: int) -> int:
    """Characters a thought may have, so that the action still fits: two for each token that the action leaves."""
    return max(min(THOUGHT_CHARACTERS, 2 * (max_tokens - ACTION_TOKENS)), 0)


def thought_tokens(max_tokens: int) -> int:
    """Tokens a thought may have, so that the action still fits."""
    return max(min(THOUGHT_TOKENS, max_tokens - ACTION_TOKENS), 0)


def regex(choices: tuple[str, ...], max_tokens: int) -> str:
    """The form of an answer as a regular expression of the plainest kind, which every engine reads alike."""
    actions = "|".join(_escaped(choice) for choice in choices)
    return rf"{THOUGHT} [^\n]{{0,{thought_characters(max_tokens)}}}\nAction: ({actions})"


def grammar(choices: tuple[str, ...], max_tokens: int) -> str:
    """The form of an answer as a grammar in llama.cpp's notation (GBNF)."""
    actions = " | ".join(_quoted(choice) for choice in choices)
    return (
        f'root ::= "{THOUGHT} " thought "\\nAction: " action\n'
        f"thought ::= [^\\n]{{0,{thought_characters(max_tokens)}}}\n"
        f"action ::= {actions}\n"
    )


def schema(choices: tuple[str, ...]) -> Fields:
    """An answer as a JSON object; the thought comes first, so that it is written before the action."""
    return {
        "type": "object",
        "properties": {"thought": {"type": "string"}, "action": {"type": "string", "enum": list(choices)}},
        "required": ["thought", "action"],
        "additionalProperties": False,
    }


def held(text: str, choices: tuple[str, ...]) -> bool:
    """Whether an answer's action is one of the choices, compared as `parse_answer` reads both."""
    action = parse_answer(text).action
    return action is not None and (action in choices or action in {_as_read(choice) for choice in choices})


def _as_read(choice: str) -> str | None:
    return parse_answer(f"{THOUGHT} x{ACTION} {choice}").action


def _escaped(choice: str) -> str:
    """`re.escape` without the escapes of blanks and hyphens, which stricter engines refuse outside a class."""
    return re.sub(r"([\\.^$*+?{}\[\]()|/])", r"\\\1", choice)


def _quoted(choice: str) -> str:
    return '"' + choice.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _response_format(choices: tuple[str, ...], _max_tokens: int) -> Fields:
    described = {"name": "answer", "strict": True, "schema": schema(choices)}
    return {"response_format": {"type": "json_schema", "json_schema": described}}


STRUCTURED_OUTPUTS = Form("structured_outputs", lambda c, n: {"structured_outputs": {"regex": regex(c, n)}})
"""vLLM since 0.11."""
GUIDED_REGEX = Form("guided_regex", lambda c, n: {"guided_regex": regex(c, n)})
"""vLLM up to 0.11; later versions overlook it, as earlier ones do its successor."""
GRAMMAR = Form("grammar", lambda c, n: {"grammar": grammar(c, n)})
RESPONSE_FORMAT = Form("response_format", _response_format)

VLLM = (STRUCTURED_OUTPUTS, GUIDED_REGEX, RESPONSE_FORMAT)
LLAMACPP = (GRAMMAR, RESPONSE_FORMAT)
OPENAI = (RESPONSE_FORMAT,)
