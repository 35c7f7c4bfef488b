"""Goals in people's own words: read, acted on, noticed where wrong, and remembered."""

import json
from contextlib import closing
from dataclasses import replace

import pytest

from rpms import Agent
from rpms.cli.report import transcript
from rpms.learning.harvest import harvest
from rpms.logic.belief import StateSignature
from rpms.logic.errors import InputError
from rpms.logic.goal import UNKNOWN_GOAL, GoalSignature
from rpms.models.base import Answer
from rpms.models.catalogue import open_model
from rpms.models.policy import FunctionModel, follow_plan
from rpms.models.recorded import question, question_key
from rpms.paper.compose import compose
from rpms.paper.condition import CONDITIONS
from rpms.paper.enforcement import STRICT
from rpms.paper.episode import Ending, Usage
from rpms.paper.memory import Kind, Origin, RememberedRequest, merge
from rpms.paper.recall import EpisodicMemory
from rpms.planning.advice import plan_of
from rpms.play.request_reading import understand
from rpms.play.seats import Play, play
from rpms.play.sources import knowledge_of
from rpms.play.step import Player
from rpms.play.understanding import Reads, Understood
from rpms.reading.narrowing import Narrowing
from rpms.reading.nearest import NearestKinds
from rpms.reading.readings import Readings, RequestReading
from rpms.store.episodes import EpisodeRecord, episode_text
from rpms.store.memories import parse_memory, write_memory
from rpms.worlds.base import REQUEST, Setting, Task, games_won
from rpms.worlds.registry import find_world
from tests.cli.command import Rpms, rpms

__all__ = ["rpms"]
WORLD = find_world("alfworld")
KITCHEN = (
    "You are in the middle of a room. Looking quickly around you, you see a cabinet 1, a coffeetable 1, "
    "a countertop 1, a diningtable 1, a drawer 1, a fridge 1, a garbagecan 1, a microwave 1, "
    "a sinkbasin 1, a sofa 1, and a tvstand 1."
)
PARAPHRASES = {
    "heat an apple and place it in the fridge": "pick_heat_then_place_in_recep:apple:hot:fridge",
    "put a heated mug in the cabinet": "pick_heat_then_place_in_recep:mug:hot:cabinet",
    "Microwave a potato and put it in the garbage can.": "pick_heat_then_place_in_recep:potato:hot:garbagecan",
    "place two pillows on the sofa": "pick_two_obj_and_place:pillow::sofa",
    "Put both knives in the drawer": "pick_two_obj_and_place:knife::drawer",
    "examine a pen by the light of the desk lamp": "look_at_obj_in_light:pen::desklamp",
    "Look at the alarm clock in the lamp light": "look_at_obj_in_light:alarmclock::desklamp",
    "turn on the lamp while holding a book": "look_at_obj_in_light:book::desklamp",
    "Put a clean bar of soap on the counter top.": "pick_clean_then_place_in_recep:soapbar:clean:countertop",
    "place a rinsed knife in the drawer next to the sink": "pick_clean_then_place_in_recep:knife:clean:drawer",
    "Chill a cup in the fridge, then put it in the cupboard": "pick_cool_then_place_in_recep:cup:cool:cabinet",
    "Place the cold tomato in the microwave": "pick_cool_then_place_in_recep:tomato:cool:microwave",
    "move the keys from the couch to the coffee table": "pick_and_place_simple:keychain::coffeetable",
    "Put the remote control on the couch": "pick_and_place_simple:remotecontrol::sofa",
}


def opening(request):
    return f"{KITCHEN}\n\nYour task is to: {request}"


def mind(condition="rules-only", *entries):
    return compose(
        CONDITIONS[condition], knowledge_of(WORLD), EpisodicMemory(merge(entries), "alfworld")
    )


def remembered(text, signature, number=1):
    return RememberedRequest(
        GoalSignature.parse(signature),
        StateSignature.of(room=("fridge",)),
        text,
        origins=frozenset({Origin("e", number)}),
    )


def read(request, condition="rules-only", *entries, reads=None):
    return understand(WORLD, mind(condition, *entries), reads or Reads(), opening(request), "e")


