"""In a world that declares its commands and hides nothing, experiments end once nothing is open."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest

from rpms.induction.conclusions.ledger import vocabulary_of
from rpms.induction.evidence.attempts import Attempt, Book
from rpms.induction.evidence.vocabulary import Vocabulary
from rpms.induction.exploring.agenda import Exploring
from rpms.induction.exploring.first_guesses import FirstGuesses
from rpms.induction.exploring.forward_search import ForwardSearch
from rpms.induction.learn import RulesPlan, learn_rules
from rpms.logic.actions import ActionSchema
from rpms.logic.belief import Belief
from rpms.logic.facts import Atom, Clause, Literal, Truth
from rpms.logic.goal import UNKNOWN_GOAL, Goal
from rpms.paper.wording import Wording
from rpms.store.evidence import Label, Witness
from rpms.worlds.base import Outcome, Setting, Task, World

_REFUSED = "You cannot do that."
_MANUAL = """
world: lamps
predicates:
  at: {args: [room], yes: you are in <room>, no: you are not in <room>}
  linked: {args: [room, room_2], yes: <room> leads to <room_2>, no: <room> is apart from <room_2>}
  wired: {args: [room], yes: <room> has a lamp, no: <room> has no lamp}
  lit: {args: [room], yes: <room> is lit, no: <room> is dark}
