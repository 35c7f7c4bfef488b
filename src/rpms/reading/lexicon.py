"""Words of requests: which remembered requests are nearest, and which words point to which
goals and kinds.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

from rapidfuzz import fuzz

from rpms.paper.memory import RememberedRequest

LONGEST_NAME = 3
"""Words that may make one name together: `roll of paper`."""
LONGEST_READ = 60
"""Words of a request that are looked at; people's requests have ten."""
NAMED = 6.0
"""Evidence, in natural logarithms, that a word has for a kind of that very name: 400 to 1."""
HEAD = 0.6
"""Share of it for the end of a name: `clock` for an alarmclock."""
TAIL = 0.4
"""Share of it for the beginning of a name: `news` for a newspaper."""
MISSPELT = 85.0
"""Per cent of their letters in common from which a longer word counts as a misspelt name."""
FURTHER = (1.0, 0.3, 0.1)
"""Weights of the strongest word for a value, the next one and the third: words of one name
repeat each other."""
PRIOR = 1.0
"""Imagined requests in which a word tells nothing, so that one seen once or twice tells little."""
_WORD = re.compile(r"[a-z0-9]+")


@lru_cache(maxsize=8_192)
def words_of(text: str) -> tuple[str, ...]:
    """The words of a text in lower case, plurals without their `s`."""
    words = _WORD.findall(text.lower())
    return tuple(map(_singular, words[:LONGEST_READ]))


def _singular(word: str) -> str:
    is_plural = len(word) > 2 and word.endswith("s") and not word.endswith("ss")
    return word[:-1] if is_plural else word


@lru_cache(maxsize=8_192)
def names_in(text: str) -> frozenset[str]:
    """Everything in a text that may be a name: one to three words in a row, written together."""
    words = words_of(text)
    names: set[str] = set()
    for size in range(1, LONGEST_NAME + 1):
        for start in range(len(words) - size + 1):
            names.add("".join(words[start : start + size]))
    return frozenset(names)


@lru_cache(maxsize=262_144)
def likeness(word: str, name: str) -> float:
    """Likeness of words written together and a kind's name, from 0 to 1."""
    if word == name:
        return 1.0
    if len(word) >= 3 and name.endswith(word):
        return HEAD
    if len(word) >= 4 and name.startswith(word):
        return TAIL
    if len(word) >= 5 and fuzz.ratio(word, name) >= MISSPELT:
        return HEAD
    return 0.0


class WordEvidence(NamedTuple):
    """Evidence of a request's words for a value, and the word that says most."""

    weight: float
    """The natural logarithm of how much likelier the words make it."""
    word: str = ""


class NearRequest(NamedTuple):
    """A remembered request, and how near it is to another, from 0 to 1."""

    score: float
    entry: RememberedRequest


class _Vector(NamedTuple):
    """Names in a text, each with the logarithm of how rare it is; and the vector's length."""

    weights: Mapping[str, float]
    length: float

    def cosine(self, other: "_Vector") -> float:
        """Cosine of the angle between this one and another."""
        shared = 0.0
        for name, weight in self.weights.items():
            shared += weight * other.weights.get(name, 0.0)
        return shared / self.length / other.length


class Lexicon:
    """Word evidence from remembered requests and from the names of goals and kinds."""

    def __init__(
        self, requests: Iterable[RememberedRequest], called: Mapping[str, Sequence[str]]
    ) -> None:
        """`called`: further names of goal types and kinds, written together: `refrigerator` for
        a fridge.
        """
        self.requests = tuple(requests)
        self._called = called
        self._found: dict[tuple[str, str, str], WordEvidence] = {}

    @cached_property
    def _seen(self) -> Counter[str]:
        """Requests in which a name occurs."""
        seen: Counter[str] = Counter()
        for entry in self.requests:
            seen.update(names_in(entry.request))
        return seen

    @cached_property
    def _meant(self) -> Mapping[str, Counter[str]]:
        """Goal types, objects and destinations, each with how many requests meant it."""
        found: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for entry in self.requests:
            for field, value in entry.goal_fields.items():
                found[field][value] += 1
        return found

    @cached_property
    def _together(self) -> Mapping[tuple[str, str, str], int]:
        """Requests with a name in them that meant a value in a field."""
        found: Counter[tuple[str, str, str]] = Counter()
        for entry in self.requests:
            for field, value in entry.goal_fields.items():
                found.update((field, value, name) for name in names_in(entry.request))
        return found

    def evidence(self, request: str, field: str, value: str) -> WordEvidence:
        """Evidence of the request's words for a value in a field."""
        key = (request, field, value)
        if key not in self._found:
            self._found[key] = self._find_evidence(request, field, value)
        return self._found[key]

    def _find_evidence(self, request: str, field: str, value: str) -> WordEvidence:
        """Weigh each word of a request by how often it meant a value before, or by how like it is
        to the value's own names. The strongest word counts most.
        """
        share = self.share(field, value)
        names = [value]
        for called in self._called.get(value, ()):
            names.append("".join(words_of(called)))
        found: list[WordEvidence] = []
        for word in names_in(request):
            together = self._together.get((field, value, word), 0)
            expected = (self._seen[word] + PRIOR) * share
            remembered = math.log((together + PRIOR * share) / expected)
            named = NAMED * max(likeness(word, name) for name in names)
            weight = max(remembered, named)
            if weight > 0:
                found.append(WordEvidence(weight, word))
        if not found:
            return WordEvidence(0.0)
        found.sort(key=lambda one: (-one.weight, one.word))
        total = sum(one.weight * part for one, part in zip(found, FURTHER, strict=False))
        return WordEvidence(total, found[0].word)

    def share(self, field: str, value: str) -> float:
        """Share of remembered requests that meant a value, whatever their words; never 0."""
        meant = self._meant[field]
        values = len(meant) + 1  # and one that no request has meant so far
        # each value counts as if it had been meant half a time more
        return (meant[value] + 0.5) / (len(self.requests) + 0.5 * values)

    def nearest(self, request: str, most: int) -> list[NearRequest]:
        """Remembered requests that share the rarest words with this one, nearest first, each
        text once.
        """
        own = self._vector(request)
        scored: list[NearRequest] = []
        for entry, vector in zip(self.requests, self._vectors, strict=True):
            scored.append(NearRequest(own.cosine(vector), entry))
        scored.sort(key=lambda near: (-near.score, near.entry.id))
        distinct: dict[object, NearRequest] = {}
        for near in scored:
            distinct.setdefault((near.entry.request, near.entry.goal_signature), near)
        return list(distinct.values())[:most]

    def _vector(self, text: str) -> _Vector:
        total = len(self.requests) + 1
        weights: dict[str, float] = {}
        for name in sorted(names_in(text)):
            weights[name] = math.log(total / (self._seen[name] + 0.5))
        length = math.sqrt(sum(weight**2 for weight in weights.values()))
        return _Vector(weights, length or 1.0)

    @cached_property
    def _vectors(self) -> Sequence[_Vector]:
        """Vectors of the remembered requests, in their order."""
        return [self._vector(entry.request) for entry in self.requests]
