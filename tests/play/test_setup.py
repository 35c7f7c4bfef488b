"""Parts of the enforcement that can do nothing, or less than they say, are named in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rpms.paper.enforcement import PAPER, GuardMode
from rpms.play.sources import idle_parts
from tests.play.corridor import MANUAL, Corridor, world

GUARDED = replace(PAPER, guard=GuardMode.BLOCK)


class Reckless(Corridor):
    def manual(self):
        return (("corridor.yaml", MANUAL.replace("preconditions: [next(room)], ", "")),)


class Mute(Corridor):
    def manual(self):
        return ()


@pytest.mark.parametrize("guard", [GuardMode.ADVISE, GuardMode.BLOCK])
def test_what_a_guard_without_preconditions_still_does(guard):
    enforcement = replace(PAPER, guard=guard)
    only_unknown = (
        "the guard refuses only what is no known action: no action in its manual has preconditions"
    )
    assert idle_parts(Reckless(), enforcement) == (f"corridor: {only_unknown}",)
    (nothing,) = idle_parts(Mute(), enforcement)
    assert nothing.startswith("corridor: the guard is inert")
    assert nothing.endswith("its manual has no actions")
    assert idle_parts(world, enforcement) == ()


def test_nothing_is_said_of_what_is_off():
    assert idle_parts(world, PAPER) == idle_parts(Mute(), PAPER) == ()


def test_without_a_menu_only_a_remedy_can_replace():
    enforcement = replace(GUARDED, replace=True)
    words = "corridor: replace has no menu to fall back on, only what a refusal names: add menu=5"
    assert idle_parts(world, enforcement) == (words,)
    assert words not in idle_parts(world, replace(enforcement, menu=5))
    assert words not in idle_parts(world, replace(enforcement, guard=GuardMode.ADVISE))
