"""Experience that belongs to a place: reached over remembered ways, followed there, left alone where it is divided."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from rpms.core.adapt import Room, adapted, recalled_steps
from rpms.core.atlas import Atlas, Where, strides_of
from rpms.core.belief import Situation
from rpms.core.condition import FULL, MEMORY_ONLY, Knowledge, compose
from rpms.core.consistency import CompatibilityFilter, same_occupancy
from rpms.core.enforcement import STRICT
from rpms.core.follow import Following
from rpms.core.goal import Goal, GoalSignature
from rpms.core.recall import EpisodicMemory
from rpms.core.similarity import Similarity
from rpms.core.verdict import Candidate, Fate, Verdict
from rpms.core.voice import Voice, memory_line
from rpms.core.whereabouts import Whereabouts
from tests.core.house import DOORS, MANUAL, MUG, SYNTAX, House, by_room, snippet

WAYS = snippet(
    *("cellar", "walk", "open door to hall", "go to hall", "look around"),
    *("open door to kitchen", "go to kitchen", "look around", "open cupboard", "look around", "wait"),
    goal=GoalSignature("walk", "about", "house"),
    id_="ways",
)
TAKE = snippet("kitchen", "take", "pick up mug", id_="take")
PUT = snippet("kitchen", "put", "pick up mug", "go to hall", "look around", "put mug in red box", stage=1, id_="put")
THINGS = {"cupboard": "kitchen", "mug": "cupboard", "red box": "hall", "spoon": "garden"}


def room_of(house: House, goal: Goal, sub_goal: str, stage: int = 0) -> Room:
    situation = Situation(house.belief, goal, stage)
    refused = [command for command in house.tried if command not in house.done]
    return Room(situation, SYNTAX, Whereabouts((), SYNTAX), tuple(house.done), sub_goal, house.tried, refused)


def followed(memory, house: House, goal: Goal = MUG, sub_goal: str = "take", stage: int = 0, compat=by_room):
    """What memory makes of its snippets, those of the goal's own type having come to mind."""
    room = room_of(house, goal, sub_goal, stage)
    recalled = [
        Candidate(each, 1.0, 1.0, Verdict(Fate.KEPT)) for each in memory if each.goal_signature.type == goal.type
    ]
    filtered = CompatibilityFilter(compat)(recalled, room.situation, SYNTAX)
    following = Following(compat, Similarity(), memory, SYNTAX)
    return list(following(filtered, room)), room


def choices(memory, house: House, **about) -> list[str]:
    found, room = followed(memory, house, **about)
    return [command for command, _ in recalled_steps([each for each in found if each.verdict.fate.shown], room)]


def play(memory, house: House, steps: int, **about) -> list[str]:
    """Do the best of what memory proposes until it proposes nothing."""
    for _ in range(steps):
        left = choices(memory, house, **about)
        if not left:
            break
        house.step(left[0])
    return house.done


class TestTheMap:
    def test_a_snippet_tells_where_each_of_its_steps_was_done_and_what_led_there(self):
        where = Where.of(Situation(House({}).belief, MUG), SYNTAX)
        assert where == Where("inside", "room", "cellar")
        strides = strides_of(WAYS, where, SYNTAX)
        assert [(stride.at, stride.to) for stride in strides[:5]] == [
            *(("cellar", "hall"), ("cellar", "hall"), ("hall", "")),
            *(("hall", "kitchen"), ("hall", "kitchen")),
        ]
        assert {stride.at for stride in strides[5:]} == {"kitchen"}

    def test_ways_are_put_together_and_lead_back(self):
        atlas = Atlas.of([WAYS], Where("inside", "room", "cellar"), SYNTAX)
        assert atlas.way("cellar", "kitchen") == ("hall", "kitchen")
        assert atlas.way("kitchen", "cellar") == ("hall", "cellar"), "nobody went back yet"
        assert atlas.way("cellar", "kitchen", barred={"hall"}) is None
        assert atlas.way("cellar", "attic") is None
        assert atlas.commands("cellar") == ("open door to cellar", "go to cellar"), "as to other places"
        assert (atlas.look, atlas.lids("kitchen")) == ("look around", ("open cupboard",))

    def test_from_a_place_that_nobody_left_before_any_known_one_may_be_next(self):
        atlas = Atlas.of([WAYS], Where("inside", "room", "attic"), SYNTAX)
        assert atlas.way("attic", "kitchen") == ("kitchen",)
        assert atlas.way("attic", "kitchen", barred={"kitchen"}) == ("hall", "kitchen")

    def test_where_no_command_moves_there_is_nowhere(self):
        assert Where.of(Situation(House({}).belief, MUG), replace(SYNTAX, environment=SYNTAX.environment[:1])) is None


