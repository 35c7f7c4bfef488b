"""Experience bound to the present room: what stands for what, what is left to do, and what it
is worth otherwise.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from rpms.logic.belief import Done, FactBelief, Situation, StateSignature
from rpms.logic.facts import kind_of
from rpms.logic.goal import Goal, GoalSignature, Progress
from rpms.logic.rules import ActiveRules
from rpms.paper.consistency import same_occupancy
from rpms.paper.memory import CriticalFailure, FailureLesson, Origin, SuccessSnippet
from rpms.paper.prompt import Turn
from rpms.paper.recall import Similarity
from rpms.paper.verdict import Candidate, Fate, Mask, Verdict
from rpms.paper.wording import memory_line
from rpms.planning.experience.adapt import AdaptContext, adapted
from rpms.planning.experience.following import Following
from rpms.planning.experience.recalled_steps import recalled_steps
from rpms.planning.lift import Role, ended_alike, failed_alike, lift, names_of, renamed
from rpms.planning.whereabouts import Whereabouts
from rpms.store.manual_reader import ManualText
from rpms.store.manuals import read_manual
from tests.paper.kitchen import COOL_APPLE, KitchenBelief, manual

SYNTAX = manual().active(COOL_APPLE.type, COOL_APPLE.object, COOL_APPLE.destination)
GOAL = COOL_APPLE.signature
ROOM = KitchenBelief(
    "sink 1",
    containers={"fridge 1": False},
    places=("sink 1", "fridge 1", "countertop 1", "countertop 2"),
    searched=frozenset({"sink 1"}),
)
EMPTY, FULL_HAND = "holding=none", "holding=apple 9"


def snippet(
    *actions: str,
    goal: GoalSignature = GOAL,
    state: str = EMPTY,
    id_: str = "s",
    deed: str = "take_object",
):
    origins = frozenset({Origin("e", 1)})
    return SuccessSnippet(goal, StateSignature.parse(state), deed, actions, origins=origins, id=id_)


def candidate(entry) -> Candidate:
    return Candidate(entry, 1.0, 1.0, Verdict(Fate.KEPT))


def room(
    belief=ROOM, *known: SuccessSnippet, goal: Goal = COOL_APPLE, done=(), sub_goal="take_object"
) -> AdaptContext:
    past = tuple(Done(command, gained=False) for command in done)
    progress = Progress(sub_goal, "", 0, 1)
    return AdaptContext(
        Situation(belief, goal, past=past), SYNTAX, progress, whereabouts=Whereabouts(known, SYNTAX)
    )


def refusing(here: AdaptContext, *commands: str) -> AdaptContext:
    """The same where commands were refused in this very state."""
    return replace(
        here, history=[Turn("", command, state=here.state, failed=True) for command in commands]
    )


def bound(entry: SuccessSnippet, here: AdaptContext) -> Candidate:
    return here.adapt(candidate(entry))


TAKE = snippet("go to sink 4", "go to fridge 7", "open fridge 7", "take apple 3 from fridge 7")
COOL = snippet(
    "go to fridge 7", "cool apple 9 with fridge 7", state=FULL_HAND, id_="c", deed="cool_object"
)
PUT = snippet(
    "go to countertop 8",
    "put apple 9 in/on countertop 8",
    state=FULL_HAND,
    id_="p",
    deed="put_object",
)


class TestLifting:
    def test_a_snippet_tells_what_it_found_where_and_what_was_looked_at_in_vain(self):
        lifted = lift(TAKE, SYNTAX)
        assert (lifted.sought, lifted.source) == ("apple 3", "fridge 7")
        assert lifted.roles == {
            "sink 4": Role.VAIN,
            "fridge 7": Role.SOURCE,
            "apple 3": Role.OBJECT,
        }

    def test_what_was_in_hand_is_used_not_found(self):
        lifted = lift(PUT, SYNTAX)
        assert lifted.sought == ""
        assert lifted.roles == {"countertop 8": Role.DESTINATION, "apple 9": Role.OBJECT}

    def test_a_thing_that_was_only_seen_was_found_in_the_last_place(self):
        lifted = lift(snippet("go to sink 4", "go to desk 2", deed="find_object"), SYNTAX)
        assert (lifted.sought, lifted.source) == ("apple ?", "desk 2")

    def test_names_are_put_in_place_of_names_at_once_and_whole(self):
        names = {"mug 1": "mug 2", "mug 2": "mug 1", "desk 1": "shelf 1"}
        assert (
            renamed("put mug 1 by mug 2 on desk 10, desk 1", names)
            == "put mug 2 by mug 1 on desk 10, shelf 1"
        )

    def test_without_a_syntax_names_are_known_by_their_numbers(self):
        assert names_of("polish lamp 3 with cloth 1", ActiveRules()) == ("lamp 3", "cloth 1")


class TestBinding:
    def test_a_thing_is_fetched_from_where_it_is_believed_to_be(self):
        belief = replace(ROOM, last_seen={"apple 1": "countertop 2"})
        found = bound(TAKE, room(belief))
        assert found.entry.actions == (
            "go to countertop 2",
            "open countertop 2",
            "take apple 1 from countertop 2",
        )
        with_ways = bound(
            TAKE, room(belief, snippet("go to countertop 1", "take apple 1 from countertop 1"))
        )
        assert with_ways.entry.actions == (
            "go to countertop 2",
            "take apple 1 from countertop 2",
        ), "as with others"

    def test_what_is_done_is_left_out_and_said_so(self):
        belief = replace(ROOM, location="fridge 1", last_seen={"apple 1": "fridge 1"})
        found = bound(TAKE, room(belief, TAKE))
        assert found.entry.actions == ("open fridge 1", "take apple 1 from fridge 1")
        opened = bound(TAKE, room(replace(belief, containers={"fridge 1": True}), TAKE))
        assert opened.entry.actions == ("take apple 1 from fridge 1",)
        assert memory_line(opened) == (
            "  OK: take_object: take apple 1 from fridge 1 [adapted from s: step 4 of 4]"
        )

    def test_what_is_wholly_done_is_filtered(self):
        belief = replace(
            ROOM, location="fridge 1", holding=("apple 1",), cool=frozenset({"apple 1"})
        )
        found = bound(COOL, room(belief))
        assert (found.verdict.fate, found.verdict.reason) == (
            Fate.FILTERED,
            "all that it did is done already",
        )

    def test_roles_of_the_goal_bind_to_what_the_present_goal_is_about(self):
        egg = Goal(COOL_APPLE.type, "egg", "cool", "sink")
        belief = replace(ROOM, location="fridge 1", holding=("egg 2",))
        assert bound(PUT, room(belief, goal=egg)).entry.actions == (
            "go to sink 1",
            "put egg 2 in/on sink 1",
        )
        assert bound(COOL, room(belief, goal=egg)).entry.actions == ("cool egg 2 with fridge 1",)

    def test_where_nothing_binds_it_is_a_hint_about_kinds(self):
        nothing = replace(ROOM, containers={}, places=("sink 1",))
        found = bound(TAKE, room(nothing, TAKE))
        assert found.entry.actions == ()
        assert memory_line(found) == "  HINT: apple was found at fridge 1 of 1 times [s]"
        assert found.adapted.seeks == "apple"

    def test_what_was_found_of_another_kind_says_nothing_of_where_this_one_is(self):
        laptops = snippet(
            "go to fridge 2", "take laptop 1 from fridge 2", goal=replace(GOAL, object="laptop")
        )
        found = bound(laptops, room(ROOM, laptops))
        assert found.verdict.fate is Fate.FILTERED

    def test_entries_that_come_to_the_same_are_shown_once(self):
        belief = replace(ROOM, last_seen={"apple 1": "fridge 1"})
        twin = replace(TAKE, id="t")
        first, second = adapted([candidate(TAKE), candidate(twin)], room(belief, TAKE))
        assert first.verdict.fate is Fate.KEPT
        assert (second.verdict.fate, second.verdict.reason) == (
            Fate.CROWDED,
            "adapted, it says the same as s",
        )

    def test_what_says_the_same_as_a_hidden_one_takes_its_place(self):
        belief = replace(ROOM, last_seen={"apple 1": "fridge 1"})
        mask = next(
            mask
            for mask in (Mask(0.5, seed) for seed in range(99))
            if mask.hides("s") and not mask.hides("t")
        )
        here = replace(room(belief, TAKE), mask=mask)
        found = adapted(
            [candidate(TAKE), candidate(replace(TAKE, id="t")), candidate(replace(TAKE, id="u"))],
            here,
        )
        assert [each.verdict.fate for each in found] == [Fate.KEPT, Fate.KEPT, Fate.CROWDED]

    def test_it_works_for_names_without_numbers(self):
        world = read_manual(
            ManualText(
                "lab.yaml",
                """
