"""Requests: what a person asked for, as ranked readings of goals that the manual has.

A model is asked which goal, which object and which destination, in turn; rules and belief say which
are possible; remembered requests are its examples, and their words are evidence of their own.
Nothing here asks a model: `read` yields questions and is sent what the model makes of them.
"""

import hashlib
import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from random import Random

from rpms.logic.belief import Belief
from rpms.logic.goal import Goal, GoalSignature
from rpms.logic.rules import RuleManual
from rpms.paper.memory import Entry, RememberedRequest, SuccessSnippet
from rpms.paper.prompt import Form, Part, Prompt, make_block
from rpms.reading.lexicon import Lexicon, NearRequest, names_in
from rpms.reading.narrowing import FIELDS, Narrowing, RequestForm, forms_of
from rpms.reading.readings import Readings, RequestReading, weighed

EXAMPLES = 24
"""Remembered requests in a question: about a thousand tokens."""
TYPES = 2
"""Goal types whose slots are asked for."""
OBJECTS = 3
"""Objects that are tried for each goal type: for these, the other slots are asked for."""
READINGS = 20
"""Readings that are kept; an episode of fifty steps has time for five."""
WORDS = 0.5
"""Weight of the words' evidence beside the model's: both are logarithms of probabilities."""
NOT_SAID = -4.0
"""Logarithm of the probability of a value that a model did not name, if it gives one answer and no
weights."""
UNTRIED = -4.0
"""Logarithm of the probability of a slot that nobody has tried: rules about kinds say neither yes
nor no."""
BELOW = 8.0
"""Goal types this far below the best, in logarithms, are not asked about further."""
DRAWS = 2_000
"""Goals that are drawn at most to find possible ones by chance."""
UNREAD = 1.0
"""Evidence below which no word of a request points to any kind: it is then not read at all."""

INSTRUCTION = (
    "Say which goal a person's request means. Answer with one line for the goal and one for each of"
    " its fields, such as `goal: NAME`, `object: KIND`, `destination: KIND`. The goals:"
)

Make = Callable[[str, Mapping[str, str], str], Goal]
"""A goal of a type with some fields, and the request as its text."""


class Source(StrEnum):
    """Readers of requests. All but the model are controls without one."""

    MODEL = "model"
    WORDS = "words"
    """The words of remembered requests and the names of kinds alone."""
    NEAREST = "nearest"
    """The goal of the nearest remembered request."""
    RANDOM = "random"
    """Any goal that rules and belief allow."""


@dataclass(frozen=True)
class SlotQuestion:
    """One question to a model: which of the choices goes on an answer that is begun."""

    prompt: Prompt
    field: str
    begun: str
    choices: tuple[str, ...]


Weights = Sequence[float]
"""Logarithms of the choices' probabilities, in their order."""


@dataclass(frozen=True)
class _Part:
    """A goal with some slots filled."""

    form: RequestForm
    named: Mapping[str, str] = field(default_factory=dict)
    score: float = 0.0
    said: float = 0.0
    """The model's part of the score."""
    reasons: tuple[str, ...] = ()

    @property
    def begun(self) -> str:
        """The answer so far, to which a model adds the next slot."""
        lines = [f"goal: {self.form.type}\n"]
        for name, kind in self.named.items():
            lines.append(f"{name}: {kind}\n")
        return "".join(lines)


@dataclass(frozen=True)
class Reader:
    """Reads requests with what a condition knows."""

    goals: RuleManual
    """Has the goals, which everybody knows who plays the world."""
    rules: bool
    """True if the manual's rules about kinds count."""
    memory: Sequence[Entry]
    """Entries of the memory; empty if memory is off."""
    source: Source
    here: bool
    """True if the belief counts."""
    called: Mapping[str, Sequence[str]]
    """Kinds and goal types of the world, each with what people call it, where the world tells;
    part of its rules."""
    make: Make

    @cached_property
    def forms(self) -> tuple[RequestForm, ...]:
        return forms_of(self.goals)

    @cached_property
    def lexicon(self) -> Lexicon:
        requests = [entry for entry in self.memory if isinstance(entry, RememberedRequest)]
        return Lexicon(requests, self.called if self.rules else {})

    @cached_property
    def _remembered(self) -> Mapping[tuple[str, str], tuple[str, ...]]:
        """Kinds that remembered goals have in a field, by type and field."""
        found: dict[tuple[str, str], dict[str, None]] = {}
        for entry in self.memory:
            if not isinstance(entry, RememberedRequest | SuccessSnippet):
                continue
            goal = entry.goal_signature
            for name in FIELDS:
                kind = getattr(goal, name)
                if kind:
                    found.setdefault((goal.type, name), {})[kind] = None
        return {slot: tuple(kinds) for slot, kinds in found.items()}

    @cached_property
    def kinds_called(self) -> tuple[str, ...]:
        """Kinds for which the world tells what people call them."""
        types = {form.type for form in self.forms}
        return tuple(name for name in self.called if name not in types)

    def kinds_remembered(self, type_: str, field_: str) -> Sequence[str]:
        """Kinds that remembered goals of a type have in a field."""
        return self._remembered.get((type_, field_), ())

    def read_examples(self, request: str) -> list[NearRequest]:
        """The remembered requests that are shown beside this one, nearest first."""
        return self.lexicon.nearest(request, EXAMPLES)

    def points_to(self, request: str, field_: str, kind: str) -> bool:
        """True if some word of a request points to a kind in a field."""
        return self.lexicon.evidence(request, field_, kind).weight >= UNREAD

    def read(
        self, request: str, belief: Belief
    ) -> Generator[SlotQuestion, Weights, Readings | None]:
        """Yield questions, each to be sent its weights, and return the readings; None where
        nothing can be read.
        """
        if not self.forms:
            return None
        examples = tuple(self.read_examples(request))
        possible = Narrowing(self.goals, belief, self.rules, self.here)
        found = yield from _Attempt(self, request, possible, examples).found()
        best = sorted(found, key=lambda reading: -reading.score)[:READINGS]
        ranked = weighed(best, belief)
        return Readings(request, ranked, examples=examples) if ranked else None


