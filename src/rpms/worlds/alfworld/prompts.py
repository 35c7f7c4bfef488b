"""The texts that every prompt of ALFWorld begins with: the same under all conditions and in both dialects."""

from __future__ import annotations

from rpms.core.belief import Belief
from rpms.core.goal import Progress
from rpms.core.wording import Wording

_INSTRUCTION = """\
Interact with a household to solve a task. Imagine you are an intelligent agent in a household environment and your \
target is to perform actions to complete the task goal. At the beginning you are given a description of the room and \
your goal. At each turn you are given what you see and answer with a short thought and one action, in this form:
Thought: your reasoning
Action: your next action
The available actions are:
1. go to {recep}
2. take {obj} from {recep}
3. put {obj} in/on {recep}
4. open {recep}
5. close {recep}
6. use {obj}
7. clean {obj} with {recep}
8. heat {obj} with {recep}
9. cool {obj} with {recep}
%s{obj} and {recep} stand for an object and a receptacle with their numbers, such as apple 1 and fridge 1. If an \
action cannot be done, the answer is "Nothing happens.".
Reminder:
1. The action must be chosen from the given available actions. One action a turn, and nothing after it.
2. Think when necessary, try to act directly more."""
PRINTED = _INSTRUCTION % ""
"""With the nine actions that the paper prints; its `toggle`, which the engine rejects, is `use`."""
INSTRUCTION = _INSTRUCTION % "10. slice {obj} with {obj}\n11. examine {obj or recep}\n12. look\n13. inventory\n"

EXAMPLE = """\
Here is an example.
You are in the middle of a room. Looking quickly around you, you see a cabinet 2, a cabinet 1, a countertop 3, a \
countertop 2, a countertop 1, a diningtable 1, a fridge 1, a garbagecan 1, a microwave 1, and a sinkbasin 1.
Your task is to: heat some egg and put it in diningtable.
Thought: To solve the task, I need to find an egg, heat it with the microwave, then put it in the diningtable. First I \
need to find an egg. Eggs are often kept in the fridge.
Action: go to fridge 1
Obs: The fridge 1 is closed.
Action: open fridge 1
Obs: You open the fridge 1. The fridge 1 is open. In it, you see a lettuce 1, and a tomato 2.
Thought: There is no egg in the fridge. I check the countertops next.
Action: go to countertop 3
Obs: On the countertop 3, you see a egg 2, a knife 1, and a plate 1.
Action: take egg 2 from countertop 3
Obs: You pick up the egg 2 from the countertop 3.
Thought: I hold the egg. Next I heat it with the microwave.
Action: go to microwave 1
Obs: The microwave 1 is closed.
Action: heat egg 2 with microwave 1
Obs: You heat the egg 2 using the microwave 1.
Action: go to diningtable 1
Obs: On the diningtable 1, you see a bowl 1, and a saltshaker 2.
Action: put egg 2 in/on diningtable 1
Obs: You put the egg 2 in/on the diningtable 1.
The example ends here. Now the task to solve:"""

CHOOSING = """\
Here are some turns of an example, with its goal: heat some egg and put it in diningtable.
Now: open fridge 1 to look for egg
Possible actions: 1. go to countertop 3 (look for egg); 2. open fridge 1 (look for egg)
Thought: Now: open fridge 1 to look for egg.
Action: 2. open fridge 1
Now: take egg 2 from countertop 3, then heat egg 2 with microwave 1
Possible actions: 1. go to fridge 1 (look for egg); 2. take egg 2 from countertop 3 (then heat egg 2 with microwave 1)
Thought: Now: take egg 2 from countertop 3.
Action: 2. take egg 2 from countertop 3
Now: go to microwave 1, then heat egg 2 with microwave 1
Possible actions: 1. go to microwave 1 (then heat egg 2 with microwave 1); 2. put egg 2 in/on countertop 3
Thought: Now: go to microwave 1.
Action: 1. go to microwave 1
Now: heat egg 2 with microwave 1
Possible actions: 1. go to diningtable 1; 2. heat egg 2 with microwave 1 (so that egg 2 has been heated)
Thought: Now: heat egg 2 with microwave 1.
Action: 2. heat egg 2 with microwave 1
The example ends here. Now the task to solve:"""


def paper_lines(belief: Belief, _progress: Progress) -> tuple[str, ...]:
    """The block as Appendix D prints it: the hand, and, once they are known, the place and what stands open."""
    lines = [f"  Holding: {', '.join(belief.holding) or 'nothing'}"]
    if belief.location is not None:
        lines.append(f"  Location: {belief.location}")
    opened = [place for place, is_open in belief.containers.items() if is_open]
    if opened:
        lines.append(f"  Open: {', '.join(opened)}")
    return tuple(lines)


WORDING = Wording(INSTRUCTION, EXAMPLE, brief=paper_lines, printed=PRINTED, choosing=CHOOSING)
