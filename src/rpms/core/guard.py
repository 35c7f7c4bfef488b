"""The guard: an action is checked against the schemas, the rules and the belief before it reaches the world."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rpms.core.arbitration import infeasibility, prohibition
from rpms.core.belief import Situation
from rpms.core.facts import Clause, Literal, Truth
from rpms.core.rules import PARAMETER, ActionSchema, ActiveRules, Instance
from rpms.core.tokens import brief


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an action would fail or is forbidden, and what would help."""

    reason: str
    """The fact that stands against it: `drawer 3 is closed`; or the rule that forbids it."""
    rule: str
    remedy: str = ""
    """A command that would make the failing precondition true: `open drawer 3`."""
    forbidden: bool = False
    """Whether it may well be possible, but a rule forbids it."""

    @property
    def text(self) -> str:
        return f"{self.reason}; first: {self.remedy}" if self.remedy else self.reason


def review(command: str, rules: ActiveRules, situation: Situation) -> Refusal | None:
    """Refuse a command that is known to fail. What is unknown passes: only the world can tell."""
    objection = infeasibility(command, rules, situation)
    if objection is None or not objection.conflict:
        return None
    instance = rules.instance(command)
    if objection.clause is None or instance is None:
        return Refusal(objection.reason, objection.rule)
    for literal in objection.clause.literals:
        remedy = _find_remedy(literal, instance, rules, situation)
        if remedy:
            return Refusal(rules.say(literal.atom, situation.truth(literal.atom)), objection.rule, remedy)
    root = _root(objection.clause, instance, rules, situation)
    return Refusal(rules.say(root.atom, situation.truth(root.atom)), objection.rule)


def review_rules(command: str, rules: ActiveRules, situation: Situation) -> Refusal | None:
    """Refuse a command that a rule forbids, all conditions of the prohibition being known to hold."""
    objection = prohibition(command, rules, situation)
    if objection is None or not objection.conflict:
        return None
    text = next(rule.text for rule in rules.rules if rule.id == objection.rule)
    return Refusal(f"{objection.rule} forbids it: {text.rstrip('.')}", objection.rule, forbidden=True)


def ask_again(command: str, refusal: Refusal) -> str:
    """What a model is told when its action was not executed."""
    what = f"`{brief(command)}`" if command else "Your answer"
    return f"{what} was not executed: {brief(refusal.text, 400)}. Choose another action."


@dataclass(frozen=True, slots=True)
class _Way:
    """An action that would make a fact so. Parameters that the fact does not name are left open."""

    schema: ActionSchema
    binding: Mapping[str, str]
    main: bool
    """Whether that fact is what the action is for, its first effect."""

    @property
    def command(self) -> str:
        """The command, if nothing in it is left open."""
        text = PARAMETER.sub(lambda match: self.binding.get(match[1], match[0]), self.schema.syntax[0])
        return "" if PARAMETER.search(text) else text

    def fixed(self, rules: ActiveRules) -> Iterator[Clause]:
        """The preconditions that no action changes and that are about nothing left open."""
        changing = {effect.atom.predicate for schema in rules.environment for effect in schema.effects}
        for clause in self.schema.preconditions:
            atoms = [literal.atom for literal in clause.literals]
            known = all(arg in self.binding or arg not in self.schema.parameters for atom in atoms for arg in atom.args)
            if known and changing.isdisjoint(atom.predicate for atom in atoms):
                yield clause.bind(self.binding)


def _ways_to(wanted: Literal, rules: ActiveRules, names: tuple[str, ...]) -> Iterator[_Way]:
    for schema in rules.environment:
        for place, effect in enumerate(schema.effects):
            if (effect.atom.predicate, effect.negated) == (wanted.atom.predicate, wanted.negated):
                yield _Way(schema, dict(zip(effect.atom.args, names, strict=True)), not place)


def _find_remedy(
    wanted: Literal, instance: Instance, rules: ActiveRules, situation: Situation, *, further: bool = True
) -> str:
    """A command of the manual that would make a failing precondition of an action true, and which can be done now.

    Where that command itself cannot be done, with `further` the one that would make it possible.
    """
    for names in _stand_ins(wanted, rules, situation):
        for way in _ways_to(wanted, rules, names):
            remedy = rules.instance(way.command) if way.command else None
            if remedy is None or _undoes(remedy, instance, situation):
                continue
            objection = infeasibility(way.command, rules, situation)
            if objection is None or not objection.conflict:
                return way.command
            for literal in objection.clause.literals if objection.clause and further else ():
                before = _find_remedy(literal, remedy, rules, situation, further=False)
                if before:
                    return before
    return ""


def _undoes(remedy: Instance, asked: Instance, situation: Situation) -> bool:
    """Whether all that was asked for is so already, and the remedy would only undo it to have it done again."""
    if not all(effect.truth(situation) is Truth.TRUE for effect in asked.effects):
        return False
    return any(Literal(effect.atom, not effect.negated) in remedy.effects for effect in asked.effects)


def _stand_ins(wanted: Literal, rules: ActiveRules, situation: Situation) -> Iterator[tuple[str, ...]]:
    """What a fact is about; where all that is in one place shares it, also where its object was last seen."""
    atom = wanted.atom
    yield atom.args
    predicate = rules.predicates.get(atom.predicate)
    if len(atom.args) == 1 and predicate is not None and predicate.exclusive not in ("", "always"):
        place = situation.belief.last_seen.get(atom.args[0])
        if place is not None:
            yield (place,)


def _root(clause: Clause, instance: Instance, rules: ActiveRules, situation: Situation) -> Literal:
    """What stands for good against a precondition that nothing helps with; the precondition itself, if nothing does.

    Going to a place that is not there fails since it is not there, and so does all that is to be done at it: where the
    action names it as a place, too. Of several literals one is passed over if it is not even known whether there could
    be a way to it: `examine` works on what is held or stands here, and nobody wants to hold a fridge.
    """
    for literal in clause.literals:
        doubtful = False
        for way in _ways_to(literal, rules, literal.atom.args):
            for fixed in way.fixed(rules) if way.main else ():
                value = fixed.truth(situation)
                if value is Truth.FALSE and way.binding.items() <= instance.binding.items():
                    return fixed.literals[0]
                doubtful = doubtful or value is Truth.UNKNOWN
        if not doubtful:
            return literal
    return clause.literals[0]