@dataclass(frozen=True)
class _Attempt:
    """An attempt to read one request."""

    reader: Reader
    request: str
    possible: Narrowing
    examples: Sequence[NearRequest]

    def found(self) -> Generator[SlotQuestion, Weights, list[RequestReading]]:
        """Goals that it may mean; none where no word points to any."""
        match self.reader.source:
            case Source.NEAREST:
                return list(self._goals_of_nearest())
            case Source.RANDOM:
                return list(self._goals_by_chance())
            case _:
                if not self._points_anywhere():
                    return []
                return (yield from self._search())

    def _points_anywhere(self) -> bool:
        """True if some word points to a kind that some goal can be about."""
        for form in self.reader.forms:
            for name in form.fields:
                for kind in self._kinds(form, name):
                    if self.reader.points_to(self.request, name, kind):
                        return True
        return False

    # Possible meanings.

    def _kinds(self, form: RequestForm, field_: str) -> tuple[str, ...]:
        """Kinds that a slot may have: those that manual, memory and belief name, or else the
        request's own words.
        """
        reader = self.reader
        roles = self.possible.roles(form, field_)
        named: dict[str, None] = {}
        if reader.here:
            named |= self.possible.kinds_here(roles)
        named |= dict.fromkeys(self._kinds_remembered(roles))
        if reader.rules:
            named |= dict.fromkeys((*self.possible.kinds_named, *reader.kinds_called))
        return tuple(named) or tuple(sorted(names_in(self.request)))

    def _kinds_remembered(self, roles: frozenset[str]) -> Iterator[str]:
        """Kinds that remembered goals have in slots of the same roles."""
        for form in self.reader.forms:
            for name in FIELDS:
                if self.possible.roles(form, name) & roles:
                    yield from self.reader.kinds_remembered(form.type, name)

    def _goal(self, part: _Part) -> Goal:
        return self.reader.make(part.form.type, part.named, self.request)

    # Beam search over the slots.

    def _search(self) -> Generator[SlotQuestion, Weights, list[RequestReading]]:
        """The best goals, slot by slot: its type first, then its object, then its destination."""
        parts = yield from self._likeliest_types()
        for field_ in FIELDS:
            grown: list[_Part] = []
            done: list[_Part] = []
            for part in parts:
                if field_ in part.form.fields:
                    grown += yield from self._fill_slot(part, field_)
                else:
                    done.append(part)
            parts = _best([*done, *grown], READINGS)
        found: list[RequestReading] = []
        for part in parts:
            reasons = (f"model {part.said:.1f}", *part.reasons) if self._asks else part.reasons
            found.append(RequestReading(self._goal(part), part.score, reasons=reasons))
        return found

    def _likeliest_types(self) -> Generator[SlotQuestion, Weights, list[_Part]]:
        """The likeliest goal types, with no slot filled."""
        forms = self.reader.forms
        choices = tuple(f"goal: {form.type}" for form in forms)
        weights = yield from self._weights("goal", "", choices)
        parts: list[_Part] = []
        for form, weight in zip(forms, weights, strict=True):
            parts.append(self._extend(_Part(form), "type", form.type, weight))
        best = _best(parts, TYPES if self._asks else len(parts))
        return [part for part in best if part.score >= best[0].score - BELOW]

    def _fill_slot(self, part: _Part, field_: str) -> Generator[SlotQuestion, Weights, list[_Part]]:
        """A part with its next slot filled, by each of the best kinds that nothing forbids."""
        untried: dict[str, bool] = {}
        for kind in self._kinds(part.form, field_):
            objected = self.possible.judge(part.form, {**part.named, field_: kind})
            if not objected.reason:
                untried[kind] = objected.untried
        choices = tuple(f"{field_}: {kind}" for kind in untried)
        weights = yield from self._weights(field_, part.begun, choices)
        filled: list[_Part] = []
        for kind, weight in zip(untried, weights, strict=True):
            evidence = weight + UNTRIED if untried[kind] else weight
            filled.append(self._extend(part, field_, kind, evidence))
        more_to_ask = self._asks and field_ != FIELDS[-1]
        return _best(filled, OBJECTS if more_to_ask else READINGS)

    @property
    def _asks(self) -> bool:
        """True if a model is asked."""
        return self.reader.source is Source.MODEL

    def _weights(
        self, field_: str, begun: str, choices: tuple[str, ...]
    ) -> Generator[SlotQuestion, Weights, Weights]:
        """The weights that a model gives to choices. They are equal if no model is asked, or if
        there is nothing to choose.
        """
        if self._asks and choices:
            return (yield SlotQuestion(self._prompt, field_, begun, choices))
        return [0.0] * len(choices)

    def _extend(self, part: _Part, field_: str, value: str, weight: float) -> _Part:
        """A part with its type or another slot filled, and the evidence for it: the model's,
        and the words'.
        """
        lexicon = self.reader.lexicon
        named = part.named if field_ == "type" else {**part.named, field_: value}
        evidence = lexicon.evidence(self.request, field_, value)
        reasons = part.reasons
        if evidence.word:
            reasons = (*reasons, f"`{evidence.word}` points to {value}")
        words = evidence.weight + math.log(lexicon.share(field_, value))
        return _Part(
            part.form,
            named,
            score=part.score + weight + WORDS * words,
            said=part.said + weight,
            reasons=reasons,
        )

    # Controls.

    def _goals_of_nearest(self) -> Iterator[RequestReading]:
        """Goals of remembered requests, nearest first."""
        lexicon = self.reader.lexicon
        forms = {form.type: form for form in self.reader.forms}
        met: set[GoalSignature] = set()
        for score, entry in lexicon.nearest(self.request, len(lexicon.requests)):
            named = dict(entry.goal_fields)
            form = forms.get(named.pop("type", ""))
            if form is None or entry.goal_signature in met:
                continue
            if self.possible.judge(form, named).reason:
                continue
            met.add(entry.goal_signature)
            goal = self._goal(_Part(form, named))
            yield RequestReading(goal, 10 * score, reasons=(f"like `{entry.request}`",))

    def _goals_by_chance(self) -> Iterator[RequestReading]:
        """Possible goals by chance: a type first, then its slots.

        The draw follows from the request alone.
        """
        seed = hashlib.sha256(self.request.encode("utf-8", "surrogatepass")).digest()
        dice = Random(int.from_bytes(seed, "big"))  # noqa: S311  a draw, not a secret
        met: set[tuple[str, ...]] = set()
        for _ in range(DRAWS):
            form = dice.choice(self.reader.forms)
            named: dict[str, str] = {}
            for name in form.fields:
                named[name] = dice.choice(self._kinds(form, name))
            key = (form.type, *named.values())
            objected = self.possible.judge(form, named)
            if key in met or objected.reason or objected.untried:
                continue
            met.add(key)
            goal = self._goal(_Part(form, named))
            yield RequestReading(goal, -float(len(met)), reasons=("drawn by chance",))
            if len(met) == READINGS:
                return

    # The question.

    @cached_property
    def _prompt(self) -> Prompt:
        """The common beginning of every question about a request: goals, examples as a
        conversation, the request.
        """
        rules = self.reader.goals.active("")
        goals = [form.words(rules) for form in self.reader.forms]
        shown: list[str] = []
        lengths: list[int] = []
        for near in reversed(self.examples):  # the nearest one last
            asked = f"{_request_line(near.entry.request)}\n"
            shown.append(f"{asked}{_answer_of(near.entry)}")
            lengths.append(len(asked))
        blocks = (
            make_block(Part.INSTRUCTION, INSTRUCTION, goals),
            make_block(Part.HISTORY, "", shown, spoken=lengths),
            make_block(Part.OBSERVATION, "", [_request_line(self.request)]),
        )
        filled = tuple(block for block in blocks if block.heading or block.items)
        return Prompt(filled, form=Form.CHAT)


def _request_line(request: str) -> str:
    return f"Request: {' '.join(request.split())}"


def _answer_of(entry: RememberedRequest) -> str:
    lines: list[str] = []
    for field_, value in entry.goal_fields.items():
        name = "goal" if field_ == "type" else field_
        lines.append(f"{name}: {value}")
    return "\n".join(lines)


def _best(parts: Iterable[_Part], most: int) -> list[_Part]:
    return sorted(parts, key=lambda part: -part.score)[:most]


def weights_of_answer(said: Mapping[str, str], question: SlotQuestion) -> list[float]:
    """Weights for a question, from a model that gives one whole answer and no weights: all but its
    answer is unlikely.
    """
    wanted = said.get(question.field, "").strip().casefold()
    weights: list[float] = []
    for choice in question.choices:
        _, _, value = choice.partition(": ")
        weights.append(0.0 if value.casefold() == wanted else NOT_SAID)
    return weights
