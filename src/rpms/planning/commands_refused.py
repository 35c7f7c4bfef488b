"""Commands that came to nothing in an episode: they are not given again as long as nothing about
them has changed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

from rpms.logic.actions import Instance
from rpms.logic.belief import Situation
from rpms.logic.facts import Clause, Truth
from rpms.logic.rules import ActiveRules
from rpms.planning.achievers import command_of
from rpms.planning.edges import Link
from rpms.planning.possible_facts import atoms_over
from rpms.planning.wanted_facts import NamedFact


class Surroundings(NamedTuple):
    """Known facts about a command's things and the agent: if equal, nothing has changed."""

    location: str | None
    holding: object
    facts: tuple[tuple[NamedFact, bool | None], ...] = ()
    """Values of the facts over the command's things, by predicate and names."""


Shown = tuple[str, str, tuple[str, ...]]
"""A command with the fact that it was given for: its predicate and names."""
Barred = Mapping[str | Shown, Sequence[Surroundings] | None]
"""Commands that were refused or showed nothing, with the surroundings in which plans do not give
them again; None for those that they do not begin with, whatever these are."""


@dataclass(frozen=True)
class Refusals:
    """Commands that were refused or showed nothing, each with how things stood then."""

    refused: Mapping[str, tuple[Surroundings, ...]] = field(default_factory=dict)
    """Commands that were refused, with their surroundings each time, the last one last."""
    guessed: Mapping[str, tuple[Clause, ...]] = field(default_factory=dict)
    """Commands that were refused, with the needs of which nobody knew: these were hardly met."""
    blank: Mapping[Shown, Surroundings] = field(default_factory=dict)
    """Commands that did not show a fact that they were given for."""

    def with_refused(self, command: str, rules: ActiveRules, situation: Situation) -> Self:
        """The same once a command was refused."""
        now = surroundings(command, rules, situation)
        each_time = (*self.refused.get(command, ()), now)
        return replace(self, refused={**self.refused, command: each_time})

    def with_guess(self, command: str, instance: Instance, unknown: Sequence[Clause]) -> Self:
        """The same once a command was refused that had needs of which nobody knows."""
        needs = tuple(need.bind(instance.binding) for need in unknown)
        return replace(self, guessed={**self.guessed, command: needs})

    def with_blank(
        self, link: Link, command: str, rules: ActiveRules, situation: Situation
    ) -> Self:
        """The same once a command did not show the fact that it was given for."""
        shown = (link.command, *link.fact[:2])
        now = surroundings(command, rules, situation)
        return replace(self, blank={**self.blank, shown: now})

    def bars(self, command: str, rules: ActiveRules, situation: Situation) -> bool:
        """True if a command was refused when all about its things and the place was as it is
        now, or when its needs were as unknown as they are now.
        """
        if command not in self.refused:
            return False
        guessed = self.guessed.get(command)
        if guessed and all(need.truth(situation) is Truth.UNKNOWN for need in guessed):
            return True
        return surroundings(command, rules, situation) in self.refused[command]

    def barred(self, rules: ActiveRules, idle: Iterable[str]) -> Barred:
        """What plans are to leave out: what was refused or showed nothing, while all is as it was
        one of those times, and `idle` commands, which are not to be given as things are.
        """
        commands: dict[str, Sequence[Surroundings] | None] = dict(self.refused)
        commands |= dict.fromkeys(idle)
        found: dict[str | Shown, Sequence[Surroundings] | None] = {}
        for shown, then in self.blank.items():
            found[shown] = (then,)
        for command, times in commands.items():
            instance = rules.instance(command)
            if instance is None:
                found[command] = times
            else:
                found[command_of(instance.schema, instance.binding)] = times
        return found


def surroundings(command: str, rules: ActiveRules, situation: Situation) -> Surroundings:
    """The facts about a command's things and the agent."""
    belief = situation.belief
    instance = rules.instance(command)
    if instance is None:
        return Surroundings(str(belief.signature()), belief.fingerprint)
    facts: list[tuple[NamedFact, bool | None]] = []
    for over_parameters in atoms_over(rules, instance.schema):
        predicate, args = over_parameters.bind(instance.binding)
        facts.append(((predicate, args), situation.value(predicate, args)))
    return Surroundings(belief.location, belief.holding, tuple(facts))
