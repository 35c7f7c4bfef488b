"""Past the paper: what a step tells the model beside rules, belief and memories. The silent adviser is the paper."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field

from rpms.core.belief import Situation, StateSignature
from rpms.core.goal import Progress
from rpms.core.menu import Menu, Suggest, make_menu, suggest_nothing
from rpms.core.prompt import Turn
from rpms.core.rules import ActiveRules
from rpms.core.tokens import brief
from rpms.core.verdict import Candidate

Guide = Callable[[Situation, ActiveRules, Sequence[Candidate], Sequence[Turn]], tuple[str, ...]]
"""A world's lines on how to go on: where to look, what was achieved, what was tried in vain."""


def no_guidance(_s: Situation, _r: ActiveRules, _c: Sequence[Candidate], _h: Sequence[Turn]) -> tuple[str, ...]:
    """The neutral element: the goal block says what the paper's says."""
    return ()


_VAIN_SHOWN = 4
"""How many commands that were tried in vain are named."""


def recap(history: Sequence[Turn], deeds: Container[str], vain: Iterable[str]) -> tuple[str, ...]:
    """Lines on the way so far: what was just done, if its verb is one of the deeds, and what was tried in vain."""
    lines: list[str] = []
    if history and not history[-1].failed and history[-1].action.partition(" ")[0] in deeds:
        lines.append(f"  Just done: {history[-1].action}")
    if tried := sorted(vain)[:_VAIN_SHOWN]:
        lines.append(f"  Tried in vain: {', '.join(map(brief, tried))}")
    return tuple(lines)


def no_notice(_history: Sequence[Turn], _state: str) -> str:
    """The neutral element: loops go unmentioned."""
    return ""


@dataclass(frozen=True, slots=True)
class Advice:
    """What an adviser says at one step."""

    guidance: tuple[str, ...] = ()
    """Lines for the goal block."""
    menu: Menu = field(default_factory=Menu)
    notice: str = ""
    """The loop that the history shows, in words."""


@dataclass(frozen=True)
class Adviser:
    """Makes the advice of each step out of a world's knowledge. By default it has nothing to say."""

    guide: Guide = no_guidance
    suggest: Suggest = suggest_nothing
    size: int = 0
    """Entries of the menu."""
    ranked: bool = True
    notice: Callable[[Sequence[Turn], str], str] = no_notice

    def advise(
        self,
        situation: Situation,
        progress: Progress,
        schemas: ActiveRules,
        memories: Sequence[Candidate],
        history: Sequence[Turn],
    ) -> Advice:
        """What there is to say, from the belief alone."""
        state = turn_state(situation.belief.signature(), progress)
        tried = {turn.action for turn in history if turn.state == state}
        suggestions = self.suggest(situation, schemas, memories)
        return Advice(
            self.guide(situation, schemas, memories, history),
            make_menu(suggestions, situation, schemas, tried, self.size, ranked=self.ranked),
            self.notice(history, state),
        )


def turn_state(signature: StateSignature, progress: Progress) -> str:
    """What a turn remembers of the state it was decided in."""
    return f"{signature}|{progress.text}|{progress.done}|{progress.moment}"
