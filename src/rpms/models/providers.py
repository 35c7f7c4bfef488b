"""Providers, from `known.toml`: what `provider/name` may begin with, and what each needs to be there."""

from __future__ import annotations

import importlib.util
import os
import socket
from dataclasses import dataclass
from enum import Enum, auto
from importlib.metadata import entry_points
from typing import Any
from urllib.parse import urlsplit

from rapidfuzz import process

from rpms.core.errors import InputError
from rpms.models.accounting import KNOWN
from rpms.models.constraint import LLAMACPP, OPENAI, VLLM, ConstraintForm
from rpms.models.secrets import check_base_url, is_loopback, shown_url


class Backend(Enum):
    """Protocols by which providers are asked."""

    OPENAI = auto()
    ANTHROPIC = auto()
    GGUF = auto()
    HF = auto()
    PLANNER = auto()
    SCRIPTED = auto()
    REPLAY = auto()
    MENU_RANDOM = auto()
    MENU_FIRST = auto()
    MENU_BEST = auto()
    HUMAN = auto()
    INSTALLED = auto()
    """Registered by another package under `rpms.models`."""


ENTRY_POINTS = "rpms.models"
IN_PROCESS = frozenset({Backend.GGUF, Backend.HF})
"""Backends that load weights, which takes long."""
FROM_MENU = frozenset({Backend.MENU_RANDOM, Backend.MENU_FIRST, Backend.MENU_BEST})
NO_LLM = frozenset({Backend.PLANNER, Backend.SCRIPTED, Backend.REPLAY, Backend.HUMAN}) | FROM_MENU
"""Backends that read no tokens and cost nothing."""


@dataclass(frozen=True, slots=True)
class Provider:
    """One way to get answers."""

    name: str
    what: str
    backend: Backend = Backend.OPENAI
    rest: str = "MODEL"
    """Text after the slash; empty if the provider's name is the whole name."""
    base_url: str | None = None
    """Default address; None for a provider that has no address, or none to guess."""
    key_needed: bool = True
    extra: str | None = None
    builds: str = ""
    """Long work that installing the extra does, in words."""
    package: str | None = None
    """The module that the extra brings."""
    forms: tuple[ConstraintForm, ...] = ()
    """Ways to hold the action to choices, tried in this order."""
    rest_optional: bool = False

    @property
    def form(self) -> str:
        if self.rest_optional:
            return f"{self.name}[/{self.rest}]"
        return f"{self.name}/{self.rest}" if self.rest else self.name

    @property
    def base_url_variable(self) -> str | None:
        """The environment variable that moves it to another address."""
        return self._variable("BASE_URL")

    @property
    def key_variable(self) -> str | None:
        """The environment variable that holds the key."""
        return self._variable("API_KEY")

    def _variable(self, ending: str) -> str | None:
        remote = self.backend in {Backend.OPENAI, Backend.ANTHROPIC}
        return f"{self.name.upper().replace('-', '_')}_{ending}" if remote else None


def _provider(name: str, backend: str = "openai", forms: str = "", **told: Any) -> Provider:
    ways = {"openai": OPENAI, "vllm": VLLM, "llamacpp": LLAMACPP, "": ()}
    return Provider(name, backend=Backend[backend.upper()], forms=ways[forms], **told)


PROVIDERS: dict[str, Provider] = {name: _provider(name, **told) for name, told in KNOWN["providers"].items()}


@dataclass(frozen=True, slots=True)
class ModelName:
    """`provider/name`, taken apart."""

    provider: Provider
    rest: str
    """The model, path or folder after the first slash; it may hold slashes itself."""

    def __str__(self) -> str:
        return f"{self.provider.name}/{self.rest}" if self.rest else self.provider.name


@dataclass(frozen=True, slots=True)
class Availability:
    """True if a provider could be asked now."""

    provider: Provider
    ready: bool
    """Nothing is known to be missing. A key is not tried out, and a server elsewhere is not called."""
    why: str
    """Missing or present things, in words."""


