"""Decoding of a batch in transformers, for prompts that begin alike and answers of different lengths.

Shared and earlier beginnings are computed once, and finished rows leave the batch. A choice is taken as a whole, since
token by token four choices that begin with `go` would win over one that is likelier than each.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Sequence
from typing import Any

from rpms.core.errors import InputError
from rpms.models.base import Decoding
from rpms.models.hf.attention import without_plans
from rpms.models.hf.choices import weigh
from rpms.models.hf.prefixes import KnownPrefix, Prefixes, sees_all
from rpms.models.hf.rows import PromptRow

SHORTEST_SHARED = 64
"""Tokens below which a shared beginning is not worth a computation of its own."""
SMALLEST_LEAVING = 4
"""Rows leave when they are at least one in so many: each leaving copies what is kept of the others."""
WORTH_A_PASS = 1024
"""Tokens that take as long to compute as one more pass through the model."""
MULTIPLE = 8
"""Widths are padded to a multiple of this, which the GPU's kernels are made for."""
PARAMETERS = ("top_k", "min_p")
"""The parameters beside temperature and top_p that sampling takes."""
PICKED_FROM = 64
"""The best tokens, of which the first is taken that a template allows."""


class Loop:
    """Writes the rows of a batch. Not safe to use from several threads."""

    def __init__(
        self, torch: Any, model: Any, pad: int, *, share: bool = True, keep: int = 0, at_once: int = 0
    ) -> None:
        """`share`: compute shared beginnings once. `keep`: tokens kept of prompts. `at_once`: tokens a pass."""
        self._torch = torch
        self._model = model
        self._pad = pad
        self._share = share and sees_all(model.config)
        self._at_once = at_once
        known = inspect.signature(model.forward).parameters
        # Only the last position's scores are wanted: those of whole prompts would be larger than everything else.
        self._last: dict[str, int] = {name: 1 for name in ("logits_to_keep", "num_logits_to_keep") if name in known}
        self.computed_prompt_tokens = 0
        """Tokens of prompts computed so far, padding included, what was shared counted once."""
        self._prefixes = Prefixes(keep if sees_all(model.config) else 0)
        self.reused: list[int] = []
        """Tokens of each prompt of the last batch that an earlier batch had computed."""

    def write(self, rows: Sequence[PromptRow], decoding: Decoding, seeds: Sequence[int]) -> None:
        """Write every row to its end. `seeds`: for sampling, one for each row, so that no other row changes it."""
        torch = self._torch
        choose = _Chooser(torch, decoding, seeds, self._model.device)
        with torch.inference_mode(), without_plans():
            live = list(range(len(rows)))
            scores, cache, mask = self._read([row.prompt for row in rows])
            while True:
                # A row that is done or waits may stay for a while, and is given nothing more.
                following = [
                    None if rows[index].done or rows[index].waits else rows[index].take(token)
                    for index, token in zip(live, choose(scores, [rows[at] for at in live], live), strict=True)
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
                rows[live[place]].decide(choose.whole(weights, live[place]), weights)

    def forget(self) -> bool:
        """Give up what is kept of earlier prompts, and keep less from now on; returns whether anything was kept."""
        return self._prefixes.clear()

    def _read(self, prompts: Sequence[Sequence[int]]) -> tuple[Any, Any, Any]:
        """Compute the prompts: the scores after the last token, the cache, and which of its columns count."""
        known = [self._prefixes.find(prompt) for prompt in prompts]
        self.reused = [one.length for one in known]
        return self._read_on(prompts, known)

    def _read_on(
        self, prompts: Sequence[Sequence[int]], known: list[KnownPrefix], *, ahead: bool = False
    ) -> tuple[Any, Any, Any]:
        """`ahead`: whether this is done only to know the prompts when all of the batch are read."""
        torch, device = self._torch, self._model.device
        new = [len(prompt) - one.length for prompt, one in zip(prompts, known, strict=True)]
        late, least = _late(new) if self._prefixes.fit(prompts) else ([], len(new) * max(new))
        shared = self._shared(prompts)
        cache = None
        if shared and shared + len(prompts) * (max(map(len, prompts)) - shared) <= least:
            beginning = torch.tensor([list(prompts[0][:shared])], device=device)
            _, cache = self._forward_in_parts(beginning, torch.ones_like(beginning), None)
            if hasattr(cache, "batch_repeat_interleave"):
                cache.batch_repeat_interleave(len(prompts))
                known, past = [KnownPrefix(shared)] * len(prompts), shared
                self.reused = self.reused if ahead else [0] * len(prompts)
            else:
                cache = None
        if cache is None:
            if late:
                self._read_on([prompts[place][:-1] for place in late], [known[place] for place in late], ahead=True)
                known = [self._prefixes.find(prompt) for prompt in prompts]
            past = _padded(max(one.length for one in known))
            cache = self._prefixes.past(known, past) if past else None
        rests = [list(prompt[one.length :]) for prompt, one in zip(prompts, known, strict=True)]
        width = _padded(max(map(len, rests)))
        tokens = [[self._pad] * (width - len(rest)) + rest for rest in rests]
        columns = torch.arange(past + width, device=device)
        before, after = torch.tensor([[one.length for one in known], list(map(len, rests))], device=device)[..., None]
        mask = ((columns >= past - before) & (columns < past) | (columns >= past + width - after)).long()
        scores, cache = self._forward_in_parts(torch.tensor(tokens, device=device), mask, cache)
        self._prefixes.keep(prompts, known, past, cache, replace=not ahead)
        return scores, cache, mask

    def _shared(self, prompts: Sequence[Sequence[int]]) -> int:
        """Tokens that all prompts begin with and that are worth computing once; never a prompt's last one."""
        if not self._share or len(prompts) < 2:
            return 0
        first, last = min(map(tuple, prompts)), max(map(tuple, prompts))  # what these two share, all share
        most = min(len(prompt) for prompt in prompts) - 1
        same = next((at for at in range(most) if first[at] != last[at]), most)
        return same if same >= SHORTEST_SHARED else 0

    def _forward_in_parts(self, tokens: Any, mask: Any, cache: Any) -> tuple[Any, Any]:
        """The scores after the last column, and the cache; so many columns at a time as may be computed at once."""
        rows, width = tokens.shape
        past = mask.shape[1] - width
        columns = max(self._at_once // rows // MULTIPLE, 1) * MULTIPLE if self._at_once else width
        scores = None
        for start in range(0, width, columns):
            end = min(start + columns, width)
            scores, cache = self._forward(tokens[:, start:end], mask[:, : past + end], cache)
        return scores, cache

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


def _padded(width: int) -> int:
    return -(-width // MULTIPLE) * MULTIPLE


def _late(new: Sequence[int]) -> tuple[list[int], int]:
    """The rows to read by themselves first, since the others would be padded to them; and the tokens computed then."""
    order = sorted(range(len(new)), key=lambda place: -new[place])
    first, least = 0, len(new) * new[order[0]]
    for count in range(1, len(new)):
        cost = count * new[order[0]] + len(new) * new[order[count]] + WORTH_A_PASS
        if cost < least:
            first, least = count, cost
    return order[:first], least


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

    def __call__(self, scores: Any, rows: Sequence[PromptRow], live: Sequence[int]) -> list[int]:
        ranked = self._drawn(scores, live) if self._generators else scores
        chosen: list[int] = ranked.argmax(-1).tolist()
        for place, row in enumerate(rows):
            if row.picks:
                chosen[place] = row.pick(ranked[place].topk(min(PICKED_FROM, ranked.shape[-1])).indices.tolist())
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
        drawn = torch.where(drop | (shares <= 0), shares - 1.0, shares / noise)
        return torch.full_like(scores, -torch.inf).scatter(-1, order, drawn)
