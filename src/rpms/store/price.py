"""The price of a model's tokens."""

from dataclasses import dataclass


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
