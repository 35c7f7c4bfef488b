"""Tool calls as text, `refuel_data(line_id="L1002", gb_amount=2.0)`: one way to write them, several
that are read.

The text is a stranger's. It is read sign by sign, within the limits of all JSON here, and nothing
is evaluated.
"""

import json
import re
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

from rpms.foreign.json_text import DECODER, NotJson, check_depth, loads

LONGEST_CALL = 4_000
"""Characters of a call that are read; the longest in a world here has about a hundred."""

_NAME = re.compile(r"\s*([A-Za-z_]\w{0,99})\s*\(\s*")
_KEY = re.compile(r"\s*(?:([A-Za-z_]\w{0,99})|\"(\w{1,100})\"|'(\w{1,100})')\s*[=:]\s*(?![=:])")
_QUOTED = re.compile(r"'((?:[^'\\]|\\.)*)'")
_BARE = re.compile(r"[^\s,()\[\]{}\"'=]+")
_NEXT = re.compile(r"\s*(,|\))\s*")
_WORDS: Mapping[str, object] = {"True": True, "False": False, "None": None}


class NotACall(ValueError):
    """A text is no tool call; its words say why, and are fit to be shown."""


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A tool's name and what it is given."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        given: list[str] = []
        for name, value in self.arguments.items():
            given.append(f"{name}={json.dumps(value, ensure_ascii=False)}")
        return f"{self.name}({', '.join(given)})"

    def ordered(self, parameters: Sequence[str]) -> Self:
        """The call with its arguments in the tool's own order; arguments that the tool lacks come
        last.
        """
        known = {name: self.arguments[name] for name in parameters if name in self.arguments}
        return replace(self, arguments={**known, **self.arguments})


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as a server is told of it."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(
        default_factory=lambda: {"type": "object", "properties": {}}
    )
    """A JSON schema of its arguments."""

    def narrowed_to(self, calls: Sequence[WrittenCall]) -> Self:
        """The tool narrowed to the arguments of some calls, and to their values."""
        properties = {}
        required: list[str] = []
        for name, schema in self.parameters.get("properties", {}).items():
            given = [call.arguments[name] for call in calls if name in call.arguments]
            if not given:
                continue
            values = {json.dumps(value): value for value in given}
            properties[name] = {**schema, "enum": list(values.values())}
            if len(given) == len(calls):
                required.append(name)
        return replace(
            self, parameters={**self.parameters, "properties": properties, "required": required}
        )


def narrowed(tools: Sequence[Tool], actions: Sequence[str]) -> tuple[Tool, ...]:
    """The tools that some actions call, each with the values that these give it; if no action is a
    call, all tools.
    """
    calls: dict[str, list[WrittenCall]] = {}
    for action in actions:
        with suppress(NotACall):
            call = read_call(action)
            calls.setdefault(call.name, []).append(call)
    called = [tool.narrowed_to(calls[tool.name]) for tool in tools if tool.name in calls]
    return tuple(called or tools)


def read_call(text: str, signatures: Mapping[str, Sequence[str]] | None = None) -> WrittenCall:
    """Read a call: as written here, with other quotes, or as JSON; unnamed arguments go by the
    signature.
    """
    if len(text) > LONGEST_CALL:
        raise NotACall("the call is too long")
    text = text.strip()
    try:
        call = _from_json(text) if text.startswith("{") else _from_text(text, signatures or {})
        check_depth(dict(call.arguments))
    except NotJson as error:
        raise NotACall(str(error)) from None
    except RecursionError:
        raise NotACall("nested too deeply") from None
    return call


def from_fields(name: object, arguments: object) -> WrittenCall:
    """A call as a model's server sends it: a name, and the arguments as JSON or as its text."""
    if not isinstance(name, str) or not name:
        raise NotACall("the call names no tool")
    try:
        value = loads(arguments or "{}") if isinstance(arguments, str) else arguments
    except NotJson as error:
        raise NotACall(f"the arguments of {name[:100]} are not JSON: {error}") from None
    if value is not None and not isinstance(value, dict):
        raise NotACall(f"the arguments of {name[:100]} are no JSON object")
    return WrittenCall(name, value or {})


def _from_json(text: str) -> WrittenCall:
    value = loads(text)
    if not isinstance(value, dict) or "name" not in value:
        raise NotACall('a call in JSON is {"name": …, "arguments": {…}}')
    return from_fields(value["name"], value.get("arguments", value.get("parameters", {})))


def _from_text(text: str, signatures: Mapping[str, Sequence[str]]) -> WrittenCall:
    """Read `name(argument=value, …)`; values without a name are for the parameters in order."""
    opening = _NAME.match(text)
    if opening is None:
        raise NotACall("write a tool call: name(argument=value, …)")
    name = opening[1]
    arguments, end = _read_arguments(text, opening.end(), name, signatures.get(name, ()))
    if text[end:].strip(" .;"):
        raise NotACall(f"more follows after {name}(…); make one call at a time")
    return WrittenCall(name, arguments)


class _Read(NamedTuple):
    """Something that was read from a text, and where it ends."""

    value: Any
    end: int


def _read_arguments(text: str, place: int, name: str, parameters: Sequence[str]) -> _Read:
    """The arguments of a call from behind its opening bracket; they end with the closing one."""
    arguments: dict[str, Any] = {}
    if text.startswith(")", place):
        return _Read(arguments, place + 1)
    while True:
        key = _KEY.match(text, place)
        if key is not None:
            parameter = key[1] or key[2] or key[3]
            place = key.end()
        else:
            parameter = _next_parameter(name, parameters, arguments)
        if parameter in arguments:
            raise NotACall(f"{name} is given {parameter} twice")
        value = _read_value(text, place, name)
        arguments[parameter] = value.value
        following = _NEXT.match(text, value.end)
        if following is None:
            raise NotACall(f"the arguments of {name} do not end with a bracket")
        place = following.end()
        if following[1] == ")":
            return _Read(arguments, place)


def _next_parameter(name: str, parameters: Sequence[str], given: Container[str]) -> str:
    """The first parameter of a tool that was not given yet: a value without a name is for it."""
    for parameter in parameters:
        if parameter not in given:
            return parameter
    raise NotACall(f"an argument of {name} has no name; write {name}(argument=value, …)")


def _read_value(text: str, place: int, name: str) -> _Read:
    """The value that begins at a place."""
    quoted = _QUOTED.match(text, place)
    if quoted is not None:
        return _Read(re.sub(r"\\(.)", r"\1", quoted[1]), quoted.end())
    with suppress(json.JSONDecodeError):
        value, end = DECODER.raw_decode(text, place)
        if _NEXT.match(text, end) or isinstance(value, str | list | dict):
            return _Read(value, end)
    bare = _BARE.match(text, place)
    if bare is None:
        raise NotACall(f"a value of {name} cannot be read")
    return _Read(_WORDS.get(bare[0], bare[0]), bare.end())
