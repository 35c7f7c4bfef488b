"""The texts of TextWorldExpress's prompts: the fixed ones are the same under all conditions."""

from __future__ import annotations

from rpms.core.wording import Wording

INSTRUCTION = """\
You play a text game. At the beginning you are given a task and what you see. At each turn you answer with a short \
thought and one action, in this form:
Thought: your reasoning
Action: your next action
The available actions, of which each game knows some, are:
look around | inventory | task
move {direction} | open door to {direction} | close door to {direction}
take {obj} | put {obj} in {place} | open {place} | close {place} | examine {obj} | read {obj}
slice {obj} | dice {obj} | chop {obj} | cook {obj} in {place} | prepare meal | eat {obj}
{direction} is north, south, east or west. {obj} and {place} stand for things by the names you see, without "a", \
"some" or "raw". If an action cannot be done, the answer is "Unknown action: I'm not sure what you mean.".
Reminder:
1. One action a turn, and nothing after it.
2. Think when necessary, try to act directly more."""

EXAMPLE = """\
Here is an example.
Your task is to search the environment and find the key. Once you find the key, take it.

You are in the cellar. In one part of the room you see a crate, that has nothing on it.
To the North you see a closed oak door. To the East you see the wine store.
Thought: There is no key here. I look behind the door first.
Action: open door to north
Obs: You open the oak door, revealing the stairs.
Action: move north
Obs: You are in the stairs. In one part of the room you see a bench that has a key on it.
Through an open oak door, to the South you see the cellar.
Thought: The key is on the bench.
Action: take key
Obs: You take the key.
The example ends here. Now the task to solve:"""

WORDING = Wording(INSTRUCTION, EXAMPLE)
