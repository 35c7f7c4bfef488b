"""Needs of tools, from the log of a guard: the same induction as for a world's actions, over a
manual's facts.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rpms.foreign.shown import excerpt
from rpms.guard.calls import ToolEffect, ToolManual, ToolSchema, Tried
from rpms.guard.tool_manuals import LAST_LINE, TOOL_MANUAL, read_tool_manual
from rpms.induction.conclusions.action_model import Induced
from rpms.induction.conclusions.needs import Needs
from rpms.induction.evidence.attempts import Attempt, Book
from rpms.induction.evidence.literals import bits_of
from rpms.induction.evidence.vocabulary import Vocabulary
from rpms.induction.manuals.hand_edits import with_edits
from rpms.logic.errors import FileError, InputError
from rpms.logic.facts import Atom, Clause, Truth, parse_clause
from rpms.store.evidence import (
    GUARD,
    Claim,
    Evidence,
    Label,
    Witness,
    evidence_file,
    manual_before,
    write_learned,
)
from rpms.store.manual_reader import manual_text
from rpms.store.yaml_files import manual_yaml, plain, read_yaml


@dataclass(frozen=True)
class ToolsLearned:
    """Result of reading a log."""

    evidence: Evidence
    calls: int
    failed: int
    silent: tuple[str, ...]
    """Tools that never failed, or never succeeded: nothing is known of what they need."""
    edits: tuple[Claim, ...]

    @property
    def needs(self) -> tuple[Claim, ...]:
        """Needs of tools that are taken as certain."""
        return tuple(claim for claim in self.evidence.claims if claim.stands)

    @property
    def possible(self) -> tuple[Claim, ...]:
        """Possible needs: never the only thing that was missing, and so not in the manual."""
        return tuple(claim for claim in self.evidence.claims if claim.label is Label.POSSIBLE)


_ARGUMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""Names that a manual can write: whoever wrote the call chose those of its arguments."""


@dataclass
class _Tool:
    """All calls of one tool."""

    name: str
    book: Book
    errors: dict[Witness, str] = field(default_factory=dict)

    def add(self, tried: Tried) -> None:
        """Take over a call as an attempt without slots: its facts name its arguments."""
        seen = [atom for atom in (*tried.before, *tried.after) if _is_writable(atom)]
        # new facts come last, so that earlier attempts know nothing of them
        self.book.facts = list(dict.fromkeys((*self.book.facts, *seen)))
        witness = Witness(tried.session or "log", tried.step)
        attempt = Attempt(
            witness,
            names=(),
            kinds=(),
            refused=tried.failed,
            true=self._mask(tried.before, Truth.TRUE),
            false=self._mask(tried.before, Truth.FALSE),
            true_after=self._mask(tried.after, Truth.TRUE),
            false_after=self._mask(tried.after, Truth.FALSE),
            revealed=0,
            revealed_after=0,
        )
        self.book.attempts.append(attempt)
        if tried.failed:
            self.errors[witness] = tried.error
            self.book.refused[()] += 1
        else:
            self.book.worked[()] += 1

    def _mask(self, values: Mapping[Atom, Truth], truth: Truth) -> int:
        """A bit for each fact that has a value."""
        return bits_of(values.get(atom) is truth for atom in self.book.facts)

    @property
    def is_silent(self) -> bool:
        """True if it never failed, or never succeeded."""
        return not (self.book.worked and self.book.refused)

    def worked_without(self, clause: Clause) -> bool:
        """True if a call worked while the clause, over the book's facts, was known not to hold."""
        opposites = [literal.opposite() for literal in clause.literals]
        for success in self.book.successes:
            if all(self.book.holds(opposite, success) for opposite in opposites):
                return True
        return False


def _is_writable(atom: Atom) -> bool:
    return all(_ARGUMENT.fullmatch(arg) for arg in atom.args)


def learn_tools(tried: Iterable[Tried], manual: Path, out: Path) -> ToolsLearned:
    """Learn what tools need, and write the manual with what is certain, and the evidence beside
    it.
    """
    _require_other_file(out, manual)
    before = manual_before(out)
    source = read_yaml(str(manual), manual_text(manual).text, TOOL_MANUAL)
    declared = read_tool_manual(manual_text(manual))
    tools = _read_calls(tried, declared)
    attempts = _attempts_of(tools)
    if not attempts:
        raise InputError("there is nothing to learn from: the log has no call with a result")
    claims = _claims_of_all(tools, declared)
    tree: Any = plain(source.tree)
    for claim in claims:
        if claim.stands:
            _put(tree, claim, tools[claim.owner])
    head = (
        f"{manual.name} with what `rpms rules learn` found in {len(attempts)} calls;"
        f" evidence: {evidence_file(out).name}."
    )
    final, edits = with_edits(out, TOOL_MANUAL, before, tree)
    text = _whole(manual_yaml(final, [head]))
    _check_readable(out, text)
    sessions = {attempt.witness.episode for attempt in attempts}
    evidence = Evidence(
        "",
        (*claims, *edits),
        episodes=len(sessions),
        steps=len(attempts),
        written=_whole(manual_yaml(tree, [head])),
        settings={GUARD: manual.name},
    )
    write_learned(out, text, evidence)
    return ToolsLearned(
        evidence,
        calls=len(attempts),
        failed=sum(attempt.refused for attempt in attempts),
        silent=tuple(name for name, tool in tools.items() if tool.is_silent),
        edits=tuple(edits),
    )


