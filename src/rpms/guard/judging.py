"""The judgement of one call, by a manual and the known facts. Needs are judged before policies, and
known facts before unknown ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, NamedTuple

from rpms.foreign.shown import excerpt
from rpms.guard.call_facts import NOTHING, Absent, CallFacts
from rpms.guard.calls import (
    CALL_IT_WITH,
    GIVEN,
    OTHER,
    PROMPT,
    RESOURCE,
    USER,
    Allow,
    Ask,
    Call,
    Modify,
    OnUnknown,
    Policy,
    Refuse,
    Ruling,
    Warn,
)
from rpms.guard.comparisons import MISSING, loosened, text_of
from rpms.guard.json_facts import Path
from rpms.guard.provenance import PREDICATES
from rpms.logic.facts import Atom, Clause, Truth
from rpms.logic.rules import Tier

_SHOWN = 4
"""Facts that are named in a reason."""
_GRAVITY: tuple[type[Ruling], ...] = (Allow, Warn, Ask, Refuse)
_IF_UNKNOWN: Mapping[OnUnknown, type[Ruling]] = {
    OnUnknown.PASS: Allow,
    OnUnknown.WARN: Warn,
    OnUnknown.ASK: Ask,
    OnUnknown.REFUSE: Refuse,
}
_SEPARATED = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """A rule's judgement of the call."""

    by: Policy
    broken: Truth
    text: str = ""
    facts: tuple[Atom, ...] = ()
    """Facts that decide it, or are not known."""


def findings(facts: CallFacts) -> Iterator[RuleFinding]:
    """Judgements of each rule that concerns the call's tool."""
    whole = _Case(facts)
    cases: dict[object, Sequence[_Case]] = {}  # shared by policies about the same elements
    for policy in facts.manual.rules.get(facts.call.tool, ()):
        if not policy.each:
            yield _finding(policy, (whole,))
            continue
        about = tuple(policy.each.items())
        if about not in cases:
            elements = _elements(policy.each, facts)
            cases[about] = [_Case(facts, whole, element) for element in elements]
        yield _finding(policy, cases[about])


def _finding(policy: Policy, cases: Iterable[_Case]) -> RuleFinding:
    """The gravest thing that a rule says, over all elements that it is about."""
    gravest = RuleFinding(policy, Truth.FALSE)
    for case in cases:
        breach = case.breach_of(policy)
        if breach.broken is Truth.TRUE:
            return _with_deciding_facts(policy, breach, case)
        if breach.broken is Truth.UNKNOWN and gravest.broken is Truth.FALSE:
            gravest = _with_deciding_facts(policy, breach, case)
    return gravest


class _Breach(NamedTuple):
    """Truth of a rule being broken, in one case."""

    broken: Truth
    wanted: Clause | None
    """The requirement that decides it; None where the rule only forbids."""


class _Answer(NamedTuple):
    """A fact with the call's values, and its truth."""

    atom: Atom
    truth: Truth


