"""What a goal's own words say: its topic, where its object names no thing, and commands in its
sentences.
"""

from __future__ import annotations

from rpms.induction.conclusions.deeds import deeds_of
from rpms.induction.evidence.attempts import Attempt, Book
from rpms.induction.evidence.templates import Names
from rpms.induction.evidence.vocabulary import Vocabulary
from rpms.induction.exploring.as_told import as_told
from rpms.induction.exploring.questions import Question
from rpms.logic.actions import ActionSchema
from rpms.logic.facts import Atom
from rpms.logic.goal import Goal
from rpms.store.evidence import Witness

_GOOD = {"find-animal": ("hen", "fox", "bee"), "find-plant": ("fern", "oak")}


def _point_at(episode: int, thing: str, topic: str) -> Attempt:
    scored = thing in _GOOD[topic]
    witness = Witness(str(episode), 5)
    tried = Attempt(witness, (thing,), (thing,), False, 0, 0, 0, 0, 0, 0)
    return tried._replace(
        goal="find", topic=topic, scored=scored, lost=not scored, gain=50 * scored
    )


def _pointing() -> Book:
    book = Book("point at <>", Vocabulary({}), slots=[{"thing"}])
    book.roles = [{"thing"}]
    things = ("hen", "fern", "fox", "oak", "bee", "hen", "fern", "cup", "rug")
    for number in range(4 * len(things)):
        topic = ("find-animal", "find-plant")[number // len(things) % 2]
        book.attempts.append(_point_at(number, things[number % len(things)], topic))
    return book


def test_what_scores_is_told_by_the_topic_and_the_kind_of_thing() -> None:
    names = Names()
    names.learn({"thing": ["hen", "fox", "bee", "fern", "oak", "cup", "rug"]})
    found = deeds_of([_pointing()], "find", names, {}, {})
    assert found
    for topic, good in _GOOD.items():
        listed: set[str] = set()
        for deed in found:
            said = [str(literal) for literal in deed.when.literals]
            if f"goal_object({topic})" not in said:
                continue
            for literal in deed.when.literals:
                if literal.atom.predicate == "kind":
                    listed.add(literal.atom.args[1])
            if deed.table is not None:
                listed.update(deed.table.rows[topic])
        assert listed == set(good)


def _entering(episode: int, topic: str, *, new: bool) -> Attempt:
    """A step into a room, which scores with any goal if nobody was there before."""
    names = (f"room {episode}",)
    true, false = (1, 0) if new else (0, 1)
    tried = Attempt(Witness(str(episode), 5), names, ("room",), False, true, false, 0, 0, 0, 0)
    return tried._replace(goal="find", topic=topic, scored=new, gain=8 * new)


def test_what_scores_whatever_a_goal_is_about_holds_for_topics_that_never_scored() -> None:
    book = Book("enter <>", Vocabulary({}), slots=[{"room"}], facts=[Atom("new", ("0",))])
    book.roles = [{"room"}]
    for number in range(60):
        topic = f"find-{number // 2 % 15}"
        book.attempts.append(_entering(number, topic, new=number % 2 == 0))
    names = Names()
    names.learn({"room": [f"room {number}" for number in range(60)]})
    found = deeds_of([book], "find", names, {}, {})
    general = []
    for deed in found:
        said = {str(literal) for literal in deed.when.literals}
        if not any("goal_object" in each for each in said):
            general.append(said)
    assert general == [{"new(0)"}]


def test_a_topic_that_things_are_called_is_none() -> None:
    names = Names()
    names.learn({"thing": ["find-animal", "find-plant", "hen", "fox", "bee", "fern", "oak"]})
    for deed in deeds_of([_pointing()], "find", names, {}, {}):
        assert not any("goal_object" in str(literal) for literal in deed.when.literals)


def _question(template: str, *roles: str) -> Question:
    syntax = template
    for role in roles:
        syntax = syntax.replace("<>", f"<{role}>", 1)
    schema = ActionSchema(template.split(" ", maxsplit=1)[0], (syntax,), (), ())
    return Question(schema, Book(template, Vocabulary({}), slots=[{role} for role in roles]))


def test_commands_of_a_sentence_come_in_its_order_and_it_is_what_was_handled_last() -> None:
    text = "Find an animal. First, focus on the lamp. Then, move it to the red box. Be quick."
    goal = Goal("find", text=text)
    known = {"thing": ("hen", "lamp"), "place": ("red box", "blue box")}
    questions = [_question("move <> to <>", "thing", "place"), _question("focus on <>", "thing")]
    told = [command for command, _ in as_told(questions, goal, known, (), "hen")]
    assert told.index("focus on lamp") < told.index("move hen to red box")
    assert "move hen to blue box" not in told
    without = [command for command, _ in as_told(questions, goal, known, ())]
    assert "move hen to red box" not in without


def test_a_command_about_nothing_known_is_read_as_its_like() -> None:
    names = Names()
    names.learn({"thing": ["lamp"]})
    assert names.read("focus on attic").names == ()
    names.add_form(names.read("focus on lamp").template)
    assert names.read("focus on attic") == ("focus on <>", ("attic",))
    assert names.read("look around").names == ()
