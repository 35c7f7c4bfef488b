"""The cost of asking a model."""

from dataclasses import dataclass, fields
from typing import Self


@dataclass(frozen=True, slots=True)
class Usage:
    """Cost of one request. Adding two gives the cost of both."""

    prompt_tokens: int = 0
    cached_tokens: int = 0
    """The part of `prompt_tokens` that the server did not compute again."""
    completion_tokens: int = 0
    requests: int = 0
    """Requests that reached the provider: 0 for an answer from a record."""
    seconds: float = 0.0
    """Time from the question to its answer, waits between tries included."""
    written_tokens: int = 0
    """The part of `prompt_tokens` stored for reuse, which Anthropic bills higher; 0 where a
    provider does not say."""

    def __add__(self, other: Self) -> Self:
        return type(self)(
            *(getattr(self, each.name) + getattr(other, each.name) for each in fields(self))
        )


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    prompt: float
    completion: float
    cached: float | None = None
    """Price of prompt tokens the provider kept; None: that of any other."""
    written: float | None = None
    """Price of prompt tokens the provider stores for reuse; None: that of any other."""

    def __post_init__(self) -> None:
        if min(self.prompt, self.completion, self.cached or 0.0, self.written or 0.0) < 0:
            raise ValueError("a price is not negative")
