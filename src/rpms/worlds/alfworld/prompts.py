"""The texts that every prompt of ALFWorld begins with: the same under all conditions and in both dialects."""

from __future__ import annotations

import re
from dataclasses import replace

from rpms.core.belief import Belief
from rpms.core.goal import Progress
from rpms.worlds.base import read_wording


def paper_lines(belief: Belief, _progress: Progress) -> tuple[str, ...]:
    """The block as Appendix D prints it: the hand, and, once they are known, the place and what stands open."""
    lines = [f"  Holding: {', '.join(belief.holding) or 'nothing'}"]
    if belief.location is not None:
        lines.append(f"  Location: {belief.location}")
    opened = [place for place, is_open in belief.containers.items() if is_open]
    if opened:
        lines.append(f"  Open: {', '.join(opened)}")
    return tuple(lines)


_ALL_ACTIONS = read_wording(__package__, brief=paper_lines)
PRINTED = re.sub(r"^1[0-3]\. .*\n", "", _ALL_ACTIONS.instruction, flags=re.MULTILINE)
"""The instruction with the nine actions that the paper prints; its `toggle`, which the engine rejects, is `use`."""
WORDING = replace(_ALL_ACTIONS, printed=PRINTED)
