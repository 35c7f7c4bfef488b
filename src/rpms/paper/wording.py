"""A world's wording of its prompt's blocks, in the shape of the listings of Appendix D: the terms
that SER of Eq. 7 puts into words.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

from rpms.logic.actions import ActionSchema
from rpms.logic.belief import Belief
from rpms.logic.counting import times
from rpms.logic.facts import Facts, Truth
from rpms.logic.goal import Goal, Progress
from rpms.logic.rules import ActiveRules, Rule, kept_with_rules
from rpms.paper.memory import (
    CriticalFailure,
    FailureLesson,
    OwnEntry,
    RememberedRequest,
    SuccessSnippet,
    VerifiedSchema,
)
from rpms.paper.prompt import Block, Budget, Form, Layout, Part, Speak, Turn, make_block
from rpms.paper.verdict import Candidate, Fate, Trail

HEADINGS: Mapping[Part, str] = {
    Part.UNIVERSAL: "[RULES - CRITICAL, Always Follow]\n=== Universal Principles ===",
    Part.DOMAIN: "=== Domain Knowledge ===",
    Part.ENVIRONMENT: "=== Environment-Specific ===",
    Part.SITUATION: "[Task-Specific Rules]",
    Part.GOAL: "[Task Goal]",
    Part.BELIEF: "[Current State]",
    Part.MEMORY: "[Past Experience - Learned from History]",
    Part.NOTICE: "[Notice]",
    Part.MENU: "[Possible Actions - choose the one that the goal needs now]",
}


_STEPS = "{steps}"
"""Stands in an instruction for the most steps of an episode."""


def goal_lines(goal: Goal, progress: Progress) -> tuple[str, ...]:
    """The goal block as the paper prints it."""
    return (
        f"  Goal: {goal.text}",
        f"  Type: {goal.type}",
        f"  Current sub-goal: {progress.text}",
        f"  Progress: {progress.percent}%",
    )


def belief_lines(belief: Belief, _progress: Progress) -> tuple[str, ...]:
    """The belief block, in the belief's own words."""
    return tuple(f"  {line}" for line in belief.lines())


@dataclass(frozen=True, eq=False)
class Wording:
    """The fixed texts of a prompt and the wording of its blocks."""

    instruction: str
    example: str
    headings: Mapping[Part, str] = field(default_factory=lambda: HEADINGS)
    goal: Callable[[Goal, Progress], tuple[str, ...]] = goal_lines
    belief: Callable[[Belief, Progress], tuple[str, ...]] = belief_lines
    brief: Callable[[Belief, Progress], tuple[str, ...]] | None = None
    """The belief as the paper's listings show it; needed where the world has more to say."""
    printed: str = ""
    """The instruction as the paper prints it, where ours names more actions."""
    choosing: str = ""
    """The example where actions are chosen from a menu; the usual one without it."""
    assumed: frozenset[str] = frozenset()
    """Predicates that nearly every action needs: the heading says so once, and the actions do
    not repeat it."""

    def terse(self) -> Self:
        """The wording with the paper's instruction, and only as much of the belief as the paper's
        prompts show.
        """
        return replace(
            self, belief=self.brief or self.belief, instruction=self.printed or self.instruction
        )

    def naming_steps(self, most: int) -> Self:
        """The wording with an episode's step limit in place of `{steps}`."""
        return replace(
            self,
            instruction=self.instruction.replace(_STEPS, str(most)),
            printed=self.printed.replace(_STEPS, str(most)),
        )

    def silent(self) -> Self:
        """The wording that says nothing of goal and belief: the baseline's."""
        return replace(self, goal=lambda _goal, _progress: (), belief=lambda _belief, _progress: ())


@dataclass(frozen=True)
class PromptStyle:
    """Wording, order, form and budget of a prompt."""

    wording: Wording
    layout: Layout = Layout.CACHED
    form: Form = Form.SINGLE
    budget: Budget = field(default_factory=Budget)
    notes: bool = True
    """True if the transcript tells when an action was read differently from how it was written."""
    speak: Speak | None = None
    """Makes the messages of the blocks, in place of the form."""


def rule_line(rule: Rule) -> str:
    """One rule, as the paper prints it."""
    return f"  [{rule.id}] {rule.text}"


def schema_lines(schema: ActionSchema, assumed: frozenset[str] = frozenset()) -> str:
    """One action, as the paper prints it. Effects are not told: they are for checks; an effect that
    surprises is told as a warning.
    """
    lines = [f"  {schema.name.upper().replace('_', ' ')}:", f"    Syntax: {schema.syntax[0]}"]
    needs: list[str] = []
    for clause in schema.preconditions:
        named = {each.atom.predicate for each in clause.literals}
        if not named <= assumed:
            needs.append(str(clause))
    if needs:
        lines.append(f"    Needs: {'; '.join(needs)}")
    lines.extend(f"    CRITICAL: {warning}" for warning in schema.warnings)
    return "\n".join(lines)


@kept_with_rules
def standing_blocks(rules: ActiveRules, wording: Wording) -> tuple[Block, ...]:
    """The blocks that stay the same for a whole episode, made once for it."""
    items: dict[Part, Sequence[str]] = {
        Part.INSTRUCTION: (wording.instruction,),
        Part.EXAMPLE: (wording.example,),
        Part.UNIVERSAL: _standing_rules(rules.universal),
        Part.DOMAIN: _standing_rules(rules.domain),
        Part.ENVIRONMENT: _schemas_told(rules.environment, wording.assumed),
    }
    blocks: list[Block] = []
    for part, lines in items.items():
        blocks.append(make_block(part, wording.headings.get(part, ""), lines))
    return tuple(blocks)


