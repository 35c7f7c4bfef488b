"""Predicates of ScienceWorld's procedures over a belief: the only module that knows its tasks beyond the manual.

A predicate is a function of the scene and its arguments. A word is a goal's or a procedure's term for things; a role is
the kind of thing that a command's parameter takes.
"""

from collections.abc import Mapping
from typing import Final

from rpms.worlds.scienceworld.recipes.biology import ANIMALS, GARDEN
from rpms.worlds.scienceworld.recipes.household import BOXES, EVERYDAY, MIXING
from rpms.worlds.scienceworld.recipes.physics import CIRCUITS, HEAT, PLANES
from rpms.worlds.scienceworld.scene import Ask, Names

EVERY_RECIPE: Final = (EVERYDAY, BOXES, HEAT, MIXING, ANIMALS, GARDEN, PLANES, CIRCUITS)
RECIPES: Final[dict[str, Ask]] = {name: ask for recipe in EVERY_RECIPE for name, ask in recipe.predicates.items()}
"""Predicate → who answers."""
WORDS: Final[Mapping[str, Names]] = {word: names for recipe in EVERY_RECIPE for word, names in recipe.words.items()}
