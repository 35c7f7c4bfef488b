"""Weights of a row's choices: the log probability of each, whole.

A choice is taken whole: token by token, four that begin with `go` would win over one that is
likelier than each.
"""

import importlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rpms.models.hf.prefixes import sees_all
from rpms.models.hf.rows import PromptRow

SCORES_AT_ONCE = 2**28
"""Scores, one for each word of the vocabulary at each position, that are held at once: a
gigabyte."""
SCORES_SHARE = 0.03
"""Share of a GPU's free memory that scores may take, if it is more than that; turning them into
probabilities takes twice as much."""
_END = -1
"""Token that stands for whatever ends an answer, where a choice is complete."""


class _Packed(NamedTuple):
    """One token of a row's choices, which are computed side by side."""

    token: int
    offset: int
    """The token's place in its choice."""
    choice: int
    following: int
    """The token after it in its choice; `_END` after the last."""


_PADDING = _Packed(_END, _END, _END, _END)


def _side_by_side(choices: Sequence[Sequence[int]]) -> list[_Packed]:
    """The tokens of a row's choices, one choice after the other."""
    packed: list[_Packed] = []
    for number, choice in enumerate(choices):
        after = (*choice[1:], _END)
        for offset, (token, following) in enumerate(zip(choice, after, strict=True)):
            packed.append(_Packed(token, offset, number, following))
    return packed


class WeighedRow(NamedTuple):
    """The log probabilities of a row's choices, and the row's place in the batch."""

    place: int
    weights: list[float]


def weigh(
    torch: Any, model: Any, rows: Sequence[PromptRow], places: Sequence[int], cache: Any, mask: Any
) -> Iterator[WeighedRow]:
    """Weigh the choices of each row. The words that all choices begin with are left out."""
    if not sees_all(model.config):
        for place, row in zip(places, rows, strict=True):
            yield WeighedRow(place, _weigh_anew(torch, model, row))
        return
    at_once = _rows_at_once(torch, model, rows, on_gpu=mask.is_cuda)
    for start in range(0, len(rows), at_once):
        some = slice(start, start + at_once)
        packed = [_side_by_side(row.choices) for row in rows[some]]
        at = torch.tensor(places[some], device=mask.device)
        ends = sorted(rows[start].letters.line_ends)
        scores = _scores(torch, model, packed, _cache_of(cache, at), mask[at], ends)
        for place, row, tokens, line in zip(places[some], rows[some], packed, scores, strict=True):
            yield WeighedRow(place, _sum_by_choice(tokens, line, len(row.choices)))


def _rows_at_once(torch: Any, model: Any, rows: Sequence[PromptRow], *, on_gpu: bool) -> int:
    """The number of rows for whose choices all scores fit into memory."""
    longest = 1
    if rows:
        longest = max(sum(map(len, row.choices)) for row in rows)
    room = SCORES_AT_ONCE
    if on_gpu:
        free, _ = torch.cuda.mem_get_info()
        room = max(room, int(free * SCORES_SHARE / 4))
    return max(room // (longest * int(model.config.vocab_size)), 1)


def _sum_by_choice(tokens: Sequence[_Packed], scores: Sequence[float], choices: int) -> list[float]:
    """The log probability of each choice; the scores of padding come last, and do not count."""
    weights = [0.0] * choices
    for token, score in zip(tokens, scores[: len(tokens)], strict=True):
        weights[token.choice] += score
    return weights


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
    """The weights of a row's choices, each computed from the start: for a cache that forgets its
    beginning.
    """
    ends = sorted(row.letters.line_ends)
    weights: list[float] = []
    for choice in row.choices:
        tokens = torch.tensor([row.so_far + choice], device=model.device)
        logits = model(input_ids=tokens, use_cache=False).logits[0, -len(choice) :]
        scores = logits.float().log_softmax(-1)
        inside = 0.0
        if len(choice) > 1:
            inside = scores[:-1].gather(-1, tokens[0, 1 - len(choice) :, None]).sum()
        ended = scores[-1, ends].logsumexp(-1)
        weights.append(float(inside + ended))
    return weights
