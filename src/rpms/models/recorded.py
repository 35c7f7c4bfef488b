"""Answers kept under the hash of their question: recorded once, replayed by anyone without a
key.
"""

import hashlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from functools import cached_property, partial
from typing import Any, Protocol

from rpms.foreign.json_text import BOUNDS, Entry, NotJson, from_json, question_key
from rpms.logic.errors import InputError, ModelUnavailable
from rpms.models.base import Answer, CannotHold, Model, Request, WrappedModel
from rpms.paper.prompt import Prompt


class AnswerStore(Protocol):
    """A store of recorded answers. Safe to use from several threads."""

    @property
    def place(self) -> str:
        """The store's place, for texts that a person reads."""

    def get(self, key: str) -> Entry | None:
        """The entry under a key; None if there is none, or it is damaged."""

    def put(self, key: str, entry: Mapping[str, Any]) -> Entry:
        """Keep an entry and return the kept one, which may be another process's; it survives a
        crash.
        """

    def entries(self) -> Iterator[Entry]:
        """Every undamaged entry, in no particular order."""


def question(request: Request, model: str) -> dict[str, Any]:
    """Fields that identify a question: everything that decides its answer, and nothing else."""
    chosen = request.decoding
    decoding = asdict(chosen) | {"stop": list(chosen.stop), "extra": dict(sorted(chosen.extra))}
    messages = [asdict(message) for message in request.prompt.messages()]
    asked = {"model": model, "decoding": decoding, "messages": messages}
    if request.weigh:
        asked["begun"] = request.begun  # and so no other question has its hash
    bounds: dict[str, list[Any]] = {
        "choices": list(request.choices),
        "templates": list(request.templates),
        "tools": [asdict(tool) for tool in request.tools],
    }
    for name, allowed in bounds.items():
        if allowed:  # else left out, so that what was recorded before there were bounds is found
            asked[name] = allowed
    return asked


def _parts(prompt: Prompt) -> dict[str, str]:
    """A hash of each block, so that a miss can name the block that changed."""
    hashes: dict[str, str] = {}
    for block in prompt.blocks:
        text = block.text.encode("utf-8", "surrogatepass")
        hashes[str(block.part)] = hashlib.sha256(text).hexdigest()[:16]
    return hashes


def _kept(answer: Answer) -> dict[str, Any]:
    """An answer for the store; without weights where none were asked for."""
    kept = asdict(answer) | {"notes": list(answer.notes), "weights": list(answer.weights)}
    if not answer.weights:
        del kept["weights"]
    return kept


def _replayed(entry: Entry | None) -> Answer | None:
    """The answer of an entry, with its tokens and no request; None if there is no such entry."""
    try:
        kept = from_json(Answer, (entry or {}).get("answer"))
    except NotJson:
        return None
    return replace(kept, usage=replace(kept.usage, requests=0))


class RecordedModel(WrappedModel):
    """Answers from the store, or asks the model and keeps the answer; equal questions at a time
    are asked once.
    """

    def __init__(self, inner: Model, store: AnswerStore) -> None:
        super().__init__(inner)
        self._store = store
        self._lock = threading.Lock()
        self._asking: dict[str, threading.Lock] = {}

    def answer(self, request: Request) -> Answer:
        asked = question(request, self.name)
        key = question_key(asked)
        with self._lock:
            turn = self._asking.setdefault(key, threading.Lock())
        try:
            with turn:
                if (known := _replayed(self._store.get(key))) is not None:
                    return known
                answer = self._model.answer(request)
                kept = self._store.put(
                    key, {**asked, "parts": _parts(request.prompt), "answer": _kept(answer)}
                )
                # Another process may have been faster: what is kept is what is played, so that a
                # replay is the same.
                played = _replayed(kept) or answer
                usage = replace(
                    played.usage, requests=answer.usage.requests, seconds=answer.usage.seconds
                )
                return replace(played, usage=usage)
        finally:
            with self._lock:
                self._asking.pop(key, None)


def _only_model(store: AnswerStore) -> str:
    """The model whose answers a store holds; an InputError if it holds none, or those of several
    models.
    """
    names = {str(entry.get("model")) for entry in store.entries()}
    if not names:
        raise InputError(f"{store.place} holds no recorded answers")
    if len(names) > 1:
        listed = ", ".join(sorted(names)[:5])
        raise InputError(
            f"{store.place} holds answers of several models ({listed}): say which one to replay"
        )
    return names.pop()


