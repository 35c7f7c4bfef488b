"""The texts that every prompt of ALFWorld begins with: the same under all conditions and in both dialects."""

from __future__ import annotations

import re

from rpms.core.belief import Belief
from rpms.core.goal import Progress
from rpms.core.wording import Wording
from rpms.worlds.base import prompt_texts

_TEXTS = prompt_texts(__package__)
PRINTED = re.sub(r"^1[0-3]\. .*\n", "", _TEXTS["instruction"], flags=re.MULTILINE)
"""The instruction with the nine actions that the paper prints; its `toggle`, which the engine rejects, is `use`."""


def paper_lines(belief: Belief, _progress: Progress) -> tuple[str, ...]:
    """The block as Appendix D prints it: the hand, and, once they are known, the place and what stands open."""
    lines = [f"  Holding: {', '.join(belief.holding) or 'nothing'}"]
    if belief.location is not None:
        lines.append(f"  Location: {belief.location}")
    opened = [place for place, is_open in belief.containers.items() if is_open]
    if opened:
        lines.append(f"  Open: {', '.join(opened)}")
    return tuple(lines)


WORDING = Wording(**_TEXTS, brief=paper_lines, printed=PRINTED)
