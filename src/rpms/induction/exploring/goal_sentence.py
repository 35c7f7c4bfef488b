"""What the sentence of an episode's goal says to do, done or prepared."""

from collections import Counter

from rpms.induction.conclusions.ledger import mention_of
from rpms.induction.exploring.as_told import as_told
from rpms.induction.exploring.looking import Looking
from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import Instance
from rpms.logic.facts import Truth, kind_of


class GoalSentence:
    """The commands that the goal's own sentence says, in one episode."""

    def __init__(self, episode: Looking) -> None:
        self._episode = episode
        self._agenda = episode.agenda
        self._diary = episode.diary
        self._done: set[str] = set()
        """Commands that were given since the sentence says them."""
        self._prepared: Counter[str] = Counter()
        """By such command, the steps that were to lead to it."""

    def do_as_told(self) -> str:
        """A command that the goal's own sentence says, or a step towards one."""
        goal = self._diary.goal
        ledger = self._agenda.ledger
        names = ledger.names.known if ledger.unlisted else self._diary.belief.names
        found = as_told(self._agenda.questions, goal, names, self._done, self._episode.scored_with)
        for command, instance in found:
            if self._episode.vain(command) or self._episode.too_early(command, daring=True):
                continue
            if self._was_said_in_vain(command):
                continue
            step = self._do_or_prepare(command, instance)
            if step:
                return step
        return ""

    def _was_said_in_vain(self, command: str) -> bool:
        """True if an action often ended tasks of this topic with things that the goal names in the
        same way, and hardly ever scored.
        """
        ledger = self._agenda.ledger
        goal = self._diary.goal
        parts = ledger.names.read(command)
        book = ledger.books.get(parts.template)
        if book is None:
            return False
        mention = mention_of(goal, [kind_of(name) for name in parts.names])
        topic = ledger.topic_of(goal)
        alike = []
        for attempt in book.attempts:
            own = (attempt.goal_objects, attempt.goal_destinations, attempt.said)
            if (attempt.goal, attempt.topic) == (goal.type, topic) and own == mention:
                alike.append(attempt)
        lost = sum(each.lost for each in alike)
        scored = sum(each.scored for each in alike)
        return lost >= LIMITS.several and scored < LIMITS.hopeless * len(alike)

    def _do_or_prepare(self, command: str, instance: Instance) -> str:
        """A command that may be done now; else a step towards what it needs, for so long."""
        if instance.feasible(self._episode.situation) is not Truth.FALSE:
            self._done.add(command)
            return command
        self._prepared[command] += 1
        if self._prepared[command] > self._agenda.exploring.pursued:
            return ""
        return self._episode.begin(instance.preconditions)