@pytest.mark.parametrize(("request_", "signature"), PARAPHRASES.items())
def test_the_words_of_a_request_are_read_without_a_model(request_, signature):
    understood = read(request_)
    assert signature in [str(each.goal.signature) for each in understood.readings.ranked[:5]]
    assert understood.goal.text == request_
    assert sum(each.probability for each in understood.readings.ranked) == pytest.approx(1.0)


@pytest.mark.parametrize("request_", ["what is the weather like", "42", "por favor"])
def test_what_no_goal_of_the_manual_fits_is_not_read_and_somebody_is_asked(request_):
    understood = read(request_)
    assert understood.goal.type == UNKNOWN_GOAL
    assert "no goal of the manual fits" in understood.notes[0]
    asked = read(request_, reads=Reads(ask=lambda _request, _goals: "put a clean mug in cabinet."))
    assert str(asked.goal.signature) == "pick_clean_then_place_in_recep:mug:clean:cabinet"
    by_type = read(request_, reads=Reads(ask=lambda _request, goals: f"{goals[0]} mug cabinet"))
    assert str(by_type.goal.signature) == "pick_and_place_simple:mug::cabinet"


def test_rules_say_what_cannot_be_meant():
    goals = [
        each.goal
        for each in read("put a hot thing from the fridge in the microwave").readings.ranked
    ]
    assert goals
    assert all(
        WORLD.start(goal) and goal.object not in ("pillow", "sofa")
        for goal in goals
        if goal.state == "hot"
    )


def test_belief_says_which_places_are_here():
    ranked = read("put the book on the shelf or the bed").readings.ranked
    assert not {each.goal.destination for each in ranked if each.goal.type.startswith("pick")} & {
        "shelf",
        "bed",
    }
    anywhere = read("put the book on the bed", reads=Reads(leave_out=frozenset({"belief"})))
    assert anywhere.goal.destination == "bed"


def test_memory_says_what_was_meant_before():
    brew = remembered("make my morning brew ready", "pick_and_place_simple:mug::cabinet")
    assert read("make my morning brew ready").goal.type == UNKNOWN_GOAL
    others = [remembered(f"thing {n}", "pick_two_obj_and_place:apple::fridge") for n in "abcdefghi"]
    understood = read("make the morning brew ready", "full", brew, *others)
    assert str(understood.goal.signature) == "pick_and_place_simple:mug::cabinet"
    assert understood.examples[0].entry.request == brew.request
    nearest = read("a morning brew", "full", brew, *others, reads=Reads(control="nearest"))
    assert str(nearest.goal.signature) == "pick_and_place_simple:mug::cabinet"


def test_a_random_reading_is_one_that_the_rules_allow_and_the_same_each_time():
    one, two = (read("heat something", reads=Reads(control="random")) for _ in range(2))
    assert [each.goal for each in one.readings.ranked] == [
        each.goal for each in two.readings.ranked
    ]
    assert all(
        each.goal.destination in KITCHEN or "lamp" in each.goal.destination
        for each in one.readings.ranked
    )


def weighing(wanted):
    """A model that finds what is wanted of it likeliest, and how often it was asked."""
    asked = []

    def answer(request):
        asked.append(request)
        return Answer(
            "", weights=tuple(0.0 if any(w in c for w in wanted) else -9.0 for c in request.choices)
        )

    model = FunctionModel(answer)
    model.weighs = True
    return model, asked


def test_a_model_weighs_the_choices_in_turn_and_each_is_held_to_what_is_possible():
    model, asked = weighing(
        ("pick_cool", "object: pan", "destination: fridge", "destination: countertop")
    )
    understood = read("the frying thing, icy, on the counter", reads=Reads(model))
    assert str(understood.goal.signature) == "pick_cool_then_place_in_recep:pan:cool:countertop"
    assert asked[0].begun == ""
    assert asked[0].choices[0].startswith("goal: ")
    assert all(each.weigh for each in asked)
    assert any(
        each.begun.startswith("goal: pick_cool") and "object: pan" in each.choices for each in asked
    )
    assert not any("destination: shelf" in each.choices for each in asked)  # there is none here
    recorded = {question_key(question(each, "m")) for each in asked}
    assert len(recorded) == len(asked)


