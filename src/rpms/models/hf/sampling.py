"""Sampling: the next token of each row, the best or one drawn."""

from collections.abc import Sequence
from typing import Any

from rpms.logic.errors import InputError
from rpms.models.base import Decoding
from rpms.models.hf.rows import PromptRow

PARAMETERS = ("top_k", "min_p")
"""The parameters beside temperature and top_p that sampling takes."""
PICKED_FROM = 64
"""Number of best tokens that are tried in turn until a template allows one."""


class Chooser:
    """Picks each row's next token: the best, or with a temperature one drawn by the row's own
    generator.
    """

    def __init__(self, torch: Any, decoding: Decoding, seeds: Sequence[int], device: Any) -> None:
        self._torch = torch
        self._decoding = decoding
        extra = dict(decoding.extra)
        unknown = [name for name in extra if name not in PARAMETERS]
        if unknown:
            raise InputError(
                f"hf/ does not take the parameter {unknown[0]!r}; it takes"
                f" {' and '.join(PARAMETERS)}"
            )
        self._top_k = int(extra.get("top_k", 0))
        self._min_p = float(extra.get("min_p", 0.0))
        drawing = seeds if decoding.temperature > 0 else ()
        self._generators = [torch.Generator(device=device).manual_seed(seed) for seed in drawing]

    def __call__(self, scores: Any, rows: Sequence[PromptRow], live: Sequence[int]) -> list[int]:
        ranked = self._drawn(scores, live) if self._generators else scores
        chosen: list[int] = ranked.argmax(-1).tolist()
        most = min(PICKED_FROM, ranked.shape[-1])
        for place, row in enumerate(rows):
            if row.picks:
                best = ranked[place].topk(most).indices.tolist()
                chosen[place] = row.pick(best)
        return chosen

    def whole(self, weights: Sequence[float], row: int) -> int:
        """Pick one of a row's choices by their log probabilities: the best, or one drawn by the
        temperature.
        """
        totals = self._torch.tensor([weights])
        if self._generators:
            shares = (totals / self._decoding.temperature).softmax(-1)
            generator = self._generators[row]
            empty = self._torch.empty_like(shares, device=generator.device)
            noise = empty.exponential_(generator=generator)
            totals = shares / noise.cpu()
        return int(totals.argmax())

    def _drawn(self, scores: Any, live: Sequence[int]) -> Any:
        """Scores whose best token is a draw from the distribution (the Gumbel trick, in its
        exponential form).
        """
        torch = self._torch
        ordered, order = (scores / self._decoding.temperature).sort(-1, descending=True)
        shares = ordered.softmax(-1)
        drop = shares.cumsum(-1) - shares >= self._decoding.top_p  # the first that reaches it stays
        if self._top_k > 0:
            drop[:, self._top_k :] = True
        drop |= shares < self._min_p * shares[:, :1]
        drop[:, 0] = False
        noise: list[Any] = []
        for index in live:
            empty = torch.empty_like(shares[0])
            noise.append(empty.exponential_(generator=self._generators[index]))
        drawn = torch.where(drop | (shares <= 0), shares - 1.0, shares / torch.stack(noise))
        return torch.full_like(scores, -torch.inf).scatter(-1, order, drawn)
