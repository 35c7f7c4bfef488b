"""A model asked what a request means: choice by choice where it can weigh them, else by one
JSON answer; and other readings, where an episode speaks against the first.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from functools import partial

from rpms.foreign.json_text import NotJson, loads
from rpms.logic.belief import Belief, Situation
from rpms.logic.errors import ModelError, ModelUnavailable
from rpms.logic.goal import UNKNOWN_GOAL, Goal
from rpms.logic.rules import ActiveRules
from rpms.models.base import Decoding, Model, Request, able
from rpms.paper.decide import Decision, Mind
from rpms.paper.episode import Usage
from rpms.paper.prompt import Part, make_block
from rpms.paper.verdict import KEPT, Candidate, Fate
from rpms.planning.achievers import achievers_of
from rpms.planning.advice import noticed_with_plan_of
from rpms.planning.impasse import Missing, said_nowhere
from rpms.planning.reason import reasoner_of
from rpms.play.understanding import NO_GOAL, Reads, Understood
from rpms.reading.narrowing import FIELDS, Narrowing, forms_of, unsearched
from rpms.reading.nearest import NearestKinds
from rpms.reading.readings import Readings, RequestReading
from rpms.reading.requests import Reader, SlotQuestion, Source, Weights, weights_of_answer
from rpms.worlds.base import World

ANSWER_TOKENS = 64
"""New tokens of an answer that names a goal and its fields."""
JSON = (
    'Answer with one JSON object and nothing else, such as {"goal": "NAME", "object": "KIND",'
    ' "destination": "KIND"}.'
)


def understand(
    world: World, mind: Mind, reads: Reads, opening: str, episode: str, request: str = ""
) -> Understood:
    """The goal of an opening observation: as the world knows it, else read, by the words if the
    model fails.

    `request`: what somebody asked for, where the opening states that in place of the game's own
    task. If the world knows it, that reading comes first, and others once it proves impossible.
    """
    goal = world.goal(opening)
    if goal.type != UNKNOWN_GOAL:
        own = _own_reading(goal, request) if request and forms_of(mind.schemas) else None
        return Understood(goal, own)
    if request:
        goal = replace(goal, text=request)
    if not goal.text or not (request or forms_of(mind.schemas)):
        return Understood(goal)
    belief = world.update(world.start(goal), None, opening)
    read = _read(world, mind, reads, goal, belief, episode)
    if read.readings is None:
        return _asked_of_somebody(world, mind, reads, read)
    return read


def _own_reading(goal: Goal, request: str) -> Readings:
    """A request that fits a template of the world, as the world understands it."""
    own = RequestReading(goal, 0.0, 1.0, ("in the world's own words",))
    return Readings(request, (own,), fits_template=True)


def _read(
    world: World, mind: Mind, reads: Reads, goal: Goal, belief: Belief, episode: str
) -> Understood:
    """The goal that a text means, by what is believed; the same goal without readings if the text
    means nothing here.
    """
    reader = _reader(reads, world, mind)
    hidden: list[Candidate] = []
    if mind.mask.rate:
        hidden = _hidden_examples(reader, mind, goal.text)
        reader = _without_hidden(reader, mind)
    asking = _Asking(reads.model, episode)
    readings = asking.read(reader, goal.text, belief)
    if readings is None:
        return Understood(goal, None, asking.usage, asking.notes)
    shown = [Candidate(entry, score, score, KEPT) for score, entry in readings.examples]
    examples = (*hidden, *shown)
    return Understood(readings.now.goal, readings, asking.usage, asking.notes, examples)


def _without_hidden(reader: Reader, mind: Mind) -> Reader:
    """The reader with the memories that are not hidden in this episode."""
    left = [entry for entry in reader.memory if not mind.mask.hides(entry.id)]
    return replace(reader, memory=left)


def _asked_of_somebody(world: World, mind: Mind, reads: Reads, read: Understood) -> Understood:
    """The goal as a person puts it when asked; without a usable answer it stays unknown, with a
    note.
    """
    goal = read.goal
    types = _types(mind)
    note = (
        f"{NO_GOAL} `{goal.text}`; it has"
        f" {', '.join(types) or 'none that can be put in other words'}"
    )
    if reads.ask is not None:
        answer = reads.ask(goal.text, types)
        reading = _said_to_mean(world, goal.text, answer, types)
        if reading is not None:
            readings = Readings(goal.text, (reading,), asked=True)
            return replace(read, goal=reading.goal, readings=readings)
        note += f"; nor does `{answer}`"
    return replace(read, notes=(*read.notes, note))


def _goal_answered(world: World, answer: str, types: Sequence[str], text: str) -> Goal | None:
    """The goal in a person's words, or as `TYPE OBJECT DESTINATION`; None if it is neither."""
    goal = world.goal(world.stating("", answer))
    if goal.type != UNKNOWN_GOAL:
        return replace(goal, text=text)
    type_, *kinds = answer.replace(":", " ").split() or [""]
    if type_ not in types:
        return None
    named = dict(zip(FIELDS, kinds, strict=False))
    return world.goal_of(type_, named, text)


