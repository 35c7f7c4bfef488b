"""RPMS in one file: the paper's step, Algorithm 1, line by line from text to action.

    python examples/rpms_in_one_file.py

plays embedded ALFWorld games in the four conditions of the paper's ablation. A condition is what
the agent is made of: no rules is an empty manual, no memory an empty list. The model is a function
from messages to a text, so yours fits in:

    def model(messages):
        said = [{"role": each.role, "content": each.content} for each in messages]
        answer = client.chat.completions.create(model="…", messages=said)
        return answer.choices[0].message.content

`rpms.logic` has the paper's values (goal, belief, rules), `rpms.paper` its functions (likeness of
goals, COMPAT, φ, the blocks of the prompt). Two things come from elsewhere: `world`, which opens
the games, reads their text into goal and belief, and words the prompt; and what lies in files,
the rule manual and a memory that was learned on other games.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rpms.logic.belief import Situation
from rpms.logic.goal import GoalSignature, Progress
from rpms.logic.rules import ActiveRules, RuleManual
from rpms.paper import prompt as prompts
from rpms.paper import selection
from rpms.paper import wording as words
from rpms.paper.arbitration import Arbitration, judge
from rpms.paper.memory import Entry, Kind, VerifiedSchema, told_kinds
from rpms.paper.progress import standing
from rpms.paper.prompt import Block, Message, Part, Prompt, Turn, make_block
from rpms.paper.verdict import KEPT, Candidate, Fate, Verdict
from rpms.play.sources import ManualChoice, manual_of
from rpms.store.memories import read_memory
from rpms.worlds.alfworld import world
from rpms.worlds.base import Setting, Task

Model = Callable[[Sequence[Message]], str]
RETRIEVAL = world.retrieval
"""d_γ, θ, and how many entries of each kind a prompt shows."""


@dataclass
class Agent:
    """All that a step is decided with."""

    model: Model
    manual: RuleManual  # ℛ
    memory: Sequence[Entry]  # ℳ
    wording: words.Wording  # SysInst and ICL, and how goal and belief are said
    goals: RuleManual  # the facts that goals want: progress is told by them, in any condition

    def reset(self, opening: str) -> None:
        """Begin an episode: the goal is read once, and nothing has been seen or done."""
        self.goal = world.goal(opening)
        self.belief = world.start(self.goal)
        self.action: str | None = None
        self.history: list[Turn] = []

    def step(self, observation: str) -> str:
        """Algorithm 1: from o_t, g, b_{t-1} and H_{1:t-1} to a_t and b_t, line by line."""
        wanted = self.goal.type, self.goal.object, self.goal.destination
        self.belief = world.update(self.belief, self.action, observation)  # 1  b_t
        now = Situation(self.belief, self.goal)  # 2  σ_t and γ_g are read off these two
        rules = self.manual.active(*wanted)  # 3  R_active = R_U ∪ R_D(type) ∪ R_E
        judged: dict[Kind, list[Candidate]] = {}
        for kind in told_kinds():
            memory = [entry for entry in self.memory if entry.kind is kind]
            candidates = recall(memory, self.goal.signature)  # 4  M_cand
            filtered = [compatible(each, rules, now) for each in candidates]  # 5  M_filt
            judged[kind] = [arbitrated(each, rules, now) for each in filtered]  # 6  M_arb
        progress = standing(self.goals.active(*wanted), now).progress
        memories = select(judged, progress.sub_goal)
        blocks = self.serialised(rules, now, progress, memories)
        blocks += words.transcript(self.history, observation, notes=False)  # H_{1:t-1} and o_t
        self.prompt = build(blocks, memories)  # 7, 8  p_t
        answer = self.model(self.prompt.messages())  # 9  LLM(p_t)
        thought, self.action = read_answer(answer)
        self.history.append(Turn(observation, self.action, thought))
        return self.action  # 10  a_t

    def serialised(
        self, rules: ActiveRules, now: Situation, progress: Progress, memories: Iterable[Candidate]
    ) -> list[Block]:
        """SER of Eq. 7: SysInst, ICL, the rules by tier, goal, belief and memories, as blocks."""
        lines: dict[Part, Sequence[str]] = {
            Part.SITUATION: words.situation_lines(rules, now),
            Part.GOAL: self.wording.goal(now.goal, progress),
            Part.BELIEF: self.wording.belief(now.belief, progress),
            Part.MEMORY: [words.memory_line(candidate) for candidate in memories],
        }
        headed = [make_block(part, words.HEADINGS[part], said) for part, said in lines.items()]
        return [*words.standing_blocks(rules, self.wording), *headed]


def recall(memory: Iterable[Entry], goal: GoalSignature) -> list[Candidate]:
    """Eq. 4: M_cand = {m ∈ ℳ | d_γ(γ(g), γ(m)) ≥ θ}; what is most alike and best proven first."""
    found = []
    for entry in memory:
        scores = [RETRIEVAL.similarity(goal, learned_for) for learned_for in goals_of(entry)]
        score = max(scores, default=0.0)
        if score >= RETRIEVAL.threshold:
            found.append(Candidate(entry, score, score * entry.strength, KEPT))
    return sorted(found, key=lambda candidate: (-candidate.rank, candidate.entry.id))


def goals_of(entry: Entry) -> Iterable[GoalSignature]:
    """γ(m): the goal that an entry was learned for; an action's schema may have served several."""
    if not isinstance(entry, VerifiedSchema):
        return [entry.goal_signature]
    return [] if entry.refuted else entry.goals


