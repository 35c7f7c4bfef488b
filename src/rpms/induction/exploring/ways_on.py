"""Ways to other places in one episode: where the agent has not been, and behind what is shut."""

from collections.abc import Container, Iterable

from rpms.induction.evidence.templates import verb_of
from rpms.induction.exploring.looking import Looking
from rpms.induction.thresholds import LIMITS


class WaysOn:
    """Steps to other places: by plans, by listed commands, and by what may open a refused way."""

    def __init__(self, episode: Looking) -> None:
        self._episode = episode
        self._agenda = episode.agenda
        self._game = episode.game
        self._dice = episode.dice
        self._unlocking: set[tuple[str, str]] = set()
        """Refused ways, each with the first word of a command that was to open it."""
        self._opened: set[str] = set()
        """Commands that were given to open ways."""

    def is_time_to_wander(self) -> bool:
        """True now and then between experiments, since other things to try are elsewhere."""
        if self._episode.about_goal or not self._agenda.ledger.hardly_won:
            return False
        return bool(self._episode.wandering.heading) or self._dice.random() < LIMITS.wandering

    def to_new_place(self) -> str:
        """The next step to the nearest place where the agent has not been in this episode, while
        tasks score on the way and are hardly ever won; nothing where no way is known.
        """
        ledger = self._agenda.ledger
        given_up = (
            self._episode.wandering.tries > self._agenda.exploring.pursued and not ledger.unlisted
        )
        if not ledger.hardly_won or given_up:
            return ""
        return self._as_planned() or self._some_move() or self._unlock()

    def _as_planned(self) -> str:
        """The next step of a plan to a new place; nothing after some that did not get there."""
        wandering = self._episode.wandering
        if wandering.tries > self._agenda.exploring.pursued:
            return ""
        command = self._episode.go_on() if wandering.heading else ""
        if command:
            return command
        wanted = wandering.new_places(self._episode.situation, self._agenda.reasoner())
        wandering.tries += 1
        command = self._episode.begin(wanted) if wanted else ""
        wandering.heading = wanted if command else ()
        return command

    def _some_move(self) -> str:
        """A listed command to a new place, for as long as no plan knows the way: one that begins as
        commands do that have moved the agent. Where the belief lists no places, else one that often
        came before such, else one that leads back.
        """
        moves = self._promising(self._agenda.ledger.moving)
        some = [command for command in moves if not self._leads_back(command)]
        if not some and self._agenda.ledger.unlisted:
            some = self._likeliest_keys() or moves
        if not some:
            return ""
        found = self._dice.choice(some)
        self._opened.add(found)
        return found

    def _promising(self, verbs: Container[str]) -> list[str]:
        """Listed commands that begin with some verbs, and were not in vain."""
        found = []
        for command in self._game.admissible():
            if verb_of(command) in verbs and not self._episode.vain(command):
                found.append(command)
        return found

    def _leads_back(self, command: str) -> bool:
        """True if a command names a place where the agent has been."""
        return any(place in command for place in self._episode.wandering.been)

    def _likeliest_keys(self) -> list[str]:
        """Listed commands that may open a way, and were not given: those that begin as commands do
        that most surely come before a move.
        """
        ledger = self._agenda.ledger
        shares = {}
        for command in self._promising(ledger.opening):
            is_move = verb_of(command) in ledger.moving
            if not is_move and command not in self._opened and not self._leads_back(command):
                shares[command] = self._share_before_moves(command)
        most = max(shares.values(), default=0.0)
        return [command for command, share in shares.items() if share == most]

    def _share_before_moves(self, command: str) -> float:
        ledger = self._agenda.ledger
        verb = verb_of(command)
        return ledger.opening[verb] / (ledger.done[verb] + 1)

    def _unlock(self) -> str:
        """A command that changes something about what a refused way names, the shortest of a verb
        that was not tried for it; right after it, the way is tried again.
        """
        refused_ways = list(filter(self._may_be_a_way, self._episode.failures))
        changing = self._changing_verbs()
        if not refused_ways or not changing:
            return ""
        listed = []
        for command in self._game.admissible():
            if verb_of(command) in changing:
                listed.append(command)
        for way in refused_ways:
            command = self._key_to(way, listed)
            if command:
                self._unlocking.add((way, verb_of(command)))
                self._episode.then = way
                return command
        return ""

    def _changing_verbs(self) -> set[str]:
        """The first words of commands that change something else than where the agent is."""
        found = set()
        for schema in self._agenda.schemas:
            if schema.effects:
                found.add(verb_of(schema.syntax[0]))
        return found - self._agenda.ledger.moving.keys()

    def _may_be_a_way(self, command: str) -> bool:
        """True if a command begins as those do that have moved the agent; as long as none has,
        if it begins as none that ever worked.
        """
        ledger = self._agenda.ledger
        verb = verb_of(command)
        if ledger.moving:
            return verb in ledger.moving
        return not ledger.done[verb]

    def _key_to(self, way: str, listed: Iterable[str]) -> str:
        """The shortest command about what a way names, of a verb not tried for it; nothing where
        there is none.
        """
        names = self._agenda.ledger.names.read(way).names
        found = []
        for command in listed:
            is_about = any(name in command for name in names)
            is_new = (way, verb_of(command)) not in self._unlocking
            if (
                is_about
                and is_new
                and not self._episode.vain(command)
                and not self._episode.too_early(command)
            ):
                found.append(command)
        return min(found, key=len, default="")

    def elsewhere(self) -> str:
        """Some way to another place, now and then: what can be done next may be seen there."""
        ledger = self._agenda.ledger
        if self._dice.random() < LIMITS.staying:
            return ""
        moves = {template for template, linked in ledger.linked.items() if linked.moves}
        listed = []
        for command in self._game.admissible():
            if ledger.names.read(command).template in moves and not self._episode.vain(command):
                listed.append(command)
        return self._dice.choice(listed) if listed else ""
