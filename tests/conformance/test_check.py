"""`check_world` passes sound worlds and finds what is wrong with others: one deliberate fault
for each property.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from rpms.conformance import PROPERTIES, Finding, Status, check_world
from rpms.conformance.walk import Subject
from rpms.logic.belief import StateSignature
from rpms.logic.errors import InputError, WorldError
from rpms.logic.facts import Truth
from rpms.logic.goal import Goal
from rpms.paper.beyond import Surprise
from rpms.paper.wording import Wording
from rpms.planning.noticed import SurpriseKind
from rpms.worlds.base import Command, Game, Outcome, Setting, Task, World
from rpms.worlds.registry import find_world, world_names
from tests.induction.small_worlds import corridor, post_office, vending
from tests.planning import maze
from tests.toolbox import Toolbox, belief, game, module, world

BELIEF = belief.ToolboxBelief


def findings(world: object, **options: Any) -> dict[str, Finding]:
    return {finding.name: finding for finding in check_world(world, **options)}


def failures(world: object, **options: Any) -> dict[str, str]:
    return {
        name: found.detail
        for name, found in findings(world, **options).items()
        if found.status is Status.FAILED
    }


def manual_with(old: str, new: str) -> type:
    class Changed(Toolbox):
        def manual(self):
            ((name, text),) = super().manual()
            assert old in text
            return ((name, text.replace(old, new)),)

    return Changed


def belief_with(**members: object) -> type:
    """A world whose beliefs differ in some members, whatever the update makes of them."""
    changed = type("ChangedBelief", (BELIEF,), members)

    class Changed(Toolbox):
        def start(self, goal):
            return changed()

    return Changed


def world_with(**members: object) -> type:
    return type("Changed", (Toolbox,), members)


def game_with(**members: object) -> type:
    changed = type("ChangedGame", (game.ToolboxGame,), members)
    return world_with(open=lambda self, task, setting: changed(int(task.source["number"])))


def test_a_sound_world_has_every_property():
    found = findings(world)
    assert {finding.status for finding in found.values()} == {Status.OK}
    assert list(found) == [check.__name__ for check in PROPERTIES]
    assert all(finding.claim and finding.detail for finding in found.values())


def test_the_same_seed_finds_the_same():
    assert findings(world, seed=5) == findings(world, seed=5)


def test_alfworld_has_every_property():
    assert failures(find_world("alfworld"), games=3, steps=20) == {}


@pytest.mark.timeout(300)
def test_scienceworld_has_every_property():
    if "scienceworld" not in world_names():
        pytest.skip("scienceworld is not registered")
    pytest.importorskip("scienceworld", reason="the simulator is not installed")
    found = failures(find_world("scienceworld"), games=1, steps=8)
    assert found == {}


class Shifting(maze.Maze):
    """A maze that is another one at each opening: what was planned without doubt does not fit."""

    def __init__(self) -> None:
        self.opened = 0

    def open(self, task: Task, setting: Setting) -> Game:
        self.opened += 1
        return maze.MazeGame("row" if self.opened % 2 else "cross")


def test_a_world_in_which_nothing_has_a_name_yet_has_every_property():
    assert failures(maze.world) == {}


@pytest.mark.parametrize("small_world", [vending.world, corridor.world, post_office.world])
def test_doubt_changes_no_command_where_a_plan_took_for_granted_what_nobody_knew(small_world):
    """A wish that is not on the floor: the plan tried to pick it up, and the manual is sound."""
    told = findings(small_world, only=("doubt",))["doubt"].detail
    assert told == "6 of 6 games that plans win are the same"


def test_a_step_without_a_plan_is_found_where_the_plans_win(monkeypatch):
    played = Subject.strict_episode

    def stranded_at_once(subject: Subject, task: Task, *, doubt: bool):
        episode = played(subject, task, doubt=doubt)
        none = Surprise(str(SurpriseKind.STRANDED), "", "nothing known leads to the goal any more")
        first, *rest = episode.steps
        return replace(episode, steps=(replace(first, surprises=(none,)), *rest))

    monkeypatch.setattr(Subject, "strict_episode", stranded_at_once)
    found = failures(maze.world, only=("doubt",))
    assert "step 1: nothing is known that leads to the goal" in found["doubt"]


class Listing(Toolbox):
    """Its task list depends on how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def tasks(self, split, setting):
        self.asked += 1
        listed = list(super().tasks(split, setting))
        return listed if self.asked % 2 else listed[::-1]