class TestFollowing:
    def test_what_nothing_but_its_place_keeps_out_is_reached_and_done(self):
        house = House({"mug": "kitchen"})
        assert play([WAYS, TAKE], house, 6) == [
            *("open door to hall", "go to hall", "open door to kitchen", "go to kitchen", "look around"),
            "pick up mug",
        ]

    def test_a_thing_that_is_not_seen_where_it_was_is_looked_for_as_places_were_searched(self):
        house = House(THINGS)
        done = play([WAYS, TAKE], house, 12)
        assert done[-4:] == ["look around", "open cupboard", "look around", "pick up mug"]
        elsewhere = House({**THINGS, "mug": "hall"})
        assert play([WAYS, TAKE], elsewhere, 12)[-2:] == ["look around", "pick up mug"]
        assert elsewhere.room == "hall"

    def test_a_thing_is_fetched_from_where_it_is_known_to_be(self):
        house = House({"mug": "cellar"})
        assert choices([WAYS, TAKE], house) == ["pick up mug"]

    def test_what_is_done_is_left_out_also_where_a_later_step_used_it_up(self):
        house = House({"mug": "hall", "red box": "hall"}, room="hall")
        play([WAYS, PUT], house, 2, sub_goal="put", stage=1)
        assert house.done == ["pick up mug", "put mug in red box"]
        assert choices([WAYS, PUT], house, sub_goal="put", stage=1) == [], "all is done, and was not what was wanted"

    def test_the_words_of_the_present_goal_stand_in_place_of_those_of_then(self):
        cup = Goal("fetch", "bring", "cup", "blue box")
        house = House({"cup": "hall", "blue box": "hall"}, room="hall")
        assert play([WAYS, PUT], house, 2, goal=cup, sub_goal="put", stage=1) == ["pick up cup", "put cup in blue box"]

    def test_where_all_was_done_in_vain_with_one_of_several_it_is_the_others_turn(self):
        pots = snippet("hall", "put", "pick up pot 7", "put pot 7 in red box", id_="pots")
        house = House({"pot 1": "hall", "pot 2": "hall", "red box": "hall"}, room="hall")
        done = play([WAYS, pots], house, 9, sub_goal="put")
        assert done == ["pick up pot 1", "put pot 1 in red box", "pick up pot 2", "put pot 2 in red box"]

    def test_what_takes_time_is_gone_on_with_while_anything_changes(self):
        stir = snippet("hall", "cook", "stir pan", "wait", "stir pan", "wait", id_="stir")
        house = House({"pan": "hall"}, room="hall")
        assert play([WAYS, stir], house, 9, sub_goal="cook") == ["stir pan", "wait"] * 2, "here nothing ever changes"
        house = House({"pan": "hall"}, room="hall")
        for _ in range(6):
            house.step(choices([WAYS, stir], house, sub_goal="cook")[0])
            house.tried = []
        assert house.done == ["stir pan", "wait"] * 3

    def test_a_way_that_is_refused_is_not_proposed_again(self):
        house = House({"mug": "kitchen"})
        house.tried = ["open door to hall"]
        assert choices([WAYS, TAKE], house) == []

    def test_what_reached_the_sub_goal_for_another_task_helps_where_it_names_what_the_goal_is_about(self):
        other = GoalSignature("boil", "boil", "egg")
        egg = snippet("kitchen", "take", "pick up egg", goal=other, id_="egg")
        tool = snippet("kitchen", "take", "pick up spoon", goal=other, id_="spoon")
        house = House({"mug": "cellar", "spoon": "cellar"})
        assert choices([WAYS, PUT, egg], house) == ["pick up mug"]
        assert "pick up spoon" not in choices([WAYS, PUT, tool], house)


