"""Tools that tell of things nobody knew before, of some things only, or nothing: a desk where
books are lent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from rpms.foreign.call_text import read_call
from rpms.induction.exploring.agenda import Exploring
from rpms.induction.learn import RulesPlan, learn_rules
from rpms.logic.belief import Belief, FactBelief, Situation
from rpms.logic.facts import Atom, Clause, Literal, Truth
from rpms.logic.goal import Goal
from rpms.logic.rules import Purpose, RuleManual, Stage
from rpms.paper.wording import Wording
from rpms.planning.reason import Reasoner
from rpms.play.sources import universal_tier
from rpms.store.manual_reader import manual_text
from rpms.store.manuals import read_manual
from rpms.worlds.base import Game, Outcome, Setting, Task, World
from tests.induction.seeded import seeded_tasks

REFUSED = "Error"
_PREDICATES = """\
world: desk
predicates:
  lent: {args: [member, book], yes: <member> has <book>, no: <member> does not have <book>}
  late: {args: [book], yes: <book> is late, no: <book> is not late}
  owing: {args: [member], yes: <member> owes a fee, no: <member> owes nothing}
  lit: {yes: the lamp is on, no: the lamp is off}
"""


@dataclass
class DeskGame:
    """A member with a card and three books.

    What a call does not speak of, its answer does not tell.
    """

    seed: int

    def reset(self) -> Outcome:
        dice = Random(self.seed)
        self.member, self.books = (
            f"M{dice.randrange(3)}",
            [f"B{dice.randrange(3)}{number}" for number in range(3)],
        )
        self.late, self.owing = set(dice.sample(self.books, 2)), dice.random() < 0.5
        self.lit = dice.random() < 0.5
        return Outcome("Card 4711 is on the desk.|")

    def step(self, command: str) -> Outcome:
        call = read_call(command)
        name, id_ = call.name, str(call.arguments.get("id", ""))
        told, known = "", (self.member, *self.books)
        if name not in ("find_member", "get_details", "renew", "check_lamp", "switch_lamp"):
            return Outcome(f"{REFUSED}: no such tool|")
        if name == "find_member":
            told = ";".join(f"lent({self.member}, {book})" for book in self.books)
        elif name in ("get_details", "renew") and id_ not in (
            known if name == "get_details" else self.books
        ):
            return Outcome(f"{REFUSED}: no such id|")
        elif name == "renew":
            self.late.discard(id_)
        elif name == "get_details":
            holds = self.owing if id_ == self.member else id_ in self.late
            told = f"{'' if holds else 'not '}{'owing' if id_ == self.member else 'late'}({id_})"
        elif name == "switch_lamp":
            self.lit = not self.lit
        if name == "check_lamp":
            told = f"{'' if self.lit else 'not '}lit"
        return Outcome(f"{name} {id_}|{told}")

    def admissible(self) -> tuple[str, ...]:
        details = [f'get_details(id="{each}")' for each in (self.member, *self.books)]
        renewals = [f'renew(id="{book}")' for book in self.books]
        return ("check_lamp()", 'find_member(card="4711")', *details, *renewals, "switch_lamp()")

    def close(self) -> None:
        pass


class DeskBelief(FactBelief):
    """A belief of which goals name things by their role."""

    def called(self, word: str) -> Sequence[str]:
        return self.things.get(word, ())


class Desk(World):
    """The World of such games.

    After a call whose answer tells nothing, the belief concludes from what it knew.
    """

    name = "desk"
    splits = ("train",)
    wording = Wording("", "")
    step_budget = 20

    def tasks(self, split: str, _setting: Setting) -> Sequence[Task]:
        return seeded_tasks(split, "any", 60)

    def open(self, task: Task, _setting: Setting) -> Game:
        return DeskGame(int(task.source["seed"]))

    def goal(self, _opening: str) -> Goal:
        return Goal("any")

    def start(self, _goal: Goal) -> Belief:
        return DeskBelief().learn(card=["4711"])

    def update(self, belief: FactBelief, _action: str | None, observation: str) -> Belief:
        said, _, told = observation.partition("|")
        name, _, id_ = said.partition(" ")
        facts = [fact for fact in told.split(";") if fact]
        lent = [fact[5:-1].split(", ") for fact in facts if fact.startswith("lent")]
        members, books = ([pair[place] for pair in lent] for place in (0, 1))
        members += [id_] if "owing" in told else []
        books += [id_] if "late" in told else []
        belief = belief.learn(*facts, member=members, book=books, id=[*members, *books])
        if name == "renew" and belief.truth(Atom("late", (id_,))) is not Truth.UNKNOWN:
            belief = belief.learn(f"not late({id_})")
        if name == "switch_lamp" and belief.truth(Atom("lit")) is not Truth.UNKNOWN:
            belief = belief.learn("not lit" if belief.truth(Atom("lit")) is Truth.TRUE else "lit")
        return belief

    def infeasible(self, observation: str) -> bool:
        return observation.startswith(REFUSED)

    def manual(self) -> Any:
        return (("desk", _PREDICATES),)


@cache
def learned() -> RuleManual:
    world = Desk()
    with TemporaryDirectory() as folder:
        out = Path(folder, "manual.yaml")
        plan = RulesPlan(
            world, tuple(world.tasks("train", Setting())), Setting(), "train", Exploring(steps=500)
        )
        learn_rules(plan, out)
        return read_manual(universal_tier(), manual_text(out))


def shown(manual: RuleManual, command: str) -> set[str]:
    schemas = (*manual.actions, *manual.lore.processes)
    return {
        str(seen.atom)
        for schema in schemas
        if schema.syntax[0] == command
        for seen in schema.observes
    }


def test_a_call_reveals_things_that_nobody_knew_before() -> None:
    assert shown(learned(), 'find_member(card="<card>")') == {"lent(_, _)"}


def test_what_only_things_in_one_role_show_is_said_of_these() -> None:
    manual = learned()
    assert shown(manual, 'get_details(id="<book>")') == {"late(book)"}
    assert shown(manual, 'get_details(id="<member>")') == {"owing(member)"}
    assert shown(manual, 'get_details(id="<id>")') == set()


def test_a_switch_is_learned_both_ways_and_is_no_look() -> None:
    manual = learned()
    ways = {
        (str(each.preconditions[0]), str(each.effects[0]))
        for each in manual.lore.processes
        if each.syntax == ("switch_lamp()",)
    }
    assert ways == {("lit", "not lit"), ("not lit", "lit")}
    assert shown(manual, "switch_lamp()") == set()
    assert shown(manual, "check_lamp()") == {"lit"}


def test_plans_find_things_and_look_before_they_act() -> None:
    world, manual = Desk(), learned()
    in_time = Stage("renew", (Clause((Literal(Atom("late", ("book",)), True),)),))
    lent = Stage("identify", (Clause((Literal(Atom("lent", ("member", "book"))),)),))
    purpose = Purpose(
        "any",
        {"member": "member", "book": "book"},
        (lent, in_time),
        frozenset({"any"}),
        staged=True,
    )
    rules = replace(manual.active("any"), purpose=purpose)
    game = world.open(world.tasks("train", Setting())[0], Setting())
    goal, done = Goal("any"), list[str]()
    # type: ignore[arg-type]
    belief = world.update(world.start(goal), None, game.reset().observation)
    while options := Reasoner(rules).plan(Situation(belief, goal), seek=False).options:
        done.append(options[0].command)
        # type: ignore[arg-type]
        belief = world.update(belief, done[-1], game.step(done[-1]).observation)
        assert len(done) < 9
    assert done[0] == 'find_member(card="4711")'
    assert done[1].startswith("get_details")
    assert all(
        f'get_details(id="{each[10:-2]}")' in done for each in done if each.startswith("renew")
    )