def _types(mind: Mind) -> list[str]:
    """The types of goal that a request can name."""
    return [form.type for form in forms_of(mind.schemas)]


def _said_to_mean(
    world: World, request: str, answer: str, types: Sequence[str]
) -> RequestReading | None:
    """The reading that a person gives of their request; None if that is no goal."""
    goal = _goal_answered(world, answer, types, request)
    if goal is None:
        return None
    return RequestReading(goal, 0.0, 1.0, (f"said to mean `{answer}`",))


def reconsidered(
    world: World, reads: Reads, readings: Readings, decision: Decision, mind: Mind, episode: str
) -> Understood | None:
    """The request understood anew, with another reading taken, where a step speaks against the
    present one; None where it stays, and nothing was done about it.

    What fits a template was misread only if what it names is nowhere: then it is read as other
    requests are, which tells what that took.
    """
    if not readings.fits_template:
        found = _another(world, reads, readings, decision, mind)
        return Understood(found.now.goal, found) if found is not None else None
    against = noticed_with_plan_of(decision).against_goal
    if not against or not _nowhere(decision.goal, decision, mind):
        return None
    asked_for = replace(decision.goal, text=readings.request)
    read = _read(world, mind, reads, asked_for, decision.belief, episode)
    readings = readings.read_further(_beside_own(_reader(reads, world, mind), readings, read))
    found = _another(world, reads, readings, decision, mind) or readings
    return replace(read, goal=found.now.goal, readings=found)


def _beside_own(reader: Reader, own: Readings, read: Understood) -> list[RequestReading]:
    """The readings of a request that fits a template, for when its own is impossible. If words
    alone were compared, only those readings remain to whose kinds a word points.
    """
    if read.readings is None:
        return []
    if reader.source is not Source.WORDS:
        return list(read.readings.ranked)
    found: list[RequestReading] = []
    for reading in read.readings.ranked:
        changed = [name for name in FIELDS if reading.goal.named(name) != own.now.goal.named(name)]
        if all(reader.points_to(own.request, name, reading.goal.named(name)) for name in changed):
            found.append(reading)
    return found


def _another(
    world: World, reads: Reads, readings: Readings, decision: Decision, mind: Mind
) -> Readings | None:
    """The readings with another one taken, where a step speaks against the present one; None
    where it stays.

    If the thing that is asked for is nowhere, kinds like it that are here become readings, too. If
    no reading is left, somebody is asked. Both are done once: if they were in vain, the readings
    say so, and the present one stays.
    """
    belief = decision.belief
    active = _rules_for(decision.goal, mind)
    share = unsearched(achievers_of(active), belief, decision.goal.object)
    why = noticed_with_plan_of(decision).against_goal
    if not why:
        return readings.instead(belief, share)
    widened = readings
    if not readings.widened:
        widened = _with_nearest_kinds(world, reads, readings, decision, mind)
    following = widened.following(why, belief, partial(_steps_to, mind, belief), share)
    if following is not None:
        return following
    if reads.ask is not None and not widened.asked:
        return _asked_once_more(world, reads, widened, mind)
    return None if widened is readings else widened


