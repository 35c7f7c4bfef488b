"""One step of RPMS: Algorithm 1, line by line, up to the question. The caller asks the model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from rpms.core.acting.advice import Advice, Adviser, Menu, focus, left_out
from rpms.core.acting.context import StepContext
from rpms.core.acting.counsel import Counsel, plan_now
from rpms.core.acting.doubting import open_notice
from rpms.core.acting.enforcement import PAPER, Calls, Enforcement, Repair
from rpms.core.acting.surprise import Noticed, notice
from rpms.core.arbitration import Arbitration, arbitrate
from rpms.core.belief import Belief, Situation, StateSignature
from rpms.core.consistency import CompatibilityFilter, same_occupancy
from rpms.core.experience.adapt import Adapt, as_stored
from rpms.core.goal import Goal, GoalSignature, Progress
from rpms.core.mask import NO_MASK, Mask
from rpms.core.memory import Kind
from rpms.core.planning.reason import Plan
from rpms.core.planning.trust import UNSHAKEN, Trust
from rpms.core.planning.whereabouts import Whereabouts
from rpms.core.prompt import Block, Budget, Form, Layout, Part, Prompt, Turn, build, make_block, transcript
from rpms.core.recall import EpisodicMemory, Retrieval
from rpms.core.rules import ActiveRules, RuleManual
from rpms.core.selection import note_crowded_out, select
from rpms.core.tokens import TokenCounter, estimate_tokens
from rpms.core.verdict import Candidate
from rpms.core.wording import HEADINGS, Wording, memory_line, situation_lines, standing_blocks

Consistent = Callable[[Iterable[Candidate], Situation, ActiveRules], Iterator[Candidate]]
"""M_filt: marks the candidates that do not suit the situation."""
Arbitrate = Callable[[Iterable[Candidate], ActiveRules, Situation, Arbitration], Iterator[Candidate]]
"""M_arb: judges the candidates that are left against the active rules."""
Update = Callable[[Belief, str | None, str], Belief]
"""f_UPD of Eq. 1: the belief before, the action (None at the start) and the observation give the belief after."""


_SAME_OCCUPANCY = CompatibilityFilter(same_occupancy)


@dataclass(frozen=True)
class Mind:
    """All that a step is decided with. A condition is a Mind with neutral elements in some places."""

    update: Update
    wording: Wording
    manual: RuleManual = field(default_factory=RuleManual)
    memory: EpisodicMemory = field(default_factory=EpisodicMemory)
    consistent: Consistent = _SAME_OCCUPANCY
    adapt: Adapt = as_stored
    """Binds memories to the present room before they are judged; in the paper they stay as they are stored."""
    arbitrate: Arbitrate = arbitrate
    arbitration: Arbitration = Arbitration.HARD_SOFT
    retrieval: Retrieval = field(default_factory=Retrieval)
    mask: Mask = NO_MASK
    """Which memories are hidden by chance in the episode at hand."""
    carried: tuple[str, ...] = ()
    """What a method brings along from earlier attempts, for the episode at hand."""
    layout: Layout = Layout.CACHED
    form: Form = Form.SINGLE
    budget: Budget = field(default_factory=Budget)
    count: TokenCounter = estimate_tokens
    schemas: RuleManual = field(default_factory=RuleManual)
    """What progress and mistakes are measured by, the same in every condition: the world's whole manual."""
    plans: RuleManual = field(default_factory=RuleManual)
    """What plans are made with: the manual, or what every player has read of it where rules are off."""
    whereabouts: Whereabouts = field(default_factory=Whereabouts)
    """Where the memory's experience found things."""
    adviser: Adviser = field(default_factory=Adviser)
    compact: bool = False
    """Whether only the rules that matter to what is to be done now are shown."""
    repair: Repair = Repair.BELIEF
    """What the caller is to forgive in an action."""
    calls: Calls = Calls.TEXT
    """How the caller is to have tools called."""
    enforcement: Enforcement = PAPER
    """What the caller is to do with the model's answer: guard, re-asks, replacement."""

    def counsel(
        self, present: StepContext, rules: ActiveRules, memories: Sequence[Candidate], noticed: Noticed
    ) -> Counsel:
        """What is to be done, what is said of it, and the rules that are shown for it."""
        situation, goal = present.situation, present.situation.goal
        known = self.plans.active(goal.type, goal.object, goal.destination)
        experience = memories if self.enforcement.adapt else ()
        doubts = self.enforcement.doubt and bool(self.manual.actions)
        plan, found = plan_now(present, known, self.adviser.spell, experience, noticed if doubts else None)
        advice = self.adviser.advise(situation, rules, plan, memories, present.history, present.state, present.room)
        if notice := open_notice(plan, found.trust):
            advice = replace(advice, notice=notice)
        return Counsel(plan, advice, found if doubts else noticed, focus(rules, plan) if self.compact else rules)


