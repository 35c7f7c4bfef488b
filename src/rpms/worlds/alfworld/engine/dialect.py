"""Dialects of ALFWorld's games, and proof that a game's texts are those of its releases.

The engine does not interpret actions: it implements ALFWorld's. So each action and wording of a
file is compared with those of the two releases, and a file with any other is refused; nothing in a
grammar is evaluated. The releases differ in four places, each recognised on its own, so a mixture
of them plays as its texts say.
"""

import json
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

from rpms.worlds.alfworld.engine import texts
from rpms.worlds.alfworld.engine.pddl import Damage, SExpr, header, quoted, read_list
from rpms.worlds.alfworld.engine.texts import DIALECTS, ReleaseName

MAX_DOMAIN = 200_000
"""Characters of a domain: ten times the official ones."""
MAX_GRAMMAR = 400_000

_SPACE = re.compile(r"(?:\s|#[^\n]*(?:\n|$))*")
_HEAD = re.compile(r"action\s+([\w/-]+)\s*\{")
_FIELD = re.compile(
    r"(?P<name>template|feedback|pddl|grammar)\s*::\s*"
    r'("""(?P<block>.*?)"""|"(?P<line>[^"]*)")\s*;',
    re.DOTALL,
)
_TASK = "Your task is to: "


class Dialect(NamedTuple):
    """Differences between games of the two releases."""

    name: ReleaseName
    arrives_at_location: bool
    """`go to` answers with the location's name (0.3) or the receptacle's (0.4)."""
    any_sink: bool
    """A receptacle of type Sink cleans too (0.3), not only a SinkBasin."""
    help: str | None
    """Answer to `help`, where it is a command."""


class Domain(NamedTuple):
    """A domain's name, its actions by lower-case name, and its other sections."""

    name: str
    actions: Mapping[str, SExpr]
    others: list[SExpr]


class ActionTexts(NamedTuple):
    """An action's command, and the text that answers."""

    command: str
    answer: str


class Grammar(NamedTuple):
    """TextWorld's texts of a game, and the rules they are put together by."""

    actions: Mapping[str, ActionTexts]
    """The texts of each action, by its name in small letters."""
    rules: Mapping[str, Any]
    """Symbol → its alternatives, as the grammar writes them."""


def _domain(text: str) -> Domain:
    top = read_list(text, MAX_DOMAIN)
    actions: dict[str, SExpr] = {}
    others: list[SExpr] = []
    for section in top[2:]:
        if not isinstance(section, list) or not section:
            raise Damage("has a malformed section")
        if section[0] != ":action":
            others.append(section)
        elif len(section) < 2 or not isinstance(section[1], str) or section[1] in actions:
            raise Damage("has an action without a name of its own")
        else:
            actions[section[1]] = section
    return Domain(header(top, "domain"), actions, others)


def read_grammar(text: str) -> Grammar:
    """Read a grammar. Raises Damage for anything TextWorld could not read."""
    if len(text) > MAX_GRAMMAR:
        raise Damage(f"is {len(text):,} characters long; the limit is {MAX_GRAMMAR:,}")
    actions: dict[str, ActionTexts] = {}
    rules: dict[str, Any] = {}
    at = _skip(text, 0)
    while at < len(text):
        head = _HEAD.match(text, at)
        field = _FIELD.match(text, at)
        if head is not None:
            action = _action(text, head)
            fields = action.fields
            actions[head[1].lower()] = ActionTexts(fields["template"], fields["feedback"])
            rules.update(_rules(_without_comments(fields.get("grammar", "{}"))))
            at = action.end
        elif field is not None and field["name"] == "grammar" and field["block"] is not None:
            rules.update(_rules(field["block"]))
            at = field.end()
        else:
            raise Damage("is not a TextWorld grammar", text.count("\n", 0, at) + 1)
        at = _skip(text, at)
    return Grammar(actions, rules)


class _Action(NamedTuple):
    """An action of a grammar: its fields, and where its text ends."""

    fields: Mapping[str, str]
    end: int


def _action(text: str, head: re.Match[str]) -> _Action:
    """Read an action from after its head to its closing brace."""
    fields: dict[str, str] = {}
    at = _skip(text, head.end())
    while field := _FIELD.match(text, at):
        block = field["block"]
        fields[field["name"]] = field["line"] if block is None else block
        at = _skip(text, field.end())
    if text[at : at + 1] != "}":
        raise Damage("has an action that does not end", text.count("\n", 0, at) + 1)
    for name in ("template", "feedback"):
        if name not in fields:
            raise Damage(f"gives action {quoted(head[1])} no {name}")
    return _Action(fields, at + 1)