class _Case(dict[Atom, _Answer]):
    """Facts of a rule, each with the call's values and its truth, for one set of elements.

    A fact about none of these elements is asked once, in the case of the whole call, for all sets.
    """

    def __init__(
        self, facts: CallFacts, whole: _Case | None = None, of: Mapping[str, Any] = NOTHING
    ) -> None:
        super().__init__()
        self.facts = facts
        self._whole = whole
        self._variables = of

    def __missing__(self, atom: Atom) -> _Answer:
        heads = {Path.parse(arg).head for arg in atom.args if arg.startswith("<")}
        if self._whole is not None and heads.isdisjoint(self._variables):
            answer = self._whole[atom]
        else:
            bound = next(self.facts.bind(atom, self._variables))
            named = atom if atom.predicate == GIVEN else bound
            answer = _Answer(named, self.facts.truth_of(bound))
        self[atom] = answer
        return answer

    def truth(self, atom: Atom, /) -> Truth:
        return self[atom].truth

    def breach_of(self, policy: Policy) -> _Breach:
        """Judge if a rule is broken: it applies, and one of its requirements does not hold."""
        scope = self._applies(policy)
        if scope is Truth.FALSE or not policy.requires:
            return _Breach(scope, None)
        undecided: Clause | None = None
        for wanted in policy.requires:
            value = self._holds(wanted)
            if value is Truth.FALSE and scope is Truth.TRUE:
                return _Breach(Truth.TRUE, wanted)
            if value is not Truth.TRUE and undecided is None:
                undecided = wanted
        return _Breach(Truth.FALSE if undecided is None else Truth.UNKNOWN, undecided)

    def _applies(self, policy: Policy) -> Truth:
        """Truth of a rule applying to the call: all its conditions hold."""
        scope = Truth.TRUE
        for clause in policy.when:
            scope &= self._holds(clause)
            if scope is Truth.FALSE:
                break
        return scope

    def _holds(self, clause: Clause) -> Truth:
        """Truth of a condition; of sources that it names for one value, each part of the value
        may have another.
        """
        held = clause.truth(self)
        if held is Truth.TRUE or len(clause.literals) < 2:
            return held
        sources: dict[str, list[Atom]] = {}
        for literal in clause.literals:
            if literal.atom.predicate in PREDICATES and not literal.negated:
                bound, _ = self[literal.atom]
                sources.setdefault(bound.args[0], []).append(bound)
        for atoms in sources.values():
            if len(atoms) > 1:
                held |= self.facts.from_one_of(atoms)
        return held


def _elements(paths: Mapping[str, Path], facts: CallFacts) -> list[Mapping[str, Any]]:
    """The values of a policy's variables, element by element, several lists side by side."""
    lists = [_list_at(path, facts) for path in paths.values()]
    elements: list[Mapping[str, Any]] = []
    for values in zip_longest(*lists, fillvalue=MISSING):
        elements.append(dict(zip(paths, values, strict=True)))
    return elements


def _list_at(path: Path, facts: CallFacts) -> list[Any]:
    """The elements at a path; one that is missing where there is no list."""
    whole = path
    if path.steps[-1] == "*":
        whole = Path(path.head, path.steps[:-1])
    if all(isinstance(one, list | dict) for one in facts.values_at(whole)):
        return facts.values_at(path)
    return [MISSING]


class _Weighed(NamedTuple):
    """A fact of a rule, with the call's values."""

    atom: Atom
    value: Truth
    negated: bool


def _with_deciding_facts(policy: Policy, breach: _Breach, case: _Case) -> RuleFinding:
    """Judgement of a rule that is broken, or may be, with the facts that decide it."""
    required = _weighed(breach.wanted, case) if breach.wanted is not None else []
    scope: list[_Weighed] = []
    for clause in policy.when:
        scope += _weighed(clause, case)
    decisive = _decisive(scope, required, breach.broken)
    text = policy.rule.text
    if policy.rule.tier is Tier.ENVIRONMENT:
        say = case.facts.manual.say
        text += " or ".join(say(each.atom, Truth.of(not each.negated)) for each in required)
    return RuleFinding(policy, breach.broken, text, tuple(each.atom for each in decisive))


def _decisive(
    scope: Sequence[_Weighed], required: Sequence[_Weighed], broken: Truth
) -> list[_Weighed]:
    """Facts that decide a rule. If it may be broken, the unknown ones; if it is broken, those that
    it requires, or else those that make it apply.
    """
    if broken is Truth.UNKNOWN:
        return [each for each in (*scope, *required) if each.value is Truth.UNKNOWN]
    if required:
        return list(required)
    return [each for each in scope if each.value is Truth.of(not each.negated)]


def _weighed(clause: Clause, case: _Case) -> list[_Weighed]:
    """The facts of a clause, with their truth in a case."""
    return [_Weighed(*case[each.atom], each.negated) for each in clause.literals]


