"""What was learned, written as a PDDL domain."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
DOMAIN = """
(define (domain hands) (:requirements :typing)
(:types hand block - object)
(:predicates (holding ?h - hand ?b - block) (left ?h - hand) (right ?h - hand) (empty ?h - hand))
(:action put_left :parameters (?h - hand ?b - block) :precondition () :effect ())
(:action put_right :parameters (?x - hand ?y - block) :precondition () :effect ())
(:action put_both :parameters (?h - hand ?b - block) :precondition () :effect ())
(:action take :parameters (?h - hand ?b - block) :precondition () :effect ()))
"""


@pytest.fixture
def pddl_world(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield pytest.importorskip("pddl_world")
    sys.modules.pop("pddl_world", None)


def test_an_action_that_never_worked_is_written_by_analogy(pddl_world):
    """With what all actions have that share its parameters and a word: not with what one has."""
    domain = pddl_world.Domain.read(DOMAIN)
    written = {
        "put_left": pddl_world.ActionLines(["(holding ?h ?b)", "(left ?h)"], ["(empty ?h)"]),
        "put_right": pddl_world.ActionLines(["(right ?x)", "(holding ?x ?y)"], ["(empty ?x)"]),
        "take": pddl_world.ActionLines(["(empty ?h)"], ["(holding ?h ?b)"]),
    }
    lines = pddl_world.lines_by_analogy(domain, "put_both", written)
    assert lines == (["(holding ?h ?b)"], ["(empty ?h)"])
