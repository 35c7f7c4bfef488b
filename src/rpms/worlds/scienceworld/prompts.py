"""The texts of ScienceWorld's prompts: the fixed ones are the same under all conditions."""

from __future__ import annotations

from rpms.core.belief import Belief
from rpms.core.goal import Goal, Progress
from rpms.core.prompt import Part
from rpms.core.wording import Wording

INSTRUCTION = """\
You are a careful experimenter in a house with ten rooms: kitchen, bathroom, hallway, living room, bedroom, workshop, \
art studio, greenhouse, outside and foundry. You are given a task from elementary science and carry it out by text \
commands. At each turn you are given what you see and answer with a short thought and one action, in this form:
Thought: your reasoning
Action: your next action
The available actions are:
look around | look at {obj} | look in {obj} | inventory | task
go to {room} | open {obj} | close {obj}
pick up {obj} | put down {obj} | move {obj} to {obj}
pour {obj} into {obj} | dunk {obj} into {obj} | mix {obj}
activate {obj} | deactivate {obj} | use {obj} on {obj} | connect {obj} to {obj} | disconnect {obj}
focus on {obj} | read {obj} | eat {obj} | flush {obj} | wait | wait1
{obj} stands for a thing by the name you see, with its place if there are several: orange in inventory. A door is \
opened by where it leads: open door to kitchen. If the answer is an ambiguous request with a numbered list, the next \
action is one of its numbers. You are scored from 0 to 100 as you make progress, and have 100 actions.
Reminder:
1. The action must be one of those above. One action a turn, and nothing after it.
2. Think when necessary, try to act directly more."""

EXAMPLE = """\
Here is an example.
Your task is to find a(n) plant. First, focus on the thing. Then, move it to the blue box in the workshop.

This room is called the hallway. In it, you see:
	the agent
	a substance called air
	a painting
You also see:
	A door to the greenhouse (that is closed)
	A door to the workshop (that is open)
Thought: Plants grow in the greenhouse. Its door is closed, so I open it first.
Action: open door to greenhouse
Obs: The door is now open.
Action: go to greenhouse
Obs: You move to the greenhouse.
Action: look around
Obs: This room is called the greenhouse. In it, you see:
	the agent
	a substance called air
	a flower pot 2 (containing a lemon tree in the adult stage, soil)
	a sink, which is turned off. In the sink is: nothing.
You also see:
	A door to the hallway (that is open)
Thought: The lemon tree is a plant. I focus on it, not on its pot.
Action: focus on lemon tree
Obs: You focus on the lemon tree.
Thought: To move the tree I carry the pot it stands in.
Action: pick up flower pot 2
Obs: You move the flower pot 2 to the inventory.
Action: go to hallway
Obs: You move to the hallway.
Action: go to workshop
Obs: You move to the workshop.
Action: move flower pot 2 to blue box
Obs: You move the flower pot 2 to the blue box.
The example ends here. Now the task to solve:"""

CHOOSING = """\
Here are some turns of an example, with its task: find a(n) plant, focus on it, then move it to the blue box in the \
workshop.
Now: open door to greenhouse, then go to greenhouse, then look around to look for plant
Possible actions: 1. look around (look for plant); 2. open door to greenhouse (then go to greenhouse)
Thought: Now: open door to greenhouse.
Action: 2. open door to greenhouse
Now: focus on lemon tree
Possible actions: 1. focus on lemon tree (so that lemon tree was focused on); 2. pick up flower pot 2
Thought: Now: focus on lemon tree.
Action: 1. focus on lemon tree
Now: pick up flower pot 2, then move flower pot 2 to blue box
Possible actions: 1. go to hallway; 2. pick up flower pot 2 (then move flower pot 2 to blue box)
Thought: Now: pick up flower pot 2.
Action: 2. pick up flower pot 2
The example ends here. Now the task to solve:"""

HEADINGS = {
    Part.UNIVERSAL: "[RULES - Tier 1: Universal Principles]",
    Part.DOMAIN: "[RULES - Tier 2: Domain (this family and task)]",
    Part.ENVIRONMENT: "[RULES - Tier 3: Environment (ScienceWorld)]\n  What an action names must be here or carried.",
    Part.SITUATION: "[RULES - Now]",
    Part.GOAL: "",
    Part.BELIEF: "[Current State]",
    Part.MEMORY: "[Past Experience - Learned from History]",
}
"""Those of Appendix D. The goal's own line is its heading."""


def objective(_goal: Goal, progress: Progress) -> tuple[str, ...]:
    """The goal block: the current sub-goal in words, `[Current Objective] find water`."""
    step = progress.sub_goal.replace("_", " ")
    return (f"[Current Objective] {step} {progress.target}".rstrip(),)


def state(belief: Belief, progress: Progress) -> tuple[str, ...]:
    """The belief block, with the progress pointer in its first line."""
    first, *more = belief.lines()
    return (f"  {first}  Progress: step {progress.done}", *(f"  {line}" for line in more))


def paper_state(belief: Belief, progress: Progress) -> tuple[str, ...]:
    """The belief block as Appendix D prints it: room, inventory and the progress pointer on one line."""
    carrying = ", ".join(belief.holding) or "nothing"
    return (f"  Room: {belief.location or 'unknown'}  Carrying: {carrying}  Progress: step {progress.done}",)


WORDING = Wording(
    INSTRUCTION,
    EXAMPLE,
    HEADINGS,
    objective,
    state,
    brief=paper_state,
    choosing=CHOOSING,
    assumed=frozenset({"here"}),
)
