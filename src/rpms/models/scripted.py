"""Models that need nothing installed and no key: answers from a file, and answers from a function."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rpms.core.errors import FileError, ModelError
from rpms.foreign.files import read_text
from rpms.foreign.json_text import NotJson, loads
from rpms.foreign.limits import LARGEST_SCRIPT
from rpms.models.base import Answer, Request


class ScriptedModel:
    """Answers line after line. Each episode reads from the beginning, so that several at once change nothing."""

    def __init__(
        self, name: str, answers: Sequence[str], by_episode: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        """`by_episode` holds the answers of episodes that have a script of their own."""
        self.name = name
        self._answers = tuple(answers)
        self._by_episode = {episode: tuple(texts) for episode, texts in (by_episode or {}).items()}
        self._lock = threading.Lock()
        self._given: Counter[str] = Counter()

    def answer(self, request: Request) -> Answer:
        answers = self._by_episode.get(request.episode, self._answers)
        with self._lock:
            position = self._given[request.episode]
            self._given[request.episode] += 1
        if position >= len(answers):
            raise ModelError(f"{self.name}: the script has {len(answers)} answers and the episode asks for another")
        return Answer(answers[position])

    def close(self) -> None:
        """Forget how far each episode has read."""
        with self._lock:
            self._given.clear()


class FunctionModel:
    """A plain function as a model: for tests, baselines and models this package does not know."""

    def __init__(self, function: Callable[[Request], str | Answer], name: str = "function") -> None:
        """`function` may be called from several threads at once."""
        self._function = function
        self.name = name

    def answer(self, request: Request) -> Answer:
        answer = self._function(request)
        return Answer(answer) if isinstance(answer, str) else answer

    def close(self) -> None:
        """Nothing is held."""


def read_script(path: Path, name: str | None = None) -> ScriptedModel:
    """Read a script: an action a line, or in `.jsonl` objects with `text`, or `action`, `thought`, `episode`."""
    content = read_text(path, LARGEST_SCRIPT)
    common: list[str] = []
    by_episode: dict[str, list[str]] = {}
    for number, raw in enumerate(content.splitlines(), start=1):
        line = raw.strip()
        if path.suffix == ".jsonl":
            if line:
                entry = _entry(path, number, line)
                episode = entry.get("episode")
                (common if episode is None else by_episode.setdefault(str(episode), [])).append(_text(entry))
        elif line and not line.startswith("#"):
            common.append(line if "action:" in line.lower() else f"Action: {line}")
    return ScriptedModel(name or f"scripted/{path}", common, by_episode)


def _entry(path: Path, number: int, line: str) -> dict[str, Any]:
    try:
        entry = loads(line)
    except NotJson:
        entry = None
    if not isinstance(entry, dict) or not isinstance(entry.get("text", entry.get("action")), str):
        raise FileError(path, number, "is not a JSON object with `text` or `action`")
    return entry


def _text(entry: dict[str, Any]) -> str:
    if "text" in entry:
        return str(entry["text"])
    thought = entry.get("thought")
    return f"Thought: {thought}\nAction: {entry['action']}" if thought else f"Action: {entry['action']}"
