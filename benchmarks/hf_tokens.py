"""Cost of a new token in `hf/`, beside attention with cuDNN's plans and with copied keys and
values.

    python benchmarks/hf_tokens.py [--rows 240] [--prompt 2500] [--tokens 16]

Weights are random, of the size of a 1.5B model on a GPU and tiny elsewhere: speed does not depend
on what they say. The reference is attention as it is, in the same run; ratios above 1 are slower.
cuDNN's plans are on GPUs alone.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from statistics import median
from typing import Any

import torch
import transformers

from rpms.models.hf.attention import NAME, share_keys_and_values, without_plans

GPU = torch.cuda.is_available()
SIZES = {
    True: {
        "hidden_size": 1536,
        "num_hidden_layers": 28,
        "intermediate_size": 8960,
        "vocab_size": 151_936,
    },
    False: {
        "hidden_size": 96,
        "num_hidden_layers": 2,
        "intermediate_size": 128,
        "vocab_size": 1_000,
    },
}


def make_model() -> Any:
    """A causal model of six heads to a group, which is where copying them costs most."""
    config = transformers.Qwen2Config(num_attention_heads=12, num_key_value_heads=2, **SIZES[GPU])
    with torch.device("cuda" if GPU else "cpu"):
        model = transformers.Qwen2ForCausalLM(config)
    return model.to(torch.bfloat16 if GPU else torch.float32).eval()


def measure(model: Any, rows: int, prompt: int, tokens: int) -> tuple[float, float]:
    """Prompt tokens read a second, and milliseconds a new token of all rows takes in the median."""
    device = model.device
    text = torch.randint(0, 900, (rows, prompt), generator=torch.Generator().manual_seed(0)).to(
        device
    )
    mask = torch.ones_like(text)
    mask[::2, : prompt // 4] = 0  # half of the rows are shorter, as in every batch
    wait = torch.cuda.synchronize if GPU else (lambda: None)
    times = []
    start = time.perf_counter()
    output = model(input_ids=text, attention_mask=mask, use_cache=True, logits_to_keep=1)
    wait()
    reading = time.perf_counter() - start
    for _ in range(tokens):
        start = time.perf_counter()
        mask = torch.cat([mask, torch.ones_like(mask[:, :1])], -1)
        new, past = output.logits[:, -1:].argmax(-1), output.past_key_values
        output = model(
            input_ids=new,
            attention_mask=mask,
            past_key_values=past,
            use_cache=True,
            logits_to_keep=1,
        )
        wait()
        times.append(time.perf_counter() - start)
    return rows * prompt / reading, 1000 * median(times)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=240 if GPU else 4)
    parser.add_argument("--prompt", type=int, default=2500 if GPU else 64)
    parser.add_argument("--tokens", type=int, default=16)
    options = parser.parse_args()
    model = make_model()
    if not share_keys_and_values(torch, model):
        parser.error("this version of transformers has no register of attention functions")
    ways: dict[str, tuple[str, Callable[[], AbstractContextManager[None]]]] = {
        "as it is": (NAME, without_plans),
        "with cuDNN's plans": (NAME, nullcontext),
        "keys and values copied": ("sdpa", without_plans),
    }
    first = 0.0
    for name, (attention, context) in ways.items():
        model.set_attn_implementation(attention)
        with torch.inference_mode(), context():
            measure(model, options.rows, options.prompt, 2)  # warms up
            read, each = measure(model, options.rows, options.prompt, options.tokens)
        first = first or each
        print(
            f"{name:24s} {read:12,.0f} prompt tokens/s {each:8.1f} ms a new token {each / first:6.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
