"""Hostile text through the pages of a report, in a real browser: nothing of it may run, load or
break the page.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from random import Random

from attacks.mutate import NASTY_TEXTS
from attacks.watch import Tally
from rpms.report.pages import write_report
from rpms.store.episodes import content_text, packed, unpacked
from rpms.store.protocol import Protocol
from rpms.store.runs import EPISODES, PROTOCOL, RunFolder

SCRIPTS = (
    "</script><script>window.ran=1</script>",
    "\"><img src=x onerror='window.ran=1'>",
    "<svg/onload=window.ran=1>",
    "javascript:window.ran=1//",
    "<iframe srcdoc='<script>parent.ran=1</script>'>",
    "{{constructor.constructor('window.ran=1')()}}",
    "';window.ran=1;'",
    "\u2028window.ran=1\u2028",
    "<a href='javascript:window.ran=1'>x</a><base href=http://127.0.0.1:9/>",
    "<style>@import 'http://127.0.0.1:9/x';</style>",
)
KEPT = {"ending", "part", "fate", "kind", "form", "layout", "role", "trust"}
"""Fields with one of a few words: an episode with another would be refused, and nothing of it
shown."""
HEAD = (
    "version",
    "task",
    "type",
    "goal",
    "goal_signature",
    "ending",
    "score",
    "won",
    "error",
    "metrics",
)
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-sync",
)


def poisoned(value: object, dice: Random, key: str = "") -> object:
    """The same JSON with something hostile behind every text in it."""
    match value:
        case str():
            return value if key in KEPT else value + dice.choice(SCRIPTS) + dice.choice(NASTY_TEXTS)
        case list() if key == "cut":
            return value
        case list():
            return [poisoned(item, dice, key) for item in value]
        case dict() if key in ("containers", "last_seen"):
            return {
                name + dice.choice(SCRIPTS): poisoned(item, dice) for name, item in value.items()
            }
        case dict():
            return {name: poisoned(item, dice, name) for name, item in value.items()}
    return value


def poison(source: Path, out: Path, dice: Random) -> None:
    run, copy = RunFolder(source), RunFolder(out)
    names = tuple(
        f"{task}{dice.choice(SCRIPTS)}{place}" for place, task in enumerate(run.protocol.tasks)
    )
    settings = json.loads(json.dumps(run.protocol.settings))
    settings["model"] += dice.choice(SCRIPTS)
    (out / EPISODES).mkdir(parents=True)
    (out / PROTOCOL).write_text(Protocol(names, settings).text())
    for task, name in zip(run.protocol.tasks, names, strict=True):
        content = json.loads(unpacked(run.file(task)))
        content["row"]["error"] = "an error"
        content = poisoned(content, dice)
        assert isinstance(content, dict)
        content["row"]["task"] = name
        copy.file(name).write_bytes(packed(content_text(content)))
        copy.episode(name)


def page_campaign(count: int, seed: int, source: Path, folder: Path) -> Tally | None:
    """Open every page of so many poisoned reports; None where there is no browser to open them
    in.
    """
    browser = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    try:
        from playwright.sync_api import sync_playwright  # noqa: PLC0415  may be missing
    except ImportError:
        return None
    if browser is None or not count:
        return None
    tally = Tally()
    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=browser, headless=True, args=list(FLAGS))
        for number in range(count):
            dice = Random(f"{seed} page {number}")
            run = folder / f"run{number}"
            poison(source, run, dice)
            report = write_report([run], folder / f"report{number}", title=dice.choice(SCRIPTS))
            for name in ("index.html", "tasks.html", "episode.html#0/0", "episode.html#0/1/2"):
                troubles: list[str] = []
                page = opened.new_page()
                page.on(
                    "pageerror",
                    lambda error, all_=troubles: all_.append(f"error on the page: {error}"[:80]),
                )
                page.on(
                    "dialog",
                    lambda dialog, all_=troubles: (all_.append("a dialog"), dialog.dismiss()),
                )
                page.on(
                    "request",
                    lambda asked, all_=troubles: (
                        None
                        if asked.url.startswith(("file:", "data:"))
                        else all_.append("a request")
                    ),
                )
                file, _, place = name.partition("#")
                page.goto(
                    (report.folder / file).resolve().as_uri() + (f"#{place}" if place else "")
                )
                page.wait_for_timeout(150)
                if page.evaluate("window.ran !== undefined"):
                    troubles.append("a script ran")
                page.close()
                tally.tries += 1
                for trouble in troubles:
                    tally.failures[trouble] += 1
        opened.close()
    return tally
