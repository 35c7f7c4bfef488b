"""Kinds of fields for forms of pydantic, and what is wrong with a form in one line."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, PlainValidator, ValidationError

from rpms.foreign.limits import LONGEST_NUMBER
from rpms.foreign.shown import excerpt


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("should be a text")  # noqa: TRY004  what pydantic turns into a ValidationError
    return value


Text = Annotated[str, PlainValidator(_text)]
"""Any text, half characters included: some models write them, and pydantic's own texts cannot hold them."""
Count = Annotated[int, Field(ge=0, le=LONGEST_NUMBER, strict=True)]
"""A number of things."""


def first_mistake(error: ValueError) -> str:
    """The first breach of a form, and its place, in one line; what else is wrong as it says."""
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(map(str, first["loc"])) or "the whole"
    return excerpt(f"{place}: {first['msg'].removeprefix('Value error, ')}")
