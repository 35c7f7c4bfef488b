"""Size of a model's context window: given, asked of its server, known by its name, or assumed."""

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rpms.foreign.file_reader import read_text
from rpms.foreign.json_text import NotJson, loads
from rpms.foreign.limits import LARGEST_TABLE
from rpms.logic.errors import FileError
from rpms.models.accounting import KNOWN
from rpms.models.catalogue import NO_LLM, Backend, ModelName, base_url_of, parse_model_name
from rpms.models.hf.adapters import read_weights
from rpms.models.wire import count, dig, fetch

Fetch = Callable[[str, str, float], Any]
"""Gets the JSON at an address, with a key, within seconds."""
ASSUMED = 8_192
"""Assumed window: the smallest of the models in use."""
_TIMEOUT_S = 5.0
_FIELDS = (
    "max_model_len",
    "context_length",
    "context_window",
    "n_ctx",
    "max_context_length",
)
"""Servers' names for it: vLLM, OpenRouter and Together, Groq, llama.cpp, LM Studio."""


@dataclass(frozen=True, slots=True)
class Window:
    """A context window, prompt and answer together."""

    tokens: int
    """0 for what reads no tokens: no limit."""
    source: str
    """Source of the number: `given`, `asked`, `known`, `assumed`, or `none` for what is no LLM."""

    @property
    def note(self) -> str:
        """Note for the user; empty if it is certain enough."""
        if self.source != "assumed":
            return ""
        return (
            f"the model's context window is not known, and taken to be {self.tokens:,} tokens: give"
            " --context"
        )


def context_window(
    model: str, given: int | None = None, base_url: str | None = None, ask: Fetch = fetch
) -> Window:
    """The context window of a model, by its name as after `--model`.

    A server is asked if it may know better. `ask`: for the windows of many models, a function that
    remembers its answers.
    """
    name = parse_model_name(model)
    if given is not None:
        return Window(given, "given")
    if name.provider.backend in NO_LLM:
        return Window(0, "none")
    known = _known_window(name)
    own_server = not name.provider.key_needed
    if name.provider.backend is Backend.OPENAI and (own_server or not known):
        asked = _window_by_server(name, base_url, ask)
        if asked:
            return Window(asked, "asked")
    return Window(known, "known") if known else Window(ASSUMED, "assumed")


def _known_window(name: ModelName) -> int:
    """Window by the weights' own configuration, else by the model's name; 0 if unknown."""
    if name.provider.backend is Backend.HF:
        with suppress(FileError, NotJson):
            base = Path(read_weights(name.rest).base).expanduser()
            config = loads(read_text(base / "config.json", LARGEST_TABLE))
            window = count(config, "max_position_embeddings")
            if window:
                return window
    for form, tokens in KNOWN["windows"].items():
        if re.search(form, name.rest, re.IGNORECASE):
            return int(tokens)
    return 0


def _window_by_server(name: ModelName, base_url: str | None, ask: Fetch) -> int:
    """Window by the model's server; 0 if it says nothing, or cannot be asked now."""
    base = (base_url_of(name.provider, base_url) or "").rstrip("/")
    key = os.environ.get(name.provider.key_variable or "", "").strip()
    listed = ask(f"{base}/models", key, _TIMEOUT_S)
    entries = listed.get("data") if isinstance(listed, Mapping) else listed
    found = _window_in_list(name.rest, entries) if isinstance(entries, list) else 0
    if found:
        return found
    if name.provider.name == "llamacpp":
        return _largest_window(ask(f"{base.removesuffix('/v1')}/props", key, _TIMEOUT_S))
    return 0


def _window_in_list(model: str, entries: list[object]) -> int:
    """Window of a model in a server's list; 0 if the list does not say.

    vLLM lists an adapter without a window, and with the model that it belongs to as `parent`.
    """
    own = [entry for entry in entries if dig(entry, "id") == model]
    for entry in own:
        window = _largest_window(entry)
        if window:
            return window
    for entry in own:
        parent = dig(entry, "parent")
        if isinstance(parent, str) and parent != model:
            others = [entry for entry in entries if dig(entry, "id") != model]
            return _window_in_list(parent, others)
    return 0


def _largest_window(value: object) -> int:
    """The largest window that a description names, at any depth; 0 if it names none."""
    if not isinstance(value, Mapping):
        return 0
    largest = 0
    for field, each in value.items():
        own = count(each) if field in _FIELDS else 0
        largest = max(largest, own or _largest_window(each))
    return largest
