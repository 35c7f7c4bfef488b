"""Actions held to the templates of a manual, where there is no menu to hold them to."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rpms.foreign.json_text import question_key
from rpms.logic.errors import InputError
from rpms.models.base import Answer, CannotHold, Decoding
from rpms.models.catalogue import ModelOptions, open_model
from rpms.models.constraint import NOT_HELD, begins, fits, grammar, is_held_to, regex, shapes_of
from rpms.models.policy import FunctionModel
from rpms.models.recorded import RecordedModel, ReplayModel, question
from rpms.paper.compose import compose
from rpms.paper.condition import FULL
from rpms.paper.enforcement import PAPER, STRICT, Constrained
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.run import run
from rpms.play.seats import Play, play
from rpms.play.sources import idle_parts, knowledge_of
from rpms.play.step import Player
from rpms.store.answers import FolderOfAnswers
from rpms.worlds.base import Setting
from rpms.worlds.registry import find_world
from tests.models.gbnf import matches
from tests.models.prompts import request
from tests.models.server import heeding, openai_error, openai_ok

TEMPLATES = ("go to <place>", "take <object> from <place>", "look")
PIECE = st.text(
    st.characters(blacklist_categories=("C", "Z"), blacklist_characters="<>"),
    min_size=1,
    max_size=8,
)
NAME = st.text(
    st.characters(blacklist_categories=("C", "Z"), whitelist_characters=" "),
    min_size=1,
    max_size=12,
)


@st.composite
def templates(draw):
    """A template of hostile pieces, and one of its instances."""
    pieces = draw(st.lists(PIECE, min_size=1, max_size=4))
    names = [draw(NAME.filter(lambda name: name[0] != " " and name[-1] != " ")) for _ in pieces[1:]]
    template = pieces[0] + "".join(f" <p{'_' * n}> {piece}" for n, piece in enumerate(pieces[1:]))
    instance = pieces[0] + "".join(
        f" {name} {piece}" for name, piece in zip(names, pieces[1:], strict=True)
    )
    return template, instance


def asking(**options):
    return replace(request(**options), templates=TEMPLATES)


def connect(server, provider="vllm"):
    return open_model(f"{provider}/m", ModelOptions(base_url=server.url + "/v1"))


# --- the forms ---


@given(st.lists(templates(), min_size=1, max_size=4))
def test_every_form_takes_each_instance_of_each_template(made):
    shapes = shapes_of((), [template for template, _ in made])
    rule, expression = grammar(shapes, 256), re.compile(regex(shapes, 256))
    for _, instance in made:
        answer = f"Thought: I think so.\nAction: {instance}"
        for text in (
            (answer, answer + "\n") if any(len(shape) > 1 for shape in shapes) else (answer,)
        ):
            assert expression.fullmatch(text)
            assert matches(rule, text)
            assert is_held_to(text, shapes)
        assert any(fits(instance, shape) for shape in shapes)
        assert all(
            any(begins(instance[:end], shape) for shape in shapes) for end in range(len(instance))
        )


@given(st.lists(templates(), min_size=1, max_size=3), st.text(max_size=30))
def test_every_form_refuses_what_is_no_instance(made, junk):
    shapes = shapes_of((), [template for template, _ in made])
    answer = f"Thought: x\nAction: {junk}"
    assume(not any(fits(junk.strip(), shape) for shape in shapes))
    assert not re.fullmatch(regex(shapes, 256), answer)
    assert not matches(grammar(shapes, 256), answer)


@given(templates(), st.text("ab <>|\n", max_size=12))
def test_fits_is_what_the_expression_means(made, text):
    (shape,) = shapes_of((), [made[0]])
    for one in (text, made[1], made[1] + text, text + made[1]):
        expected = re.fullmatch("[^\n]+".join(map(re.escape, shape)), one)
        assert fits(one, shape) is (expected is not None)


def test_some_that_are_and_some_that_are_not():
    shapes = shapes_of((), TEMPLATES)
    assert shapes == (("go to ", ""), ("take ", " from ", ""), ("look",))
    for action in ("go to drawer 1", "take a from b", "take a from b from c", "look"):
        assert is_held_to(f"Thought: x\nAction: {action}", shapes)
    for action in (
        "go to",
        "take a",
        "take a from",
        "take  from b",
        "look around",
        "Go to drawer 1",
        "",
    ):
        assert not is_held_to(f"Thought: x\nAction: {action}", shapes)


def test_a_menu_goes_before_templates_and_what_one_line_cannot_hold_is_none():
    assert shapes_of(("look",), TEMPLATES) == (("look",),)
    assert shapes_of((), ("a\n<b>", " go <x> ", "go <y>", "")) == (("go ", ""),)


def test_forms_for_a_menu_are_as_they_were_before_there_were_templates():
    shapes = shapes_of(("put a in/on b", "look"))
    assert regex(shapes, 256) == r"Thought: [^\n]{0,400}\nAction: (put a in\/on b|look)"
    assert grammar(shapes, 256) == (
        'root ::= "Thought: " thought "\\nAction: " action\nthought ::= [^\\n]{0,400}\n'
        'action ::= "put a in/on b" | "look"\n'
    )


# --- servers ---


@pytest.mark.parametrize(
    ("provider", "parameter"), [("vllm", "structured_outputs"), ("llamacpp", "grammar")]
)
def test_each_server_is_told_in_its_own_way(server, provider, parameter):
    server.play_script(heeding((parameter,), openai_ok("Thought: x\nAction: take a from b\n")))
    model = connect(server, provider)
    answer = model.answer(asking())
    model.close()
    assert answer.notes == ()
    assert " from " in json.dumps(server.asked[0].body[parameter])


def test_a_server_that_takes_only_schemas_says_so_before_it_is_asked(server):
    model = connect(server, "openai-compatible")
    with pytest.raises(
        CannotHold, match="openai-compatible/m cannot hold its answers to action templates"
    ):
        model.answer(asking())
    server.play(openai_ok())
    model.answer(request())
    model.close()
    assert len(server.seen) == 1


def test_a_template_without_parameters_is_a_choice(server):
    server.play_script(
        heeding(("response_format",), openai_ok(json.dumps({"thought": "", "action": "look"})))
    )
    model = connect(server, "openai-compatible")
    model.answer(replace(request(), templates=("look", "wait")))
    model.close()
    assert server.asked[0].body["response_format"]["json_schema"]["schema"]["properties"]["action"][
        "enum"
    ] == [
        "look",
        "wait",
    ]


def test_a_server_that_does_not_listen_is_told_of_once_and_its_answers_say_so(server, caplog):
    server.play(openai_ok("I sing."))
    model = connect(server)
    with caplog.at_level(logging.WARNING, "rpms"):
        answers = [model.answer(asking()) for _ in range(3)]
    model.close()
    assert [answer.usage.requests for answer in answers] == [1, 1, 1]
    assert all(any(note.startswith(NOT_HELD) for note in answer.notes) for answer in answers)
    assert [record.getMessage() for record in caplog.records] == [
        "note: vllm/m does not hold its actions to a menu or grammar; its server may be too old"
    ]
    assert all("response_format" not in seen.body for seen in server.asked)


# --- records ---


def test_templates_are_part_of_a_question_and_none_leave_its_key_as_it_was():
    free, held_, chosen = request(), asking(), replace(request(), choices=TEMPLATES)
    assert len({question_key(question(one, "m")) for one in (free, held_, chosen)}) == 3
    assert set(question(free, "m")) == {"model", "decoding", "messages"}
    assert set(question(chosen, "m")) == {"model", "decoding", "messages", "choices"}


def test_a_record_replays_what_was_held_and_a_free_one_is_replayed_free(tmp_path):
    inner = FunctionModel(lambda one: "Action: look" if one.templates else "Action: dance")
    inner.constrains = True
    recorded = RecordedModel(inner, FolderOfAnswers(tmp_path))
    recorded.answer(request())
    recorded.answer(replace(request(), choices=("look",)))
    replay = ReplayModel("replay/x", FolderOfAnswers(tmp_path))
    with pytest.raises(CannotHold):
        replay.answer(asking())
    recorded.answer(asking())
    replay = ReplayModel("replay/x", FolderOfAnswers(tmp_path))
    assert replay.constrains
    assert replay.answer(asking()).text == "Action: look"
    assert replay.answer(request()).text == "Action: dance"
    with pytest.raises(Exception, match="held to other templates"):
        replay.answer(replace(request(), templates=("wait",)))


# --- in an episode ---

WORLD = find_world("alfworld")


def requests_of(enforcement, model, world=WORLD):
    """Requests of one step of the first game to a model that answers with `look`."""
    asked = []

    def answer(one):
        asked.append(one)
        if one.templates and not model.get("templates", True):
            raise CannotHold("m cannot hold its answers to action templates, only to a menu")
        return Answer("Action: look", notes=model.get("notes", ()))

    function = FunctionModel(answer, name="m")
    function.constrains = model.get("constrains", True)
    task = world.tasks("builtin", Setting())[0]
    mind = compose(replace(FULL, enforcement=enforcement), knowledge_of(world), EpisodicMemory())
    play(Play(Player(world, mind, function, Decoding()), world.open(task, Setting()), task, 1))
    return asked


AUTO, ON = (
    replace(PAPER, constrained=constrained) for constrained in (Constrained.AUTO, Constrained.ON)
)


@pytest.mark.parametrize("enforcement", [AUTO, ON])
def test_without_a_menu_the_action_is_held_to_the_manuals_templates(enforcement):
    (asked,) = requests_of(enforcement, {})
    assert asked.choices == ()
    assert {
        "go to <place>",
        "put <object> in/on <place>",
        "move <object> to <place>",
        "look",
    } <= set(asked.templates)


@pytest.mark.parametrize("enforcement", [PAPER, STRICT, replace(ON, menu=5)])
def test_with_a_menu_or_in_the_paper_there_are_no_templates(enforcement):
    asked = requests_of(enforcement, {})
    assert all(one.templates == () for one in asked)
    assert all(bool(one.choices) is (enforcement is not PAPER) for one in asked)


def test_only_where_the_manual_has_no_actions_there_is_nothing_to_hold_to(monkeypatch):
    assert idle_parts(WORLD, AUTO) == ()
    monkeypatch.setattr(type(WORLD), "manual", lambda _self: ())
    assert idle_parts(WORLD, ON) == (
        "alfworld: constrained=on does nothing: there is no menu, and its manual has no actions",
    )
    assert idle_parts(WORLD, replace(ON, menu=5)) == ()


@pytest.mark.parametrize(("can", "times"), [({"constrains": False}, 1), ({"templates": False}, 2)])
def test_a_model_that_cannot_is_free_unless_the_run_insists(can, times):
    asked = requests_of(AUTO, can)
    assert len(asked) == times
    assert asked[-1].templates == ()
    with pytest.raises(
        InputError,
        match=r"m cannot hold its answers to action templates.*; leave out constrained=on",
    ):
        requests_of(ON, can)


def test_a_model_that_did_not_listen_stops_a_run_that_insists():
    deaf = {"notes": (f"{NOT_HELD}: this server takes none of the forms",)}
    assert len(requests_of(AUTO, deaf)) == 1
    with pytest.raises(
        InputError, match="m does not hold its answers to the action templates, on which"
    ):
        requests_of(ON, deaf)
    with pytest.raises(InputError, match="m does not hold its answers to the menu"):
        requests_of(replace(ON, menu=5), deaf)


def test_a_run_that_insists_stops_with_one_message_where_the_server_refuses(server, tmp_path):
    server.play_script(
        lambda seen: (
            openai_error(400, "Unsupported parameter: grammar", param="grammar")
            if "grammar" in seen.body
            else openai_ok("Thought: x\nAction: dance the tango, if you can")
        )
    )
    model = connect(server, "llamacpp")
    design = design_run(
        WORLD,
        model.name,
        lend(model),
        limit=1,
        condition=replace(FULL, enforcement=ON),
        memory=EpisodicMemory(),
    )
    with pytest.raises(InputError) as stopped:
        run(design, tmp_path / "run")
    model.close()
    assert str(stopped.value) == (
        "llamacpp/m does not hold its answers to the action templates, on which constrained=on insists"
    )
