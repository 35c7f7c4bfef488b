"""An episode of an exploration: its next command.

Each way to choose one has its own module; here is their order.
"""

from rpms.induction.evidence.templates import fill
from rpms.induction.exploring.daring import Daring
from rpms.induction.exploring.experimenter import Experimenter
from rpms.induction.exploring.goal_pursuit import GoalPursuit
from rpms.induction.exploring.goal_sentence import GoalSentence
from rpms.induction.exploring.looking import Looking
from rpms.induction.exploring.novelties import Novelties
from rpms.induction.exploring.standing import first_of
from rpms.induction.exploring.trying import Trying
from rpms.induction.exploring.ways_on import WaysOn
from rpms.logic.goal import UNKNOWN_GOAL
from rpms.worlds.base import by_verb


class Session(Looking):
    """One episode of an exploration: what to do next in it."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.experimenter = Experimenter(self.agenda, self)
        self.novelties = Novelties(self)
        self.trying = Trying(self)
        self.daring = Daring(self)
        self.ways_on = WaysOn(self)
        self.sentence = GoalSentence(self)
        self.pursuit = GoalPursuit(self, self.sentence, self.ways_on)

    def choose(self) -> str:
        """Next command."""
        if self.agenda.ledger.names.signatures and not (self._has_goal and self._rolls_to_stray()):
            command = self.experimenter.choose()
            if command or not self._has_goal:
                return command
        command, self.then = self.then, ""
        if command:
            return command
        ways = (
            self.try_seen,
            self.look_at_new_place,
            self._grope,
            self.novelties.novelty,
            self._look_around,
            self.novelties.carry_elsewhere,
            self._follow_agenda,
            self._listed,
            self._anything,
        )
        return first_of(ways)

    @property
    def _has_goal(self) -> bool:
        """True if there is something to be won; else all that can be learned is by experiment."""
        return self.diary.goal.type != UNKNOWN_GOAL

    def _look_around(self) -> str:
        """Now and then, a command that finds out what is unknown, in worlds where nothing has to
        be walked to.
        """
        if self.all_at_hand and self.dice.random() < self.agenda.exploring.looking:
            return self.find_out()
        return ""

    def _follow_agenda(self) -> str:
        """A step towards the goal, or an experiment."""
        if not self.agenda.questions:
            return ""
        return first_of((self._pursue_goal, self._wander, self._try_something))

    def _grope(self) -> str:
        """What the goal's sentence says, what may end the task, or a step to a new place: what is
        new is too much to be tried first.
        """
        if not self.about_goal or not self.gropes or self._rolls_to_stray():
            return ""
        return first_of((self.sentence.do_as_told, self.daring.dare, self.ways_on.to_new_place))

    def _pursue_goal(self) -> str:
        """A step towards the goal, if the episode is about it."""
        if not self.about_goal or self._rolls_to_stray():
            return ""
        return self.pursuit.towards_goal()

    def _wander(self) -> str:
        """Now and then, a step to a new place."""
        return self.ways_on.to_new_place() if self.ways_on.is_time_to_wander() else ""

    def _try_something(self) -> str:
        """An experiment, or a step towards one."""
        if self._rolls_to_stray():
            return ""
        command = self.trying.experiment() or self.trying.towards_target()
        return self.having_looked(command) if command else ""

    def _listed(self) -> str:
        """A command that the game lists, of any verb."""
        if self._rolls_to_stray():
            return ""
        listed = []
        for each in self.game.admissible():
            if not self.too_early(each):
                listed.append(each)
        if not listed:
            return ""
        verb = self.dice.choice(by_verb(listed))
        return self.having_looked(self.dice.choice(verb))

    def _rolls_to_stray(self) -> bool:
        """Roll the dice: now and then, a way to choose is passed over, so that what no plan
        foresees can come about. Each of the ways that follow a plan rolls for itself.
        """
        return self.dice.random() < self.agenda.exploring.astray

    def _anything(self) -> str:
        """A command of some action with any names that were ever seen, known to be here or not."""
        books = [book for book in self.agenda.ledger.books.values() if book.succeeded > 1]
        for book in self.dice.sample(books, len(books)):
            names = [self.dice.choice(self._ever_in(roles)) for roles in book.roles]
            command = fill(book.template, names)
            if not self.too_early(command):
                return command
        return next(iter(self.game.admissible()), "look")

    def _ever_in(self, roles: set[str] | None) -> list[str]:
        """The names that ever had all of some roles; all names where none had."""
        names = self.agenda.ledger.names.roles
        found = []
        for name in names:
            if not roles or roles <= names[name]:
                found.append(name)
        return found or list(names)
