"""Words of requests: which remembered requests are nearest, and which words point to which
goals and kinds.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache

from rapidfuzz import fuzz

from rpms.paper.memory import RememberedRequest

LONGEST_NAME = 3
"""Words that may make one name together: `roll of paper`."""
LONGEST_READ = 60
"""Words of a request that are looked at; people's requests have ten."""
NAMED = 6.0
"""Evidence, in natural logarithms, that a word has for a kind of that very name: 400 to 1."""
HEAD, TAIL = 0.6, 0.4
"""Shares of it for the end of a name (`clock` for an alarmclock) and for its beginning (`news`
for a newspaper)."""
MISSPELT = 85.0
"""Per cent of their letters in common from which a longer word counts as a misspelt name."""
FURTHER = (1.0, 0.3, 0.1)
"""Weights of the strongest word for a value, the next one and the third: words of one name
repeat each other."""
DOUBT = 1.0
"""Requests' worth of doubt in a word that was seen once or twice."""
_WORD = re.compile(r"[a-z0-9]+")


@lru_cache(maxsize=8_192)
def words_of(text: str) -> tuple[str, ...]:
    """The words of a text in lower case, plurals without their `s`."""
    words = _WORD.findall(text.lower())[:LONGEST_READ]
    return tuple(
        word[:-1] if len(word) > 2 and word[-1] == "s" != word[-2] else word for word in words
    )


@lru_cache(maxsize=8_192)
def names_in(text: str) -> frozenset[str]:
    """Everything in a text that may be a name: one to three words in a row, written together."""
    words = words_of(text)
    spans = (
        (start, start + size)
        for size in range(1, LONGEST_NAME + 1)
        for start in range(len(words) - size + 1)
    )
    return frozenset("".join(words[start:end]) for start, end in spans)


@lru_cache(maxsize=262_144)
def likeness(word: str, name: str) -> float:
    """Likeness of words written together and a kind's name, from 0 to 1."""
    if word == name:
        return 1.0
    if len(word) >= 3 and name.endswith(word):
        return HEAD
    if len(word) >= 4 and name.startswith(word):
        return TAIL
    return HEAD if len(word) >= 5 and fuzz.ratio(word, name) >= MISSPELT else 0.0


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
        self._found: dict[tuple[str, str, str], tuple[float, str]] = {}

    @cached_property
    def _seen(self) -> Counter[str]:
        """Requests in which a name occurs."""
        return Counter(name for entry in self.requests for name in names_in(entry.request))

    @cached_property
    def _meant(self) -> Mapping[str, Counter[str]]:
        """Goal types, objects and destinations, each with how many requests meant it."""
        found: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for entry in self.requests:
            for field, value in entry.meant.items():
                found[field][value] += 1
        return found

    @cached_property
    def _together(self) -> Mapping[tuple[str, str, str], int]:
        """Requests with a name in them that meant a value in a field."""
        meant = ((*each, entry.request) for entry in self.requests for each in entry.meant.items())
        return Counter(
            (field, value, name) for field, value, request in meant for name in names_in(request)
        )

    def evidence(self, request: str, field: str, value: str) -> tuple[float, str]:
        """Logarithm of how much likelier the request's words make a value, and the word that
        says most.
        """
        if (request, field, value) in self._found:
            return self._found[request, field, value]
        share = self.share(field, value)
        names = [value, *map("".join, map(words_of, self._called.get(value, ())))]
        found = []
        for word in names_in(request):
            seen, together = self._seen[word], self._together.get((field, value, word), 0)
            weight = math.log((together + DOUBT * share) / ((seen + DOUBT) * share))
            weight = max(weight, NAMED * max(likeness(word, name) for name in names))
            if weight > 0:
                found.append((weight, word))
        found.sort(key=lambda pair: (-pair[0], pair[1]))
        total = sum(weight * each for (weight, _), each in zip(found, FURTHER, strict=False))
        said = self._found[request, field, value] = total, found[0][1] if found else ""
        return said

    def share(self, field: str, value: str) -> float:
        """Share of remembered requests that meant a value, whatever their words; never 0."""
        return (self._meant[field][value] + 0.5) / (
            len(self.requests) + 0.5 * (len(self._meant[field]) + 1)
        )

    def nearest(self, request: str, most: int) -> list[tuple[float, RememberedRequest]]:
        """Remembered requests that share the rarest words with this one, nearest first, each
        text once.
        """
        own, size = self._weights(request)
        scored = []
        for entry, (weights, length) in zip(self.requests, self._kept_weights, strict=True):
            shared = sum(weight * weights[name] for name, weight in own.items() if name in weights)
            scored.append((shared / size / length, entry))
        scored.sort(key=lambda pair: (-pair[0], pair[1].id))
        distinct: dict[object, tuple[float, RememberedRequest]] = {}
        for score, entry in scored:
            distinct.setdefault((entry.request, entry.goal_signature), (score, entry))
        return list(distinct.values())[:most]

    def _weights(self, text: str) -> tuple[dict[str, float], float]:
        """Names in a text, each with the logarithm of how rare it is, and the length of that
        vector.
        """
        total = len(self.requests) + 1
        weights = {
            name: math.log(total / (self._seen[name] + 0.5)) for name in sorted(names_in(text))
        }
        return weights, math.sqrt(sum(weight**2 for weight in weights.values())) or 1.0

    @cached_property
    def _kept_weights(self) -> Sequence[tuple[dict[str, float], float]]:
        return [self._weights(entry.request) for entry in self.requests]
