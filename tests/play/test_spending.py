"""Cost of a run, from its folder."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from rpms.cli.run_summary import spending_lines
from rpms.logic.errors import FileError, ModelUnavailable
from rpms.models.base import Answer
from rpms.models.policy import FunctionModel, follow_plan
from rpms.paper.episode import Usage
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run, lend
from rpms.play.display import Lines
from rpms.play.meter import spending
from rpms.play.run import run
from rpms.store.price import Price
from rpms.store.runs import RunFolder
from tests.play.corridor import world

PRICE = Price(10.0, 20.0, 1.0)


def spent(folder: Path) -> tuple[Usage, float | None]:
    return spending(RunFolder(folder), RunFolder(folder).rows())


def design(fails_at: int | None = None, tokens: int = 1000):
    """Every third answer comes as from a record; one may be the last that can be had."""
    asked = count()

    def answer(request):
        if next(asked) == fails_at:
            raise ModelUnavailable("gone")
        thought, action = follow_plan(request.decision)
        paid = int(request.decision.belief.location.split()[1]) % 3 != 1
        return Answer(
            f"Thought: {thought}\nAction: {action}",
            Usage(tokens, tokens // 2, tokens // 10, paid, 0.5),
        )

    return design_run(
        world, "walker", lend(FunctionModel(answer, "walker")), memory=EpisodicMemory()
    )


@pytest.mark.parametrize("fails_at", [0, 1, 7, 20, 33])
def test_a_run_costs_the_same_however_often_it_was_stopped(tmp_path, fails_at):
    def tally_of(folder, *designs):
        for each in designs:
            tally = Lines(lambda _: None, PRICE)
            try:
                run(each, folder, 1, tally, price=PRICE)
            except ModelUnavailable:
                continue
        return tally

    whole = tally_of(tmp_path / "whole", design())
    resumed = tally_of(tmp_path / "resumed", design(fails_at), design())
    paid = sum(sum(timing.requests) for timing in RunFolder(tmp_path / "whole").timings().values())
    assert whole.cost == pytest.approx(paid * (500 * 10 + 500 * 1 + 100 * 20) / 1_000_000)
    assert 0 < whole.cost == pytest.approx(resumed.cost)
    for name in ("whole", "resumed"):
        assert spent(tmp_path / name)[1] == pytest.approx(whole.cost)


def test_the_last_lines_of_a_run_tell_tokens_time_and_cost(tmp_path):
    run(design(), tmp_path, 1, price=PRICE)
    steps = RunFolder(tmp_path).summary().steps
    usage, cost = spent(tmp_path)
    tokens, money = spending_lines(usage, cost, 12)
    assert tokens == (
        f"tokens: {steps * 1000:,} prompt ({steps * 500:,} cached), {steps * 100:,} completion; "
        f"{steps / 2:,.1f} s of model time"
    )
    assert money == f"cost: ${cost:.4f}, ${cost / 12:.4f} a task solved"


def test_without_a_price_the_cost_is_unknown_and_without_tokens_there_is_nothing_to_tell(tmp_path):
    run(design(), tmp_path / "unpriced", 1)
    usage, cost = spent(tmp_path / "unpriced")
    assert cost is None
    assert len(spending_lines(usage, cost, 12)) == 1
    run(design(tokens=0), tmp_path / "free", 1)
    assert spending_lines(*spent(tmp_path / "free"), 12) == []


def test_the_price_is_kept_with_the_run_and_is_no_part_of_its_protocol(tmp_path):
    run(design(), tmp_path, 1, price=PRICE)
    run(design(), tmp_path, 1)
    assert RunFolder(tmp_path).price() == PRICE
    run(design(), tmp_path, 1, price=Price(1.0, 2.0))
    assert RunFolder(tmp_path).price() == Price(1.0, 2.0)
    (tmp_path / "price.json").write_text('{"prompt": "much"}')
    with pytest.raises(FileError, match="not the price of a run"):
        spent(tmp_path)
