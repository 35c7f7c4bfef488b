"""Pursuit of one episode of an exploration, and its results so far."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random

from rpms.induction.agenda import Agenda, Question
from rpms.induction.ledger import Diary
from rpms.induction.literals import bits
from rpms.induction.revelations import slots_of
from rpms.induction.templates import draw, fill
from rpms.induction.thresholds import LIMITS
from rpms.induction.ventures import Ventures
from rpms.induction.wants import State
from rpms.logic.achievers import command_of
from rpms.logic.actions import Instance
from rpms.logic.belief import Situation
from rpms.logic.facts import Atom, Clause, Truth, kind_of
from rpms.logic.rules import ANYTHING
from rpms.planning.search import Option
from rpms.worlds.base import Game


@dataclass
class Standing:
    """One episode as it stands."""

    agenda: Agenda
    diary: Diary
    game: Game
    dice: Random
    target: Instance | None = None
    patience: int = 0
    wanted: State | None = None
    refused: set[str] = field(default_factory=set)
    tried: set[State] = field(default_factory=set)
    failures: Counter[str] = field(default_factory=Counter)
    begun: Counter[str] = field(default_factory=Counter)
    """Commands with which plans towards the guess have begun."""
    looked: set[str] = field(default_factory=set)
    """The looks that were taken to find out what is unknown."""
    seen: tuple[str, ...] | None = None  # Things just looked at
    then: str = ""  # Command that is given next in any case
    ahead: list[str] = field(default_factory=list)  # Remaining commands of the current plan
    about_goal: bool = False
    scoring: bool = False  # True if actions known to score are pursued
    left: int = 0  # Steps that are left of the episode
    ventures: Ventures = field(init=False)

    def __post_init__(self) -> None:
        agenda, goal = self.agenda, self.diary.goal
        self.ventures = Ventures(
            agenda, goal.type, self.dice, partial(self.too_early, venture=True)
        )
        self._before, self._heard = self.diary.belief, len(self.diary.past)
        if not self.about_goal:
            self.about_goal = (
                not agenda.settled(goal.type) and self.dice.random() < agenda.how.goals
            )
        self.scoring = (
            self.about_goal and agenda.learned is not None and goal.type in agenda.learned.scoring
        )

    @property
    def situation(self) -> Situation:
        return Situation(self.diary.belief, self.diary.goal, past=self.diary.past)

    def told(self, command: str, *, refused: bool) -> None:
        """Result of a command."""
        before, self._before = self._before, self.diary.belief
        new = self.diary.past[self._heard :]
        self._heard = len(self.diary.past)
        self.ventures.told(before, self._before, scored=any(done.gained for done in new))
        if refused:
            self.refused.add(command)
            self.failures[command] += 1
        elif command not in ("look", "inventory"):
            self.refused.clear()

    def too_early(self, command: str, *, venture: bool = False) -> bool:
        """True if an action that may end the task should wait, as long as there is something to
        lose by that.
        """
        if not self.agenda.deadly or self.left <= LIMITS.last_steps:
            return False
        reading = self.agenda.ledger.names.read(command)
        past = self.agenda.deadly.get(reading.template)
        if past is None or (past.usual < LIMITS.deadly and (venture or not self.scoring)):
            return False
        facts = (
            past.book.measure(self.diary.belief, reading.names, past.own) if past.own else (0, 0)
        )
        return past.share(*facts, tuple(map(kind_of, reading.names))) >= LIMITS.deadly

    def vain(self, command: str) -> bool:
        """True if a command was refused since anything changed, or again and again.

        Where the world declares its commands, what they need is judged by what was refused.
        """
        return command in self.refused or self._again_and_again(command)

    def _again_and_again(self, command: str) -> bool:
        return self.failures[command] > 1 and not self.agenda.ledger.names.signatures

    def best_trial(
        self,
        trials: Iterable[tuple[Question, tuple[str, ...] | None]],
        worth: Callable[[Question, tuple[str, ...], float], tuple[float, object]],
        least: float,
    ) -> str:
        """The action with names that is worth more than the others and the least; nothing where
        none is.
        """
        best, choice = least, ("", Counter[object](), object())
        for question, names in trials:
            value, about = worth(question, names, best) if names is not None else (0.0, None)
            if names is None or value <= best:
                continue
            command = fill(question.book.template, names)
            if not self.vain(command) and not self.too_early(command):
                best, choice = value, (command, question.asked, about)
        command, asked, about = choice
        asked[about] += 1  # the question that it would settle, as `worth` said
        return command

    def begin(self, wanted: State | tuple[Clause, ...]) -> str:
        """The first step of the best plan in which nothing is known to be vain; nothing where
        all holds.
        """
        plan = self.agenda.towards(wanted, self.situation, best=True)
        if any(map(self._leads_nowhere, plan.options)):
            plan = self.agenda.towards(wanted, self.situation, best=False)
        option = next((each for each in plan.options if not self._leads_nowhere(each)), None)
        return self.follow(option) if option is not None and plan.cost > 0 else ""

    def _leads_nowhere(self, option: Option) -> bool:
        """True if a plan begins with what was just refused, or comes to what was refused again
        and again.
        """
        return self.vain(option.command) or any(
            self._again_and_again(link.command) for link in option.chain
        )

    def follow(self, option: Option) -> str:
        """The first step of an option; what comes after it is kept for later, unless the step
        shows something.
        """
        self.ahead = (
            [link.command for link in option.chain[1:]] if not option.chain[0].reveals else []
        )
        return option.command

    def go_on(self) -> str:
        """The next action of the plan that was made, where it can be done; no new plan is
        needed then.
        """
        if not self.ahead:
            return ""
        command, self.ahead = self.ahead[0], self.ahead[1:]
        instance = self.agenda.reasoner().rules.instance(command)
        if (
            instance is None
            or self.vain(command)
            or instance.feasible(self.situation) is not Truth.TRUE
        ):
            self.ahead = []
            return ""
        return command

    # Looks.

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
        reading = self.agenda.ledger.names.read(command)
        question = next(
            (each for each in self.agenda.questions if each.book.template == reading.template), None
        )
        if question is None:
            return command
        size, (true, false) = (
            question.needs.size,
            question.book.measure(self.diary.belief, reading.names),
        )
        hardly_known = (question.unusual | question.unusual >> size) & (
            1 << size
        ) - 1  # when the action succeeded
        for bit in bits(hardly_known & ~(true | false)):
            if look := self.find_out(question.book.facts[bit].bind(slots_of(reading.names))):
                self.then = command
                return look
        return command

    def try_seen(self) -> str:
        """Actions hardly ever done to such things as were just looked at, if there are any."""
        seen, self.seen = self.seen, None
        if seen is None:
            return ""
        belief = self.diary.belief
        unusual = (each for each in self.agenda.questions if each.unusual)
        trials = ((each, self._named(each.schema.variables, seen)) for each in unusual)
        return self.best_trial(
            trials, lambda each, names, _: each.rarity(*each.book.measure(belief, names)), least=0.0
        )

    def _named(self, roles: Sequence[str], seen: Sequence[str]) -> tuple[str, ...] | None:
        """Names for some roles, one of those that were seen among them; None where these have
        other roles.
        """
        names = self.diary.belief.names
        known = self.agenda.ledger.names.roles
        fit = [[name for name in seen if name in names.get(role, ())] for role in roles]
        if roles and not any(fit):
            return None
        every = [  # a role without a known name takes one of another episode
            some or names.get(role) or [name for name in known if role in known[name]]
            for role, some in zip(roles, fit, strict=True)
        ]
        chosen = tuple(self.dice.choice(some) for some in every)
        return chosen if len(set(chosen)) == len(chosen) else None

    def look(self) -> str:
        """Something that can be done and makes known what is not: rarely seen states are
        reached by the unknown.
        """
        belief = self.diary.belief
        seeing = [
            question
            for question in self.agenda.questions
            if question.schema.observes and question.book.slots
        ]
        for _ in range(self.agenda.how.imagined if seeing else 0):
            question = self.dice.choice(seeing)
            names = [
                self.dice.choice(belief.names.get(role) or ("",))
                for role in question.schema.variables
            ]
            known = question.book.known(belief, names) if all(names) else -1
            if known.bit_count() < len(question.book.probes):
                instance = Instance(
                    question.schema, dict(zip(question.schema.variables, names, strict=True))
                )
                command = fill(question.book.template, names)
                if not self.vain(command) and instance.feasible(self.situation) is not Truth.FALSE:
                    return command
        return ""

    def find_out(self, about: Atom | None = None) -> str:
        """A look that changes nothing and shows what is unknown: an effect shows only where one
        knew what was so.
        """
        belief, looks = self.diary.belief, self.agenda.looks
        for schema in self.dice.sample(looks, len(looks)):
            names = draw(belief, [(role,) for role in schema.variables], self.dice)
            if names is None:
                continue
            binding = dict(zip(schema.variables, names, strict=True))
            for seen in schema.observes:
                if about is not None:
                    bound = _unified(seen.atom, about, schema.variables)
                    if bound is None:
                        continue
                    binding |= bound
                atom = about or seen.atom.bind(binding)
                command = command_of(schema, binding)
                # nobody can tell whether there are more of the things that nobody knows yet: these
                # are looked for once
                unknown = (
                    command not in self.looked
                    if ANYTHING in atom.args
                    else belief.truth(atom) is Truth.UNKNOWN
                )
                if (
                    unknown
                    and not self.vain(command)
                    and (about is None or command not in self.looked)
                ):
                    self.looked.add(command)
                    self.seen = tuple(binding.values())
                    return command
        return ""


def _unified(pattern: Atom, atom: Atom, variables: Sequence[str]) -> dict[str, str] | None:
    """Binding of variables under which a pattern is a fact; None where it is another."""
    if pattern.predicate != atom.predicate:
        return None
    bound: dict[str, str] = {}
    for arg, name in zip(pattern.args, atom.args, strict=True):
        if arg != ANYTHING and (bound.setdefault(arg, name) != name or arg not in variables):
            return None
    return bound