def compatible(candidate: Candidate, rules: ActiveRules, now: Situation) -> Candidate:
    """Eq. 5 and 6, COMPAT: what was learned with empty hands is for empty hands, and so on."""
    reason = world.compat(now, candidate.entry, rules)
    return candidate.judged(Verdict(Fate.FILTERED, reason)) if reason else candidate


def arbitrated(candidate: Candidate, rules: ActiveRules, now: Situation) -> Candidate:
    """φ, rules first: drop what breaks a rule on known facts, warn of what is open or not here.

    Facts are true, false or unknown, and every verdict names its rule and its fact. Where there
    are no rules, φ has nothing to say.
    """
    if candidate.verdict is not KEPT:
        return candidate
    return candidate.judged(judge(candidate.entry, rules, now, Arbitration.HARD_SOFT))


def select(judged: Mapping[Kind, Iterable[Candidate]], sub_goal: str) -> list[Candidate]:
    """The best sound few of each kind: the paper does not say how many, or which.

    Snippets for the sub-goal say which schemas matter now. Warnings share one limit.
    """
    seen: list[Candidate] = []
    for kind, candidates in judged.items():
        ranked = iter(candidates)
        if kind is Kind.SCHEMA:
            ranked = selection.for_the_moment(candidates, seen, sub_goal, RETRIEVAL.examined)
        sound = 0
        for candidate in ranked:
            if sound == RETRIEVAL.top[kind]:
                break
            seen.append(candidate)
            sound += candidate.verdict.fate.shown
    shown = [each for each in seen if each.verdict.fate.shown]
    warnings = [each for each in shown if each.entry.kind in (Kind.CRITICAL_FAILURE, Kind.FAILURE)]
    warnings.sort(key=lambda candidate: -candidate.rank)
    return [each for each in shown if each not in warnings[RETRIEVAL.warnings :]]


def build(blocks: Iterable[Block], memories: Iterable[Candidate]) -> Prompt:
    """BUILD of Eq. 7: the blocks that are not empty, in Appendix D's order, as a conversation.

    Memories have 280 tokens, of which warnings take none: with and without, the same ones fit.
    """
    unwarned = {words.memory_line(each): words.untagged_line(each) for each in memories}
    layout, form = prompts.Layout.PAPER, prompts.Form.CHAT
    return selection.build(blocks, layout, prompts.Budget(memory=280), form, unwarned)


def read_answer(text: str) -> tuple[str, str]:
    """Thought and action, in the form that the instruction asks for; empty where there is none."""
    labelled = dict(re.findall(r"^(Thought|Action): (.*)$", text, re.MULTILINE))
    return labelled.get("Thought", ""), labelled.get("Action", "")


def agent_for(model: Model, *, rules: bool, memory: bool) -> Agent:
    """An agent of the 2x2 ablation."""
    manual = manual_of(world, ManualChoice("paper"))
    entries = read_memory(Path(world.embedded_memory())).entries
    wording = world.wording.naming_steps(world.step_budget).terse()
    return Agent(
        model=model,
        manual=manual if rules else RuleManual(),
        memory=entries if memory else (),
        wording=wording if rules or memory else wording.silent(),
        goals=manual.bare(),
    )


def play(agent: Agent, task: Task) -> bool:
    """One episode, to its end or out of steps."""
    game = world.open(task, Setting())
    outcome = game.reset()
    agent.reset(outcome.observation)
    for _ in range(world.step_budget):
        outcome = game.step(agent.step(outcome.observation))
        if outcome.done:
            break
    game.close()
    return outcome.won


def obedient(messages: Sequence[Message]) -> str:
    """A model that is no LLM: it does what the sub-goal in its prompt says; without one it strolls.

    So it wins when told anything at all, which says nothing of how an LLM would do.
    """
    system, *talk = (message.content for message in messages)
    story = "\n".join(talk).partition("Now the task to solve:")[2]
    told = dict(re.findall(r"^  (Goal|Location|Current sub-goal): (.*)$", system, re.MULTILINE))
    deed, _, thing = told.get("Current sub-goal", "stroll").partition(" - ")
    verb = deed.partition("_")[0]
    places = re.findall(r"an? (\w+ \d+)", story.partition("Your task is to")[0])
    looks = re.findall(r"the (\w+ \d+)(?:,| is open\. In it,) you see (.*)", story, re.IGNORECASE)
    goal_place = told.get("Goal", "").rstrip(".").split(" ")[-1]
    kinds = {"heat": "microwave", "cool": "fridge", "clean": "sinkbasin", "put": goal_place}
    if verb in ("take", "use"):
        fitting = [place for place, things in looks if thing in things]
    elif verb in kinds:
        fitting = [place for place in places if place.startswith(kinds[verb])]
    else:
        fitting = [place for place in places if f"go to {place}\n" not in story]
    place = (fitting or places)[0]
    deeds = {"put": f"put {thing} in/on {place}", "take": f"take {thing} from {place}"}
    deeds["use"] = f"use {thing}"
    if closed := re.search(r"The (\w+ \d+) is closed\.$", story):
        action = f"open {closed[1]}"
    elif told.get("Location") != place:
        action = f"go to {place}"
    else:
        action = deeds.get(verb, f"{verb} {thing} with {place}")
    return f"Thought: I have to {deed.replace('_', ' ')}.\nAction: {action}"


if __name__ == "__main__":
    games = world.tasks("builtin", Setting())[::4]  # one of each type
    for rules in (False, True):
        for memory in (False, True):
            agent = agent_for(obedient, rules=rules, memory=memory)
            won = sum(play(agent, game) for game in games)
            print(f"rules {rules!s:5}  memory {memory!s:5}  won {won} of {len(games)}")
    print("\nThe last prompt:", *(each.content for each in agent.prompt.messages()), sep="\n")