"""
_ROOMS = ("room 1", "room 2", "room 3")


@dataclass(frozen=True)
class _Seen(Belief):
    """All facts that are true; others are false."""

    facts: frozenset[Atom] = field(default_factory=frozenset)

    @property
    def names(self):
        return {"room": _ROOMS}

    def truth(self, atom, /):
        return Truth.of(atom in self.facts)

    def value(self, predicate, args):
        return Atom(predicate, args) in self.facts

    @property
    def fingerprint(self):
        return str(sorted(self.facts))


class _House:
    """Rooms in a row: one walks from room to room, and switches lamps on where there is one."""

    def __init__(self):
        self.here = _ROOMS[0]
        self.lit = set()

    def _tell(self):
        told = [f"at({self.here})", f"linked({_ROOMS[0]}, {_ROOMS[1]})"]
        told += [f"linked({_ROOMS[1]}, {_ROOMS[2]})", f"linked({_ROOMS[2]}, {_ROOMS[1]})"]
        told += [f"linked({_ROOMS[1]}, {_ROOMS[0]})", f"wired({_ROOMS[0]})", f"wired({_ROOMS[2]})"]
        return "\n".join((*told, *(f"lit({room})" for room in sorted(self.lit))))

    def reset(self):
        return Outcome(self._tell())

    def step(self, command):
        match = re.fullmatch(r"(\w+)\((.*)\)", command)
        verb, (room, *rest) = match[1], match[2].split(", ")
        if verb == "go":
            allowed = f"linked({room}, {rest[0]})" in self._tell()
        else:
            allowed = room != _ROOMS[1] and (verb == "light" or room in self.lit)
        if room != self.here or not allowed:
            return Outcome(_REFUSED)
        if verb == "go":
            self.here = rest[0]
        elif verb == "light":
            self.lit.add(room)
        else:
            self.lit.discard(room)
        return Outcome(self._tell())

    def admissible(self):
        return ()

    def close(self):
        """Hold nothing."""


class _Lamps(World):
    name = "lamps"
    splits = ("train",)
    wording = Wording(instruction="Explore.", example="None.")
    signatures = ("go(<room>, <room_2>)", "light(<room>)", "douse(<room>)")
    positive_needs = True
    nothing_hidden = True

    def manual(self):
        return (("lamps/manual.yaml", _MANUAL),)

    def tasks(self, split, setting):
        return [Task("house", split, "explore")]

    def open(self, task, setting):
        return _House()

    def goal(self, opening):
        return Goal(UNKNOWN_GOAL, text=opening)

    def start(self, goal):
        return _Seen()

    def update(self, belief, action, observation):
        if observation == _REFUSED:
            return belief
        found = re.findall(r"(\w+)\((.*)\)", observation)
        return _Seen(frozenset(Atom(name, tuple(args.split(", "))) for name, args in found))

    def infeasible(self, observation):
        return observation == _REFUSED


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_experiments_end_once_nothing_is_open_and_every_need_is_known(tmp_path: Path, seed: int):
    world = _Lamps()
    how = Exploring(steps=400, per_episode=100, seed=seed, played=0.0, aside=0)
    tasks = tuple(world.tasks("train", Setting()))
    result = learn_rules(
        RulesPlan(world, tasks, split="train", exploring=how), tmp_path / "manual.yaml"
    )
    assert result.evidence.steps < 60  # it may use 400
    needs = {}
    for action in result.learned.actions:
        told = action.labelled(Label.NECESSARY, Label.POSSIBLE)
        needs[action.name] = {str(fact.clause.literals[0]) for fact in told}
    assert needs == {
        "go": {"at(0)", "linked(0, 1)"},
        "light": {"at(0)", "wired(0)"},
        "douse": {"at(0)", "lit(0)"},
    }


_HERE = Literal(Atom("at", ("room",)))
_GO = ActionSchema(
    "go",
    ("go(<room>, <room_2>)",),
    (Clause((_HERE,)), Clause((Literal(Atom("linked", ("room", "room_2"))),))),
    (_HERE.opposite(), Literal(Atom("at", ("room_2",)))),
)
_LIGHT = ActionSchema(
    "light",
    ("light(<room>)",),
    (Clause((_HERE,)), Clause((Literal(Atom("wired", ("room",))),))),
    (Literal(Atom("lit", ("room",))),),
)
_CHANGING = {"at", "lit"}


def _first_belief(world):
    return world.update(world.start(world.goal("")), None, _House().reset().observation)


def test_a_way_makes_facts_true_together_and_is_none_where_they_exclude_each_other():
    world = _Lamps()
    start = _first_belief(world)
    wanted = [
        Clause((Literal(Atom("at", ("room 3",))),)),
        Clause((Literal(Atom("lit", ("room 1",))),)),
    ]
    search = ForwardSearch(vocabulary_of(world))
    way = search.way([_GO, _LIGHT], _CHANGING, start, wanted)
    assert way == ("light(room 1)", "go(room 1, room 2)", "go(room 2, room 3)")
    elsewhere = Clause((Literal(Atom("at", ("room 2",))),))
    assert search.way([_GO, _LIGHT], _CHANGING, start, [*wanted, elsewhere]) == ()


def test_a_room_without_a_lamp_cannot_be_lit_from_anywhere():
    world = _Lamps()
    search = ForwardSearch(vocabulary_of(world))
    reachable = search.reachable([_GO, _LIGHT], _CHANGING, _first_belief(world))
    assert reachable == {
        Atom("at", ("room 1",)),
        Atom("at", ("room 2",)),
        Atom("at", ("room 3",)),
        Atom("lit", ("room 1",)),
        Atom("lit", ("room 3",)),
    }


def _tried_in_vain(step: int, true: int, false: int) -> Attempt:
    return Attempt(Witness("day", step), (), (), True, true, false, 0, 0, 0, 0)


def test_guesses_explain_refusals_with_facts_that_go_together():
    facts = [Atom(name, ("0",)) for name in ("held", "hung", "hot", "new")]
    # once all but `held` was true, once all but `hung` and `hot`
    attempts = [_tried_in_vain(1, 0b1110, 0b0001), _tried_in_vain(2, 0b1001, 0b0110)]
    book = Book("take <>", Vocabulary({}), facts=facts, attempts=attempts)
    guesses = FirstGuesses(book, {}, 0, 0b1111, lambda *two: {*two} == {0, 1}, Random(1))
    assert not any(guess & 0b0011 == 0b0011 for guess in guesses.guesses)
    complete = [guess for guess in guesses.guesses if guess & 0b0101 == 0b0101]
    assert len(complete) > len(guesses.guesses) / 2
    assert guesses.success(0b0101) < guesses.success(0b1000)


def test_what_was_never_seen_together_may_be_brought_together():
    world = _Lamps()
    search = ForwardSearch(vocabulary_of(world))
    meeting = search.meeting([_GO, _LIGHT], _CHANGING, _first_belief(world))
    at = Atom("at", ("0",))
    rooms = [_ROOMS, _ROOMS]
    assert meeting.possible_of_any(at, Atom("lit", ("0",)), rooms)
    # nobody is in two rooms at once, and room 2 has no lamp
    assert not meeting.possible_of_any(at, Atom("at", ("1",)), rooms)
    assert not meeting.possible([Literal(Atom("lit", ("room 2",)))])
    assert meeting.possible([Literal(Atom("at", ("room 2",))), Literal(Atom("lit", ("room 1",)))])


def test_guesses_have_only_facts_that_may_hold():
    facts = [Atom(name, ("0",)) for name in ("held", "hung")]
    attempts = [_tried_in_vain(1, 0b00, 0b11)]
    book = Book("take <>", Vocabulary({}), facts=facts, attempts=attempts)
    guesses = FirstGuesses(book, {}, 0, 0b01, lambda *_: False, Random(1))
    assert all(guess == 0b01 for guess in guesses.guesses)
