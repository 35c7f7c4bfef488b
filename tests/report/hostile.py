"""A run in which everything that can speak, speaks script."""

from __future__ import annotations

import json
from pathlib import Path

from rpms.store.episodes import content_text, packed, unpacked
from rpms.store.protocol import Protocol
from rpms.store.runs import EPISODES, PROTOCOL, RunFolder

ATTACK = "</script><script>window.ran=1</script>\"><img src=x onerror='window.ran=1'>{{7*7}}\u2028\ud800javascript:ran=1"
KEPT = {"ending", "part", "fate", "kind", "layout", "form"}
"""Fields that must stay as they are for the file to be an episode at all."""


def poisoned(value, key=""):
    """The same JSON with the attack behind every text in it, names of fields that worlds choose
    included.
    """
    match value:
        case str():
            return value if key in KEPT else value + ATTACK
        case list() if key == "cut":
            return [[part, text + ATTACK] for part, text in value]
        case list():
            return [poisoned(item, key) for item in value]
        case dict() if key in ("containers", "last_seen", "rules", "extras"):
            return {name + ATTACK: poisoned(item) for name, item in value.items()}
        case dict():
            return {name: poisoned(item, name) for name, item in value.items()}
    return value


def poison(folder: Path, out: Path) -> Path:
    """Copy a run folder with every text of it poisoned."""
    run, copy = RunFolder(folder), RunFolder(out)
    names = tuple(task + ATTACK for task in run.protocol.tasks)
    settings = json.loads(json.dumps(run.protocol.settings))
    settings["model"] += ATTACK
    (out / EPISODES).mkdir(parents=True)
    (out / PROTOCOL).write_text(Protocol(names, settings).text())
    for task, name in zip(run.protocol.tasks, names, strict=True):
        content = json.loads(unpacked(run.file(task)))
        del content["sha256"]
        content["steps"][0]["extras"] = {
            "menu": ["go"],
            "refused": [{"command": "x", "reason": "y"}],
            "note": "z",
            "messages": [["user", "m"]],
        }
        content["steps"][0]["objection"] = content["steps"][0].get("objection") or "no"
        content["steps"][0]["infeasible"] = True
        content["steps"][0]["contradictions"] = ["drift"]
        content["row"]["error"] = "an error"
        if content["rules"]["universal"]:
            content["steps"][0]["left_out"] = content["rules"]["universal"][:1]
        copy.file(name).write_bytes(packed(content_text(poisoned(content))))
    return out
