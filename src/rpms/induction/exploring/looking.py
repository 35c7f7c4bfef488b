"""Looks in an episode of an exploration: what is unknown is found out, and tried where it was
hardly ever so.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rpms.induction.evidence.columns import all_of
from rpms.induction.evidence.revelations import slots_of
from rpms.induction.evidence.templates import fill
from rpms.induction.exploring.questions import Question, TrialWorth
from rpms.induction.exploring.standing import ImaginedTrial, Standing
from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import ActionSchema, Instance
from rpms.logic.bits import bits
from rpms.logic.facts import Atom, Truth
from rpms.logic.rules import ANYTHING
from rpms.planning.achievers import command_of


class _Look(NamedTuple):
    """A command that shows something, and the names that it looks at."""

    command: str
    names: tuple[str, ...]


@dataclass
class Looking(Standing):
    """One episode as it stands, and what was looked at in it."""

    looked: set[str] = field(default_factory=set)
    """The looks that were taken to find out what is unknown."""
    looked_around: set[tuple[str, str]] = field(default_factory=set)
    """Places, each with a look that was taken there."""
    seen: tuple[str, ...] | None = None  # Things just looked at
    then: str = ""  # Command that is given next in any case

    @property
    def all_at_hand(self) -> bool:
        """True if anything can be looked at from here.

        Who is somewhere looks by going there, as experiments do.
        """
        return self.diary.belief.location is None

    def having_looked(self, command: str) -> str:
        """A look at what may come of a command, which is then done next; the command where
        nothing is to be seen.
        """
        if not self.all_at_hand:
            return command
        parts = self.agenda.ledger.names.read(command)
        question = self.agenda.question_about(parts.template)
        if question is None:
            return command
        book = question.book
        known = book.measure(self.diary.belief, parts.names)
        unusual = _facts_of(question.unusual, question.needs.table.size)
        for bit in bits(unusual & ~(known.true | known.false)):
            look = self.find_out(book.facts[bit].bind(slots_of(parts.names)))
            if look:
                self.then = command
                return look
        return command

    def try_seen(self) -> str:
        """Actions hardly ever done to such things as were just looked at, if there are any."""
        seen = self.seen
        self.seen = None
        if seen is None:
            return ""
        trials: list[ImaginedTrial] = []
        for question in self.agenda.questions:
            if not question.unusual:
                continue
            names = self._with_one_of(seen, question.schema.variables)
            if names is not None:
                trials.append(ImaginedTrial(question, names))
        return self.best_trial(trials, self._rarity, least=0.0)

    def _rarity(self, trial: ImaginedTrial, _best: float) -> TrialWorth:
        """The worth of a trial by how rare the facts are that hold of its names."""
        known = trial.question.book.measure(self.diary.belief, trial.names)
        return trial.question.rarity(known.true, known.false)

    def _with_one_of(self, seen: Sequence[str], roles: Sequence[str]) -> tuple[str, ...] | None:
        """Names for some roles, one of those that were seen among them; None where these have
        other roles.
        """
        fitting = [self._in_role(seen, role) for role in roles]
        if roles and not any(fitting):
            return None
        chosen: list[str] = []
        for role, fit in zip(roles, fitting, strict=True):
            chosen.append(self.dice.choice(fit or self._names_in(role)))
        return tuple(chosen) if len(set(chosen)) == len(chosen) else None

    def _in_role(self, names: Iterable[str], role: str) -> list[str]:
        """Those of some names that are known in a role."""
        known = self.diary.belief.names.get(role, ())
        return [name for name in names if name in known]

    def _names_in(self, role: str) -> Sequence[str]:
        """Known names in a role; where there are none, those of other episodes."""
        here = self.diary.belief.names.get(role)
        if here:
            return here
        known = self.agenda.ledger.names.roles
        return [name for name in known if role in known[name]]

    def look(self) -> str:
        """Something that can be done and makes known what is not: rarely seen states are
        reached by the unknown.
        """
        seeing = []
        for question in self.agenda.questions:
            if question.schema.observes and question.book.slots:
                seeing.append(question)
        if not seeing:
            return ""
        for _ in range(self.agenda.exploring.imagined):
            command = self._look_by(self.dice.choice(seeing))
            if command:
                return command
        return ""

    def _look_by(self, question: Question) -> str:
        """An action with any names, if it may work and show something."""
        belief = self.diary.belief
        schema = question.schema
        names = [self.dice.choice(belief.names.get(role) or ("",)) for role in schema.variables]
        if not all(names):
            return ""
        command = fill(question.book.template, names)
        if self.vain(command):
            return ""
        revealed = question.book.revealed(belief, names)
        if revealed.bit_count() >= len(question.book.probes):
            return ""
        instance = Instance(schema, dict(zip(schema.variables, names, strict=True)))
        return "" if instance.feasible(self.situation) is Truth.FALSE else command

    def look_at_new_place(self) -> str:
        """A look that names nothing, once at each place where the agent comes, while tasks are
        hardly ever won: what scores may be in sight.
        """
        place = self.diary.belief.location
        ledger = self.agenda.ledger
        if place is None or not ledger.hardly_won:
            return ""
        for command, count in ledger.showing.items():
            look = (place, command)
            if count < LIMITS.fewest_successes or look in self.looked_around or self.vain(command):
                continue
            self.looked_around.add(look)
            return command
        return self._try_to_look(place)

    def _try_to_look(self, place: str) -> str:
        """A command about nothing that was hardly ever given at a place just reached: it may show
        what is there.
        """
        ledger = self.agenda.ledger
        if not ledger.unlisted or (place, "") in self.looked_around:
            return ""
        self.looked_around.add((place, ""))
        for command in _about_nothing(self.game.admissible()):
            often = ledger.tried_to_look[command] >= LIMITS.several
            names_thing = bool(ledger.names.read(command).names)
            if often or names_thing or self.vain(command) or self.too_early(command):
                continue
            ledger.tried_to_look[command] += 1
            return command
        return ""

    def find_out(self, about: Atom | None = None) -> str:
        """A look that changes nothing and shows what is unknown: an effect shows only where one
        knew what was so.

        `about`: the fact that it is to show, where that is not any.
        """
        looks = self.agenda.looks
        for schema in self.dice.sample(looks, len(looks)):
            roles = [(role,) for role in schema.variables]
            names = self.names_around.draw(roles, self.dice)
            if names is None:
                continue
            binding = dict(zip(schema.variables, names, strict=True))
            look = self._showing_look(schema, binding, about)
            if look is not None:
                self.looked.add(look.command)
                self.seen = look.names
                return look.command
        return ""

    def _showing_look(
        self, schema: ActionSchema, drawn: Mapping[str, str], about: Atom | None
    ) -> _Look | None:
        """A look by a schema that would show something, at names that were drawn; where it is to
        show one fact, at the names of that and, for the rest, those that were drawn.
        """
        for shown in schema.observes:
            binding = drawn
            fact = shown.atom.bind(drawn)
            if about is not None:
                bound = _unified(shown.atom, about, schema.variables)
                if bound is None:
                    continue
                binding = {**drawn, **bound}
                fact = about
            command = command_of(schema, binding)
            was_taken = about is not None and command in self.looked
            if was_taken or not self._would_show(command, fact):
                continue
            if not self.vain(command):
                return _Look(command, tuple(binding.values()))
        return None

    def _would_show(self, command: str, fact: Atom) -> bool:
        """True if a look may show a fact that is unknown.

        Nobody can tell whether there are more of the things that nobody knows yet: these are
        looked for once.
        """
        if ANYTHING in fact.args:
            return command not in self.looked
        return self.diary.belief.truth(fact) is Truth.UNKNOWN


def _about_nothing(commands: Sequence[str]) -> list[str]:
    """Commands whose words after the first are in no other command: names are in several."""
    counts: Counter[str] = Counter()
    for command in commands:
        counts.update(set(_after_first(command)))
    found: list[str] = []
    for command in commands:
        if all(counts[word] == 1 for word in _after_first(command)):
            found.append(command)
    return found


def _after_first(command: str) -> list[str]:
    """The words of a command after the first."""
    return command.split()[1:]


def _facts_of(literals: int, size: int) -> int:
    """The facts that some literals state or deny, as bits."""
    return (literals | literals >> size) & all_of(size)


def _unified(pattern: Atom, atom: Atom, variables: Sequence[str]) -> dict[str, str] | None:
    """Binding of variables under which a pattern is a fact; None where it is another."""
    if pattern.predicate != atom.predicate:
        return None
    bound: dict[str, str] = {}
    for arg, name in zip(pattern.args, atom.args, strict=True):
        if arg == ANYTHING:
            continue
        if arg not in variables or bound.setdefault(arg, name) != name:
            return None
    return bound