def test_a_model_that_cannot_weigh_is_asked_once_for_json_that_is_checked():
    asked = []

    def answer(request):
        asked.append(request)
        return 'Sure: {"goal": "pick_heat_then_place_in_recep", "object": "egg", "destination": "launch pad"}'

    model = FunctionModel(answer)
    model.reads = True
    understood = read("egg, hot, in the trash", reads=Reads(model))
    assert len(asked) == 1
    assert (understood.goal.type, understood.goal.object) == (
        "pick_heat_then_place_in_recep",
        "egg",
    )
    assert understood.goal.destination in KITCHEN


def builtin(kind):
    return next(task for task in WORLD.tasks("builtin", Setting()) if task.type == kind)


def attempt(task, request, mind_, reads=None):
    asked = Task(task.id, task.split, task.type, {**task.source, REQUEST: request})
    with closing(WORLD.open(task, Setting())) as game:
        model = open_model("planner")
        return play(Play(Player(WORLD, mind_, model, None, reads=reads), game, asked, 50))


def test_a_wrong_reading_is_noticed_and_the_next_one_taken():
    task = builtin("pick_and_place_simple")  # a book is wanted on the desk
    model, _ = weighing(("pick_and_place", "object: book", "destination: bed"))
    episode = attempt(task, "book to bed or desk", mind(), Reads(model))
    assert "Your task is to: book to bed or desk" in episode.steps[0].observation
    changes = [step for step in episode.steps if step.readings is not None]
    assert episode.ending is Ending.WON
    assert len(changes) > 1
    assert (
        changes[1].extras["reading"]
        == "all that the goal is known to want holds, and the game goes on"
    )
    assert changes[1].extras["readings"][1]["taken"] is True
    assert '"reading":"all that the goal is known to want holds' in episode_text(episode)
    shown = [*transcript(EpisodeRecord.of(episode))]
    assert "read as: pick_and_place_simple:book::bed" in shown
    assert (
        "another reading: all that the goal is known to want holds, and the game goes on" in shown
    )


def attempt_with_one_reading(signature, ask=None, model=None, steps=200):
    """The game with a keychain for the sofa, where a request was read in one way alone."""
    task = next(one for one in WORLD.tasks("builtin", Setting()) if "KeyChain" in one.id)
    type_, object_, _, destination = signature.split(":")
    meant = WORLD.goal_of(type_, {"object": object_, "destination": destination}, "this request")

    class ReadOnce(Player):
        def understand(self, opening, episode, request=""):
            return Understood(meant, Readings("this request", (RequestReading(meant, 0.0, 1.0),)))

    reads = Reads(control="words", ask=ask)
    player = ReadOnce(WORLD, strict(), model or open_model("planner"), None, reads=reads)
    with closing(WORLD.open(task, Setting())) as game:
        return play(Play(player, game, task, steps))


def doubted(episode):
    plans = [plan_of(step.decision) for step in episode.steps]
    chains = [option.chain for plan in plans for option in plan.options]
    return [link.doubt for chain in chains for link in chain if link.doubt]


def test_for_what_is_nowhere_the_kinds_here_that_are_most_like_it_are_tried():
    episode = attempt_with_one_reading("pick_and_place_simple:keyring::sofa")
    assert episode.ending is Ending.WON
    assert not doubted(episode)
    read_as = [step.readings for step in episode.steps if step.readings is not None][-1]
    assert read_as.now.goal.object == "keychain"
    assert read_as.now.reasons[-1] == "no keyring is here; a keychain is like it"


def test_for_a_destination_that_is_not_here_kinds_like_it_are_tried_at_once():
    episode = attempt_with_one_reading("pick_and_place_simple:keychain::ottoman")
    assert episode.ending is Ending.WON
    assert not doubted(episode)
    read_as = episode.steps[0].readings.now
    assert read_as.goal.destination == "sofa"
    assert read_as.reasons[-1] == "no ottoman is here; a sofa is like it"


