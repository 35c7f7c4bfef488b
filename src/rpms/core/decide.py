"""One step of RPMS: Algorithm 1, line by line, up to the question. The caller asks the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from rpms.core.arbitration import Arbitration, arbitrate
from rpms.core.belief import Belief, Situation, StateSignature
from rpms.core.consistency import Compat, filter_by_state, same_occupancy
from rpms.core.goal import Goal, GoalSignature, Progress
from rpms.core.memory import Kind
from rpms.core.prompt import Block, Budget, Layout, Part, Prompt, Turn, build, make_block, transcript
from rpms.core.recall import EpisodicMemory, Retrieval, Walk
from rpms.core.rules import ActiveRules, RuleManual
from rpms.core.tokens import TokenCounter, estimate_tokens
from rpms.core.verdict import Candidate, Fate, Verdict
from rpms.core.voice import Voice, memory_line, situation_lines, standing_blocks

Update = Callable[[Belief, str | None, str], Belief]
"""f_UPD of Eq. 1: the belief before, the action (None at the start) and the observation give the belief after."""


@dataclass(frozen=True)
class Mind:
    """All that a step is decided with. A condition is a Mind with neutral elements in some places."""

    update: Update
    progress: Callable[[Goal, Belief], Progress]
    voice: Voice
    manual: RuleManual = field(default_factory=RuleManual)
    memory: EpisodicMemory = field(default_factory=EpisodicMemory)
    compat: Compat = same_occupancy
    arbitration: Arbitration = Arbitration.HARD_SOFT
    retrieval: Retrieval = field(default_factory=Retrieval)
    layout: Layout = Layout.CACHED
    budget: Budget = field(default_factory=Budget)
    count: TokenCounter = estimate_tokens


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
    prompt: Prompt

    @property
    def memories(self) -> tuple[Candidate, ...]:
        """M_arb: the candidates that the prompt shows."""
        return tuple(candidate for candidate in self.candidates if candidate.verdict.fate.shown)


def decide(
    mind: Mind, goal: Goal, prior: Belief, action: str | None, observation: str, history: Sequence[Turn]
) -> Decision:
    """Decide one step: from b_{t-1}, a_{t-1}, o_t, g and H_{1:t-1} to b_t and p_t. Lines as in Algorithm 1."""
    belief = mind.update(prior, action, observation)  # 1
    state_signature, goal_signature = belief.signature(), goal.signature  # 2
    rules = mind.manual.active(goal.type, goal.object)  # 3
    situation = Situation(belief, goal)
    recalled = {kind: mind.memory.recall(kind, goal_signature, mind.retrieval) for kind in Kind}  # 4
    filtered = {kind: filter_by_state(recalled[kind], belief, mind.compat) for kind in Kind}  # 5
    arbitrated = {kind: arbitrate(filtered[kind], rules, situation, mind.arbitration) for kind in Kind}  # 6
    candidates, unlisted = _take_the_best(arbitrated, recalled, mind.retrieval)
    progress = mind.progress(goal, belief)
    blocks = _serialise(mind, situation, progress, rules, candidates, observation, history)  # 7
    prompt = build(blocks, mind.layout, mind.budget, mind.count)  # 8
    candidates = _note_crowded_out(candidates, prompt)
    return Decision(goal, belief, state_signature, goal_signature, progress, rules, candidates, unlisted, prompt)


def _take_the_best(
    judged: Mapping[Kind, Iterator[Candidate]], walks: Mapping[Kind, Walk], retrieval: Retrieval
) -> tuple[tuple[Candidate, ...], int]:
    """The first k sound candidates of each kind, with those that were rejected before them."""
    listed: list[Candidate] = []
    unlisted = 0
    for kind, candidates in judged.items():
        wanted, rejected = retrieval.top.get(kind, 0), 0
        for candidate in islice(candidates, retrieval.examined) if wanted else ():
            if candidate.verdict.fate.shown:
                listed.append(candidate)
                wanted -= 1
                if not wanted:
                    break
            elif rejected < retrieval.listed:
                listed.append(candidate)
                rejected += 1
            else:
                unlisted += 1
        listed.extend(walks[kind].missed(_MISSED_LISTED))
    return tuple(listed), unlisted


def _serialise(
    mind: Mind,
    situation: Situation,
    progress: Progress,
    rules: ActiveRules,
    candidates: Sequence[Candidate],
    observation: str,
    history: Sequence[Turn],
) -> Iterator[Block]:
    """SER of Eq. 7, for each of its terms."""
    voice = mind.voice
    yield from standing_blocks(voice, rules, mind.count)
    items: dict[Part, Sequence[str]] = {
        Part.SITUATION: situation_lines(rules, situation),
        Part.GOAL: voice.goal(situation.goal, progress),
        Part.BELIEF: voice.belief(situation.belief, progress),
        Part.MEMORY: [memory_line(candidate) for candidate in candidates if candidate.verdict.fate.shown],
    }
    for part, lines in items.items():
        yield make_block(part, voice.headings.get(part, ""), lines, mind.count)
    yield from transcript(history, observation, mind.count)


def _note_crowded_out(candidates: tuple[Candidate, ...], prompt: Prompt) -> tuple[Candidate, ...]:
    """Give the memories that the budget cut, which are the last ones, their verdict."""
    cut = sum(part is Part.MEMORY for part, _ in prompt.cut)
    if not cut:
        return candidates
    last = [place for place, candidate in enumerate(candidates) if candidate.verdict.fate.shown][-cut:]
    crowded = Verdict(Fate.CROWDED, "no room within the memory budget")
    return tuple(
        candidate.judged(crowded) if place in last else candidate for place, candidate in enumerate(candidates)
    )


_MISSED_LISTED = 2
"""How many entries below θ a decision lists for each kind."""
