"""Loading of weights: a folder, a `.gguf` file or a name on the Hugging Face hub, and an
adapter merged into them.
"""

import importlib
import importlib.util
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from rpms.logic.errors import ModelUnavailable
from rpms.models.hf.adapters import WeightsName
from rpms.models.secrets import requests_forbidden, safe_excerpt


class LoadedWeights(NamedTuple):
    """A model of transformers with its tokenizer."""

    tokenizer: Any
    model: Any


@contextmanager
def without_notices() -> Iterator[None]:
    """Keep quiet about what the libraries will change in their next versions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


@contextmanager
def _retries_unsaid() -> Iterator[None]:
    """Keep the hub's library from a line for each of its retries; its error says the same once."""
    logger = logging.getLogger("huggingface_hub")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def load_weights(name: str, weights: WeightsName, dtype: Any) -> LoadedWeights:
    """Load a model and its tokenizer on the processor. `name`: for messages; what cannot be loaded
    is ModelUnavailable.

    An adapter is merged at full precision, and rounded once: it then costs nothing while the model
    writes.
    """
    torch: Any = importlib.import_module("torch")
    first = torch.float32 if weights.adapter else dtype
    tokenizer, model = _load_base(name, weights.base, first)
    if weights.adapter:
        with without_notices():
            model = _merge_adapter(name, model, weights.adapter)
        for parameter in model.parameters():  # not the positions' frequencies, which stay exact
            parameter.data = parameter.data.to(dtype)
    tokenizer.padding_side = "left"
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    return LoadedWeights(tokenizer, model)


def _load_base(name: str, source: str, dtype: Any) -> LoadedWeights:
    """Tokenizer and model of a .gguf file, a folder, or a name on the hub."""
    transformers: Any = importlib.import_module("transformers")
    path = Path(source).expanduser()
    is_gguf = path.suffix == ".gguf" and path.is_file()
    place = str(path) if path.is_dir() else source
    options: dict[str, Any] = {}
    if requests_forbidden():
        options["local_files_only"] = True
    if is_gguf:
        place = str(path.parent)
        options["gguf_file"] = path.name
    loading = options | _loading_options(transformers, dtype, is_gguf=is_gguf)
    try:
        with _retries_unsaid():
            tokenizer = transformers.AutoTokenizer.from_pretrained(place, **options)
            model = transformers.AutoModelForCausalLM.from_pretrained(place, **loading)
    except (OSError, ValueError, ImportError) as error:
        if is_gguf and (missing := _missing_for_gguf()):
            raise ModelUnavailable(
                f"{name}: a .gguf file also needs {missing}: pip install 'rpms[hf]'"
            ) from None
        on_hub = f"there is no folder {source} here; as a name on the hub: "
        why = f"{'' if path.exists() else on_hub}{safe_excerpt(str(error))}"
        raise ModelUnavailable(f"{name}: cannot be loaded: {why}") from error
    return LoadedWeights(tokenizer, model)


def _loading_options(transformers: Any, dtype: Any, *, is_gguf: bool) -> dict[str, Any]:
    """Options of the weights alone, by the names that this version of transformers has."""
    version = tuple(map(int, transformers.__version__.split(".")[:2]))
    options = {"dtype" if version >= (4, 56) else "torch_dtype": dtype}
    if is_gguf and hasattr(transformers, "GgufConfig"):
        # without it, transformers may compute on packed weights, in float32
        options["quantization_config"] = transformers.GgufConfig(dequantize=True)
    return options


def _missing_for_gguf() -> str:
    """The packages that transformers needs to read a .gguf file and that are not installed."""
    needed = ("gguf", "accelerate")
    return " and ".join(name for name in needed if importlib.util.find_spec(name) is None)


def _merge_adapter(name: str, model: Any, adapter: str) -> Any:
    """The model with an adapter, from a folder or the hub, merged into its weights."""
    try:
        peft: Any = importlib.import_module("peft")
    except ImportError:
        raise ModelUnavailable(
            f"{name}: an adapter also needs peft: pip install 'rpms[teach]'"
        ) from None
    path = Path(adapter).expanduser()
    options: dict[str, Any] = {"local_files_only": True} if requests_forbidden() else {}
    place = str(path) if path.is_dir() else adapter
    try:
        with _retries_unsaid():
            adapted = peft.PeftModel.from_pretrained(model, place, **options)
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        on_hub = f"there is no folder {adapter} here; as a name on the hub: "
        why = f"{'' if path.exists() else on_hub}{safe_excerpt(str(error))}"
        raise ModelUnavailable(f"{name}: the adapter cannot be loaded: {why}") from error
    return adapted.merge_and_unload()
