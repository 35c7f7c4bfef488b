"""A recorded answer as JSON: what models make of a question, and stores keep under its hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

Entry = dict[str, Any]
"""A question and its answer: `model`, `decoding`, `messages`, perhaps some of `BOUNDS`; `parts` and `answer`."""
BOUNDS = ("choices", "templates", "tools", "begun")
"""Constraint on an answer, if any; `begun` where choices are weighed."""
_NOT_ASKED = ("parts", "answer")


def question_key(entry: Mapping[str, Any]) -> str:
    """SHA-256 of an entry's question as canonical JSON; what was answered to it changes nothing."""
    asked = {name: value for name, value in entry.items() if name not in _NOT_ASKED}
    canonical = json.dumps(asked, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
