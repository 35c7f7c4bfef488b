"""Decoding of a batch in transformers: shared and earlier beginnings are computed once, and
finished rows leave.
"""

import importlib
import inspect
from collections.abc import Sequence
from typing import Any, NamedTuple

from rpms.models.base import Decoding
from rpms.models.hf.attention import without_plans
from rpms.models.hf.choice_weights import weigh
from rpms.models.hf.prefixes import KnownPrefix, Prefixes, sees_all
from rpms.models.hf.rows import PromptRow
from rpms.models.hf.sampling import Chooser

SHORTEST_SHARED = 64
"""Tokens below which a shared beginning is not worth a computation of its own."""
SMALLEST_LEAVING = 4
"""Rows leave when they are at least one in so many: each leaving copies what is kept of the
others."""
WORTH_A_PASS = 1024
"""Tokens that take as long to compute as one more pass through the model."""
MULTIPLE = 8
"""Widths are padded to a multiple of this, which the GPU's kernels are made for."""


class _Computed(NamedTuple):
    """The state of a batch: scores, cache and mask after the last pass."""

    scores: Any
    """Scores of every token of the vocabulary, after each row's last one."""
    cache: Any
    mask: Any
    """The columns of the cache that count, for each row."""


class _Passed(NamedTuple):
    """The result of a pass through the model."""

    scores: Any
    """Scores after the last column."""
    cache: Any


class _Begun(NamedTuple):
    """The beginnings of a batch's prompts that are computed."""

    known: list[KnownPrefix]
    past: int
    """Columns of the cache, which end with what is known of each prompt."""
    cache: Any


