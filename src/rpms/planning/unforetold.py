"""Changes, and sights, that an action brought and that no line of the manual foretold."""

from collections.abc import Container, Iterator

from rpms.logic.actions import ActionSchema, Revelation
from rpms.logic.facts import Atom, Literal, Sort
from rpms.logic.rules import ANYTHING, ActiveRules, kept_with_rules
from rpms.planning.edges import UNSEEN
from rpms.planning.facts_at_stake import facts_made, wanted_facts
from rpms.planning.noticed import PlanNoticed, SurpriseKind, TriedAction
from rpms.planning.possible_facts import atoms_over
from rpms.planning.set_off import processes_by, processes_of
from rpms.planning.trust import COMPLETE, LinePart, ManualLine


def with_changes(noticed: PlanNoticed, done: TriedAction) -> PlanNoticed:
    """Facts on a command's things that changed or came to be known without a line that says so."""
    rules = done.rules
    instance = done.instance
    learned = noticed.trust.learned.get(done.key, ())
    changed = _unforetold(done, (*instance.schema.effects, *learned))
    shown_before = {one.atom for one in learned if isinstance(one, Revelation)}
    shown = [seen for seen in _shown(done) if seen.atom not in shown_before]
    if not changed and not shown:
        return noticed
    lacking = not facts_made(rules.all_actions).issuperset(one.signed for one in changed)
    trust = noticed.trust.learning(done.key, [*changed, *shown], lacking=lacking)
    line = ManualLine(done.key, LinePart.DOES, COMPLETE)
    for fact in changed:
        said = done.said(fact.bind(instance.binding))
        text = f"`{done.command}` changed what nobody foretold: {said}"
        noticed = noticed.with_(SurpriseKind.CHANGED, line, text, trust)
    return noticed.trusting(trust)


def _unforetold(done: TriedAction, known: Container[Literal | Revelation]) -> list[Literal]:
    """Changes that neither known lines of the action bring about nor processes that it may have
    set off, nor those that it may only have shown.
    """
    unknown = [fact for fact in _changed(done) if fact not in known]
    if not unknown:
        return []
    meanwhile = _going_on_meanwhile(done)
    set_off = _set_off(done)
    found: list[Literal] = []
    for fact in unknown:
        if fact.signed in meanwhile or fact.bind(done.instance.binding) in set_off:
            continue
        found.append(fact)
    return found


def _set_off(done: TriedAction) -> set[Literal]:
    """Facts that processes bring about which an action may have set off."""
    facts: set[Literal] = set()
    for process, binding in processes_of(done.rules, done.command, done.before, perhaps=True):
        facts.update(effect.bind(binding) for effect in process.effects)
    return facts


def _going_on_meanwhile(done: TriedAction) -> frozenset[Sort]:
    """Facts that processes of other commands bring about, by predicate and sign, where an action
    is a look: plants flower in time, and a look around shows it.
    """
    schema = done.instance.schema
    if schema.effects and not schema.observes:
        return frozenset()
    own = {id(process) for process, _ in processes_by(done.rules, done.command).found}
    return facts_made(one for one in done.rules.lore.processes if id(one) not in own)


def _changed(done: TriedAction) -> Iterator[Literal]:
    """Facts over an action's parameters that something wants and that were otherwise before."""
    rules = done.rules
    binding = done.instance.binding
    wanted = wanted_facts(rules)
    here = done.after.belief.location
    moved = here != done.before.belief.location
    for atom in _mattering(rules, done.instance.schema):
        args = tuple(map(binding.get, atom.args, atom.args))
        if moved and here not in args:
            continue  # said of the place left behind
        now = _turned(done, atom.predicate, args)
        if now is None:
            continue
        changed = Literal(atom, negated=not now)
        if changed.signed in wanted and not _is_implied(rules, changed):
            yield changed


def _turned(done: TriedAction, predicate: str, args: tuple[str, ...]) -> bool | None:
    """What a fact is now that was otherwise before; None if it is as it was, or if that is not
    known.
    """
    # The belief before was asked most of this in its own step, and remembers.
    was = done.before.value(predicate, args)
    if was is None:
        return None
    now = done.after.value(predicate, args)
    return None if now is was else now


def _is_implied(rules: ActiveRules, changed: Literal) -> bool:
    """True if another fact says as much: of what only one can be, others are not."""
    return changed.negated and bool(rules.predicates[changed.atom.predicate].exclusive)


def _shown(done: TriedAction) -> Iterator[Revelation]:
    """Unstated sights of an action that showed something."""
    binding = {**done.instance.binding, ANYTHING: UNSEEN}
    for seen in _sights(done.rules, done.instance.schema):
        predicate, args = seen.atom.bind(binding)
        if done.before.value(predicate, args) is not None:
            continue
        if done.after.value(predicate, args) is not None:
            yield seen


@kept_with_rules
def _mattering(rules: ActiveRules, schema: ActionSchema) -> tuple[Atom, ...]:
    """The facts over an action's parameters that something wants."""
    matters = {predicate for predicate, _ in wanted_facts(rules)}
    return tuple(atom for atom in atoms_over(rules, schema) if atom.predicate in matters)


@kept_with_rules
def _sights(rules: ActiveRules, schema: ActionSchema) -> tuple[Revelation, ...]:
    """Unstated facts that an action might reveal: those that other actions reveal, about each
    of its own things.
    """
    stated = {one.atom for one in schema.observes}
    found: list[Revelation] = []
    for other in rules.all_actions:
        for seen in other.observes:
            if ANYTHING not in seen.atom.args:
                continue
            about_own = [_sight_of(seen, name) for name in schema.variables]
            found += [sight for sight in about_own if sight.atom not in stated]
    return tuple(found)


def _sight_of(seen: Revelation, name: str) -> Revelation:
    """The same sight, of whatever it may show, at another thing."""
    binding = {arg: name for arg in seen.atom.args if arg != ANYTHING}
    given = tuple(clause.bind(binding) for clause in seen.given)
    return Revelation(seen.atom.bind(binding), given)
