"""Past the paper: what a plan gives to a model that chooses. The silent adviser is the paper.

Without rules there is no plan to advise from, and what is left is experience: a menu of recalled actions alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import inf

from rpms.core.arbitration import infeasibility
from rpms.core.belief import Belief, Situation, StateSignature
from rpms.core.experience.adapt import AdaptContext, recalled_steps
from rpms.core.experience.lessons import failed_alike
from rpms.core.facts import Truth, kind_of
from rpms.core.goal import Progress
from rpms.core.memory import SuccessSnippet
from rpms.core.planning.prices import Link, Option
from rpms.core.planning.reason import Plan, Reasoner, likely_places
from rpms.core.planning.whereabouts import Whereabouts
from rpms.core.prompt import Turn
from rpms.core.rules import ActiveRules
from rpms.core.tokens import brief, estimate_tokens
from rpms.core.verdict import Candidate

MENU_TOKENS = 150
"""Tokens that the entries of a menu may have together; one that does not fit beside the more relevant is left out."""
_VAIN_SHOWN = 4
"""How many commands that failed are named."""

Spell = Callable[[str, Belief], str]
"""A command as this game wants it written."""


def as_written(command: str, _belief: Belief) -> str:
    """The neutral element: commands are written as the manual writes them."""
    return command


def no_notice(_history: Sequence[Turn], _state: str) -> str:
    """The neutral element: loops go unmentioned."""
    return ""


@dataclass(frozen=True, slots=True)
class MenuItem:
    """One entry of a menu."""

    command: str
    rank: int
    """Its place by relevance, from 0; the order of the menu itself does not show it."""
    reason: str = ""
    """What it is for: the rest of the plan that it begins, or the experience it comes from."""


@dataclass(frozen=True, slots=True)
class Menu:
    """The entries as they are shown: grouped by what they do, so that the first is not simply the best."""

    items: tuple[MenuItem, ...] = ()

    @property
    def commands(self) -> tuple[str, ...]:
        return tuple(item.command for item in self.items)

    @property
    def best(self) -> str | None:
        """The entry that is nearest to the goal."""
        return min(self.items, key=lambda item: item.rank).command if self.items else None

    @property
    def choices(self) -> tuple[str, ...]:
        """The entries as a model is to answer: the number comes first and decides, whatever entries have in common."""
        return tuple(f"{number}. {item.command}" for number, item in enumerate(self.items, 1))

    def lines(self) -> list[str]:
        """The entries for a prompt, each with what it is for."""
        entries = zip(self.choices, self.items, strict=True)
        return [f"  {choice}" + (f" ({item.reason})" if item.reason else "") for choice, item in entries]

    def meant(self, action: str) -> str:
        """The command that an answer means: an entry by its number, with or without its words; else the answer."""
        number, _, rest = action.partition(".")
        chosen = self.items[int(number) - 1 : int(number)] if number.isdecimal() and 0 < int(number[:4]) < 1000 else ()
        if not chosen or action in self.commands or (rest.strip() and not rest.strip().startswith(chosen[0].command)):
            return action
        return chosen[0].command


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
    """Makes the advice of each step out of plans and experience. By default it has nothing to say."""

    guides: bool = False
    """Whether the goal block says what comes next and what already failed."""
    size: int = 0
    """Entries of the menu."""
    slack: int = 0
    """How many steps longer than the best a plan may be whose beginning the menu holds; 0 for any number."""
    ranked: bool = True
    notice: Callable[[Sequence[Turn], str], str] = no_notice
    spell: Spell = as_written

    def advise(
        self,
        situation: Situation,
        rules: ActiveRules,
        plan: Plan,
        memories: Sequence[Candidate],
        history: Sequence[Turn],
        state: str,
        room: AdaptContext | None = None,
    ) -> Advice:
        """What there is to say, from what the condition knows alone."""
        if not (self.guides or self.size or self.notice is not no_notice):
            return Advice()
        waiting = {option.command for option in plan.options if option.chain and option.chain[0].waits}
        tried = _tried(history, state, waiting)
        room = room or AdaptContext(situation, rules)
        choices = self._choices(situation, rules, plan, memories, room, tried) if self.size else ()
        return Advice(
            guidance(plan, history, state) if self.guides else (),
            make_menu(choices, tried, self.size, ranked=self.ranked),
            self.notice(history, state),
        )

    def _choices(
        self,
        situation: Situation,
        rules: ActiveRules,
        plan: Plan,
        memories: Sequence[Candidate],
        room: AdaptContext,
        tried: Container[str],
    ) -> Iterator[tuple[str, str]]:
        """What to choose from, best first: what plans begin with, or without rules what experience did."""
        belief = situation.belief
        if not rules.environment:
            for command, why in recalled_steps(memories, room, tried, self.slack or inf):
                yield self.spell(command, belief), why
        elif self.ranked:
            for option in plan.options:
                if option.regret <= self.slack or not self.slack or plan.opened:
                    doubt = next((f"if {link.doubt}" for link in option.chain if link.doubt), "")
                    yield option.command, "; ".join(filter(None, (purpose_of(option, rules), doubt, option.evidence)))
        else:
            yield from ((self.spell(command, belief), "") for command in feasible_actions(rules, situation))


def _tried(history: Sequence[Turn], state: str, waiting: Container[str]) -> Counter[str]:
    """How often what was done in this very state: it led back. To let a process go on is to stay, and not in vain."""
    after = [*(turn.state for turn in history), state][1:]
    return Counter(
        turn.action
        for turn, then in zip(history, after, strict=True)
        if turn.state == state and (turn.failed or then != state or turn.action not in waiting)
    )


def make_menu(choices: Iterable[tuple[str, str]], tried: Mapping[str, int], size: int, *, ranked: bool) -> Menu:
    """Choices, each with its reason, cut to a size and grouped by their first word.

    The first stay, of those that were tried least often in this very state. Unranked, those stay that come first by
    name.
    """
    left = list(dict(choices).items())
    if ranked:
        least = min((tried.get(command, 0) for command, _ in left), default=0)
        left = [item for item in left if tried.get(item[0], 0) == least]
    else:
        left.sort(key=_by_name)
    spare, kept = MENU_TOKENS, list[MenuItem]()
    for rank, (command, reason) in enumerate(left[:size]):
        tokens = estimate_tokens(command)
        if tokens <= spare or not kept:
            kept.append(MenuItem(command, rank, reason))
            spare -= tokens
    return Menu(tuple(sorted(kept, key=lambda item: _by_name((item.command, "")))))


def _by_name(item: tuple[str, str]) -> tuple[str, tuple[tuple[int, str], ...]]:
    """Sort by verb, then so that `drawer 10` comes after `drawer 9`."""
    words = item[0].split()
    return words[0] if words else "", tuple((int(word), "") if word.isdecimal() else (0, word) for word in words)


def feasible_actions(rules: ActiveRules, situation: Situation) -> Iterator[str]:
    """Every action of the manual, over the names that are known, of which nothing speaks against doing it now."""
    for command in reasoner_of(rules).commands(situation):
        if infeasibility(command, rules, situation) is None:
            yield command


@lru_cache(maxsize=512)
def reasoner_of(rules: ActiveRules) -> Reasoner:
    """The reasoner over some rules, made once for all steps that ask for it."""
    return Reasoner(rules)


def plan_for(rules: ActiveRules, situation: Situation, experience: Whereabouts | None = None) -> Plan:
    """What rules and experience say is to be done now."""
    goal = situation.goal
    return reasoner_of(rules).plan(situation, likely_places(rules, experience, (goal.object, goal.destination)))


def focus(rules: ActiveRules, plan: Plan) -> ActiveRules:
    """Of the rules, those that matter to what is to be done now: prohibitions of it, and where to look for things."""
    links = [link for option in plan.options[:1] for link in option.chain]
    actions = frozenset(
        instance.schema.name for link in links if (instance := rules.instance(link.command)) is not None
    )
    seeking = any(link.reveals for link in links)
    return rules.narrowed(
        f"{sorted(actions)} {seeking}",
        lambda _schema: False,
        lambda rule: (seeking and rule.locality is not None) or any(ban.action in actions for ban in rule.forbids),
    )


def left_out(rules: ActiveRules, shown: ActiveRules) -> tuple[str, ...]:
    """What a focus took away. Rules with a condition are no part of it: they are shown wherever that holds."""
    if shown is rules:
        return ()
    kept = {rule.id for rule in shown.rules}
    names = {schema.name for schema in shown.environment}
    return (
        *(rule.id for rule in rules.rules if not rule.when and rule.id not in kept),
        *(schema.name for schema in rules.environment if schema.name not in names),
    )


def purpose_of(option: Option, rules: ActiveRules) -> str:
    """What a choice is for, in a few words: what it looks for, or the action that it makes possible."""
    if not option.chain:
        return ""
    first, *rest = option.chain
    if first.reveals:
        thing = next((kind_of(arg) for arg in first.fact.args if arg.endswith("?")), "")
        return f"look for {thing}" if thing else f"find out whether {rules.say(first.fact.atom, Truth.TRUE)}"
    if rest:
        return f"then {_plain(rest[0].command)}"
    return f"so that {_plain(rules.say(first.fact.atom, ~Truth.TRUE if first.fact.negated else Truth.TRUE))}"


def chain_of(option: Option, rules: ActiveRules) -> tuple[str, ...]:
    """A plan from the goal back to what is done now, each action with the fact that the one before it is for."""
    chain: list[str] = []
    for link in reversed(_without_detours(option.chain)):
        value = Truth.UNKNOWN if link.reveals else Truth.TRUE
        chain += [_plain(rules.say(link.fact.atom, ~value if link.fact.negated else value)), _plain(link.command)]
    return tuple(chain)


def _without_detours(chain: tuple[Link, ...]) -> tuple[Link, ...]:
    """A plan without what makes a fact so that a look may show to hold: a book on the desk need not be put there."""
    for place, link in enumerate(chain):
        later = [other for other in range(place + 1, len(chain)) if chain[other].fact[:3] == link.fact[:3]]
        if link.reveals and later:
            return (*chain[: place + 1], *chain[later[-1] + 1 :])
    return chain


def _plain(text: str) -> str:
    """A text without the marks of what nobody has seen yet."""
    return _IMAGINED.sub("", text)


def guidance(plan: Plan, history: Sequence[Turn], state: str) -> tuple[str, ...]:
    """Lines for the goal block: what comes next, what was just done, what already failed here."""
    lines: list[str] = []
    if plan.options:
        lines.append(f"  Now: {next_steps(plan.options[0])}")
    if history and not history[-1].failed:
        lines.append(f"  Just done: {brief(history[-1].action)}")
    failed = dict.fromkeys(turn.action for turn in history if turn.failed and turn.action and turn.state == state)
    if failed:
        lines.append(f"  Already failed: {', '.join(map(brief, list(failed)[:_VAIN_SHOWN]))}")
    return tuple(lines)


def next_steps(option: Option) -> str:
    """A plan in one line, as far as it is certain: `go to desk 1, then take mug 1 from desk 1`."""
    steps: list[str] = [] if option.chain else [option.command]
    for link in option.chain:
        if "?" in link.command:
            break
        steps.append(link.command)
        if link.reveals:
            sought = next((kind_of(arg) for arg in link.fact.args if arg.endswith("?")), "")
            return ", then ".join(steps) + (f" to look for {sought}" if sought else "")
    return ", then ".join(steps)


_IMAGINED = re.compile(r" \?+")


def weighed(plan: Plan, memories: Sequence[Candidate], room: AdaptContext, state: StateSignature) -> Plan:
    """A plan with what experience says to it: the evidence for an option; after all else, what failed in a like state.

    Where no plan leads to the goal, what experience did comes first: it is all that is known of the order of things.
    """
    if not plan.options or plan.cost == inf:
        steps = recalled_steps(memories, room)
        plan = plan.after([Option(command, 0.0, evidence=why) for command, why in steps])
    begun = {
        each.entry.actions[0]: each.entry.id
        for each in reversed(memories)
        if each.adapted and isinstance(each.entry, SuccessSnippet) and each.entry.actions
    }
    kept, doubted = list[Option](), list[Option]()
    for option in plan.options:
        lesson = failed_alike(option.command, state, memories, room.syntax, room.whereabouts)
        if lesson:
            doubted.append(replace(option, evidence=f"failed in {lesson}"))
        else:
            told = _found_there(option, room) or (f"as in {begun[option.command]}" if option.command in begun else "")
            kept.append(replace(option, evidence=option.evidence or told))
    return replace(plan, options=(*kept, *doubted))


def _found_there(option: Option, room: AdaptContext) -> str:
    """Of a look, how often experience found such a thing in such a place."""
    link = next((link for link in option.chain if link.reveals), None)
    sought = [kind_of(arg) for arg in link.fact.args if arg.endswith("?")] if link is not None else []
    places = [kind_of(arg) for arg in link.fact.args if not arg.endswith("?")] if link is not None else []
    return room.whereabouts.told(sought[0], places[0]) if sought and places else ""


def turn_state(belief: Belief, progress: Progress) -> str:
    """What a turn remembers of the state it was decided in: where it is the same, nothing was achieved since."""
    return f"{belief.signature()}|{progress.text}|{progress.done}|{belief.moment}"
