"""One episode of an exploration: what is being pursued in it, step by step."""

from __future__ import annotations

from collections import Counter
from itertools import islice

from rpms.core.facts import Truth, kind_of
from rpms.core.planning.achievers import command_of
from rpms.core.planning.reason import Plan
from rpms.core.rules import Instance
from rpms.learn.rules.looking import Looking
from rpms.learn.rules.question import Question
from rpms.learn.rules.scoring import Scoring
from rpms.learn.rules.standing import LAST_STEPS
from rpms.learn.rules.templates import draw, fill
from rpms.learn.rules.wins import State
from rpms.worlds.base import by_verb

_GUESSES = 60
"""Guesses at what a goal wants that are weighed against each other."""
_AGAIN = 5
"""How many simpler guesses a guess lets go first for each time that it was pursued already."""
_FAMILIAR = 6
"""Successes of an action from which on it is no novelty."""
_WORTH_IT = 0.9
"""What has to be gained by an experiment for it to be made where nothing prepares it."""

_ANY_KIND, _FITTING = 0.4, 0.3
"""How often an action is imagined with any kinds, and with kinds that have worked in every slot."""


class Session(Looking, Scoring):
    """One episode of an exploration: what to do next in it."""

    def choose(self) -> str:
        """What to do next."""
        agenda = self.agenda
        command, self.then = self.then, ""
        if command or (command := self.try_seen() or self._novelty()):
            return command
        if self.all_at_hand and self.dice.random() < agenda.how.looking and (command := self.find_out()):
            return command
        if agenda.questions:
            if self.about_goal and not self._astray() and (command := self._towards_goal()):
                return command
            if not self._astray():
                command = self._experiment() or self._towards_target()
                if command:
                    return self.having_looked(command)
        if not self._astray() and (listed := [each for each in self.game.admissible() if not self.too_early(each)]):
            return self.having_looked(self.dice.choice(self.dice.choice(by_verb(listed))))
        return self._anything()

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
            if new and not self.vain(command) and not self.too_early(command):
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
            if self.vain(command) or self.too_early(command):
                continue
            gain, about = question.gain(*question.book.measure(self.diary.belief, names), tuple(map(kind_of, names)))
            if gain > best:
                best, choice = gain, (command, question.asked, about)
        command, asked, about = choice
        asked[about] += 1
        return command

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
            if (going := self.go_on()) is not None:
                return going
            remedy = self.agenda.reasoner(frozenset()).remedy(self.target, self.situation)
            if remedy.command and not self.vain(remedy.command):
                self.ahead = list(remedy.after)
                return remedy.command
            self.target = None
        return self.look()

    def _new_target(self) -> Instance | None:
        """An action with kinds that were never tried together, of the actions that succeeded least."""
        best, found = 0.0, None
        for question in self._some_questions():
            names = self._imagine(question)
            if names is None or self.too_early(fill(question.book.template, names)):
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
            return self.towards_score() or self.venture() or self.elsewhere()
        for _ in range(4):
            if self.wanted is None or self.patience <= 0:
                if self.wanted is not None:
                    self.tried.add(self.wanted)
                self.wanted, self.patience, self.ahead = self._new_guess(), 2 * agenda.how.pursued, []
            if self.wanted is None:
                return ""
            self.patience -= 1
            if (going := self.go_on()) is not None:
                return going
            plan: Plan = agenda.reasoner(self.wanted).plan(self.situation, seek=False)
            options = [option for option in plan.options if not self.vain(option.command)]
            if plan.cost > 0 and options:
                self.ahead = [link.command for link in options[0].chain[1:]] if not options[0].chain[0].reveals else []
                return options[0].command
            self.tried.add(self.wanted)
            self.wanted = None
        return ""

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
            if len(book.successes) > 1 and (book.template not in self.agenda.deadly or self.left <= LAST_STEPS)
        ]
        if not books:
            return next(iter(self.game.admissible()), "look")
        book = self.dice.choice(books)
        chosen = []
        for roles in book.roles:
            fit = [name for name in names if not roles or roles <= names[name]]
            chosen.append(self.dice.choice(fit or list(names)))
        return fill(book.template, chosen)