def _steps_to(mind: Mind, belief: Belief, goal: Goal) -> float:
    """The steps of a plan to a goal, without looking for anything; infinite if there is none."""
    situation = Situation(belief.serving(goal), goal)
    return reasoner_of(_rules_for(goal, mind)).plan(situation, seek=False).cost


def _with_nearest_kinds(
    world: World, reads: Reads, readings: Readings, decision: Decision, mind: Mind
) -> Readings:
    """The readings, and others in which kinds that are here take the place of an object or
    destination that is nowhere. If nothing is missing, the same readings.
    """
    goal = decision.goal
    missing = _nowhere(goal, decision, mind)
    words = {each.word for each in missing}
    fields = [name for name in FIELDS if goal.named(name) in words]
    if not fields:
        return readings
    reader = _reader(reads, world, mind)
    nearest = NearestKinds(Narrowing(reader.goals, decision.belief, reader.rules, reader.here))
    now = readings.now
    for form in reader.forms:
        if form.type == goal.type:
            for name in fields:
                readings = readings.widened_by(nearest.readings(now, form, name))
    return readings


def _asked_once_more(world: World, reads: Reads, readings: Readings, mind: Mind) -> Readings:
    """The readings, and the one that a person gives, which is taken; without an answer that can
    be read, the present one stays.
    """
    assert reads.ask is not None
    types = _types(mind)
    answer = reads.ask(readings.request, types)
    reading = _said_to_mean(world, readings.request, answer, types)
    if reading is None:
        return replace(readings, asked=True)
    ranked = (*readings.ranked, reading)
    why = "no other reading was left, and somebody was asked"
    return replace(readings, ranked=ranked, taken=len(ranked) - 1, why=why, asked=True)


def given_up(world: World, reads: Reads, readings: Readings, decision: Decision, mind: Mind) -> str:
    """The reason that nothing is left to do for a request: what it names is nowhere, no other
    reading is left, and there is no kind like it. Empty if something is left.

    It names the things that were asked for: the kinds of the first reading to which a word points.
    """
    if not decision.noticed.against_goal or not readings.is_last:
        return ""
    if not readings.widened and not _nowhere(decision.goal, decision, mind):
        return ""
    asked_for = _missing_kinds(world, reads, readings, decision, mind)
    why = said_nowhere(asked_for) if asked_for else "those that are possible here were tried"
    count = len(readings.ranked)
    none = f"none of {count} readings" if count > 1 else "no other reading"
    return f"{none} of `{readings.request}` is left: {why}"


def _missing_kinds(
    world: World, reads: Reads, readings: Readings, decision: Decision, mind: Mind
) -> list[Missing]:
    """The kinds that a request asks for by some word, and that are nowhere."""
    first = readings.first.goal
    missing = {each.word: each for each in _nowhere(first, decision, mind)}
    reader = _reader(reads, world, mind)
    kinds: list[Missing] = []
    for name in FIELDS:
        kind = first.named(name)
        if kind in missing and reader.points_to(readings.request, name, kind):
            kinds.append(missing[kind])
    return kinds


def _rules_for(goal: Goal, mind: Mind) -> ActiveRules:
    """The rules that plans for a goal are made with."""
    return mind.tells.active(goal.type, goal.object, goal.destination)


