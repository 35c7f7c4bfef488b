"""The policies on τ²'s train tasks, with the package's real tools: what
`benchmarks/policies.py` measures, in part.
"""

from __future__ import annotations

import importlib
import os
import runpy
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import pytest

from rpms.guard import Guard
from tests.guard.policies import policy_functions, policy_manual

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
EXAMPLE = Path(__file__).parents[2] / "examples" / "guard" / "tau2_retail.py"
DOMAINS = ("airline", "retail")
WARNED_OF = {"AIR-DELAY", "SHOP-LIKE-FOR-LIKE"}
BY_HAND = {"AIR-AMOUNTS", "AIR-CERTIFICATE-ONCE", "SHOP-IDENTIFY-READ", "SHOP-ONE-CUSTOMER"}
"""Rules that no reference action can be changed to break alone; `test_policies` breaks them."""
BREAKING = {
    "airline": {("7", "AIR-CANCEL"), ("9", "AIR-FLOWN"), ("33", "AIR-BAGS-FEE")},
    "retail": {("13", "SHOP-REFUND"), ("105", "SHOP-BALANCE")},
}
"""Reference actions of train tasks that break the written policy; docs/guard.md counts them."""


@pytest.fixture(scope="module")
def tau2():
    """The modules of the benchmark by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        yield lambda name: importlib.import_module(f"tau2.{name}")


@pytest.fixture(scope="module")
def installed(tau2):
    """The same, where the package with tools and tasks is installed."""
    if not tau2("sandbox").available():
        pytest.skip("needs τ²-bench: pip install inspect-evals")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the package's own imports deprecate is not ours
        for domain in DOMAINS:
            tau2("sandbox").Sandbox(domain)
    return tau2


@pytest.mark.parametrize("domain", DOMAINS)
def test_every_rule_has_a_kind_of_violation(tau2, domain):
    rules = {policy.rule.id for policy in policy_manual(domain).policies}
    assert (
        rules
        == {kind.rule for kind in tau2("measure").kinds_of(domain)} | (WARNED_OF | BY_HAND) & rules
    )


@pytest.mark.parametrize("domain", DOMAINS)
def test_every_reference_action_that_keeps_the_policy_is_allowed(installed, domain):
    found = installed("measure").judge_references(
        domain, installed("sandbox").tasks(domain, "train")
    )
    assert not found.wrong
    assert {
        (line.split(",")[0].split()[-1], line.split(": ")[1]) for line in found.breaking
    } == BREAKING[domain]
    assert found.writes == {"airline": 29, "retail": 121}[domain]


@pytest.mark.parametrize(
    ("domain", "tasks", "kinds"),
    [("airline", ("7", "12", "14", "17", "38"), 35), ("retail", ("0", "16", "30", "59"), 28)],
)
def test_violations_are_refused_by_their_rule_and_permitted_calls_are_not(
    installed, domain, tasks, kinds
):
    chosen = [task for task in installed("sandbox").tasks(domain, "train") if task.id in tasks]
    found = installed("measure").judge_made(domain, chosen, seed=3)
    assert not found.missed
    assert not found.wrong
    assert not found.stopped
    assert found.permitted
    assert sum(row.made > 0 for row in found.rows.values()) >= kinds


def test_a_rule_taken_away_lets_its_violations_through(installed, monkeypatch):
    """The measure can fail: it does not follow the manual."""
    measure = installed("measure")
    manual = policy_manual("airline")
    less = replace(
        manual, policies=tuple(each for each in manual.policies if each.rule.id != "AIR-BASIC")
    )
    monkeypatch.setattr(
        measure, "policy_guard", lambda name: Guard(less, python=policy_functions(name))
    )
    chosen = [task for task in installed("sandbox").tasks("airline", "train") if task.id == "17"]
    found = measure.judge_made("airline", chosen, seed=3)
    assert {line.split(",")[0] for line in found.missed} == {
        "- change a basic-economy flight",
        "- change a basic-economy flight with its cabin",
    }


@pytest.mark.parametrize(
    ("domain", "name", "arguments", "rule"),
    [
        ("airline", "cancel_reservation", {"reservation_id": "NOSUCH"}, "AIR-IDENTIFY"),
        ("airline", "send_certificate", {"user_id": "nobody", "amount": 100}, "AIR-IDENTIFY"),
        (
            "retail",
            "cancel_pending_order",
            {"order_id": "#W0", "reason": "no longer needed"},
            "SHOP-IDENTIFY",
        ),
        ("retail", "modify_user_address", {"user_id": "nobody"}, "SHOP-IDENTIFY"),
    ],
)
def test_a_reference_to_what_is_not_there_is_counted_as_breaking_the_policy(
    installed, domain, name, arguments, rule
):
    sandbox = installed("sandbox")
    found = installed("measure").judge_references(
        domain, [sandbox.Task("x", (sandbox.Call(name, arguments),))]
    )
    assert (found.writes, found.allowed, found.wrong) == (1, 0, [])
    assert rule in found.breaking[0]


def test_a_change_stays_in_its_sandbox(installed):
    sandbox = installed("sandbox")
    cancel = sandbox.Call("cancel_reservation", {"reservation_id": "XEHM4B"})
    look = sandbox.Call("get_reservation_details", {"reservation_id": "XEHM4B"})
    changed, other = sandbox.Sandbox("airline"), sandbox.Sandbox("airline")
    assert '"status":"cancelled"' in changed.call(cancel).text
    assert '"status":"cancelled"' in changed.call(look).text
    assert '"status":null' in other.call(look).text


@pytest.mark.skipif(
    os.environ.get("RPMS_SLOW") != "1", reason="RPMS_SLOW=1 runs Inspect with the whole package"
)
def test_the_policy_before_the_benchmark_s_own_tools_in_inspect(installed):
    done = subprocess.run(
        [sys.executable, EXAMPLE], capture_output=True, text=True, timeout=200, check=True
    )
    said = (
        line.partition(" -> ")[2] for line in done.stdout.splitlines()
    )  # Inspect names its hooks first
    rulings = [each.split(":")[0] for each in said if each]
    assert rulings == [
        "SHOP-IDENTIFY",
        "done",
        "SHOP-LOOKUP",
        "done",
        "done",
        "done",
        "SHOP-PENDING",
    ]


def test_the_benchmark_prints_a_row_for_each_kind(installed, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["policies.py", "--domain", "retail", "--first", "2"])
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(BENCHMARKS / "policies.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert end.value.code == 0
    assert printed.count("| SHOP-") == len(installed("measure").kinds_of("retail"))
    assert "Violations refused by the rule of their kind" in printed


def test_without_the_package_the_benchmark_says_what_to_install(tau2, monkeypatch, capsys):
    monkeypatch.setattr(tau2("sandbox"), "available", lambda: False)
    monkeypatch.setattr(sys, "argv", ["policies.py"])
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(BENCHMARKS / "policies.py"), run_name="__main__")
    assert end.value.code == 2
    assert "pip install inspect-evals" in capsys.readouterr().err
