"""Transformers in process, with a tiny model of random weights."""

from __future__ import annotations

import json
import logging
import shutil
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from rpms.logic.errors import ContextOverflow, InputError, ModelUnavailable
from rpms.models.base import Decoding
from rpms.models.constraint import begins, fits, shapes_of
from rpms.models.hf.attention import NAME
from rpms.models.hf.loop import Loop
from rpms.models.hf.model import CPU_TOKENS, BatchLimits, HFModel
from tests.models.prompts import prompt, request

torch = pytest.importorskip("torch", reason="the extra `hf` is not installed")
transformers = pytest.importorskip("transformers", reason="the extra `hf` is not installed")

pytestmark = pytest.mark.filterwarnings("ignore")  # what the libraries deprecate among themselves

WINDOW = 2048


@pytest.fixture(autouse=True)
def on_the_processor(monkeypatch):
    """Full precision, in which a batch changes no answer; on a GPU, 16 bits round otherwise in
    each batch.
    """
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of 60,000 weights and a tokenizer of letters, as a folder that `from_pretrained`
    reads.
    """
    place = tmp_path_factory.mktemp("tiny")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from tokenizers import Tokenizer, decoders, models, pre_tokenizers  # noqa: PLC0415  comes with transformers

        letters = [chr(code) for code in range(33, 127)]
        vocabulary = {
            sign: index for index, sign in enumerate([*letters, "Ġ", "Ċ", "<|end|>"])
        }  # space, new line
        inner = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
        inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        inner.decoder = decoders.ByteLevel()
        tokenizer = transformers.PreTrainedTokenizerFast(
            tokenizer_object=inner, eos_token="<|end|>"
        )
        tokenizer.chat_template = (
            "{% for m in messages %}[{{ m['role'] }}]{{ m['content'] }}\n{% endfor %}"
            "{% if add_generation_prompt %}[assistant]{% endif %}"
        )
        tokenizer.save_pretrained(place)
        torch.manual_seed(7)
        config = transformers.LlamaConfig(
            vocab_size=len(vocabulary),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=WINDOW,
            eos_token_id=vocabulary["<|end|>"],
            bos_token_id=None,
            initializer_range=0.5,
        )
        transformers.LlamaForCausalLM(config).save_pretrained(place)
    return place


@pytest.fixture
def model(folder):
    made = HFModel(f"hf/{folder}", str(folder))
    yield made
    made.close()


SHORT = Decoding(max_tokens=12, stop=())


def test_concurrent_episodes_share_batches_and_get_the_answers_they_would_get_alone(folder):
    requests = [request(f"e{n}", turns=n % 5, decoding=SHORT, memory="m" * n) for n in range(24)]
    alone = HFModel("hf/tiny", str(folder), limits=BatchLimits(prompts=1))
    expected = [alone.answer(one) for one in requests]
    assert set(alone._batcher.sizes) == {1}
    alone.close()
    together = HFModel(
        "hf/tiny", str(folder), limits=BatchLimits(prompts=16, quiet=0.2, window=1.0)
    )
    with ThreadPoolExecutor(24) as pool:
        answers = list(pool.map(together.answer, requests))
    together.close()
    assert [answer.text for answer in answers] == [answer.text for answer in expected]
    assert [a.usage.prompt_tokens for a in answers] == [a.usage.prompt_tokens for a in expected]
    assert max(together._batcher.sizes) > 1
    assert len({answer.text for answer in answers}) > 1


def test_the_chat_template_is_used_and_every_token_counted(model):
    answer = model.answer(request(decoding=SHORT))
    system, user = prompt().messages()
    text = f"[system]{system.content}\n[user]{user.content}\n[assistant]"
    assert answer.usage.prompt_tokens == len(text.encode())
    assert 0 < answer.usage.completion_tokens <= 12
    assert answer.usage.requests == 1
    assert answer.finish in {"stop", "length"}


def test_a_stop_sequence_ends_its_row_and_no_other(model):
    free = [
        model.answer(request(turns=turns, decoding=Decoding(max_tokens=40, stop=())))
        for turns in (1, 2)
    ]
    stop = free[0].text[3:5]
    decoding = Decoding(max_tokens=40, stop=(stop,))
    with ThreadPoolExecutor(2) as pool:
        cut = list(
            pool.map(lambda turns: model.answer(request(turns=turns, decoding=decoding)), (1, 2))
        )
    assert cut[0].text == free[0].text[: free[0].text.index(stop)]
    assert cut[0].finish == "stop"
    assert cut[0].usage.completion_tokens < free[0].usage.completion_tokens
    expected = free[1].text.split(stop)[0]
    assert cut[1].text == expected


def test_a_prompt_beyond_the_window_is_an_overflow(model):
    with pytest.raises(ContextOverflow, match=str(WINDOW)):
        model.answer(request(turns=80, decoding=SHORT))
    assert model.answer(request(decoding=SHORT)).usage.requests == 1


def test_sampling_with_a_seed_repeats(model):
    decoding = Decoding(max_tokens=12, temperature=1.0, seed=5, stop=())
    first, second = (model.answer(request(decoding=decoding)).text for _ in range(2))
    other = model.answer(
        request(decoding=Decoding(max_tokens=12, temperature=1.0, seed=6, stop=()))
    ).text
    assert first == second != other


def test_a_batch_beyond_the_memory_is_halved(folder, monkeypatch):
    model = HFModel("hf/tiny", str(folder), limits=BatchLimits(quiet=0.2, window=1.0))
    forward = model._model.forward

    def small_device(**arguments):
        if arguments["input_ids"].shape[0] > 2:
            raise torch.cuda.OutOfMemoryError("out of memory")
        return forward(**arguments)

    monkeypatch.setattr(model._model, "forward", small_device)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: model.answer(request(f"e{n}", decoding=SHORT)), range(8)))
    model.close()
    assert len({answer.text for answer in answers}) == 1
    assert max(model._batcher.sizes) <= 2


CHOICES = ("look", "look at the lamp", "go to drawer 1", "go to drawer 10", 'say "(hm)|*"')


def row(model, asked):
    return model._question(asked).row


def test_a_shared_beginning_is_computed_once_and_changes_no_answer(model):
    asked = [request(f"e{n}", turns=n % 3, decoding=SHORT, memory="m" * n) for n in range(8)]
    written = {}
    for share in (True, False):
        loop = Loop(torch, model._model, 0, share=share)
        rows = [row(model, one) for one in asked]
        loop.write(rows, SHORT, range(8))
        written[share] = [one.text for one in rows], loop.computed_prompt_tokens
    assert written[True][0] == written[False][0]
    assert written[True][1] < 0.8 * written[False][1]
    texts = []
    for one in asked:
        ids = row(model, one).prompt
        output = model._model.generate(torch.tensor([ids]), max_new_tokens=12, do_sample=False)
        texts.append(model._tokenizer.decode(output[0][len(ids) :], skip_special_tokens=True))
    assert texts == written[True][0]


def test_an_answer_is_held_to_the_choices_after_a_free_thought(model):
    decoding = Decoding(max_tokens=120)
    held = [
        replace(request(f"e{n}", turns=n % 4, decoding=decoding), choices=CHOICES)
        for n in range(10)
    ]
    free = [request(f"f{n}", turns=n % 4, decoding=decoding) for n in range(4)]
    with ThreadPoolExecutor(14) as pool:
        answers = list(pool.map(model.answer, [*held, *free]))
    for answer in answers[:10]:
        thought, _, action = answer.text.partition("\nAction: ")
        assert thought.startswith("Thought:")
        assert "\n" not in thought
        assert action in CHOICES
        assert answer.finish == "stop"
        assert answer.usage.completion_tokens <= 120
    assert len({answer.text for answer in answers[:10]}) > 1
    alone = HFModel("hf/tiny", model.name.removeprefix("hf/"), limits=BatchLimits(prompts=1))
    assert [alone.answer(one).text for one in [*held, *free]] == [answer.text for answer in answers]
    alone.close()


def test_a_thought_has_a_budget_and_a_choice_that_begins_another_can_be_made(model):
    short = Decoding(max_tokens=60, temperature=5.0, seed=1, stop=())
    seen = set()
    for turns in range(8):
        answer = model.answer(
            replace(request(turns=turns, decoding=short), choices=("a", "ab", "abc"))
        )
        thought, _, action = answer.text.partition("\nAction: ")
        assert (
            len(thought) <= len("Thought:") + 12
        )  # a token is a letter here: 60 without the action's 48
        seen.add(action)
    assert seen <= {"a", "ab", "abc"}
    assert len(seen) > 1


def test_the_action_is_the_likeliest_choice_as_a_whole(model, monkeypatch):
    monkeypatch.setattr("rpms.models.hf.choice_weights.SCORES_AT_ONCE", 1)  # one row at a time
    asked = [
        replace(request(turns=n, decoding=Decoding(max_tokens=70)), choices=CHOICES)
        for n in range(3)
    ]
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(model.answer, asked))
    letters = model._letters
    for one, answer in zip(asked, answers, strict=True):
        made = row(model, one)
        thought = answer.text.partition("\nAction: ")[0]
        before = made.prompt + letters.encode(thought.removeprefix("Thought:"))
        weights = []
        for choice in made.choices:
            ids = torch.tensor([before + choice])
            with torch.inference_mode():
                scores = model._model(ids).logits[0].float().log_softmax(-1)
            inside = sum(
                scores[at - 1, ids[0, at]].item() for at in range(len(before) + 1, ids.shape[1])
            )
            weights.append(inside + scores[-1, sorted(letters.line_ends)].logsumexp(-1).item())
        assert answer.text.endswith(f"\nAction: {CHOICES[weights.index(max(weights))]}")


def test_choices_are_weighed_to_their_end_after_what_is_begun(model):
    kinds = ("object: mug", "object: apple", "object: a")
    asked = [
        replace(request(turns=n, decoding=SHORT), choices=kinds, weigh=True, begun=begun)
        for n in range(3)
        for begun in ("", "goal: put\n")
    ]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(model.answer, asked))
    letters = model._letters
    for one, answer in zip(asked, answers, strict=True):
        before = model._encode(one.prompt.messages()) + (
            letters.encode(one.begun) if one.begun else []
        )
        for choice, weight in zip(kinds, answer.weights, strict=True):
            ids = torch.tensor([before + letters.encode(choice)])
            with torch.inference_mode():
                scores = model._model(ids).logits[0].float().log_softmax(-1)
            inside = sum(
                scores[at - 1, ids[0, at]].item() for at in range(len(before), ids.shape[1])
            )
            end = scores[-1, sorted(letters.line_ends)].logsumexp(-1).item()
            assert weight == pytest.approx(inside + end, abs=1e-3)


def test_a_model_with_a_sliding_window_chooses_too(folder, tmp_path):
    shutil.copytree(folder, tmp_path / "sliding")
    torch.manual_seed(7)
    known = transformers.AutoConfig.from_pretrained(folder).to_dict()
    sizes = (
        "vocab_size",
        "hidden_size",
        "intermediate_size",
        "num_hidden_layers",
        "num_attention_heads",
    )
    config = transformers.MistralConfig(
        **{
            name: known[name] for name in (*sizes, "num_key_value_heads", "max_position_embeddings")
        },
        sliding_window=16,
        eos_token_id=known["eos_token_id"],
        initializer_range=0.5,
    )
    transformers.MistralForCausalLM(config).save_pretrained(tmp_path / "sliding")
    sliding = HFModel("hf/sliding", str(tmp_path / "sliding"))
    asked = [
        replace(request(turns=n, decoding=Decoding(max_tokens=70)), choices=CHOICES)
        for n in range(4)
    ]
    together = [
        answer.text for answer in sliding._generate([sliding._question(one) for one in asked])
    ]
    alone = [sliding.answer(one).text for one in asked]
    sliding.close()
    assert together == alone
    assert {text.partition("\nAction: ")[2] for text in together} <= set(CHOICES)


TEMPLATES = ("go to <place>", "take <object> from <place>", "look")


@pytest.mark.parametrize("temperature", [0.0, 3.0])
def test_an_answer_is_held_to_templates_after_a_free_thought(model, temperature, monkeypatch):
    monkeypatch.setattr(
        "rpms.models.hf.sampling.PICKED_FROM", 97
    )  # all of the alphabet: this model has no taste
    decoding = Decoding(max_tokens=120, temperature=temperature, seed=1)
    held = [
        replace(request(f"e{n}", turns=n % 4, decoding=decoding), templates=TEMPLATES)
        for n in range(6)
    ]
    chosen = [replace(one, templates=(), choices=CHOICES) for one in held[:2]]
    free = [replace(one, templates=()) for one in held[:2]]
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(model.answer, [*held, *chosen, *free]))
    shapes = shapes_of((), TEMPLATES)
    for answer in answers[:6]:
        thought, _, action = answer.text.partition("\nAction: ")
        assert thought.startswith("Thought:")
        assert "\n" not in thought
        assert any(
            (fits if answer.finish == "stop" else begins)(action.strip(), shape) for shape in shapes
        )
        assert answer.usage.completion_tokens <= 120
    alone = HFModel("hf/tiny", model.name.removeprefix("hf/"), limits=BatchLimits(prompts=1))
    assert [alone.answer(one).text for one in [*held, *chosen, *free]] == [
        answer.text for answer in answers
    ]
    alone.close()


def written_by(model, templates, wishes):
    """The row of a model that would like to write these characters, `$` for the end of its
    answer.
    """
    letters, end = model._letters, min(model._letters.ends)
    made = row(model, replace(request(), templates=templates))
    tokens = [end if wish == "$" else letters.encode(wish)[0] for wish in wishes]
    while not made.done:
        made.take(
            made.pick(tokens) if made.picks else end
        )  # no thought, and a label that nobody is asked for
    return made


def test_of_the_tokens_a_model_likes_the_first_that_a_template_allows_is_taken(model):
    assert written_by(model, ("look", "q<x>"), "\n$zkol ").text == "Thought:\nAction: look"
    assert written_by(model, ("ab<x>",), "\n$ba ").text == "Thought:\nAction: abb"
    assert written_by(model, ("a<x>c<y>",), "\nc$a ").text == "Thought:\nAction: accc"
    assert written_by(model, ("look", "q<x>"), "xyz").text == "Thought:\nAction:"


def test_a_row_ends_with_its_action_line(model):
    letters = model._letters
    written = "Thought: x\nAction: look\nObs: I made this up"
    made = row(model, request())
    taken = 0
    for token in letters.encode(written):
        taken += 1
        if made.take(token) is None:
            break
    assert made.done
    assert made.text == "Thought: x\nAction: look"
    assert taken == len(made.text) + 1


def test_a_parameter_that_is_not_known_is_named(model):
    with pytest.raises(InputError, match="num_beams"):
        model.answer(request(decoding=Decoding(max_tokens=4, extra=(("num_beams", 3),))))
    sampled = Decoding(
        max_tokens=8, temperature=1.0, seed=1, top_p=0.9, stop=(), extra=(("top_k", 1),)
    )
    greedy = model.answer(request(decoding=Decoding(max_tokens=8, stop=())))
    assert model.answer(request(decoding=sampled)).text == greedy.text


def test_heads_that_share_keys_are_computed_together_with_the_same_result(model):
    if not hasattr(transformers, "AttentionInterface"):
        pytest.skip("this version of transformers takes no attention function")
    assert model._model.config._attn_implementation == NAME
    tokens = torch.tensor([[5, 6, 7, 8], [0, 0, 9, 10]])
    mask = torch.tensor([[1, 1, 1, 1], [0, 0, 1, 1]])
    scores = {}
    for attention in (NAME, "sdpa"):
        model._model.set_attn_implementation(attention)
        with torch.inference_mode():
            cache = model._model(
                input_ids=tokens, attention_mask=mask, use_cache=True
            ).past_key_values
            one_more = torch.nn.functional.pad(mask, (0, 1), value=1)
            new = torch.tensor([[11], [12]])
            scores[attention] = model._model(
                input_ids=new,
                attention_mask=one_more,
                past_key_values=cache,
                position_ids=torch.tensor([[4], [2]]),
            ).logits
    assert torch.allclose(scores[NAME], scores["sdpa"], atol=1e-4)


def test_memory_is_counted_by_key_value_heads(model, monkeypatch):
    monkeypatch.setattr(model, "_device", "cuda")
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (10**9, 10**9))
    keys_and_values = (
        2 * 2 * 2 * 8 * 2
    )  # layers, key-value heads (not the four heads), width, bytes
    passing = 8 * (32 + 64)
    assert model._tokens(0.2, model._keys_and_values()) == int(0.2 * 10**9 / keys_and_values)
    assert model._tokens(0.3, model._passing()) == int(0.3 * 10**9 / passing)
    assert model._tokens(1e-9, 1) == 4_096
    assert model._loop._at_once == CPU_TOKENS


def test_a_template_without_a_system_role_gets_one_message(folder, tmp_path):
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    template = (
        "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
        "{{ messages[0]['content'] }}>"
    )
    (tmp_path / "chat_template.jinja").unlink(missing_ok=True)
    config = json.loads((tmp_path / "tokenizer_config.json").read_text())
    config["chat_template"] = template
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
    model = HFModel("hf/tiny", str(tmp_path))
    answer = model.answer(request(decoding=SHORT))
    model.close()
    assert (
        answer.usage.prompt_tokens
        == len("\n\n".join(m.content for m in prompt().messages()).encode()) + 1
    )


def test_what_cannot_be_loaded_says_so(tmp_path):
    with pytest.raises(ModelUnavailable, match="cannot be loaded"):
        HFModel("hf/x", str(tmp_path))
    with pytest.raises(ModelUnavailable, match="there is no folder nobody/nothing here; as a name"):
        HFModel("hf/nobody/nothing", "nobody/nothing")


def test_a_hub_that_cannot_be_reached_is_said_once(tmp_path, monkeypatch, capfd):
    """Its library would print a line for each of ten retries."""
    logger = logging.getLogger("huggingface_hub.utils._http")

    def unreached(*_given, **_options):
        logger.warning("Retrying in 1s")
        raise OSError("We couldn't connect")

    monkeypatch.setattr(transformers.AutoTokenizer, "from_pretrained", unreached)
    spoke_before = logger.isEnabledFor(logging.WARNING)
    with pytest.raises(ModelUnavailable, match="as a name on the hub: We couldn't connect"):
        HFModel("hf/nobody/nothing", "nobody/nothing")
    assert "Retrying" not in capfd.readouterr().err
    assert logger.isEnabledFor(logging.WARNING) is spoke_before