def dice(**kinds: object) -> dict[str, object]:
    """Members that give something else at each call."""
    ticks = count()
    return {name: lambda *args, make=make: make(next(ticks), *args) for name, make in kinds.items()}


def tired(self):
    """A reset that says something else the third time."""
    self.resets = getattr(self, "resets", 0) + 1
    opening = game.ToolboxGame.reset(self)
    return opening if self.resets < 3 else Outcome(f"Again. {opening.observation}")


def mutate(self, known, action, observation):
    after = belief.update(known, action, observation)
    object.__setattr__(known, "holding", ("ghost 1",))
    return after


def raise_on_nonsense(self, known, action, observation):
    if "xyzzy" in observation:
        raise KeyError(observation)
    return belief.update(known, action, observation)


def forget_pushes(self, known, action, observation):
    after = belief.update(known, action, observation)
    return replace(after, holding=known.holding) if observation.startswith("You push") else after


def _raise(error: Exception) -> Iterable[object]:
    raise error


def loud(self):
    return replace(self, goal=lambda goal, progress: ("  I speak all the same",))


LOUD = type("Loud", (Wording,), {"silent": loud})
STEPS = count()


def unsettled(self):
    """Names that are forgotten every seventh time they are asked for."""
    return {} if next(STEPS) % 7 == 0 else BELIEF.names.fget(self)


def wordless(self, word):
    raise LookupError(f"what is {word}?")