class Judgement(NamedTuple):
    """The ruling on a call."""

    facts: CallFacts
    """Facts of the call that the ruling is about: the one that was judged, or the one to make in
    its place."""
    ruling: Ruling


def judge(facts: CallFacts, *, can_modify: bool = False, approved: bool = False) -> Judgement:
    """The ruling on a call.

    Calls are changed first, one rule after another, and what comes of that is judged as any call
    is. A rule that changed the call and is still broken refuses it. What a person decides is not
    asked again of a call that was `approved`.
    """
    mending = _mend(facts)
    changed = mending.facts
    mended = mending.rules
    ruling = _gravest(changed, approved=approved)
    if not mended or not ruling.goes_on:
        return Judgement(changed, ruling)
    first = mended[0]
    reasons = [first.text.rstrip(".")]
    reasons += [f"{each.by.rule.id}: {each.text.rstrip('.')}" for each in mended[1:]]
    if isinstance(ruling, Warn):
        reasons.append(ruling.text)
    said = {
        "reason": "; ".join(reasons),
        "rule": first.by.rule.id,
        "fact": _said(first, facts),
        "remedy": CALL_IT_WITH + _set_arguments(mended, changed.call),
    }
    if not can_modify:
        return Judgement(facts, Refuse(**said))
    return Judgement(changed, Modify(**said, call=changed.call))


class _Mended(NamedTuple):
    """The facts of a call after broken rules have set its arguments, and those rules."""

    facts: CallFacts
    rules: list[RuleFinding]


def _mend(facts: CallFacts) -> _Mended:
    """Let each broken rule set the arguments that it sets, once."""
    mended: dict[str, RuleFinding] = {}
    if not any(rule.sets for rule in facts.manual.rules.get(facts.call.tool, ())):
        return _Mended(facts, [])
    while True:
        found = _first_to_mend(facts)
        if found is None or found.by.rule.id in mended:
            return _Mended(facts, list(mended.values()))
        mended[found.by.rule.id] = found
        arguments = {**facts.call.arguments, **found.by.sets}
        facts = replace(facts, call=replace(facts.call, arguments=arguments))


def _first_to_mend(facts: CallFacts) -> RuleFinding | None:
    for found in findings(facts):
        if found.by.sets and found.broken is Truth.TRUE:
            return found
    return None


def _set_arguments(mended: Sequence[RuleFinding], call: Call) -> str:
    """The arguments that rules have set, as a person reads them."""
    words: dict[str, str] = {}
    for each in mended:
        for name in each.by.sets:
            words[name] = f"{name}={text_of(call.arguments[name])}"
    return ", ".join(words.values())


def _said(found: RuleFinding, facts: CallFacts) -> str:
    """The facts that decide, in the manual's words."""
    return "; ".join(dict.fromkeys(facts.say(atom) for atom in found.facts[:_SHOWN]))


def _gravest(facts: CallFacts, *, approved: bool) -> Ruling:
    """The gravest ruling of all rules: known to be broken, then unknown, then for a person to
    decide.
    """
    other = _undeclared(facts)
    if other is not None:
        return other
    gravest: Ruling = Allow()
    for found in findings(facts):
        ruling = _ruling_of_rule(found, facts, approved=approved)
        if isinstance(ruling, Refuse) and found.broken is Truth.TRUE:
            return ruling
        if _GRAVITY.index(type(ruling)) > _GRAVITY.index(type(gravest)):
            gravest = ruling
    return gravest


def _ruling_of_rule(found: RuleFinding, facts: CallFacts, *, approved: bool) -> Ruling:
    """The ruling that one rule gives; a rule that is kept, or that a person has approved, allows
    the call.
    """
    if found.broken is Truth.FALSE:
        return Allow()
    kind = _kind_of(found)
    if kind is Allow or (kind is Ask and approved):
        return Allow()
    return kind(found.text, found.by.rule.id, _said(found, facts), _remedy(found, facts))


