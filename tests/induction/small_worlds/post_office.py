"""A post office: what a letter weighs and where it goes has to be found out before it is posted."""

import re
from collections.abc import Sequence
from random import Random

from rpms.logic.belief import Belief, FactBelief
from rpms.logic.goal import UNKNOWN_GOAL, Goal
from rpms.paper.wording import Wording
from rpms.worlds.base import Game, Outcome, Setting, Task, World

REFUSED = "The clerk shakes his head."

_MANUAL = """\
world: post_office
predicates:
  heavy: {args: [letter], yes: <letter> is heavy, no: <letter> is light}
  foreign: {args: [letter], yes: <letter> goes abroad, no: <letter> stays in the country}
  sealed: {args: [letter], yes: <letter> is sealed, no: <letter> is not sealed}
  small: {args: [letter], yes: <letter> bears a small stamp, no: <letter> bears no small stamp}
  large: {args: [letter], yes: <letter> bears a large stamp, no: <letter> bears no large stamp}
  posted: {args: [letter], yes: <letter> is posted, no: <letter> is not posted}
goals:
  post:
    over: {letter: object}
    holds: [posted(letter)]
  seal:
    over: {letter: object}
    holds: [sealed(letter)]
environment:
  weigh:
    syntax: weigh <letter>
    preconditions: [not posted(letter)]
    observes: [heavy(letter)]
  read:
    syntax: read <letter>
    preconditions: [not posted(letter)]
    observes: [foreign(letter)]
  seal:
    syntax: seal <letter>
    preconditions: [not sealed(letter), not posted(letter)]
    effects: [sealed(letter)]
  stamp_small:
    syntax: put small stamp on <letter>
    preconditions: [not small(letter), not posted(letter)]
    effects: [small(letter)]
  stamp_large:
    syntax: put large stamp on <letter>
    preconditions: [not large(letter), not posted(letter)]
    effects: [large(letter)]
  post_home:
    syntax: post <letter> in home box
    preconditions: [sealed(letter), not foreign(letter), heavy(letter) or small(letter), not heavy(letter) or large(letter), not posted(letter)]
    effects: [posted(letter)]
  post_abroad:
    syntax: post <letter> in abroad box
    preconditions: [sealed(letter), foreign(letter), heavy(letter) or small(letter), not heavy(letter) or large(letter), not posted(letter)]
    effects: [posted(letter)]
"""


class PostOfficeGame:
    """One episode with three letters; its number decides all."""

    def __init__(self, number: int) -> None:
        self.number = number

    def reset(self) -> Outcome:
        dice = Random(self.number)
        self.letters = ["red letter", "blue letter", "green letter"]
        self.true: dict[str, set[str]] = {}
        for letter in self.letters:
            shares = {"heavy": 0.5, "foreign": 0.5, "sealed": 0.3}
            self.true[letter] = {name for name, share in shares.items() if dice.random() < share}
        self.duty = ("post", "post", "seal")[self.number % 3]
        self.wish = dice.choice(self.letters)
        if self.duty == "seal":
            self.true[self.wish].discard("sealed")
        sealed = [letter for letter in self.letters if "sealed" in self.true[letter]]
        return Outcome(
            f"On the counter: {', '.join(self.letters)}. Sealed: {', '.join(sealed) or 'none'}.\n"
            f"Your task is to: {self.duty} {self.wish}."
        )

    def step(self, command: str) -> Outcome:
        if command not in self.admissible():
            return Outcome(REFUSED)
        letter = next(each for each in self.letters if each in command)
        true = self.true[letter]
        said = f"You {command}."
        match command.split():
            case "weigh", *_:
                said = f"{letter} is {'heavy' if 'heavy' in true else 'light'}."
            case "read", *_:
                said = f"{letter} goes {'abroad' if 'foreign' in true else 'home'}."
            case "seal", *_:
                true.add("sealed")
            case "put", size, *_:
                true.add(size)
            case "post", *_:
                true.add("posted")
        won = {"post": "posted", "seal": "sealed"}[self.duty] in self.true[self.wish]
        return Outcome(said, float(won), won=won, done=won)

    def admissible(self) -> tuple[str, ...]:
        commands = []
        for letter in self.letters:
            true = self.true[letter]
            if "posted" in true:
                continue
            commands += [f"weigh {letter}", f"read {letter}"]
            commands += [
                f"put {size} stamp on {letter}" for size in ("small", "large") if size not in true
            ]
            if "sealed" not in true:
                commands.append(f"seal {letter}")
            elif ("large" if "heavy" in true else "small") in true:
                box = "abroad" if "foreign" in true else "home"
                commands.append(f"post {letter} in {box} box")
        return tuple(sorted(commands))

    def close(self) -> None:
        """Nothing is held."""


_TASK = re.compile(r"Your task is to: ((post|seal) ([a-z]+ letter))\.")
_COUNTER = re.compile(r"On the counter: ([a-z, ]+)\. Sealed: ([a-z, ]+)\.")
_WEIGHT = re.compile(r"([a-z]+ letter) is (heavy|light)\.")
_WAY = re.compile(r"([a-z]+ letter) goes (abroad|home)\.")
_SEALED = re.compile(r"You seal ([a-z]+ letter)\.")
_STAMPED = re.compile(r"You put (small|large) stamp on ([a-z]+ letter)\.")
_POSTED = re.compile(r"You post ([a-z]+ letter) in")


class PostOfficeWorld(World):
    """The World of a post office."""

    name = "post_office"
    splits: tuple[str, ...] = ("train", "test")
    wording = Wording(instruction="Serve the customers.", example="No example.")
    step_budget = 30

    def manual(self) -> tuple[tuple[str, str], ...]:
        return (("post_office/manual.yaml", _MANUAL),)

    def tasks(self, split: str, _setting: Setting) -> Sequence[Task]:
        numbers = range(60) if split == "train" else range(1000, 1012)
        return [Task(f"{split}-{each}", split, "task", {"number": str(each)}) for each in numbers]

    def open(self, task: Task, _setting: Setting) -> Game:
        return PostOfficeGame(int(task.source["number"]))

    def goal(self, opening: str) -> Goal:
        match = _TASK.search(opening)
        if match is None:
            return Goal(UNKNOWN_GOAL, text=opening)
        return Goal(match[2], match[3], text=match[1])

    def start(self, _goal: Goal) -> Belief:
        return FactBelief()

    def update(self, belief: FactBelief, _action: str | None, observation: str) -> Belief:
        if match := _COUNTER.match(observation):
            letters = match[1].split(", ")
            sealed = [letter for letter in match[2].split(", ") if letter != "none"]
            facts = ["not sealed(_)", "not small(_)", "not large(_)", "not posted(_)"]
            return belief.learn(*facts, *(f"sealed({each})" for each in sealed), letter=letters)
        if match := _WEIGHT.match(observation):
            return belief.learn(f"{'' if match[2] == 'heavy' else 'not '}heavy({match[1]})")
        if match := _WAY.match(observation):
            return belief.learn(f"{'' if match[2] == 'abroad' else 'not '}foreign({match[1]})")
        if match := _SEALED.match(observation):
            return belief.learn(f"sealed({match[1]})")
        if match := _STAMPED.match(observation):
            return belief.learn(f"{match[1]}({match[2]})")
        if match := _POSTED.match(observation):
            return belief.learn(f"posted({match[1]})")
        return belief

    def infeasible(self, observation: str) -> bool:
        return observation == REFUSED


world = PostOfficeWorld()
