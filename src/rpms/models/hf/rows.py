"""Rows of a batch: one prompt's text, token by token, its end, and the tokens it may write next."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from enum import Enum, auto
from functools import cache
from typing import Any

from rpms.models.base import Decoding, cut_at_stop
from rpms.models.constraint import ACTION, THOUGHT, Shape, begins, fits, thought_tokens
from rpms.models.parsing import action_is_complete

_TAIL = 24
"""Last tokens looked at for a stop sequence: more than the longest one has."""


class Letters:
    """A tokenizer's tokens as text, each looked up once, and the tokens that end an answer."""

    def __init__(self, tokenizer: Any, ends: frozenset[int]) -> None:
        self.ends = ends
        self._tokenizer = tokenizer
        self.piece = cache(lambda token: self.text([token]))
        """A token's text by itself, which for a part of a character is a replacement sign."""
        self.label = self.encode(ACTION)
        self.line_end = self.encode("\n")[-1]
        self.line_ends = ends | {self.line_end}
        """Texts that may follow a complete action."""

    def text(self, tokens: Sequence[int]) -> str:
        return str(self._tokenizer.decode(list(tokens), skip_special_tokens=True))

    def encode(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False)["input_ids"])


class _Phase(Enum):
    FREE = auto()
    """Anything; the row ends by itself, at a stop sequence or with its action line: nothing
    after it would be read."""
    THOUGHT = auto()
    """Anything after `Thought:` up to the end of the line or of the thought's budget; then the
    action."""
    CHOICE = auto()
    """Nothing by token: one of the choices follows as a whole."""
    LABEL = auto()
    """Text before an action, token by token."""
    TEMPLATE = auto()
    """Text that some template allows, to the end of the line."""


