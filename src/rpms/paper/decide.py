"""One step of RPMS: Algorithm 1, up to the question; the caller asks the model.

Candidates are recalled, filtered and judged only as far as a prompt has room for them. The same
step, eager and on two screens, is in `examples/rpms_in_one_file.py`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from rpms.logic.belief import Belief, Done, Situation, StateSignature
from rpms.logic.goal import Goal, GoalSignature, Progress
from rpms.logic.rules import ActiveRules, RuleManual
from rpms.paper.arbitration import Arbitration, arbitrate
from rpms.paper.beyond import (
    NOTHING_NOTICED,
    PAPER_ALONE,
    Advice,
    Beyond,
    Menu,
    Noticed,
    StepContext,
)
from rpms.paper.condition import FULL, Condition
from rpms.paper.consistency import CompatibilityFilter, same_occupancy
from rpms.paper.memory import Kind, told_kinds
from rpms.paper.progress import standing
from rpms.paper.prompt import Block, Part, Prompt, Turn, make_block
from rpms.paper.recall import Recollection
from rpms.paper.selection import Selection, build, note_crowded_out, select
from rpms.paper.verdict import NO_MASK, Candidate, Fate, Mask
from rpms.paper.wording import (
    HEADINGS,
    PromptStyle,
    memory_line,
    situation_lines,
    standing_blocks,
    transcript,
    untagged_line,
)

Consistent = Callable[[Iterable[Candidate], Situation, ActiveRules], Iterator[Candidate]]
"""M_filt: marks the candidates that do not suit the situation, given the active rules."""
Arbitrate = Callable[[Iterable[Candidate], ActiveRules, Situation], Iterator[Candidate]]
"""M_arb: judges the candidates that are left against the active rules."""
Update = Callable[[Belief, str | None, str], Belief]
"""f_UPD of Eq. 1: the belief before, the action (None at the start) and the observation give
the belief after."""

_SAME_OCCUPANCY = CompatibilityFilter(same_occupancy)
HARD_SOFT = partial(arbitrate, mode=Arbitration.HARD_SOFT)
"""The paper's."""


@dataclass(frozen=True)
class Mind:
    """All that a step is decided with.

    A world knows a whole one; a condition puts neutral elements in some places.
    """

    update: Update
    style: PromptStyle
    manual: RuleManual = field(default_factory=RuleManual)
    schemas: RuleManual = field(default_factory=RuleManual)
    """The world's whole manual, by which every condition's progress and mistakes are measured."""
    tells: RuleManual = field(default_factory=RuleManual)
    """The manual by which a prompt tells progress: the condition's, or without rules the part
    that every player has read."""
    experience: Recollection = field(default_factory=Recollection)
    consistent: Consistent = _SAME_OCCUPANCY
    arbitrate: Arbitrate = HARD_SOFT
    beyond: Beyond = PAPER_ALONE
    """Everything past the paper: nothing, unless a condition asks for more."""
    extend: "Callable[[Mind], Mind] | None" = None
    """Gives a composed mind what goes past the paper; loads planning when it is called."""
    condition: Condition = FULL
    """The condition that the mind was composed for."""
    mask: Mask = NO_MASK
    """Memories hidden at random in this episode."""
    carried: tuple[str, ...] = ()
    """Text a method carries over from earlier attempts."""

    def updated(self, prior: Belief, action: str | None, observation: str, goal: Goal) -> Belief:
        """f_UPD, and facts about numbers as the manual's quantities decide them."""
        belief = self.update(prior, action, observation)
        return belief.deciding(self.schemas.lore.decided, goal)

    def context(self, belief: Belief, goal: Goal, history: Sequence[Turn]) -> StepContext:
        """The step at hand, with its progress by the goal's facts."""
        schemas = self.schemas.active(goal.type, goal.object, goal.destination)
        done = [turn for turn in history if turn.action and not turn.failed]
        past = tuple([Done(turn.action, turn.gained) for turn in done])
        progress, stage = standing(schemas, Situation(belief, goal, past=past))
        situation = Situation(belief, goal, stage, past)
        return StepContext(situation, schemas, progress, history, self.mask, self.experience)

    def told_progress(self, now: StepContext) -> Progress:
        """Progress as the prompt tells it: by those of the goal's facts that the condition knows
        about.
        """
        goal = now.situation.goal
        active = self.tells.active(goal.type, goal.object, goal.destination)
        return now.progress if active is now.schemas else standing(active, now.situation).progress


