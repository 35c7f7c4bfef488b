"""Commands that plans leave out: those that came to nothing, as long as all will be as it was
then.
"""

from collections.abc import Container, Mapping, Sequence

from rpms.logic.actions import ActionSchema
from rpms.planning.commands_refused import Barred, Surroundings
from rpms.planning.edges import Edge
from rpms.planning.ground import Ground
from rpms.planning.wanted_facts import Fact, NamedFact


class BarredCommands:
    """The commands that plans leave out in one situation."""

    def __init__(self, ground: Ground, barred: Barred) -> None:
        self._ground = ground
        self.barred = barred
        self._begins: dict[str, bool] = {}
        """True for beginnings of commands if some barred command has them."""

    def may_have(self, schema: ActionSchema) -> bool:
        """True if some barred command begins as an action's do: most actions have none."""
        if not self.barred:
            return False
        begins = schema.pieces[0]
        if begins not in self._begins:
            commands = [key if isinstance(key, str) else key[0] for key in self.barred]
            self._begins[begins] = any(command.startswith(begins) for command in commands)
        return self._begins[begins]

    def has(self, edge: Edge, schema: ActionSchema) -> bool:
        """True if a command was refused, or showed nothing, where all was as the needs of an
        edge, by some action, will make it.
        """
        barred = self.barred
        if edge.command in barred and self._is_idle_or_as_then(barred[edge.command], edge.needs):
            return True
        if not edge.reveals:
            return False
        times = barred.get((edge.command, edge.fact.predicate, edge.fact.args))
        if times is None:
            return False
        positional = self._ground.index.positional
        moves = any(effect.atom.predicate in positional for effect in schema.effects)
        return any(self._as_then(then, edge.needs, moving=moves) for then in times)

    def _is_idle_or_as_then(
        self, times: Sequence[Surroundings] | None, needs: Sequence[Fact]
    ) -> bool:
        """True if all will be as one of the times when a command was refused, once some needs are
        met.

        An idle command, which led back to this very state, has no such times (None): it is barred
        unless something is to be done first.
        """
        if times is None:
            return not needs
        return any(self._as_then(then, needs) for then in times)

    def _as_then(self, then: Surroundings, needs: Sequence[Fact], *, moving: bool = False) -> bool:
        """True if all will be as it was then, once some needs are met, or after a move: that
        changes where things are, so that such facts are not compared.
        """
        positional = self._ground.index.positional
        moving = moving or any(need.predicate in positional for need in needs)
        if not moving and not self._is_agent_as_then(then):
            return False
        facts = dict(then.facts)
        met = {(need.predicate, need.args): not need.negated for need in needs}
        if not met.keys() <= facts.keys():
            return False
        left_behind = positional if moving else ()
        return all(self._is_as_then(fact, was, met, left_behind) for fact, was in facts.items())

    def _is_as_then(
        self,
        fact: NamedFact,
        was: bool | None,
        met: Mapping[NamedFact, bool],
        left_behind: Container[str],
    ) -> bool:
        """True if a fact will be what it was, once some needs are met; one about where things
        are is left behind by a move, whatever it was.
        """
        if fact in met:
            return met[fact] is was
        predicate, args = fact
        return predicate in left_behind or self._ground.situation.value(predicate, args) is was

    def _is_agent_as_then(self, then: Surroundings) -> bool:
        """True if the agent is where it was then, with the same things."""
        belief = self._ground.situation.belief
        return then.location == belief.location and then.holding == belief.holding


def commands_barred_otherwise(one: Barred, other: Barred) -> set[str]:
    """The commands that are barred in one way and in another way not, or not alike."""
    keys = [key for key in one.keys() | other.keys() if one.get(key, key) != other.get(key, key)]
    return {key if isinstance(key, str) else key[0] for key in keys}
