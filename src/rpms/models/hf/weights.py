"""Loading of weights: a folder or a name on the Hugging Face hub, and an adapter merged in."""

import importlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from rpms.logic.errors import ModelUnavailable
from rpms.models.hf.adapters import WeightsName
from rpms.models.secrets import excerpt, requests_forbidden


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
    """Tokenizer and model of a folder, or of a name on the hub."""
    transformers: Any = importlib.import_module("transformers")
    path = Path(source).expanduser()
    place = str(path) if path.is_dir() else source
    options: dict[str, Any] = {}
    if requests_forbidden():
        options["local_files_only"] = True
    version = tuple(map(int, transformers.__version__.split(".")[:2]))
    name_of_dtype = "dtype" if version >= (4, 56) else "torch_dtype"
    loading = options | {name_of_dtype: dtype}
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(place, **options)
        model = transformers.AutoModelForCausalLM.from_pretrained(place, **loading)
    except (OSError, ValueError, ImportError) as error:
        on_hub = f"there is no folder {source} here; as a name on the hub: "
        why = f"{'' if path.exists() else on_hub}{excerpt(str(error))}"
        raise ModelUnavailable(f"{name}: cannot be loaded: {why}") from error
    return LoadedWeights(tokenizer, model)


def _merge_adapter(name: str, model: Any, adapter: str) -> Any:
    try:
        peft: Any = importlib.import_module("peft")
    except ImportError:
        raise ModelUnavailable(
            f"{name}: an adapter also needs peft: pip install 'rpms[teach]'"
        ) from None
    path = Path(adapter).expanduser()
    options: dict[str, Any] = {"local_files_only": True} if requests_forbidden() else {}
    try:
        adapted = peft.PeftModel.from_pretrained(
            model, str(path) if path.is_dir() else adapter, **options
        )
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        raise ModelUnavailable(
            f"{name}: the adapter cannot be loaded: {excerpt(str(error))}"
        ) from error
    return adapted.merge_and_unload()