class PromptRow:
    """One answer in the making, in phases.

    `decide` takes one of the choices whole, `pick` a template's tokens.
    """

    def __init__(
        self,
        prompt: Sequence[int],
        decoding: Decoding,
        shapes: tuple[Shape, ...],
        letters: Letters,
        begun: str | None = None,
    ) -> None:
        """`begun`: the beginning of an answer whose choices are only to be weighed; None where
        an answer is written.
        """
        self.written: list[int] = []
        self.done = False
        self.finish = "length"
        self.letters = letters
        self._decoding = decoding
        self._marks = frozenset(stop[-1] for stop in decoding.stop if stop) | {"\n", "\ufffd"}
        self.choices: list[list[int]] = []
        """The ways in which the answer can end, as tokens: `Action:` and one of the choices."""
        self._phase = _Phase.FREE
        self._thought_left = 0
        self._begun = 0
        self._label_at = 0
        self.prompt = list(prompt)
        """Tokens computed before the first one is chosen."""
        self._shapes = shapes
        self.weights: tuple[float, ...] = ()
        """Logarithms of the choices' probabilities, once they are weighed."""
        if begun is not None:
            self._weigh_choices(begun)
        elif shapes:
            self._begin_with_thought()

    def _weigh_choices(self, begun: str) -> None:
        """Let nothing be written: the choices are weighed behind this beginning.

        The last token before them is computed with each: its scores are those of their first ones.
        """
        self._phase = _Phase.CHOICE
        if begun:
            self.prompt += self.letters.encode(begun)
        last = self.prompt.pop()
        self.choices = [[last, *self.letters.encode(choice)] for (choice,) in self._shapes]

    def _begin_with_thought(self) -> None:
        """Let a thought be written first, and then an action that is held to the shapes."""
        self._phase = _Phase.THOUGHT
        self._thought_left = thought_tokens(self._decoding.max_tokens)
        self.written = self.letters.encode(THOUGHT)
        self._begun = len(self.written)
        self.prompt += self.written
        if all(len(shape) == 1 for shape in self._shapes):
            for (choice,) in self._shapes:
                self.choices.append(self.letters.encode(f"{ACTION} {choice}"))

    def fresh(self) -> PromptRow:
        """A copy of this row for another answer; only of a row that was never written."""
        row = copy(self)
        row.written = list(self.written)
        return row

    @property
    def so_far(self) -> list[int]:
        """The prompt and what was written since, as one sequence."""
        return self.prompt + self.written[self._begun :]

    @property
    def waits(self) -> bool:
        """True if the thought is written and the action is to be chosen."""
        return self._phase is _Phase.CHOICE and not self.done

    @property
    def picks(self) -> bool:
        """True if the next token has to be one that `pick` takes."""
        return self._phase is _Phase.TEMPLATE and not self.done

    def pick(self, tokens: Iterable[int]) -> int:
        """The first of some tokens that a template allows next, or the end of the line."""
        so_far = self._action()
        for token in tokens:
            if token in self.letters.ends:
                if self._complete(so_far):
                    return token
                continue
            text = self._action(token)
            line, end, _ = text.partition("\n")
            if self._complete(line) if end else self._viable(text, so_far):
                return token
        return self.letters.line_end

    def _action(self, *more: int) -> str:
        """The action so far, with some tokens more.

        Read with its label: by itself, a first blank may get lost.
        """
        return self.letters.text([*self.written[self._label_at :], *more]).partition(ACTION)[2]

    def _complete(self, action: str) -> bool:
        return any(fits(action.strip(), shape) for shape in self._shapes)

    def _viable(self, text: str, so_far: str) -> bool:
        """True if a text goes on as a template allows. A character may be written in part yet."""
        grows = text != so_far or text.endswith("\ufffd")
        if not grows or not text.startswith(" "):
            return False
        written = text[1:].rstrip("\ufffd")
        return any(begins(written, shape) for shape in self._shapes)

    def _ends_thought(self, token: int) -> bool:
        """True if the thought has no room left, or a token ends its line or the answer."""
        if self._thought_left <= 0 or token in self.letters.ends:
            return True
        return "\n" in self.letters.piece(token)

    def take(self, token: int) -> int | None:
        """Take the token that was chosen.

        Returns the one to compute next, or None where the row is done or waits.
        """
        if self._phase is _Phase.THOUGHT:
            if self._ends_thought(token):
                self._label_at = len(self.written)
                if self.choices:
                    self._phase = _Phase.CHOICE
                    return None
                self._phase = _Phase.LABEL
                return self._write_label()  # in place of what ended the line
            self._thought_left -= 1
        elif self._phase is _Phase.LABEL:
            return self._write_label()
        elif token in self.letters.ends:
            return self._end("stop")
        return self._write(token)

    def _write_label(self) -> int | None:
        label = self.letters.label
        written = len(self.written) - self._label_at
        if written == len(label) - 1:
            self._phase = _Phase.TEMPLATE
        return self._write(label[written])

    def decide(self, choice: int, weights: Sequence[float]) -> None:
        """End with one of the choices, given the logarithms of their probabilities."""
        self.weights = tuple(
            round(weight, 4) for weight in weights
        )  # further digits are rounding errors
        self.written += self.choices[choice]
        self._end("stop")

    @property
    def text(self) -> str:
        """The answer so far, cut where it should have stopped."""
        text = self.letters.text(self.written)
        if self._phase is _Phase.CHOICE:
            thought, label, action = text.rpartition(ACTION)
            return cut_at_stop(thought, self._decoding.stop) + label + action
        cut = cut_at_stop(text, self._decoding.stop)
        if self._phase is _Phase.TEMPLATE:
            thought, label, action = cut.partition(ACTION)
            return thought + label + action.partition("\n")[0]
        end = _end_of_action(cut) if self._phase is _Phase.FREE else None
        return cut if end is None else cut[:end]

    def _write(self, token: int) -> int | None:
        self.written.append(token)
        piece = self.letters.piece(token)
        if not self._marks.isdisjoint(piece) and self._stops(piece):
            if self._phase is _Phase.THOUGHT:  # it spoke for the world: on to its action
                self._thought_left = 0
                return token
            return self._end("stop")
        if self._phase is _Phase.TEMPLATE and "\n" in piece and "\n" in self._action():
            return self._end("stop")
        return token if len(self.written) < self._decoding.max_tokens else self._end("length")

    def _stops(self, piece: str) -> bool:
        tail = self.letters.text(self.written[-_TAIL:])
        if any(stop and stop in tail for stop in self._decoding.stop):
            return True
        line_ended = self._phase is _Phase.FREE and "\n" in piece
        return line_ended and _end_of_action(self.letters.text(self.written)) is not None

    def _end(self, finish: str) -> int | None:
        self.done = True
        self.finish = finish
        return None


def _end_of_action(text: str) -> int | None:
    """End of a complete action's line."""
    line_ends = (at for at, char in enumerate(text) if char == "\n")
    return next((at for at in line_ends if action_is_complete(text[: at + 1])), None)
