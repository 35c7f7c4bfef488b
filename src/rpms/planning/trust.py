"""Trust in the lines of a manual: one number a line, counted from what happens in an episode.

A stated line has FULL trust, an unstated one none; evidence adds or takes some (CONFIRMED,
CONTRADICTED). Planning against a line costs its trust in steps, relying on it what its trust lacks
(`doubtful_rules`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from math import inf
from typing import NamedTuple, Self

from rpms.logic.actions import ActionSchema, Instance, Revelation
from rpms.logic.belief import Situation
from rpms.logic.facts import Clause, Facts, Literal, Truth
from rpms.logic.rules import ActiveRules
from rpms.planning.commands_refused import Refusals
from rpms.planning.plans_begun import PlansBegun
from rpms.planning.possible_facts import atoms_over

FULL = 4.0
"""The trust of a line that the manual states."""
BANNED = 2 * FULL
"""The trust of a ban: a need says that an action fails, a ban that it does harm."""
CONFIRMED = 1.0
"""What an answer adds that speaks for a line."""
CONTRADICTED = -2.0
"""What an answer takes that speaks against a line."""
REFUTED = -inf
"""What is taken from a line that an answer proves wrong."""
LEAST = 0.2
"""The trust that contradictions leave a stated line, short of a refutation."""
STEPS = 5.0
"""Steps that one unit of trust is worth: to doubt a line that was never contradicted costs as
much as 20 steps."""


class LinePart(StrEnum):
    """The parts of a manual that have lines."""

    NEEDS = "needs"
    DOES = "does"
    SHOWS = "shows"
    WANTS = "wants"
    FORBIDS = "forbids"
    DOUBTED = "is a doubt"

    __hash__ = str.__hash__  # an Enum's own is much slower, and evidence is kept by line


class ManualLine(NamedTuple):
    """A line of a manual."""

    of: str
    """The action, process, goal or rule it belongs to."""
    part: LinePart
    text: str
    """As the manual writes it; COMPLETE for the claim that the list has no other line."""

    @classmethod
    def of_need(cls, rules: ActiveRules, schema: ActionSchema, clause: Clause) -> Self:
        """The line that states a need; the rule's, if it is a ban."""
        if clause in rules.bans.get(schema.name, ()):
            rule, ban = rules.bans[schema.name][clause]
            return cls(rule.id, LinePart.FORBIDS, str(ban))
        return cls(rules.key_of(schema), LinePart.NEEDS, str(clause))

    @classmethod
    def of_effect(cls, rules: ActiveRules, schema: ActionSchema, effect: Literal) -> Self:
        """The line that states an effect."""
        return cls(rules.key_of(schema), LinePart.DOES, str(effect))

    def __str__(self) -> str:
        return f"{self.of} {self.part} {self.text}"


COMPLETE = "nothing else"


@dataclass(frozen=True, eq=False)
class Worked:
    """One time that an action worked. What it tells is found once the manual is doubted."""

    rules: ActiveRules
    instance: Instance
    before: Facts
    after: Facts

    @cached_property
    def false_before(self) -> frozenset[Literal]:
        """Facts over its parameters that did not hold: it needs none of them."""
        return false_over(self.rules, self.instance, self.before)

    def without(self, effects: Iterable[Literal]) -> list[Literal]:
        """Those of some facts over its parameters that it is known not to have brought about."""
        binding = self.instance.binding
        return [one for one in effects if one.bind(binding).truth(self.after) is Truth.FALSE]


@dataclass(frozen=True)
class FruitlessSearches:
    """Searches that found no plan, whatever was doubted: they are not made again for nothing."""

    circumstances: object = None
    """What decided the last of them: known things, and what was learned or is suspected."""
    states: Mapping[object, bool] = field(default_factory=dict)
    """The states in which no plan was found under these, each with the evidence against lines then:
    True where the search was cut, so that not all doubts were weighed."""

    def has(self, circumstances: object, state: object) -> bool:
        """True if no plan was found in a state, all else being as it is."""
        return self.circumstances == circumstances and state in self.states

    def and_(self, circumstances: object, state: object, *, cut: bool) -> Self:
        """The same after one more search; `cut` if not all doubts were weighed."""
        before = self.states if self.circumstances == circumstances else {}
        return type(self)(circumstances, {**before, state: cut})


