"""Likelihood of each of a row's choices as a whole, all of them in one computation."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from rpms.models.hf.prefixes import layers_of, sees_all
from rpms.models.hf.rows import PromptRow

SCORES_AT_ONCE = 2**28
"""Scores, one for each word of the vocabulary at each position, that are held at once: a gigabyte."""
SCORES_SHARE = 0.03
"""The part of a GPU's free memory for them, where that is more; turning them into probabilities takes twice as much."""
_END = -1
"""Stands for whatever ends an answer, where a choice is complete."""


class _Packed(NamedTuple):
    """A row's choices side by side: for each token its place in its choice, its choice, and what follows it there."""

    tokens: list[int]
    offsets: list[int]
    choice: list[int]
    following: list[int]


def _side_by_side(choices: Sequence[Sequence[int]]) -> _Packed:
    return _Packed(
        [token for choice in choices for token in choice],
        [offset for choice in choices for offset in range(len(choice))],
        [number for number, choice in enumerate(choices) for _ in choice],
        [token for choice in choices for token in (*choice[1:], _END)],
    )


def weigh(
    torch: Any, model: Any, rows: Sequence[PromptRow], places: Sequence[int], cache: Any, mask: Any
) -> Iterator[tuple[int, list[float]]]:
    """Each row's place in the batch and the log probabilities of its choices; what all begin with is left out."""
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
        scores = _scores(torch, model, packed, _part(cache, at), mask[at], sorted(rows[start].ends))
        for place, row, one, line in zip(places[some], rows[some], packed, scores, strict=True):
            weights = [0.0] * len(row.choices)
            for number, score in zip(one.choice, line[: len(one.choice)], strict=True):
                weights[number] += score
            yield place, weights


def _scores(torch: Any, model: Any, packed: Sequence[_Packed], cache: Any, mask: Any, ends: list[int]) -> Any:
    """The log probability, at each token, of what follows it in its choice."""
    width = max(len(one.tokens) for one in packed)

    def rectangle(lines: Sequence[Sequence[int]]) -> Any:
        return torch.tensor([[*line, *[_END] * (width - len(line))] for line in lines], device=mask.device)

    tokens, offsets, choice, following = map(rectangle, zip(*packed, strict=True))
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
        scores = model(input_ids=tokens, use_cache=False).logits[0, -len(choice) :].float().log_softmax(-1)
        inside = scores[:-1].gather(-1, tokens[0, 1 - len(choice) :, None]).sum() if len(choice) > 1 else 0.0
        weights.append(float(inside + scores[-1, sorted(row.ends)].logsumexp(-1)))
    return weights


def _part(cache: Any, rows: Any) -> Any:
    """Some rows of a cache, as a cache of their own."""
    part = importlib.import_module("transformers").DynamicCache()
    for number, (keys, values) in enumerate(layers_of(cache)):
        part.update(keys[rows], values[rows], number)
    return part
