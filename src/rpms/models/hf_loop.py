"""Decoding of a batch in transformers, for prompts that begin alike and answers that end at different times.

`generate` computes every row to the end of the longest and every prompt from its start. Here the beginning that all
prompts share is computed once, and rows that are finished leave the batch. An action that is held to choices is chosen
as a whole: token by token, four choices that begin with `go` would win over one that is likelier than each of them.
"""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Any

from rpms.core.errors import InputError
from rpms.models.hf_choices import weigh

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rpms.models.base import Decoding
    from rpms.models.hf_rows import Row

SHORTEST_SHARED = 64
"""Tokens below which a shared beginning is not worth a computation of its own."""
SMALLEST_LEAVING = 4
"""Rows leave when they are at least one in so many: each leaving copies what is kept of the others."""
MULTIPLE = 8
"""Widths are padded to a multiple of this, which the GPU's kernels are made for."""
PARAMETERS = ("top_k", "min_p")
"""The parameters beside temperature and top_p that sampling takes."""


class Loop:
    """Writes the rows of a batch. Not safe to use from several threads."""

    def __init__(self, torch: Any, model: Any, pad: int, *, share: bool = True) -> None:
        """`share`: whether a shared beginning is computed once; answers are the same but for rounding."""
        self._torch = torch
        self._model = model
        self._pad = pad
        self._share = share
        known = inspect.signature(model.forward).parameters
        # Only the last position's scores are wanted: those of whole prompts would be larger than everything else.
        self._last: dict[str, int] = {name: 1 for name in ("logits_to_keep", "num_logits_to_keep") if name in known}
        self.computed_prompt_tokens = 0
        """Tokens of prompts computed so far, padding included, what was shared counted once."""

    def write(self, rows: Sequence[Row], decoding: Decoding, seeds: Sequence[int]) -> None:
        """Write every row to its end. `seeds`: for sampling, one for each row, so that no other row changes it."""
        torch = self._torch
        choose = _Chooser(torch, decoding, seeds, self._model.device)
        with torch.inference_mode():
            live = list(range(len(rows)))
            scores, cache, mask = self._read([row.prompt for row in rows])
            while True:
                # A row that is done or waits may stay for a while, and is given nothing more.
                following = [
                    None if rows[index].done or rows[index].waits else rows[index].take(token)
                    for index, token in zip(live, choose(scores, live), strict=True)
                ]
                if all(token is None for token in following):
                    break
                left = [place for place, index in enumerate(live) if not rows[index].done]
                if (len(live) - len(left)) * SMALLEST_LEAVING >= len(live) and hasattr(cache, "batch_select_indices"):
                    keep = torch.tensor(left, device=mask.device)
                    cache.batch_select_indices(keep)
                    mask = mask[keep]
                    live = [live[place] for place in left]
                    following = [following[place] for place in left]
                tokens = [[self._pad if token is None else token] for token in following]
                counts = [[token is not None] for token in following]
                mask = torch.cat([mask, torch.tensor(counts, device=mask.device).to(mask.dtype)], -1)
                scores, cache = self._forward(torch.tensor(tokens, device=mask.device), mask, cache)
            waiting = [place for place, index in enumerate(live) if rows[index].waits]
            for place, weights in weigh(torch, self._model, [rows[live[at]] for at in waiting], waiting, cache, mask):
                rows[live[place]].decide(choose.whole(weights, live[place]))

    def _read(self, prompts: Sequence[Sequence[int]]) -> tuple[Any, Any, Any]:
        """Compute the prompts: the scores after the last token, the cache, and which of its columns count."""
        torch, device = self._torch, self._model.device
        shared = self._shared(prompts)
        cache = None
        if shared:
            beginning = torch.tensor([list(prompts[0][:shared])], device=device)
            _, cache = self._forward(beginning, torch.ones_like(beginning), None)
            if hasattr(cache, "batch_repeat_interleave"):
                cache.batch_repeat_interleave(len(prompts))
            else:
                shared, cache = 0, None
        rests = [list(prompt[shared:]) for prompt in prompts]
        width = -(-max(map(len, rests)) // MULTIPLE) * MULTIPLE
        tokens = [[self._pad] * (width - len(rest)) + rest for rest in rests]
        masks = [[1] * shared + [0] * (width - len(rest)) + [1] * len(rest) for rest in rests]
        mask = torch.tensor(masks, device=device)
        scores, cache = self._forward(torch.tensor(tokens, device=device), mask, cache)
        return scores, cache, mask

    def _shared(self, prompts: Sequence[Sequence[int]]) -> int:
        """Tokens that all prompts begin with and that are worth computing once; never a prompt's last one."""
        if not self._share or len(prompts) < 2:
            return 0
        first, last = min(map(tuple, prompts)), max(map(tuple, prompts))  # what these two share, all share
        most = min(len(prompt) for prompt in prompts) - 1
        same = next((at for at in range(most) if first[at] != last[at]), most)
        return same if same >= SHORTEST_SHARED else 0

    def _forward(self, tokens: Any, mask: Any, cache: Any) -> tuple[Any, Any]:
        width = tokens.shape[1]
        positions = (mask.cumsum(-1) - 1).clamp(min=0)[:, -width:]
        if width > 1:
            self.computed_prompt_tokens += tokens.numel()
        output = self._model(
            input_ids=tokens,
            attention_mask=mask,
            position_ids=positions,
            past_key_values=cache,
            use_cache=True,
            **self._last,
        )
        made = output.past_key_values
        if isinstance(made, tuple):  # before 4.48, where no cache was passed
            made = importlib.import_module("transformers").DynamicCache.from_legacy_cache(made)
        return output.logits[:, -1].float(), made


class _Chooser:
    """Picks each row's next token: the best, or with a temperature one drawn by the row's own generator."""

    def __init__(self, torch: Any, decoding: Decoding, seeds: Sequence[int], device: Any) -> None:
        self._torch = torch
        self._decoding = decoding
        extra = dict(decoding.extra)
        unknown = [name for name in extra if name not in PARAMETERS]
        if unknown:
            raise InputError(f"hf/ does not take the parameter {unknown[0]!r}; it takes {' and '.join(PARAMETERS)}")
        self._top_k = int(extra.get("top_k", 0))
        self._min_p = float(extra.get("min_p", 0.0))
        self._generators: list[Any] = []
        if decoding.temperature > 0:
            self._generators = [torch.Generator(device=device).manual_seed(seed) for seed in seeds]

    def __call__(self, scores: Any, live: Sequence[int]) -> list[int]:
        chosen: list[int] = (self._drawn(scores, live) if self._generators else scores).argmax(-1).tolist()
        return chosen

    def whole(self, weights: Sequence[float], row: int) -> int:
        """Pick one of a row's choices by their log probabilities: the best, or one drawn by the temperature."""
        totals = self._torch.tensor([weights])
        if self._generators:
            shares = (totals / self._decoding.temperature).softmax(-1)
            generator = self._generators[row]
            totals = (
                shares / self._torch.empty_like(shares, device=generator.device).exponential_(generator=generator).cpu()
            )
        return int(totals.argmax())

    def _drawn(self, scores: Any, live: Sequence[int]) -> Any:
        """Scores whose best token is a draw from the distribution (the Gumbel trick, in its exponential form)."""
        torch = self._torch
        ordered, order = (scores / self._decoding.temperature).sort(-1, descending=True)
        shares = ordered.softmax(-1)
        drop = shares.cumsum(-1) - shares >= self._decoding.top_p  # the first that reaches it stays
        if self._top_k > 0:
            drop[:, self._top_k :] = True
        drop |= shares < self._min_p * shares[:, :1]
        drop[:, 0] = False
        noise = torch.stack(
            [torch.empty_like(shares[0]).exponential_(generator=self._generators[index]) for index in live]
        )
        drawn = (shares.masked_fill(drop, 0.0) / noise).masked_fill(shares <= 0, -1.0)
        return torch.full_like(scores, -torch.inf).scatter(-1, order, drawn)