def test_kinds_are_alike_by_their_names_and_by_the_lasting_facts_that_both_have():
    belief = WORLD.update(WORLD.start(WORLD.goal("")), None, KITCHEN)
    nearest = NearestKinds(Narrowing(mind().schemas, belief))
    by_name = NearestKinds(Narrowing(mind().schemas, belief, rules=False))
    objects = frozenset({"object"})
    others = ["apple", "book", "cup", "egg", "fork", "pillow", "vase"]

    def most_like(kind, kinds):
        return max(others, key=lambda other: kinds.likeness(objects, kind, other))

    assert [most_like("mug", nearest), most_like("spoon", nearest)] == ["cup", "fork"]
    assert most_like("spoon", by_name) == "book"
    assert nearest.likeness(objects, "knife", "butterknife") > 0.8


def test_where_no_reading_is_left_somebody_is_asked_once_and_then_nothing_more_is_done():
    asked = []

    def ask(request, goals):
        asked.append((request, len(goals)))
        return "put some keychain on sofa."

    hopeless = "pick_and_place_simple:trumpet::armchair"
    won = attempt_with_one_reading(hopeless, ask)
    assert won.ending is Ending.WON
    assert asked == [("this request", 6)]
    given_up = attempt_with_one_reading(hopeless)
    assert given_up.ending is Ending.STUCK
    assert given_up.error.startswith("none of 7 readings of `this request` is left: ")
    assert not doubted(given_up)
    told_nothing = attempt_with_one_reading(hopeless, lambda _request, _goals: "whatever")
    assert told_nothing.ending is Ending.STUCK


def strict():
    condition = replace(CONDITIONS["rules-only"], enforcement=STRICT)
    return compose(condition, knowledge_of(WORLD), EpisodicMemory())


def test_a_request_in_the_worlds_own_words_is_read_otherwise_where_what_it_names_is_nowhere():
    task = next(one for one in WORLD.tasks("builtin", Setting()) if "KeyChain" in one.id)
    asked = []

    def ask(request, _goals):
        asked.append(request)
        return "whatever"

    lost = attempt(task, "put some trumpet on armchair.", strict(), Reads(control="words", ask=ask))
    assert lost.ending is Ending.STUCK
    assert lost.error.endswith("is left: no trumpet is in any place here")
    assert asked == ["put some trumpet on armchair."]
    assert not doubted(lost)
    assert not [step for step in lost.steps if step.command.startswith("examine")]
    assert len([step for step in lost.steps if step.readings is not None]) > 1
    assert str(lost.steps[0].decision.goal_signature) == "pick_and_place_simple:trumpet::armchair"
    won = attempt(task, "put some keyring on sofa.", strict(), Reads(control="words"))
    assert won.ending is Ending.WON
    assert str(won.steps[-1].decision.goal_signature) == "pick_and_place_simple:keychain::sofa"
    remembered_ = [each for each in harvest(won, mind().schemas) if each.kind is Kind.REQUEST]
    assert [each.request for each in remembered_] == ["put some keyring on sofa."]


def test_a_request_in_the_worlds_own_words_is_taken_at_its_word_while_all_it_names_may_be_here():
    """No model is asked about it, and nothing of it is recorded or remembered."""
    task = next(one for one in WORLD.tasks("builtin", Setting()) if "KeyChain" in one.id)
    model, asked = weighing(("pick_and_place",))
    won = attempt(task, "put some keychain on sofa.", strict(), Reads(model))
    assert won.ending is Ending.WON
    assert not asked
    assert not [step for step in won.steps if step.readings is not None]
    assert not [each for each in harvest(won, mind().schemas) if each.kind is Kind.REQUEST]


def test_what_it_took_to_read_a_request_anew_is_counted_at_that_step():
    task = next(one for one in WORLD.tasks("builtin", Setting()) if "KeyChain" in one.id)

    def answer(request):
        return Answer("", Usage(requests=1), weights=tuple(-1.0 for _ in request.choices))

    model = FunctionModel(answer)
    model.weighs = True
    for place in ("armchair", "ottoman"):  # known to be here, and known not to be
        episode = attempt(task, f"put some keyring on {place}.", strict(), Reads(model))
        (again, *_) = [step for step in episode.steps if step.readings is not None]
        assert again.usage.requests > 3
        assert episode.usage == again.usage
        assert (again.number == 1) == (place == "ottoman")