class Loop:
    """Writes the rows of a batch. Not safe to use from several threads."""

    def __init__(
        self,
        torch: Any,
        model: Any,
        pad: int,
        *,
        share: bool = True,
        keep: int = 0,
        at_once: int = 0,
    ) -> None:
        """`share`: compute shared beginnings once.

        `keep`: tokens kept of prompts. `at_once`: tokens a pass.
        """
        self._torch = torch
        self._model = model
        self._pad = pad
        self._share = share and sees_all(model.config)
        self._at_once = at_once
        known = inspect.signature(model.forward).parameters
        # Only the last position's scores are wanted: those of whole prompts would be larger than
        # everything else.
        self._last: dict[str, int] = {}
        for name in ("logits_to_keep", "num_logits_to_keep"):
            if name in known:
                self._last[name] = 1
        self.computed_prompt_tokens = 0
        """Tokens of prompts computed so far, padding included, what was shared counted once."""
        self.prefixes = Prefixes(keep if sees_all(model.config) else 0)
        self.reused: list[int] = []
        """Tokens of each prompt of the last batch that an earlier batch had computed."""

    def write(self, rows: Sequence[PromptRow], decoding: Decoding, seeds: Sequence[int]) -> None:
        """Write every row to its end.

        `seeds`: for sampling, one for each row, so that no other row changes it.
        """
        torch = self._torch
        choose = Chooser(torch, decoding, seeds, self._model.device)
        with torch.inference_mode(), without_plans():
            live = list(range(len(rows)))  # the rows in the batch, by their numbers
            computed = self._read([row.prompt for row in rows])
            while True:
                following = _take_next(rows, live, choose, computed.scores)
                if all(token is None for token in following):
                    break
                unfinished = [place for place, row in enumerate(live) if not rows[row].done]
                if _worth_leaving(len(live), len(unfinished), computed):
                    computed = self._keep_rows(unfinished, computed)
                    live = [live[place] for place in unfinished]
                    following = [following[place] for place in unfinished]
                computed = self._read_tokens(following, computed)
            self._choose_whole(rows, live, choose, computed)

    def _keep_rows(self, places: Sequence[int], computed: _Computed) -> _Computed:
        """A batch with some of its rows; scores have been read, and stay as they are."""
        keep = self._torch.tensor(places, device=computed.mask.device)
        computed.cache.batch_select_indices(keep)
        return computed._replace(mask=computed.mask[keep])

    def _read_tokens(self, following: Sequence[int | None], computed: _Computed) -> _Computed:
        """Compute one more token of each row; a row that gets none is padded, and its column does
        not count.
        """
        torch = self._torch
        device = computed.mask.device
        tokens = [[self._pad if token is None else token] for token in following]
        counts = [[token is not None] for token in following]
        column = torch.tensor(counts, device=device).to(computed.mask.dtype)
        mask = torch.cat([computed.mask, column], -1)
        passed = self._forward(torch.tensor(tokens, device=device), mask, computed.cache)
        return _Computed(passed.scores, passed.cache, mask)

    def _choose_whole(
        self, rows: Sequence[PromptRow], live: Sequence[int], choose: Chooser, at: _Computed
    ) -> None:
        """Decide the rows that wait for one of their choices."""
        waiting = [place for place, index in enumerate(live) if rows[index].waits]
        some = [rows[live[place]] for place in waiting]
        for weighed in weigh(self._torch, self._model, some, waiting, at.cache, at.mask):
            index = live[weighed.place]
            rows[index].decide(choose.whole(weighed.weights, index), weighed.weights)

    def _read(self, prompts: Sequence[Sequence[int]]) -> _Computed:
        """Compute the prompts, beginning with what is kept of earlier ones."""
        known = [self.prefixes.find(prompt) for prompt in prompts]
        self.reused = [one.length for one in known]
        return self._read_rest(prompts, known)

    def _read_rest(
        self, prompts: Sequence[Sequence[int]], known: list[KnownPrefix], *, ahead: bool = False
    ) -> _Computed:
        """Compute the rest of each prompt after what is known of it.

        `ahead`: True if these prompts are read before the rest of the batch, to be known then.
        """
        new = [len(prompt) - one.length for prompt, one in zip(prompts, known, strict=True)]
        first = _ReadFirst([], len(new) * max(new))
        if self.prefixes.fit(prompts):
            first = _choose_rows_to_read_first(new)
        begun = self._begin_shared(prompts, first.tokens)
        if begun is None:
            begun = self._begin_known(prompts, known, first.rows)
        elif not ahead:
            self.reused = [0] * len(prompts)
        known = begun.known
        rests = [list(prompt[one.length :]) for prompt, one in zip(prompts, known, strict=True)]
        width = _padded(max(map(len, rests)))
        padded = [[self._pad] * (width - len(rest)) + rest for rest in rests]
        mask = self._mask(begun, rests, width)
        tokens = self._torch.tensor(padded, device=self._model.device)
        passed = self._forward_in_parts(tokens, mask, begun.cache)
        self.prefixes.keep(prompts, known, begun.past, passed.cache, replace=not ahead)
        return _Computed(passed.scores, passed.cache, mask)

    def _mask(self, begun: _Begun, rests: Sequence[Sequence[int]], width: int) -> Any:
        """The columns that count: what is known ends where the cache ends, and the rest, of this
        width, ends at the right.
        """
        torch = self._torch
        device = self._model.device
        past = begun.past
        columns = torch.arange(past + width, device=device)
        before = torch.tensor([[one.length] for one in begun.known], device=device)
        after = torch.tensor([[len(rest)] for rest in rests], device=device)
        of_known = (columns >= past - before) & (columns < past)
        of_rest = columns >= past + width - after
        return (of_known | of_rest).long()

    def _begin_shared(self, prompts: Sequence[Sequence[int]], least: int) -> _Begun | None:
        """Compute the beginning that all prompts share, once; None if that takes more than `least`
        tokens or the cache cannot be repeated.
        """
        shared = self._shared(prompts)
        rest = max(map(len, prompts)) - shared
        if not shared or shared + len(prompts) * rest > least:
            return None
        beginning = self._torch.tensor([list(prompts[0][:shared])], device=self._model.device)
        ones = self._torch.ones_like(beginning)
        cache = self._forward_in_parts(beginning, ones, None).cache
        if not hasattr(cache, "batch_repeat_interleave"):
            return None
        cache.batch_repeat_interleave(len(prompts))
        return _Begun([KnownPrefix(shared)] * len(prompts), shared, cache)

    def _begin_known(
        self, prompts: Sequence[Sequence[int]], known: list[KnownPrefix], first: Sequence[int]
    ) -> _Begun:
        """Begin each prompt with what is kept of it; the `first` ones are read by themselves
        before, so that others can begin with them.
        """
        if first:
            beginnings = [prompts[place][:-1] for place in first]
            known_of_first = [known[place] for place in first]
            self._read_rest(beginnings, known_of_first, ahead=True)
            known = [self.prefixes.find(prompt) for prompt in prompts]
        past = _padded(max(one.length for one in known))
        cache = self.prefixes.past(known, past) if past else None
        return _Begun(known, past, cache)

    def _shared(self, prompts: Sequence[Sequence[int]]) -> int:
        """Tokens that all prompts begin with and that are worth computing once; never a
        prompt's last one.
        """
        if not self._share or len(prompts) < 2:
            return 0
        # what the first and the last in alphabetical order begin with, all others do
        first = min(map(tuple, prompts))
        last = max(map(tuple, prompts))
        same = 0
        most = min(len(prompt) for prompt in prompts) - 1
        while same < most and first[same] == last[same]:
            same += 1
        return same if same >= SHORTEST_SHARED else 0

    def _forward_in_parts(self, tokens: Any, mask: Any, cache: Any) -> _Passed:
        """Pass through the model as many columns at a time as may be computed at once."""
        rows, width = tokens.shape
        past = mask.shape[1] - width
        columns = width
        if self._at_once:
            columns = max(self._at_once // rows // MULTIPLE, 1) * MULTIPLE
        passed = _Passed(None, cache)
        for start in range(0, width, columns):
            end = min(start + columns, width)
            passed = self._forward(tokens[:, start:end], mask[:, : past + end], passed.cache)
        return passed

    def _forward(self, tokens: Any, mask: Any, cache: Any) -> _Passed:
        """Run the model over some tokens of each row, behind what the cache has."""
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
        return _Passed(output.logits[:, -1].float(), made)


def _worth_leaving(before: int, left: int, computed: _Computed) -> bool:
    """True if so many rows have ended that it pays to take them out of the batch."""
    many = (before - left) * SMALLEST_LEAVING >= before
    return many and hasattr(computed.cache, "batch_select_indices")


def _take_next(
    rows: Sequence[PromptRow], live: Sequence[int], choose: Chooser, scores: Any
) -> list[int | None]:
    """The next token of each live row. One that is done or waits may stay in the batch for a
    while, and is given nothing more.
    """
    chosen = choose(scores, [rows[index] for index in live], live)
    following: list[int | None] = []
    for index, token in zip(live, chosen, strict=True):
        row = rows[index]
        following.append(None if row.done or row.waits else row.take(token))
    return following


def _padded(width: int) -> int:
    """A width, or the next that is a multiple of what the GPU's kernels are made for."""
    return -(-width // MULTIPLE) * MULTIPLE


class _ReadFirst(NamedTuple):
    """Rows that are read by themselves before the others, which would be padded to them."""

    rows: list[int]
    tokens: int
    """Tokens that are computed then, in both passes."""


def _choose_rows_to_read_first(new: Sequence[int]) -> _ReadFirst:
    """The choice that computes the fewest tokens. `new`: the tokens to be read of each row."""
    longest_first = sorted(range(len(new)), key=lambda place: -new[place])
    rows = len(new)
    longest = max(new)
    costs = [rows * longest]  # with none read first; then with one, two and so on
    for first in range(1, rows):
        costs.append(first * longest + rows * new[longest_first[first]] + WORTH_A_PASS)
    least = min(costs)
    return _ReadFirst(longest_first[: costs.index(least)], least)
