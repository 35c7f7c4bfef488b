"""One game on TextWorld's own logic.

Its texts are printed as Inform 7 would, so that nothing needs compiling.
"""

from __future__ import annotations

import re
from typing import Any

from rpms.worlds.base import Outcome

from .games import make

_PART = re.compile(r"\[if ([^]]+)\](.*?)\[end if\]", re.DOTALL)
_BRANCH = re.compile(r"\[(?:else if ([^]]+)|otherwise)\]")
_LIST = re.compile(r"\[(is-are )?(?:a )?list of things (?:in|on) the (\w+)\]")


class TextWorldGame:
    """A game, its state and its texts."""

    def __init__(self, kind: str, seed: int) -> None:
        self.game = make(kind, seed)
        self.verbs = {command.split()[0] for command in self.game.kb.inform7_commands.values()}
        self.reset()

    def reset(self) -> Outcome:
        from textworld.generator.game import GameProgression  # noqa: PLC0415
        from textworld.generator.inform7 import Inform7Game  # noqa: PLC0415

        self.progress = GameProgression(self.game, track_quests=True)
        self.inform = Inform7Game(self.game)
        return Outcome(f"{self.game.objective}\n\n{self.look()}")

    def step(self, command: str) -> Outcome:
        action = self.possible().get(command.casefold())
        if action is None:
            return self._outcome(self.refusal(command.casefold()))
        revealed = self.listed(action.variables[-1].name) if action.name == "open/c" else ""
        origin = next((each for each in action.variables if each.type in "cs"), None)
        self.progress.update(action)
        return self._outcome(self.answer(action, command.casefold(), revealed, origin))

    def _outcome(self, text: str) -> Outcome:
        won, lost = self.progress.completed, self.progress.failed
        ends = ("\n\n*** The End ***" if won else "") + ("\n\n*** You lost! ***" if lost else "")
        return Outcome(text + ends, float(won), won=won, done=won or lost)

    def admissible(self) -> tuple[str, ...]:
        return tuple(sorted(self.possible()))

    def close(self) -> None:
        """Nothing is held."""

    def possible(self) -> dict[str, Any]:
        """Every command that TextWorld would take now, in small letters, with its action."""
        actions = self.progress.valid_actions
        return {
            text.casefold(): action
            for text, action in zip(self._commands(actions), actions, strict=True)
        }

    def _commands(self, actions: Any) -> list[str]:
        return list(self.inform.gen_commands_from_actions(actions))

    # Texts.

    def name(self, variable: Any) -> str:
        """Name of a thing."""
        return str(self.game.infos[getattr(variable, "name", variable)].name)

    def held_by(self, predicate: str, holder: str) -> list[str]:
        """Names of what is in or on something."""
        return sorted(
            self.name(fact.arguments[0])
            for fact in self.facts_of(predicate)
            if fact.arguments[1].name == holder
        )

    def listed(self, holder: str) -> str:
        """`a key and a spork`; nothing where there is nothing."""
        return _sentence(self.held_by("in", holder) + self.held_by("on", holder))

    def state_of(self, variable: str) -> str:
        """open, closed or locked."""
        states = {
            fact.name for fact in self.progress.state.facts if fact.arguments[0].name == variable
        }
        return next((state for state in ("open", "closed", "locked") if state in states), "")

    @property
    def room(self) -> Any:
        """The player's room."""
        return next(
            fact.arguments[1] for fact in self.facts_of("at") if fact.arguments[0].name == "P"
        )

    def look(self) -> str:
        """The room as the generator describes it, and what lies on the floor."""
        room = self.room.name
        lying = [
            fact.arguments[0] for fact in self.facts_of("at") if fact.arguments[1].name == room
        ]
        floor = sorted(
            self.name(each) for each in lying if each.name != "P" and each.type not in "cs"
        )
        below = f"\n\nThere is {_sentence(floor)} on the floor." if floor else ""
        return f"-= {self.name(room).title()} =-\n{self.filled(self.game.infos[room].desc)}{below}"

    def filled(self, description: str, subject: str = "") -> str:
        """A description with its conditions decided and its lists written out."""

        def branch(match: re.Match[str]) -> str:
            pieces = _BRANCH.split(match[2])
            conditions = [match[1], *pieces[1::2]]
            texts = pieces[0::2]
            return next(
                (
                    text
                    for when, text in zip(conditions, texts, strict=True)
                    if self.holds(when, subject)
                ),
                "",
            )

        text = _PART.sub(branch, description)
        return _LIST.sub(lambda match: ("is " if match[1] else "") + self.listed(match[2]), text)

    def holds(self, condition: str | None, subject: str) -> bool:
        """Decide a condition such as `c_0 is open and there is something in the c_0`; None
        stands for `otherwise`.
        """
        if condition is None:
            return True
        for part in condition.split(" and "):
            names = [word for word in part.split() if word in self.game.infos] or [subject]
            if "something" in part or "nothing" in part:
                holds = bool(self.listed(names[0])) is ("something" in part)
            else:
                state, wanted = self.state_of(names[0]), part.split()[-1]
                holds = state == wanted or (wanted == "closed" and state == "locked")
            if not holds:
                return False
        return True

    def answer(self, action: Any, command: str, revealed: str, origin: Any) -> str:
        """The text that follows an action."""
        verb, thing = action.name.partition("/")[0], command.partition(" ")[2]
        if verb in ("go", "look"):
            return self.look()
        if verb == "inventory":
            held = self.listed("I")
            return f"You are carrying: {held}." if held else "You are carrying nothing."
        if verb == "examine":
            what = next(
                each.name
                for each in action.variables
                if str(self.game.infos[each.name].name).casefold() == thing
            )
            return self.filled(
                self.game.infos[what].desc or f"You see nothing special about the {thing}.", what
            )
        names = [part.removeprefix("the ") for part in re.split(r" (?:from|into|on|with) ", thing)]
        texts = {
            "take": f"You take the {names[0]} from the {names[-1]}.",
            "drop": f"You drop the {thing} on the ground.",
            "put": f"You put the {names[0]} on the {names[-1]}.",
            "insert": f"You put the {names[0]} into the {names[-1]}.",
            "open": f"You open the {thing}, revealing {revealed}."
            if revealed
            else f"You open the {thing}.",
            "eat": f"You eat the {thing}. Not bad.",
        }
        if verb == "take" and origin is None:
            return f"You pick up the {thing} from the ground."
        return texts.get(verb, f"You {verb} the {names[0]}.")

    def refusal(self, command: str) -> str:
        """The reason why TextWorld does not take a command, as Inform 7 words it."""
        verb, _, rest = command.partition(" ")
        thing, _, key = rest.partition(" with ")
        known = {
            self.name(name).casefold(): name
            for name in self.game.infos
            if self.game.infos[name].name
        }
        if verb == "go":
            doors = [
                fact.arguments[1]
                for fact in self.facts_of(f"{rest}_of/d")
                if fact.arguments[2] == self.room
            ]
            return (
                f"You have to open the {self.name(doors[0])} first."
                if doors
                else "You can't go that way."
            )
        if verb not in self.verbs:
            return "That's not a verb I recognise."
        if thing not in known or not self.near(known[thing]):
            return "You can't see any such thing."
        state = self.state_of(known[thing])
        if key and verb in ("unlock", "lock"):
            held = key in (name.casefold() for name in self.held_by("in", "I"))
            fitting = {("lock", "closed"), ("unlock", "locked")}
            told = (
                "That doesn't seem to fit the lock."
                if (verb, state) in fitting
                else f"It's {verb}ed at the moment."
            )
            told = (
                f"First you would have to close the {thing}."
                if (verb, state) == ("lock", "open")
                else told
            )
            return told if held else f"You need to take the {key} first."
        if verb == "open" and state == "locked":
            keys = [
                fact.arguments[0]
                for fact in self.facts_of("match")
                if fact.arguments[1].name == known[thing]
            ]
            needed = f"You have to unlock the {self.name(known[thing])} with the {{}} first."
            return (
                needed.format(self.name(keys[0]))
                if keys
                else f"The {self.name(known[thing])} is welded shut."
            )
        return "That's already open." if verb == "open" and state else "You can't do that."

    def facts_of(self, predicate: str) -> list[Any]:
        """TextWorld's facts of one predicate."""
        return [fact for fact in self.progress.state.facts if fact.name == predicate]

    def near(self, variable: str) -> bool:
        """True for furniture of this room and doors that lead out of it."""
        here = {fact for fact in self.progress.state.facts if self.room in fact.arguments}
        return any(variable in (each.name for each in fact.arguments) for fact in here)

    def facts(self) -> list[str]:
        """All that is so of what the belief may know for certain, as the manual writes it: to
        measure its mistakes.
        """
        told = []
        for fact in self.progress.state.facts:
            names = [
                self.name(each).casefold() if each.name not in ("P", "I") else each.name
                for each in fact.arguments
            ]
            match fact.name, names:
                case "at", ["P", room]:
                    told.append(f"at({room})")
                case "at", [thing, _] if fact.arguments[0].type not in "cs":
                    told.append(f"floor({thing})")
                case "in", [thing, "I"]:
                    told.append(f"holding({thing})")
                case "in" | "on", [thing, place]:
                    told.append(f"in({thing}, {place})")
                case "closed", [place]:
                    told.append(f"closed({place})")
                case "locked", [place]:
                    told += [f"closed({place})", f"locked({place})"]
        return told


def _sentence(names: list[str]) -> str:
    """Names in one phrase: `a key, a spork and an apple`."""
    named = [f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}" for name in names]
    return " and ".join([", ".join(named[:-1]), named[-1]] if named[1:] else named)
