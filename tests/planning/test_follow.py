"""Experience that belongs to a place: reached over remembered ways, followed there, left alone
where it is divided.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from rpms.logic.actions import ActionSchema
from rpms.logic.belief import Done, Situation, StateSignature
from rpms.logic.facts import parse_literal
from rpms.logic.goal import Goal, GoalSignature, Progress
from rpms.paper.beyond import PAPER_ALONE, turn_state
from rpms.paper.compose import compose
from rpms.paper.condition import FULL, MEMORY_ONLY
from rpms.paper.consistency import CompatibilityFilter, same_occupancy
from rpms.paper.decide import Mind
from rpms.paper.enforcement import STRICT
from rpms.paper.memory import Kind
from rpms.paper.prompt import Turn
from rpms.paper.recall import EpisodicMemory, Retrieval, Similarity
from rpms.paper.selection import select
from rpms.paper.verdict import NO_MASK, Candidate, Fate, Mask, Verdict
from rpms.paper.wording import PromptStyle, Wording, memory_line
from rpms.planning.experience.adapt import AdaptContext, adapted
from rpms.planning.experience.atlas import Atlas, Where, strides_of
from rpms.planning.experience.following import Following
from rpms.planning.experience.recalled_steps import recalled_steps
from rpms.planning.extension import extend
from rpms.planning.whereabouts import Whereabouts
from tests.planning.house import DOORS, MANUAL, MUG, SYNTAX, House, by_room, snippet

WAYS = snippet(
    *("cellar", "walk", "open door to hall", "go to hall", "look around"),
    *(
        "open door to kitchen",
        "go to kitchen",
        "look around",
        "open cupboard",
        "look around",
        "wait",
    ),
    goal=GoalSignature("walk", "about", "house"),
    id_="ways",
)
TAKE = snippet("kitchen", "take", "pick up mug", id_="take")
PUT = snippet(
    "kitchen",
    "put",
    "pick up mug",
    "go to hall",
    "look around",
    "put mug in red box",
    stage=1,
    id_="put",
)
THINGS = {"cupboard": "kitchen", "mug": "cupboard", "red box": "hall", "spoon": "garden"}


def room_of(
    house: House, goal: Goal, sub_goal: str, stage: int = 0, mask: Mask = NO_MASK
) -> AdaptContext:
    past = tuple(Done(command, gained=False) for command in house.done)
    situation, progress = Situation(house.belief, goal, stage, past), Progress(sub_goal, "", 0, 1)
    state = turn_state(house.belief, progress)
    turns = [
        Turn("", command, state=state, failed=command not in house.done) for command in house.tried
    ]
    return AdaptContext(
        situation, SYNTAX, progress, turns, mask, whereabouts=Whereabouts((), SYNTAX)
    )


def followed(
    memory,
    house: House,
    goal: Goal = MUG,
    sub_goal: str = "take",
    stage: int = 0,
    compat=by_room,
    mask=NO_MASK,
):
    """Memory's use of its snippets, after those of the goal's own type were recalled."""
    room = room_of(house, goal, sub_goal, stage, mask)
    recalled = [
        Candidate(each, 1.0, 1.0, Verdict(Fate.KEPT))
        for each in memory
        if each.goal_signature.type == goal.type
    ]
    filtered = CompatibilityFilter(compat)(recalled, room.situation, SYNTAX)
    following = Following(compat, Similarity(), memory, SYNTAX)
    return list(following(filtered, room)), room


def choices(memory, house: House, **about) -> list[str]:
    found, room = followed(memory, house, **about)
    return [
        command
        for command, _ in recalled_steps([each for each in found if each.verdict.fate.shown], room)
    ]


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
        atlas = Atlas([WAYS], Where("inside", "room", "cellar"), SYNTAX)
        assert atlas.nearest("cellar") == {"cellar": "", "hall": "cellar", "kitchen": "hall"}
        assert atlas.nearest("kitchen") == {"kitchen": "", "hall": "kitchen", "cellar": "hall"}, (
            "nobody went back yet"
        )
        assert atlas.nearest("cellar", barred={"hall"}) == {"cellar": ""}
        assert atlas.commands("cellar") == ("open door to cellar", "go to cellar"), (
            "as to other places"
        )
        assert (atlas.look, atlas.lids("kitchen")) == ("look around", ("open cupboard",))

    def test_from_a_place_that_nobody_left_before_any_known_one_may_be_next(self):
        atlas = Atlas([WAYS], Where("inside", "room", "attic"), SYNTAX)
        assert atlas.nearest("attic")["kitchen"] == "attic"
        assert atlas.nearest("attic", barred={"kitchen"})["kitchen"] == "hall"

    def test_a_snippet_that_does_not_say_where_it_began_tells_no_way_from_there(self):
        where = Where("inside", "room", "hall")
        begun = [
            replace(snippet("", "walk", f"go to {room}"), state_signature=StateSignature())
            for room in DOORS
        ]
        atlas = Atlas([WAYS, *begun], where, SYNTAX)
        assert atlas.nearest("hall") == {"hall": "", "kitchen": "hall", "cellar": "hall"}
        assert "" not in atlas
        assert "garden" in atlas

    def test_to_leave_a_place_is_not_to_get_there(self):
        leave = ActionSchema(
            "leave", ("leave <room>",), effects=(parse_literal("not inside(room)"),)
        )
        syntax = replace(SYNTAX, environment=(*SYNTAX.environment, leave))
        where = Where("inside", "room", "hall")
        assert (where.led_to("leave hall", syntax), where.led_to("go to hall", syntax)) == (
            "",
            "hall",
        )

    def test_names_with_braces_stay_as_they_are(self):
        odd = snippet("{0}", "walk", "go to {}", "look around", "go to {x!r}", "look around")
        atlas = Atlas([odd], Where("inside", "room", "{0}"), SYNTAX)
        assert atlas.nearest("{0}") == {"{0}": "", "{}": "{0}", "{x!r}": "{}"}
        assert atlas.commands("{x!r}") == ("go to {x!r}",)

    def test_a_long_way_is_walked_to_its_end(self):
        places = [f"room {number}" for number in range(2_000)]
        chain = [snippet(one, f"walk {one}", f"go to {other}") for one, other in pairwise(places)]
        atlas = Atlas(chain, Where("inside", "room", places[0]), SYNTAX)
        assert list(atlas.nearest(places[0])) == places

    def test_where_no_command_moves_there_is_nowhere(self):
        assert (
            Where.of(
                Situation(House({}).belief, MUG),
                replace(SYNTAX, environment=SYNTAX.environment[:1]),
            )
            is None
        )


class TestFollowing:
    def test_what_nothing_but_its_place_keeps_out_is_reached_and_done(self):
        house = House({"mug": "kitchen"})
        assert play([WAYS, TAKE], house, 6) == [
            *(
                "open door to hall",
                "go to hall",
                "open door to kitchen",
                "go to kitchen",
                "look around",
            ),
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
        assert choices([WAYS, PUT], house, sub_goal="put", stage=1) == [], (
            "all is done, and was not what was wanted"
        )

    def test_the_words_of_the_present_goal_stand_in_place_of_those_of_then(self):
        cup = Goal("fetch", "bring", "cup", "blue box")
        house = House({"cup": "hall", "blue box": "hall"}, room="hall")
        assert play([WAYS, PUT], house, 2, goal=cup, sub_goal="put", stage=1) == [
            "pick up cup",
            "put cup in blue box",
        ]

    def test_where_all_was_done_in_vain_with_one_of_several_it_is_the_others_turn(self):
        pots = snippet("hall", "put", "pick up pot 7", "put pot 7 in red box", id_="pots")
        house = House({"pot 1": "hall", "pot 2": "hall", "red box": "hall"}, room="hall")
        done = play([WAYS, pots], house, 9, sub_goal="put")
        assert done == [
            "pick up pot 1",
            "put pot 1 in red box",
            "pick up pot 2",
            "put pot 2 in red box",
        ]

    def test_what_takes_time_is_gone_on_with_while_anything_changes(self):
        stir = snippet("hall", "cook", "stir pan", "wait", "stir pan", "wait", id_="stir")
        house = House({"pan": "hall"}, room="hall")
        assert play([WAYS, stir], house, 9, sub_goal="cook") == ["stir pan", "wait"] * 2, (
            "here nothing ever changes"
        )
        house = House({"pan": "hall"}, room="hall")
        for _ in range(6):
            house.step(choices([WAYS, stir], house, sub_goal="cook")[0])
            house.tried = []
        assert house.done == ["stir pan", "wait"] * 3

    def test_a_way_that_is_refused_is_not_proposed_again(self):
        house = House({"mug": "kitchen"})
        house.tried = ["open door to hall"]
        assert choices([WAYS, TAKE], house) == []

    def test_what_reached_the_sub_goal_for_another_task_helps_where_it_names_what_the_goal_is_about(
        self,
    ):
        other = GoalSignature("boil", "boil", "egg")
        egg = snippet("kitchen", "take", "pick up egg", goal=other, id_="egg")
        tool = snippet("kitchen", "take", "pick up spoon", goal=other, id_="spoon")
        house = House({"mug": "cellar", "spoon": "cellar"})
        assert choices([WAYS, PUT, egg], house) == ["pick up mug"]
        assert "pick up spoon" not in choices([WAYS, PUT, tool], house)


class TestWhenNotToFollow:
    def test_divided_experience_is_said_and_not_followed(self):
        red = snippet(
            "hall",
            "answer",
            "point at red box",
            goal=GoalSignature("judge", "weigh", "mug"),
            id_="red",
        )
        blue = replace(red, actions=("point at blue box",), id="blue")
        goal = Goal("judge", "weigh", "mug")
        house = House({"red box": "hall", "blue box": "hall"}, room="hall")
        assert choices([WAYS, red], house, goal=goal, sub_goal="answer") == ["point at red box"]
        found, room = followed([WAYS, red, blue], house, goal=goal, sub_goal="answer")
        (hint,) = [each for each in found if each.verdict.fate.shown]
        assert memory_line(hint) == "  HINT: experience is divided between blue box, red box [red]"
        assert list(recalled_steps([hint], room)) == []

    def test_of_very_many_things_some_are_named(self):
        goal = GoalSignature("judge", "weigh", "mug")
        boxes = [
            snippet("hall", "answer", f"point at {'x' * number} box", goal=goal)
            for number in range(1, 21)
        ]
        things = {f"{'x' * number} box": "hall" for number in range(1, 21)}
        asked = Goal("judge", "weigh", "mug")
        found, _ = followed(
            [WAYS, *boxes], House(things, room="hall"), goal=asked, sub_goal="answer"
        )
        (hint,) = [each for each in found if each.verdict.fate.shown]
        assert hint.adapted.note.startswith("experience is divided between x box, xx box, ")
        assert hint.adapted.note.endswith(", xxxxxxxxxxxx box and 8 more")

    def test_what_was_found_by_looking_for_it_is_no_choice(self):
        mouse = snippet(
            "hall",
            "spot",
            "look around",
            "point at mouse",
            goal=GoalSignature("find", "animal"),
            id_="m",
        )
        dove = replace(mouse, actions=("look around", "point at dove"), id="d")
        house = House({"dove": "hall"}, room="hall")
        assert choices([WAYS, mouse, dove], house, goal=Goal("find", "animal"), sub_goal="spot")[
            :1
        ] == ["point at dove"]

    def test_experience_of_goals_more_like_this_one_comes_before_all_other(self):
        house = House({"mug": "hall", "spoon": "hall"}, room="hall")
        room = room_of(house, MUG, "take")
        near = Candidate(
            snippet("hall", "take", "pick up mug", id_="near"), 0.9, 0.9, Verdict(Fate.KEPT)
        )
        far = Candidate(
            snippet("hall", "take", "pick up spoon", id_="far"), 0.7, 2.0, Verdict(Fate.KEPT)
        )
        following = Following(by_room, Similarity(), [WAYS, near.entry, far.entry], SYNTAX)
        fates = {each.entry.id: each.verdict.fate for each in following([far, near], room)}
        assert fates == {"near": Fate.KEPT, "far": Fate.CROWDED}

    def test_what_is_much_farther_from_being_done_gives_way(self):
        house = House({"mug": "hall"}, room="hall")
        far = snippet("kitchen", "take", "pick up spoon", goal=MUG.signature, id_="far")
        near = snippet("hall", "take", "stir mug", id_="near")
        following = Following(by_room, Similarity(), [WAYS, near, far], SYNTAX, slack=4)
        recalled = [Candidate(each, 1.0, 1.0, Verdict(Fate.KEPT)) for each in (far, near)]
        fates = {
            each.entry.id: each.verdict.fate
            for each in following(recalled, room_of(house, MUG, "take"))
        }
        assert fates == {"near": Fate.KEPT, "far": Fate.CROWDED}

    def test_where_the_state_filter_does_not_mind_places_nothing_is_followed(self):
        house = House({"mug": "kitchen"})
        found, room = followed([WAYS, TAKE, PUT], house, compat=same_occupancy)
        assert all(each.adapted is None or not each.adapted.followed for each in found)
        kept = [Candidate(each, 1.0, 1.0, Verdict(Fate.KEPT)) for each in (TAKE, PUT)]
        assert found == list(
            adapted(CompatibilityFilter(same_occupancy)(kept, room.situation, SYNTAX), room)
        )

    def test_what_is_followed_comes_before_what_is_not_however_much_that_is(self):
        ahead = [
            snippet("kitchen", "boil", "stir pan", stage=9, id_=f"ahead {number}")
            for number in range(150)
        ]
        found, _ = followed([WAYS, *ahead, TAKE], House({"mug": "kitchen"}))
        assert (found[0].entry.id, found[0].verdict.fate) == ("take", Fate.KEPT)
        assert [each.verdict.fate for each in found[1:]] == [Fate.FILTERED] * len(ahead)

    def test_only_memory_without_rules_is_followed(self):
        style, filters = PromptStyle(Wording("", "")), CompatibilityFilter(by_room)
        knowledge = Mind(
            lambda belief, _action, _text: belief, style, MANUAL, consistent=filters, extend=extend
        )
        alone = compose(replace(MEMORY_ONLY, enforcement=STRICT), knowledge, EpisodicMemory([WAYS]))
        both = compose(replace(FULL, enforcement=STRICT), knowledge, EpisodicMemory([WAYS]))
        assert isinstance(alone.beyond.binding(alone.experience), Following)
        assert both.beyond.binding(both.experience) is adapted
        assert compose(MEMORY_ONLY, knowledge, EpisodicMemory([WAYS])).beyond is PAPER_ALONE


class Hiding(Mask):
    """Hides entries by name."""

    def __init__(self, *names: str) -> None:
        super().__init__()
        object.__setattr__(self, "names", names)

    def hides(self, entry: str) -> bool:
        return entry in self.names


class TestHiddenByChance:
    """A hidden entry is marked so where its turn has come, and what would have given way to it
    does not.
    """

    NEAR = snippet("hall", "take", "pick up mug", id_="near")
    TWIN = replace(NEAR, id="twin")
    FAR = snippet(
        "hall", "take", "stir mug", goal=replace(MUG.signature, destination="blue box"), id_="far"
    )
    OTHER = snippet(
        "hall", "take", "point at egg", goal=GoalSignature("boil", "boil", "egg"), id_="other"
    )

    def fates(self, *hidden: str, memory=()) -> dict[str, str]:
        mask = Hiding(*hidden)
        room = room_of(House({"mug": "hall"}, room="hall"), MUG, "take", mask=mask)
        scores = {"far": 0.7}
        memory = memory or [self.NEAR, self.TWIN, self.FAR, self.OTHER]
        recalled = [
            Candidate(each, scores.get(each.id, 1.0), 1.0, Verdict(Fate.KEPT)) for each in memory
        ]
        recalled = [each for each in recalled if each.entry.id != "other"]
        following = Following(by_room, Similarity(), [WAYS, *memory], SYNTAX)
        judged = {
            kind: iter(following(recalled, room)) if kind is Kind.SUCCESS else iter(())
            for kind in Kind
        }
        index = EpisodicMemory()
        ranked = {kind: index.recall(kind, MUG.signature, Retrieval()) for kind in Kind}
        selection = select(judged, ranked, Retrieval(), mask, Progress("take", "", 0, 1))
        return {each.entry.id: each.verdict.fate.name for each in selection.candidates}

    def test_what_says_the_same_takes_its_place(self):
        assert self.fates() == {"near": "KEPT", "twin": "CROWDED", "far": "CROWDED"}
        assert self.fates("near") == {"near": "HIDDEN", "twin": "KEPT", "far": "CROWDED"}

    def test_what_is_less_alike_takes_its_place(self):
        assert self.fates("near", "twin") == {"near": "HIDDEN", "twin": "HIDDEN", "far": "KEPT"}

    def test_what_reached_the_sub_goal_for_another_task_takes_its_place(self):
        fates = self.fates("near", "twin", "far")
        assert fates == {"near": "HIDDEN", "twin": "HIDDEN", "far": "HIDDEN", "other": "KEPT"}

    def test_what_gave_way_has_had_its_turn_and_its_draw_is_noted(self):
        assert self.fates("far") == {"near": "KEPT", "twin": "CROWDED", "far": "HIDDEN"}

    def test_a_hint_too(self):
        far = [replace(snippet("moon", "take", "pick up mug"), id=name) for name in ("a", "b")]
        house = House({})
        assert self.fates_of_hints(far, house) == ["KEPT", "FILTERED"]
        assert self.fates_of_hints(far, house, "a") == ["KEPT", "KEPT"], (
            "the first is hidden when it is selected"
        )

    def fates_of_hints(self, memory, house: House, *hidden: str) -> list[str]:
        found, _ = followed([WAYS, *memory], house, sub_goal="put", stage=1, mask=Hiding(*hidden))
        return [each.verdict.fate.name for each in found]


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


@given(
    st.lists(snippets, min_size=1, max_size=5),
    st.dictionaries(names, st.sampled_from(sorted(DOORS))),
)
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
