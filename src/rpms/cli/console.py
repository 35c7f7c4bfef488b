"""The console of tables and live displays."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from rpms.foreign.shown import lines


class SafeConsole(Console):
    """A console on which only its own control codes are codes: in a text they are left out."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                yield Segment(lines(segment.text), segment.style)