def test_what_is_said_to_be_nowhere_is_what_was_asked_for_and_not_the_last_reading():
    task = builtin("look_at_obj_in_light")
    lost = attempt(task, "could you put a hot egg in the safe please", strict())
    assert lost.ending is Ending.STUCK
    assert lost.error.endswith("is left: no egg is in any place here")
    assert lost.steps[-1].decision.goal_signature.object != "egg"


def test_a_kind_that_no_word_of_a_request_points_to_is_not_said_to_be_nowhere():
    hopeless = attempt_with_one_reading("pick_and_place_simple:trumpet::armchair")
    assert hopeless.error.endswith(
        " `this request` is left: those that are possible here were tried"
    )


def test_readings_say_which_was_the_first_whatever_was_read_or_seen_since():
    def reading(signature, score):
        type_, object_, _, destination = signature.split(":")
        named = {"object": object_, "destination": destination}
        return RequestReading(WORLD.goal_of(type_, named, ""), score)

    own = reading("pick_and_place_simple:egg::sofa", 0.0)
    readings = Readings("eggs", (own,), fits_template=True)
    same = reading("pick_and_place_simple:egg::sofa", 5.0)
    book = reading("pick_and_place_simple:book::sofa", 4.0)
    further = readings.read_further((same, book))
    assert [(each.goal.object, each.score) for each in further.ranked] == [
        ("egg", 0.0),
        ("book", -1.0),
    ]
    assert readings.read_further(()).ranked == (own,)
    belief = WORLD.update(WORLD.start(own.goal), None, KITCHEN)
    seen = WORLD.update(
        WORLD.update(belief, None, ""), "go to sofa 1", "On the sofa 1, you see a book 1."
    )
    other = further.instead(seen, 0.0)
    assert (other.now.goal, other.first) == (book.goal, own)


def test_an_agent_asks_about_a_goal_in_the_worlds_own_words_and_says_that_it_is_stuck():
    task = next(one for one in WORLD.tasks("builtin", Setting()) if "KeyChain" in one.id)
    asked = []

    def ask(request, _goals):
        asked.append(request)
        return "whatever"

    settings = {"condition": "rules-only", "preset": "strict", "ask": ask}
    with Agent("alfworld", **settings) as agent, closing(WORLD.open(task, Setting())) as game:
        outcome = game.reset()
        agent.reset(outcome.observation, goal="put some trumpet on armchair.")
        for _ in range(WORLD.step_budget):
            command = agent.act(outcome.observation)
            if agent.stuck:
                break
            outcome = game.step(command)
        assert agent.stuck.endswith("no trumpet is in any place here")
        assert asked == ["put some trumpet on armchair."]
        assert "read as: " in agent.explain()


def test_somebody_who_cannot_say_what_is_meant_is_not_asked_again():
    """A model that may know better than the plans goes on, and does not ask at each of its steps."""
    asked = []

    def ask(request, _goals):
        asked.append(request)
        return "whatever"

    def follows_plans(request):
        thought, action = follow_plan(request.decision)
        return Answer(f"Thought: {thought}\nAction: {action}")

    goes_on = FunctionModel(follows_plans, "goes on", plans=False)
    episode = attempt_with_one_reading(
        "pick_and_place_simple:trumpet::armchair", ask, model=goes_on, steps=60
    )
    assert episode.ending is Ending.OUT_OF_STEPS
    assert asked == ["this request"]


def test_the_reading_that_won_is_remembered_with_the_rooms_kinds_and_is_memory_like_all_other(
    tmp_path,
):
    task = builtin("pick_and_place_simple")
    episode = attempt(task, "lay the book down on the desk", mind())
    (entry,) = [each for each in harvest(episode, mind().schemas) if each.kind is Kind.REQUEST]
    assert str(entry.goal_signature) == "pick_and_place_simple:book::desk"
    assert "desk" in entry.state_signature.get("room")
    again = merge(
        [entry], [remembered("Lay  the book down on the desk", "pick_and_place_simple:book::desk")]
    )
    assert [len(each.origins) for each in again] == [2]
    file = tmp_path / "memory.jsonl"
    write_memory(file, again, "alfworld")
    assert parse_memory(file, file.read_text()).entries == again


