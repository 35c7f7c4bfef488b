"""A GGUF file in this process (extra `local`), with each episode's computed prefix kept."""

import importlib
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict
from itertools import takewhile
from operator import eq
from pathlib import Path
from typing import Any

from rpms.logic.errors import ContextOverflow, ModelUnavailable
from rpms.models.accounting import KNOWN
from rpms.models.base import Answer, Decoding, Request, Usage, cut_at_stop
from rpms.models.constraint import Shape, grammar, shapes_of
from rpms.models.secrets import excerpt
from rpms.paper.prompt import Message


class GGUFModel:
    """A GGUF file read by llama.cpp, one prompt at a time.

    The state of an episode's last prompt is kept, for a bounded number of episodes, so that a step
    computes only what is new. A new episode starts from nothing, so that its answers do not depend
    on the ones before it.
    """

    def __init__(self, name: str, path: Path, *, context: int = 8_192, contexts: int = 8) -> None:
        """`context`: tokens of prompt and answer together.

        `contexts`: episodes whose prefix is kept at most.
        """
        self.name = name
        self._context = context
        self._most = max(contexts, 1)
        self._lock = threading.Lock()
        self._kept: dict[str, Any] = {}  # the one put aside last is the last
        self._current: str | None = None
        try:
            llama_cpp: Any = importlib.import_module("llama_cpp")
            formats: Any = importlib.import_module("llama_cpp.llama_chat_format")
        except (ImportError, OSError):
            builds = KNOWN["providers"]["gguf"]["builds"]
            raise ModelUnavailable(
                f"{name} needs llama-cpp-python: pip install 'rpms[local]'{builds}"
            ) from None
        try:
            self._llama: Any = llama_cpp.Llama(
                model_path=str(path),
                n_ctx=context,
                n_batch=min(512, context),
                n_gpu_layers=-1,
                verbose=False,
            )
        except (ValueError, OSError, RuntimeError) as error:
            raise ModelUnavailable(f"{name}: cannot be loaded: {excerpt(str(error))}") from error
        # Logits of a whole batch, copied with each kept state and never read: one row keeps a state
        # small.
        self._llama.scores = self._llama.scores[:1].copy()
        self._format = self._formatter(formats)
        self._grammar: Any = getattr(llama_cpp, "LlamaGrammar", None)
        self.constrains = self._grammar is not None

    def answer(self, request: Request) -> Answer:
        started = time.monotonic()
        with self._lock:
            if self._llama is None:
                raise ModelUnavailable(f"{self.name}: the model is closed")
            tokens = self._tokens(request.prompt.messages())
            decoding = request.decoding
            if len(tokens) + decoding.max_tokens > self._context:
                raise ContextOverflow(
                    f"{self.name}: {len(tokens)} + {decoding.max_tokens} tokens exceed the context"
                    f" of {self._context}"
                )
            self._switch_to(request.episode)
            held = [int(token) for token in self._llama.input_ids[: self._llama.n_tokens]]
            cached = sum(
                takewhile(bool, map(eq, tokens[:-1], held))
            )  # the last one is always computed again
            # Tokens from the first difference on are dropped here, because some versions would move
            # later matches into place instead, which is faster and gives other answers.
            self._llama.n_tokens = cached
            arguments = self._arguments(decoding, shapes_of(request.choices, request.templates))
            completion = self._llama.create_completion(prompt=tokens, **arguments)
        choice = completion["choices"][0]
        written = int(completion["usage"]["completion_tokens"])
        usage = Usage(len(tokens), cached, written, requests=1, seconds=time.monotonic() - started)
        return Answer(
            cut_at_stop(str(choice["text"]), decoding.stop),
            usage,
            str(choice["finish_reason"] or "stop"),
        )

    def close(self) -> None:
        with self._lock:
            self._kept.clear()
            if self._llama is not None:
                self._llama.close()
            self._llama = None

    def _formatter(self, formats: Any) -> Any:
        """The chat template that the file carries; None where it has none."""
        template = self._llama.metadata.get("tokenizer.chat_template")
        if not template:
            return None

        def piece(token: int) -> str:
            return (
                str(self._llama.detokenize([token], special=True).decode(errors="replace"))
                if token >= 0
                else ""
            )

        end = self._llama.token_eos()
        return formats.Jinja2ChatFormatter(
            template=template,
            eos_token=piece(end),
            bos_token=piece(self._llama.token_bos()),
            stop_token_ids=[end],
        )

    def _tokens(self, messages: Sequence[Message]) -> list[int]:
        text = "\n\n".join(message.content for message in messages) + "\n"
        if self._format is not None:
            text = str(self._format(messages=[asdict(message) for message in messages]).prompt)
        return list(self._llama.tokenize(text.encode(), add_bos=self._format is None, special=True))

    def _arguments(self, decoding: Decoding, shapes: tuple[Shape, ...]) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "max_tokens": decoding.max_tokens,
            "temperature": decoding.temperature,
            "top_p": decoding.top_p,
            "stop": list(decoding.stop),
            "repeat_penalty": 1.0,  # the library's own default would not be greedy decoding
            **dict(decoding.extra),
        }
        if decoding.seed is not None:
            arguments["seed"] = decoding.seed
        if shapes:
            arguments["grammar"] = self._grammar.from_string(
                grammar(shapes, decoding.max_tokens), verbose=False
            )
        return arguments

    def _switch_to(self, episode: str) -> None:
        """Put what was computed for another episode aside and take this one's up again."""
        if episode == self._current:
            return
        if self._current is not None and self._llama.n_tokens > 0 and self._most > 1:
            self._kept[self._current] = self._llama.save_state()
        state = self._kept.pop(episode, None)
        while len(self._kept) > self._most - 1:
            del self._kept[next(iter(self._kept))]
        if state is not None:
            self._llama.load_state(state)
        else:
            self._llama.n_tokens = 0
        self._current = episode