@dataclass(frozen=True)
class Decision:
    """Everything a step was decided by, so that it can be explained completely."""

    goal: Goal
    belief: Belief
    state_signature: StateSignature
    goal_signature: GoalSignature
    progress: Progress
    rules: ActiveRules
    candidates: tuple[Candidate, ...]
    """Every memory that was considered, by kind and rank, each with its verdict."""
    unlisted: int
    """How many more were considered and rejected than are listed."""
    gave_up: tuple[Kind, ...]
    """The kinds of which `Retrieval.examined` candidates were judged without finding enough; more may be sound."""
    prompt: Prompt
    plan: Plan
    """What is to be done as far as the condition knows, for a model that is no LLM."""
    advice: Advice
    schemas: ActiveRules
    left_out: tuple[str, ...] = ()
    """The active rules and schemas, by id and name, that the prompt does not show at this sub-goal."""
    noticed: Noticed = field(default_factory=lambda: Noticed(Trust()))
    """Where the answer to the last command differs from what was foretold, and how far the manual is trusted."""
    doubts: bool = False
    """Whether anything acts on that."""

    def bars(self, command: str) -> bool:
        """Whether a command is not to be given again: it was refused, and nothing it depends on has changed."""
        return self.doubts and self.noticed.trust.bars(command, self.schemas, Situation(self.belief, self.goal))

    def ventures(self, command: str) -> bool:
        """Whether a plan means to do a command against a line of the manual, so that the guard lets it pass."""
        begun = [option for option in self.plan.options if option.command == command]
        return any(self.plan.opened or any(link.doubt for link in option.chain[:1]) for option in begun)

    @property
    def menu(self) -> Menu:
        return self.advice.menu

    @property
    def notice(self) -> str:
        return self.advice.notice

    @property
    def memories(self) -> tuple[Candidate, ...]:
        """M_arb: the candidates that the prompt shows."""
        return tuple(candidate for candidate in self.candidates if candidate.verdict.fate.shown)


def decide(
    mind: Mind,
    goal: Goal,
    prior: Belief,
    action: str | None,
    observation: str,
    history: Sequence[Turn],
    told: str = "",
    trust: Trust = UNSHAKEN,
) -> Decision:
    """Decide one step: from b_{t-1}, a_{t-1}, o_t, g and H_{1:t-1} to b_t and p_t. Lines as in Algorithm 1.

    `told` is the observation as the model reads it, where advice was added to it; `trust` what earlier steps have shown
    of the manual.
    """
    belief = mind.update(prior, action, observation)  # 1
    now = StepContext.of(belief, goal, mind.schemas, history, mind.whereabouts, mind.mask)
    noticed = notice(trust, now, Situation(prior, goal))  # past the paper; there, it is recorded and nothing more
    state_signature, goal_signature = now.signature, goal.signature  # 2
    rules = mind.manual.active(goal.type, goal.object, goal.destination)  # 3
    recalled = {kind: mind.memory.recall(kind, goal_signature, mind.retrieval) for kind in Kind}  # 4
    filtered = {kind: mind.consistent(recalled[kind], now.situation, now.schemas) for kind in Kind}  # 5
    adapted = {kind: mind.adapt(filtered[kind], now.room) for kind in Kind}  # past the paper; there, as stored
    judged = {kind: mind.arbitrate(adapted[kind], rules, now.situation, mind.arbitration) for kind in Kind}  # 6
    selection = select(judged, recalled, mind.retrieval, mind.mask, now.progress)  # the best, as there is room
    counsel = mind.counsel(now, rules, selection.memories, noticed)  # past the paper; there, nothing is said
    blocks = _serialise(mind, rules, now, selection.memories, counsel, told or observation)  # 7
    prompt = build(blocks, mind.layout, mind.budget, mind.count, mind.form)  # 8
    return Decision(
        goal=goal,
        belief=belief,
        state_signature=state_signature,
        goal_signature=goal_signature,
        progress=now.progress,
        rules=rules,
        candidates=note_crowded_out(selection.candidates, prompt),
        unlisted=selection.unlisted,
        gave_up=selection.gave_up,
        prompt=prompt,
        plan=counsel.plan,
        advice=counsel.advice,
        schemas=now.schemas,
        left_out=left_out(rules, counsel.shown),
        noticed=counsel.noticed,
        doubts=mind.enforcement.doubt and bool(mind.manual.actions),
    )


def _serialise(
    mind: Mind, rules: ActiveRules, now: StepContext, memories: Sequence[Candidate], counsel: Counsel, observation: str
) -> Iterator[Block]:
    """SER of Eq. 7, for each of its terms, and what goes past the paper beside them."""
    goal, belief, progress, advice = now.situation.goal, now.situation.belief, counsel.plan.progress, counsel.advice
    yield from standing_blocks(mind.wording, counsel.shown, mind.count)
    lines: dict[Part, Sequence[str]] = {
        Part.SITUATION: situation_lines(rules, now.situation),
        Part.GOAL: (*mind.wording.goal(goal, progress), *advice.guidance),
        Part.BELIEF: mind.wording.belief(belief, progress),
        Part.MEMORY: [memory_line(candidate) for candidate in memories],
        Part.CARRIED: mind.carried,
        Part.NOTICE: [advice.notice] if advice.notice else [],
        Part.MENU: advice.menu.lines(),
    }
    for part, items in lines.items():
        yield make_block(part, mind.wording.headings.get(part, HEADINGS.get(part, "")), items, mind.count)
    yield from transcript(now.history, observation, mind.count, thoughts=not mind.enforcement.recent)
