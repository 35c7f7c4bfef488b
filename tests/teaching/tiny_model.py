"""A chat model of some thousand weights, with a tokenizer made of the texts it will read."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def write_tiny_model(folder: Path, texts: Iterable[str], *, chat: bool = True) -> Path:
    """Write a random Qwen2 model, which `from_pretrained` reads; without a template it is no chat
    model.
    """
    import torch  # noqa: PLC0415  an extra
    import transformers  # noqa: PLC0415
    from tokenizers import (  # noqa: PLC0415
        Tokenizer,
        decoders,
        models,
        pre_tokenizers,
        trainers,
    )

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        inner = Tokenizer(models.BPE())
        inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        inner.decoder = decoders.ByteLevel()
        special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
        alphabet = pre_tokenizers.ByteLevel.alphabet()
        inner.train_from_iterator(
            list(texts),
            trainers.BpeTrainer(vocab_size=1200, special_tokens=special, initial_alphabet=alphabet),
        )
        tokenizer = transformers.PreTrainedTokenizerFast(
            tokenizer_object=inner, eos_token="<|im_end|>", pad_token="<|endoftext|>"
        )
        if chat:
            tokenizer.chat_template = TEMPLATE
        tokenizer.save_pretrained(folder)
        torch.manual_seed(7)
        config = transformers.Qwen2Config(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=8192,
            eos_token_id=tokenizer.eos_token_id,
            bos_token_id=None,
            tie_word_embeddings=True,
            initializer_range=0.2,
        )
        transformers.Qwen2ForCausalLM(config).save_pretrained(folder)
    return folder
