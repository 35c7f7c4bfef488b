"""One episode of an exploration: what is being pursued in it, step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from random import Random

from rpms.core.belief import Situation
from rpms.core.facts import Atom, Truth, kind_of
from rpms.core.reason import Plan
from rpms.core.rules import ANYTHING, Instance
from rpms.core.ways import command_of
from rpms.learn.rules.agenda import Agenda
from rpms.learn.rules.induce import bits
from rpms.learn.rules.ledger import Diary
from rpms.learn.rules.question import Question
from rpms.learn.rules.templates import draw, fill
from rpms.learn.rules.venture import Prospect, Ventures
from rpms.learn.rules.wins import State
from rpms.worlds.base import Game, by_verb

_GUESSES = 60
"""Guesses at what a goal wants that are weighed against each other."""
_AGAIN = 5
"""How many simpler guesses a guess lets go first for each time that it was pursued already."""
_FAMILIAR = 6
"""Successes of an action from which on it is no novelty."""
_WORTH_IT = 0.9
"""What has to be gained by an experiment for it to be made where nothing prepares it."""

_LAST_STEPS = 8
"""Steps at the end of an episode in which actions are tried that often end the task for good."""
_STAYING = 0.5
"""How often experiments are made where nothing is known that may score, rather than going elsewhere."""
_ANY_KIND, _FITTING = 0.4, 0.3
"""How often an action is imagined with any kinds, and with kinds that have worked in every slot."""


@dataclass
class Session:
    """One episode of an exploration: what is being pursued in it."""

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
    looked: set[str] = field(default_factory=set)
    """The looks that were taken to find out what is unknown."""
    seen: tuple[str, ...] | None = None
    """What was just looked at."""
    then: str = ""
    """What is done next whatever comes."""
    ahead: list[str] = field(default_factory=list)
    """What the plan that was made goes on with."""
    about_goal: bool = False
    scoring: bool = False
    """Whether what scores is being done, as far as it is known."""
    left: int = 0
    """Steps that are left of the episode."""
    ventures: Ventures = field(init=False)

    def __post_init__(self) -> None:
        agenda, goal = self.agenda, self.diary.goal
        self.ventures = Ventures(agenda, goal.type, self.dice)
        self._before = self.diary.belief
        self.about_goal = not agenda.settled(goal) and self.dice.random() < agenda.how.goals
        self.scoring = self.about_goal and agenda.learned is not None and goal.type in agenda.learned.scoring

    @property
    def situation(self) -> Situation:
        return Situation(self.diary.belief, self.diary.goal, past=self.diary.past)

    def told(self, command: str, *, refused: bool) -> None:
        """What became of a command."""
        before, self._before = self._before, self.diary.belief
        self.ventures.told(before, self._before, scored=not refused and self.diary.past[-1].gained)
        if refused:
            self.refused.add(command)
            self.failures[command] += 1
        elif command not in ("look", "inventory"):
            self.refused.clear()

    def choose(self) -> str:
        """What to do next."""
        agenda = self.agenda
        command, self.then = self.then, ""
        if command or (command := self._try_seen() or self._novelty()):
            return command
        if self._all_at_hand and self.dice.random() < agenda.how.looking and (command := self._find_out()):
            return command
        if agenda.questions:
            if self.about_goal and not self._astray() and (command := self._towards_goal()):
                return command
            if not self._astray():
                command = self._experiment() or self._towards_target()
                if command:
                    return self._having_looked(command)
        if not self._astray() and (listed := [each for each in self.game.admissible() if not self._too_early(each)]):
            return self._having_looked(self.dice.choice(self.dice.choice(by_verb(listed))))
        return self._anything()

    def _too_early(self, command: str) -> bool:
        """Whether to put off an action that often ends the task for good: late in an episode that costs little."""
        agenda = self.agenda
        if not agenda.deadly or self.left <= _LAST_STEPS:
            return False
        return agenda.ledger.names.read(command).template in agenda.deadly

    def _astray(self) -> bool:
        """Whether to leave the plan for once, so that what no plan foresees can come about."""
        return self.dice.random() < self.agenda.how.astray

    def _novelty(self) -> str:
        """A command that the game lists of an action that has hardly ever been seen."""
        ledger = self.agenda.ledger
        if self.dice.random() >= self.agenda.how.listing:
            return ""
        found = []
        for commands in by_verb(self.game.admissible()):
            command = self.dice.choice(commands)
            book = ledger.books.get(ledger.names.read(command).template)
            new = book is None or book.worked.total() < _FAMILIAR
            if new and not self._vain(command) and not self._too_early(command):
                found.append(command)
        return self.dice.choice(found) if found else ""

    # Experiments.

    def _experiment(self) -> str:
        """What can be done right now that would settle most, if anything would."""
        best, choice = _WORTH_IT, ("", Counter[object](), object())
        for question in self._some_questions():
            names = self._imagine(question)
            if names is None:
                continue
            command = fill(question.book.template, names)
            if self._vain(command) or self._too_early(command):
                continue
            gain, about = question.gain(*question.book.measure(self.diary.belief, names), tuple(map(kind_of, names)))
            if gain > best:
                best, choice = gain, (command, question.asked, about)
        command, asked, about = choice
        asked[about] += 1
        return command

    @property
    def _all_at_hand(self) -> bool:
        """Whether anything can be looked at from here. Who is somewhere looks by going there, as experiments do."""
        return self.diary.belief.location is None

    def _having_looked(self, command: str) -> str:
        """A look at what may come of a command, which is then done next; or the command, where nothing is to be seen.

        Looked at is what was hardly ever known when the action succeeded.
        """
        if not self._all_at_hand:
            return command
        reading = self.agenda.ledger.names.read(command)
        question = next((each for each in self.agenda.questions if each.book.template == reading.template), None)
        if question is None:
            return command
        size, (true, false) = question.needs.size, question.book.measure(self.diary.belief, reading.names)
        slots = {str(place): name for place, name in enumerate(reading.names)}
        for bit in bits((question.unusual | question.unusual >> size) & ~(true | false) & (1 << size) - 1):
            if look := self._find_out(question.book.facts[bit].bind(slots)):
                self.then = command
                return look
        return command

    def _vain(self, command: str) -> bool:
        """Whether a command was refused since anything changed, or again and again."""
        return command in self.refused or self.failures[command] > 1

    def _some_questions(self) -> list[Question]:
        """Actions to imagine, those that succeeded least more often."""
        agenda = self.agenda
        if not any(agenda.interest):
            return []
        return self.dice.choices(agenda.questions, agenda.interest, k=agenda.how.imagined)

    def _imagine(self, question: Question) -> tuple[str, ...] | None:
        """Names for an action: any, or with a kind that has worked in one slot, or with such kinds in all."""
        names = draw(self.diary.belief, [(role,) for role in question.schema.variables], self.dice)
        chance = self.dice.random()
        if names is None or chance < _ANY_KIND:
            return names
        slots = range(len(names)) if chance < _ANY_KIND + _FITTING else (self.dice.randrange(len(names)),)
        chosen = list(names)
        for slot in slots:
            if kind_of(chosen[slot]) not in question.fit[slot]:
                known = self.diary.belief.names.get(question.schema.variables[slot], ())
                fit = [name for name in known if kind_of(name) in question.fit[slot] and name not in chosen]
                chosen[slot] = self.dice.choice(fit) if fit else chosen[slot]
        return tuple(chosen)

    def _try_seen(self) -> str:
        """What has hardly ever been done to such things as were just looked at, if there is anything of the sort."""
        seen, self.seen = self.seen, None
        if seen is None:
            return ""
        best, choice = 0.0, ("", Counter[object](), 0)
        for question in self.agenda.questions:
            names = self._named(question.schema.variables, seen) if question.unusual else None
            if names is None:
                continue
            command = fill(question.book.template, names)
            if self._vain(command) or self._too_early(command):
                continue
            worth, about = question.rarity(*question.book.measure(self.diary.belief, names))
            if worth > best:
                best, choice = worth, (command, question.asked, about)
        command, asked, about = choice
        asked[about] += 1
        return command

    def _named(self, roles: Sequence[str], seen: Sequence[str]) -> tuple[str, ...] | None:
        """Names for some roles, one of those that were seen among them; None where these have other roles.

        Where no name is known for a role, it is one of another episode.
        """
        names, known = self.diary.belief.names, self.agenda.ledger.names.roles
        fit = [[name for name in seen if name in names.get(role, ())] for role in roles]
        if roles and not any(fit):
            return None
        every = [
            some or names.get(role) or [name for name in known if role in known[name]]
            for role, some in zip(roles, fit, strict=True)
        ]
        chosen = tuple(self.dice.choice(some) for some in every)
        return chosen if len(set(chosen)) == len(chosen) else None

    def _towards_target(self) -> str:
        """The next step towards an experiment that cannot be done yet."""
        for _ in range(3):
            if self.target is None or self.patience <= 0:
                self.target, self.patience, self.ahead = self._new_target(), self.agenda.how.pursued, []
            if self.target is None:
                break
            self.patience -= 1
            if self.target.feasible(self.situation) is Truth.TRUE:
                target, self.target = self.target, None
                return command_of(target.schema, target.binding)
            if (going := self._go_on()) is not None:
                return going
            remedy = self.agenda.reasoner(frozenset()).remedy(self.target, self.situation)
            if remedy.command and not self._vain(remedy.command):
                self.ahead = list(remedy.after)
                return remedy.command
            self.target = None
        return self._look()

    def _look(self) -> str:
        """Something that can be done and makes known what is not: rarely seen states are reached by the unknown."""
        belief = self.diary.belief
        seeing = [question for question in self.agenda.questions if question.schema.observes and question.book.slots]
        for _ in range(self.agenda.how.imagined if seeing else 0):
            question = self.dice.choice(seeing)
            names = [self.dice.choice(belief.names.get(role) or ("",)) for role in question.schema.variables]
            known = question.book.known(belief, names) if all(names) else -1
            if known.bit_count() < len(question.book.probes):
                binding = dict(zip(question.schema.variables, names, strict=True))
                command = fill(question.book.template, names)
                if not self._vain(command) and (
                    Instance(question.schema, binding).feasible(self.situation) is not Truth.FALSE
                ):
                    return command
        return ""

    def _find_out(self, about: Atom | None = None) -> str:
        """A look that changes nothing and shows what is unknown, of a fact or of any.

        What an action does shows only where one knew what was so. Looks for things that nobody knows yet are taken
        once in an episode: nobody can tell whether there are more.
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
                atom, command = about or seen.atom.bind(binding), command_of(schema, binding)
                unknown = command not in self.looked if ANYTHING in atom.args else belief.truth(atom) is Truth.UNKNOWN
                if unknown and not self._vain(command) and (about is None or command not in self.looked):
                    self.looked.add(command)
                    self.seen = tuple(binding.values())
                    return command
        return ""

    def _new_target(self) -> Instance | None:
        """An action with kinds that were never tried together, of the actions that succeeded least."""
        best, found = 0.0, None
        for question in self._some_questions():
            names = self._imagine(question)
            if names is None or self._too_early(fill(question.book.template, names)):
                continue
            kinds = tuple(map(kind_of, names))
            tried = question.book.worked[kinds] + question.faultless.get(kinds, 0)
            new = sum(kind not in fit for kind, fit in zip(kinds, question.fit, strict=True))
            worth = (2.0 if not tried else 0.5 / tried) * question.interest / max(1, new)
            if worth > best:
                binding = dict(zip(question.schema.variables, names, strict=True))
                best, found = worth, Instance(question.schema, binding)
        return found

    # The goal.

    def _towards_goal(self) -> str:
        """The next step towards a guess at what the goal wants; nothing where there is none left."""
        agenda = self.agenda
        if self.scoring:
            return self._towards_score() or self._venture() or self._elsewhere()
        for _ in range(4):
            if self.wanted is None or self.patience <= 0:
                if self.wanted is not None:
                    self.tried.add(self.wanted)
                self.wanted, self.patience, self.ahead = self._new_guess(), 2 * agenda.how.pursued, []
            if self.wanted is None:
                return ""
            self.patience -= 1
            if (going := self._go_on()) is not None:
                return going
            plan: Plan = agenda.reasoner(self.wanted).plan(self.situation, seek=False)
            options = [option for option in plan.options if not self._vain(option.command)]
            if plan.cost > 0 and options:
                self.ahead = [link.command for link in options[0].chain[1:]] if not options[0].chain[0].reveals else []
                return options[0].command
            self.tried.add(self.wanted)
            self.wanted = None
        return ""

    def _towards_score(self) -> str:
        """The next step towards what scores; nothing where nothing is known to score now."""
        plan = self.agenda.player(self.diary.goal).plan(self.situation, seek=False)
        fair = (each for each in plan.options if not any(self._vain(link.command) for link in each.chain))
        option = next(fair, None)
        if option is not None:
            self.ventures.pursued, self.ahead = None, []
        return option.command if option is not None else ""

    def _venture(self) -> str:
        """The next step towards something that may score, for all that is known."""
        ventures = self.ventures
        if ventures.pursued is not None and self.patience <= 0:
            ventures.give_up(ventures.pursued)
        pursued = ventures.pursued
        for prospect in [pursued] if pursued is not None else ventures.prospects(self.situation):
            if prospect is not pursued:
                self.patience, self.ahead = 2 * self.agenda.how.pursued, []
            ventures.pursued = prospect
            self.patience -= 1
            command = "" if self._vain(prospect.command) else self._prepare(prospect)
            if not command or command == prospect.command:
                ventures.give_up(prospect)
            if command:
                return command
        return ""

    def _prepare(self, prospect: Prospect) -> str:
        """A prospect, if all that it needs holds, or the next step towards that; nothing where there is none."""
        if all(clause.truth(self.situation) is Truth.TRUE for clause in prospect.needs):
            return prospect.command
        if (going := self._go_on()) is not None:
            return going
        plan = self.agenda.towards(prospect.needs).plan(self.situation, seek=False)
        option = next((each for each in plan.options if not self._vain(each.command)), None)
        if option is None:
            return ""
        self.ahead = [link.command for link in option.chain[1:]] if not option.chain[0].reveals else []
        return option.command

    def _elsewhere(self) -> str:
        """Some way to another place, now and then: what can be done next may be seen there."""
        ledger = self.agenda.ledger
        if self.dice.random() < _STAYING:
            return ""
        listed = [
            command
            for command in self.game.admissible()
            if not self._vain(command)
            and (linked := ledger.linked.get(ledger.names.read(command).template)) is not None
            and linked.moves
        ]
        return self.dice.choice(listed) if listed else ""

    def _go_on(self) -> str | None:
        """The next action of the plan that was made, where it can be done; no new plan is needed then."""
        if not self.ahead:
            return None
        command, self.ahead = self.ahead[0], self.ahead[1:]
        instance = self.agenda.instance(command)
        if instance is None or self._vain(command) or instance.feasible(self.situation) is not Truth.TRUE:
            self.ahead = []
            return None
        return command

    def _new_guess(self) -> State | None:
        """The simplest guess, but for those that were pursued before."""
        goal = self.diary.goal
        some = islice(self.agenda.guesses(goal), _GUESSES)
        left = [(number, state) for number, state in enumerate(some) if state not in self.tried]
        if not left:
            return None
        _, state = min(left, key=lambda item: item[0] + _AGAIN * self.agenda.pursued[goal.type, item[1]])
        self.agenda.pursued[goal.type, state] += 1
        return state

    def _anything(self) -> str:
        """A command of some action with any names that were ever seen, known to be here or not."""
        names = self.agenda.ledger.names.roles
        books = [
            book
            for book in self.agenda.ledger.books.values()
            if len(book.successes) > 1 and (book.template not in self.agenda.deadly or self.left <= _LAST_STEPS)
        ]
        if not books:
            return next(iter(self.game.admissible()), "look")
        book = self.dice.choice(books)
        chosen = []
        for roles in book.roles:
            fit = [name for name in names if not roles or roles <= names[name]]
            chosen.append(self.dice.choice(fit or list(names)))
        return fill(book.template, chosen)


def _unified(pattern: Atom, atom: Atom, variables: Sequence[str]) -> dict[str, str] | None:
    """What stands for which of some variables if a pattern is to be a fact; None where it is another."""
    if pattern.predicate != atom.predicate:
        return None
    bound: dict[str, str] = {}
    for arg, name in zip(pattern.args, atom.args, strict=True):
        if arg != ANYTHING and (bound.setdefault(arg, name) != name or arg not in variables):
            return None
    return bound
