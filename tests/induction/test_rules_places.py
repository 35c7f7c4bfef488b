"""Rooms that have another name before they are entered: walking and searching are learned all
the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from rpms.induction.conclusions.action_model import Induced
from rpms.induction.conclusions.ledger import vocabulary_of
from rpms.induction.evidence.attempts import Book
from rpms.induction.evidence.revelations import SeenStep
from rpms.induction.evidence.templates import Names
from rpms.induction.exploring.agenda import Exploring
from rpms.induction.learn import RulesLearned, RulesPlan, learn_rules, verified
from rpms.induction.rehearse import PLAYED
from rpms.logic.belief import Belief, FactBelief
from rpms.logic.facts import parse_clause
from rpms.logic.goal import Goal
from rpms.paper.wording import Wording
from rpms.play.sources import universal_tier
from rpms.store.evidence import Witness, evidence_file
from rpms.store.manual_reader import manual_text
from rpms.store.manuals import read_manual
from rpms.worlds.base import Game, Outcome, Setting, Task, World
from rpms.worlds.registry import find_world

_PREDICATES = """\
world: cellars
predicates:
  at: {args: [room], yes: you are in the <room>, no: you are not in the <room>, exclusive: always}
  seen: {args: [room], yes: the <room> was seen, no: the <room> was not seen yet}
  leads: {args: [room, way, other], yes: "<way> of the <room> is the <other>", no: "<way> of <room> is not <other>"}
  here: {args: [thing], yes: the <thing> is here, no: the <thing> is not here, exclusive: with}
  with: {args: [room, thing], yes: the <thing> is in the <room>, no: the <thing> is not in the <room>}
  holding: {args: [thing], yes: you hold the <thing>, no: you do not hold the <thing>}
  open: {args: [box], yes: the <box> is open, no: the <box> is closed}
