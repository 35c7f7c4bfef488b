"""What may end the task, and is tried all the same where there is little to lose."""

from collections.abc import Iterator

from rpms.induction.evidence.attempts import Book
from rpms.induction.evidence.templates import fill
from rpms.induction.exploring.looking import Looking
from rpms.induction.thresholds import LIMITS


class Daring:
    """The risks that one episode takes."""

    def __init__(self, episode: Looking) -> None:
        self._episode = episode
        self._agenda = episode.agenda
        self._diary = episode.diary
        self._dice = episode.dice

    def dare(self) -> str:
        """What may end the task, with things here of which it may as well score; nothing as long as
        the episode has to be careful.
        """
        if not self._episode.dares or (
            self._episode.scored_with and self._episode.left > 2 * LIMITS.careful
        ):
            return ""
        best = LIMITS.hopeless
        chosen = ""
        for book, names in self.risky_trials():
            worth = self._worth_of_daring(book, names, best)
            if worth > best:
                best = worth
                chosen = fill(book.template, names)
        # what was never tried is tried at once; of what is less likely, more may be elsewhere
        return chosen if self._dice.random() * LIMITS.new_fact < best else ""

    def risky_trials(self) -> Iterator[tuple[Book, tuple[str, ...]]]:
        """Actions that often ended tasks, each with some names that are known here."""
        for template in self._agenda.deadly:
            book = self._agenda.ledger.books.get(template)
            if book is None:  # its names are known by now, and another template has its attempts
                continue
            roles = [tuple(sorted(role or self._diary.belief.names)) for role in book.roles]
            for _ in range(self._agenda.exploring.imagined):
                names = self._episode.names_around.draw(roles, self._dice)
                if names is not None:
                    yield book, names

    def _worth_of_daring(self, book: Book, names: tuple[str, ...], least: float) -> float:
        """How likely an action works and scores with things of some kinds, where goals have this
        topic; 0 where that is not worth more than the least.
        """
        goal = self._diary.goal
        topic = self._agenda.ledger.topic_of(goal)
        chance = self._agenda.chance_of_scoring(book, goal.type, topic, names)
        if chance <= least or self._episode.vain(fill(book.template, names)):
            return 0.0
        known = book.measure(self._diary.belief, names)
        for question in self._agenda.questions:
            if question.book is book:
                chance *= question.success(known.true, known.false)
        return chance
