"""Shared by tests of ScienceWorld: texts of the simulator, and beliefs made of them."""

from rpms.logic.belief import StateSignature
from rpms.logic.goal import GoalSignature
from rpms.paper.memory import CriticalFailure
from rpms.worlds.scienceworld import world
from rpms.worlds.scienceworld.tasks import parse_goal

KITCHEN = (
    "This room is called the kitchen. In it, you see: \n\tthe agent\n\ta substance called air\n"
    "\ta counter. On the counter is: a bowl (containing a red apple, an orange), a drawer.\n"
    "\ta cupboard. The cupboard door is closed. \n\ta oven, which is turned off. The oven door is closed. \n"
    "\ta sink, which is turned on. In the sink is: nothing.\n\ta stopwatch, which is deactivated. \n"
    "\ta thermometer, currently reading a temperature of 10 degrees celsius\n"
    "You also see:\n\tA door to the hallway (that is open)\n\tA door to the outside (that is closed)\n"
)
BOIL = (
    "Your task is to boil water. For compounds without a boiling point, combusting the substance is also acceptable. "
    "First, focus on the substance. Then, take actions that will cause it to change its state of matter.\n\n"
)
HALLWAY = (
    "This room is called the hallway. In it, you see: \n\tthe agent\n\ta substance called air\n\ta picture\n"
    "You also see:\n\tA door to the kitchen (that is closed)\n\tA door to the workshop (that is open)\n"
)
MENU = (
    "Ambiguous request: Please enter the number for the action you intended (or blank to cancel):\n"
    "0:\tpick up orange (in bowl, in counter, in kitchen)\n1:\tpick up orange (in inventory, in agent, in kitchen)\n"
)


def after(*steps, opening=BOIL + HALLWAY):
    """The belief after an opening and pairs of command and answer."""
    belief = world.update(world.start(world.goal(opening)), None, opening)
    for action, observation in steps:
        belief = world.update(belief, action, observation)
    return belief


def in_kitchen(*steps):
    way = [
        ("open door to kitchen", "The door is now open."),
        ("go to kitchen", "You move to the kitchen."),
    ]
    return after(*way, ("look around", KITCHEN), *steps)


REFUSALS = [
    "No known action matches that input.",
    "Unknown action.  Type 'help' for a list of actions, and 'objects' for a list of possible object referents. ",
    "It's not clear how to get there from here.",
    "The door is not open.",
    "The stove is not moveable.",
    "The stove appears broken, and can't be activated or deactivated.",
    "The cupboard isn't open, so you can't see inside.",
    "The sink does not contain any liquids to dunk into.",
    "You can't pick up a gas directly.",
    "That thing doesn't appear to have a temperature that the thermometer can read.",
    "That container is empty, so there are no items to mix.",
    "There is only one thing (soap)",
    "Mixing the contents of the inventory does not appear to produce anything new.",
    "The table is not something that can be activated.",
    "Ambiguous request: Please enter the number for the action you intended (or blank to cancel):\n0:\topen drawer",
]