def _nowhere(goal: Goal, decision: Decision, mind: Mind) -> tuple[Missing, ...]:
    """The things of a goal that are in none of the places, all of which were searched."""
    situation = Situation(decision.belief.serving(goal), goal)
    return reasoner_of(_rules_for(goal, mind)).nowhere(situation)


def _reader(reads: Reads, world: World, mind: Mind) -> Reader:
    """The reader of requests that a mind has. Its rules and its memory count if they are on. It is
    made once for each memory.
    """
    entries = mind.experience.memory.entries
    key = id(entries)
    if key not in reads.kept:
        by_rules = bool(mind.manual.actions) and "rules" not in reads.leave_out
        by_memory = "memory" not in reads.leave_out
        reads.kept[key] = Reader(
            goals=mind.schemas,
            rules=by_rules,
            memory=entries if by_memory else (),
            source=Source(reads.source),
            here="belief" not in reads.leave_out,
            called=world.called(),
            make=world.goal_of,
        )
    return reads.kept[key]


class _Asking:
    """Asks one model about one request."""

    def __init__(self, model: Model | None, episode: str) -> None:
        self._model = model
        self._episode = episode
        self._said: dict[str, str] | None = None
        self.usage = Usage()
        self.notes: tuple[str, ...] = ()

    def read(self, reader: Reader, request: str, belief: Belief) -> Readings | None:
        """Readings of a request; by its words alone, with a note, where the model fails."""
        try:
            return self._drive(reader.read(request, belief))
        except ModelUnavailable:
            raise
        except ModelError as error:
            self.notes = (f"request read by its words alone: {error}",)
            by_words = replace(reader, source=Source.WORDS)
            return self._drive(by_words.read(request, belief))

    def _drive(
        self, questions: Generator[SlotQuestion, Weights, Readings | None]
    ) -> Readings | None:
        try:
            question = next(questions)
            while True:
                question = questions.send(self._weigh(question))
        except StopIteration as done:
            found: Readings | None = done.value
            return found

    def _weigh(self, question: SlotQuestion) -> Weights:
        """The weights of a question's choices: of a model that can weigh them, for each question
        anew; of any other, from one answer to all questions.
        """
        assert self._model is not None  # without one, a reader asks nothing
        decoding = Decoding(max_tokens=ANSWER_TOKENS)
        if able(self._model, "weighs"):
            asked = Request(
                question.prompt,
                decoding,
                self._episode,
                choices=question.choices,
                weigh=True,
                begun=question.begun,
            )
            answer = self._model.answer(asked)
            self.usage = self.usage + answer.usage
            if len(answer.weights) == len(question.choices):
                return answer.weights
            raise ModelError(
                f"{self._model.name}: {len(answer.weights)} weights for {len(question.choices)}"
                " choices"
            )
        if self._said is None:
            prompt = replace(
                question.prompt, blocks=(*question.prompt.blocks, make_block(Part.MENU, "", [JSON]))
            )
            answer = self._model.answer(Request(prompt, decoding, self._episode))
            self.usage = self.usage + answer.usage
            self._said = _object_in(answer.text)
            if not self._said:
                self.notes = ("the answer to what the request means held no JSON object",)
        return weights_of_answer(self._said, question)


def _object_in(text: str) -> dict[str, str]:
    """Texts by name from the JSON object in an answer; nothing where there is none."""
    start, end = text.find("{"), text.rfind("}")
    try:
        value = loads(text[start : end + 1]) if 0 <= start < end else None
    except NotJson:
        return {}
    if not isinstance(value, dict):
        return {}
    return {str(name): each for name, each in value.items() if isinstance(each, str)}


def _hidden_examples(reader: Reader, mind: Mind, request: str) -> list[Candidate]:
    """Examples that would be shown with a request, and that chance hides."""
    nearest = reader.read_examples(request)
    shown = [mind.mask.over(Candidate(entry, score, score, KEPT)) for score, entry in nearest]
    return [each for each in shown if each.verdict.fate is Fate.HIDDEN]
