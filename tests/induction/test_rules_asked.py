"""Experiments ask what nothing has answered yet, and nothing is blamed that others explain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random

import pytest

from rpms.induction.conclusions.action_model import induced, kind_tables
from rpms.induction.conclusions.goal_models import GoalModel
from rpms.induction.conclusions.ledger import Diary, Ledger, vocabulary_of
from rpms.induction.conclusions.needs import Needs
from rpms.induction.evidence.attempts import Attempt, Book, Known
from rpms.induction.evidence.vocabulary import Vocabulary
from rpms.induction.evidence.wants import GoalBook, Win
from rpms.induction.exploring.agenda import Agenda
from rpms.induction.exploring.explorer import Explorer
from rpms.induction.exploring.goal_guesses import words_of, words_said
from rpms.induction.exploring.looking import Looking
from rpms.induction.exploring.questions import Question
from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import ActionSchema
from rpms.logic.belief import FactBelief
from rpms.logic.facts import Atom, Clause, Literal
from rpms.logic.goal import Goal
from rpms.logic.rules import Predicate, RuleManual
from rpms.planning.edges import Link, Option
from rpms.planning.plan_graph import Plan
from rpms.store.evidence import Label, Witness
from rpms.worlds.base import Setting, Task
from tests.induction.house import House

NEAR = "beside"


def vocabulary() -> Vocabulary:
    every = (
        Predicate("door", ("place",)),
        Predicate("closed", ("place",)),
        Predicate("at", ("thing",), exclusive=NEAR),
        Predicate(NEAR, ("one", "other")),
        Predicate("holding", ("thing",), exclusive="always"),
        Predicate("in", ("thing", "place")),
        Predicate("heated", ("thing",)),
        Predicate("cooled", ("thing",)),
    )
    return Vocabulary({each.name: each for each in every})


def tried(count: int, kinds: Sequence[str], true: str, *, refused: bool = False) -> list[Attempt]:
    """As many attempts, each in an episode of its own: `1` stands for a fact that held."""
    mask = int(true[::-1], 2)
    false = (1 << len(true)) - 1 & ~mask
    found = []
    for number in range(count):
        episode = f"{' '.join(kinds)} {true} {refused} {number}"
        names = tuple(f"{kind} 1" for kind in kinds)
        witness = Witness(episode, 1)
        row = Attempt(witness, names, tuple(kinds), refused, mask, false, mask, false, 0, 0)
        found.append(row)
    return found


def book_of(template: str, facts: Sequence[Atom], attempts: Iterable[Attempt]) -> Book:
    rows = list(attempts)
    slots = template.count("<>")
    book = Book(template, vocabulary(), facts=list(facts), attempts=rows)
    book.slots = [set() for _ in range(slots)]
    for row in rows:
        if not row.refused:
            book.worked[row.kinds] += 1
            book.succeeded += 1
    return book


class TestARefusalSettlesOnlyWhatItForetells:
    def put(self) -> Question:
        """Things were put where no door is, and refused at closed doors alone."""
        rows = tried(30, ["shelf"], "00") + tried(1, ["cabinet"], "00")
        rows += tried(9, ["cabinet"], "11", refused=True)
        facts = [Atom("door", ("0",)), Atom("closed", ("0",))]
        return Question(ActionSchema("put", ("put in <place>",)), book_of("put in <>", facts, rows))

    def test_an_open_door_is_asked_about(self) -> None:
        told, _ = self.put().information(0b01, 0b10, ("cabinet",))
        assert told > LIMITS.informative

    def test_a_closed_one_is_not(self) -> None:
        told, _ = self.put().information(0b11, 0b00, ("cabinet",))
        assert told == 0.0

    def test_the_bound_is_never_below_what_a_state_is_worth(self) -> None:
        told, _ = self.put().information(0b01, 0b10, ("cabinet",))
        assert self.put().most(("cabinet",)) >= told


def test_what_was_unknown_in_successes_keeps_nobody_from_a_trial() -> None:
    rows = tried(30, ["fridge"], "10")
    # nobody knew whether the second fact held
    rows = [row._replace(false=0, false_after=0) for row in rows]
    rows += tried(30, ["fridge"], "10")
    rows += tried(1, ["fridge"], "01", refused=True)
    facts = [Atom("closed", ("0",)), Atom("heated", ("0",))]
    question = Question(ActionSchema("cool", ("cool <place>",)), book_of("cool <>", facts, rows))
    told, _ = question.information(0, 0b01, ("fridge",))
    assert told > 0


class TestAPairIsBlamedBeforeKinds:
    FACTS = (Atom("at", ("0",)), Atom("holding", ("0",)))
    SEEN = tried(4, ["shelf"], "10") + tried(4, ["mug"], "01")

    def unfit(self, refusals: list[Attempt]) -> list[str]:
        book = book_of("examine <>", self.FACTS, [*self.SEEN, *refusals])
        tables = kind_tables("examine", ("0",), book, Needs(book).faultless.found)
        return [kinds[0] for table in tables for kinds in table.refused]

    def test_one_that_was_far_off_each_time_may_work(self) -> None:
        assert self.unfit(tried(3, ["hook"], "00", refused=True)) == []

    def test_one_that_was_here_does_not(self) -> None:
        assert self.unfit(tried(3, ["hook"], "10", refused=True)) == ["hook"]


def test_what_lies_where_one_is_is_near_and_needs_not_be_asked_for() -> None:
    facts = [Atom("at", ("1",)), Atom("at", ("0",)), Atom("in", ("0", "1"))]
    rows = tried(20, ["mug", "shelf"], "111")
    rows += tried(3, ["mug", "shelf"], "001", refused=True)
    rows += tried(3, ["mug", "shelf"], "110", refused=True)
    book = book_of("take <> from <>", facts, rows)
    book.roles = [{"thing"}, {"place"}]
    book.imagined = [Known(0, 0b111)]
    far = ("not at(shelf 2)", "in(cup 1, shelf 2)", "not at(cup 1)")
    belief = FactBelief().learn(
        "at(shelf 1)", "in(mug 1, shelf 1)", "at(mug 1)", *far,
        thing=["mug 1", "cup 1"], place=["shelf 1", "shelf 2"],
    )  # fmt: skip
    book.vocabulary.seen.add("today", belief)
    needs = Needs(book)
    assert set(map(str, needs.table.literals(needs.explanations.required))) == {"at(1)", "in(0, 1)"}


class TestWhatFollowsFromADoubtIsDoubtfulToo:
    """Things were put where no door is, and refused at closed doors: what has no door is not
    closed, and an open door was never tried.
    """

    def put(self) -> Question:
        rows = tried(30, ["shelf"], "00") + tried(1, ["cabinet"], "00")
        rows += tried(2, ["cabinet"], "11", refused=True)
        facts = [Atom("door", ("0",)), Atom("closed", ("0",))]
        book = book_of("put in <>", facts, rows)
        book.roles = [{"place"}]
        book.imagined = [Known(0b00, 0b11), Known(0b11, 0b00)]
        for day in range(4):
            shelves = [f"shelf {number}" for number in range(1, 4)]
            told = [f"not {fact}({shelf})" for shelf in shelves for fact in ("door", "closed")]
            told += ["door(cabinet 1)", "closed(cabinet 1)"]
            told += ["door(cabinet 2)", "not closed(cabinet 2)"]
            places = [*shelves, "cabinet 1", "cabinet 2"]
            belief = FactBelief().learn(*told, place=places)
            book.vocabulary.seen.add(f"day {day}", belief)
        return Question(ActionSchema("put", ("put in <place>",)), book)

    def test_it_may_be_needed_in_place_of_the_doubt(self) -> None:
        put = self.put()
        required = put.table.literals(put.explanations.required)
        assert list(map(str, required)) == ["not door(0)"]
        likely = {str(put.table.literal(bit)): chance for bit, chance in put.chances.items()}
        assert likely.keys() == {"not door(0)", "not closed(0)"}
        assert min(likely.values()) > 0.5

    def test_the_guard_does_not_refuse_what_was_never_tried(self) -> None:
        """Refusals that lacked both prove neither of them."""
        facts = [fact for fact in self.put().needs.facts() if fact.label is Label.NECESSARY]
        told = [{str(literal) for literal in fact.clause.literals} for fact in facts]
        assert told == [{"not door(0)", "not closed(0)"}]

    def test_a_trial_without_the_doubt_sees_to_it(self) -> None:
        put = self.put()
        [doubt] = put.table.literals(put.explanations.required)
        trial = put.without(doubt)
        assert list(map(str, trial.preconditions)) == ["not closed(place)"]


class TestGuessesAtAGoal:
    GOAL = Goal("cool_and_place", "mug", "cool", "shelf", "Put a cool mug in the shelf.")

    def test_a_fact_says_a_word_of_which_it_is_a_form(self) -> None:
        words = words_of(self.GOAL)
        assert "mug" not in words
        assert words_said([Atom("cooled", ("x",))], words) == {"cool"}
        assert words_said([Atom("in", ("x", "p")), Atom("not cooled", ("x",))], words) == set()

    def agenda(self) -> Agenda:
        """An agenda that knows how to put things somewhere, to heat and to cool them."""
        agenda = Agenda(Ledger(House(), vocabulary()))
        agenda.ledger.names.learn({"thing": ["mug 1"], "place": ["shelf 1"]})
        slots = ("thing", "place")
        effects = [Atom("in", slots), Atom("heated", slots[:1]), Atom("cooled", slots[:1])]
        actions = tuple(
            ActionSchema(str(number), ("do <thing> <place>",), effects=(Literal(atom),))
            for number, atom in enumerate(effects)
        )
        agenda._manual = RuleManual(actions=actions)
        book = GoalBook(self.GOAL.type, vocabulary())
        book.fields.update(object=1, destination=1)
        agenda.ledger.goals[self.GOAL.type] = book
        return agenda

    def test_what_the_goal_says_is_guessed_before_what_it_does_not(self) -> None:
        first = next(iter(self.agenda().guesses(self.GOAL)))
        assert Atom("cooled", ("x",)) in first

    @pytest.mark.parametrize(("shared", "open_"), [(["cooled"], True), (["cooled", "in"], False)])
    def test_guesses_go_on_where_wins_share_nothing_of_a_field(
        self, monkeypatch: pytest.MonkeyPatch, shared: list[str], open_: bool
    ) -> None:
        args = {"cooled": ("x",), "in": ("x", "p")}
        holds = tuple(
            induced(Clause((Literal(Atom(name, args[name])),)), (), label=Label.NECESSARY)
            for name in shared
        )
        model = GoalModel(self.GOAL.type, {}, holds, 1, 1)
        agenda = self.agenda()
        monkeypatch.setattr(agenda, "goal_model", lambda _: model)
        first, *others = agenda.guesses(self.GOAL)
        assert first == model.state
        assert bool(others) is open_


@pytest.mark.parametrize(("failures", "first"), [(1, "go to table"), (2, "go to sink")])
def test_plans_that_come_to_what_was_refused_again_and_again_are_passed_over(
    monkeypatch: pytest.MonkeyPatch, failures: int, first: str
) -> None:
    world = House()
    ledger = Ledger(world, vocabulary_of(world))
    agenda = Agenda(ledger)
    diary = Diary(ledger, "1", world.open(world.tasks("train", None)[0], None).reset().observation)  # type: ignore[arg-type]
    standing = Looking(agenda, diary, None, Random(0))  # type: ignore[arg-type]  no game is asked
    options = []
    for place in ("table", "sink"):
        links = [f"go to {place}", f"clean mug with {place}"]
        chain = tuple(Link(command, Atom("clean", ("mug",)), False) for command in links)
        options.append(Option(links[0], 0.0, chain))
    plan = Plan(tuple(options), 2.0)
    monkeypatch.setattr(agenda, "towards", lambda *_, **__: plan)
    standing.failures["clean mug with table"] = failures
    assert standing.begin(frozenset({Atom("clean", ("x",))})) == first


class TestTheNextTask:
    TASKS = tuple(Task(f"{type_} {n}", "train", type_, {}) for type_ in "abc" for n in range(2))

    def explorer(self, won: dict[str, int], episodes: dict[str, int]) -> Explorer:
        """An explorer that has won some types so often, in so many episodes."""
        world = House()
        ledger = Ledger(world, vocabulary())
        for type_, count in episodes.items():
            book = GoalBook(type_, vocabulary(), episodes=count)
            book.wins += [Win((), {}, {}, (), Witness("any", 1))] * won.get(type_, 0)
            ledger.goals[type_] = book
        return Explorer(world, Setting(), self.TASKS, ledger)

    def test_is_of_the_type_that_was_won_least(self) -> None:
        explorer = self.explorer({"a": 3, "b": 1}, {"a": 4, "b": 4, "c": 4})
        assert {task.type for task in explorer._least_known(self.TASKS)} == {"c"}

    def test_a_type_that_is_never_won_does_not_take_all(self) -> None:
        many = 2 * LIMITS.episodes_for_a_win
        explorer = self.explorer({"a": 3, "b": 1}, {"a": 4, "b": 4, "c": many})
        assert {task.type for task in explorer._least_known(self.TASKS)} == {"b"}


def test_a_need_that_plans_always_bring_about_is_left_out_in_a_trial() -> None:
    """Whatever was cleaned had been heated before: only who cleans something cold will know."""
    rows = tried(10, ["sink"], "11") + tried(3, ["sink"], "00", refused=True)
    rows += tried(3, ["sink"], "01", refused=True)
    facts = [Atom("at", ("0",)), Atom("heated", ("0",))]
    needs = tuple(Clause((Literal(Atom(name, ("place",))),)) for name in ("at", "heated"))
    schema = ActionSchema("clean", ("clean <place>",), needs)
    question = Question(schema, book_of("clean <>", facts, rows))
    doubts = {str(literal): told for literal, told in question.doubts()}
    assert doubts["heated(0)"] > LIMITS.informative > doubts["at(0)"]
    (heated,) = needs[1].bind({"place": "0"}).literals
    assert question.without(heated).preconditions == needs[:1]
