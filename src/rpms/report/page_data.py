"""Data of the pages: script files that hand over JSON, since a page opened from disk may not fetch.

Each is one call with one ASCII string without `<`, so that no foreign text can end the string, the script or the line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from operator import attrgetter
from typing import Any

from rpms.core.episode import Happening
from rpms.core.prompt import SHARED, Block, Part
from rpms.report.outcomes import Comparison, condition_label, type_label
from rpms.report.verdicts import ENTRIES_IN_A_FILE
from rpms.store.episodes import CandidateRecord, EpisodeRecord, EpisodeRow, StepRecord

_LONG = frozenset({"observation", "answer", "thought", "result"})
"""The fields of a step that are long, and so stand once a page."""
CHUNK = 1_000
"""Tasks in one file of the index."""
BUCKET = 500
"""Episodes in one folder."""


def script(slot: str, value: object) -> str:
    """A script file that hands a value to the page under a name."""
    data = json.dumps(json.dumps(value, separators=(",", ":")))
    return f"RPMS.take({json.dumps(slot)},{data.replace('<', chr(92) + 'u003c')});\n"


def episode_path(condition: int, task: int) -> str:
    """File of an episode; the page knows it by the same two numbers."""
    return f"data/{condition}/{task // BUCKET}/{task}.js"


def meta(comparison: Comparison, title: str, shown: int) -> dict[str, Any]:
    """Script that every page loads first."""
    return {
        "title": title,
        "tasks": len(comparison.tasks),
        "shown": shown,
        "chunk": CHUNK,
        "bucket": BUCKET,
        "entries": ENTRIES_IN_A_FILE,
        "scored": comparison.scored,
        "types": {kind: type_label(kind) for kind in comparison.types},
        "shared": sorted(SHARED),
        "conditions": [
            {
                "name": results.name,
                "label": condition_label(results.name),
                "partial": bool(results.missing),
                "memory": bool(results.switches.get("memory", True)),
                "entries": results.memory_entries,
            }
            for results in comparison
        ],
    }


def task_chunks(comparison: Comparison, goals: Mapping[str, str]) -> Iterator[list[list[Any]]]:
    """Tasks by the thousand: id, type, goal where somebody has played it, and an outcome for each condition."""
    tasks = list(comparison.tasks.items())
    for start in range(0, len(tasks), CHUNK):
        yield [
            [task, kind, goals.get(task, ""), *(_outcome(each.rows.get(task)) for each in comparison)]
            for task, kind in tasks[start : start + CHUNK]
        ]


def _outcome(row: EpisodeRow | None) -> list[Any] | None:
    """Ending, won, score, steps, infeasible actions; None if there is no episode."""
    if row is None or row.missing:
        return None
    return [row.ending, int(row.won), row.score, row.steps, row.infeasible]


class _Texts(dict[str, int]):
    """Texts, each kept once, in the order in which they come."""

    def __missing__(self, text: str) -> int:
        return self.setdefault(text, len(self))


def episode_data(record: EpisodeRecord) -> dict[str, Any]:
    """An episode as its page needs it: texts once, by index."""
    texts = _Texts()
    row = record.row
    return {
        "task": row.task,
        "type": row.type,
        "goal": record.goal,
        "signature": record.goal_signature,
        "ending": str(row.ending),
        "won": row.won,
        "score": row.score,
        "error": row.error,
        "counts": [row.infeasible, row.foreseeable, row.repeated_failures, row.contradictions, row.surprises],
        "tokens": [row.usage.prompt_tokens, row.usage.cached_tokens, row.usage.completion_tokens],
        "rules": {tier: list(ids) for tier, ids in record.rules.items()},
        "steps": [_step(record, step, texts) for step in record.steps],
        "texts": list(texts),
    }


def _step(record: EpisodeRecord, step: StepRecord, texts: _Texts) -> dict[str, Any]:
    belief, place = step.belief, texts.__getitem__
    prompt = record.prompt(step.number)
    return {
        "n": step.number,
        "observation": place(step.observation),
        "belief": [place(text) for text in belief.lines],
        "location": belief.location,
        "holding": list(belief.holding),
        "containers": dict(belief.containers),
        "seen": dict(belief.last_seen),
        "state": belief.signature,
        "progress": [step.progress.text, step.progress.done, step.progress.total],
        "candidates": _candidates(step.candidates, texts),
        "unlisted": step.unlisted,
        "prompt": [[str(block.part), block.tokens, [place(text) for text in _texts(block)]] for block in prompt.blocks],
        "cut": [[str(part), place(item)] for part, item in prompt.cut],
        **{name: place(value) if name in _LONG else value for name, value in _done(step)},
        "tokens": [step.usage.prompt_tokens, step.usage.cached_tokens, step.usage.completion_tokens],
        "extras": dict(step.extras),
        **({"left_out": place("\n".join(step.left_out))} if step.left_out else {}),
    }


def _texts(block: Block) -> Sequence[str]:
    """A block as texts; the turns of a history one by one, since the next step's history repeats them."""
    return block.items if block.part is Part.HISTORY and not block.heading else (block.text,)


def _done(step: StepRecord) -> Iterator[tuple[str, Any]]:
    """The model's answer and its result, by the step's names for them."""
    for each in fields(Happening):
        if each.name not in ("number", "observation", "usage"):
            value = getattr(step, each.name)
            yield each.name, [asdict(one) for one in value] if each.name == "surprises" else value


def _candidates(candidates: Sequence[CandidateRecord], texts: _Texts) -> list[list[Any]]:
    verdict = attrgetter("fate", "reason", "rule", "fact")
    return [
        [each.entry, each.kind, texts[each.wording], round(each.score, 3), round(each.rank, 3), *verdict(each)]
        for each in candidates
    ]