def _without_comments(block: str) -> str:
    lines = block.split("\n")
    return "\n".join(line for line in lines if not line.lstrip().startswith("#"))


def _skip(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return at if space is None else space.end()


def _rules(block: str) -> dict[str, Any]:
    try:
        data = json.loads(block)
    except (ValueError, RecursionError):
        raise Damage("has a block of rules that is not JSON") from None
    if not isinstance(data, dict):
        raise Damage("has a block of rules that is not a JSON object")
    return data


class _Release(NamedTuple):
    """A release's rules and wording, by this project's own texts of them."""

    domain: Domain
    grammar: Grammar


@cache
def _release(dialect: ReleaseName) -> _Release:
    return _Release(_domain(texts.domain(dialect)), read_grammar(texts.grammar(dialect, "")))


@lru_cache(maxsize=8)
def read_domain(text: str) -> Domain:
    """Read a domain and refuse it unless its actions are ALFWorld's.

    Remembered, since games share their domain.
    """
    domain = _domain(text)
    old, new = (_release(dialect).domain for dialect in DIALECTS)
    _check_rules_of_actions(domain, old, new)
    for section in domain.others:
        if section not in old.others:
            raise Damage(f"has a section {quoted(section[0])} other than ALFWorld's")
    return domain


def _check_rules_of_actions(domain: Domain, old: Domain, new: Domain) -> None:
    """Every action is defined as in one of the two releases; none is lacking but help."""
    for action in new.actions:
        if action in domain.actions:
            released = (old.actions.get(action), new.actions[action])
            if domain.actions[action] not in released:
                raise Damage(f"defines action {action!r} in another way than ALFWorld")
        elif action != "help":
            raise Damage(f"lacks ALFWorld's action {action!r}")
    unknown = sorted(domain.actions.keys() - new.actions.keys())
    if unknown:
        raise Damage(f"has an action {quoted(unknown[0])} that ALFWorld does not have")


class Recognised(NamedTuple):
    """The dialect of a game, and its goal in words."""

    dialect: Dialect
    task: str


def recognise(domain: Domain, grammar: Grammar) -> Recognised:
    """Recognise the dialect of a game, and read its goal sentence.

    Raises Damage when its wording is not ALFWorld's.
    """
    old, new = (_release(dialect).grammar for dialect in DIALECTS)
    _check_actions(domain, grammar, old, new)
    _check_rules(domain, grammar, old, new)
    puts = grammar.actions["putobject"] == old.actions["putobject"]
    if puts != (grammar.rules["PutObject.feedback"] == old.rules["PutObject.feedback"]):
        raise Damage("words 'putobject' in another way than ALFWorld")
    goal = _goal_sentence(grammar)
    arrival = "GotoLocation.feedback"
    old_cleaning = _release("0.3").domain.actions["cleanobject"]
    helped = None
    if "help" in domain.actions:
        helped = grammar.rules["help.feedback"][0]["rhs"].lstrip()  # as TextWorld's parser does
    dialect = Dialect(
        name="0.3" if puts else "0.4",
        arrives_at_location=grammar.rules[arrival] == old.rules[arrival],
        any_sink=domain.actions["cleanobject"] == old_cleaning,
        help=helped,
    )
    return Recognised(dialect, goal)


def _check_actions(domain: Domain, grammar: Grammar, old: Grammar, new: Grammar) -> None:
    """Every action is worded as in one of the two releases."""
    for action in domain.actions:
        if action not in grammar.actions:
            raise Damage(f"has no texts for action {action!r}")
        if grammar.actions[action] not in (old.actions.get(action), new.actions[action]):
            raise Damage(f"words {action!r} in another way than ALFWorld")


def _check_rules(domain: Domain, grammar: Grammar, old: Grammar, new: Grammar) -> None:
    """Every text but the task's is as in one of the two releases; help may be left out."""
    for name, rules in new.rules.items():
        needed = name != "task" and (name in old.rules or "help" in domain.actions)
        if needed and grammar.rules.get(name, "") not in (old.rules.get(name), rules):
            raise Damage(f"words {name!r} in another way than ALFWorld")


def _goal_sentence(grammar: Grammar) -> str:
    match grammar.rules.get("task"):
        case [{"rhs": str(task), **more}] if not more and "#" not in task:
            if task.startswith(_TASK):
                return task.removeprefix(_TASK)
    raise Damage("does not end its intro with a plain 'Your task is to: …'")
