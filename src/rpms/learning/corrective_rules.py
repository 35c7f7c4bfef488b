"""Corrective rules: the precondition that a refused action lacked, in the form of Appendix F's
lesson.

By the manual's schema where the player had rules, else by what held in the action's successes
alone. A model may put them in its words: it is told nothing of the manual, and what it writes is
one line that is checked, or left out.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from rpms.foreign.shown import one_line, unseen
from rpms.logic.actions import PARAMETER, ActionSchema, Instance
from rpms.logic.belief import Belief, Situation
from rpms.logic.errors import ModelError, ModelUnavailable
from rpms.logic.facts import Atom, Clause, Literal, Truth
from rpms.logic.rules import ActiveRules
from rpms.models.base import Decoding, Model, Request
from rpms.paper.episode import Episode, Step
from rpms.paper.memory import Entry, FailureLesson, merge
from rpms.paper.prompt import Part, Prompt, make_block


def literal_in_words(literal: Literal, rules: ActiveRules) -> str:
    """One fact of a schema in the manual's words: `you are at the place`, `the place is not
    closed`.
    """
    atom = Atom(literal.atom.predicate, tuple(f"the {arg}" for arg in literal.atom.args))
    return rules.say(atom, Truth.of(not literal.negated))


def in_words(clause: Clause, rules: ActiveRules) -> str:
    """A precondition of a schema in words; if it has alternatives, all of them."""
    return " or ".join(literal_in_words(literal, rules) for literal in clause.literals)


def schema_effects(schema: ActionSchema, rules: ActiveRules) -> tuple[str, ...]:
    """Effects of an action in words; and the needs that it leaves as they were, as in `still: you
    hold the object`. Effects that it has only sometimes are not told.
    """
    effects: list[str] = []
    for literal in schema.effects:
        if literal not in schema.supposed:
            effects.append(literal_in_words(literal, rules))
    if schema.effects:
        for literal in _left_as_it_was(schema, rules):
            effects.append(f"still: {literal_in_words(literal, rules)}")
    return tuple(effects)


def _left_as_it_was(schema: ActionSchema, rules: ActiveRules) -> Iterator[Literal]:
    """The needs that an action leaves as they were, among facts of which one holds at a time, such
    as the one thing in hand.
    """
    changed = {literal.atom.predicate for literal in schema.effects}
    for clause in schema.preconditions:
        literal = clause.literals[0]
        predicate = rules.predicates.get(literal.atom.predicate)
        if len(clause.literals) > 1 or literal.negated or predicate is None:
            continue
        if predicate.exclusive == "always" and literal.atom.predicate not in changed:
            yield literal


def template_of(schema: ActionSchema, command: str) -> str:
    """The form of an action that a command follows, with `{object}` in place of names, as in
    Appendix F.
    """
    written = schema.syntax[0]
    for way in schema.patterns:
        if way.pattern.fullmatch(command):
            written = way.text
            break
    return PARAMETER.sub(r"{\1}", written)


_DUTIES = (
    (re.compile(r"^you are not "), "must not be "),
    (re.compile(r"^you are "), "must be "),
    (re.compile(r"^you do not "), "must not "),
    (re.compile(r"^you "), "must "),
    (re.compile(r" (?:is|are) "), " must be "),
    (re.compile(r" (?:has|have) been "), " must have been "),
    (re.compile(r" (can|may) "), r" must be one that \1 "),
    (re.compile(r" (hold|work)s\b"), r" must \1"),
)
"""Patterns that turn a fact in a manual's words into a duty: the first that fits counts."""


class ActionThatWorked(NamedTuple):
    """An action that worked once, and the belief before it."""

    belief: Belief
    instance: Instance


def corrective_rule(step: Step, instance: Instance, worked: Sequence[ActionThatWorked]) -> str:
    """The rule that would have avoided a refusal, or nothing. `worked`: the action's successes."""
    rules = step.decision.rules
    facts = Situation(step.decision.belief, step.decision.goal)
    if rules.environment:
        missing = _by_manual(rules, step.command, facts)
    else:
        missing = _by_comparison(facts.belief, instance, worked)
    if not missing:
        return ""
    needs = list(dict.fromkeys(missing))[:_MOST_NEEDS]
    return f"{together(needs)} before {gerund(instance.schema.name)}"


_MOST_NEEDS = 2
"""Needs that a lesson names, each once: more make no sentence that is read to its end."""


def together(duties: Sequence[str]) -> str:
    """Duties as one clause, which names what they have in common once.

    >>> together(["the cup must be here", "the cup must be open"])
    'the cup must be here and must be open'
    >>> together(["the cup must be here", "the jug must be here"])
    'the cup and the jug must be here'
    """
    first, *others = duties
    subject, must, what = first.partition(_MUST)
    subjects = [subject]
    without_subject = [first]
    for other in others:
        if must and other.endswith(must + what):
            subjects.append(other.removesuffix(must + what))
        without_subject.append(other.removeprefix(f"{subject} "))
    if others and len(subjects) == len(duties):
        return " and ".join(subjects) + must + what
    return " and ".join(without_subject)


_MUST = " must "


def _by_manual(rules: ActiveRules, command: str, facts: Situation) -> list[str]:
    """The needs of a refused action that are known not to hold; if there are none, those that are
    unknown.

    A need with alternatives is told with all of them if it is the only one. Beside other needs, its
    first alternative would do, and is told alone.
    """
    instance = rules.instance(command)
    if instance is None:
        return []
    failing: list[Clause] = []
    unknown: list[Clause] = []
    for clause in instance.schema.preconditions:
        value = clause.truth(facts, instance.binding)
        if value is Truth.FALSE:
            failing.append(clause)
        elif value is Truth.UNKNOWN:
            unknown.append(clause)
    missing = failing or unknown
    if len(missing) == 1:
        duties = [duty(literal_in_words(each, rules)) for each in missing[0].literals]
        return [" or ".join(duties[:_MOST_NEEDS])]
    return [duty(literal_in_words(clause.literals[0], rules)) for clause in missing]


def _by_comparison(
    belief: Belief, instance: Instance, worked: Sequence[ActionThatWorked]
) -> list[str]:
    """Facts that held each time the action worked, and not when it failed."""
    if not worked:
        return []
    found: list[str] = []
    for name, thing in instance.binding.items():
        for words, holds in _RELATIONS.items():
            if not holds(belief, thing) and _held_always(holds, name, worked):
                found.append(words.format(name))
    was_always_empty = not any(success.belief.holding for success in worked)
    if was_always_empty and belief.holding:
        found.append("the hand must be empty")
    return found


def _held_always(
    holds: Callable[[Belief, str], bool], name: str, worked: Iterable[ActionThatWorked]
) -> bool:
    """True if a relation held of what a parameter stood for whenever the action worked."""
    for success in worked:
        thing = success.instance.binding.get(name)
        if thing is not None and not holds(success.belief, thing):
            return False
    return True


_RELATIONS: Mapping[str, Callable[[Belief, str], bool]] = {
    "must be at the {}": lambda belief, name: belief.location == name,
    "must hold the {}": lambda belief, name: name in belief.holding,
    "the {} must be open": lambda belief, name: belief.containers.get(name) is True,
}
"""Relations of an action's names to a belief, in any world, by the duty that each would be."""


def duty(fact: str) -> str:
    """A fact as what must be so.

    >>> duty("you are at the place"), duty("the place is not closed")
    ('must be at the place', 'the place must not be closed')
    >>> duty("your hand is empty"), duty("it works")
    ('the hand must be empty', 'it must work')
    """
    text = re.sub(r"^your ", "the ", fact)
    for pattern, words in _DUTIES:
        changed, count = pattern.subn(words, text, count=1)
        if count:
            return changed.replace(" must be not ", " must not be ")
    return f"make sure that {fact}"


def gerund(action: str) -> str:
    """An action's name as what comes after `before`.

    >>> [gerund(name) for name in ("take", "put", "go", "pick_up", "focus_on", "use")]
    ['taking', 'putting', 'going', 'picking up', 'focusing on it', 'using']
    """
    verb, *rest = action.split("_")
    if verb.endswith("e") and not verb.endswith("ee"):
        verb = verb[:-1]
    elif re.fullmatch(r"[^aeiou]*[aeiou][ptgn]", verb) and verb != "open":
        verb += verb[-1]
    thing = ["it"] if rest and rest[-1] in _PREPOSITIONS else []
    return " ".join((f"{verb}ing", *rest, *thing))


_PREPOSITIONS = ("on", "in", "at")
"""Words that an action's name does not end a sentence with."""


SHORTEST = 10
"""Characters of a lesson, which is a line of a prompt."""
LONGEST = 200
_AFTER = 6
"""Steps after the failure that the model is told: what worked instead is among the first."""
_DECODING = Decoding(max_tokens=96)
_FORM = re.compile(r"\bmust\b.* before [a-z]+ing\b")
_INSTANCE = re.compile(r"\b[a-z]+ \d+\b")
_INSTRUCTION = (
    "An action in a text game failed because something that it needs did not hold. State the rule"
    " that would have avoided it, for any room, in the form `must … before …ing`, such as: must be"
    " at the place and the place must be open before taking. Name no numbers. Answer with the rule"
    " alone, after `Lesson:`."
)


def worded_by(model: Model, entries: Iterable[Entry], episode: Episode) -> tuple[Entry, ...]:
    """The entries of an episode, its lessons in a model's words where these pass the check.

    ModelUnavailable passes through; another failure leaves a lesson as it was.
    """
    return merge([_worded(model, entry, episode) for entry in entries])


def _worded(model: Model, entry: Entry, episode: Episode) -> Entry:
    """A lesson in a model's words, if these contradict nothing that was seen; else as it is."""
    if not isinstance(entry, FailureLesson):
        return entry
    step = episode.steps[min(entry.origins).step - 1]
    shown = make_block(Part.OBSERVATION, "", list(_shown_to_model(step, episode)))
    prompt = Prompt((make_block(Part.INSTRUCTION, "", [_INSTRUCTION]), shown))
    try:
        answer = model.answer(Request(prompt, _DECODING, f"lesson {episode.task} {step.number}"))
    except ModelUnavailable:
        raise
    except ModelError:
        return entry
    _, _, lesson = answer.text.strip().rpartition("Lesson:")
    text = lesson.strip().partition("\n")[0].strip()
    if not text or objection(text, step):
        return entry
    return replace(entry, corrective_rule=text, worded_by=one_line(model.name, 80))


def objection(text: str, step: Step) -> str:
    """The fault of a lesson in words; empty if it is a rule about the action that failed."""
    if not SHORTEST <= len(text) <= LONGEST or any(unseen(char) for char in text):
        return f"is not one line of {SHORTEST} to {LONGEST} printable characters"
    if not _FORM.search(text):
        return "is not in the form `must … before …ing`"
    name = _INSTANCE.search(text)
    if name is not None:
        return f"names {name[0]}, which is of one room alone"
    verb = step.command.split()[0]
    said = text.rpartition(" before ")[2].split()[0]
    about = said.startswith(verb[:-1]) or verb.startswith(said.removesuffix("ing"))
    return "" if about else f"is about {said}, and what failed was `{step.command}`"


def _shown_to_model(step: Step, episode: Episode) -> Iterator[str]:
    """Transcript for the model: the task, the failure, and what came after it."""
    decision = step.decision
    held = ", ".join(decision.belief.holding) or "nothing"
    where = f" at {decision.belief.location}" if decision.belief.location else ""
    yield f"Task: {one_line(episode.goal, 300)}"
    yield f"The agent was{where} with {held} in hand, and did `{step.command}`."
    yield f"It failed. The world answered: {one_line(step.result, 200)}"
    yield "What was done next:"
    for later in episode.steps[step.number : step.number + _AFTER]:
        outcome = "failed" if later.infeasible else "worked"
        yield f"- `{one_line(later.command, 120)}` {outcome}: {one_line(later.result, 120)}"
