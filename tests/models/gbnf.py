"""A reader of the part of GBNF that the package writes: it tells whether a text is in a
grammar's language.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""\s+|(?P<string>"(?:[^"\\]|\\.)*")|(?P<set>\[\^(?:[^\]\\]|\\.)*\])|(?P<name>[a-z]+)"""
    r"""|(?P<mark>[|?*])|\{(?P<most>0,\d+)\}"""
)
_ESCAPES = {"n": "\n", '"': '"', "\\": "\\"}


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", lambda found: _ESCAPES[found[1]], text)


def _expression(rules: dict[str, str], name: str) -> str:
    """A rule as a regular expression of Python's, which escapes by its own means.

    No rule here calls itself.
    """
    made, body, at = "", rules[name], 0
    while at < len(body):
        found = _TOKEN.match(body, at)
        assert found is not None, f"not GBNF: {body[at : at + 20]!r}"
        at = found.end()
        if found["string"]:
            made += f"(?:{re.escape(_unquoted(found['string'][1:-1]))})"
        elif found["set"]:
            made += "[^" + "".join(map(re.escape, _unquoted(found["set"][2:-1]))) + "]"
        elif found["name"]:
            made += f"(?:{_expression(rules, found['name'])})"
        elif found["most"]:
            made += f"{{{found['most']}}}"
        else:
            made += found["mark"] or ""
    return made


def matches(grammar: str, text: str) -> bool:
    rules = dict(line.split(" ::= ", 1) for line in grammar.split("\n") if line)
    return re.fullmatch(_expression(rules, "root"), text) is not None
