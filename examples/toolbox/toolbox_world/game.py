"""The simulator: hosts, files and a clipboard.

It knows everything, and says `Command failed.` when it refuses.
"""

from __future__ import annotations

from collections.abc import Iterator

from rpms.logic.facts import kind_of
from rpms.worlds.base import Outcome, Task

HOSTS = ("archive 1", "depot 1", "depot 2", "desk 1", "server 1", "server 2", "signer 1")
LOCKABLE = ("archive", "depot")
"""The kinds of hosts that have a lock."""
FAILED = "Command failed."

TICKETS = (
    *(("deliver", kind, "archive") for kind in ("report", "backup", "config")),
    *(("deploy", kind, "server") for kind in ("config", "plugin", "config")),
)


def tasks(split: str) -> tuple[Task, ...]:
    """Twelve tasks to learn from and six to be judged by; each is made from its number alone."""
    numbers = range(12) if split == "train" else range(12, 18)
    return tuple(
        Task(
            f"{split}-{number:02}-{TICKETS[number % 6][0]}",
            split,
            TICKETS[number % 6][0],
            {"number": str(number)},
        )
        for number in numbers
    )


class ToolboxGame:
    """One ticket being worked off.

    Everything is a matter of its number: there is no chance in it.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.type, self.wanted, self.target = TICKETS[number % len(TICKETS)]
        self.reset()

    def reset(self) -> Outcome:
        number = self.number
        self.at = "desk 1"
        self.clipboard: str | None = None
        self.signed: set[str] = set()
        self.running = {"server 1", "server 2"}
        self.locked = {
            name
            for place, name in enumerate(HOSTS)
            if kind_of(name) in LOCKABLE and (number // 3 + place) % 2
        }
        self.files: dict[str, list[str]] = {name: [] for name in HOSTS}
        homes = ("depot 1", "depot 2", "desk 1")
        for place, kind in enumerate(("backup", "config", "plugin", "report")):
            self.files[homes[(number * (place + 1) // 3 + place) % 3]].append(
                f"{kind} {1 + (number // 3 + place) % 2}"
            )
        states = "signed " if self.type == "deploy" else ""
        ticket = f"{self.type} a {states}{self.wanted} to some {self.target}"
        return Outcome(f"{self._here()} Hosts: {', '.join(HOSTS)}.\nYour ticket: {ticket}.")

    def step(self, command: str) -> Outcome:
        said = self._do(command) or FAILED
        won = any(self._fits(host, file) for host, files in self.files.items() for file in files)
        return Outcome(said, float(won), won=won, done=won)

    def admissible(self) -> tuple[str, ...]:
        return tuple(sorted(self._possible()))

    def close(self) -> None:
        """Nothing is held."""

    def _fits(self, host: str, file: str) -> bool:
        right = kind_of(host) == self.target and kind_of(file) == self.wanted
        return right and (self.type == "deliver" or (file in self.signed and host in self.running))

    def _here(self) -> str:
        if self.at in self.locked:
            return f"You are connected to {self.at}. It is locked."
        state = (
            f" It is {'running' if self.at in self.running else 'stopped'}."
            if "server" in self.at
            else ""
        )
        return f"You are connected to {self.at}.{state} Files: {', '.join(self.files[self.at]) or 'none'}."

    def _possible(self) -> Iterator[str]:
        """Every command that would be obeyed now: the rules of the game, in one place."""
        here, held = self.at, self.clipboard
        yield from ("list", "clipboard")
        yield from (f"connect to {host}" for host in HOSTS if host != here)
        if here in self.locked:
            yield f"unlock {here}"
            return
        if "server" in here:
            yield f"stop {here}" if here in self.running else f"start {here}"
        if held is None:
            yield from (f"pull {file} from {here}" for file in self.files[here])
            return
        if "signer" in here and held not in self.signed:
            yield f"sign {held} with {here}"
        if here not in self.running:
            yield f"push {held} to {here}"

    def _do(self, command: str) -> str:
        """Obey a command; nothing if it is not possible."""
        if command not in self._possible():
            return ""
        verb, _, rest = command.partition(" ")
        file = rest.partition(" from ")[0]
        match verb:
            case "connect":
                self.at = rest.removeprefix("to ")
            case "clipboard":
                return f"Clipboard: {self.clipboard or 'empty'}."
            case "unlock":
                self.locked.remove(self.at)
            case "stop":
                self.running.remove(self.at)
            case "start":
                self.running.add(self.at)
            case "pull":
                self.files[self.at].remove(file)
                self.clipboard = file
                return f"You pull {file} from {self.at}."
            case "sign":
                self.signed.add(str(self.clipboard))
                return f"You sign {self.clipboard}."
            case "push":
                self.files[self.at].append(str(self.clipboard))
                pushed, self.clipboard = self.clipboard, None
                return f"You push {pushed} to {self.at}."
        return self._here()
