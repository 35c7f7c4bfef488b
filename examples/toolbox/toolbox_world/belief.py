"""The belief: what the texts have shown, and nothing beyond."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rpms.logic.belief import Belief, StateSignature
from rpms.logic.facts import kind_of

LOCKABLE = ("archive", "depot")


@dataclass(frozen=True)
class ToolboxBelief(Belief):
    """One moment's belief. What is in none of its fields is unknown."""

    hosts: tuple[str, ...] = ()
    location: str | None = None
    holding: tuple[str, ...] = ()
    locked: Mapping[str, bool] = field(default_factory=dict)
    running: Mapping[str, bool] = field(default_factory=dict)
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Files of each host that was seen unlocked: all of them."""
    signed: frozenset[str] = frozenset()

    @property
    def containers(self) -> Mapping[str, bool]:
        return {host: not locked for host, locked in self.locked.items()}

    @property
    def last_seen(self) -> Mapping[str, str]:
        return {file: host for host, files in self.files.items() for file in files}

    @property
    def names(self) -> Mapping[str, tuple[str, ...]]:
        return {"host": self.hosts, "file": (*self.last_seen, *self.holding)}

    def signature(self) -> StateSignature:
        location = None if self.location is None else (self.location,)
        opened = tuple(sorted(host for host, locked in self.locked.items() if not locked))
        return StateSignature.of(holding=self.holding, location=location, open=opened or None)

    def lines(self) -> tuple[str, ...]:
        return (
            f"Connected to: {self.location or 'unknown'}",
            f"Clipboard: {', '.join(self.holding) or 'empty'}",
            *(f"{host}: locked" for host, locked in self.locked.items() if locked),
            *(f"{host}: {'running' if on else 'stopped'}" for host, on in self.running.items()),
            *(f"{host}: {', '.join(files) or 'no files'}" for host, files in self.files.items()),
        )


def _locked(belief: ToolboxBelief, host: str) -> bool | None:
    return belief.locked.get(host) if kind_of(host) in LOCKABLE else False


def _running(belief: ToolboxBelief, host: str) -> bool | None:
    return belief.running.get(host) if kind_of(host) == "server" else False


def _on(belief: ToolboxBelief, file: str, host: str) -> bool | None:
    return file in belief.files[host] if host in belief.files else None


ToolboxBelief.answers = {
    "exists": (1, lambda belief, host: host in belief.hosts if belief.hosts else None),
    "at": (1, lambda belief, host: host == belief.location if belief.location else None),
    "holding": (1, lambda belief, file: file in belief.holding),
    "clipboard_empty": (0, lambda belief: not belief.holding),
    "locked": (1, _locked),
    "serves": (1, lambda _belief, host: kind_of(host) == "server"),
    "running": (1, _running),
    "on": (2, _on),
    "signs": (1, lambda _belief, host: kind_of(host) == "signer"),
    "signed": (1, lambda belief, file: file in belief.signed),
}
"""Predicate of the manual → number of arguments, and who answers: True, False, or None for
unknown."""

_HERE = re.compile(
    r"You are connected to ([a-z]+ \d+)\.( It is (locked|running|stopped)\.)?( Files: ([a-z0-9, ]+)\.)?"
)
_HOSTS = re.compile(r"Hosts: ([a-z0-9, ]+)\.")
_DEED = re.compile(r"You (pull|push|sign) ([a-z]+ \d+)(?: (?:from|to) ([a-z]+ \d+))?\.")


def update(belief: ToolboxBelief, _action: str | None, observation: str) -> ToolboxBelief:
    """f_UPD: take over what a text says.

    A text that says nothing known leaves the belief as it is.
    """
    here, deed = _HERE.match(observation), _DEED.fullmatch(observation)
    if here is not None:
        belief = _seen(belief, here)
    elif deed is not None:
        belief = _done(belief, deed[1], deed[2], deed[3])
    hosts = _HOSTS.search(observation)
    if hosts is not None and not belief.hosts:
        belief = replace(belief, hosts=tuple(hosts[1].split(", ")))
    return belief


def _seen(belief: ToolboxBelief, here: re.Match[str]) -> ToolboxBelief:
    host, state, files = here[1], here[3], here[5]
    locked, running, known = dict(belief.locked), dict(belief.running), dict(belief.files)
    if kind_of(host) in LOCKABLE:
        locked[host] = state == "locked"
    if state in ("running", "stopped"):
        running[host] = state == "running"
    if files is not None:
        known[host] = () if files == "none" else tuple(files.split(", "))
    return replace(belief, location=host, locked=locked, running=running, files=known)


def _done(belief: ToolboxBelief, verb: str, file: str, host: str | None) -> ToolboxBelief:
    if verb == "sign" or host is None:
        return replace(belief, signed=belief.signed | {file})
    there = [name for name in belief.files.get(host, ()) if name != file]
    if verb == "pull":
        return replace(belief, holding=(file,), files={**belief.files, host: tuple(there)})
    return replace(belief, holding=(), files={**belief.files, host: (*there, file)})
