"""Deeds: actions that score or win, and in which circumstances they do."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from rpms.induction.conclusions.conditions import conditions, view
from rpms.induction.conclusions.scores import Deed, Ties, by_kind_of_thing, by_kinds
from rpms.induction.evidence.attempts import Attempt, Book, Occasion
from rpms.induction.evidence.columns import all_of
from rpms.induction.evidence.literals import GOAL_OBJECT, common_bits, signed, topic_fact
from rpms.induction.evidence.templates import SLOT, Names
from rpms.induction.evidence.witnesses import distinct, done_again, independent
from rpms.induction.thresholds import LIMITS
from rpms.logic.facts import Atom, Literal
from rpms.store.evidence import Witness

Effects = Mapping[str, tuple[Literal, ...]]
"""By template, what an action makes true, over its slots."""


def deeds_of(
    books: list[Book], goal: str, names: Names, ties: Ties, effects: Effects
) -> list[Deed]:
    """All that scored with goals of a type; nothing where only wins do."""
    owed = not _first_steps_matter(books, goal)
    pursuing = {}
    for book in books:
        pursuing[book.template] = _with_goals(book, goal, names, first_is_owed=owed)
    rises = sum(map(_count_rises, pursuing.values()))
    if rises < LIMITS.score_rises:
        return []
    tried = {}
    for book in books:
        tried[book.template] = _with_changes(book, pursuing[book.template], effects)
    found = _deeds_of_all(books, goal, tried, names, ties, blind=True)
    if not any(deed.blind for deed in found):  # deeds that facts explain may well be wanted again
        found = _deeds_of_all(books, goal, tried, names, ties, blind=False)
    return _without_lone_words(found)


def _count_rises(attempts: Iterable[Attempt]) -> int:
    """Independent witnesses of scores before the end."""
    return independent(attempt for attempt in attempts if attempt.scored and not attempt.won)


def _first_steps_matter(books: Iterable[Book], goal: str) -> bool:
    """True if the score of a first step is known to depend on what is done: several tasks with
    goals of a type were begun more than once, and not every first step scored, nor none.
    """
    scored: dict[str, set[bool]] = {}
    for book in books:
        for attempt in book.attempts:
            if attempt.goal == goal and attempt.witness.step <= 1:
                scored.setdefault(attempt.witness.task, set()).add(attempt.scored)
    differing = [task for task, came in scored.items() if len(came) > 1]
    return len(differing) >= LIMITS.several


def _with_goals(book: Book, goal: str, names: Names, *, first_is_owed: bool) -> list[Attempt]:
    """Attempts with goals of a type.

    Without those whose score may be owed to the beginning, unless first steps are known to matter:
    the first step shows what the opening was worth, whatever is done.
    """
    found = []
    for attempt in book.attempts:
        is_first = attempt.witness.step <= 1
        owed = first_is_owed and is_first and attempt.scored and not attempt.won
        if attempt.goal == goal and not owed:
            found.append(_with_topic(attempt, names))
    return found


def _with_topic(attempt: Attempt, names: Names) -> Attempt:
    """An attempt without a topic that has turned out to be what things are called."""
    return attempt._replace(topic="") if attempt.topic in names.kinds else attempt


class _Tried(NamedTuple):
    """Attempts of an action, and what it has to change to score."""

    attempts: Sequence[Attempt]
    changes: tuple[Literal, ...]


def _with_changes(book: Book, tried: Sequence[Attempt], effects: Effects) -> _Tried:
    """Those of some attempts that may have changed what the action changes.

    What scores is a change: who opens an open door tells nothing of opening doors. Not so where
    an action often scored though all of its effects held already.
    """
    changes = effects.get(book.template, ())
    if not changes or any(change.atom not in book.facts for change in changes):
        return _Tried(tried, ())
    settled = _settled(book, tried, changes)
    changing = [attempt for attempt in tried if attempt.witness not in settled]
    with_change = _count_scored(changing)
    without_change = _count_scored(tried) - with_change
    if LIMITS.several * without_change > with_change:
        return _Tried(tried, ())
    return _Tried(changing, changes)


def _count_scored(attempts: Iterable[Attempt]) -> int:
    return sum(attempt.scored for attempt in attempts)


def _settled(
    book: Book, attempts: Iterable[Attempt], changes: Iterable[Literal]
) -> frozenset[Witness]:
    """The attempts before which all that an action changes held already."""
    size = len(book.facts)
    wanted = 0
    for change in changes:
        wanted |= 1 << (book.facts.index(change.atom) + size * change.negated)
    found = set()
    for attempt in attempts:
        if signed(attempt.true, attempt.false, size).holds & wanted == wanted:
            found.add(attempt.witness)
    return frozenset(found)


def _without_lone_words(found: Sequence[Deed]) -> list[Deed]:
    """Deeds without those of actions that name nothing, where orders as a whole score."""
    orders_score = any(deed.book.template == SLOT for deed in found)
    if not orders_score:
        return list(found)
    return [deed for deed in found if deed.book.slots]


def winning_deeds(books: Iterable[Book], goal: str, names: Names) -> Iterator[Deed]:
    """Last actions that wins share, where no facts tell wins from states in which the game went on.

    A goal may be something to be done: whoever finds a door closed has not closed it.
    """
    for book in books:
        if book.called(names) is not None:
            yield from _winning_uses(book, goal, names)


def _winning_uses(book: Book, goal: str, names: Names) -> Iterator[Deed]:
    """Uses of an action that won, with the facts that nearly all of these wins share."""
    done = []
    for attempt in book.attempts:
        if attempt.goal == goal and not attempt.refused:
            done.append(_with_topic(attempt, names))
    tried = _once_an_episode(done)
    if not any(each.won for each in tried):
        return
    won = _with_goal_facts(book, tried, _has_won)
    for when in conditions(won, kept=LIMITS.mostly):
        if when.confirmed >= LIMITS.several:
            literals = dict.fromkeys((*_meant_by_all(tried), *when.literals))
            yield Deed(goal, book, when=replace(when, literals=tuple(literals)))


def _meant_by_all(attempts: Iterable[Attempt]) -> Iterator[Literal]:
    """The slots that the goal's fields named in every win: other things may never have been tried,
    and are not what is asked for.
    """
    won = [attempt for attempt in attempts if attempt.won]
    objects = common_bits(attempt.goal_objects for attempt in won)
    destinations = common_bits(attempt.goal_destinations for attempt in won)
    for slot in range(len(won[0].names)):
        if objects >> slot & 1:
            yield Literal(Atom("goal_object", (str(slot),)))
        if destinations >> slot & 1:
            yield Literal(Atom("goal_destination", (str(slot),)))


def _once_an_episode(attempts: Iterable[Attempt]) -> list[Attempt]:
    """One attempt of each episode with what the goal names, and one without: the one that won,
    else the first.
    """
    found: dict[tuple[str, int, int], Attempt] = {}
    for attempt in attempts:
        key = (attempt.witness.episode, attempt.goal_objects, attempt.goal_destinations)
        if attempt.won or key not in found:
            found[key] = attempt
    return list(found.values())


def _deeds_of_all(
    books: Iterable[Book],
    goal: str,
    tried: Mapping[str, _Tried],
    names: Names,
    ties: Ties,
    *,
    blind: bool,
) -> list[Deed]:
    """The deeds of each action that score, by the attempts that count for it. `blind`: a change
    that nobody has seen score again is thought to score once.
    """
    found: list[Deed] = []
    for book in books:
        own = tried[book.template]
        once: tuple[int, ...] = ()
        if book.template != SLOT:
            freely = blind or bool(own.changes)
            once = _slots_used_once(own.attempts, len(book.slots), freely=freely)
        done = _counted(own.attempts, once)
        if any(map(_has_scored, done)):
            deed = Deed(goal, book, once, changes=own.changes)
            found += _deeds(deed, done, names, ties)
    return found


def _deeds(deed: Deed, done: list[Attempt], names: Names, ties: Ties) -> list[Deed]:
    """Circumstances in which an action scores; of one with one thing, for each topic by itself,
    and for goals about anything what all of them tell together.
    """
    if len(deed.book.slots) != 1 or len(_topics_of(done)) < 2:
        return _deeds_of_any_topic(deed, done, names, ties)
    whatever = [attempt._replace(topic="") for attempt in done]
    return [
        *_deeds_of_each_topic(deed, done, names),
        *_deeds_of_any_topic(deed, whatever, names, ties),
    ]


def _deeds_of_each_topic(deed: Deed, done: list[Attempt], names: Names) -> list[Deed]:
    """Circumstances in which an action scores, with the topic of the goal in each."""
    topics = dict.fromkeys(attempt.topic for attempt in done if attempt.scored)
    found: list[Deed] = []
    for topic in topics:
        own = [attempt for attempt in done if attempt.topic == topic]
        asked = Literal(topic_fact(topic))
        for scoring in _deeds_of_topic(deed, own, topic, names):
            literals = dict.fromkeys((asked, *scoring.when.literals))
            when = replace(scoring.when, literals=tuple(literals))
            found.append(replace(scoring, when=when))
    return found


def _topics_of(attempts: Iterable[Attempt]) -> list[str]:
    """The topics of goals, where there are several; one alone divides nothing."""
    topics = sorted({attempt.topic for attempt in attempts} - {""})
    return topics if len(topics) > 1 else []


def _deeds_of_topic(deed: Deed, done: list[Attempt], topic: str, names: Names) -> list[Deed]:
    """Circumstances in which an action with one thing scores, where goals have one topic: facts,
    kinds that scored, or else whatever gains more than it loses.
    """
    explained = _explained_by_facts(deed, done)
    parameters = deed.book.called(names)
    if parameters is None or not _are_few(explained, done, LIMITS.mostly):
        return explained
    tables = list(by_kind_of_thing(deed, parameters[0], topic, done))
    if not _are_few(explained, done):
        return [*tables, *explained]
    return [*tables, *_with_chances(explained, deed, done)]


def _deeds_of_any_topic(deed: Deed, done: list[Attempt], names: Names, ties: Ties) -> list[Deed]:
    """Circumstances in which an action scores: facts, or where those tell little, kinds of
    things, or else whatever gains more than it loses.
    """
    book = deed.book
    explained = _explained_by_facts(deed, done)
    parameters = book.called(names)
    if parameters is None or not _are_few(explained, done):
        return explained
    if len(book.slots) == 2 and _does_no_harm(done):
        return list(by_kinds(deed, parameters, done, ties))
    return _with_chances(explained, deed, done)


def _counted(tried: Iterable[Attempt], once: Collection[int]) -> list[Attempt]:
    """Successes that prove something: the first of each episode with the same names, where these
    score once; else without mere repeats.
    """
    done = [attempt for attempt in tried if not attempt.refused]
    return _first_times(done) if once else distinct(done, _has_scored)


def _explained_by_facts(deed: Deed, done: Iterable[Attempt]) -> list[Deed]:
    """Circumstances in which an action mostly scores."""
    found = conditions(_with_goal_facts(deed.book, done, _has_scored))
    kept: list[Deed] = []
    for when in found:
        if when.confirmed >= LIMITS.score_rises:
            kept.append(replace(deed, when=when))
    return kept


def _with_chances(explained: Sequence[Deed], deed: Deed, done: Sequence[Attempt]) -> list[Deed]:
    """Deeds that facts explain, and chances; the chances alone where an action often ends the task,
    since an explanation of a few scores may be luck.
    """
    chances = list(_chances(deed, done))
    if chances and not _does_no_harm(done):
        return chances
    return [*explained, *chances]


def _chances(deed: Deed, attempts: Sequence[Attempt]) -> Iterator[Deed]:
    """Circumstances in which an action gains more points than it loses, seldom as it may score.

    The goal's own text counts here: whoever has to guess does what it names.
    """
    book = _with_goal_facts(deed.book, attempts, _has_scored, said=True)
    least = max(LIMITS.hopeless, _break_even(attempts))
    for when in conditions(book, least, LIMITS.score_told):
        if when.confirmed >= LIMITS.score_rises:
            yield replace(deed, when=when, chance=True)


def _break_even(attempts: Iterable[Attempt]) -> float:
    """Share of attempts that have to score for the gains to outweigh the losses."""
    gains = []
    losses = []
    for attempt in attempts:
        if attempt.scored:
            gains.append(attempt.gain)
        else:
            losses.append(-attempt.gain)
    gain = sum(gains) / max(1, len(gains))
    loss = max(0.0, sum(losses) / max(1, len(losses)))
    return loss / (loss + gain) if gain > 0 else 1.0


def _first_times(attempts: Iterable[Attempt]) -> list[Attempt]:
    """The first attempt of each episode with the same names."""
    first: dict[Occasion, Attempt] = {}
    for attempt in attempts:
        first.setdefault(attempt.occasion, attempt)
    return list(first.values())


def _are_few(
    explained: Iterable[Deed], done: Iterable[Attempt], least: float = LIMITS.score_told
) -> bool:
    """True if facts explain too few of the scores."""
    confirmed = sum(deed.when.confirmed for deed in explained)
    return confirmed < least * _count_scored(done)


def _does_no_harm(done: Sequence[Attempt]) -> bool:
    """True if trying kinds of things seldom ends the task.

    Harm is looked for among attempts with some kind that has scored in its slot.
    """
    promising: set[tuple[int, str]] = set()
    for attempt in done:
        if attempt.scored:
            promising.update(enumerate(attempt.kinds))
    losses = 0
    in_vain = 0
    for attempt in done:
        is_promising = not promising.isdisjoint(enumerate(attempt.kinds))
        if is_promising and not attempt.scored:
            in_vain += 1
            losses += attempt.lost
    return losses <= LIMITS.score_harmless * in_vain


def _slots_used_once(attempts: Sequence[Attempt], slots: int, *, freely: bool) -> tuple[int, ...]:
    """Slots whose names score once an episode: one, if repeats with its name brought no new
    best, else all or none.

    `freely`: all names together need not have been tried again to say so.
    """
    every = tuple(range(slots))
    single = [(slot,) for slot in every] if slots > 1 else []
    for some in (*single, every):
        again = list(done_again(attempts, some, _has_scored))
        enough = len(again) >= LIMITS.several or (freely and len(some) == slots)
        if enough and _brought_little(again):
            return some
    return ()


def _brought_little(again: Sequence[Attempt]) -> bool:
    """True if few repetitions brought a new best score."""
    further = sum(attempt.further for attempt in again)
    return further <= LIMITS.scores_again * len(again)


def _has_scored(attempt: Attempt) -> bool:
    return attempt.scored


def _has_won(attempt: Attempt) -> bool:
    return attempt.won


def _with_goal_facts(
    book: Book,
    attempts: Iterable[Attempt],
    well: Callable[[Attempt], bool],
    *,
    said: bool = False,
) -> Book:
    """A book of some attempts, in which those count that came out well, with facts about the goal:
    what its fields name, its topic, and if `said`, what its text names.
    """
    slots = len(book.slots)
    predicates = [GOAL_OBJECT, "goal_destination"]
    if said:
        predicates.append("goal_names")
    added = []
    for predicate in predicates:
        for slot in range(slots):
            added.append(Atom(predicate, (str(slot),)))
    before_topics = len(added)
    attempts = list(attempts)
    topics = _topics_of(attempts)
    added += [topic_fact(topic) for topic in topics]
    size = len(book.facts)
    rows = []
    for attempt in attempts:
        hold = attempt.goal_objects | attempt.goal_destinations << slots
        if said:
            hold |= attempt.said << 2 * slots
        if attempt.topic in topics:
            hold |= 1 << before_topics + topics.index(attempt.topic)
        fail = all_of(len(added)) & ~hold
        true = attempt.true | hold << size
        false = attempt.false | fail << size
        rows.append(attempt._replace(true=true, false=false))
    return view(replace(book, facts=[*book.facts, *added]), rows, well)