_STATE = "First, focus on the substance. Then, take actions that will cause it to change its state of matter."
DESCRIPTIONS = {
    "find-animal": "find a(n) animal. First, focus on the thing. Then, move it to the red box in the living room.",
    "find-living-thing": (
        "find a(n) living thing. First, focus on the thing. Then, move it to the green box in the kitchen."
    ),
    "find-non-living-thing": (
        "find a(n) non-living thing. First, focus on the thing. Then, move it to the red box in the workshop."
    ),
    "find-plant": "find a(n) plant. First, focus on the thing. Then, move it to the purple box in the bathroom.",
    "use-thermometer": (
        "measure the temperature of unknown substance B, which is located around the living room. First, focus "
        "on the thermometer. Next, focus on the unknown substance B. If the unknown substance B temperature is "
        "above -50.0 degrees celsius, place it in the red box. If the unknown substance B temperature is below "
        "-50.0 degrees celsius, place it in the green box. The boxes are located around the bathroom."
    ),
    "measure-melting-point-known-substance": (
        "measure the melting point of chocolate, which is located around the kitchen. First, focus on the "
        "thermometer. Next, focus on the chocolate. If the melting point of chocolate is above 150.0 degrees "
        "celsius, focus on the blue box. If the melting point of chocolate is below 150.0 degrees celsius, focus "
        "on the orange box. The boxes are located around the kitchen."
    ),
    "measure-melting-point-unknown-substance": (
        "measure the melting point of solid unknown substance C, which is located around the kitchen. First, "
        "focus on the thermometer. Next, focus on the solid unknown substance C. If the melting point of solid "
        "unknown substance C is above 150.0 degrees celsius, focus on the orange box. If the melting point of "
        "solid unknown substance C is below 150.0 degrees celsius, focus on the yellow box. The boxes are "
        "located around the kitchen."
    ),
    "boil": "boil ice cream. For compounds without a boiling point, combusting the substance is also acceptable. "
    + _STATE,
    "melt": "melt water. " + _STATE,
    "freeze": "freeze orange juice. " + _STATE,
    "change-the-state-of-matter-of": "change the state of matter of lead. " + _STATE,
    "chemistry-mix": (
        "use chemistry to create the substance 'salt water'. A recipe and some of the ingredients might be found "
        "near the workshop. When you are done, focus on the salt water."
    ),
    "chemistry-mix-paint-secondary-color": (
        "use chemistry to create green paint. When you are done, focus on the green paint."
    ),
    "chemistry-mix-paint-tertiary-color": (
        "use chemistry to create violet-red paint. When you are part-way done, focus on the intermediate "
        "(secondary color) paint you created.  When you are completely done, focus on the violet paint."
    ),
    "grow-plant": (
        "grow a apple plant from seed. Seeds can be found in the kitchen. First, focus on a seed. Then, make "
        "changes to the environment that grow the plant until it reaches the reproduction life stage."
    ),
    "grow-fruit": (
        "grow a orange. This will require growing several plants, and them being crosspollinated to produce "
        "fruit.  Seeds can be found in the bedroom. To complete the task, focus on the grown orange."
    ),
    "identify-life-stages-1": "focus on the 4 life stages of the blue jay, starting from earliest to latest.",
    "identify-life-stages-2": (
        "focus on the life stages of the apple plant, starting from earliest to latest. The plants are located outside."
    ),
    "inclined-plane-determine-angle": (
        "determine which of the two inclined planes (C, B) has the shallowest angle. After completing your "
        "experiment, focus on the inclined plane with the shallowest angle."
    ),
    "inclined-plane-friction-named-surfaces": (
        "determine which of the two inclined planes (paper, cloth) has the most friction. After completing your "
        "experiment, focus on the inclined plane with the most friction."
    ),
    "inclined-plane-friction-unnamed-surfaces": (
        "determine which of the two inclined planes (unknown material C, unknown material H) has the least "
        "friction. After completing your experiment, focus on the inclined plane with the least friction."
    ),
    "lifespan-longest-lived": (
        "find the animal with the longest life span.  The animals are in the 'outside' location.  Focus on the "
        "animal with the longest life span."
    ),
    "lifespan-shortest-lived": (
        "find the animal with the shortest life span.  The animals are in the 'outside' location.  Focus on the "
        "animal with the shortest life span."
    ),
    "lifespan-longest-lived-then-shortest-lived": (
        "find the animal with the longest life span, then the shortest life span. First, focus on the animal "
        "with the longest life span.  Then, focus on the animal with the shortest life span. The animals are in "
        "the 'outside' location."
    ),
    "mendelian-genetics-known-plant": (
        "determine whether tall plant height is a dominant or recessive trait in the pea plant. If the trait is "
        "dominant, focus on the red box. If the trait is recessive, focus on the green box."
    ),
    "mendelian-genetics-unknown-plant": (
        "determine whether blue seed color is a dominant or recessive trait in the unknown E plant. If the trait "
        "is dominant, focus on the red box. If the trait is recessive, focus on the green box."
    ),
    "power-component": (
        "turn on the electric motor. First, focus on the electric motor. Then, create an electrical circuit that "
        "powers it on."
    ),
    "power-component-renewable-vs-nonrenewable-energy": (
        "turn on the red light bulb by powering it using a nonrenewable power source. First, focus on the red "
        "light bulb. Then, create an electrical circuit that powers it on."
    ),
    "test-conductivity": (
        "determine if metal fork is electrically conductive. The metal fork is located around the kitchen. "
        "First, focus on the metal fork. If it is electrically conductive, place it in the red box. If it is "
        "electrically nonconductive, place it in the green box."
    ),
    "test-conductivity-of-unknown-substances": (
        "determine if unknown substance B is electrically conductive. The unknown substance B is located around "
        "the workshop. First, focus on the unknown substance B. If it is electrically conductive, place it in "
        "the blue box. If it is electrically nonconductive, place it in the orange box."
    ),
}
OPENINGS = {
    task: f"Your task is to {text}\n\nThis room is called the hallway."
    for task, text in DESCRIPTIONS.items()
}


def goal(task):
    return parse_goal(OPENINGS[task])


GOAL = GoalSignature("F3", "melt", "water")
FOCUS_ON_STOVE = CriticalFailure(
    GOAL,
    StateSignature.parse("room=kitchen|inventory=empty|progress=0"),
    "focus on stove",
    "verify object identity matches task target before executing focus",
    "score = -100, terminated",
)
"""The entry of Appendix F."""
