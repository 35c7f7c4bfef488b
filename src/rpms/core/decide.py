"""One step of RPMS: Algorithm 1, line by line, up to the question. The caller asks the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from rpms.core.adapt import Adapt, Room, as_stored
from rpms.core.advise import Advice, Adviser, Menu, focus, plan_for, reasoner_of, turn_state, weighed
from rpms.core.arbitration import Arbitration, arbitrate
from rpms.core.belief import Belief, Situation, StateSignature
from rpms.core.consistency import CompatibilityFilter, same_occupancy
from rpms.core.enforcement import PAPER, Calls, Enforcement, Repair
from rpms.core.goal import Goal, GoalSignature, Progress
from rpms.core.index import Walk
from rpms.core.mask import NO_MASK, Mask
from rpms.core.memory import Kind
from rpms.core.moment import for_the_moment
from rpms.core.prompt import Block, Budget, Form, Layout, Part, Prompt, Turn, build, make_block, transcript
from rpms.core.reason import Plan, likely_places
from rpms.core.recall import EpisodicMemory, Retrieval
from rpms.core.rules import ActiveRules, RuleManual
from rpms.core.tokens import TokenCounter, estimate_tokens
from rpms.core.verdict import Candidate, Fate, Verdict
from rpms.core.voice import HEADINGS, Voice, memory_line, situation_lines, standing_blocks
from rpms.core.whereabouts import Whereabouts

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
    voice: Voice
    manual: RuleManual = field(default_factory=RuleManual)
    memory: EpisodicMemory = field(default_factory=EpisodicMemory)
    consistent: Consistent = _SAME_OCCUPANCY
    adapt: Adapt = as_stored
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
    """What rules and memories say is to be done, for a model that is no LLM."""
    advice: Advice
    schemas: ActiveRules
    left_out: tuple[str, ...] = ()
    """The active rules and schemas, by id and name, that the prompt does not show at this sub-goal."""

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
) -> Decision:
    """Decide one step: from b_{t-1}, a_{t-1}, o_t, g and H_{1:t-1} to b_t and p_t. Lines as in Algorithm 1.

    `told` is the observation as the model reads it, where advice was added to it.
    """
    belief = mind.update(prior, action, observation)  # 1
    named = (goal.type, goal.object, goal.destination)
    rules, schemas = mind.manual.active(*named), mind.schemas.active(*named)  # 3
    tracked = plan_for(schemas, Situation(belief, goal))
    situation = Situation(belief, goal, tracked.stage)
    state_signature, goal_signature = belief.signature().at_stage(situation.stage), goal.signature  # 2
    recalled = {kind: mind.memory.recall(kind, goal_signature, mind.retrieval) for kind in Kind}  # 4
    filtered = {kind: mind.consistent(recalled[kind], situation, schemas) for kind in Kind}  # 5
    progress, state = tracked.progress, turn_state(belief, tracked.progress)
    done = [turn.action for turn in history if turn.action and not turn.failed]
    room = Room(situation, schemas, mind.whereabouts, done, progress.sub_goal)
    adapted = {kind: mind.adapt(filtered[kind], room) for kind in Kind}  # past the paper; there, as stored
    arbitrated = {kind: mind.arbitrate(adapted[kind], rules, situation, mind.arbitration) for kind in Kind}  # 6
    candidates, unlisted, gave_up = _take_the_best(arbitrated, recalled, mind, progress)
    memories = [candidate for candidate in candidates if candidate.verdict.fate.shown]
    plan = _plan(mind, tracked, situation, [turn for turn in history if turn.state == state])
    if mind.enforcement.adapt and memories:
        plan = weighed(plan, memories, room, state_signature)
    advice = mind.adviser.advise(situation, rules, plan, memories, history, state, room)
    lines = {
        Part.SITUATION: situation_lines(rules, situation),
        Part.GOAL: (*mind.voice.goal(goal, plan.progress), *advice.guidance),
        Part.BELIEF: mind.voice.belief(belief, plan.progress),
        Part.MEMORY: [memory_line(candidate) for candidate in memories],
        Part.CARRIED: mind.carried,
        Part.NOTICE: [advice.notice] if advice.notice else [],
        Part.MENU: advice.menu.lines(),
    }
    shown = focus(rules, plan) if mind.compact else rules
    blocks = _serialise(mind, shown, lines, told or observation, history)  # 7
    prompt = build(blocks, mind.layout, mind.budget, mind.count, mind.form)  # 8
    return Decision(
        goal=goal,
        belief=belief,
        state_signature=state_signature,
        goal_signature=goal_signature,
        progress=progress,
        rules=rules,
        candidates=_note_crowded_out(candidates, prompt),
        unlisted=unlisted,
        gave_up=gave_up,
        prompt=prompt,
        plan=plan,
        advice=advice,
        schemas=schemas,
        left_out=_left_out(rules, shown),
    )


def _plan(mind: Mind, tracked: Plan, situation: Situation, here: Sequence[Turn]) -> Plan:
    """What to do as far as this mind knows; where that is all there is to know and no more, as it was tracked."""
    goal, belief = situation.goal, situation.belief
    plan, rules = tracked, mind.plans.active(goal.type, goal.object, goal.destination)
    order = likely_places(rules, mind.whereabouts, (goal.object, goal.destination))
    if mind.plans is not mind.schemas or order != likely_places(rules):  # else it would be the same plan again
        plan = reasoner_of(rules).plan(situation, order)
    failed = {turn.action for turn in here if turn.failed}
    plan = plan.respelled(lambda command: mind.adviser.spell(command, belief), failed)
    if not plan.options or plan.options[0].command not in failed:
        return plan
    done = [turn.action for turn in here]  # nothing works as planned: look, and look again
    glances = sorted(reasoner_of(rules).glances, key=lambda option: done.count(option.command))
    return replace(plan, options=(*glances, *plan.options))


def _take_the_best(
    judged: Mapping[Kind, Iterator[Candidate]], walks: Mapping[Kind, Walk], mind: Mind, progress: Progress
) -> tuple[tuple[Candidate, ...], int, tuple[Kind, ...]]:
    """The first k sound candidates of each kind, with those that were rejected or hidden before them."""
    retrieval, mask = mind.retrieval, mind.mask
    listed: list[Candidate] = []
    gave_up: list[Kind] = []
    unlisted = 0
    for kind in Kind:
        wanted, rejected, examined = retrieval.top.get(kind, 0), 0, 0
        candidates = judged[kind]
        if kind is Kind.SCHEMA and wanted:
            candidates = for_the_moment(candidates, listed, progress.sub_goal, retrieval.examined)
        for candidate in islice(candidates, retrieval.examined) if wanted else ():
            examined += 1
            if candidate.verdict.fate.shown:
                listed.append(drawn := mask.over(candidate))
                wanted -= drawn.verdict.fate.shown
                if not wanted:
                    break
            elif rejected < retrieval.listed:
                listed.append(candidate)
                rejected += 1
            else:
                unlisted += 1
        if wanted and examined == retrieval.examined:
            gave_up.append(kind)
        listed.extend(walks[kind].missed(_MISSED_LISTED))
    return _make_room(listed, retrieval.warnings), unlisted, tuple(gave_up)


def _make_room(candidates: Sequence[Candidate], most: int) -> tuple[Candidate, ...]:
    """Of critical failures and lessons together, keep only so many: those highest in rank."""
    failures = (Kind.CRITICAL_FAILURE, Kind.FAILURE)
    warnings = [each for each in candidates if each.verdict.fate.shown and each.entry.kind in failures]
    rest = sorted(warnings, key=lambda candidate: -candidate.rank)[most:]
    no_room = Verdict(Fate.CROWDED, f"{most} critical failures and lessons rank higher")
    return tuple(each.judged(no_room) if each in rest else each for each in candidates)


def _serialise(
    mind: Mind, rules: ActiveRules, lines: Mapping[Part, Sequence[str]], observation: str, history: Sequence[Turn]
) -> Iterator[Block]:
    """SER of Eq. 7, for each of its terms."""
    yield from standing_blocks(mind.voice, rules, mind.count)
    for part, items in lines.items():
        yield make_block(part, mind.voice.headings.get(part, HEADINGS.get(part, "")), items, mind.count)
    yield from transcript(history, observation, mind.count, thoughts=not mind.enforcement.recent)


def _left_out(rules: ActiveRules, shown: ActiveRules) -> tuple[str, ...]:
    """What a focus took away. Rules with a condition are no part of it: they are shown wherever that holds."""
    if shown is rules:
        return ()
    kept = {rule.id for rule in shown.rules}
    names = {schema.name for schema in shown.environment}
    return (
        *(rule.id for rule in rules.rules if not rule.when and rule.id not in kept),
        *(schema.name for schema in rules.environment if schema.name not in names),
    )


def _note_crowded_out(candidates: tuple[Candidate, ...], prompt: Prompt) -> tuple[Candidate, ...]:
    """Give the memories that the budget cut their verdict."""
    cut = Counter(item for part, item in prompt.cut if part is Part.MEMORY)
    noted: list[Candidate] = []
    for candidate in candidates:
        line = memory_line(candidate) if cut and candidate.verdict.fate.shown else ""
        if line and cut[line]:
            cut[line] -= 1
            noted.append(candidate.judged(Verdict(Fate.CROWDED, "no room within the memory budget")))
        else:
            noted.append(candidate)
    return tuple(noted)


_MISSED_LISTED = 2
"""How many entries below θ a decision lists for each kind."""
