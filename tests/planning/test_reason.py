"""The engine: what a manual, run on a belief, says is to be done, and what for."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rpms.logic.belief import FactBelief, Situation, StateSignature
from rpms.logic.facts import Atom, kind_of
from rpms.logic.goal import Goal, GoalSignature
from rpms.logic.rules import ActiveRules, RuleManual
from rpms.paper import progress
from rpms.paper.arbitration import infeasibility, prohibition
from rpms.paper.memory import SuccessSnippet
from rpms.paper.progress import GoalStanding
from rpms.planning.edges import Option
from rpms.planning.ground import GRANTED, UNTRIED
from rpms.planning.plan_graph import Plan
from rpms.planning.reason import Reasoner
from rpms.planning.whereabouts import Whereabouts, likely_places
from rpms.store.manual_reader import ManualText
from rpms.store.manuals import read_manual
from tests.paper.entries import OBJECTS, PLACES, TYPES
from tests.paper.kitchen import COOL_APPLE, KitchenBelief, manual

MANUAL = """
predicates:
  at: {args: [thing], yes: you are at <thing>, no: you are not at <thing>, exclusive: together}
  together: {args: [one, other]}
  holding: {args: [object], yes: you hold <object>, no: you do not hold <object>, exclusive: always}
  hand_empty: {yes: your hand is empty, no: your hand is full}
  in: {args: [object, place], yes: <object> is in <place>, no: <object> is not in <place>}
  shut: {args: [place], yes: <place> is shut, no: <place> is open}
  fits: {args: [object, place], yes: <object> fits in <place>, no: <object> does not fit in <place>}
  washed: {args: [object], yes: <object> is washed, no: <object> is not washed}
  lit: {args: [object], yes: <object> is lit, no: <object> is not lit}
  blessed: {args: [object]}
goals:
  store: {over: {x: object, p: destination}, holds: ['in(x, p)']}
  pair: {over: {x: object, y: object, p: destination}, holds: ['in(x, p)', 'in(y, p)']}
  light: {over: {x: object}, holds: [lit(x)]}
  bless: {over: {x: object}, holds: [blessed(x)]}
procedures:
  laundry:
    goals: [laundry]
    over: {x: object, p: destination}
    steps:
      - {fetch: holding(x)}
      - {wash: washed(x)}
      - {put_away: 'in(x, p)'}
domain:
  where:
    D-LOC-001: {text: Mugs are mostly in cupboards, category: mugs, objects: [mug], places: [cupboard, desk]}
environment:
  go:
    syntax: go to <place>
    preconditions: [not at(place)]
    effects: [at(place)]
    observes: [shut(place), 'in(_, place) if not shut(place)', 'together(place, _) if not shut(place)']
  open:
    syntax: open <place>
    preconditions: [at(place), shut(place)]
    effects: [not shut(place)]
    observes: ['in(_, place)']
  take:
    syntax: take <object> from <place>
    preconditions: [at(place), hand_empty, not shut(place), 'in(object, place)']
    effects: [holding(object), not hand_empty, 'not in(object, place)']
  put:
    syntax: put <object> in <place>
    preconditions: [holding(object), at(place), not shut(place), 'fits(object, place)']
    effects: [not holding(object), hand_empty, 'in(object, place)']
  wash: {syntax: wash <object>, preconditions: [holding(object)], effects: [washed(object)]}
  use: {syntax: use <object>, preconditions: [at(object)], effects: [lit(object)]}
"""
SPOTLESS = """
  tidiness:
    D-TIDY-001:
      text: Nothing dirty goes anywhere
      forbids: [{action: put, when: [not washed(object)]}]
