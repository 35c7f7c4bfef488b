"""Exploration of tasks that score on the way: it sees other places, and does not stay where
hundreds of things could be tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from rpms.induction.conclusions.action_effects import Outcomes
from rpms.induction.conclusions.conclude import conclude
from rpms.induction.conclusions.ledger import Ledger, vocabulary_of
from rpms.induction.conclusions.looks_around import taken_once
from rpms.induction.conclusions.unnamed_effects import Process
from rpms.induction.evidence.attempts import Attempt, Book
from rpms.induction.evidence.templates import Names
from rpms.induction.evidence.vocabulary import Vocabulary
from rpms.induction.exploring.agenda import Exploring
from rpms.induction.exploring.explorer import Explorer
from rpms.logic.actions import ActionSchema, Revelation
from rpms.logic.belief import Belief, FactBelief, Situation
from rpms.logic.facts import Atom, Clause, Literal
from rpms.logic.goal import Goal
from rpms.logic.rules import Predicate
from rpms.paper.wording import Wording
from rpms.store.evidence import Support, Witness
from rpms.worlds.base import Game, Outcome, Setting, Task, World
from tests.induction.seeded import seeded_tasks

_REFUSED = "You cannot do that."
_HALL = "hall"
_ROOMS = ("attic", "cellar", "den", "study")
_THINGS = ("clock", "globe", "lute", "mask", "urn")
_VERBS = ("dust", "polish", "shake", "tap", "turn", "wrap")
_PREDICATES = """\
world: wing
predicates:
  at: {args: [room], yes: you are in the <room>, no: you are not in the <room>, exclusive: always}
  done: {args: [thing], yes: <thing> was handled, no: <thing> was not handled}