class TestWhenNotToFollow:
    def test_divided_experience_is_said_and_not_followed(self):
        red = snippet("hall", "answer", "point at red box", goal=GoalSignature("judge", "weigh", "mug"), id_="red")
        blue = replace(red, actions=("point at blue box",), id="blue")
        goal = Goal("judge", "weigh", "mug")
        house = House({"red box": "hall", "blue box": "hall"}, room="hall")
        assert choices([WAYS, red], house, goal=goal, sub_goal="answer") == ["point at red box"]
        found, room = followed([WAYS, red, blue], house, goal=goal, sub_goal="answer")
        (hint,) = [each for each in found if each.verdict.fate.shown]
        assert memory_line(hint) == "  HINT: experience is divided between blue box, red box [red]"
        assert list(recalled_steps([hint], room)) == []

    def test_what_was_found_by_looking_for_it_is_no_choice(self):
        mouse = snippet("hall", "spot", "look around", "point at mouse", goal=GoalSignature("find", "animal"), id_="m")
        dove = replace(mouse, actions=("look around", "point at dove"), id="d")
        house = House({"dove": "hall"}, room="hall")
        assert choices([WAYS, mouse, dove], house, goal=Goal("find", "animal"), sub_goal="spot")[:1] == [
            "point at dove"
        ]

    def test_experience_of_goals_more_like_this_one_comes_before_all_other(self):
        house = House({"mug": "hall", "spoon": "hall"}, room="hall")
        room = room_of(house, MUG, "take")
        near = Candidate(snippet("hall", "take", "pick up mug", id_="near"), 0.9, 0.9, Verdict(Fate.KEPT))
        far = Candidate(snippet("hall", "take", "pick up spoon", id_="far"), 0.7, 2.0, Verdict(Fate.KEPT))
        following = Following(by_room, Similarity(), [WAYS, near.entry, far.entry], SYNTAX)
        fates = {each.entry.id: each.verdict.fate for each in following([far, near], room)}
        assert fates == {"near": Fate.KEPT, "far": Fate.CROWDED}

    def test_what_is_much_farther_from_being_done_gives_way(self):
        house = House({"mug": "hall"}, room="hall")
        far = snippet("kitchen", "take", "pick up spoon", goal=MUG.signature, id_="far")
        near = snippet("hall", "take", "stir mug", id_="near")
        following = Following(by_room, Similarity(), [WAYS, near, far], SYNTAX, slack=4)
        recalled = [Candidate(each, 1.0, 1.0, Verdict(Fate.KEPT)) for each in (far, near)]
        fates = {each.entry.id: each.verdict.fate for each in following(recalled, room_of(house, MUG, "take"))}
        assert fates == {"near": Fate.KEPT, "far": Fate.CROWDED}

    def test_where_the_state_filter_does_not_mind_places_nothing_is_followed(self):
        house = House({"mug": "kitchen"})
        found, room = followed([WAYS, TAKE, PUT], house, compat=same_occupancy)
        assert all(each.adapted is None or not each.adapted.followed for each in found)
        kept = [Candidate(each, 1.0, 1.0, Verdict(Fate.KEPT)) for each in (TAKE, PUT)]
        assert found == list(adapted(CompatibilityFilter(same_occupancy)(kept, room.situation, SYNTAX), room))

    def test_what_is_followed_comes_before_what_is_not_however_much_that_is(self):
        ahead = [snippet("kitchen", "boil", "stir pan", stage=9, id_=f"ahead {number}") for number in range(150)]
        found, _ = followed([WAYS, *ahead, TAKE], House({"mug": "kitchen"}))
        assert (found[0].entry.id, found[0].verdict.fate) == ("take", Fate.KEPT)
        assert [each.verdict.fate for each in found[1:]] == [Fate.FILTERED] * len(ahead)

    def test_only_memory_without_rules_is_followed(self):
        knowledge = Knowledge(lambda belief, _action, _text: belief, Voice("", ""), MANUAL, by_room)
        alone = compose(replace(MEMORY_ONLY, enforcement=STRICT), knowledge, EpisodicMemory([WAYS]))
        both = compose(replace(FULL, enforcement=STRICT), knowledge, EpisodicMemory([WAYS]))
        assert isinstance(alone.adapt, Following)
        assert both.adapt is adapted
        assert not isinstance(compose(MEMORY_ONLY, knowledge, EpisodicMemory([WAYS])).adapt, Following)


names = st.sampled_from(["mug", "spoon", "pot 1", "pot 2", "red box", "cupboard"])
actions = st.one_of(
    st.sampled_from(["look around", "wait"]),
    st.sampled_from(sorted(DOORS)).map("go to {}".format),
    st.sampled_from(sorted(DOORS)).map("open door to {}".format),
    names.map("pick up {}".format),
    names.map("open {}".format),
    st.tuples(names, names).map(lambda pair: f"put {pair[0]} in {pair[1]}"),
)
snippets = st.builds(
    lambda room, goal, steps, number: snippet(room, goal, *steps, id_=f"s{number}"),
    st.sampled_from(sorted(DOORS)),
    st.sampled_from(["take", "put"]),
    st.lists(actions, min_size=1, max_size=5),
    st.integers(0, 99),
)


@given(st.lists(snippets, min_size=1, max_size=5), st.dictionaries(names, st.sampled_from(sorted(DOORS))))
def test_nothing_is_proposed_that_names_what_is_not_known_to_be_there(memory, things):
    house = House(things)
    for _ in range(4):
        proposed = choices(memory, house)
        known = {name for each in house.belief.things.values() for name in each} | set(DOORS)
        for command in proposed:
            instance = SYNTAX.instance(command)
            assert instance is not None
            assert set(instance.binding.values()) <= known
        if not proposed:
            break
        house.step(proposed[0])
