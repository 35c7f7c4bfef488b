"""What was learned, written as a PDDL domain."""

import sys
from pathlib import Path

import pytest

from rpms.induction.conclusions.action_model import ActionModel, Induced
from rpms.induction.conclusions.conclude import Learned
from rpms.logic.facts import Atom, Clause, Literal
from rpms.store.evidence import Label

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


LIFTS = """
(define (domain lifts) (:requirements :typing)
(:types fast slow - lift lift floor - object)
(:predicates (stops ?l - lift ?f - floor) (bright ?f - floor))
(:action move_slow :parameters (?l - slow ?to - floor) :precondition () :effect ())
(:action move_fast :parameters (?l - fast ?to - floor) :precondition () :effect ())
(:action lift :parameters (?l - fast ?to - floor) :precondition () :effect ())
(:action move_away :parameters (?f - floor ?to - floor) :precondition () :effect ()))
"""


def test_what_was_never_false_is_written_where_an_action_alike_needs_it(pddl_world):
    """Not where one has no word in common with it, or parameters of other types; and not what the
    other does not need either.
    """
    domain = pddl_world.Domain.read(LIFTS)
    stops = Clause((Literal(Atom("stops", ("0", "1"))),))
    bright = Clause((Literal(Atom("bright", ("1",))),))
    models = []
    for name, types in domain.actions.items():
        label = Label.NECESSARY if name == "move_slow" else Label.UNTESTED
        needs = (Induced(stops, label=label), Induced(bright, label=Label.UNTESTED))
        slots = tuple(f"slot_{number}" for number in range(len(types)))
        models.append(
            ActionModel(name, name, slots, successes=9, refusals=2, unexplained=0, needs=needs)
        )
    written = pddl_world.to_pddl(domain, Learned("lifts", {}, tuple(models), ()))
    needing = [
        part.split()[0] for part in written.split("(:action ") if "(and (stops ?l ?to))" in part
    ]
    assert needing == ["move_slow", "move_fast"]
    bare = [
        part.split()[0] for part in written.split("(:action ") if ":precondition (and )" in part
    ]
    assert bare == ["lift", "move_away"]
