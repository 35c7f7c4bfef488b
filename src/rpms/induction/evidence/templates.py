"""Commands taken apart: known names are taken out of them, and what is left is the action's way
of being written.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from rpms.induction.thresholds import LIMITS
from rpms.logic.actions import PARAMETER, ActionSchema, fixed_words, names_for
from rpms.logic.belief import Belief
from rpms.logic.facts import kind_of

SLOT = "<>"
_PIECE = re.compile(r"""\s+|[(),="']|[^\s(),="']+""")
"""Words, and what stands between them in sentences and in calls of tools."""
_WORD = re.compile("[a-z]+")
_NUMBER = re.compile(r"\d")


def words_in(text: str) -> list[str]:
    """The words of a template, a predicate or a goal, in lower case as these are."""
    return _WORD.findall(text)


def verb_of(command: str) -> str:
    """The first word of a command, which says what is done, whatever names follow."""
    return command.partition(" ")[0]


@lru_cache(maxsize=4_096)
def pattern_of(template: str) -> re.Pattern[str]:
    """Commands of a template with any names in its slots, known ones or not; a group each."""
    return re.compile("(.+)".join(map(re.escape, template.split(SLOT))))


def beginning_of(template: str) -> str:
    """The words of a template before its first slot."""
    return template.partition(SLOT)[0]


class ReadCommand(NamedTuple):
    """A command as an instance of a template: `heat <> with <>` and the names in its slots."""

    template: str
    names: tuple[str, ...]


class Signature(NamedTuple):
    """A way to write a command that the world itself declares."""

    template: str
    parameters: tuple[str, ...]
    pattern: re.Pattern[str]


def signature_of(syntax: str) -> Signature:
    """Read `take <thing> from <room>`."""
    pattern = PARAMETER.sub(r"(\\S.*?)", re.escape(syntax))
    template = PARAMETER.sub(SLOT, syntax)
    return Signature(template, tuple(PARAMETER.findall(syntax)), re.compile(pattern))


def template_of(schema: ActionSchema) -> str:
    """The template of a schema's commands."""
    return PARAMETER.sub(SLOT, schema.syntax[0])


class Names:
    """Every name that was seen so far in any episode, with the roles that it was known to have."""

    def __init__(self) -> None:
        self.signatures: list[Signature] = []
        """Commands that the world declares, the most specific first."""
        self.roles: dict[str, set[str]] = {}
        self.order: dict[str, int] = {}
        """Roles in the order in which they were first seen, the narrowest first."""
        self.episodes = 0
        self.spread: Counter[str] = Counter()  # In how many episodes each name was known
        self.in_hand: dict[str, None] = {}  # Names of what was in hand whenever some action worked
        self.kinds: dict[str, None] = {}
        self._unnumbered: list[str] = []
        self._widespread: tuple[str, ...] = ()
        self._few: dict[str, tuple[str, ...]] = {}  # The names of roles that have only few in all
        self._known: dict[str, set[str]] = {}  # By role, the names that were known to have it
        self._readings: dict[str, ReadCommand] = {}  # Of commands, until a new name comes
        self._forms: dict[str, re.Pattern[str]] = {}
        """Templates by which commands about nothing known are read, with their patterns."""

    def declare(self, syntaxes: Sequence[str]) -> None:
        """Read commands as the world says that they are written."""
        specific_first = sorted(syntaxes, key=fixed_words, reverse=True)
        self.signatures = [signature_of(syntax) for syntax in specific_first]

    def learn(self, names: Mapping[str, Sequence[str]]) -> None:
        """Take over what a belief knows to be there."""
        for role in sorted(names, key=lambda role: len(names[role])):
            self.order.setdefault(role, len(self.order))
            known = self._known.setdefault(role, set())
            if known.issuperset(names[role]):
                continue
            for name in names[role]:
                if name not in self.roles:
                    self._add(name)
                self.roles[name].add(role)
                known.add(name)

    def breadth(self, role: str) -> tuple[int, int]:
        """The number of names in a role, then the order in which roles were first seen."""
        return len(self._known[role]), self.order[role]

    def _add(self, name: str) -> None:
        """Take in a name that was never seen before."""
        self.roles[name] = set()
        self.kinds[kind_of(name)] = None
        if not _NUMBER.search(name):
            self._unnumbered.append(name)
        self._readings.clear()

    def begin(self) -> None:
        """Another episode begins. Now and then it is settled anew which names are fixed."""
        self.episodes += 1
        is_power_of_two = self.episodes & (self.episodes - 1) == 0
        if self.episodes >= LIMITS.settled_names and is_power_of_two:
            self._settle_fixed_names()

    def _settle_fixed_names(self) -> None:
        """Find the names that are known in most episodes, and the roles that have few names."""
        most_spread_first = sorted(self._unnumbered, key=self.spread.__getitem__, reverse=True)
        least = LIMITS.widespread * self.episodes
        widespread = []
        for name in most_spread_first[: LIMITS.most_widespread]:
            if self.spread[name] >= least:
                widespread.append(name)
        self._widespread = tuple(widespread)
        sizes: Counter[str] = Counter()
        for roles in self.roles.values():
            sizes.update(roles)
        self._few = {}
        for role in self.order:
            if sizes[role] <= LIMITS.few_names:
                self._few[role] = self._unnumbered_in(role)

    def _unnumbered_in(self, role: str) -> tuple[str, ...]:
        return tuple(name for name in self._unnumbered if role in self.roles[name])

    def few(self, role: str) -> tuple[str, ...]:
        """The names of a role that has only few in all; or its constants, where the world
        declares its commands.
        """
        return self._unnumbered_in(role) if self.signatures else self._few.get(role, ())

    @property
    def constants(self) -> tuple[str, ...]:
        """Names that stand for one thing in every episode: those without a number, as far as
        they are widespread.
        """
        if not self.many:
            return tuple(self._unnumbered)
        # a thing hidden in most episodes may still matter if it was in hand
        return tuple(dict.fromkeys((*self._widespread, *self.in_hand)))

    @property
    def many(self) -> bool:
        """True if there are too many names without a number for all to be fixed ones."""
        return len(self._unnumbered) > LIMITS.fixed_names

    def add_form(self, template: str) -> bool:
        """Read commands about nothing known as a template says from now on: where `focus on <>`
        is known, `focus on attic` is about something called attic. True if that is new.
        """
        if template in self._forms:
            return False
        self._forms[template] = pattern_of(template)
        self._readings.clear()
        return True

    @property
    def known(self) -> Mapping[str, Collection[str]]:
        """By role, all names that were ever known to have it."""
        return self._known

    def roles_of(self, name: str) -> set[str]:
        """The roles that a name was known to have; none where it is only known from commands."""
        return self.roles.get(name, set())

    def read(self, command: str) -> ReadCommand:
        """Take the names out of a command: as the world declares it, or all that are known."""
        if command not in self._readings:
            reading = self._declared(command) or self._taken_apart(command)
            if not reading.names:
                reading = self._by_form(command, reading)
            self._readings[command] = reading
        return self._readings[command]

    def _by_form(self, command: str, reading: ReadCommand) -> ReadCommand:
        """A command without known names, read by a form that fits."""
        for template, pattern in self._forms.items():
            match = pattern.fullmatch(command)
            if match is not None and template != command:
                return ReadCommand(template, match.groups())
        return reading

    def _declared(self, command: str) -> ReadCommand | None:
        for signature in self.signatures:
            match = signature.pattern.fullmatch(command)
            if match is not None:
                return ReadCommand(signature.template, match.groups())
        return None

    def _taken_apart(self, command: str) -> ReadCommand:
        """Take out the known names, the longest first; the first word is the verb and stays."""
        pieces = _PIECE.findall(" ".join(command.split()))
        template = pieces[:1]
        names = []
        start = 1
        while start < len(pieces):
            end = self._end_of_name(pieces, start)
            if end > start:
                template.append(SLOT)
                names.append("".join(pieces[start:end]))
                start = end
            else:
                template.append(pieces[start])
                start += 1
        return ReadCommand("".join(template), tuple(names))

    def _end_of_name(self, pieces: Sequence[str], start: int) -> int:
        """Find where the longest known name that starts at a piece ends; `start` if none does."""
        longest = min(len(pieces), start + 2 * LIMITS.longest_name - 1)
        for end in range(longest, start, -1):
            if "".join(pieces[start:end]) in self.roles:
                return end
        return start


def fill(template: str, names: Sequence[str]) -> str:
    """A command: a template with names in its slots."""
    pieces = zip(template.split(SLOT), (*names, ""), strict=True)
    return "".join(piece + name for piece, name in pieces)


def knows(belief: Belief, name: str) -> bool:
    """True if a belief lists a name, in any role."""
    return any(name in names for names in belief.names.values())


def names_in(belief: Belief, roles: Collection[str]) -> Sequence[str]:
    """Known names in any of some roles, or for any of some parameters, each once."""
    pools = [names_for(role, belief.names) for role in sorted(roles)]
    if len(pools) == 1:
        return pools[0]
    return list(dict.fromkeys(chain.from_iterable(pools)))