"""
WAYS = ("up", "down")
ROOMS = ("attic", "bath", "cellar", "den", "entry", "foyer", "garage", "hall")
THINGS = (
    "cap",
    "coin",
    "comb",
    "cup",
    "fan",
    "fork",
    "jar",
    "key",
    "lamp",
    "mat",
    "nail",
    "pen",
    "pin",
    "pot",
    "rug",
    "saw",
)
BOXES = ("bin", "case", "chest", "crate", "safe", "trunk")


@dataclass
class CellarsGame:
    """Four rooms above each other, a thing in each, and a box somewhere.

    Tasks want a thing in hand or a box open.
    """

    seed: int

    def reset(self) -> Outcome:
        dice = Random(self.seed)
        self.rooms, self.things = dice.sample(ROOMS, 4), dice.sample(THINGS, 4)
        self.box, self.where, self.at, self.held = (
            dice.choice(BOXES),
            dice.randrange(4),
            dice.randrange(4),
            "",
        )
        self.open, self.wanted = (
            False,
            f"open {self.box}" if self.seed % 3 == 0 else f"take {dice.choice(self.things)}",
        )
        return Outcome(f"{self.wanted}|{self.look()}")

    def look(self) -> str:
        ways = [way for way, step in zip(WAYS, (1, -1), strict=True) if 0 <= self.at + step < 4]
        here = [each for each in self.things[self.at : self.at + 1] if each != self.held]
        boxes = [f"{self.box}={int(self.open)}"] if self.at == self.where else []
        return f"{self.rooms[self.at]};{','.join(ways)};{','.join(here)};{','.join(boxes)}"

    def step(self, command: str) -> Outcome:
        if command not in self.admissible():
            return Outcome("refused")
        verb, _, what = command.partition(" ")
        self.at += {"up": 1, "down": -1}.get(what, 0)
        self.held = what if verb == "take" else self.held
        self.open |= verb == "open"
        won = command == self.wanted
        return Outcome(f"{verb} {what}|{self.look()}", float(won), won=won, done=won)

    def admissible(self) -> tuple[str, ...]:
        ways = [
            f"go {way}" for way, step in zip(WAYS, (1, -1), strict=True) if 0 <= self.at + step < 4
        ]
        opens = [f"open {self.box}"] if self.at == self.where and not self.open else []
        takes = [f"take {self.things[self.at]}"] if self.things[self.at] != self.held else []
        return (*ways, *opens, *takes)

    def close(self) -> None:
        pass


class Cellars(World):
    """The World of such games. Every task is of one type; what its goal is, the opening says."""

    name = "cellars"
    splits = ("train", "test")
    wording = Wording("", "")
    step_budget = 25

    def tasks(self, split: str, _setting: Setting) -> Sequence[Task]:
        numbers = range(40) if split == "train" else range(100, 112)
        return tuple(
            Task(f"{split}-{number}", split, "any", {"seed": str(number)}) for number in numbers
        )

    def open(self, task: Task, _setting: Setting) -> Game:
        return CellarsGame(int(task.source["seed"]))

    def goal(self, opening: str) -> Goal:
        verb, _, what = opening.partition("|")[0].partition(" ")
        return Goal(verb, what)

    def start(self, _goal: Goal) -> Belief:
        return FactBelief()

    def update(self, belief: FactBelief, action: str | None, observation: str) -> Belief:
        if observation == "refused":
            return belief
        room, ways, things, boxes = observation.partition("|")[2].split(";")
        before, way = belief.location, (action or "").removeprefix("go ")
        belief = belief.learn(
            "not at(_)", f"at({room})", f"seen({room})", "not here(_)", f"not with({room}, _)"
        )
        belief = belief.learn(room=[room], other=[room], way=WAYS)
        if before and before != room and way in WAYS:
            back = WAYS[way == "up"]
            belief = belief.learn(
                f"not leads({before}, {way}, _)", f"leads({before}, {way}, {room})"
            )
            belief = belief.learn(
                f"not leads({room}, {back}, _)", f"leads({room}, {back}, {before})"
            )
        for each in WAYS:
            known = [
                atom
                for atom, holds in belief.known.items()
                if holds and atom.args[:2] == (room, each)
            ]
            beyond = f"{each} of {room}"
            if each not in ways.split(","):
                belief = belief.learn(f"not leads({room}, {each}, _)")
            elif not known:
                belief = belief.learn(
                    f"leads({room}, {each}, {beyond})", f"not seen({beyond})", other=[beyond]
                )
                belief = belief.learn(room=[beyond])
        for thing in filter(None, things.split(",")):
            belief = belief.learn(
                f"with({room}, {thing})", f"here({thing})", f"not holding({thing})", thing=[thing]
            )
        for box, _, state in (each.partition("=") for each in filter(None, boxes.split(","))):
            belief = belief.learn(f"with({room}, {box})", f"here({box})", box=[box])
            belief = belief.learn(f"open({box})" if state == "1" else f"not open({box})")
        if (action or "").startswith("take "):
            belief = belief.learn("not holding(_)", f"holding({way.removeprefix('take ')})")
        return belief

    def infeasible(self, observation: str) -> bool:
        return observation == "refused"

    def manual(self) -> Any:
        return (("cellars", _PREDICATES),)


@cache
def learned() -> RulesLearned:
    world = Cellars()
    with TemporaryDirectory() as folder:
        plan = RulesPlan(
            world, tuple(world.tasks("train", Setting())), Setting(), "train", Exploring(steps=800)
        )
        return learn_rules(plan, Path(folder, "manual.yaml"))


def test_a_room_is_the_one_that_its_made_up_name_stood_for() -> None:
    walks = [
        each.schema for each in learned().learned.processes if each.schema.syntax == ("go <way>",)
    ]
    arrive = next(
        each for each in walks if any(effect.atom.predicate == "at" for effect in each.effects)
    )
    assert any(
        literal.atom.predicate == "leads"
        for need in arrive.preconditions
        for literal in need.literals
    )
    assert not any(str(need).startswith("seen(") for need in arrive.preconditions), (
        "rooms not seen yet are reached too"
    )
    assert any(each.observes and each.observes[0].atom.predicate == "with" for each in walks)


def test_boxes_are_near_as_things_are() -> None:
    action = next((each for each in learned().learned.actions if each.template == "open <>"), None)
    assert action is not None
    assert "here(box)" in {
        str(action.bind(fact.clause)) for fact in action.needs if fact.label.value == "necessary"
    }


def test_goals_are_told_apart_by_their_openings_and_won() -> None:
    goals = {goal.type: sorted(map(str, goal.state)) for goal in learned().learned.goals}
    assert goals == {"open": ["open(x)"], "take": ["holding(x)"]}
    assert not [line for line in learned().played if line.startswith("NOT WON")]


def _asked_about(
    template: str,
    names: tuple[str, ...],
    later: tuple[str, ...],
    *steps: tuple[Belief, Belief],
    world: World | None = None,
) -> set[str]:
    """The facts of which an action is known to make all known, after some successes."""
    known, book = Names(), Book(template, vocabulary_of(world or Cellars()), plain=True)
    for number, (before, after) in enumerate(steps):
        known.learn(after.names)
        book.record(
            SeenStep(before, after, Witness("1", number), refused=False),
            names,
            known,
            Random(1),
            later,
        )
    return set(map(str, book.probes))


def test_who_enters_a_room_sees_all_of_it_and_who_takes_a_thing_has_not_looked_for_it() -> None:
    world = Cellars()
    attic = world.update(FactBelief(), None, "take cup|attic;down;;")
    bath = world.update(attic, "go down", "go down|bath;up;cup;")
    beyond = {"room": ["down of attic"]}
    assert "with(2, _)" in _asked_about(
        "go <>",
        ("down", "attic", "down of attic"),
        ("down", "attic", "bath"),
        (attic.learn(**beyond), bath),
    )
    held = world.update(bath, "take cup", "take cup|bath;up;;").learn("not with(_, cup)")
    assert "with(_, 0)" not in _asked_about("take <>", ("cup",), ("cup",), (bath, held))


def test_a_type_that_no_game_was_played_of_is_told_as_not_won_in_the_file_too(
    tmp_path: Path,
) -> None:
    world, file = Cellars(), tmp_path / "manual.yaml"
    plan = RulesPlan(
        world, tuple(world.tasks("train", Setting())), Setting(), "train", Exploring(steps=60)
    )
    told = learn_rules(plan, file).played
    assert {line.split(": ")[1] for line in told if line.startswith("NOT WON IN PLAY")} == {
        "open",
        "take",
    }
    assert all(f"# {line}" in file.read_text() for line in told)


def test_what_is_beside_a_place_is_looked_for_though_no_role_is_called_so() -> None:
    world = find_world("alfworld")
    begun = world.start(Goal("look"))
    before = world.update(
        begun,
        None,
        "You are in the middle of a room. Looking quickly around you, you see a desk 1.",
    )
    after = world.update(
        before,
        "go to desk 1",
        "You arrive at loc 7. On the desk 1, you see a desklamp 1, and a cd 2.",
    )
    desk = ("desk 1",)
    assert "same_place(0, _)" in _asked_about("go to <>", desk, desk, (before, after), world=world)


def test_what_surprises_in_play_is_mended_before_the_manual_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mistaken(*given: Any) -> Any:
        found = verified(*given)
        wrong = Induced(parse_clause("not here(0)"))
        actions = [
            replace(one, effects=(*one.effects, wrong)) if one.name == "open" else one
            for one in found.learned.actions
        ]
        return found._replace(learned=replace(found.learned, actions=tuple(actions)))

    monkeypatch.setattr("rpms.induction.learn.verified", mistaken)
    world, file, edit = (
        Cellars(),
        tmp_path / "manual.yaml",
        "mended: open, does: remove not here(box) (it surprised ",
    )
    plan = RulesPlan(
        world, tuple(world.tasks("train", Setting())), Setting(), "train", Exploring(steps=800)
    )
    result = learn_rules(plan, file)
    opening = next(
        one
        for one in read_manual(universal_tier(), manual_text(file)).actions
        if one.name == "open"
    )
    assert list(map(str, opening.effects)) == ["open(box)"]
    assert any(line.startswith(edit) for line in result.played)
    assert f"# {edit}" in file.read_text(encoding="utf-8")
    (claim,) = [
        one for one in result.taken_out if one.place == "environment/open/effects/not here(box)"
    ]
    played = {trace.episode: trace for trace in result.traces if trace.episode.startswith(PLAYED)}
    shown = [
        played[each.episode].steps[each.step - 1].command.split()[0]
        for each in claim.counterexamples
    ]
    assert set(shown) == {"open"}
    written = file.read_bytes(), evidence_file(file).read_bytes()
    assert learn_rules(plan, file).played == result.played
    assert (file.read_bytes(), evidence_file(file).read_bytes()) == written