def _require_other_file(out: Path, manual: Path) -> None:
    if out.absolute() == manual.absolute():
        raise InputError(f"{out}: is the manual that is learned from; choose another --out")


def _claims_of_all(tools: Mapping[str, _Tool], declared: ToolManual) -> list[Claim]:
    claims: list[Claim] = []
    for tool in tools.values():
        claims += _claims(tool, declared.tools.get(tool.name))
    return claims


def _attempts_of(tools: Mapping[str, _Tool]) -> list[Attempt]:
    attempts: list[Attempt] = []
    for tool in tools.values():
        attempts += tool.book.attempts
    return attempts


def _read_calls(tried: Iterable[Tried], declared: ToolManual) -> dict[str, _Tool]:
    """The calls of each tool, with the manual's facts as they were before."""
    predicates = {name: fact.predicate for name, fact in declared.facts.items()}
    tools: dict[str, _Tool] = {}
    for each in tried:
        name = each.call.tool
        if name not in tools:
            tools[name] = _Tool(name, Book(name, Vocabulary(predicates)))
        tools[name].add(each)
    return tools


def _check_readable(out: Path, text: str) -> None:
    """Refuse to write a manual that could not be read: a person's edit may have a mistake."""
    try:
        read_tool_manual((str(out), text))
    except FileError as error:
        raise InputError(
            f"{out}: would have a mistake: {error.problem}. Nothing was written"
        ) from None


def _whole(text: str) -> str:
    """A manual that says it is not half saved."""
    return f"{text}{LAST_LINE}\n"


def _claims(tool: _Tool, declared: ToolSchema | None) -> Iterator[Claim]:
    """Needs of a tool.

    One that a person has given needs keeps those: its unknown facts are theirs to judge.
    """
    effects: Sequence[ToolEffect] = ()
    if declared is not None:
        if declared.needs:
            return
        effects = declared.effects
    if not tool.book.refused:
        return
    for fact in Needs(tool.book).facts():
        if fact.label is Label.UNTESTED or tool.worked_without(fact.clause):
            continue
        if _is_made_by(effects, fact.clause):
            continue
        notes = [fact.note, _error_without(tool, fact)]
        noted = replace(fact, note="; ".join(filter(None, notes)))
        yield noted.claim(("tools", tool.name), "needs", str(fact.clause))


def _is_made_by(effects: Iterable[ToolEffect], clause: Clause) -> bool:
    """True if a tool brings about a fact of the kind that a clause asks for."""
    made = {effect.literal.signed for effect in effects}
    return any(literal.signed in made for literal in clause.literals)


def _error_without(tool: _Tool, fact: Induced) -> str:
    """The most common error of calls that lacked a certain need; empty if none is known."""
    if fact.label is not Label.NECESSARY:
        return ""
    errors = [tool.errors[each] for each in fact.witnesses if each in tool.errors]
    if not errors:
        return ""
    [(common, _)] = Counter(errors).most_common(1)
    return f"without it: {excerpt(common, 80)}"


def _put(tree: dict[str, Any], claim: Claim, tool: _Tool) -> None:
    """Put a need into the manual; a tool that it does not declare is declared."""
    entries = tree.setdefault("tools", {})
    entry = entries.get(tool.name)
    if not isinstance(entry, dict):  # nothing, or the names of its arguments alone
        entry = {"args": entry or _arguments(tool)}
        entries[tool.name] = entry
    args = entry.get("args", [])
    missing = set(parse_clause(claim.text).names) - set(args)
    entry["args"] = [*args, *sorted(missing)]
    entry.setdefault("unknown", "pass")
    needs = entry.get("needs", [])
    if isinstance(needs, str):  # a string stands for a list of one
        needs = [needs]
    entry["needs"] = needs if claim.text in needs else [*needs, claim.text]


def _arguments(tool: _Tool) -> list[str]:
    """The arguments that a tool's facts name, in the order in which they came up."""
    found: dict[str, None] = {}
    for atom in tool.book.facts:
        found |= dict.fromkeys(atom.args)
    return list(found)
