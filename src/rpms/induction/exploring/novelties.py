"""Listed commands of actions that are hardly known, here or elsewhere."""

from collections.abc import Collection

from rpms.induction.evidence.templates import SLOT, pattern_of, verb_of
from rpms.induction.exploring.looking import Looking
from rpms.induction.thresholds import LIMITS
from rpms.worlds.base import by_verb


class Novelties:
    """The search of one episode for actions that nobody knows yet."""

    def __init__(self, episode: Looking) -> None:
        self._episode = episode
        self._agenda = episode.agenda
        self._diary = episode.diary
        self._game = episode.game
        self._dice = episode.dice

    def novelty(self) -> str:
        """A command that the game lists of an action that has hardly ever been seen: in a new
        context it is always asked for its list.
        """
        if not self._asks_for_list():
            return ""
        self._agenda.listings += 1
        found = self._new_commands()
        if not found:
            return ""
        self._agenda.novelties += 1
        if not self._agenda.ledger.hardly_won:
            return self._dice.choice(found)
        command = self._dice.choice(self._least_done(found))
        self._agenda.new_verbs[verb_of(command)] += 1
        return command

    def _asks_for_list(self) -> bool:
        """True in a new context, and now and then."""
        agenda = self._agenda
        if agenda.ledger.contexts.just_entered and self._is_eager:
            return True
        often = agenda.exploring.listing
        if agenda.ledger.hardly_won:  # it may list thousands: ask less where nothing new is found
            often *= (agenda.novelties + 1) / (agenda.listings + 1)
        return self._dice.random() < often

    @property
    def _is_eager(self) -> bool:
        """True if every new context is asked for its list: not where it may list thousands."""
        ledger = self._agenda.ledger
        return self._diary.learns and not (ledger.hardly_won and ledger.unlisted)

    def _new_commands(self) -> list[str]:
        """Listed commands of actions that are hardly known, one of each verb."""
        familiar: set[str] = set()
        for template, book in self._agenda.ledger.books.items():
            if book.succeeded >= LIMITS.familiar:
                familiar.add(template)
        some = [self._dice.choice(commands) for commands in by_verb(self._game.admissible())]
        found = []
        for command in some:
            is_known = self._is_familiar(command, familiar) or self._episode.vain(command)
            if not is_known and not self._episode.too_early(command):
                found.append(command)
        return found

    def _least_done(self, commands: Collection[str]) -> list[str]:
        """The commands whose first word has worked least, or was least tried as new: among
        hundreds of names that nobody knows, chance would find an action late.
        """
        done = self._agenda.ledger.done + self._agenda.new_verbs
        counts = {command: done[verb_of(command)] for command in commands}
        least = min(counts.values())
        return [command for command, count in counts.items() if count == least]

    def carry_elsewhere(self) -> str:
        """A way to a place of a kind where nobody has been with such a thing in hand, as long as an
        action that was never seen may well be listed there.
        """
        ledger = self._agenda.ledger
        belief = self._diary.belief
        if not belief.holding or not self._is_eager or not self._expects_news():
            return ""
        ways = []
        for command in self._game.admissible():
            if ledger.contexts.is_new(ledger.names.read(command), belief):
                ways.append(command)
        return self._dice.choice(ways) if ways else ""

    def _expects_news(self) -> bool:
        """True if an action that was never seen may well be listed somewhere."""
        ledger = self._agenda.ledger
        worked = [book for book in ledger.books.values() if book.succeeded]
        worth = LIMITS.first_success * ledger.contexts.chance_of_news(len(worked))
        return worth > LIMITS.informative

    def _is_familiar(self, command: str, familiar: Collection[str]) -> bool:
        """True if a command is of an action that is known well, be it with a name that nobody
        knows for one: `go to door to kitchen` goes to something, as `go to kitchen` does.
        """
        template = self._agenda.ledger.names.read(command).template
        if template in familiar:
            return True
        slots = template.count(SLOT)
        for each in familiar:
            if each.count(SLOT) >= max(1, slots) and pattern_of(each).fullmatch(command):
                return True
        return False
