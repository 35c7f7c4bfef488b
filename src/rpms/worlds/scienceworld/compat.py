"""COMPAT of Appendix A.2: instrument and room. Its third condition, progress, is every staged procedure's."""

from __future__ import annotations

import re
from typing import Final

from rpms.core.belief import Belief
from rpms.core.memory import Entry, SuccessSnippet, VerifiedSchema
from rpms.worlds.scienceworld.known import INSTRUMENTS, ScienceKnown

_PICK: Final = re.compile(r"(?:pick up|take|get) (?:the )?([a-z ]+?)(?: (?:in|on|from) .*)?")
_USE: Final = re.compile(r"(?:use|activate|deactivate) (?:the )?([a-z ]+?)(?: (?:in|on) .*)?")


def required_instruments(entry: Entry) -> tuple[str, ...]:
    """The instruments that a snippet uses and does not pick up itself, or that its precondition names."""
    if not isinstance(entry, SuccessSnippet):
        return ()
    needed: list[str] = []
    stated = entry.precondition.get("instrument")
    if isinstance(stated, str) and stated:
        needed.append(stated)
    picked: set[str] = set()
    for action in entry.actions:
        command = action[:200].casefold().strip()
        pick, use = _PICK.fullmatch(command), _USE.fullmatch(command)
        if pick:
            picked.add(pick[1])
        if use and use[1] in INSTRUMENTS and use[1] not in picked and use[1] not in needed:
            needed.append(use[1])
    return tuple(needed)


def compatible(belief: Belief, entry: Entry) -> str:
    """Say why an entry does not suit the belief, nothing if it does. Schemas carry no state and suit every one.

    An instrument must be known to be carried: an inventory never looked at holds none that was not seen picked up.
    """
    if isinstance(entry, VerifiedSchema) or not isinstance(belief, ScienceKnown):
        return ""
    missing = [name for name in required_instruments(entry) if not belief.carries(name)]
    if missing:
        held = ", ".join(belief.instruments) or "none"
        return f"needs an instrument in the inventory ({', '.join(missing)}), now carrying {held}"
    rooms = entry.state_signature.get("room")
    if rooms and belief.room is not None and belief.room not in rooms:
        return f"learned in the {rooms[0]}, now in the {belief.room}"
    return ""
