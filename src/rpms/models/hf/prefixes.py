"""Prefixes: keys and values of earlier prompts, so that only what follows the longest shared
beginning is computed.
"""

import importlib
import struct
from bisect import bisect_left, insort
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

LAYERS_AT_ONCE = 4
"""Layers copied together: more take fewer copies, and more memory while they are made."""
CAPACITY = 256
"""Rows have room for a multiple of so many tokens: the next prompt of an episode often fits
into the last one's."""
REPLACED = 0.75
"""The part of a kept row that a new one must begin with to take its place."""
_BYTES = 4
"""Bytes of a token in a row's name."""


@dataclass(frozen=True, slots=True)
class KnownPrefix:
    """The beginning of a prompt that is kept."""

    length: int = 0
    """Number of known tokens; never the prompt's last one, whose scores are wanted."""
    row: bytes = b""


class _Copy(NamedTuple):
    """A row to be filled."""

    place: int
    """The prompt's place in its batch."""
    row: Any
    known: int
    """Tokens that were known before."""
    length: int
    there: bool
    """True if the row has the known ones already."""


class _Layer(NamedTuple):
    """The keys and values of one layer, each [rows, heads, columns, width]."""

    keys: Any
    values: Any


class Prefixes:
    """Keys and values of prompts, up to a limit of tokens; what was not used for longest is given
    up first.

    A row is one tensor [layers, 2, heads, capacity, width], so that it is copied as a whole. Its
    name is its tokens as big-endian bytes: in their order, the row with most in common with a
    prompt stands next to where it would stand.
    """

    def __init__(self, most: int) -> None:
        """`most`: the tokens to keep; 0 for none."""
        self._most = most
        self._rows: dict[bytes, Any] = {}  # the one used last is the last
        self._names: list[bytes] = []  # sorted
        self.tokens = 0
        """Tokens for which the rows have room."""

    def __len__(self) -> int:
        return len(self._rows)

    def fit(self, prompts: Sequence[Sequence[int]]) -> bool:
        """True if so many prompts can be kept at the same time."""
        return sum(map(_capacity, map(len, prompts))) <= self._most

    def find(self, prompt: Sequence[int]) -> KnownPrefix:
        """The longest kept beginning of a prompt; its row counts as used."""
        if not self._rows:
            return KnownPrefix()
        name = _name(prompt)
        at = bisect_left(self._names, name)
        # in alphabetical order, what has most in common with a prompt stands beside it
        beside = self._names[max(at - 1, 0) : at + 1]
        length, row = max((_common(name, near), near) for near in beside)
        length = min(length, len(prompt) - 1)
        if length <= 0:
            return KnownPrefix()
        self._rows[row] = self._rows.pop(row)
        return KnownPrefix(length, row)

    def past(self, known: Sequence[KnownPrefix], columns: int) -> Any:
        """A cache of a batch: what is known of each prompt, padded on the left to so many
        columns.
        """
        cache = importlib.import_module("transformers").DynamicCache()
        layers, _, heads, _, width = next(iter(self._rows.values())).shape
        for first in range(0, layers, LAYERS_AT_ONCE):
            some = slice(first, min(first + LAYERS_AT_ONCE, layers))
            shape = (some.stop - first, 2, len(known), heads, columns, width)
            batch = next(iter(self._rows.values())).new_zeros(shape)
            for place, one in enumerate(known):
                if one.length:
                    batch[:, :, place, :, columns - one.length :] = self._rows[one.row][
                        some, :, :, : one.length
                    ]
            for layer, (keys, values) in enumerate(batch, first):
                cache.update(keys, values, layer)
        return cache

    def keep(
        self,
        prompts: Sequence[Sequence[int]],
        known: Sequence[KnownPrefix],
        past: int,
        cache: Any,
        *,
        replace: bool = True,
    ) -> None:
        """Keep what a batch has computed, as far as there is room.

        The cache has `past` columns that end with what was known of each prompt, and then columns
        that end with the rest of it. `replace`: whether a row gives way to one that has most of it.
        A cache of another kind ends the keeping.
        """
        layers = _layers(cache) if self._most else []
        if not layers:
            self._most = 0
            return
        made = self._make_room(prompts, known, layers, replace=replace)
        if made:
            _fill(list(made.values()), past, layers)
        for name, copy in made.items():  # only now, when they are complete
            self._rows[name] = copy.row
            insort(self._names, name)

    def clear(self) -> bool:
        """Give up everything, and keep half as much from now on; True if there was anything to give
        up.
        """
        anything = bool(self._rows)
        self._rows = {}
        self._names = []
        self.tokens = 0
        self._most //= 2
        return anything

    def _make_room(
        self,
        prompts: Sequence[Sequence[int]],
        known: Sequence[KnownPrefix],
        layers: Sequence[_Layer],
        *,
        replace: bool,
    ) -> dict[bytes, _Copy]:
        """Rows for the prompts of a batch that are not kept yet, each still to be filled."""
        made: dict[bytes, _Copy] = {}
        room = self._most
        for place, (prompt, one) in enumerate(zip(prompts, known, strict=True)):
            name = _name(prompt)
            if name in made or name in self._rows or one.row.startswith(name):
                continue
            row = self._row_to_replace(one, len(prompt)) if replace else None
            there = row is not None
            if row is None:
                row = self._new_row(len(prompt), room, layers)
            if row is None:
                continue
            made[name] = _Copy(place, row, one.length, len(prompt), there)
            self.tokens += row.shape[-2]
            room -= row.shape[-2]
        return made

    def _row_to_replace(self, known: KnownPrefix, length: int) -> Any:
        """The row that a prompt of this length begins with, if it has room for all of it.

        It is given up in any case where the prompt has most of it.
        """
        if known.length < REPLACED * (len(known.row) // _BYTES):
            return None
        row = self._give_up(known.row)
        has_room = row is not None and row.shape[-2] >= length
        return row if has_room else None

    def _new_row(self, length: int, most: int, layers: Sequence[_Layer]) -> Any:
        """An empty row, made by giving up as many others as it needs; None if that is more than
        `most`.
        """
        capacity = _capacity(length)
        if capacity > most:
            return None
        while self.tokens + capacity > self._most:
            self._give_up(next(iter(self._rows)))
        keys = layers[0].keys
        _, heads, _, width = keys.shape
        return keys.new_empty((len(layers), 2, heads, capacity, width))

    def _give_up(self, name: bytes) -> Any:
        row = self._rows.pop(name, None)
        if row is not None:
            self.tokens -= row.shape[-2]
            del self._names[bisect_left(self._names, name)]
        return row


def sees_all(config: Any) -> bool:
    """True if a model's attention reaches back to the start, so that padding between tokens
    changes nothing.
    """
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    slides = getattr(text, "sliding_window", None) and getattr(text, "use_sliding_window", True)
    return not slides and not getattr(text, "attention_chunk_size", None)


def _name(tokens: Sequence[int]) -> bytes:
    return struct.pack(f">{len(tokens)}I", *tokens)


def _common(first: bytes, second: bytes) -> int:
    """Tokens that both names begin with."""
    size = min(len(first), len(second))
    differ = int.from_bytes(first[:size], "big") ^ int.from_bytes(second[:size], "big")
    return (size - -(-differ.bit_length() // 8)) // _BYTES


def _capacity(length: int) -> int:
    return -(-length // CAPACITY) * CAPACITY


def _layers(cache: Any) -> list[_Layer]:
    """Keys and values of every layer; empty if they are not all of one shape [rows, heads, columns,
    width].
    """
    try:
        layers = [_Layer(keys, values) for keys, values, *_ in cache]
        shapes: set[Any] = set()
        for layer in layers:
            shapes |= {layer.keys.shape, layer.values.shape}
    except (AttributeError, TypeError, ValueError):  # a cache of another kind
        return []
    if len(shapes) != 1:
        return []
    [shape] = shapes
    return layers if len(shape) == 4 else []


def _fill(copies: Sequence[_Copy], past: int, layers: Sequence[_Layer]) -> None:
    """Copy prompts from the columns of a batch to rows."""
    torch = importlib.import_module("torch")
    start = past if all(copy.there for copy in copies) else 0
    for first in range(0, len(layers), LAYERS_AT_ONCE):
        some = slice(first, first + LAYERS_AT_ONCE)
        parts = []
        for layer in layers[some]:
            parts.append(torch.stack([part[:, :, start:] for part in layer]))
        batch = torch.stack(parts)
        for place, row, known, length, there in copies:
            first_new = batch.shape[-2] - (length - known)
            row[some, :, :, known:length] = batch[:, :, place, :, first_new:]
            if not there:
                row[some, :, :, :known] = batch[:, :, place, :, past - known : past]
