"""Agreement of the manual's preconditions with ScienceWorld, action by action.

    python benchmarks/scienceworld_rules.py [--games 60] [--steps 60] [--seed 0]

Walks through train variations: some of the steps follow the planner, some are taken from the
simulator's own list of valid actions, and some are commands made of every template and the names
that the text has shown so far, what is here as often as all else, and of all rooms of the house,
shown or not. Each command is judged by the guard before it is executed, and what the simulator then
says decides: *allowed* is what it did, *refused* what it answered with a refusal or did not know. A
question which of several was meant is neither. Only preconditions are asked about: what a rule
forbids can be done, and nothing here is blocked for it.

The simulator's list alone would not do: it leaves out names that its parser takes, and it names
what is behind closed lids, which its parser does not take. So at some states the guard is held
against the whole list, and some of what it would block is executed: what the simulator then does
counts as blocked. What it refuses of these is not in the table, as they were chosen for being
blocked.

Not every refusal can be foreseen from the text. A refusal counts as *not revealed* for one of the
reasons in `HIDDEN`, whether the guard recognised it or not; each is checked against what was shown
until then, and what is listed now.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Iterator
from itertools import cycle, islice

from rpms.logic.actions import PARAMETER
from rpms.logic.belief import Situation
from rpms.logic.rules import ActiveRules
from rpms.models.policy import follow_plan
from rpms.paper.compose import compose, extended
from rpms.paper.condition import FULL
from rpms.paper.decide import decide
from rpms.paper.recall import EpisodicMemory
from rpms.planning.remedies import review
from rpms.play.sources import knowledge_of
from rpms.worlds.scienceworld import world
from rpms.worlds.scienceworld.belief import ScienceBelief
from rpms.worlds.scienceworld.observations import Thing, room_sight
from rpms.worlds.scienceworld.observations import carried as inventory
from rpms.worlds.scienceworld.reach import ROOMS
from rpms.worlds.scienceworld.tasks import KINDS
from rpms.worlds.scienceworld.tree import read_phrase
from rpms.worlds.scienceworld.tree import walk as every
from rpms.worlds.scienceworld.world import ScienceWorldGame

LISTED_EVERY = 12
"""At every so many steps the whole list of valid actions is asked for, which takes as long as
twenty steps."""
NEVER = ("reset_task", "choose", "task")
"""Left out of made-up commands: the first undoes the walk, the others always work or answer
questions. A focus is rare among them, as most end an episode."""

HIDDEN = {
    "name": "all that was named is listed right now by that very name, and the simulator does not know it",
    "change": "what was named was shown here, and is not listed any more",
    "bees": "bees come and go",
    "inventory": "what was named is not shown here, and what is carried was never looked at",
    "lid": "what was named is not shown here, and an open lid was never looked under",
    "contents": "what is in the vessel was never shown",
    "reaction": "whether two things react is not told before they are mixed",
}
"""Why the text does not reveal that a command will be refused."""
REFUSALS = ("looked", "revealed", "unlooked")
"""In a room that was looked at; of these what the text reveals; and in one that was not, of
which little is known."""
_UNKNOWN = "No known action matches"
_ABOUT_CONTENTS = ("does not contain", "That container is empty", "There is only one thing")
Tally = Counter[tuple[str, str]]
"""(action, what) → how many."""


class Walk:
    """One episode: a belief and a simulator kept in step, the guard asked before every command."""

    def __init__(self, game: ScienceWorldGame, dice: random.Random, tally: Tally) -> None:
        self.game, self.dice, self.tally = game, dice, tally
        self.outcome = game.reset()
        self.goal = world.goal(self.outcome.observation)
        self.mind = extended(compose(FULL, knowledge_of(world), EpisodicMemory(world=world.name)))
        self.rules: ActiveRules = self.mind.manual.active(self.goal.type, self.goal.object)
        self.belief = world.update(world.start(self.goal), None, self.outcome.observation)
        self.done = False

    def blocks(self, command: str) -> bool:
        """True if the guard would refuse a command."""
        return review(command, self.rules, Situation(self.belief, self.goal)) is not None

    def step(self, command: str, *, chosen: bool = False) -> None:
        """Judge a command, execute it, count.

        Where it was chosen for being blocked, a refusal says nothing.
        """
        action, blocked, before = _action(command, self.rules), self.blocks(command), self.belief
        assert isinstance(before, ScienceBelief)
        listed = self.listed()
        self.outcome = self.game.step(command)
        answer = self.outcome.observation
        self.belief = world.update(self.belief, command, answer)
        if action == "choose" or answer.startswith("Ambiguous request"):
            self.tally["", "questions"] += 1
        elif world.infeasible(answer) and chosen:
            self.tally["", "listed and refused"] += 1
        elif world.infeasible(answer):
            why = self.hidden(command, before, listed, answer)
            looked = before.room in before.looked
            for kind in ("looked", *(() if why else ("revealed",))) if looked else ("unlooked",):
                self.tally[action, f"refused {kind}"] += 1
                self.tally[action, f"recognised {kind}"] += blocked
            self.tally["", f"why {why}"] += looked
        else:
            self.tally[action, "allowed"] += 1
            self.tally[action, "blocked"] += blocked
            if blocked:
                refusal = review(command, self.rules, Situation(before, self.goal))
                print(
                    f"BLOCKED {self.game.task.id}: {command!r}: {refusal}; the simulator: {answer[:100]!r}"
                )
        self.tally["", "contradictions"] += len(world.contradictions(self.belief, self.game))
        self.done = self.outcome.done

    def listed(self) -> frozenset[str]:
        """The names of all that the simulator's free listings show right now."""
        sight, carried = room_sight(self.game.look()), inventory(self.game.inventory())
        here = (*(sight.things if sight else ()), *(carried or ()))
        return frozenset(seen.name.casefold() for seen in every(here))

    def hidden(
        self, command: str, before: ScienceBelief, listed: frozenset[str], answer: str
    ) -> str:
        """Why the text did not reveal that a command would be refused; empty if it did."""
        instance = self.rules.instance(command)
        named = [
            read_phrase(words).head for words in (instance.binding.values() if instance else ())
        ]
        shown = [seen.thing for seen in before.visible()]
        absent = [
            name for name in named if not any(thing.name.casefold() == name for thing in shown)
        ]
        unknown = answer.startswith(_UNKNOWN)
        vessels = [thing for thing in shown if thing.name.casefold() in named]
        reasons = {
            "name": unknown and bool(named) and listed.issuperset(named),
            "change": unknown and any(name not in absent and name not in listed for name in named),
            "bees": unknown and any(Thing(name).restless for name in absent),
            "inventory": unknown and bool(absent) and not before.inventory_known,
            "lid": unknown
            and bool(absent)
            and any("open" in t.flags and t.contents is None for t in shown),
            "contents": any(said in answer for said in _ABOUT_CONTENTS)
            and any(t.contents is None for t in vessels),
            "reaction": answer.startswith("Mixing the contents"),
        }
        return next((why for why in HIDDEN if reasons[why]), "")

    def against_the_list(self) -> None:
        """Hold the guard against every action on the simulator's own list, and execute what it
        would block.
        """
        listed = self.game.admissible()
        self.tally["", "listed"] += len(listed)
        against = [command for command in listed if self.blocks(command)]
        self.tally["", "listed and blocked"] += len(against)
        self.dice.shuffle(against)
        one_of_each = {_action(command, self.rules): command for command in against}
        for command in one_of_each.values():
            if self.blocks(command) and not self.done:
                self.step(command, chosen=True)
                self.tally["", "listed and tried"] += 1

    def next_command(self) -> str:
        """The planner's, a valid one, or one made up."""
        chance = self.dice.random()
        if self.belief_menu:
            return "0"
        if chance < 0.25:
            decision = decide(
                self.mind, self.goal, self.belief, "look around", self.game.look(), ()
            )
            return world.command(follow_plan(decision)[1], self.belief).text
        if chance < 0.3:
            return self.dice.choice(self.game.admissible())
        return self.made_up()

    @property
    def belief_menu(self) -> bool:
        assert isinstance(self.belief, ScienceBelief)
        return bool(self.belief.menu)

    def made_up(self) -> str:
        """A command of any template, with names that were shown: what is here as often as all
        else.
        """
        assert isinstance(self.belief, ScienceBelief)
        schemas = [schema for schema in self.rules.environment if schema.name not in NEVER]
        schema = self.dice.choice(schemas)
        if schema.name == "focus_on":
            schema = self.dice.choice(schemas)
        syntax = self.dice.choice(schema.syntax)
        known = [seen.name for forest in self.belief.rooms.values() for seen in every(forest)]
        near = [seen.name for seen in self.belief.visible()] or known

        def name(parameter: str) -> str:
            if parameter == "place" and (
                syntax.startswith("go") or "door" in syntax or self.dice.random() < 0.1
            ):
                return self.way(otherwise=syntax.startswith("go"))
            return self.dice.choice(near if self.dice.random() < 0.5 else known)

        return PARAMETER.sub(lambda match: name(match[1]), syntax)

    def way(self, *, otherwise: bool) -> str:
        """A command's destination: a room that was shown or any of the house; `otherwise` by
        other names, too.
        """
        assert isinstance(self.belief, ScienceBelief)
        shown = sorted(self.belief.exits) or ["hallway"]
        room = self.dice.choice(shown if self.dice.random() < 0.5 else sorted(ROOMS))
        if not otherwise or self.dice.random() < 0.7:
            return room
        return self.dice.choice(
            (f"door to {room}", f"{room} door", room.split()[-1], "door", "room")
        )


