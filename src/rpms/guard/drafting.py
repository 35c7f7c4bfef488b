"""Drafts of a manual: from the tools that a server lists, and rules from the sentences of a
written policy.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rpms.foreign.json_text import NotJson, loads
from rpms.foreign.shown import excerpt
from rpms.guard.calls import RESULT, ToolManual
from rpms.guard.tool_manuals import ARGUMENT, LAST_LINE, read_tool_manual
from rpms.logic.errors import FileError
from rpms.store.manual_reader import ManualSource

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n\s*(?:[-*#]+|\d+[.)])\s*|\n\s*\n")
_HEAD = """# Drafted from what the server says of its tools. A person approves every call of a tool that does not say it only
# reads, and whatever a rule cannot tell. Tools that the server adds later are refused until they are declared here.
# Next: rpms guard mcp --observe-only --manual THIS --log calls.jsonl -- the server; then
# rpms rules learn THIS --from calls.jsonl --out LEARNED adds what the recorded calls show that tools need.
others: refuse
unknown: ask
"""  # noqa: E501  a comment in a file
_TASK = """Turn one sentence of a policy into a rule on tool calls, as one JSON object:
{"tools": [names], "when": [facts], "requires": [facts], "instead": "what to do instead"}
Without `requires`, what `when` says is forbidden. Facts take arguments of the tools; `not` negates one.
Answer {} if no call of these tools can break the sentence, or no fact below tells."""  # noqa: E501  a prompt


def draft_manual(tools: Sequence[Mapping[str, Any]]) -> str:
    """A manual of the tools in an answer to `tools/list`: required arguments are needed, and a
    person approves whatever may destroy something.
    """
    entries: list[str] = []
    policies: list[str] = []
    for tool in tools:
        said = excerpt(tool.get("description") or "", 100)
        if said:
            entries.append(f"  # {said}")
        entries.append(f"  {json.dumps(tool['name'])}: {json.dumps(_entry(tool))}")
        if _may_destroy(tool):
            rule = {
                "text": f"A person approves {tool['name']}.",
                "tools": tool["name"],
                "asks": True,
            }
            words = re.sub("[^A-Z0-9]+", "-", tool["name"].upper()).strip("-") or "TOOL"
            policies.append(f"  P-{words}-{len(policies) + 1:03}: {json.dumps(rule)}")
    lines = [_HEAD, "tools:", *(entries or ["  {}"])]
    if policies:
        lines += ["policies:", *policies]
    return "\n".join([*lines, f"{LAST_LINE}\n"])


def _entry(tool: Mapping[str, Any]) -> dict[str, Any]:
    """The declaration of a tool."""
    schema = _object_of(tool.get("inputSchema"))
    listed = _object_of(schema.get("properties"))
    names = [name for name in listed if ARGUMENT.fullmatch(name) and name != RESULT]
    entry: dict[str, Any] = {"args": names}
    required = [name for name in names if name in (schema.get("required") or ())]
    if required:
        entry["needs"] = [f"given({name})" for name in required]
    if _only_reads(tool):
        entry["reads"] = True
    return entry


def _object_of(value: Any) -> Mapping[str, Any]:
    """A value that should be an object; an empty one if it is not."""
    return value if isinstance(value, Mapping) else {}


def _only_reads(tool: Mapping[str, Any]) -> bool:
    return _object_of(tool.get("annotations")).get("readOnlyHint") is True


def _may_destroy(tool: Mapping[str, Any]) -> bool:
    """True unless a tool says otherwise: without hints, MCP takes it for destructive."""
    hints = _object_of(tool.get("annotations"))
    return not _only_reads(tool) and hints.get("destructiveHint") is not False


Drafted = tuple[str, dict[str, Any], str]
"""A sentence of a policy, and the rule that a model made of it, by its id; without one, why
there is none."""


def candidates(
    policy: str, sources: Sequence[ManualSource], ask: Callable[[str], str]
) -> Iterator[Drafted]:
    """Ask a model for a rule for each sentence of a policy.

    What it answers is data: only a rule that reads is kept.
    """
    task = _task(read_tool_manual(*sources))
    sentences = [" ".join(piece.split()) for piece in _SENTENCE.split(policy)]
    for number, sentence in enumerate(filter(None, sentences), start=1):
        try:
            found = _json_in(ask(f"{task}\nSentence: {sentence}"))
        except NotJson as error:
            yield sentence, {}, f"the answer is no JSON: {error}"
            continue
        if not isinstance(found, dict) or not found:
            yield sentence, {}, "no call can break it"
            continue
        rule: dict[str, Any] = {"text": sentence}
        for key in ("tools", "when", "requires", "instead"):
            if found.get(key):
                rule[key] = found[key]
        rule |= {"source": sentence, "draft": True}
        name = f"DRAFT-{number:03}"
        try:
            read_tool_manual(*sources, ("candidate", json.dumps({"policies": {name: rule}})))
        except FileError as error:
            yield sentence, {}, error.problem
            continue
        yield sentence, {name: rule}, ""


def _task(manual: ToolManual) -> str:
    """The question before each sentence: the tools and facts that a rule may name."""
    lines = [_TASK, "Tools:"]
    for name, tool in manual.tools.items():
        lines.append(f"{name}({', '.join(sorted(tool.arguments))})")
    lines.append("Facts:")
    for name, fact in manual.facts.items():
        lines.append(f"{name}({', '.join(fact.predicate.args)}): {fact.predicate.yes}")
    lines.append("given(argument): the call has the argument")
    return "\n".join(lines)


def _json_in(answer: str) -> object:
    """The value from the first to the last brace of an answer; empty where it has none."""
    text = answer[max(0, answer.find("{")) : answer.rfind("}") + 1]
    return loads(text or "{}", once=True)
