"""From an episode to the text of its file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rpms.core.belief import Belief
from rpms.core.decide import Decision
from rpms.core.episode import Episode, Step
from rpms.core.prompt import Block, Part, Prompt
from rpms.core.usage import Usage
from rpms.core.verdict import Candidate
from rpms.core.wording import memory_line
from rpms.store.episode_form import HISTORY_HERE, TEXTS, StepForm, seal
from rpms.store.episodes import usual_turns

_NOTHING: Mapping[str, Any] = {}


def episode_text(episode: Episode) -> str:
    """The whole file; equal episodes give equal texts, whatever their timings."""
    scribe = _Scribe(episode.steps)
    steps = [scribe.step(step) for step in episode.steps]
    pieces = [
        _json(_head(episode))[:-1],
        f'"rules":{_json(_rules(episode.steps))}',
        f'"candidates":{_lines(scribe.candidates.rows)}',
        f'"blocks":{_lines(scribe.blocks.rows)}',
        f'"steps":{_lines(steps)}',
        f'"texts":{_lines(scribe.texts.rows)}',
    ]
    return seal(",\n".join(pieces) + ",\n")


_json = json.JSONEncoder(ensure_ascii=True, separators=(",", ":")).encode
"""Plain ASCII, so that any text, half characters included, can be written and comes back as it was."""


def _lines(values: Sequence[object]) -> str:
    return "[\n" + ",\n".join(map(_json, values)) + "\n]" if values else "[]"


def _head(episode: Episode) -> dict[str, Any]:
    signature = str(episode.steps[0].decision.goal_signature) if episode.steps else ""
    return {
        "version": 1,
        "task": episode.task,
        "type": episode.type,
        "goal": episode.goal,
        "goal_signature": signature,
        "ending": str(episode.ending),
        "score": episode.score,
        "won": episode.won,
        "error": episode.error,
        **_filled(trial=episode.trial),
        "metrics": {
            "steps": len(episode.steps),
            "infeasible": episode.infeasible,
            "foreseeable": episode.foreseeable,
            "repeated_failures": episode.repeated_failures,
            "contradictions": episode.contradictions,
            "reasks": episode.reasks,
            "replaced": episode.replaced,
            **_filled(shortened=episode.shortened, crowded=episode.crowded, surprises=episode.surprises),
            "usage": _tokens(episode.usage),
        },
        **_arrangement(episode.steps),
    }


def _arrangement(steps: Sequence[Step]) -> dict[str, str]:
    """How the prompts of an episode were put together, where that is not the usual way."""
    usual, prompt = Prompt(()), steps[0].decision.prompt if steps else Prompt(())
    layout = {} if prompt.layout is usual.layout else {"layout": prompt.layout.name}
    return layout if prompt.form is usual.form else {**layout, "form": str(prompt.form)}


def _rules(steps: Sequence[Step]) -> dict[str, list[str]]:
    if not steps:
        return {}
    rules = steps[0].decision.rules
    return {
        "universal": [rule.id for rule in rules.universal],
        "domain": [rule.id for rule in rules.domain],
        "environment": [schema.name for schema in rules.environment],
    }


def _tokens(usage: Usage) -> dict[str, int]:
    """No seconds, and no requests: whether an answer was asked for or remembered depends on who asked first."""
    return _filled(
        prompt_tokens=usage.prompt_tokens,
        cached_tokens=usage.cached_tokens,
        completion_tokens=usage.completion_tokens,
        written_tokens=usage.written_tokens,
    )


def _filled(**fields: Any) -> dict[str, Any]:
    """The fields that say something."""
    return {name: value for name, value in fields.items() if value}


class _Table:
    """Values, each kept once."""

    def __init__(self) -> None:
        self.rows: list[Any] = []
        self._places: dict[Any, int] = {}

    def find(self, value: Any) -> int | None:
        """The index of a value that was placed before."""
        return self._places.get(value)

    def place(self, value: Any, row: Any = None) -> int:
        """The index of a value, which is written as `row`."""
        place = self._places.get(value)
        if place is None:
            place = self._places[value] = len(self.rows)
            self.rows.append(value if row is None else row)
        return place


class _Scribe:
    """Writes the steps of one episode, in their order."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.texts, self.candidates, self.blocks = _Table(), _Table(), _Table()
        self._steps = steps
        self._turns = list(usual_turns(steps).items)
        self._told: dict[int, dict[str, int]] = {}
        """Steps, by their index, of which histories tell in other words than usual: the text and where they begin."""
        self._containers: Mapping[str, bool] = _NOTHING
        self._last_seen: Mapping[str, str] = _NOTHING
        self._hear_thoughts_left_out()

    def _hear_thoughts_left_out(self) -> None:
        """Find the turns that histories tell in other words than usual, as they do of very long thoughts."""
        for number, step in enumerate(self._steps[1:], start=1):
            history = _history_of(step)
            shown = history.items[-1] if len(history.items) > 1 or number == 1 else None
            if shown is not None and shown != self._turns[number - 1]:
                self._turns[number - 1] = shown
                self._told[number - 1] = {"turn": self.texts.place(shown), "spoken": history.spoken[-1]}

    def step(self, step: Step) -> dict[str, Any]:
        """One step as JSON: what its form asks for, in that order, which is also the order that texts are placed in."""
        decision, text = step.decision, self.texts.place
        progress = decision.progress
        history, told = self._history(step)
        retold = self._told.get(step.number - 1, {})
        cut = [[str(part), text(item)] for part, item in decision.prompt.cut if told or part is not Part.HISTORY]
        known: Mapping[str, Callable[[], Any]] = {
            "belief": lambda: self._belief(decision),
            "progress": lambda: [progress.sub_goal, progress.target, progress.done, progress.total],
            "candidates": lambda: [self._candidate(candidate) for candidate in decision.candidates],
            "unlisted": lambda: decision.unlisted,
            "prompt": lambda: [self._block(block) for block in decision.prompt.blocks],
            "history": lambda: history or None,
            "cut": lambda: cut,
            "left_out": lambda: text("\n".join(decision.left_out)) if decision.left_out else None,
            "turn": lambda: retold.get("turn"),
            "spoken": lambda: retold.get("spoken"),
            "usage": lambda: _tokens(step.usage),
        }
        written: dict[str, Any] = {}
        for name, form in StepForm.model_fields.items():
            value = known[name]() if name in known else getattr(step, name)
            value = text(value) if name in TEXTS else value
            says = bool(value) if form.default is not None else value is not None
            if form.is_required() or says or name in retold:
                written[name] = value
        return written

    def _history(self, step: Step) -> tuple[dict[str, int], bool]:
        """What the steps before do not tell of a history, and whether its text had to be kept after all."""
        block = _history_of(step)
        if not block.items:
            return {}, False
        before = self._turns[: step.number - 1]
        dropped = [item for part, item in step.decision.prompt.cut if part is Part.HISTORY]
        alone = block.spoken[:1] == (0,) and before[0].startswith(f"{block.items[0]}\n")
        kept = [block.items[0] if alone else before[0], *before[1 + len(dropped) :]]
        if block.heading or list(block.items) != kept or dropped != before[1 : 1 + len(dropped)]:
            return {"tokens": block.tokens, "text": self.texts.place(block.text)}, True
        return {"tokens": block.tokens, **_filled(dropped=len(dropped), alone=alone)}, False

    def _belief(self, decision: Decision) -> dict[str, Any]:
        belief: Belief = decision.belief
        containers, last_seen = belief.containers, belief.last_seen
        changed = _filled(
            location=belief.location,
            holding=list(belief.holding),
            containers=_changes(self._containers, containers),
            last_seen=_changes(self._last_seen, last_seen),
        )
        self._containers, self._last_seen = dict(containers), dict(last_seen)
        lines = [self.texts.place(line) for line in belief.lines()]
        return {**changed, "lines": lines, "signature": str(decision.state_signature)}

    def _candidate(self, candidate: Candidate) -> int:
        verdict = candidate.verdict
        wording = self.texts.place(memory_line(candidate)) if candidate.adapted is not None else None
        key = (candidate.entry.id, candidate.score, candidate.rank, verdict, wording)
        known = self.candidates.find(key)
        if known is not None:
            return known
        row = {
            "entry": candidate.entry.id,
            "kind": str(candidate.entry.kind),
            "wording": self.texts.place(memory_line(candidate)) if wording is None else wording,
            "score": candidate.score,
            "rank": candidate.rank,
            "fate": str(verdict.fate),
            **_filled(reason=verdict.reason, rule=verdict.rule, fact=verdict.fact),
        }
        return self.candidates.place(key, row)

    def _block(self, block: Block) -> int:
        if block.part is Part.HISTORY:
            return HISTORY_HERE
        text = self.texts.place(block.text)
        return self.blocks.place(
            (block.part, block.tokens, text), {"part": str(block.part), "tokens": block.tokens, "text": text}
        )


_NO_HISTORY = Block(Part.HISTORY, "", (), 0)


def _history_of(step: Step) -> Block:
    return next((block for block in step.decision.prompt.blocks if block.part is Part.HISTORY), _NO_HISTORY)


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """What is new or otherwise in a mapping, and None for what is gone."""
    changed = {name: value for name, value in after.items() if name not in before or before[name] != value}
    return dict(sorted({**changed, **{name: None for name in before if name not in after}}.items()))
