"""Conversion of episodes from the form before version 2: tables of texts, belief deltas,
histories left out.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from rpms.foreign.file_reader import read_bytes
from rpms.foreign.json_text import NotJson, from_json, loads
from rpms.foreign.limits import LARGEST_EPISODE
from rpms.logic.errors import FileError
from rpms.paper.prompt import Block, Part, Turn, transcript
from rpms.store.episodes import EpisodeRecord, episode_text, file_name, packed
from rpms.store.files import locked, write_whole
from rpms.store.runs import EPISODES

_HAPPENED: Mapping[str, Any] = {
    "action": None,
    "command": "",
    "repairs": [],
    "score": 0.0,
    "infeasible": False,
    "objection": "",
    "contradictions": [],
    "usage": {},
    "unlisted": 0,
    "extras": {},
}
"""Fields of a step that were left out where they said this."""


def convert_run(folder: Path) -> int:
    """Write the episodes of a run folder anew, each whole before its old file goes; how many
    there were.
    """
    with locked(folder):
        old = sorted((folder / EPISODES).glob("*.json"))
        for file in old:
            record = _record(file)
            write_whole(
                file.with_name(f"{file_name(record.task)}.gz"), packed(episode_text(record))
            )
            file.unlink()
    return len(old)


def _record(file: Path) -> EpisodeRecord:
    data = read_bytes(file, LARGEST_EPISODE)
    body, _, seal = data.rpartition(b'"sha256":"')
    if hashlib.sha256(body).hexdigest().encode() != seal[:64]:
        raise FileError(
            file,
            None,
            "was cut off or changed after it was written; remove it, and it is played again",
        )
    try:
        return from_json(EpisodeRecord, json.loads(json.dumps(_Old(loads(data)).episode())))
    except (NotJson, KeyError, IndexError, TypeError, AttributeError) as error:
        raise FileError(file, None, f"is not an episode of the earlier form: {error}") from None


class _Old:
    """An episode in the earlier form, and what its steps have told so far."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        self._content = content
        self._texts: list[str] = content["texts"]
        self._known: dict[str, dict[str, Any]] = {"containers": {}, "last_seen": {}}
        steps, texts = content["steps"], self._texts
        turns = [
            Turn(texts[step["observation"]], step.get("command", ""), texts[step["thought"]])
            for step in steps
        ]
        usual = transcript(turns, "")[0]
        retold = {place: step for place, step in enumerate(steps) if "turn" in step}
        items = [
            texts[retold[n]["turn"]] if n in retold else item for n, item in enumerate(usual.items)
        ]
        spoken = [
            retold[n].get("spoken", 0) if n in retold else begin
            for n, begin in enumerate(usual.spoken)
        ]
        self._turns = Block(Part.HISTORY, "", tuple(items), 0, tuple(spoken))

    def episode(self) -> dict[str, Any]:
        old = self._content
        row = {name: old[name] for name in ("task", "type", "ending", "score", "error")}
        kept = {
            name: old[name]
            for name in ("goal", "goal_signature", "rules", "layout", "form")
            if name in old
        }
        steps = [self._step(step) for step in old["steps"]]
        return {
            "row": {**row, **old["metrics"], "trial": old.get("trial", 0)},
            **kept,
            "steps": steps,
        }

    def _step(self, step: Mapping[str, Any]) -> dict[str, Any]:
        texts, belief = self._texts, dict(step["belief"])
        for name, values in self._known.items():
            values.update(belief.get(name, {}))
            belief[name] = {key: value for key, value in values.items() if value is not None}
        belief["lines"] = [texts[line] for line in belief["lines"]]
        blocks, dropped = self._prompt(step)
        candidates = [self._content["candidates"][place] for place in step.get("candidates", ())]
        return {
            **{name: step.get(name, usual) for name, usual in _HAPPENED.items()},
            **{name: texts[step[name]] for name in ("observation", "answer", "thought", "result")},
            "number": step["number"],
            "belief": belief,
            "progress": dict(
                zip(("sub_goal", "target", "done", "total"), step["progress"], strict=True)
            ),
            "prompt": [asdict(block) for block in blocks],
            "cut": [*((part, texts[place]) for part, place in step.get("cut", ())), *dropped],
            "candidates": [{**each, "wording": texts[each["wording"]]} for each in candidates],
            "left_out": texts[step["left_out"]].split("\n") if "left_out" in step else [],
        }

    def _prompt(self, step: Mapping[str, Any]) -> tuple[list[Block], list[tuple[Part, str]]]:
        """The blocks of a step's prompt, and the turns that its history left out."""
        blocks: list[Block] = []
        texts, told, dropped = self._texts, step.get("history") or {}, range(0)
        for place in step["prompt"]:
            if place >= 0:
                known = self._content["blocks"][place]
                blocks.append(
                    Block(Part(known["part"]), "", (texts[known["text"]],), known["tokens"])
                )
            elif "text" in told:
                blocks.append(Block(Part.HISTORY, "", (texts[told["text"]],), told["tokens"]))
            else:
                dropped = range(1, 1 + told.get("dropped", 0))
                shown = self._turns.keeping(
                    turn for turn in range(step["number"] - 1) if turn not in dropped
                )
                blocks.append(
                    replace(
                        shown.opening_alone() if told.get("alone") else shown, tokens=told["tokens"]
                    )
                )
        return blocks, [(Part.HISTORY, self._turns.items[turn]) for turn in dropped]