@dataclass(frozen=True)
class Trust:
    """What an episode has told so far of the manual's lines, of commands and of plans."""

    evidence: Mapping[ManualLine, float] = field(default_factory=dict)
    """Evidence for and against a line, in units of trust."""
    learned: Mapping[str, tuple[Literal | Revelation, ...]] = field(default_factory=dict)
    """Changes that no line foretold, by the action, over its parameters."""
    lacking: bool = False
    """True if one of these is of a kind that no line of the manual brings about."""
    unexplained: Mapping[str, tuple[frozenset[Literal], ...]] = field(default_factory=dict)
    """For each refusal of an action without a reason, the facts that were not known to hold: it
    may need one."""
    worked: Mapping[str, tuple[Worked, ...]] = field(default_factory=dict)
    """Times that an action worked, by the action."""
    held: frozenset[Literal] | None = None
    """Facts over the goal's variables that held beside all that the goal wants, without a win;
    None if it never did."""
    refusals: Refusals = field(default_factory=Refusals)
    """Commands that are not to be given again as things are."""
    plans: PlansBegun = field(default_factory=PlansBegun)
    """The plans at hand, and those that were begun."""
    fruitless: FruitlessSearches = field(default_factory=FruitlessSearches)
    """Searches that found no plan."""
    made_in_vain: int = 0
    """Steps whose plan doubted the manual while what the goal asks for was nowhere: some line may
    be wrong about how it is made."""
    last: str = ""
    """The last surprise, in words."""

    @property
    def shaken(self) -> bool:
        """True if a line was contradicted, if something happened that no line can cause, or if the
        goal's facts held without a win.
        """
        return self.lacking or self.held is not None or min(self.evidence.values(), default=0.0) < 0

    def but(self, **parts: object) -> Self:
        """The same with other parts: `replace` asks for every field by name, several times a
        step.
        """
        other = object.__new__(type(self))
        vars(other).update(vars(self), **parts)
        return other

    # Trust in lines.

    def of(self, line: ManualLine, stated: float = FULL) -> float:
        """The trust in a line; of one that is stated some is left unless it was refuted.

        `stated`: where it begins: FULL if the manual has it, else 0.
        """
        evidence = self.evidence.get(line, 0.0)
        if evidence == REFUTED:
            return 0.0
        least = LEAST if stated else -FULL
        begin = stated + BANNED - FULL if line.part is LinePart.FORBIDS else stated
        return max(begin + evidence, least)

    def has_left(self, line: ManualLine) -> bool:
        """True if evidence against a line can still make planning against it cheaper, or, if it is
        a doubt, relying on it dearer.
        """
        return line.part is LinePart.DOUBTED or self.of(line) > LEAST

    def against(self, line: ManualLine) -> float:
        """Cost of planning against a line."""
        return STEPS * self.of(line)

    def upon(self, line: ManualLine, stated: float = FULL) -> float:
        """Cost of relying on a line: more with each contradiction, nothing while its trust is
        full.
        """
        trust = stated + self.evidence.get(line, 0.0)
        return STEPS * max(FULL - trust, 0.0)

    def weighed(self, line: ManualLine, weight: float) -> Self:
        """The same with more evidence on a line."""
        return self.but(evidence={**self.evidence, line: self.evidence.get(line, 0.0) + weight})

    def against_lines(self) -> frozenset[tuple[ManualLine, float]]:
        """The evidence against lines of the manual, which makes doubts cheaper."""
        evidence = self.evidence.items()
        return frozenset(
            [one for one in evidence if one[1] < 0 and one[0].part is not LinePart.DOUBTED]
        )

    def circumstances(self, situation: Situation) -> object:
        """All that decides if there is a plan with doubts, prices apart: known things, and what
        was learned or is suspected.
        """
        return situation.belief.every_name, self.learned, self.unexplained, self.held

    # What actions did.

    def is_first_guess(self, action: str, command: str) -> bool:
        """True if a command is a plan's that trusts the manual, and no other command of this
        action was refused without a known reason.
        """
        if self.shaken or command not in self.plans.offered or self.plans.doubt(command):
            return False
        return action not in self.unexplained or command in self.refusals.guessed

    def suspecting(self, action: str, false: frozenset[Literal]) -> Self:
        """The same once an action was refused without a reason while some facts were not known
        to hold.
        """
        return self.but(
            unexplained={**self.unexplained, action: (*self.unexplained.get(action, ()), false)}
        )

    def suspects(self, action: str) -> dict[Literal, int]:
        """Facts that an action may need beside those stated, with the number of refusals that
        each does not explain.
        """
        refusals = self.unexplained.get(action, ())
        if not refusals:
            return {}
        cleared = [one.false_before for one in self.worked.get(action, ())]
        every = frozenset[Literal]().union(*refusals).difference(*cleared)
        return {one: sum(one not in false for false in refusals) for one in sorted(every, key=str)}

    def working(
        self, action: str, rules: ActiveRules, instance: Instance, before: Facts, after: Facts
    ) -> Self:
        """The same once an action worked: it needs none of the facts that were false."""
        times = (*self.worked.get(action, ()), Worked(rules, instance, before, after))
        return self.but(worked={**self.worked, action: times})

    def learning(self, action: str, news: Iterable[Literal | Revelation], *, lacking: bool) -> Self:
        """The same with changes that no line foretold."""
        known = dict.fromkeys((*self.learned.get(action, ()), *news))
        return self.but(
            learned={**self.learned, action: tuple(known)}, lacking=self.lacking or lacking
        )


UNSHAKEN = Trust()
"""What is known before anything happened."""


def false_over(
    rules: ActiveRules, instance: Instance, facts: Facts, *, unknown: bool = False
) -> frozenset[Literal]:
    """All facts over an action's parameters, and negations, that are known not to hold, or that
    nobody knows.
    """
    found: list[Literal] = []
    for atom in atoms_over(rules, instance.schema):
        value = facts.truth(atom.bind(instance.binding))
        if unknown or value is not Truth.UNKNOWN:
            found.append(Literal(atom, negated=value is Truth.TRUE))
    return frozenset(found)