environment:"""

Fact = tuple[str, ...]
ROOM = ("hall 1", "desk 1", "cupboard 1", "shelf 1")
STORE = Goal("store", "mug", "", "shelf")
SEEN: tuple[Fact, ...] = tuple(("shut", place) for place in ROOM)


KITCHEN = manual()


@cache
def manual_of(text: str) -> RuleManual:
    return read_manual(ManualText("house.yaml", text))


def rules(goal: Goal, text: str = MANUAL) -> ActiveRules:
    return manual_of(text).active(goal.type, goal.object, goal.destination)


def house(
    *true: Fact, no: tuple[Fact, ...] = (), objects: tuple[str, ...] = ("mug 1",)
) -> FactBelief:
    """A room in which the agent stands in the hall with an empty hand, unless said otherwise;
    all places are open.
    """
    facts = {Atom("at", (place,)): False for place in ROOM}
    facts |= {Atom("at", ("hall 1",)): True} if not any(name == "at" for name, *_ in true) else {}
    facts |= {Atom("hand_empty"): not any(name == "holding" for name, *_ in true)}
    facts |= {Atom("holding", (name,)): False for name in objects}
    facts |= {Atom("washed", (name,)): False for name in objects} | {
        Atom("lit", (name,)): False for name in objects
    }
    facts |= {Atom("shut", (place,)): False for place in ROOM}
    facts |= {
        Atom("fits", (name, place)): True
        for name in (*objects, "mug ?", "mug ??")
        for place in ROOM
    }
    facts |= {Atom(name, tuple(args)): True for name, *args in true}
    facts |= {Atom(name, tuple(args)): False for name, *args in no}
    return FactBelief(facts, {"place": ROOM, "object": objects})


def unknown(belief: FactBelief, *facts: Fact) -> FactBelief:
    gone = {Atom(name, tuple(args)) for name, *args in facts}
    return replace(
        belief, known={atom: value for atom, value in belief.known.items() if atom not in gone}
    )


def plan(goal: Goal, belief: FactBelief, text: str = MANUAL) -> Plan:
    return Reasoner(rules(goal, text)).plan(Situation(belief, goal))


def standing(goal: Goal, belief: FactBelief, text: str = MANUAL) -> GoalStanding:
    return progress.standing(rules(goal, text), Situation(belief, goal))


def chain(plan: Plan) -> list[str]:
    return [link.command for link in plan.options[0].chain]


def found_at(kind: str, place: str, syntax: ActiveRules) -> Whereabouts:
    """Experience of one thing that was found in one place."""
    goal = GoalSignature("store", kind)
    entry = SuccessSnippet(
        goal, StateSignature.of(holding=()), "take", (f"take {kind} 4 from {place} 9",)
    )
    return Whereabouts((entry,), syntax)


def nowhere(name: str, *places: str) -> tuple[Fact, ...]:
    return tuple(("in", name, place) for place in places or ROOM)


MUG_ON_DESK = house(
    ("in", "mug 1", "desk 1"), no=nowhere("mug 1", "hall 1", "cupboard 1", "shelf 1")
)


class TestChains:
    def test_from_the_goal_to_what_can_be_done_now(self):
        found = plan(STORE, MUG_ON_DESK)
        assert chain(found) == ["go to desk 1", "take mug 1 from desk 1", "put mug 1 in shelf 1"]
        assert found.cost == 4, "and the way to the shelf"

    def test_each_link_says_what_it_is_for(self):
        go, take, put = plan(STORE, MUG_ON_DESK).options[0].chain
        assert [str(link.fact.atom) for link in (go, take, put)] == [
            "at(desk 1)",
            "holding(mug 1)",
            "in(mug 1, shelf 1)",
        ]
        assert not any(link.reveals for link in (go, take, put))

    def test_a_door_on_the_way_is_opened(self):
        belief = house(("at", "desk 1"), ("in", "mug 1", "desk 1"), ("shut", "desk 1"))
        assert chain(plan(STORE, belief))[:2] == ["open desk 1", "take mug 1 from desk 1"]

    def test_a_goal_that_holds_leaves_nothing_to_do(self):
        found = plan(STORE, house(("in", "mug 1", "shelf 1")))
        assert (found.options, found.cost) == ((), 0)
        progress = standing(STORE, house(("in", "mug 1", "shelf 1"))).progress
        assert (progress.sub_goal, progress.percent) == ("done", 100)

    def test_moving_comes_last(self):
        belief = house(
            ("at", "shelf 1"),
            ("holding", "book 1"),
            ("in", "mug 1", "desk 1"),
            no=nowhere("mug 1", "hall 1", "cupboard 1", "shelf 1"),
            objects=("mug 1", "book 1"),
        )
        assert chain(plan(STORE, belief))[0] == "put book 1 in shelf 1", (
            "the hand is emptied before one walks away"
        )

    def test_being_at_one_thing_is_being_at_what_is_in_the_same_place(self):
        goal = Goal("light", "lamp")
        apart = [("together", place, "lamp 1") for place in ("hall 1", "cupboard 1", "shelf 1")]
        belief = house(
            ("together", "desk 1", "lamp 1"), no=(("at", "lamp 1"), *apart), objects=("lamp 1",)
        )
        assert chain(plan(goal, belief)) == ["go to desk 1", "use lamp 1"]

    def test_what_undoes_its_own_purpose_is_not_planned(self):
        found = plan(STORE, house(no=(*nowhere("mug 1"), *nowhere("mug ?"))))
        assert found.cost == inf
        planned = [link.command for option in found.options for link in option.chain]
        assert not any(command.startswith("put") for command in planned), (
            "only so that it could be taken again"
        )


class TestNotKnowing:
    def test_what_is_nowhere_to_be_seen_is_looked_for_in_the_likeliest_places_first(self):
        found = plan(STORE, house(no=nowhere("mug ?", "hall 1"), objects=()))
        assert [option.command for option in found.options] == [
            "go to cupboard 1",
            "go to desk 1",
            "go to shelf 1",
        ]
        assert all(option.chain[0].reveals for option in found.options)
        assert [option.regret for option in found.options] == sorted(
            option.regret for option in found.options
        )

    def test_experience_says_where_to_look_where_the_manual_does_not(self):
        goal = Goal("store", "pen", "", "shelf")
        belief = house(no=nowhere("pen ?", "hall 1"), objects=())
        active = rules(goal)
        order = likely_places(active, found_at("pen", "shelf", active), ["pen"])
        assert (
            Reasoner(active).plan(Situation(belief, goal), order).options[0].command
            == "go to shelf 1"
        )

    def test_the_manual_goes_before_a_single_experience(self):
        ranks = likely_places(rules(STORE), found_at("mug", "desk", rules(STORE)), ["mug"])["mug"]
        assert ranks["cupboard"] == 0
        assert 0 < ranks["desk"] < 1, "but it comes nearer"

    def test_places_that_were_searched_are_not_searched_again(self):
        searched = nowhere("mug ?", "hall 1", "cupboard 1", "desk 1")
        found = plan(STORE, house(no=searched, objects=()))
        assert [option.command for option in found.options] == ["go to shelf 1"]

    def test_what_was_found_is_not_looked_for_elsewhere(self):
        found = plan(STORE, house(("in", "mug 1", "desk 1")))
        assert chain(found)[1] == "take mug 1 from desk 1"

    def test_what_is_unknown_and_can_be_made_so_is_taken_for_granted_at_a_price(self):
        sure, unsure = (
            plan(STORE, MUG_ON_DESK),
            plan(STORE, unknown(MUG_ON_DESK, ("shut", "shelf 1"))),
        )
        assert chain(sure) == chain(unsure)
        assert unsure.cost == sure.cost + GRANTED

    def test_what_is_unknown_for_good_is_taken_for_granted_too_and_what_is_known_false_is_impossible(
        self,
    ):
        maybe = plan(STORE, unknown(MUG_ON_DESK, ("fits", "mug 1", "shelf 1")))
        assert maybe.cost == plan(STORE, MUG_ON_DESK).cost + GRANTED
        never = house(("in", "mug 1", "desk 1"), no=(("fits", "mug 1", "shelf 1"),))
        assert "put mug 1 in shelf 1" not in [
            link.command for one in plan(STORE, never).options for link in one.chain
        ]

    def test_kinds_that_a_table_does_not_list_are_tried_where_nothing_else_does(self):
        learned = MANUAL.replace(
            "<object> does not fit in <place>}", "<object> does not fit in <place>, lasting: true}"
        )
        learned = learned.replace(
            "goals:", "kinds:\n  fits: {yes: {mug: [shelf]}, no: {}}\ngoals:", 1
        )
        usual, untried = (
            plan(STORE, MUG_ON_DESK, learned),
            plan(Goal("store", "mug", "", "cupboard"), MUG_ON_DESK, learned),
        )
        assert chain(untried)[-1] == "put mug 1 in cupboard 1"
        assert untried.cost == usual.cost + UNTRIED

    def test_nothing_is_done_to_what_nobody_has_seen_but_it_may_be_made(self):
        cook = "processes:\n  brew: {command: stir <place>, needs: [at(place)], effects: ['in(potion, place)']}\ndomain:"
        brewing = MANUAL.replace("domain:", cook).replace(
            "  use:", "  stir: {syntax: stir <place>}\n  use:"
        )
        goal = Goal("store", "potion", "", "desk")
        made = plan(goal, house(("at", "desk 1"), no=nowhere("potion ?"), objects=()), brewing)
        assert chain(made) == ["stir desk 1"], "a potion that is not there yet"
        cabinet = plan(Goal("store", "mug", "", "cabinet"), MUG_ON_DESK)
        assert not any("?" in option.command for option in cabinet.options), (
            "nobody has seen a cabinet"
        )

    def test_the_goals_own_facts_are_never_taken_for_granted(self):
        goal = Goal("store", "mug", "", "cupboard")
        belief = house(("holding", "mug 1"), ("at", "cupboard 1"))
        assert chain(plan(goal, belief)) == ["put mug 1 in cupboard 1"]
        assert (
            plan(Goal("laundry", "mug", "", "shelf"), house(("holding", "mug 1")))
            .options[0]
            .command
            == "wash mug 1"
        )

    @pytest.mark.parametrize("type_", ["unknown", "bless"])
    def test_where_no_way_to_the_goal_is_known_whatever_is_unknown_is_found_out(self, type_):
        belief = unknown(house(objects=()), ("shut", "desk 1"), ("shut", "shelf 1"))
        told = [(name, "anything ?", place) for name in ("in",) for place in ROOM]
        told += [("together", place, "anything ?") for place in ROOM]
        found = plan(
            Goal(type_, "mug"),
            replace(belief, known={**belief.known, **dict.fromkeys(map(_atom, told), False)}),
        )
        assert {option.command for option in found.options} == {"go to desk 1", "go to shelf 1"}

    def test_where_all_is_known_there_is_nothing_to_explore(self):
        assert plan(Goal("unknown"), house(no=NOTHING_HIDDEN)).options == ()


NOTHING_HIDDEN = tuple(
    fact
    for place in ROOM
    for fact in (("in", "anything ?", place), ("together", place, "anything ?"))
)


def _atom(fact: Fact) -> Atom:
    return Atom(fact[0], fact[1:])


class TestRules:
    def test_what_a_rule_forbids_is_seen_to_before_it_is_done(self):
        holding = house(("holding", "mug 1"), ("at", "shelf 1"), no=nowhere("mug 1"))
        assert chain(plan(STORE, holding)) == ["put mug 1 in shelf 1"]
        spotless = MANUAL.replace("\nenvironment:", SPOTLESS)
        assert chain(plan(STORE, holding, spotless)) == ["wash mug 1", "put mug 1 in shelf 1"]

    def test_an_action_costs_the_steps_that_the_manual_says(self):
        slow = MANUAL.replace("wash <object>, ", "wash <object>, steps: 7, ")
        goal = Goal("laundry", "mug", "", "shelf")
        assert plan(goal, house(("holding", "mug 1")), slow).cost == 7

    def test_what_a_plan_sees_to_beyond_what_an_action_needs(self):
        careful = MANUAL.replace(
            "syntax: put <object> in <place>\n",
            "syntax: put <object> in <place>\n    plan: [washed(object)]\n",
        )
        holding = house(("holding", "mug 1"), ("at", "shelf 1"))
        assert chain(plan(STORE, holding, careful)) == ["wash mug 1", "put mug 1 in shelf 1"]
        situation = Situation(holding, STORE)
        assert infeasibility("put mug 1 in shelf 1", rules(STORE, careful), situation) is None, (
            "it can be done unwashed"
        )


class TestSeveralThings:
    PAIR = Goal("pair", "mug", "", "shelf")
    MUGS = ("mug 1", "mug 2", "mug 3")

    def test_things_that_may_trade_places_are_tried_one_way_only(self):
        assert rules(self.PAIR).purpose.interchangeable
        assert not rules(Goal("laundry", "mug", "", "shelf")).purpose.interchangeable

    def test_the_nearest_of_several_comes_first(self):
        belief = house(
            ("at", "desk 1"),
            *(
                ("in", mug, place)
                for mug, place in zip(self.MUGS, ("cupboard 1", "desk 1", "hall 1"), strict=True)
            ),
            objects=self.MUGS,
        )
        assert chain(plan(self.PAIR, belief))[0] == "take mug 2 from desk 1"

    def test_the_second_of_two_is_another_thing(self):
        belief = house(
            ("in", "mug 1", "shelf 1"),
            no=(*nowhere("mug ?", "hall 1", "shelf 1"),),
            objects=("mug 1",),
        )
        progress = standing(self.PAIR, belief).progress
        assert plan(self.PAIR, belief).options[0].command == "go to cupboard 1"
        assert (progress.text, progress.percent) == ("find_object - mug", 50)


def test_what_is_asked_of_one_thing_alone_is_as_likely_in_any_order_of_places():
    """Experience may know where things of a place's own kind were found; whether it is shut
    concerns it alone.
    """
    lost = Goal("unknown")
    belief = unknown(MUG_ON_DESK, *(("shut", place) for place in ROOM))
    order = {kind_of(place): {"desk": 0} for place in ROOM}
    assert Reasoner(rules(lost)).plan(Situation(belief, lost), order).options


class TestProcedures:
    GOAL = Goal("laundry", "mug", "", "shelf")

    @pytest.mark.parametrize(
        ("true", "first", "stage", "percent"),
        [
            ((("in", "mug 1", "desk 1"),), "go to desk 1", "fetch", 0),
            ((("holding", "mug 1"),), "wash mug 1", "wash", 33),
            ((("holding", "mug 1"), ("washed", "mug 1")), "go to shelf 1", "put_away", 66),
            ((("in", "mug 1", "shelf 1"),), None, "done", 100),
        ],
    )
    def test_one_stage_after_the_other_is_worked_on(self, true, first, stage, percent):
        found = plan(self.GOAL, house(*true))
        assert (found.options[0].command if found.options else None) == first
        progress = standing(self.GOAL, house(*true)).progress
        assert (progress.sub_goal, progress.percent) == (stage, percent)

    def test_a_stage_is_passed_where_the_facts_of_a_later_one_hold(self):
        washed = house(("washed", "mug 1"), ("in", "mug 1", "desk 1"))
        held = "it need not be held for what was washed before"
        assert standing(self.GOAL, washed).progress.sub_goal == "put_away", held
        assert plan(self.GOAL, washed).options[0].command == "go to desk 1"


class TestProgress:
    def test_a_thing_that_lies_where_it_belongs_is_not_home_before_all_else_is_done(self):
        known = KitchenBelief(
            "countertop 1",
            containers={"fridge 1": True, "countertop 1": True},
            last_seen={"apple 1": "countertop 1"},
            searched=frozenset({"fridge 1", "countertop 1"}),
        )
        active = KITCHEN.active(COOL_APPLE.type, COOL_APPLE.object, COOL_APPLE.destination)
        holding = replace(known, holding=("apple 1",), last_seen={})
        there = progress.standing(active, Situation(known, COOL_APPLE)).progress
        held = progress.standing(active, Situation(holding, COOL_APPLE)).progress
        assert (there.text, there.done) == ("take_object - apple 1", 1)
        assert (held.text, held.done, held.total) == ("cool_object - apple 1", 2, 4)


class TestRemedies:
    def remedy(self, command: str, belief: FactBelief):
        active = rules(STORE)
        return Reasoner(active).remedy(active.instance(command), Situation(belief, STORE))

    @pytest.mark.parametrize(
        ("command", "true", "first", "fact"),
        [
            ("take mug 1 from desk 1", (("in", "mug 1", "desk 1"),), "go to desk 1", "at(desk 1)"),
            (
                "take mug 1 from desk 1",
                (("at", "desk 1"), ("in", "mug 1", "desk 1"), ("shut", "desk 1")),
                "open desk 1",
                "shut(desk 1)",
            ),
            ("open desk 1", (("at", "desk 1"),), "", "shut(desk 1)"),
        ],
    )
    def test_the_first_step_towards_an_action_and_what_it_is_for(self, command, true, first, fact):
        found = self.remedy(command, house(*true))
        assert (found.command, str(found.fact)) == (first, fact)

    def test_where_nothing_helps_the_fact_that_stands_in_the_way_is_told(self):
        found = self.remedy(
            "put mug 1 in desk 1",
            house(("in", "mug 1", "hall 1"), no=(("fits", "mug 1", "desk 1"),)),
        )
        assert (found.command, str(found.fact)) == ("", "fits(mug 1, desk 1)")

    def test_to_search_elsewhere_is_no_remedy(self):
        found = self.remedy("put mug 1 in shelf 1", house())
        assert (found.command, str(found.fact)) == ("", "holding(mug 1)")


goals = st.builds(
    Goal,
    st.sampled_from(TYPES),
    st.sampled_from(OBJECTS),
    st.sampled_from(["cool", ""]),
    st.sampled_from(PLACES),
)
places = ("fridge 1", "countertop 1", "cabinet 1")
things = ("apple 1", "apple 2", "egg 1")
beliefs = st.builds(
    KitchenBelief,
    st.sampled_from([None, *places]),
    st.sampled_from([(), ("apple 1",), ("egg 1",)]),
    st.dictionaries(st.sampled_from(places), st.booleans()),
    st.dictionaries(st.sampled_from(things), st.sampled_from(places)),
    st.frozensets(st.sampled_from(things)),
    st.lists(st.sampled_from(places), unique=True).map(tuple),
    st.frozensets(st.sampled_from(places)),
)


@given(goals, beliefs)
def test_nothing_is_planned_that_is_known_to_fail_or_forbidden_and_the_same_is_planned_again(
    goal, belief
):
    active = KITCHEN.active(goal.type, goal.object, goal.destination)
    situation = Situation(belief, goal)
    found = Reasoner(active).plan(situation)
    assert found == Reasoner(active).plan(situation)
    for option in found.options:
        assert active.instance(option.command) is not None
        for objection in (
            infeasibility(option.command, active, situation),
            prohibition(option.command, active, situation),
        ):
            assert objection is None or not objection.conflict, objection
    regrets = [option.regret for option in found.options]
    assert regrets == sorted(regrets)
    assert regrets[:1] in ([], [0])
    assert len({option.command for option in found.options}) == len(found.options)
    measured = progress.standing(active, situation).progress
    assert 0 <= measured.done <= measured.total


@given(beliefs)
def test_every_command_that_could_be_written_can_be_read(belief):
    active = KITCHEN.active(COOL_APPLE.type, COOL_APPLE.object)
    commands = list(Reasoner(active).commands(Situation(belief, COOL_APPLE)))
    assert all(active.instance(command) is not None for command in commands)
    assert len(set(commands)) == len(commands)


def test_asking_for_a_kind_that_nobody_knows_changes_nothing_that_other_threads_read() -> None:
    known = found_at("cup", "shelf", rules(Goal("store", "cup")))
    before, kinds = known.approach(), dict(known._all.ways)
    assert known.approach("a kind that nobody knows") == ()
    assert known._all.ways == kinds
    assert known.approach() == before


def test_where_the_best_option_is_dropped_the_next_one_is_the_best():
    """Its regret is no longer told by the dropped one, or a menu would leave it out."""
    options = (Option("go to a", 0.0), Option("go to b", 4.5), Option("go to c", 6.0))
    kept = Plan(options, cost=3.0).keeping(options[1:])
    assert [(option.command, option.regret) for option in kept.options] == [
        ("go to b", 0.0),
        ("go to c", 1.5),
    ]
    assert kept.cost == 7.5
    assert Plan(options, cost=3.0).keeping(options[:1]) == Plan(options[:1], cost=3.0)
    assert Plan(options, cost=3.0).keeping(()) == Plan(cost=3.0)