world: lab
predicates:
  in: {args: [object, place]}
  at: {args: [place], exclusive: always}
  holding: {args: [object]}
environment:
  go: {syntax: go to <place>, effects: [at(place)], observes: ['in(_, place)']}
  take: {syntax: pick up <object> in <place>, effects: [holding(object)]}
""",
            )
        ).active("brew")
        goal = Goal("brew", "metal pot")
        entry = replace(
            snippet("go to kitchen", "pick up metal pot in kitchen"), goal_signature=goal.signature
        )
        belief = FactBelief().learn(
            "in(metal pot, cellar)", "at(hall)", object=["metal pot"], place=["cellar", "hall"]
        )
        here = AdaptContext(Situation(belief, goal), world)
        assert bound(entry, here).entry.actions == ("go to cellar", "pick up metal pot in cellar")


class TestSteps:
    def test_the_present_sub_goal_comes_first_and_later_steps_only_where_all_was_tried(self):
        belief = replace(ROOM, location="fridge 1", holding=("apple 1",))
        here = room(belief, COOL, PUT, sub_goal="cool_object")
        steps = list(recalled_steps([candidate(PUT), candidate(COOL)], here))
        assert steps == [("cool apple 1 with fridge 1", "adapted from c: step 2 of 2")]
        tried = recalled_steps(
            [candidate(PUT), candidate(COOL)], here, {"cool apple 1 with fridge 1"}
        )
        assert "go to countertop 1" in dict(tried)

    def test_what_is_sought_is_looked_for_where_experience_found_it_and_a_place_begun_is_finished(
        self,
    ):
        known = [
            TAKE,
            TAKE,
            snippet("go to countertop 1", "go to fridge 1", "take apple 1 from fridge 1", id_="u"),
        ]
        here = room(ROOM, *known)
        commands = [command for command, _ in recalled_steps(map(candidate, known), here)]
        assert commands == ["go to fridge 1", "go to countertop 1", "go to countertop 2"]
        at_fridge = room(replace(ROOM, location="fridge 1"), *known)
        assert list(recalled_steps(map(candidate, known), at_fridge)) == [
            ("open fridge 1", "apple was found at fridge 3 of 3 times")
        ]

    def test_a_thing_that_is_where_the_goal_wants_it_is_not_fetched_again(self):
        belief = replace(ROOM, last_seen={"apple 1": "countertop 1"})
        done = ("take apple 1 from fridge 1", "put apple 1 in/on countertop 1")
        assert not any(
            "apple 1" in command
            for command, _ in recalled_steps([candidate(TAKE)], room(belief, TAKE, done=done))
        )


class TestRunOut:
    """No goal like this one was ever met."""

    OTHER = replace(GOAL, type="pick_and_place_simple", object="egg", state="", destination="desk")

    def recalled(self, here: AdaptContext, *memory: SuccessSnippet) -> list[str]:
        found = Following(same_occupancy, Similarity(), memory, SYNTAX)([], here)
        return [command for command, _ in recalled_steps(found, here)]

    def test_what_reached_the_sub_goal_for_another_goal_is_done_with_the_things_of_this_one(self):
        eggs = snippet(
            "go to fridge 4", "open fridge 4", "take egg 3 from fridge 4", goal=self.OTHER
        )
        here = room(replace(ROOM, last_seen={"apple 1": "fridge 1"}), eggs)
        assert self.recalled(here, eggs) == ["go to fridge 1"]
        full = snippet("take egg 3 from fridge 4", goal=self.OTHER, state=FULL_HAND)
        assert self.recalled(room(ROOM, full), full) == [], (
            "what was learned with a full hand is not for an empty one"
        )

    def test_what_was_refused_in_this_very_state_is_not_proposed_again(self):
        belief = replace(
            ROOM,
            location="fridge 1",
            containers={"fridge 1": True},
            last_seen={"apple 1": "fridge 1"},
        )
        here = refusing(room(belief, TAKE), "take apple 1 from fridge 1")
        assert "take apple 1 from fridge 1" not in dict(recalled_steps([candidate(TAKE)], here))

    def test_a_step_on_the_way_that_is_refused_is_left_out(self):
        belief = replace(ROOM, last_seen={"apple 1": "fridge 1"})
        here = refusing(room(belief, TAKE), "go to fridge 1")
        assert dict(recalled_steps([candidate(TAKE)], here)).keys() == {"open fridge 1"}

    def test_where_one_of_a_kind_refused_what_was_enough_before_one_goes_there_first(self):
        nearby = [
            snippet("open fridge 1", "take apple 1 from fridge 1", id_=str(each))
            for each in range(2)
        ]
        walked = [
            snippet("go to sink 1", "take apple 1 from sink 1", id_=f"w{each}") for each in range(3)
        ]
        here = room(ROOM, *nearby, *walked)
        assert "open fridge 1" in dict(here.searcher.search("apple"))
        refused = replace(here, history=[Turn("", "open fridge 9", failed=True)])
        assert "go to fridge 1" in dict(refused.searcher.search("apple"))

    def test_places_of_a_kind_that_experience_does_not_know_are_searched_last(self):
        here = room(replace(ROOM, places=(*ROOM.places, "safe 1")), TAKE)
        assert list(dict(here.searcher.search("apple")))[-1] == "go to safe 1"


class TestLessons:
    def test_what_failed_in_a_like_state_more_often_than_it_worked_is_ranked_down(self):
        state = StateSignature.parse("holding=none|location=sink 9")
        lesson = candidate(
            FailureLesson(
                GOAL, state, "open fridge 3", "no", origins=frozenset({Origin("e", 1)}), id="f"
            )
        )
        now = StateSignature.parse("holding=none|location=sink 1")
        assert failed_alike(["open fridge 1"], now, [lesson], SYNTAX, Whereabouts().worked) == {
            "open fridge 1": "f"
        }
        there = StateSignature.parse("holding=none|location=fridge 1")
        assert (
            failed_alike(["open fridge 1"], there, [lesson], SYNTAX, Whereabouts().worked) == {}
        ), "one stood elsewhere then"
        assert (
            failed_alike(
                ["open fridge 1"], now, [lesson], SYNTAX, Whereabouts([TAKE], SYNTAX).worked
            )
            == {}
        ), "it worked too"

    def test_a_critical_failure_is_known_again_with_other_instances(self):
        ended = candidate(
            CriticalFailure(
                GOAL, StateSignature(), "put apple 7 in/on fridge 2", "it ended", id="x"
            )
        )
        assert ended_alike("put apple 1 in/on fridge 1", [ended], SYNTAX).id == "x"
        assert ended_alike("put apple 1 in/on sink 1", [ended], SYNTAX) is None


class TestCounts:
    def test_looks_in_vain_count_as_much_as_finds(self):
        counts = Whereabouts([TAKE, TAKE], SYNTAX).of("apple")
        assert (counts["fridge"].found, counts["fridge"].looks, counts["fridge"].steps) == (2, 2, 4)
        assert (counts["sink"].found, counts["sink"].looks) == (0, 2)

    def test_without_rules_the_order_is_what_was_found_for_each_step(self):
        ranks = Whereabouts([TAKE] * 3, SYNTAX).order("apple", {})
        assert ranks["fridge"] < ranks["sink"]

    def test_the_manual_is_the_prior_that_much_experience_overrides_and_little_does_not(self):
        known = {"sink": 0.0, "fridge": 1.0}
        little = Whereabouts([TAKE], SYNTAX).order("apple", known)
        assert little["sink"] < little["fridge"]
        much = Whereabouts([TAKE] * 60, SYNTAX).order("apple", known)
        assert much["fridge"] < much["sink"]

    def test_without_experience_the_manuals_order_is_as_it_was(self):
        known = {"sink": 0.0, "fridge": 1.0}
        assert Whereabouts((), SYNTAX).order("apple", known) == known

    def test_a_kind_without_counts_takes_those_of_its_category(self):
        counts = Whereabouts(
            [TAKE] * 5, SYNTAX, category=lambda kind: "fruit" if kind in ("apple", "pear") else kind
        )
        assert counts.order("pear", {})["fridge"] < counts.order("pear", {})["sink"]


NUMBERS = st.integers(1, 9)
PLACES = st.sampled_from(["sink", "fridge", "countertop", "oven"])
THINGS = st.sampled_from(["apple", "egg", "cup"])


@st.composite
def snippets(draw):
    place, thing = f"{draw(PLACES)} {draw(NUMBERS)}", f"{draw(THINGS)} {draw(NUMBERS)}"
    other = f"{draw(PLACES)} {draw(NUMBERS)}"
    deeds = [f"go to {other}", f"go to {place}", f"open {place}", f"take {thing} from {place}"]
    deeds += [
        f"cool {thing} with {place}",
        f"put {thing} in/on {other}",
        "dance",
        f"polish {thing}",
    ]
    goal = GoalSignature(COOL_APPLE.type, draw(THINGS), "cool", draw(PLACES))
    state = draw(st.sampled_from([EMPTY, f"holding={thing}"]))
    return snippet(
        *draw(st.lists(st.sampled_from(deeds), min_size=1, max_size=6)), goal=goal, state=state
    )


@st.composite
def rooms(draw):
    places = draw(st.lists(st.builds("{} {}".format, PLACES, NUMBERS), max_size=5, unique=True))
    things = draw(st.lists(st.builds("{} {}".format, THINGS, NUMBERS), max_size=4, unique=True))
    seen = {thing: draw(st.sampled_from(places)) for thing in things[1:]} if places else {}
    held = draw(st.sampled_from([(), tuple(things[:1])]))
    at = draw(st.sampled_from([None, *places]))
    return KitchenBelief(
        at, held, last_seen=seen, places=tuple(places), searched=frozenset(places[:2])
    )


@given(snippets(), rooms(), st.lists(snippets(), max_size=4))
def test_a_bound_entry_names_only_what_is_there_and_kinds_it_was_learned_with(
    entry, belief, others
):
    """A name is of the kind that the entry had there, or in the goal's own role, or where the
    belief has the thing.
    """
    here = room(belief, *others)
    found = bound(entry, here)
    known = {name for names in belief.names.values() for name in names}
    lifted = lift(entry, SYNTAX)
    binding = here.binder.binding(lifted, entry)
    assert set(binding.values()) <= known
    assert len(set(binding.values())) == len(binding), "no two names are one"
    for name, now in binding.items():
        match lifted.roles[name]:
            case Role.OBJECT:
                assert kind_of(now) == COOL_APPLE.object
            case Role.DESTINATION:
                assert kind_of(now) == COOL_APPLE.destination
            case Role.SOURCE if lifted.sought in binding:
                assert belief.last_seen[binding[lifted.sought]] == now
            case _:
                assert kind_of(now) == kind_of(name)
    if found.adapted is not None:
        for command in found.entry.actions:
            assert set(names_of(command, SYNTAX)) <= known
    for command, _ in recalled_steps(map(candidate, [entry, *others]), here):
        assert set(names_of(command, SYNTAX)) <= known
