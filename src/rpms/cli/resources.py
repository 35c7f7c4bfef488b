"""Means and limits of the commands that play many episodes, as options."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from rpms.cli.options import model_options
from rpms.cli.shared_options import BaseUrlOption, DataOption, PriceOption
from rpms.logic.errors import InputError
from rpms.models.accounting import parse_price, price_of
from rpms.models.catalogue import NO_LLM, parse_model_name
from rpms.play.design import NamedModel
from rpms.play.meter import Limits, Meter, parse_duration
from rpms.play.on_ray import OnRay
from rpms.play.run import MakeRunner
from rpms.play.runners import InProcesses
from rpms.play.settings import Settings
from rpms.store.price import Price


@dataclass(frozen=True)
class Resources:
    """Places of games and models, the player of episodes, and limits, as the options give them."""

    data: DataOption = None
    base_url: BaseUrlOption = None
    workers: Annotated[
        int | None,
        typer.Option(
            help="Episodes played at once; by default one for each process, or CPU of a cluster.",
            min=1,
        ),
    ] = None
    processes: Annotated[
        int | None,
        typer.Option(
            help="Processes that play; by default one for each core. 1: threads.",
            min=1,
        ),
    ] = None
    ray: Annotated[bool, typer.Option("--ray", help="Play on a Ray cluster.")] = False
    record: Annotated[
        Path | None,
        typer.Option(help="Keep every answer in this folder, and never ask for it twice."),
    ] = None
    price: PriceOption = None
    timeout: Annotated[
        float | None,
        typer.Option(
            help="Seconds that a request may stay silent, 120 by default; then it is repeated.",
            min=1,
        ),
    ] = None
    max_cost: Annotated[
        float | None,
        typer.Option(
            help="Stop after spending this much; the same command continues.", metavar="USD"
        ),
    ] = None
    max_requests: Annotated[
        int | None,
        typer.Option(help="Stop after N requests to the model; the same command continues."),
    ] = None
    max_time: Annotated[
        str | None,
        typer.Option(
            help="Stop after a time such as 90s, 30m or 1h30m; the same command continues."
        ),
    ] = None

    def player(self) -> MakeRunner:
        return OnRay() if self.ray else InProcesses(self.processes)

    def model(self, name: str, settings: Settings) -> NamedModel:
        record = self.record.absolute() if self.record else None
        return NamedModel(
            name,
            model_options(self.base_url, self.timeout),
            record,
            settings.reader or "",
        )

    def check(self, named: NamedModel, *, begun: bool) -> None:
        """Say what a model lacks before anything is written; on a cluster the nodes must have
        it.
        """
        if not self.ray and not begun:
            named.check()

    def price_of(self, model: str) -> Price | None:
        return parse_price(self.price) if self.price else price_of(model)

    def meter(self, prices: Mapping[str, Price | None]) -> Meter | None:
        """Meter of the limits; `prices` by model: a limit on cost needs each."""
        seconds = parse_duration(self.max_time) if self.max_time is not None else None
        limits = Limits(self.max_cost, self.max_requests, seconds)
        if limits == Limits():
            return None
        if self.max_cost is not None:
            _require_prices(prices)
        return Meter(limits)


def _require_prices(prices: Mapping[str, Price | None]) -> None:
    """Refuse a language model whose price is not known."""
    for model, price in prices.items():
        if price is None and parse_model_name(model).provider.backend not in NO_LLM:
            raise InputError(
                f"--max-cost: the price of {model} is not known; give it with --price IN,OUT"
            )
