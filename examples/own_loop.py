"""Your own loop: you step the world, RPMS decides.

Any environment that speaks ALFWorld's text will do.
"""

import rpms
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world

world = find_world("alfworld")
task = world.tasks("builtin", Setting())[0]
environment = world.open(task, Setting())  # in its place: yours

with rpms.Agent("alfworld", model="planner", memory="embedded") as agent:
    outcome = environment.reset()
    agent.reset(outcome.observation)
    while not outcome.done:
        command = agent.act(outcome.observation)
        print(">", command)
        outcome = environment.step(command)
        print(outcome.observation)
    print("won" if outcome.won else "lost")
    print(agent.explain())
environment.close()
