"""Decoding of a batch in transformers: shared and earlier beginnings are computed once, and
finished rows leave.

A choice is taken whole: token by token, four that begin with `go` would win over one that is
likelier than each.
"""

import importlib
import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rpms.logic.errors import InputError
from rpms.models.base import Decoding
from rpms.models.hf.prefixes import KnownPrefix, Prefixes, sees_all
from rpms.models.hf.rows import PromptRow

NAME = "rpms_grouped"
_UNUSUAL = ("position_bias", "s_aux", "softcap", "cache")
"""Arguments of models whose attention is of another kind; they are left to the library."""


def share_keys_and_values(torch: Any, model: Any) -> bool:
    """Make a model compute single tokens without copying keys and values for every head; returns
    whether it does.

    On an H200, 240 prompts of 1,800 to 3,000 tokens and 80 new tokens each took 17.6 s with the
    copies and 6.2 s without, at 1.5B in bfloat16. Other versions of transformers and other kinds of
    attention stay as they are.
    """
    if getattr(model.config, "_attn_implementation", None) != "sdpa":
        return False
    try:
        library: Any = importlib.import_module("transformers")
        plain: Any = importlib.import_module(
            "transformers.integrations.sdpa_attention"
        ).sdpa_attention_forward
        masks: Any = importlib.import_module("transformers.masking_utils")
        library.AttentionInterface.register(NAME, _grouped(torch, plain))
        masks.AttentionMaskInterface.register(NAME, masks.ALL_MASK_ATTENTION_FUNCTIONS["sdpa"])
        model.set_attn_implementation(NAME)
    except (ImportError, AttributeError, KeyError, ValueError):
        return False
    return True


def without_plans() -> Any:
    """Leave out cuDNN's attention, which plans anew for every length: 65 instead of 27 ms a
    token on an H200.
    """
    kernels: Any = importlib.import_module("torch.nn.attention")
    backends = kernels.SDPBackend
    return kernels.sdpa_kernel(
        [backends.FLASH_ATTENTION, backends.EFFICIENT_ATTENTION, backends.MATH]
    )


