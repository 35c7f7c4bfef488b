"""A model's text, read as a thought and an action.

The text is a stranger's: it is cut and compared, nothing else.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

LONGEST_TEXT = 20_000
"""Characters of an answer that are read: many times what the decoding limits allow."""
LONGEST_ACTION = 400
MOST_WORDS = 14
"""An unlabelled line with more words is prose, not a command."""


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """Content of an answer."""

    thought: str
    action: str | None
    """The command as the model wrote it, without decoration; None if there is none."""
    repairs: tuple[str, ...] = ()
    """Departures of the answer from `Thought: … Action: …`, in fixed words, for statistics."""


# Every pattern is anchored or a plain alternation, with bounded repeats: time grows with the length
# and no faster.
_SPECIAL = re.compile(
    r"<\|?(?:im_end|im_start|eot_id|end_of_text|endoftext|eom_id|end|user|start_header_id|end_of_turn|start_of_turn)\|?>"
    r"|</s>|\[/?INST\]"
)
_CLOSE_TAG = re.compile(r"</(?:think|thinking|reasoning|reflection|scratchpad)>", re.IGNORECASE)
_OPEN_TAG = re.compile(r"<(?:think|thinking|reasoning|reflection|scratchpad)>", re.IGNORECASE)
_FIELD_TAG = re.compile(r"<(/?)(thought|action|act|command|answer|response)>", re.IGNORECASE)
_FIELDS = {"thought": "\nThought: ", **dict.fromkeys(("action", "act", "command"), "\nAction: ")}
"""The labels that say the same as these tags."""
_LABEL = re.compile(
    r"(?:(?:my|the|next|first|final|best|chosen)[ ]{1,3}){0,2}"
    r"(?P<word>thoughts?|think|thinking|reasoning|actions?|act|command|next step"
    r"|obs|observation|human|user|environment|env|system|assistant|ai)"
    r"[ ]{0,3}#?\d{0,3}[ ]{0,3}[*_`]{0,3}[ ]{0,3}[:：][ ]{0,3}[*_`]{0,3}",
    re.IGNORECASE,
)
_INLINE_ACTION = re.compile(r"(?<![\w'’])(?:action|act)[*_ ]{0,3}:[*_ ]{0,3}", re.IGNORECASE)
_BULLET = re.compile(
    r"(?:[>\-*•#+][ ]{1,3}|[>#]{1,6}[ ]{0,3}|\(?\d{1,2}[.)][ ]{1,3}|[a-c][.)][ ]{1,3}){1,3}"
)
_FENCE = re.compile(r"[`~]{3,}[\w+-]{0,20}\s{0,3}$")
_JSON_ACTION = re.compile(r"""["']action["'][ \n\t]{0,20}:[ \n\t]{0,20}["']([^"'\n]{1,400})""")
_JSON_THOUGHT = re.compile(r"""["']thought["'][ \n\t]{0,20}:[ \n\t]{0,20}"([^"\n]{1,4000})""")
_THEN = re.compile(r"[ ]?;|,? and then |, then ", re.IGNORECASE)
_CALL = re.compile(r"(?:\d{1,2}\.[ ])?[A-Za-z_]\w{0,99}\(.*\)\.?")
"""A tool call is one action, whatever its texts say."""
_NOTHING = frozenset({"", "none", "n/a", "null", "nothing", "no action", "-", "..."})
_PROSE_WORDS = (
    "i i'm i'll i've i'd we we'll let let's you your my our it it's its the this that these there"
    " here here's since because so to as if when first, now, ok okay sorry sure yes no based given"
    " however but thus"
)
_PROSE = frozenset(_PROSE_WORDS.split())
"""First words of a line that is prose rather than a command."""
_LABELS = {
    **dict.fromkeys(("thought", "thoughts", "think", "thinking", "reasoning"), "thought"),
    **dict.fromkeys(("action", "actions", "act", "command", "next step"), "action"),
    **dict.fromkeys(
        ("obs", "observation", "human", "user", "environment", "env", "system"), "other"
    ),
}
"""Labels by their words. `assistant` and `ai` are none: they say nothing about what follows."""
_MOST_LABELS = 3
"""Labels of one line that are read: `Assistant: > Action: …` has one before the one that counts."""


class _Read(NamedTuple):
    """A thought and an action as they stand in an answer, still with their decoration."""

    thought: str
    action: str | None


class _Proper(NamedTuple):
    """An answer without the reasoning before it."""

    text: str
    cut_short: bool
    """True if the reasoning did not end: only labels count then."""


@dataclass(slots=True)
class _Line:
    label: str
    """`thought`, `action`, `other`, or nothing."""
    text: str
    quoted: bool = False
    """It began with `>`, as a command at a prompt does."""
    fenced: bool = False


def parse_answer(text: str) -> ParsedAnswer:
    """Read an answer; it never fails.

    The first action counts, and text in the name of the world or the user is cut.
    """
    repairs: list[str] = []
    if len(text) > LONGEST_TEXT:
        repairs.append("cut to length")
        text = text[:LONGEST_TEXT]
    text = _without_specials(text, repairs)
    proper = _without_reasoning(text, repairs)
    read = _from_json(proper.text, repairs)
    if read is None:
        lines = _lines(_tags_as_labels(proper.text, repairs), repairs)
        read = _from_labels(lines, repairs)
        if read is None:
            read = _unlabelled(lines, repairs, allowed=not proper.cut_short)
    action = read.action
    if action is not None:
        action = _clean_action(action, repairs)
    if action is None:
        repairs.append("no action")
    return ParsedAnswer(_clean(read.thought), action, tuple(dict.fromkeys(repairs)))


def _tags_as_labels(text: str, repairs: list[str]) -> str:
    """A text with a label in place of each opening tag, and a new line for each closing one."""

    def label(tag: re.Match[str]) -> str:
        closes, name = tag.groups()
        return "\n" if closes else _FIELDS.get(name.lower(), "\n")

    text, replaced = _FIELD_TAG.subn(label, text)
    if replaced:
        repairs.append("tags")
    return text


def action_is_complete(text: str) -> bool:
    """True if nothing that follows could change the action: its line has ended, and no
    reasoning is open.
    """
    if not text.endswith("\n"):
        return False
    *_, last = text[-2 * LONGEST_ACTION :].rstrip("\n").rpartition("\n")
    if not last.lstrip("*_`# ").startswith("Action:"):
        return False
    opened = max((tag.end() for tag in _OPEN_TAG.finditer(text)), default=0)
    closed = max((tag.end() for tag in _CLOSE_TAG.finditer(text)), default=0)
    return opened <= closed and parse_answer(text).action is not None


def _without_specials(text: str, repairs: list[str]) -> str:
    """Cut a text at the first control token after some words: the rest is another speaker's."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ")
    pieces = _SPECIAL.split(text)
    if len(pieces) == 1:
        return text
    repairs.append("control tokens")
    spoken = next((piece for piece in pieces if piece.strip()), "")
    return spoken.lstrip().removeprefix("assistant\n")


def _without_reasoning(text: str, repairs: list[str]) -> _Proper:
    """The answer proper: after the last closing tag, or before an opening one."""
    closings = list(_CLOSE_TAG.finditer(text))
    if closings:
        repairs.append("reasoning tags")
        rest = text[closings[-1].end() :]
        if rest.strip():
            return _Proper(rest, cut_short=False)
        text = text[: closings[-1].start()]
    opening = _OPEN_TAG.search(text)
    if opening is None:
        return _Proper(text, cut_short=bool(closings))
    repairs.append("reasoning tags")
    before = text[: opening.start()]
    if any(line.label == "action" for line in _lines(before, [])):
        return _Proper(before, cut_short=False)
    reasoning = _OPEN_TAG.sub("\n", text[opening.end() :])
    return _Proper(f"{before}\n{reasoning}", cut_short=True)


def _from_json(text: str, repairs: list[str]) -> _Read | None:
    """The fields of an answer that is a JSON object, whole or broken off; None if it is no such
    object.
    """
    start = text.find("{")
    if start < 0:
        return None
    if any(line.label == "action" and line.text for line in _lines(text[:start], [])):
        return None
    fields = _json_fields(text, start)
    if fields is not None:
        action = _first_of(fields, "action", "act", "command")
        thought = _first_of(fields, "thought", "thoughts", "think", "reasoning")
    else:
        action = _found(_JSON_ACTION, text, start)
        thought = _found(_JSON_THOUGHT, text, start)
    if action is None:
        return None
    repairs.append("json")
    return _Read(thought or "", action)


def _json_fields(text: str, start: int) -> dict[str, str] | None:
    """The texts in a JSON object that begins at a place; None if there is no whole object."""
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    return {key.lower(): entry for key, entry in value.items() if isinstance(entry, str)}


def _first_of(fields: Mapping[str, str], *names: str) -> str | None:
    return next((fields[name] for name in names if name in fields), None)


def _found(pattern: re.Pattern[str], text: str, start: int) -> str | None:
    match = pattern.search(text, start)
    return match[1] if match is not None else None


def _lines(text: str, repairs: list[str]) -> list[_Line]:
    """The answer's lines with their labels read, up to where another speaker takes over."""
    lines: list[_Line] = []
    fenced = begun = False
    for line in filter(None, map(str.strip, text.split("\n"))):
        if _FENCE.match(line):
            fenced = not fenced
            repairs.append("code fence")
            continue
        read = _read_line(line, fenced)
        if read.label == "other":
            if begun:
                repairs.append("continuation")
                break
            continue
        begun = begun or bool(read.label == "action" or read.text)
        lines.append(read)
    return lines


def _read_line(line: str, fenced: bool) -> _Line:
    """A line without its bullet and its label, which is told apart."""
    quoted = line.startswith(">")
    text = line
    for _ in range(_MOST_LABELS):
        unmarked = _without_bullet(text).lstrip("*_`# ")
        found = _LABEL.match(unmarked)
        if found is None:
            return _Line("", unmarked or text, quoted, fenced)
        text = unmarked[found.end() :].strip()
        label = _LABELS.get(found["word"].lower())
        if label:
            return _Line(label, text)
    return _Line("", text, quoted, fenced)


def _without_bullet(line: str) -> str:
    bullet = _BULLET.match(line)
    return line[bullet.end() :] if bullet else line


def _from_labels(lines: list[_Line], repairs: list[str]) -> _Read | None:
    """Thought and action by their labels; None where no line says which it is the action."""
    for index, line in enumerate(lines):
        if line.label != "action":
            continue
        later = lines[index + 1 :]
        action = line.text
        if not action.strip("*_`\"' ") and later and later[0].label == "":
            action = later.pop(0).text
        if _is_thinking(action):
            continue
        if any(map(_may_act, later)):
            repairs.append("several actions")
        return _Read(_thought(lines[:index], repairs), action)
    return _from_one_line(lines, repairs)


def _may_act(line: _Line) -> bool:
    """True for a line that is an action too: by its label, in a fence, or at a prompt sign."""
    return line.label == "action" or line.fenced or line.quoted


def _is_thinking(action: str) -> bool:
    """True for `Action: think: …`, as agents that have a thinking action write it."""
    label = _LABEL.match(action)
    return label is not None and _LABELS.get(label["word"].lower()) == "thought"


def _from_one_line(lines: list[_Line], repairs: list[str]) -> _Read | None:
    """The thought and action that share a line; None if no line has both."""
    for index, line in enumerate(lines):
        pieces = _INLINE_ACTION.split(line.text, maxsplit=1)
        if len(pieces) == 2 and pieces[1].strip():
            repairs.append("labels on one line")
            before = [*lines[:index], _Line(line.label, pieces[0])]
            more = _INLINE_ACTION.split(pieces[1], maxsplit=1)
            if len(more) == 2:
                repairs.append("several actions")
            return _Read(_thought(before, repairs), more[0])
    return None


def _thought(lines: list[_Line], repairs: list[str]) -> str:
    if lines and not any(line.label == "thought" for line in lines):
        repairs.append("thought without label")
    return _joined(lines)


def _joined(lines: list[_Line]) -> str:
    return "\n".join(line.text for line in lines if line.text)


def _unlabelled(lines: list[_Line], repairs: list[str], *, allowed: bool) -> _Read:
    """The first line that can be a command: one at a prompt sign or in a fence rather than any
    other.
    """
    candidates = _candidates(lines)
    if not candidates or not allowed:
        return _Read(_joined(lines), None)
    repairs.append("action without label")
    if len(candidates) > 1:
        repairs.append("several actions")
    chosen = candidates[0]
    return _Read(_joined(lines[:chosen]), lines[chosen].text)


def _candidates(lines: list[_Line]) -> list[int]:
    """The lines that can be a command, by their indices. If some are marked, only these."""
    plain: list[int] = []
    marked: list[int] = []
    for index, line in enumerate(lines):
        if not line.label and _can_be_command(line.text):
            plain.append(index)
            if line.quoted or line.fenced:
                marked.append(index)
    return marked or plain


def _can_be_command(text: str) -> bool:
    if text.isdigit():  # the choice from a numbered list that a world offered
        return len(text) <= 3
    words = text.split(maxsplit=MOST_WORDS + 1)
    if not words or len(words) > MOST_WORDS or text.endswith(("?", ":")):
        return False
    first = words[0].lower().strip("*_`\"'").replace("’", "'")
    return first not in _PROSE and any(char.isalpha() for char in first)


def _without_brackets(line: str, left: str, right: str) -> str:
    """A line without one pair of brackets or quotes around all of it."""
    if len(line) < 2 or not line.startswith(left) or not line.endswith(right):
        return line
    inner = line[1:-1]
    return line if left in inner else inner


def _clean_action(action: str, repairs: list[str]) -> str | None:
    """One command, without quotes, brackets, fences, numbering or a full stop around it."""
    line = _clean(action).split("\n", 1)[0]
    found = _JSON_ACTION.search(line) if line.startswith("{") else None
    if found is not None:
        line = found[1]
    line = line[: LONGEST_ACTION * 2]
    if not _CALL.fullmatch(line):
        first, *more = _THEN.split(line)
        if more and first.strip():
            repairs.append("several actions")
            line = first
    line = " ".join(_bare(line).split())[:LONGEST_ACTION]
    return None if line.lower() in _NOTHING else line


def _bare(line: str) -> str:
    """A command without what stands around it, whatever the order: a bullet in quotes, quotes in
    brackets.
    """
    previous = None
    while line != previous:
        previous = line
        line = _without_bullet(line).strip().strip('`*_"“”').rstrip(".!,").strip()
        for left, right in (("[", "]"), ("<", ">"), ("'", "'"), ("(", ")")):
            line = _without_brackets(line, left, right)
    return line


def _clean(text: str) -> str:
    """Without control characters and blank space at either end."""
    return "".join(char for char in text if char == "\n" or char.isprintable()).strip()
