"""Record and replay, with the store on disk."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from rpms.foreign.json_text import question_key
from rpms.logic.errors import InputError, ModelError, ModelUnavailable
from rpms.models.base import Answer, Decoding, Usage
from rpms.models.catalogue import ModelOptions, open_model
from rpms.models.policy import FunctionModel
from rpms.models.recorded import RecordedModel, ReplayModel, question
from rpms.store.answers import FolderOfAnswers
from tests.models.prompts import request
from tests.models.server import openai_ok


class Counting:
    """A model that counts what reaches it."""

    def __init__(self):
        self.asked = 0
        self.lock = threading.Lock()

    def __call__(self, request):
        with self.lock:
            self.asked += 1
        usage = Usage(
            prompt_tokens=100, cached_tokens=50, completion_tokens=5, requests=1, seconds=0.5
        )
        return Answer(f"Action: look {len(request.prompt.text)}", usage, "stop", ("a note",))


@pytest.fixture
def counting():
    return Counting()


def test_the_second_run_asks_nothing_and_has_the_same_tokens(tmp_path, counting):
    requests = [request(turns=turns) for turns in range(5)]
    first = RecordedModel(FunctionModel(counting, "m"), FolderOfAnswers(tmp_path))
    live = [first.answer(one) for one in requests]
    second = RecordedModel(FunctionModel(counting, "m"), FolderOfAnswers(tmp_path))
    recorded = [second.answer(one) for one in requests]
    assert counting.asked == 5
    assert [answer.text for answer in recorded] == [answer.text for answer in live]
    assert all(answer.usage.requests == 0 for answer in recorded)
    assert [replace(a.usage, requests=1) for a in recorded] == [a.usage for a in live]
    assert recorded[0].notes == ("a note",)


def test_the_episode_is_no_part_of_the_question(tmp_path, counting):
    model = RecordedModel(FunctionModel(counting, "m"), FolderOfAnswers(tmp_path))
    model.answer(request("e1"))
    model.answer(request("e2"))
    assert counting.asked == 1


@pytest.mark.parametrize(
    "other",
    [
        request(turns=3),
        request(decoding=Decoding(temperature=0.1)),
        request(decoding=Decoding(max_tokens=255)),
        request(decoding=Decoding(extra=(("top_k", 3),))),
        request(decoding=Decoding(stop=())),
    ],
)
def test_whatever_may_change_the_answer_changes_the_key(other):
    keys = {question_key(question(request(), "m")), question_key(question(other, "m"))}
    assert len(keys | {question_key(question(request(), "n"))}) == 3


def test_equal_questions_at_the_same_time_are_asked_once(tmp_path, counting):
    model = RecordedModel(FunctionModel(counting, "m"), FolderOfAnswers(tmp_path))
    threads = [threading.Thread(target=model.answer, args=(request(f"e{n}"),)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counting.asked == 1


def test_a_failure_is_not_recorded(tmp_path):
    def fail(_):
        raise ModelError("no")

    store = FolderOfAnswers(tmp_path)
    with pytest.raises(ModelError):
        RecordedModel(FunctionModel(fail, "m"), store).answer(request())
    assert len(store) == 0


def test_a_replay_needs_no_key_and_no_model(server, tmp_path, monkeypatch):
    server.play(openai_ok())
    monkeypatch.setenv("OPENAI_API_KEY", "planted-key-0123456789")
    options = ModelOptions(base_url=server.url + "/v1")
    model = open_model("openai/gpt-x", options, record=FolderOfAnswers(tmp_path))
    live = model.answer(request())
    model.close()
    monkeypatch.delenv("OPENAI_API_KEY")
    replay = open_model(f"replay/{tmp_path}", open_answers=FolderOfAnswers)
    assert replay.answer(request()).text == live.text
    assert len(server.seen) == 1
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert b"planted-key" not in path.read_bytes()


def record(tmp_path, *requests, model="m"):
    recorded = RecordedModel(
        FunctionModel(lambda _: "Action: look", model), FolderOfAnswers(tmp_path)
    )
    for one in requests:
        recorded.answer(one)
    return ReplayModel("replay/x", FolderOfAnswers(tmp_path), "m")


def test_a_changed_prompt_is_a_miss_that_names_the_block(tmp_path):
    replay = record(tmp_path, request(), request(turns=7))
    with pytest.raises(
        ModelUnavailable, match=r"prompt changed \(nearest recorded one differs in memory\)"
    ):
        replay.answer(request(memory="something else"))


def test_changed_decoding_is_a_miss_that_names_the_parameter(tmp_path):
    replay = record(tmp_path, request())
    with pytest.raises(ModelUnavailable, match=r"temperature 0\.0, not 0\.7"):
        replay.answer(request(decoding=Decoding(temperature=0.7)))
    with pytest.raises(ModelUnavailable, match=r"temperature 0\.0, not 0\.7$"):
        replay.answer(request(decoding=Decoding(temperature=0.7, seed=0)))


def test_another_model_is_a_miss_that_names_both(tmp_path):
    replay = record(tmp_path, request(), model="other")
    with pytest.raises(ModelUnavailable, match="the model other, not m"):
        replay.answer(request())


def test_a_damaged_answer_is_asked_for_again(tmp_path, counting):
    store = FolderOfAnswers(tmp_path)
    model = RecordedModel(FunctionModel(counting, "m"), store)
    model.answer(request())
    (path,) = tmp_path.glob("*/*.json")
    path.write_bytes(path.read_bytes()[:-40])
    model.answer(request())
    assert counting.asked == 2
    model.answer(request())
    assert counting.asked == 2


def test_a_record_of_two_models_must_be_told_which(tmp_path):
    record(tmp_path, request())
    record(tmp_path, request(), model="other")
    with pytest.raises(InputError, match="several models"):
        ReplayModel("replay/x", FolderOfAnswers(tmp_path))
    assert (
        ReplayModel("replay/x", FolderOfAnswers(tmp_path), "other").answer(request()).text
        == "Action: look"
    )


def test_an_empty_record_says_so(tmp_path):
    with pytest.raises(InputError, match="no recorded answers"):
        ReplayModel("replay/x", FolderOfAnswers(tmp_path))
    with pytest.raises(InputError, match="no recorded answers"):
        open_model(f"replay/{tmp_path}/nowhere", open_answers=FolderOfAnswers)
    assert not (tmp_path / "nowhere").exists()
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="not a folder"):
        FolderOfAnswers(tmp_path / "file")