def _kind_of(found: RuleFinding) -> type[Ruling]:
    """The ruling that a rule gives which is broken, or may be."""
    policy = found.by
    if found.broken is not Truth.TRUE:
        kind = _IF_UNKNOWN[policy.unknown]
        # a rule that only warns when it is broken does no more when that is unknown
        return Warn if policy.warns and kind is not Allow else kind
    if policy.warns:
        return Warn
    return Ask if policy.asks else Refuse


def _remedy(found: RuleFinding, facts: CallFacts) -> str:
    """Advice: the rule's own first if it is broken, and last if that is unknown."""
    if found.broken is Truth.TRUE:
        return found.by.instead or _way_to(found, facts)
    return _lookup(found, facts) or found.by.instead


def _undeclared(facts: CallFacts) -> Ruling | None:
    """The ruling on names that are not declared.

    One that only seems to be another is never let through unseen.
    """
    manual = facts.manual
    name = facts.call.tool
    if _joined(name) == _joined(USER):
        reason = "the user's words come from the user, not from a call"
        return Refuse(reason, OTHER, "", "ask the user")
    if name in manual.tools:
        return _misspelled(facts)
    declared = next((each for each in manual.tools if _may_be_meant(each, name)), None)
    if declared is not None:
        reason = f"the manual declares {declared}, not {name}: no rule would be asked"
        return Refuse(reason, OTHER, "", f"call {declared}; or declare {name} in the manual")
    if manual.others is OnUnknown.PASS:
        return None
    reason = f"the manual does not declare {facts.call.thing}"
    remedy = "use one of the declared tools"
    if name in (RESOURCE, PROMPT):
        reason = f"the manual lets nobody read {facts.call.thing}"
        remedy = f"tell the operator, who may declare it as the tool {name}"
    return _IF_UNKNOWN[manual.others](reason, OTHER, "", remedy)


def _may_be_meant(declared: str, name: str) -> bool:
    """True if a tool's name seems to be another's: with the same letters, or after a prefix."""
    if _joined(name) == _joined(declared):
        return True
    end = _SEPARATED.sub("_", loosened(declared)).strip("_")
    return _SEPARATED.sub("_", loosened(name)).strip("_").endswith(f"_{end}")


def _misspelled(facts: CallFacts) -> Ruling | None:
    """The ruling on arguments that some readers take for declared ones."""
    known = {loosened(each): each for each in facts.manual.tools[facts.call.tool].arguments}
    for odd in facts.call.arguments.keys() - set(known.values()):
        meant = known.get(loosened(odd))
        if meant:
            reason = f"the argument {excerpt(odd)} may be read as {meant}"
            return Refuse(reason, OTHER, "", f"write {meant}")
    return None


def _joined(name: str) -> str:
    """The letters of a name, by which tools that only seem different are the same."""
    return _SEPARATED.sub("", loosened(name))


def _lookup(found: RuleFinding, facts: CallFacts) -> str:
    """Remedies for unknown facts: a lookup, an argument, a call that makes the fact so."""
    ways = [_way_to_know(atom, facts) or _way_to(found, facts) for atom in found.facts]
    return "; ".join(dict.fromkeys(filter(None, ways)))


def _way_to_know(atom: Atom, facts: CallFacts) -> str:
    """Advice on how to learn an unknown fact; empty if nothing tells it."""
    cause = facts.why.get(atom)
    if cause is not None:
        return cause.remedy(facts.manual)
    for arg in atom.args:
        if isinstance(arg, Absent):
            return f"give the argument {arg.replace('<', '').replace('>', '')}"
    return ""


def _way_to(found: RuleFinding, facts: CallFacts) -> str:
    """A call that would change one of the facts that stand in the way, and nothing else."""
    for atom in found.facts:
        wanted = (atom.predicate, facts.truth(atom) is Truth.TRUE)
        for tool in facts.manual.tools.values():
            if not tool.reads or tool.name == facts.call.tool:
                continue
            if any(effect.literal.signed == wanted for effect in tool.effects):
                return f"{tool.name} first"
    return ""