def _grouped(torch: Any, plain: Any) -> Any:
    def attention(
        module: Any, query: Any, key: Any, value: Any, attention_mask: Any, **options: Any
    ) -> Any:
        groups = getattr(module, "num_key_value_groups", 1)
        one_token = query.shape[2] == 1 and groups > 1
        if not one_token or not _is_usual(attention_mask, options):
            return plain(module, query, key, value, attention_mask, **options)
        rows, heads, _, width = query.shape
        # The heads of a group become positions of one: each sees the same keys and, being alone in
        # its row, the same mask.
        together = query.reshape(rows, heads // groups, groups, width)
        mask = attention_mask.expand(rows, 1, groups, attention_mask.shape[-1])
        seen = torch.nn.functional.scaled_dot_product_attention(
            together, key, value, attn_mask=mask, scale=options.get("scaling")
        )
        return seen.reshape(rows, 1, heads, seen.shape[-1]), None

    return attention


def _is_usual(mask: Any, options: Mapping[str, Any]) -> bool:
    """True for a mask that is the same for all heads, without options that change the scores."""
    if mask is None or mask.shape[1] != 1:
        return False
    return all(options.get(name) is None for name in _UNUSUAL)


SCORES_AT_ONCE = 2**28
"""Scores, one for each word of the vocabulary at each position, that are held at once: a
gigabyte."""
SCORES_SHARE = 0.03
"""The part of a GPU's free memory for them, where that is more; turning them into probabilities
takes twice as much."""
_END = -1
"""Stands for whatever ends an answer, where a choice is complete."""


class _Packed(NamedTuple):
    """One token of a row's choices, which are computed side by side."""

    token: int
    offset: int
    """Its place in its choice."""
    choice: int
    following: int
    """The token after it in its choice; `_END` after the last."""


_PADDING = _Packed(_END, _END, _END, _END)


def _side_by_side(choices: Sequence[Sequence[int]]) -> list[_Packed]:
    packed = []
    for number, choice in enumerate(choices):
        after = (*choice[1:], _END)
        for offset, (token, following) in enumerate(zip(choice, after, strict=True)):
            packed.append(_Packed(token, offset, number, following))
    return packed


def weigh(
    torch: Any, model: Any, rows: Sequence[PromptRow], places: Sequence[int], cache: Any, mask: Any
) -> Iterator[tuple[int, list[float]]]:
    """Each row's place in the batch and the log probabilities of its choices; what all begin
    with is left out.
    """
    if not sees_all(model.config):
        yield from zip(places, (_weigh_anew(torch, model, row) for row in rows), strict=True)
        return
    longest = max((sum(map(len, row.choices)) for row in rows), default=1)
    room = SCORES_AT_ONCE
    if mask.is_cuda:
        room = max(room, int(torch.cuda.mem_get_info()[0] * SCORES_SHARE / 4))
    at_once = max(room // (longest * int(model.config.vocab_size)), 1)
    for start in range(0, len(rows), at_once):
        some = slice(start, start + at_once)
        packed = [_side_by_side(row.choices) for row in rows[some]]
        at = torch.tensor(places[some], device=mask.device)
        ends = sorted(rows[start].letters.line_ends)
        scores = _scores(torch, model, packed, _cache_of(cache, at), mask[at], ends)
        for place, row, one, line in zip(places[some], rows[some], packed, scores, strict=True):
            weights = [0.0] * len(row.choices)
            for each, score in zip(one, line[: len(one)], strict=True):
                weights[each.choice] += score
            yield place, weights


def _cache_of(cache: Any, rows: Any) -> Any:
    """A cache of some rows of the batch alone."""
    part = importlib.import_module("transformers").DynamicCache()
    for number, (keys, values, *_) in enumerate(cache):
        part.update(keys[rows], values[rows], number)
    return part


def _scores(
    torch: Any,
    model: Any,
    packed: Sequence[list[_Packed]],
    cache: Any,
    mask: Any,
    ends: list[int],
) -> Any:
    """The log probability, at each token, of what follows it in its choice."""
    width = max(map(len, packed))
    rows = [line + [_PADDING] * (width - len(line)) for line in packed]
    tokens, offsets, choice, following = torch.tensor(rows, device=mask.device).unbind(-1)
    before = torch.ones(width, width, dtype=torch.bool, device=mask.device).tril()
    own = (choice[:, :, None] == choice[:, None, :]) & before
    seen = torch.cat([mask.bool()[:, None, :].expand(-1, width, -1), own], -1)
    hidden = torch.zeros(seen.shape, dtype=model.dtype, device=mask.device)
    hidden.masked_fill_(~seen, torch.finfo(model.dtype).min)
    output = model(
        input_ids=tokens.clamp(min=0),
        attention_mask=hidden[:, None],
        position_ids=mask.sum(-1, keepdim=True) + offsets.clamp(min=0),
        past_key_values=cache,
        use_cache=True,
    )
    scores = output.logits.float().log_softmax(-1)
    inside = scores.gather(-1, following.clamp(min=0)[..., None])[..., 0]
    return torch.where(following == _END, scores[..., ends].logsumexp(-1), inside).tolist()


def _weigh_anew(torch: Any, model: Any, row: PromptRow) -> list[float]:
    """The same, choice by choice from the start: for a cache that forgets its beginning."""
    weights = []
    for choice in row.choices:
        tokens = torch.tensor([row.so_far + choice], device=model.device)
        scores = (
            model(input_ids=tokens, use_cache=False)
            .logits[0, -len(choice) :]
            .float()
            .log_softmax(-1)
        )
        inside = (
            scores[:-1].gather(-1, tokens[0, 1 - len(choice) :, None]).sum()
            if len(choice) > 1
            else 0.0
        )
        weights.append(float(inside + scores[-1, sorted(row.letters.line_ends)].logsumexp(-1)))
    return weights


SHORTEST_SHARED = 64
"""Tokens below which a shared beginning is not worth a computation of its own."""
SMALLEST_LEAVING = 4
"""Rows leave when they are at least one in so many: each leaving copies what is kept of the
others."""
WORTH_A_PASS = 1024
"""Tokens that take as long to compute as one more pass through the model."""
MULTIPLE = 8
"""Widths are padded to a multiple of this, which the GPU's kernels are made for."""
PARAMETERS = ("top_k", "min_p")
"""The parameters beside temperature and top_p that sampling takes."""
PICKED_FROM = 64
"""The best tokens, of which the first is taken that a template allows."""


class _Computed(NamedTuple):
    """A batch as far as it is computed."""

    scores: Any
    """Scores of every token of the vocabulary, after each row's last one."""
    cache: Any
    mask: Any
    """The columns of the cache that count, for each row."""


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
        self._torch, self._model, self._pad = torch, model, pad
        self._share = share and sees_all(model.config)
        self._at_once = at_once
        known = inspect.signature(model.forward).parameters
        # Only the last position's scores are wanted: those of whole prompts would be larger than
        # everything else.
        self._last: dict[str, int] = {
            name: 1 for name in ("logits_to_keep", "num_logits_to_keep") if name in known
        }
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
        choose = _Chooser(torch, decoding, seeds, self._model.device)
        with torch.inference_mode(), without_plans():
            live = list(range(len(rows)))
            computed = self._read([row.prompt for row in rows])
            while True:
                following = _take_next(rows, live, choose, computed.scores)
                if all(token is None for token in following):
                    break
                left = [place for place, index in enumerate(live) if not rows[index].done]
                if _worth_leaving(len(live), len(left), computed):
                    computed = self._only(left, computed)
                    live = [live[place] for place in left]
                    following = [following[place] for place in left]
                computed = self._read_tokens(following, computed)
            self._choose_whole(rows, live, choose, computed)

    def _only(self, places: Sequence[int], computed: _Computed) -> _Computed:
        """The same of some rows of the batch; their scores have been read, and stay as they are."""
        keep = self._torch.tensor(places, device=computed.mask.device)
        computed.cache.batch_select_indices(keep)
        return computed._replace(mask=computed.mask[keep])

    def _read_tokens(self, following: Sequence[int | None], computed: _Computed) -> _Computed:
        """Compute one more token of each row; a row that gets none is padded, and its column does
        not count.
        """
        torch, device = self._torch, computed.mask.device
        tokens = [[self._pad if token is None else token] for token in following]
        counts = [[token is not None] for token in following]
        column = torch.tensor(counts, device=device).to(computed.mask.dtype)
        mask = torch.cat([computed.mask, column], -1)
        scores, cache = self._forward(torch.tensor(tokens, device=device), mask, computed.cache)
        return _Computed(scores, cache, mask)

    def _choose_whole(
        self, rows: Sequence[PromptRow], live: Sequence[int], choose: "_Chooser", at: _Computed
    ) -> None:
        """Decide the rows that wait for one of their choices."""
        waiting = [place for place, index in enumerate(live) if rows[index].waits]
        some = [rows[live[place]] for place in waiting]
        for place, weights in weigh(self._torch, self._model, some, waiting, at.cache, at.mask):
            index = live[place]
            rows[index].decide(choose.whole(weights, index), weights)

    def _read(self, prompts: Sequence[Sequence[int]]) -> _Computed:
        """Compute the prompts, from what is kept of earlier ones."""
        known = [self.prefixes.find(prompt) for prompt in prompts]
        self.reused = [one.length for one in known]
        return self._read_on(prompts, known)

    def _read_on(
        self, prompts: Sequence[Sequence[int]], known: list[KnownPrefix], *, ahead: bool = False
    ) -> _Computed:
        """Compute the rest of each prompt after what is known of it.

        `ahead`: True if the prompts are read only to be known when those of the whole batch are.
        """
        torch, device = self._torch, self._model.device
        new = [len(prompt) - one.length for prompt, one in zip(prompts, known, strict=True)]
        late, least = _late(new) if self.prefixes.fit(prompts) else ([], len(new) * max(new))
        begun = self._begin_shared(prompts, least)
        if begun is None:
            begun = self._begin_known(prompts, known, late)
        elif not ahead:
            self.reused = [0] * len(prompts)
        known, past = begun.known, begun.past
        rests = [list(prompt[one.length :]) for prompt, one in zip(prompts, known, strict=True)]
        width = _padded(max(map(len, rests)))
        tokens = [[self._pad] * (width - len(rest)) + rest for rest in rests]
        columns = torch.arange(past + width, device=device)
        before = torch.tensor([[one.length] for one in known], device=device)
        after = torch.tensor([[len(rest)] for rest in rests], device=device)
        of_known = (columns >= past - before) & (columns < past)
        of_rest = columns >= past + width - after
        mask = (of_known | of_rest).long()
        scores, cache = self._forward_in_parts(
            torch.tensor(tokens, device=device), mask, begun.cache
        )
        self.prefixes.keep(prompts, known, past, cache, replace=not ahead)
        return _Computed(scores, cache, mask)

    def _begin_shared(self, prompts: Sequence[Sequence[int]], least: int) -> _Begun | None:
        """Compute once what all prompts begin with; None where that takes more than `least`
        tokens, or the cache cannot be repeated.
        """
        shared = self._shared(prompts)
        rest = max(map(len, prompts)) - shared
        if not shared or shared + len(prompts) * rest > least:
            return None
        beginning = self._torch.tensor([list(prompts[0][:shared])], device=self._model.device)
        ones = self._torch.ones_like(beginning)
        _, cache = self._forward_in_parts(beginning, ones, None)
        if not hasattr(cache, "batch_repeat_interleave"):
            return None
        cache.batch_repeat_interleave(len(prompts))
        return _Begun([KnownPrefix(shared)] * len(prompts), shared, cache)

    def _begin_known(
        self, prompts: Sequence[Sequence[int]], known: list[KnownPrefix], late: Sequence[int]
    ) -> _Begun:
        """Begin with what is kept of each prompt, after reading the `late` ones by themselves."""
        if late:
            beginnings = [prompts[place][:-1] for place in late]
            self._read_on(beginnings, [known[place] for place in late], ahead=True)
            known = [self.prefixes.find(prompt) for prompt in prompts]
        past = _padded(max(one.length for one in known))
        return _Begun(known, past, self.prefixes.past(known, past) if past else None)

    def _shared(self, prompts: Sequence[Sequence[int]]) -> int:
        """Tokens that all prompts begin with and that are worth computing once; never a
        prompt's last one.
        """
        if not self._share or len(prompts) < 2:
            return 0
        # what the first and the last in their order begin with, all others do
        first = min(map(tuple, prompts))
        last = max(map(tuple, prompts))
        most = min(len(prompt) for prompt in prompts) - 1
        same = next((at for at in range(most) if first[at] != last[at]), most)
        return same if same >= SHORTEST_SHARED else 0

    def _forward_in_parts(self, tokens: Any, mask: Any, cache: Any) -> tuple[Any, Any]:
        """The scores after the last column, and the cache; so many columns at a time as may be
        computed at once.
        """
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


def _worth_leaving(before: int, left: int, computed: _Computed) -> bool:
    """True if so many rows have ended that it pays to take them out of the batch."""
    many = (before - left) * SMALLEST_LEAVING >= before
    return many and hasattr(computed.cache, "batch_select_indices")


def _take_next(
    rows: Sequence[PromptRow], live: Sequence[int], choose: "_Chooser", scores: Any
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
    return -(-width // MULTIPLE) * MULTIPLE


def _late(new: Sequence[int]) -> tuple[list[int], int]:
    """The rows to read by themselves first, since the others would be padded to them; and the
    tokens computed then.
    """
    order = sorted(range(len(new)), key=lambda place: -new[place])
    rows = len(new)
    longest = max(new)
    costs = [rows * longest]  # with none read first; then with one, two and so on
    for first in range(1, rows):
        costs.append(first * longest + rows * new[order[first]] + WORTH_A_PASS)
    return order[: costs.index(min(costs))], min(costs)


class _Chooser:
    """Picks each row's next token: the best, or with a temperature one drawn by the row's own
    generator.
    """

    def __init__(self, torch: Any, decoding: Decoding, seeds: Sequence[int], device: Any) -> None:
        self._torch, self._decoding = torch, decoding
        extra = dict(decoding.extra)
        if unknown := [name for name in extra if name not in PARAMETERS]:
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
        for place, row in enumerate(rows):
            if row.picks:
                chosen[place] = row.pick(
                    ranked[place].topk(min(PICKED_FROM, ranked.shape[-1])).indices.tolist()
                )
        return chosen

    def whole(self, weights: Sequence[float], row: int) -> int:
        """Pick one of a row's choices by their log probabilities: the best, or one drawn by the
        temperature.
        """
        totals = self._torch.tensor([weights])
        if self._generators:
            shares = (totals / self._decoding.temperature).softmax(-1)
            generator = self._generators[row]
            noise = self._torch.empty_like(shares, device=generator.device).exponential_(
                generator=generator
            )
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
        noise = [
            torch.empty_like(shares[0]).exponential_(generator=self._generators[index])
            for index in live
        ]
        drawn = torch.where(drop | (shares <= 0), shares - 1.0, shares / torch.stack(noise))
        return torch.full_like(scores, -torch.inf).scatter(-1, order, drawn)
