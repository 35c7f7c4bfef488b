"""Lessons in a model's words: taken where they stand up to manual and transcript, and left
alone where they do not.
"""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from rpms.learning.corrective_rules import objection, worded_by
from rpms.learning.harvest import harvest
from rpms.learning.rounds import learn
from rpms.logic.errors import ModelError, ModelUnavailable
from rpms.models.base import Answer
from rpms.models.policy import FunctionModel, follow_plan
from rpms.paper.memory import FailureLesson
from rpms.store.memories import parse_memory, read_memory
from tests.cli.command import Rpms, rpms
from tests.learning.episodes import MANUAL, scripted
from tests.learning.test_rounds import design

__all__ = ["rpms"]
EPISODE = scripted(
    "pick_cool", "go to fridge 1", "take apple 99 from fridge 1", "open fridge 1", "close fridge 1"
)
(LESSON,) = (each for each in harvest(EPISODE, MANUAL) if isinstance(each, FailureLesson))


def worded(answer: str) -> FailureLesson:
    model = FunctionModel(lambda _request: Answer(answer), "openai/wordsmith")
    return next(
        each for each in worded_by(model, [LESSON], EPISODE) if isinstance(each, FailureLesson)
    )


def test_a_sound_lesson_is_taken_and_marked_with_its_origin(tmp_path):
    lesson = worded("Lesson: the place must be open before taking")
    assert lesson.corrective_rule == "the place must be open before taking"
    assert lesson.worded_by == "openai/wordsmith"
    assert lesson.origins == LESSON.origins
    assert lesson.id != LESSON.id


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("Lesson: must be at drawer 77 before taking", "of one room alone"),
        ("Lesson: take care next time, and hurry", "not in the form"),
        ("Lesson: do `take apple 99 from fridge 1` once more", "not in the form"),
        ("Lesson: must sing before dancing", "is about dancing"),
        ("Lesson: \x1b[2J must be open before taking", "printable"),
        ("Lesson: " + "must be open before taking " * 40, "printable"),
        ("", "printable"),
    ],
)
def test_what_does_not_stand_up_to_the_transcript_is_left_as_it_was(answer, why):
    assert worded(answer).corrective_rule == LESSON.corrective_rule
    assert not worded(answer).worded_by
    text = answer.partition("Lesson: ")[2]
    step = EPISODE.steps[min(LESSON.origins).step - 1]
    assert re.search(why, objection(text, step))


def test_a_model_that_fails_once_costs_a_wording_and_one_that_is_gone_stops():
    def fails(error):
        def answer(_request):
            raise error

        return worded_by(FunctionModel(answer, "m"), [LESSON], EPISODE)

    assert fails(ModelError("no")) == (LESSON,)
    with pytest.raises(ModelUnavailable):
        fails(ModelUnavailable("gone"))


def test_learning_keeps_the_model_s_words_and_their_mark(tmp_path):
    asked, acted = [], []

    def answer(request):
        if request.decision is None:
            asked.append(request.prompt.text)
            return Answer("Lesson: the thing must be where it is looked for before taking")
        acted.append(request.episode)
        slip = acted.count(request.episode) == 2
        return Answer(
            "Action: take apple 77 from drawer 99"
            if slip
            else f"Action: {follow_plan(request.decision)[1]}"
        )

    model = FunctionModel(answer, "talker")
    given = design(model, rounds=1, limit=3)
    result = learn(replace(given, words=given.play.open_model), tmp_path / "memory.jsonl")[-1]
    lessons = [each for each in read_memory(result.file).entries if isinstance(each, FailureLesson)]
    assert asked
    assert any(each.worded_by == "talker" for each in lessons)
    assert all("E-" not in text for text in asked)
    assert (
        parse_memory(result.file, result.file.read_text()).entries
        == read_memory(result.file).entries
    )


def test_what_writes_no_text_cannot_word_lessons(tmp_path, rpms: Rpms):
    ran = rpms("learn", "alfworld", "--out", tmp_path / "m.jsonl", "--lessons", "model")
    assert "writes no text" in ran.line
    assert (
        "choose seen or model"
        in rpms("learn", "alfworld", "--out", tmp_path / "m.jsonl", "--lessons", "x").line
    )