def test_remembered_requests_are_hidden_and_audited_like_all_memory(tmp_path, rpms: Rpms):
    file, run = tmp_path / "memory.jsonl", tmp_path / "run"
    entries = merge([remembered(*each) for each in PARAPHRASES.items()])
    write_memory(file, entries, "alfworld")
    human = (
        "run",
        "alfworld",
        "--option",
        "goals=human",
        "--limit",
        "3",
        "--processes",
        "1",
        "--overlap",
        "allow",
    )
    told = (
        "--model",
        "planner",
        "--reader",
        "words",
        "--condition",
        "full",
        "--memory",
        file,
        "--mask",
        "0.5",
    )
    assert rpms(*human, *told, "--out", run).code == 0
    found = json.loads(rpms("memory", "audit", run, "--form", "json").out)
    (kind,) = [each for each in found["kinds"] if each["name"] == "request"]
    assert kind["shown"] + kind["hidden"] > 0
    assert {each["name"] for each in found["entries"]} <= {entry.id for entry in entries}


def test_each_sentence_of_a_game_is_a_task_of_its_own(tmp_path):
    tasks = WORLD.tasks("builtin", Setting(options={"goals": "human"}))
    assert len(tasks) == len({task.id for task in tasks}) == 48
    assert tasks[0].id.endswith("#1")
    with pytest.raises(InputError, match="choose template or human"):
        WORLD.tasks("builtin", Setting(options={"goals": "klingon"}))
    folder = (
        tmp_path
        / "json_2.1.1"
        / "valid_seen"
        / "pick_and_place_simple-Mug-None-Desk-301"
        / "trial_1"
    )
    folder.mkdir(parents=True)
    (folder / "game.tw-pddl").write_text("{}")
    setting = Setting(data=tmp_path, options={"goals": "human"})
    with pytest.raises(InputError, match="traj_data"):
        WORLD.tasks("valid_seen", setting)
    said = [{"task_desc": " Put a mug\non the desk "}, {"task_desc": 7}, {}]
    (folder / "traj_data.json").write_text(json.dumps({"turk_annotations": {"anns": said}}))
    (task,) = WORLD.tasks("valid_seen", setting)
    assert task.source[REQUEST] == "Put a mug on the desk"


def test_games_are_counted_beside_their_sentences():
    assert games_won([("a#1", True), ("a#2", False), ("b#1", True)]) == (1, 2, 2)
    assert games_won([("a", True), ("b#1", True)]) is None


def test_an_agent_takes_a_goal_in_ones_own_words():
    with Agent("alfworld", condition="rules-only") as agent:
        goal = agent.reset(
            opening("put some spoon on countertop."), goal="put a washed apple into the fridge"
        )
        assert str(goal.signature) == "pick_clean_then_place_in_recep:apple:clean:fridge"
        assert agent.act(opening("put some spoon on countertop."))
        assert "put a washed apple into the fridge" in agent.decision.prompt.text
        assert "put some spoon on countertop" not in agent.decision.prompt.text, (
            "one task, the one that was asked for"
        )
        assert "read as: pick_clean_then_place_in_recep:apple:clean:fridge (" in agent.explain()
        agent.reset(opening("put some spoon on countertop."), goal="sing me a song")
        agent.act(opening("put some spoon on countertop."))
        assert "no goal of the manual fits `sing me a song`" in agent.explain()


def test_in_any_world_a_request_takes_the_place_of_the_games_own_task():
    science, request = find_world("scienceworld"), "melt the chocolate for me"
    own = "Your task is to boil water. For compounds without a boiling point, combusting the substance is also fine. "
    asked = science.stating(
        f"{own}First, focus on the substance.\n\nThis room is called the hallway.", request
    )
    assert "boil" not in asked
    assert asked.startswith(request)
    knows = compose(CONDITIONS["rules-only"], knowledge_of(science), EpisodicMemory())
    understood = understand(science, knows, Reads(), asked, "e", request)
    assert (understood.goal.type, understood.goal.text) == (UNKNOWN_GOAL, request)
    assert understood.notes[0].startswith(f"no goal of the manual fits `{request}`"), (
        "it is not passed over in silence"
    )
