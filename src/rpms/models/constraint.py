"""Answers held to a menu or to a manual's templates: a free thought, then an action.

Actions are foreign text: each form escapes them, so that none can end a string, open a group or add
a rule.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from rpms.logic.actions import PARAMETER
from rpms.models.parsing import LONGEST_ACTION, parse_answer

THOUGHT = "Thought:"
ACTION = "\nAction:"
THOUGHT_CHARACTERS = 400
"""Characters of a thought. In the paper's transcripts it is one sentence or two; a longer one would
leave no room for the action."""
THOUGHT_TOKENS = 100
"""The limit on a thought where tokens are counted."""
ACTION_TOKENS = 48
"""New tokens that are kept free for the action and its label."""
NOT_HELD = "the action was not held to the choices"
"""Beginning of the note on an answer whose backend did not hold it to the choices."""

Shape = tuple[str, ...]
"""An action as its fixed pieces. A choice has one piece; between two pieces stands a parameter,
which is any text on the line."""
Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ConstraintForm:
    """One way to tell a server the actions."""

    name: str
    """The parameter that carries them."""
    fields: Callable[[tuple[Shape, ...], int], Fields]
    """Makes the request's fields from the actions and the limit of new tokens."""
    takes_templates: bool = True

    def takes(self, shapes: tuple[Shape, ...]) -> bool:
        return self.takes_templates or not _open(shapes)


def usable(choices: Iterable[str]) -> tuple[str, ...]:
    """The choices that can be held to, each once. Empty ones, and those that are too long or not
    printable, are left out.
    """
    kept: dict[str, None] = {}
    for choice in choices:
        if choice.strip() and choice.isprintable() and len(choice) <= LONGEST_ACTION:
            kept[choice] = None
    return tuple(kept)


def shapes_of(choices: Iterable[str], templates: Iterable[str] = ()) -> tuple[Shape, ...]:
    """The actions that choices, or else templates, allow."""
    fixed = usable(choices)
    if fixed:
        return tuple([(choice,) for choice in fixed])
    shapes: dict[Shape, None] = {}
    for template in usable(templates):
        pieces = PARAMETER.split(template.strip())[::2]  # without the parameters between them
        shapes[tuple(pieces)] = None
    return tuple(shapes)


def fits(text: str, shape: Shape) -> bool:
    """True for an action of this shape, with something in place of each parameter."""
    first, *others = map(re.escape, shape)
    pattern = first
    for piece in others[:-1]:
        pattern += rf"(?>.+?{piece})"  # only its first occurrence: linear in time
    if others:
        pattern += f".+{others[-1]}"
    return re.fullmatch(pattern, text) is not None


def begins(text: str, shape: Shape) -> bool:
    """True if a text can become an action of this shape.

    In a parameter, anything on the line can.
    """
    first = shape[0]
    if len(text) <= len(first):
        return first.startswith(text)
    if len(shape) == 1 or not text.startswith(first):
        return False
    parameter = text[len(first) :]
    return not parameter.startswith(" ") and "\n" not in text


def thought_characters(max_tokens: int) -> int:
    """Characters a thought may have, so that the action still fits: two for each token that the
    action leaves.
    """
    return max(min(THOUGHT_CHARACTERS, 2 * (max_tokens - ACTION_TOKENS)), 0)


def thought_tokens(max_tokens: int) -> int:
    """Tokens a thought may have, so that the action still fits."""
    return max(min(THOUGHT_TOKENS, max_tokens - ACTION_TOKENS), 0)


def regex(shapes: tuple[Shape, ...], max_tokens: int) -> str:
    """The form of an answer as a regular expression, so plain that every engine reads it in the
    same way.
    """
    actions = "|".join(r"[^ \n][^\n]*".join(map(_escaped, shape)) for shape in shapes)
    # a model that ends its lines would otherwise add to the parameter
    end = r"\n?" if _open(shapes) else ""
    return rf"{THOUGHT} [^\n]{{0,{thought_characters(max_tokens)}}}\nAction: ({actions}){end}"


def grammar(shapes: tuple[Shape, ...], max_tokens: int) -> str:
    """The form of an answer as a grammar in llama.cpp's notation (GBNF)."""
    actions: list[str] = []
    for shape in shapes:
        pieces = [json.dumps(piece, ensure_ascii=False) for piece in shape]
        actions.append(" text ".join(pieces))
    end = text = ""
    if _open(shapes):
        end = ' "\\n"?'
        text = "text ::= [^ \\n] [^\\n]*\n"
    return (
        f'root ::= "{THOUGHT} " thought "\\nAction: " action{end}\n'
        f"thought ::= [^\\n]{{0,{thought_characters(max_tokens)}}}\n"
        f"action ::= {' | '.join(actions)}\n{text}"
    )


def is_held_to(text: str, shapes: tuple[Shape, ...]) -> bool:
    """True if an answer's action is one of these.

    Choices are compared as `parse_answer` reads both.
    """
    line = text.partition(ACTION)[2].strip()
    action = parse_answer(text).action
    if any(fits(line, shape) for shape in shapes):
        return True
    if action is None:
        return False
    return any(fits(action, shape) or _is_read_as(action, shape) for shape in shapes)


def _is_read_as(action: str, shape: Shape) -> bool:
    """True if a choice, given as an answer, would be read as this action."""
    if len(shape) > 1:
        return False
    return parse_answer(f"{THOUGHT} x{ACTION} {shape[0]}").action == action


def _open(shapes: Iterable[Shape]) -> bool:
    """True if any has a parameter."""
    return any(len(shape) > 1 for shape in shapes)


def _escaped(text: str) -> str:
    """`re.escape` without the escapes of blanks and hyphens, which stricter engines refuse
    outside a class.
    """
    return re.sub(r"([\\.^$*+?{}\[\]()|/])", r"\\\1", text)


def _response_format(shapes: tuple[Shape, ...], _max_tokens: int) -> Fields:
    """The form of an answer as a JSON object, the thought first. It is for choices only: some
    servers take an enum but no pattern.
    """
    choices = [choice for (choice,) in shapes]
    fields = {"thought": {"type": "string"}, "action": {"type": "string", "enum": choices}}
    schema = {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }
    described = {"name": "answer", "strict": True, "schema": schema}
    return {"response_format": {"type": "json_schema", "json_schema": described}}


STRUCTURED_OUTPUTS = ConstraintForm(
    "structured_outputs", lambda s, n: {"structured_outputs": {"regex": regex(s, n)}}
)
"""vLLM since 0.11."""
GRAMMAR = ConstraintForm("grammar", lambda s, n: {"grammar": grammar(s, n)})
RESPONSE_FORMAT = ConstraintForm("response_format", _response_format, takes_templates=False)

VLLM = (STRUCTURED_OUTPUTS, RESPONSE_FORMAT)
LLAMACPP = (GRAMMAR, RESPONSE_FORMAT)
OPENAI = (RESPONSE_FORMAT,)
