"""Data files that name code: worlds in folders, modules with parts.

None of it may be imported on a file's word.
"""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

from attacks.command import run_command
from attacks.mutate import NASTY_TEXTS
from rpms.store.protocol import Protocol

SEAMS = ("retriever", "consistency", "arbitration", "prompt", "harvest")


def named_code(dice: Random, folder: Path, _samples: Any) -> None:
    """A manual, memory, run or study whose world is a folder with code, spelled in some way; a
    study with a part.
    """
    evil = folder / "evil"
    evil.mkdir()
    ran = f"import pathlib\npathlib.Path({str(folder / 'ran')!r}).touch()\n"
    (evil / "pyproject.toml").write_text(
        '[project.entry-points."rpms.worlds"]\nevil = "evil_world:world"\n'
    )
    for name in ("evil_world", "evil_part"):
        (evil / f"{name}.py").write_text(ran)
        (folder / f"{name}.py").write_text(ran)
    (folder / "link").symlink_to(evil)
    (folder / "evil.egg-info").mkdir()
    (folder / "evil.egg-info" / "entry_points.txt").write_text(
        "[rpms.worlds]\nevil = evil_world:world\n"
    )
    spelled = (
        evil,
        f"{evil}/",
        f"{folder}/./evil",
        f"{evil}/../evil",
        evil.as_uri(),
        folder / "link",
        "evil",
        "./evil",
    )
    world = str(
        dice.choice(
            (
                *spelled,
                "evil/",
                "evil_world:world",
                "evil_world",
                "alfworld/../evil",
                "",
                ".",
                "~/evil",
            )
        )
    )
    manual, memory, run, study = (folder / name for name in ("m.yaml", "m.jsonl", "run", "s.yaml"))
    text = json.dumps(world if dice.random() < 0.9 else dice.choice(NASTY_TEXTS))
    manual.write_text(f"world: {text}\nuniversal: []\n")
    memory.write_text(json.dumps({"type": "memory", "world": world, "version": 1}) + "\n")
    run.mkdir()
    (run / "protocol.json").write_text(Protocol(("a",), {"world": world}).text())
    part = dice.choice(
        (
            "evil_part:run",
            "evil.evil_part:run",
            "evil_part:",
            ":run",
            "os:abort",
            f"{evil}/evil_part:run",
        )
    )
    seam, condition = dice.choice(SEAMS), dice.choice(("full", "baseline"))
    given = dice.choice(
        (f"{seam}: {json.dumps(part)}", f"? {seam}\n: !!str {json.dumps(part)}", "")
    )
    inner = dice.choice((f"{{{seam}: {json.dumps(part)}}}", ""))
    named = text if not (given or inner) else "alfworld"
    study.write_text(
        f"title: t\nworld: {named}\nmemory: none\n{given}\nconditions: {{{condition}: {inner}}}\n"
    )
    words = dice.choice(
        (
            ("rules", "verify", manual, run),
            ("rules", "diff", manual, manual),
            ("rules", "mend", manual, run),
            ("rules", "check", manual),
            ("memory", "junk", memory),
            ("memory", "show", memory),
            ("insights", run, "--model", "openai/x", "--out", folder / "i.jsonl"),
            ("table", "main", run),
            ("study", "check", study),
            ("study", "run", study, "--dry-run", "--model", "planner"),
        )
    )
    try:
        run_command([str(word) for word in words], folder)
    finally:
        if (folder / "ran").exists():
            raise AssertionError(f"{words[:2]} ran code for {world!r}, {part!r}")
