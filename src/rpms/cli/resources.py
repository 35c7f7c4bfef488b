"""Options that `run`, `learn` and `study run` share, given to each as one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, get_type_hints

import typer

from rpms.cli import options
from rpms.cli.knobs import with_options
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
class Resources:
    """Places of games and models, the player of episodes, and limits; each field is an option of that name."""

    data: options.DataFolder = None
    base_url: options.BaseUrl = None
    workers: Annotated[
        int | None,
        typer.Option(help="Episodes played at once; by default one for each process, or CPU of a cluster.", min=1),
    ] = None
    processes: Annotated[
        int | None, typer.Option(help="Processes that play; by default one for each core. 1: threads.", min=1)
    ] = None
    ray: Annotated[bool, typer.Option("--ray", help="Play on a Ray cluster.")] = False
    record: Annotated[
        Path | None, typer.Option(help="Keep every answer in this folder, and never ask for it twice.")
    ] = None
    price: Annotated[str | None, typer.Option(help="US dollars per million tokens: IN,OUT[,CACHED].")] = None
    timeout: Annotated[
        float | None,
        typer.Option(help="Seconds that a request may stay silent, 120 by default; then it is repeated.", min=1),
    ] = None
    max_cost: Annotated[
        float | None, typer.Option(help="Stop after spending this much; the same command continues.", metavar="USD")
    ] = None
    max_requests: Annotated[
        int | None, typer.Option(help="Stop after N requests to the model; the same command continues.", metavar="N")
    ] = None
    max_time: Annotated[
        str | None, typer.Option(help="Stop after a time such as 90s, 30m or 1h30m; the same command continues.")
    ] = None

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


def with_resources(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command an option for each field of Resources; it gets all of them as `resources`."""
    hints = get_type_hints(Resources, include_extras=True)
    added = {each.name: (hints[each.name], each.default) for each in fields(Resources)}
    return with_options(command, "resources", added, lambda given: Resources(**given))