def _action(command: str, rules: ActiveRules) -> str:
    instance = rules.instance(command)
    return instance.schema.name if instance else "no action"


def variations(number: int, dice: random.Random) -> Iterator[tuple[str, int]]:
    """So many train variations, all tasks in turn."""
    for task in islice(cycle(KINDS), number):
        yield task, dice.choice(KINDS[task].variations("train"))


def share(part: int, whole: int) -> str:
    """A share in words; a dash of nothing."""
    return f"{100 * part / whole:.1f}%" if whole else "-"


def table(tally: Tally) -> Iterator[str]:
    """The lines of a Markdown table."""
    columns = (
        "action",
        "allowed",
        "blocked",
        "refused",
        "recognised",
        "revealed by the text",
        "recognised",
    )
    yield f"| {' | '.join((*columns, 'refused in a room not looked at', 'recognised'))} |"
    yield f"| --- |{' ---: |' * 8}"
    actions = sorted({action for action, _ in tally if action})
    for action in (*actions, "all"):
        count = {
            what: sum(n for (a, w), n in tally.items() if a and w == what and action in (a, "all"))
            for what in (
                "allowed",
                "blocked",
                *(f"{w} {kind}" for w in ("refused", "recognised") for kind in REFUSALS),
            )
        }
        cells = [action if action == "all" else f"`{action.replace('_', ' ')}`"]
        cells += [f"{count['allowed']:,}", f"{count['blocked']:,}"]
        for kind in REFUSALS:
            refused = count[f"refused {kind}"]
            cells += [f"{refused:,}", share(count[f"recognised {kind}"], refused)]
        yield f"| {' | '.join(cells)} |"


def main() -> None:
    """Walk, count, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", type=int, default=60)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    dice, tally = random.Random(args.seed), Tally()
    for task, variation in variations(args.games, dice):
        with ScienceWorldGame(task, variation) as game:
            walk = Walk(game, dice, tally)
            for number in range(args.steps):
                if number % LISTED_EVERY == LISTED_EVERY - 1 and not walk.belief_menu:
                    walk.against_the_list()
                if walk.done:
                    break
                walk.step(walk.next_command())
                tally["", "steps"] += 1
    print("\n".join(table(tally)))
    print(
        f"\n{args.games} games, {tally['', 'steps']:,} steps, {tally['', 'questions']:,} questions which was meant, "
        f"{tally['', 'contradictions']} contradictions.\nOf {tally['', 'listed']:,} actions listed as valid the guard "
        f"would block {tally['', 'listed and blocked']:,}; {tally['', 'listed and tried']:,} of them were executed, "
        f"and {tally['', 'listed and refused']:,} refused.\nRefused and not revealed by the text:"
    )
    for why, words in HIDDEN.items():
        print(f"- {tally['', f'why {why}']:,}: {words}")


if __name__ == "__main__":
    main()