def chooses_from_menu(text: str) -> bool:
    """True for the name of a model that chooses from a step's menu, and can do nothing without one."""
    provider = PROVIDERS.get(text.strip().partition("/")[0].lower())
    return provider is not None and provider.backend in FROM_MENU


def parse_model_name(text: str) -> ModelName:
    """Take `provider/name` apart; an unknown provider is an InputError that lists the known ones, nearest first."""
    name, _, rest = text.strip().partition("/")
    provider = PROVIDERS.get(name.lower()) or _installed(name)
    if provider is None:
        near = [match[0] for match in process.extract(name.lower(), list(PROVIDERS), limit=2, score_cutoff=75)]
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise InputError(
            f"--model {text[:80]!r}: there is no provider {name[:40]!r}.{hint} Known: {', '.join(PROVIDERS)}"
        )
    if provider.rest and not rest and not provider.rest_optional:
        raise InputError(f"--model {text[:80]!r}: write {provider.form}")
    if rest and not provider.rest:
        raise InputError(f"--model {text[:80]!r}: write {provider.name} alone")
    return ModelName(provider, rest)


def backend_of(model: str) -> Backend | None:
    """Kind of a model by its name; None for one that only Python code knows."""
    try:
        return parse_model_name(model).provider.backend
    except InputError:
        return None


def _installed(name: str) -> Provider | None:
    """A provider that another package registers: what it leads to is called with the rest of the name."""
    found = next((point for point in entry_points(group=ENTRY_POINTS) if point.name == name), None)
    if found is None:
        return None
    package = found.dist.name if found.dist else found.module
    return Provider(name, f"of the package {package}", Backend.INSTALLED, rest_optional=True)


def base_url_of(provider: Provider, given: str | None = None) -> str | None:
    """The address in force: the one given, the environment's, or the default."""
    variable = provider.base_url_variable
    return given or (os.environ.get(variable) if variable else None) or provider.base_url


def missing_extra(provider: Provider) -> str:
    """Packages to install, in words; empty if all is here."""
    if not provider.package or importlib.util.find_spec(provider.package) is not None:
        return ""
    return f"needs pip install 'rpms[{provider.extra}]'{provider.builds}"


def available(provider: Provider) -> Availability:  # noqa: PLR0911  a list of what may be missing
    """Say what a provider needs and whether it is there now. Only addresses on this machine are tried."""
    if lacking := missing_extra(provider):
        return Availability(provider, ready=False, why=lacking)
    if provider.key_variable and provider.key_needed and not os.environ.get(provider.key_variable, "").strip():
        return Availability(provider, ready=False, why=f"needs the environment variable {provider.key_variable}")
    if provider.base_url_variable is None:
        return Availability(provider, ready=True, why=f"rpms[{provider.extra}] is installed" if provider.extra else "")
    url = base_url_of(provider)
    if url is None:
        return Availability(provider, ready=False, why=f"needs --base-url or {provider.base_url_variable}")
    try:
        check_base_url(url)
    except InputError as error:
        return Availability(provider, ready=False, why=str(error))
    if is_loopback(url):
        listens = _listens(url)
        why = f"a server listens at {shown_url(url)}" if listens else f"no server listens at {shown_url(url)}"
        return Availability(provider, ready=listens, why=why)
    key = f"{provider.key_variable} is set, " if provider.key_needed else ""
    return Availability(provider, ready=True, why=f"{key}{shown_url(url)}")


def all_available() -> list[Availability]:
    """Every provider, in the order of the table."""
    return [available(provider) for provider in PROVIDERS.values()]


def _listens(url: str) -> bool:
    parts = urlsplit(url)
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        with socket.create_connection((parts.hostname or "localhost", port), timeout=0.5):
            return True
    except (OSError, ValueError):
        return False