"""


@dataclass
class WingGame:
    """A hall full of things that do nothing for the task, and four rooms: two of them score when
    they are entered, and nobody wins.
    """

    seed: int

    def reset(self) -> Outcome:
        self.good = Random(self.seed).sample(_ROOMS, 2)
        self.room = _HALL
        self.seen: set[str] = set()
        return Outcome(self._told("Find what is hidden."))

    def _told(self, answer: str) -> str:
        return f"{answer}|{self.room}"

    def step(self, command: str) -> Outcome:
        if command not in self.admissible():
            return Outcome(self._told(_REFUSED), self._score)
        verb, _, rest = command.partition(" ")
        if verb == "go":
            self.room = rest.removeprefix("to ")
            self.seen.add(self.room)
        return Outcome(self._told("Done."), self._score)

    @property
    def _score(self) -> float:
        return 0.1 * len(self.seen.intersection(self.good))

    def admissible(self) -> tuple[str, ...]:
        things = _THINGS if self.room == _HALL else ()
        listed = [f"go to {room}" for room in (_HALL, *_ROOMS) if room != self.room]
        for thing in things:
            listed += [f"{verb} {thing}" for verb in _VERBS]
            listed += [f"{verb} {thing} by the {other}" for verb in _VERBS for other in _THINGS]
        return tuple(listed)

    def close(self) -> None:
        pass


class Wing(World):
    """The World of it."""

    name = "wing"
    splits = ("train",)
    wording = Wording("", "")
    step_budget = 30

    def tasks(self, split: str, _setting: Setting) -> Sequence[Task]:
        return seeded_tasks(split, "find", 50)

    def open(self, task: Task, _setting: Setting) -> Game:
        return WingGame(int(task.source["seed"]))

    def goal(self, _opening: str) -> Goal:
        return Goal("find", text="Find what is hidden.")

    def start(self, _goal: Goal) -> Belief:
        return FactBelief().learn(room=(_HALL, *_ROOMS), thing=_THINGS)

    def update(self, belief: FactBelief, action: str | None, observation: str) -> Belief:
        answer, room = observation.split("|")
        handled = []
        verb, _, rest = (action or "").partition(" ")
        if verb in _VERBS and answer != _REFUSED:
            handled.append(f"done({rest.split()[0]})")
        return belief.learn("not at(_)", f"at({room})", *handled)

    def infeasible(self, observation: str) -> bool:
        return observation.startswith(_REFUSED)

    def manual(self) -> Any:
        return (("wing", _PREDICATES),)


class Unlisted(Wing):
    """The same, with a belief that says where one is and lists no rooms."""

    name = "unlisted"

    def start(self, _goal: Goal) -> Belief:
        return FactBelief().learn(thing=_THINGS)


def _rooms_seen(episode: Sequence[str]) -> int:
    return len({command for command in episode if command.startswith("go ")} - {f"go to {_HALL}"})


def test_all_rooms_are_seen_where_tasks_score_on_the_way_and_are_never_won() -> None:
    world = Wing()
    setting = Setting()
    tasks = world.tasks("train", setting)
    for seed in (0, 1):
        ledger = Ledger(world, vocabulary_of(world))
        explorer = Explorer(world, setting, tasks, ledger, Exploring(steps=450, seed=seed))
        episodes = [[step.command for step in trace.steps] for trace in explorer.explore()]
        seen = [_rooms_seen(episode) for episode in episodes if len(episode) == world.step_budget]
        late = seen[len(seen) * 2 // 3 :]  # at first nobody knows that hardly any is won
        assert sum(late) / len(late) > 3.5, (seed, seen)


def test_rooms_that_no_belief_lists_are_learned_by_being_there_and_plans_lead_to_them() -> None:
    world = Unlisted()
    ledger = Ledger(world, vocabulary_of(world))
    tasks = world.tasks("train", Setting())
    explorer = Explorer(world, Setting(), tasks, ledger, Exploring(steps=400, seed=0))
    assert list(explorer.explore())
    (places,) = conclude(ledger).maps
    assert {*places.rows} == {_HALL, *_ROOMS}
    belief = world.update(world.start(Goal("find")), None, f"Find what is hidden.|{_HALL}")
    wanted = (Clause((Literal(Atom("at", ("den",))),)),)
    explorer.agenda.adopt(conclude(ledger))
    plan = explorer.agenda.towards(wanted, Situation(belief, Goal("find")), best=True)
    assert [option.command for option in plan.options] == ["go to den"]


def test_a_slot_has_the_role_of_most_names_where_none_is_common_to_all() -> None:
    names = Names()
    names.learn({"room": _ROOMS, "thing": _THINGS})
    book = Book("look at <>", Vocabulary({}))
    for count, name in enumerate((*_THINGS, "attic")):
        book.widen((name,), names)
        witness = Witness(str(count), 1)
        book.add(Attempt(witness, (name,), (name,), False, 0, 0, 0, 0, 0, 0), names)
    assert book.called(names) == ("thing",), "one room was looked at, and five things"
    for count, name in enumerate(_ROOMS):
        book.add(Attempt(Witness(name, count), (name,), (name,), False, 0, 0, 0, 0, 0, 0), names)
    assert book.called(names) is None, "as many rooms as things: it has no role of its own"


def test_who_goes_to_a_room_next_door_is_near_what_adjoins_it() -> None:
    """That the room is near held before, too, and is no change: but the way leads on from there."""
    predicates = {
        "at": Predicate("at", ("room",), exclusive="always"),
        "near": Predicate("near", ("room",), exclusive="adjoins"),
    }
    at, near = Atom("at", ("0",)), Atom("near", ("0",))
    book = Book("go to <>", Vocabulary(predicates), slots=[{"room"}], facts=[at, near])
    for room in _ROOMS:
        before, after = 0b10, 0b11
        moved = Attempt(Witness(room, 1), (room,), (room,), False, before, 0b01, after, 0, 0, 0)
        book.attempts.append(moved)
    effects = [str(fact.clause) for fact in Outcomes(book, frozenset({near})).effects()]
    assert effects == ["at(0)", "near(0)"]
    assert [str(fact.clause) for fact in Outcomes(book).effects()] == ["at(0)"]


class Dim(Unlisted):
    """The same, where only a look around shows what is in a room, and nothing scores."""

    name = "dim"

    def open(self, task: Task, _setting: Setting) -> Game:
        return DimGame(int(task.source["seed"]))

    def start(self, _goal: Goal) -> Belief:
        return FactBelief()

    def update(self, belief: FactBelief, action: str | None, observation: str) -> Belief:
        after = super().update(belief, action, observation)
        seen = () if action != "look" else (f"{observation.split('|')[1]} lamp",)
        return after.learn(thing=(*after.names.get("thing", ()), *seen))


@dataclass
class DimGame(WingGame):
    """Of the rooms, nothing is told but by looking."""

    @property
    def _score(self) -> float:
        return 0.0

    def admissible(self) -> tuple[str, ...]:
        return ("look", *super().admissible())


def test_a_new_place_is_gone_to_and_looked_at_before_anything_has_scored() -> None:
    world = Dim()
    setting = Setting()
    tasks = world.tasks("train", setting)
    ledger = Ledger(world, vocabulary_of(world))
    explorer = Explorer(world, setting, tasks, ledger, Exploring(steps=300, seed=0))
    episodes = [[step.command for step in trace.steps] for trace in explorer.explore()]
    assert ledger.showing["look"] >= 2
    late = episodes[len(episodes) // 2 :]
    assert sum(map(_rooms_seen, late)) / len(late) > 3
    assert sum(commands.count("look") for commands in late) / len(late) > 3


def test_a_look_around_is_worth_its_step_once_at_a_place() -> None:
    room = ("room",)
    known = Literal(Atom("known", room))
    shown = (Revelation(Atom("with", ("room", "_"))),)
    looks = ActionSchema("look", ("look",), (), (known,), others=room)
    shows = ActionSchema("look_shows", ("look",), (), (), observes=shown, others=room)
    opens = ActionSchema("open_shows", ("open <thing>",), (), (), observes=shown, others=room)
    found = taken_once([Process(each, Support()) for each in (looks, shows, opens)])
    needs = [[str(clause) for clause in each.schema.preconditions] for each in found]
    assert needs == [[], ["not known(room)"], []]


class Locked(Unlisted):
    """The same, where every door is closed at first, and one thing ends the task."""

    name = "locked"

    def open(self, task: Task, _setting: Setting) -> Game:
        return LockedGame(int(task.source["seed"]))

    def update(self, belief: FactBelief, action: str | None, observation: str) -> Belief:
        after = super().update(belief, action, observation)
        verb, _, room = (action or "").partition(" ")
        if verb in ("unlock", "lock") and not self.infeasible(observation):
            return after.learn(f"{'not ' if verb == 'lock' else ''}ajar({room.split()[0]})")
        return after

    def manual(self) -> Any:
        ajar = "  ajar: {args: [room], yes: <room> is open, no: <room> is closed}\n"
        return (("locked", _PREDICATES + ajar),)


class LockedGame(WingGame):
    """A way is listed, and refused as long as its door is closed."""

    def reset(self) -> Outcome:
        self.ajar: set[str] = {_HALL}
        return super().reset()

    def step(self, command: str) -> Outcome:
        verb, _, rest = command.partition(" ")
        if verb == "smash":
            return Outcome(self._told("That was the end."), -1.0, done=True)
        if verb == "unlock":
            self.ajar.add(rest.split()[0])
            return Outcome(self._told("Done."), self._score)
        if verb == "go" and rest.removeprefix("to ") not in self.ajar:
            return Outcome(self._told(_REFUSED), self._score)
        return super().step(command)

    def admissible(self) -> tuple[str, ...]:
        doors = [f"unlock {room} door" for room in _ROOMS]
        return (*super().admissible(), *doors, *(f"smash {thing}" for thing in _THINGS))


def test_a_refused_way_is_opened_and_what_ends_tasks_is_tried_once_with_each_thing() -> None:
    world = Locked()
    setting = Setting()
    tasks = world.tasks("train", setting)
    for seed in (0, 1, 2):
        ledger = Ledger(world, vocabulary_of(world))
        explorer = Explorer(world, setting, tasks, ledger, Exploring(steps=500, seed=seed))
        traces = list(explorer.explore())
        early = [trace for trace in traces if len(trace.steps) < world.step_budget - 8]
        most = 2 + len(_THINGS) + 1  # before it is known to; and the last one had no more steps
        assert len(early) <= most
        episodes = [[step.command for step in trace.steps] for trace in traces[5:-1]]
        assert sum(map(_rooms_seen, episodes)) / len(episodes) > 2
