"""Rules induced in made-up worlds: nothing beyond the safe bound, nothing that blocks what the
world allows.
"""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rpms.induction.conclusions.conclude import Learned, conclude
from rpms.induction.conclusions.learned_manual import manual_from
from rpms.induction.conclusions.ledger import Ledger, vocabulary_of
from rpms.induction.conclusions.needs import Needs
from rpms.induction.exploring.agenda import Exploring
from rpms.induction.exploring.explorer import Explorer
from rpms.induction.manuals.learned_claims import claims_of
from rpms.induction.manuals.manual_verify import verify
from rpms.induction.manuals.write import manual_tree
from rpms.logic.facts import Atom, Literal
from rpms.play.sources import universal_tier
from rpms.store.evidence import Label
from rpms.store.manual_reader import ManualText
from rpms.store.manuals import read_manual
from rpms.store.yaml_files import manual_yaml
from rpms.worlds.base import Setting
from tests.induction.made_up import NULLARY, UNARY, Action, Domain, MadeUp

FACTS = [*(Atom(name, ("x",)) for name in UNARY), *(Atom(name) for name in NULLARY)]


@st.composite
def domains(draw: st.DrawFn) -> Domain:
    """Three actions, each with up to three preconditions and one or two effects."""
    actions = []
    for verb in ("push", "paint", "heat"):
        some = draw(st.lists(st.sampled_from(FACTS), max_size=3, unique=True))
        made = draw(st.lists(st.sampled_from(FACTS), min_size=1, max_size=2, unique=True))
        signs = draw(st.lists(st.booleans(), min_size=5, max_size=5))
        needs = tuple(Literal(atom, sign) for atom, sign in zip(some, signs, strict=False))
        does = tuple(Literal(atom, sign) for atom, sign in zip(made, signs[3:], strict=False))
        actions.append(Action(verb, needs, does))
    return Domain(tuple(actions))


def learned_in(domain: Domain, steps: int, seed: int = 0) -> tuple[Learned, Explorer]:
    world = MadeUp(domain)
    ledger = Ledger(world, vocabulary_of(world))
    explorer = Explorer(
        world, Setting(), world.tasks("train", Setting()), ledger, Exploring(steps=steps, seed=seed)
    )
    list(explorer.explore())
    return conclude(ledger), explorer


@given(domains(), st.integers(0, 3), st.sampled_from([80, 250]))
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_learned_lies_between_the_two_bounds(domain: Domain, seed: int, steps: int) -> None:
    learned, explorer = learned_in(domain, steps, seed)
    truth = {action.verb: action for action in domain.actions}
    for action in learned.actions:
        needs = {literal.bind({"x": "0"}) for literal in truth[action.name].needs}
        all_needs = Needs(explorer.ledger.books[action.template])
        safe = frozenset(all_needs.table.literals(all_needs.bound.safe))
        for fact in action.labelled(Label.NECESSARY):
            # the guard: one of what it asks for is really needed, so that it blocks nothing that is
            # allowed
            assert needs.intersection(fact.clause.literals), (action.name, str(fact.clause))
        for fact in action.labelled(Label.NECESSARY, Label.POSSIBLE):
            # plans: never stricter than what was true in every success
            assert safe.intersection(fact.clause.literals)
        successes = explorer.ledger.books[action.template].successes
        assert needs & safe == {literal for literal in needs if successes}, (
            "a real need is never refuted"
        )
    everything = verify(manual_from(learned), explorer.world, explorer.aside)
    assert everything.total.blocked == 0
    assert everything.total.seen == everything.total.predicted or steps < 250


@given(domains())
@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_experiments_settle_the_preconditions(domain: Domain) -> None:
    learned, explorer = learned_in(domain, 300)
    truth = {action.verb: action for action in domain.actions}
    for action in learned.actions:
        if action.successes < 20 or action.refusals < 20:
            continue
        needs = {literal.bind({"x": "0"}) for literal in truth[action.name].needs}
        asked = {
            literal
            for fact in action.labelled(Label.NECESSARY, Label.POSSIBLE)
            for literal in fact.clause.literals
        }
        drawn = explorer.ledger.books[action.template].attempts
        for need in needs - asked:
            # what is not asked for was never missing alone
            alone = [
                each
                for each in drawn
                if each.refused and _missing(each, need, needs, explorer, action.template)
            ]
            assert not alone, (action.name, str(need))


def _missing(
    attempt: object, need: Literal, needs: set[Literal], explorer: Explorer, template: str
) -> bool:
    facts = explorer.ledger.books[template].facts
    false = {literal for literal in needs if _is_false(attempt, literal, facts)}
    return false == {need}


def _is_false(attempt: object, literal: Literal, facts: list[Atom]) -> bool:
    mask = attempt.true if literal.negated else attempt.false  # type: ignore[attr-defined]
    return bool(mask >> facts.index(literal.atom) & 1)


@given(domains())
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_yaml_reads_as_what_was_learned(domain: Domain) -> None:
    learned, _ = learned_in(domain, 150)
    built = manual_from(learned)
    read = read_manual(
        universal_tier(), ManualText("learned", manual_yaml(manual_tree(learned)), own=True)
    )
    assert {each.name: each.preconditions for each in read.actions} == {
        each.name: each.preconditions for each in built.actions
    }
    assert [each.effects for each in read.actions] == [each.effects for each in built.actions]
    assert [each.plan for each in read.actions] == [each.plan for each in built.actions]
    places = [claim.place for claim in claims_of(learned)]
    assert len(places) == len(set(places))
    standing = {
        claim.text for claim in claims_of(learned) if claim.key == "effects" and claim.stands
    }
    assert standing == {str(effect) for action in built.actions for effect in action.effects} | {
        str(effect) for process in built.lore.processes for effect in process.effects
    }


def test_a_hidden_cause_is_said_and_blocks_nothing() -> None:
    """A world with a fact that no text tells of: attempts contradict each other, and nothing
    false is concluded.
    """
    need = Literal(Atom("dark"))
    domain = Domain(
        (
            Action("push", (need,), (Literal(Atom("red", ("x",))),)),
            Action("bend", (), (Literal(Atom("bent", ("x",))),)),
        ),
        frozenset({"dark"}),
    )
    learned, explorer = learned_in(domain, 300)
    push = next(action for action in learned.actions if action.name == "push")
    assert not push.labelled(Label.NECESSARY)
    assert push.unexplained > 0
    assert verify(manual_from(learned), explorer.world, explorer.aside).total.blocked == 0
