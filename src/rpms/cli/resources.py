"""Players, models, prices and limits, by the options that `run`, `learn` and `study run` share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from rpms.cli.options import ResourceOptions
from rpms.core.errors import InputError
from rpms.core.usage import Price
from rpms.models.accounting import parse_price, price_of
from rpms.models.catalogue import ModelOptions
from rpms.models.providers import NO_LLM, parse_model_name
from rpms.play.limits import Limits, Meter, parse_duration
from rpms.play.plan import NamedModel
from rpms.play.processes import InProcesses
from rpms.play.reading import CONTROLS
from rpms.play.run import MakeEngine
from rpms.play.settings import Settings


@dataclass(frozen=True)
class Resources(ResourceOptions):
    """Places of games and models, the player of episodes, and limits, as the options give them."""

    def player(self) -> MakeEngine:
        """Player of the episodes: processes on this machine, or a cluster; what a cluster lacks here is an error."""
        if not self.ray:
            return InProcesses(self.processes)
        try:
            from rpms.play.ray_engine import OnRay  # noqa: PLC0415  needs the extra
        except ImportError:
            raise InputError("playing on a cluster needs Ray: pip install 'rpms[ray]'") from None
        return OnRay()

    def model(self, name: str, world: str, settings: Settings) -> NamedModel:
        """A model by name, as it is reached from here."""
        record = self.record.absolute() if self.record else None
        if settings.reader and parse_model_name(name).provider.backend in NO_LLM:
            record = None  # the reader's answers are kept
        return NamedModel(name, world, model_options(self.base_url, settings, self.timeout), record)

    def reader(self, world: str, settings: Settings) -> NamedModel | None:
        """The model that reads goals in people's words; None for a control or the model that plays."""
        return None if settings.reader in (None, *CONTROLS) else self.model(settings.reader, world, settings)

    def check(self, named: NamedModel, *, begun: bool) -> None:
        """Say what a model lacks before anything is written; on a cluster the nodes must have it."""
        if not self.ray and not begun:
            named.check()

    def price_of(self, model: str) -> Price | None:
        """The given price, else the known one of the model."""
        return parse_price(self.price) if self.price else price_of(model)

    def meter(self, prices: Mapping[str, Price | None]) -> Meter | None:
        """Meter of the limits; `prices` by model: a limit on cost needs each."""
        seconds = parse_duration(self.max_time) if self.max_time is not None else None
        limits = Limits(self.max_cost, self.max_requests, seconds)
        if limits == Limits():
            return None
        for model, price in prices.items():
            if self.max_cost is not None and price is None and parse_model_name(model).provider.backend not in NO_LLM:
                raise InputError(f"--max-cost: the price of {model} is not known; give it with --price IN,OUT")
        return Meter(limits)


def model_options(base_url: str | None, settings: Settings, timeout: float | None = None) -> ModelOptions:
    """Options that reach a model; a file opened here gets the given context window, a slow server its time."""
    usual = ModelOptions(base_url=base_url)
    if timeout is not None:
        whole = max(usual.patience.whole, 2.5 * timeout)
        patience = replace(usual.patience, timeout=timeout, whole=whole, total=max(usual.patience.total, 2 * whole))
        usual = replace(usual, patience=patience)
    return usual if settings.context is None else replace(usual, context=settings.context)