class ReplayModel:
    """Answers from the store alone.

    A question it does not hold stops the run, with a line that says what changed.
    """

    def __init__(self, name: str, store: AnswerStore, model: str | None = None) -> None:
        """`model` is the recorded model's name; it may be left out where the store holds
        answers of only one.
        """
        self.name = name
        self._store = store
        self.model = model or _only_model(store)

    def __getattr__(self, name: str) -> bool:
        """The abilities that the recorded model had: a question is recorded with what it was held
        to, and has to be asked in the same way.
        """
        used = {
            "constrains": {"choices", "templates"},
            "calls_tools": {"tools"},
            "weighs": {"begun"},
        }
        if name not in used:
            raise AttributeError(name)
        return not self._bounds.isdisjoint(used[name])

    reads = True

    @cached_property
    def _bounds(self) -> frozenset[str]:
        """The bounds that any recorded question of this model has."""
        used: set[str] = set()
        for entry in self._store.entries():
            if entry.get("model") == self.model:
                used.update(entry.keys() & set(BOUNDS))
        return frozenset(used)

    def answer(self, request: Request) -> Answer:
        if request.templates and "templates" not in self._bounds:
            raise CannotHold(
                f"{self.name} cannot hold its answers to action templates: none were so recorded"
            )
        asked = question(request, self.model)
        answer = _replayed(self._store.get(question_key(asked)))
        if answer is None:
            raise ModelUnavailable(
                f"{self._store.place} holds no such answer: {self._what_changed(asked, request)}"
            )
        return answer

    def close(self) -> None:
        """Nothing is held."""

    def _what_changed(self, asked: dict[str, Any], request: Request) -> str:
        """Name the difference to the nearest recorded question.

        Reads the whole store, which only a miss has to.
        """
        parts = _parts(request.prompt)
        likeness = partial(_likeness, asked, parts)
        nearest = max(self._store.entries(), key=likeness, default=None)
        if nearest is None:
            return "the store is empty"
        if "messages" not in nearest:
            return (
                "this was not asked when it was recorded. It holds what was asked then and nothing"
                " else: play what it was recorded with, whole (no --limit, the same settings and"
                " the same version)"
            )
        if nearest.get("messages") == asked["messages"]:
            return _differences(nearest, asked)
        recorded = _mapping(nearest.get("parts"))
        names = [name for name in {**recorded, **parts} if recorded.get(name) != parts.get(name)]
        return (
            "the prompt changed (nearest recorded one differs in"
            f" {', '.join(map(str, names)) or 'its messages'})"
        )


def _likeness(asked: Mapping[str, Any], parts: Mapping[str, Any], entry: Entry) -> tuple[bool, int]:
    """Likeness of a recorded question to one that is asked now, of these parts."""
    recorded = _mapping(entry.get("parts"))
    same_parts = sum(recorded.get(name) == value for name, value in parts.items())
    same_model = entry.get("model") == asked["model"]
    same_bounds = all((name in entry) == (name in asked) for name in BOUNDS)
    same_messages = entry.get("messages") == asked["messages"]
    return same_messages, 2 * same_parts + same_model + same_bounds


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _changed_parameters(recorded: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """Parameters that differ; greedy answers need no seed, so that it came or went follows from
    the temperature.
    """
    changed = [name for name, value in now.items() if recorded.get(name) != value]
    came_or_went = None in (recorded.get("seed"), now.get("seed"))
    if "temperature" in changed and "seed" in changed and came_or_went:
        changed.remove("seed")
    return changed


def _differences(entry: Entry, asked: dict[str, Any]) -> str:
    """Differences between two questions with the same prompt."""
    found = []
    if entry.get("model") != asked["model"]:
        found.append(f"it was recorded with the model {entry.get('model')}, not {asked['model']}")
    recorded = _mapping(entry.get("decoding"))
    now = asked["decoding"]
    for name in _changed_parameters(recorded, now):
        found.append(f"it was recorded with {name} {recorded.get(name)!r}, not {now[name]!r}")
    if any(entry.get(name) != asked.get(name) for name in BOUNDS):
        was = next((name for name in BOUNDS if entry.get(name)), None)
        found.append(f"its action was held to other {was}" if was else "its action was free")
    return "; ".join(found) or "the recorded answer is damaged"
