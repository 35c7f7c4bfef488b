"""The score in an exploration: what is known to score is done, and then what may."""

from __future__ import annotations

from rpms.core.facts import Truth
from rpms.learn.rules.standing import Standing
from rpms.learn.rules.venture import Prospect

_STAYING = 0.5
"""How often experiments are made where nothing is known that may score, rather than going elsewhere."""


class Scoring(Standing):
    """What is done for the score."""

    def towards_score(self) -> str:
        """The next step towards what scores; nothing where nothing is known to score now."""
        plan = self.agenda.player(self.diary.goal).plan(self.situation, seek=False)
        fair = (each for each in plan.options if not any(self.vain(link.command) for link in each.chain))
        option = next(fair, None)
        if option is not None:
            self.ventures.pursued, self.ahead = None, []
        return option.command if option is not None else ""

    def venture(self) -> str:
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
            command = "" if self.vain(prospect.command) else self._prepare(prospect)
            if not command or command == prospect.command:
                ventures.give_up(prospect)
            if command:
                return command
        return ""

    def _prepare(self, prospect: Prospect) -> str:
        """A prospect, if all that it needs holds, or the next step towards that; nothing where there is none."""
        if all(clause.truth(self.situation) is Truth.TRUE for clause in prospect.needs):
            return prospect.command
        if (going := self.go_on()) is not None:
            return going
        plan = self.agenda.towards(prospect.needs).plan(self.situation, seek=False)
        option = next((each for each in plan.options if not self.vain(each.command)), None)
        if option is None:
            return ""
        self.ahead = [link.command for link in option.chain[1:]] if not option.chain[0].reveals else []
        return option.command

    def elsewhere(self) -> str:
        """Some way to another place, now and then: what can be done next may be seen there."""
        ledger = self.agenda.ledger
        if self.dice.random() < _STAYING:
            return ""
        listed = [
            command
            for command in self.game.admissible()
            if not self.vain(command)
            and (linked := ledger.linked.get(ledger.names.read(command).template)) is not None
            and linked.moves
        ]
        return self.dice.choice(listed) if listed else ""