def _standing_rules(rules: Iterable[Rule]) -> list[str]:
    """The rules that hold in every situation."""
    return [rule_line(rule) for rule in rules if not rule.when]


def _schemas_told(schemas: Iterable[ActionSchema], assumed: frozenset[str]) -> list[str]:
    """The actions that a prompt may name."""
    return [schema_lines(schema, assumed) for schema in schemas if schema.told]


def situation_lines(rules: ActiveRules, facts: Facts) -> tuple[str, ...]:
    """The rules that are shown in this situation alone: their condition is known to hold."""
    lines: list[str] = []
    for rule in rules.rules:
        if rule.when and all(one.truth(facts) is Truth.TRUE for one in rule.when):
            lines.append(f"  - {rule.id}: {rule.text}")
    return tuple(lines)


def memory_line(candidate: Candidate) -> str:
    """One experience, with its warning if it has one."""
    text = untagged_line(candidate)
    verdict = candidate.verdict
    return f"{text}\n    [WARNING: {verdict.reason}]" if verdict.fate is Fate.WARNED else text


def untagged_line(candidate: Candidate) -> str:
    """One experience, without the warning of the soft layer."""
    verdict = candidate.verdict
    text = f"  {_entry_in_words(candidate)}"
    return f"{text}\n    [{verdict.reason}]" if verdict.fate is Fate.CUT else text


def _entry_in_words(candidate: Candidate) -> str:
    """An entry in words, by its kind."""
    entry = candidate.entry
    match entry:
        case SuccessSnippet():
            return _snippet_in_words(entry, candidate.adapted)
        case CriticalFailure():
            return f"AVOID [CRITICAL]: {entry.failed_action}\n    {_why_avoided(entry)}"
        case FailureLesson():
            return f"AVOID: {entry.failed_action}\n    {_why_avoided(entry)}"
        case OwnEntry():
            return entry.text
        case RememberedRequest():
            return f"MEANT: `{entry.request}`: {entry.goal_signature}"
        case VerifiedSchema():
            verified = f"VERIFIED ({entry.confidence:.2f}): {entry.action_template}"
            return f"{verified} | {_what_was_verified(entry)}"


def _snippet_in_words(snippet: SuccessSnippet, adapted: Trail | None) -> str:
    """The actions of a snippet. If it was fitted to the room, its origin is told as well; if no
    action is left, it is a hint.
    """
    if adapted and not snippet.actions:
        return f"HINT: {adapted.note} [{snippet.id}]"
    text = f"OK: {snippet.sub_goal_type}: {' -> '.join(snippet.actions)}"
    return f"{text} [adapted from {snippet.id}: {adapted.note}]" if adapted else text


def _why_avoided(entry: FailureLesson | CriticalFailure) -> str:
    """The rule of a lesson. For a lesson that is told as it was observed, the world's answer, and
    how often it came.
    """
    if entry.corrective_rule:
        return f"Rule: {entry.corrective_rule}"
    return f"Observed: {entry.failure_message or 'it failed'} ({times(entry.occurrence_count)})"


def _what_was_verified(schema: VerifiedSchema) -> str:
    """The needs and effects of an action. For one that is told as it was observed, how often it
    worked.
    """
    if not schema.preconditions and not schema.effects:
        return f"worked {schema.success_count} of {len(schema.origins)} times"
    needs = "; ".join(schema.preconditions) or "nothing"
    effects = "; ".join(schema.effects) or "nothing"
    return f"needs: {needs} | effects: {effects}"


# The history, and what the world said last.


class Transcript(NamedTuple):
    """The history H and the observation o_t."""

    history: Block
    observation: Block


def transcript(
    history: Sequence[Turn], observation: str, *, thoughts: bool = True, notes: bool = True
) -> Transcript:
    """The history H and the observation o_t, as blocks that read as one transcript.

    With `notes`, an observation says how the action before it was read; without, it is the world's
    text alone.

    The two texts of one step are, to the letter, the start of the next step's. The opening
    observation, which states the task, is the first item of the history and the last that a budget
    would cut.
    """
    items: list[str] = []
    spoken: list[int] = []
    for number, turn in enumerate(history):
        before = history[max(0, number - 1) : number]
        heard = f"{_heard(before, turn.observation, notes=notes)}\n"
        thought = _thought(turn) if thoughts else ""
        items.append(f"{heard}{thought}Action: {turn.wrote or turn.action}")
        spoken.append(len(heard))
    now = make_block(Part.OBSERVATION, "", (_heard(history, observation, notes=notes),))
    return Transcript(make_block(Part.HISTORY, "", items, spoken), now)


def _thought(turn: Turn) -> str:
    """The lines of a turn before its action; empty if it has none."""
    if turn.said:
        return f"{turn.said}\n"
    return f"Thought: {turn.thought}\n" if turn.thought else ""


def _heard(history: Sequence[Turn], observation: str, *, notes: bool) -> str:
    """An observation in the transcript; noted beside it, the command that a repair made of the
    last action.
    """
    if not history:
        return observation
    last = history[-1]
    if notes and last.wrote:
        return f"Obs: [read as: {last.action}] {observation}"
    return f"Obs: {observation}"