@dataclass(frozen=True, kw_only=True)
class Decision(Selection):
    """Everything a step was decided by, so that it can be explained completely."""

    goal: Goal
    belief: Belief
    state_signature: StateSignature
    goal_signature: GoalSignature
    progress: Progress
    rules: ActiveRules
    prompt: Prompt
    advice: Advice
    schemas: ActiveRules

    @property
    def noticed(self) -> Noticed:
        """Differences between the last answer and its prediction, and the trust left in the
        manual; nothing in the paper.
        """
        return self.advice.noticed

    @property
    def left_out(self) -> tuple[str, ...]:
        """The active rules and schemas, by id and name, that the prompt does not show at this
        sub-goal.
        """
        return self.advice.left_out

    @property
    def menu(self) -> Menu:
        return self.advice.menu

    @property
    def notice(self) -> str:
        return self.advice.notice


def decide(
    mind: Mind,
    goal: Goal,
    prior: Belief,
    action: str | None,
    observation: str,
    history: Sequence[Turn],
    shown: str = "",
    earlier: Noticed = NOTHING_NOTICED,
) -> Decision:
    """Decide one step: from b_{t-1}, a_{t-1}, o_t, g and H_{1:t-1} to b_t and p_t. Lines as in
    Algorithm 1.

    `shown` is the observation as the model reads it, where advice was added to it; `earlier` what
    the steps before have shown of the manual.
    """
    belief = mind.updated(prior, action, observation, goal)  # 1
    now = mind.context(belief, goal, history)
    state_signature, goal_signature = now.signature, goal.signature  # 2
    rules = mind.manual.active(goal.type, goal.object, goal.destination)  # 3
    recalled = {kind: mind.experience.recall(kind, now.situation) for kind in told_kinds()}  # 4
    filtered: dict[Kind, Iterable[Candidate]] = {}
    for kind, found in recalled.items():
        filtered[kind] = mind.consistent(found, now.situation, rules)  # 5
    filtered[Kind.SUCCESS] = mind.beyond.adapt(filtered[Kind.SUCCESS], now)  # past the paper
    judged = {kind: mind.arbitrate(filtered[kind], rules, now.situation) for kind in recalled}  # 6
    # the best few of each kind: Algorithm 1 does not say how many enter a prompt
    selection = select(judged, recalled, mind.experience.retrieval, mind.mask, now.progress)
    memories = selection.memories
    noticed = mind.beyond.notice(earlier, now, Situation(prior, goal))  # past the paper
    advice = mind.beyond.advise(now, rules, memories, noticed)  # past the paper
    told = [memory_line(each) for each in memories]
    blocks = _serialise(mind, advice, told, shown or observation)  # 7
    warned = (each for each in memories if each.verdict.fate is Fate.WARNED)
    untagged = {memory_line(each): untagged_line(each) for each in warned}
    style = mind.style
    prompt = build(blocks, style.layout, style.budget, style.form, untagged, style.speak)  # 8
    return Decision(
        goal=goal,
        belief=belief,
        state_signature=state_signature,
        goal_signature=goal_signature,
        progress=now.progress,
        rules=rules,
        candidates=note_crowded_out(selection.candidates, told, prompt),
        unlisted=selection.unlisted,
        cut_short=selection.cut_short,
        prompt=prompt,
        advice=advice,
        schemas=now.schemas,
    )


def _serialise(
    mind: Mind, advice: Advice, memories: Sequence[str], observation: str
) -> Iterator[Block]:
    """SER of Eq. 7, for each of its terms, and what goes past the paper beside them.

    `memories`: those that the prompt shows, in words.
    """
    now = advice.step
    wording = mind.style.wording
    goal = now.situation.goal
    belief = now.situation.belief
    progress = mind.told_progress(now)
    yield from standing_blocks(advice.shown, wording)
    lines: dict[Part, Sequence[str]] = {
        Part.SITUATION: situation_lines(advice.rules, now.situation),
        Part.GOAL: (*wording.goal(goal, progress), *advice.guidance),
        Part.BELIEF: wording.belief(belief, progress),
        Part.MEMORY: memories,
        Part.CARRIED: mind.carried,
        Part.NOTICE: [advice.notice] if advice.notice else [],
        Part.MENU: advice.menu.lines(),
    }
    for part, items in lines.items():
        if items:
            yield make_block(part, wording.headings.get(part, HEADINGS.get(part, "")), items)
    yield from transcript(
        now.history,
        observation,
        thoughts=not mind.style.budget.turns,
        notes=mind.style.notes,
    )
