"""Prompts that begin like earlier ones, with a tiny model of random weights."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from rpms.models.base import Decoding
from rpms.models.hf.loop import WORTH_A_PASS, Loop
from rpms.models.hf.model import BatchLimits, HFModel
from rpms.models.hf.prefixes import CAPACITY, KnownPrefix, Prefixes, _common, _name, sees_all
from tests.models.prompts import request
from tests.models.test_local_hf import folder  # noqa: F401  a fixture

torch = pytest.importorskip("torch", reason="the extra `hf` is not installed")
transformers = pytest.importorskip("transformers", reason="the extra `hf` is not installed")

pytestmark = pytest.mark.filterwarnings("ignore")  # what the libraries deprecate among themselves

LAYERS, HEADS, WIDTH = 6, 2, 8  # more layers than are copied at once
VOCABULARY = 97


@pytest.fixture(scope="module")
def tiny():
    torch.manual_seed(3)
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=4 * WIDTH,
        intermediate_size=64,
        num_hidden_layers=LAYERS,
        num_attention_heads=4,
        num_key_value_heads=HEADS,
        max_position_embeddings=8192,
        initializer_range=0.3,
    )
    return transformers.LlamaForCausalLM(config).eval()


def some(seed, length):
    draw = random.Random(repr(seed))
    return [draw.randrange(VOCABULARY) for _ in range(length)]


class Episodes:
    """Prompts with the same rules, a task and a history of their own, and an end that changes
    with each step.
    """

    def __init__(self, rules=400, task=60, turn=40, tail=50):
        self.rules, self.task, self.turn, self.tail = some("rules", rules), task, turn, tail

    def prompt(self, episode, step):
        history = [
            token
            for n in range(step)
            for token in some((episode, n), self.turn + (episode + n) % 7)
        ]
        tail = some((episode, step, "tail"), self.tail + episode % 5)
        return [*self.rules, *some((episode, "task"), self.task), *history, *tail]


class Reader:
    """A loop, and the tokens that each batch made it compute."""

    def __init__(self, model, keep, at_once=0):
        self.loop = Loop(torch, model, 0, keep=keep, at_once=at_once)

    def read(self, prompts):
        before = self.loop.computed_prompt_tokens
        with torch.inference_mode():
            scores, cache, mask = self.loop._read(prompts)
        assert mask.shape[1] == cache.get_seq_length()
        assert mask.sum(-1).tolist() == [len(prompt) for prompt in prompts]
        return scores, self.loop.computed_prompt_tokens - before


def expected(model, prompts):
    with torch.inference_mode():
        return torch.stack(
            [model(input_ids=torch.tensor([prompt])).logits[0, -1] for prompt in prompts]
        )


def close(scores, others):
    return torch.allclose(scores, others, atol=1e-3, rtol=1e-3)


def test_growing_prompts_get_the_scores_they_would_get_alone_and_compute_what_is_new(tiny):
    episodes, kept, plain = Episodes(), Reader(tiny, 10**6), Reader(tiny, 0)
    computed = []
    for step in range(6):
        prompts = [episodes.prompt(episode, step) for episode in range(7)]
        scores, now = kept.read(prompts)
        others, then = plain.read(prompts)
        assert close(scores, others)
        assert close(scores, expected(tiny, prompts))
        assert (scores.argmax(-1) == others.argmax(-1)).all()
        assert plain.loop.reused == [0] * 7
        computed.append((now, then))
        if step:  # a turn and the tail, padded; everything before was there
            assert kept.loop.reused == [
                len(prompt) - 46 - 50 - e % 5 + 6 - (e + step - 1) % 7
                for e, prompt in enumerate(prompts)
            ]
            assert now <= 7 * 104
    assert (
        computed[0][0] == computed[0][1]
    )  # nothing is known at first, and what all share is computed once
    assert sum(now for now, _ in computed) < 0.5 * sum(then for _, then in computed)


@pytest.mark.parametrize("at_once", [1, 100, 300, 10**6])
def test_prompts_read_in_parts_get_the_same_scores(tiny, at_once):
    episodes, parts = Episodes(), Reader(tiny, 10**6, at_once)
    passes = []
    forward = parts.loop._forward
    parts.loop._forward = lambda tokens, *rest: (
        passes.append(tokens.numel()) or forward(tokens, *rest)
    )
    for step in range(3):
        prompts = [
            *(episodes.prompt(episode, step) for episode in range(4)),
            some(("short", step), 3 + step),
        ]
        scores, computed = parts.read(prompts)
        assert close(scores, expected(tiny, prompts))
        assert (scores.argmax(-1) == expected(tiny, prompts).argmax(-1)).all()
        assert sum(passes) == computed
        # At least a narrow column of every row goes at once.
        assert max(passes) <= max(at_once, 8 * len(prompts))
        passes.clear()


@pytest.mark.parametrize("at_once", [0, 64])
def test_a_model_with_a_sliding_window_gets_the_scores_of_each_prompt_alone(at_once):
    torch.manual_seed(5)
    sizes = {
        "vocab_size": VOCABULARY,
        "hidden_size": 4 * WIDTH,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
    }
    config = transformers.MistralConfig(
        **sizes,
        num_attention_heads=4,
        num_key_value_heads=HEADS,
        sliding_window=16,
        initializer_range=0.3,
    )
    model = transformers.MistralForCausalLM(config).eval()
    beginning = some("all", 200)
    prompts = [beginning + some(n, 3 + 9 * n) for n in range(4)]
    loop = Loop(torch, model, 0, keep=10**6, at_once=at_once)
    with torch.inference_mode():
        scores, _, _ = loop._read(prompts)
    assert close(scores, expected(model, prompts))


def test_known_and_unknown_prompts_of_different_lengths_share_a_batch(tiny):
    kept = Reader(tiny, 10**6)
    first = [some("a", 300), some("b", 90), some("c", 17)]
    kept.read(first)
    prompts = [
        first[0] + some("d", 30),
        some("e", 5),
        first[1][:50] + some("f", 70),
        first[2],
        some("g", 1),
        some("h", 210),
    ]
    scores, _ = kept.read(prompts)
    assert close(scores, expected(tiny, prompts))
    assert kept.loop.reused == [300, 0, 50, 16, 0, 0]
    scores, computed = kept.read(prompts)
    assert close(scores, expected(tiny, prompts))
    assert kept.loop.reused == [len(prompt) - 1 for prompt in prompts]
    assert computed == 6 * 8


def test_a_new_episode_does_not_make_the_others_wide(tiny):
    episodes, kept = Episodes(task=300), Reader(tiny, 10**6)
    kept.read([episodes.prompt(episode, 3) for episode in range(12)])
    prompts = [episodes.prompt(episode, 4) for episode in range(12)] + [episodes.prompt(20, 0)]
    scores, computed = kept.read(prompts)
    assert close(scores, expected(tiny, prompts))
    fresh = len(prompts[-1]) - 400
    assert fresh * 13 > 13 * 104 + fresh + WORTH_A_PASS
    assert computed <= 13 * 104 + fresh + 8
    assert kept.loop.reused[-1] == 400
    assert len(kept.loop.prefixes) == 13


def test_the_next_prompt_of_an_episode_takes_the_place_of_the_last(tiny):
    episodes, kept = Episodes(), Reader(tiny, 10**6)
    sizes = []
    for step in range(8):
        kept.read([episodes.prompt(episode, step) for episode in range(5)])
        sizes.append(len(kept.loop.prefixes))
    assert sizes == [5] * 8
    store = kept.loop.prefixes
    assert store.tokens == sum(row.shape[-2] for row in store._rows.values())
    assert store.tokens <= 5 * (len(episodes.prompt(4, 7)) + CAPACITY)
    assert store._names == sorted(store._rows)


def test_the_limit_gives_up_what_was_not_used_for_longest(tiny):
    kept = Reader(tiny, 3 * CAPACITY)
    prompts = [some(n, 100) for n in range(5)]
    for prompt in prompts[:3]:
        kept.read([prompt])
    kept.read([prompts[0]])  # used again
    kept.read([prompts[3]])
    assert len(kept.loop.prefixes) == 3
    assert kept.loop.prefixes.tokens == 3 * CAPACITY
    known = [kept.loop.prefixes.find(prompt).length for prompt in prompts]
    assert known == [99, 0, 99, 99, 0]
    scores, _ = kept.read(prompts)  # more than there is room for
    assert close(scores, expected(tiny, prompts))
    assert kept.loop.prefixes.tokens <= 3 * CAPACITY
    kept.read([some("long", 3 * CAPACITY + 1)])
    assert kept.loop.prefixes.tokens <= 3 * CAPACITY
    assert kept.loop.prefixes.clear()
    assert not kept.loop.prefixes.clear()
    kept.read(prompts)
    assert kept.loop.prefixes.tokens == 0  # half of a half of three is less than one


def test_nothing_is_kept_without_a_limit_or_of_a_model_that_forgets(tiny):
    kept = Reader(tiny, 0)
    kept.read([some(1, 50)])
    assert len(kept.loop.prefixes) == 0
    assert sees_all(tiny.config)
    assert not sees_all(transformers.MistralConfig(sliding_window=512))
    assert sees_all(transformers.MistralConfig(sliding_window=None))
    store = Prefixes(1000)
    parts = [
        (torch.zeros(1, 2, 4, 8), torch.zeros(1, 2, 4, 8)),
        (torch.zeros(1, 2, 4, 8), torch.zeros(1, 2, 3, 8)),
    ]
    store.keep([[1, 2, 3, 4]], [KnownPrefix()], 0, parts)
    assert len(store) == 0
    assert not store.fit([[1]])  # and it is not tried again


def test_the_longest_beginning_is_found_among_many():
    draw = random.Random(1)
    store = Prefixes(10**9)
    rows = [
        [draw.choice((0, 1, 256, 70_000)) for _ in range(draw.randrange(1, 12))] for _ in range(300)
    ]
    for row in rows:
        shape = (1, 1, len(row), 1)
        store.keep([row], [KnownPrefix()], 0, [(torch.zeros(shape), torch.zeros(shape))])
    for _ in range(300):
        prompt = [draw.choice((0, 1, 256, 70_000)) for _ in range(draw.randrange(1, 12))]
        common = max(
            next(
                (n for n, (a, b) in enumerate(zip(row, prompt, strict=False)) if a != b),
                min(len(row), len(prompt)),
            )
            for row in rows
        )
        assert store.find(prompt).length == min(common, len(prompt) - 1)
    assert _common(_name([1, 2, 3]), _name([1, 2, 3 + (1 << 24)])) == 2
    assert _common(_name([1, 2]), _name([1, 2, 3])) == 2


def test_answers_step_by_step_are_the_same_with_and_without(folder, monkeypatch):  # noqa: F811
    monkeypatch.setattr(
        torch.cuda, "is_available", lambda: False
    )  # its limit is that of a machine without one
    decoding = Decoding(max_tokens=60, stop=())
    texts, cached = {}, {}
    for keep in (0, 16_384):
        monkeypatch.setattr("rpms.models.hf.model.CPU_TOKENS", keep)
        model = HFModel("hf/tiny", str(folder), limits=BatchLimits(prompts=8))
        answers = []
        for step in range(4):
            asked = [
                request(f"e{n}", turns=step + n % 3, decoding=decoding, memory="m" * n)
                for n in range(6)
            ]
            held = [
                replace(one, choices=("look", "go to drawer 1")) if n % 2 else one
                for n, one in enumerate(asked)
            ]
            questions = [model._question(one) for one in held]
            answers += model._generate(questions)
        model.close()
        texts[keep] = [answer.text for answer in answers]
        cached[keep] = [answer.usage.cached_tokens for answer in answers]
        assert all(answer.usage.cached_tokens <= answer.usage.prompt_tokens for answer in answers)
    assert texts[0] == texts[16_384]
    assert set(cached[0]) == set(cached[16_384][:6]) == {0}
    assert min(cached[16_384][6:]) > 100


def test_what_is_kept_is_given_up_first_where_memory_ends(folder, monkeypatch):  # noqa: F811
    model = HFModel("hf/tiny", str(folder))
    decoding = Decoding(max_tokens=4, stop=())
    first = model.answer(request(turns=1, decoding=decoding))
    forward = model._model.forward

    def small_device(**arguments):
        if len(model._loop.prefixes):
            raise torch.cuda.OutOfMemoryError("out of memory")
        return forward(**arguments)

    with monkeypatch.context() as patched:
        patched.setattr(model._model, "forward", small_device)
        patched.setattr(model._loop.prefixes, "keep", lambda *_, **__: None)
        again = model.answer(request(turns=1, decoding=decoding))
    model.close()
    assert again.text == first.text
    assert again.usage.cached_tokens == 0
    assert model._batcher.sizes == [1, 1]