FAULTS: list[tuple[str, str, type]] = [
    ("members", "wording must be", world_with(wording=None)),
    ("members", "splits must be", world_with(splits=())),
    ("members", "is no subclass", type("Stranger", (), {})),
    ("tasks", "another one", Listing),
    (
        "tasks",
        "more than once",
        world_with(tasks=lambda self, split, setting: [*game.tasks("train")] * 2),
    ),
    ("tasks", "unknown split", world_with(tasks=lambda self, split, setting: game.tasks("train"))),
    ("tasks", "no tasks", world_with(tasks=lambda self, split, setting: ())),
    (
        "tasks",
        "where are the games",
        world_with(tasks=lambda *_: _raise(InputError("where are the games?"))),
    ),
    ("manual", "not valid YAML", manual_with("environment:", "environment: [")),
    (
        "manual",
        "toolbox_world/manual.yaml:",
        manual_with("not running(host)]", "not runing(host)]"),
    ),
    ("manual", "world: other", manual_with("world: toolbox", "world: other")),
    ("manual", "exclusive", manual_with("exclusive: always", "exclusive: nowhere")),
    (
        "manual",
        "is read as",
        manual_with("syntax: unlock <host>", "syntax: [unlock <host>, connect to <host> 1]"),
    ),
    (
        "games",
        "the first time",
        game_with(step=lambda self, text: Outcome(f"It is {next(STEPS)} o'clock.")),
    ),
    (
        "games",
        "not sorted",
        game_with(admissible=lambda self: tuple(sorted(self._possible(), reverse=True))),
    ),
    ("games", "another opening", game_with(reset=tired)),
    (
        "games",
        "failed in step (test_check.py",
        game_with(step=lambda self, text: Outcome(str(1 // 0))),
    ),
    (
        "games",
        "engine is missing",
        world_with(open=lambda *_: _raise(WorldError("the engine is missing"))),
    ),
    ("refusals", "no refusal", world_with(infeasible=lambda self, observation: False)),
    ("refusals", "refus", world_with(infeasible=lambda self, observation: True)),
    (
        "goals",
        "is no goal",
        world_with(goal=lambda self, opening: Goal("deliver", "report", "", "archive")),
    ),
    ("goals", "no goal is understood", world_with(goal=lambda self, opening: Goal("unknown"))),
    (
        "goals",
        "another goal",
        world_with(**dice(goal=lambda tick, self, opening: Goal("unknown", str(tick)))),
    ),
    ("belief", "changed an earlier", world_with(update=mutate)),
    ("belief", "failed in update (test_check.py", world_with(update=raise_on_nonsense)),
    ("belief", "second time", belief_with(lines=lambda self: (f"made as {id(self)}",))),
    (
        "signature",
        "is written",
        belief_with(signature=lambda self: StateSignature.of(holding=(" spaced ",))),
    ),
    (
        "facts",
        "KeyError",
        belief_with(truth=lambda self, atom: Truth.of({"x": True}[atom.args[0]])),
    ),
    ("facts", "not with a Truth", belief_with(truth=lambda self, atom: True)),
    ("facts", "ever known: at,", belief_with(truth=lambda self, atom: Truth.UNKNOWN)),
    (
        "schemas",
        "`push",
        manual_with("at(host), not locked(host), not running(host)]", "at(host), running(host)]"),
    ),
    ("schemas", "`clipboard`", manual_with("  clipboard: {syntax: clipboard}\n", "")),
    (
        "effects",
        "after `unlock",
        manual_with("effects: [not locked(host)]", "effects: [locked(host)]"),
    ),
    ("drift", "clipboard", world_with(update=forget_pushes)),
    ("progress", "LookupError", belief_with(called=wordless)),
    (
        "commands",
        "and that",
        world_with(command=lambda self, action, known: Command(action.replace("xyzzy", "xyzzy!"))),
    ),
    (
        "commands",
        "exact command",
        world_with(command=lambda self, action, known: Command("list around")),
    ),
    (
        "prompts",
        "the baseline's prompt has",
        world_with(wording=LOUD(module.INSTRUCTION, module.EXAMPLE)),
    ),
    ("prompts", "instruction is empty", world_with(wording=Wording("", ""))),
    ("planner", "wins none of its games: 4 out of steps", world_with(step_budget=1)),
    ("plans", "another plan", belief_with(names=property(unsettled))),
    ("doubt", "nothing contradicts the manual", Shifting),
]


@pytest.mark.parametrize(
    ("name", "words", "broken"), FAULTS, ids=[f"{fault[0]}: {fault[1]}" for fault in FAULTS]
)
def test_a_fault_is_found(name: str, words: str, broken: type):
    found = failures(broken(), games=4, steps=12, only=(name,))
    assert name in found, found
    assert words in found[name]


def test_there_is_a_fault_for_every_property():
    assert {name for name, _, _ in FAULTS} == {check.__name__ for check in PROPERTIES}


def test_what_breaks_the_walks_is_told_once_and_the_rest_is_skipped():
    found = findings(game_with(step=lambda self, text: Outcome(str(1 // 0)))(), games=2)
    assert "test_check.py" in found["games"].detail
    assert (found["belief"].status, found["belief"].detail) == (Status.SKIPPED, "see games")
    assert found["tasks"].status is found["manual"].status is Status.OK


def test_some_properties_can_be_tried_alone():
    assert list(findings(world, games=1, only=("tasks", "goals"))) == ["tasks", "goals"]
    with pytest.raises(
        InputError, match="no property is called 'tusks'; choose from members, tasks"
    ):
        findings(world, only=("tusks",))


def test_a_manual_may_have_no_goals():
    class Aimless(Toolbox):
        def manual(self):
            ((name, text),) = super().manual()
            return ((name, re.sub(r"^goals:\n(  .*\n)+", "", text, flags=re.MULTILINE)),)

    found = findings(Aimless(), games=2)
    assert (found["planner"].status, found["planner"].detail) == (
        Status.SKIPPED,
        "the manual has no goals",
    )
    assert Status.FAILED not in {finding.status for finding in found.values()}


def test_a_world_that_does_not_compare_is_not_said_to_be_free_of_drift():
    found = findings(
        world_with(contradictions=World.contradictions)(), games=1, steps=4, only=("drift",)
    )["drift"]
    assert found.status is Status.SKIPPED
    assert "no method `contradictions`" in found.detail


def test_what_breaks_a_manual_is_told_once():
    found = findings(manual_with("environment:", "environment: [")(), games=1, steps=4)
    assert [name for name, finding in found.items() if finding.status is Status.FAILED] == [
        "manual"
    ]
    assert found["plans"].detail == "see manual"


def test_a_game_that_lists_no_commands_can_be_checked_by_what_works():
    found = findings(game_with(admissible=lambda self: ())(), games=4)
    assert {finding.status for finding in found.values()} == {Status.OK}
    strict = manual_with("[exists(host), not at(host)]", "[exists(host), at(host)]")
    opened = {"open": game_with(admissible=lambda self: ()).open}
    assert "connect" in failures(type("Strict", (strict,), opened)(), games=6)["schemas"]


def test_predicates_that_the_belief_never_answers_are_named():
    def blind(known, atom):
        return Truth.UNKNOWN if atom.predicate == "signed" else BELIEF.truth(known, atom)

    found = findings(belief_with(truth=blind)(), only=("facts",))["facts"].detail
    assert found.endswith("never known on these walks: signed (needed by sign)")


def test_what_a_game_lists_but_refuses_is_not_held_against_the_manual():
    def generous(self):
        return tuple(sorted({*self._possible(), "sign ghost 1 with signer 1"}))

    found = findings(
        game_with(admissible=generous)(), games=2, steps=12, only=("schemas", "refusals")
    )
    assert {finding.status for finding in found.values()} == {Status.OK}


class AskingGame(game.ToolboxGame):
    """Asks which host is meant by `connect to server`, and forgets the question when something
    else is said.
    """

    asking = False

    def step(self, command):
        asked, self.asking = self.asking, not self.asking and command.startswith("connect to s")
        if self.asking:
            return Outcome("Command failed. Which one? 0: server 1, 9: server 2")
        named = {"0": "connect to server 1", "9": "connect to server 2"} if asked else {}
        return super().step(named.get(command, command))

    def admissible(self):
        return ("0", "9") if self.asking else super().admissible()


def test_a_question_may_change_what_is_possible_and_a_refusal_may_not():
    class Silent(AskingGame):
        def step(self, command):
            said = super().step(command)
            return replace(said, observation=said.observation.partition(" Which")[0])

    for kind, fails in ((AskingGame, False), (Silent, True)):
        asking = world_with(
            open=lambda self, task, setting, kind=kind: kind(int(task.source["number"])),
            infeasible=lambda self, observation: observation.startswith("Command failed."),
        )
        assert bool(failures(asking(), only=("refusals",))) == fails


def test_a_game_that_words_its_list_by_chance_is_not_blamed_for_it():
    ticks = count()

    def listed(self):
        chance = {f"connect to desk 1 {next(ticks)}"} if self.at != "desk 1" else set()
        return tuple(sorted({*self._possible(), *chance}))

    assert not failures(game_with(admissible=listed)(), games=4, only=("refusals",))


WAY = """\
processes:
  carry:
    command: connect to <host>
    needs: ["linked(host, rack)"]
    effects: ["at(host)"]

environment:"""
"""A process with a variable that nothing names, and a need that no text tells."""


def test_a_process_variable_without_names_and_a_need_that_is_never_known_are_named():
    linked = "linked: {args: [host, rack]}"
    broken = manual_with("predicates:\n", f"predicates:\n  {linked}\n")()
    text = broken.manual()[0][1].replace("environment:", WAY, 1)
    broken.manual = lambda: (("toolbox/manual.yaml", text),)
    found = findings(broken, games=2, steps=8, only=("facts", "plans"))
    assert "never known on these walks: linked (needed by carry)" in found["facts"].detail
    assert found["plans"].detail.endswith(
        "never named on these walks, so no plan can use them: <rack> of carry"
    )


def test_a_game_that_the_planner_does_not_win_says_which_need_cannot_be_met():
    class Nameless(Toolbox):
        def start(self, goal):
            return type("Blind", (BELIEF,), {"names": property(lambda known: {})})()

    found = failures(Nameless(), games=2, steps=6, only=("planner",))["planner"]
    assert "at its end: report ? is on archive ? ← " in found
    assert found.endswith("archive ? is in this network: it is not so, and no action changes that")
