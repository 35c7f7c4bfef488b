"""Past the paper: what a snippet would do from here on, the way to its place included."""

from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from rpms.logic.actions import names_for
from rpms.logic.facts import kind_of
from rpms.paper.memory import Stride, SuccessSnippet
from rpms.paper.verdict import Trail
from rpms.planning.experience.adapt import AdaptContext, which_steps
from rpms.planning.experience.atlas import Atlas, Where, strides_of, words_of
from rpms.planning.lift import names_of, renamed

_SEARCH, _EXPLORE, _AGAIN = 20.0, 40.0, 60.0
"""Price in steps of searching a known place, of searching elsewhere, and of repeating actions: each
is more than any way, so that feasible steps come first."""
PATIENCE = 3
"""Number of times a snippet is gone through before others are tried."""


_NAMED = 12
"""Things named where experience is divided between more."""


@dataclass(frozen=True, kw_only=True)
class Pathfinder(AdaptContext):
    """The present in a world whose places matter, from which snippets are followed."""

    where: Where
    atlas: Atlas

    def trail(self, snippet: SuccessSnippet) -> Trail | str:
        """The part of a snippet that is left to do, the way there included, or the reason not
        to follow it.
        """
        trail, own, goal = self._remaining(snippet), snippet.goal_signature, self.situation.goal
        if trail is None:
            return "nothing of it can be done from here"
        if (own.type, own.object) != (goal.type, goal.object) and not any(
            mentions(action, word) for action in snippet.actions for word in words_of(own)
        ):
            return "it is about things of another goal"
        things = self.atlas.ends(snippet) if trail.steps[0].number == len(snippet.actions) else ()
        if len(things) > 1:
            more = f" and {len(things) - _NAMED} more" if len(things) > _NAMED else ""
            return f"experience is divided between {', '.join(things[:_NAMED])}{more}"
        first = [step for step in trail.steps if step.number][:1]
        told = trail.saying(which_steps(first, len(snippet.actions)))
        return told._replace(note=told.note or "look again", followed=True)

    def _remaining(self, snippet: SuccessSnippet) -> Trail | None:
        """Remaining steps of a snippet; None if all is done or nothing can be."""
        used: set[str] = set()
        while True:
            strides = self._in_words_of_now(snippet, used)
            needed = self._needed(strides)
            undone = next(
                (place for place in needed if not self._is_done(strides, place, needed)), None
            )
            if undone is not None:
                lacking = used and not all(map(self._known, strides[undone].names))
                return None if lacking else self._leading_to(strides, undone, needed)
            trail = self._again([strides[place] for place in needed])
            numbered = {
                name for stride in strides for name in stride.names if kind_of(name) != name
            }
            if trail is not None or not numbered - used:
                return trail
            # these did not help: next, similar things. Adds at least one name, so this ends
            used |= numbered

    def _leading_to(
        self, strides: Sequence[Stride], place: int, needed: Sequence[int]
    ) -> Trail | None:
        stride = strides[place]
        looks = [
            strides[each] for each in range(place) if each not in needed and not strides[each].to
        ]
        unknown = [name for name in stride.names if not self._known(name)]
        if unknown and not stride.to:
            found = self._search(stride, looks)
            return found and found.saying(f"to find {unknown[0]}")
        if stride.command in self.refused:
            return self._look(looks, self.where.here)
        later = [strides[other] for other in needed if other > place]
        rest = [
            each for each in later if each.at == stride.at and all(map(self._known, each.names))
        ]
        return self._going(self._place(stride), (stride, *rest))

    # Reading a snippet in the words of the present goal and by the names of the present things.

    def _in_words_of_now(self, snippet: SuccessSnippet, used: Collection[str]) -> list[Stride]:
        words, names, found = dict(self._words(snippet)), dict[str, str](), list[Stride]()
        for stride in strides_of(snippet, self.where, self.schemas):
            told = tuple(renamed(name, words) for name in stride.names)
            for name in told:
                if name not in names:
                    names[name] = self._called(name, {*names.values(), *used})
            command = renamed(renamed(stride.command, words), {name: names[name] for name in told})
            found.append(
                stride._replace(command=command, names=tuple(names[name] for name in told))
            )
        return found

    def _words(self, snippet: SuccessSnippet) -> Iterator[tuple[str, str]]:
        """The words that the goal then had, each with the one in its place now."""
        now, then = self.situation.goal.signature, snippet.goal_signature
        for old, new in (
            (then.object, now.object),
            (then.state, now.state),
            (then.destination, now.destination),
        ):
            if old and new and old != new:
                yield old, new
                ours, others = old.split(), new.split()
                while ours and others and ours[-1] == others[-1]:
                    del ours[-1], others[-1]
                if ours and others and not any(mentions(action, old) for action in snippet.actions):
                    yield (
                        " ".join(ours),
                        " ".join(others),
                    )  # an `unknown E plant` grows from an `unknown E seed`

    def _called(self, name: str, taken: Container[str]) -> str:
        """Name of a thing here: its own if known, or that of another of its kind."""
        kind = kind_of(name)
        if (name in self._names and (name not in taken or kind == name)) or name in self.atlas:
            return name
        others = [each for each in self._names if kind_of(each) == kind != name]
        meant = next(
            (each for each in (*self.belief.called(name), *others) if each not in taken), None
        )
        return meant or name

    @cached_property
    def _names(self) -> dict[str, None]:
        """Known things that commands can name, without words that only procedures have."""
        named = [name for schema in self.schemas.environment for name in sorted(schema.parameters)]
        known = (
            name
            for parameter in dict.fromkeys(named)
            for name in names_for(parameter, self.belief.names)
        )
        return dict.fromkeys(name for name in known if not name.endswith("?"))

    def _known(self, name: str) -> bool:
        """True if a name is known here, or says more of something known: `apple seed in seed
        jar` of an apple seed.
        """
        return (
            name in self._names
            or name in self.atlas
            or any(name.startswith(f"{each} ") for each in self._names)
        )

    # Steps to do.

    def _needed(self, strides: Sequence[Stride]) -> list[int]:
        """Indices of steps that are more than a way or a search; without names, only at the end
        or as waits.
        """
        needed, names = list[int](), set[str]()
        for place in range(len(strides) - 1, -1, -1):
            stride = strides[place]
            last = place + 1 == len(strides)
            if stride.names and not stride.to:
                shared = any(_same(one, other) for one in stride.names for other in names)
                wanted = last or shared or not self.atlas.reveals(stride)
                names.update(stride.names if wanted else ())
            else:
                wanted = last or (not stride.names and not names and place + 1 in needed)
            if wanted:
                needed.insert(0, place)
        first = next((place for place in needed if strides[place].names), len(strides))
        later = range(first, len(strides))
        waits = [
            place for place in later if not strides[place].names and self._traceless(strides[place])
        ]
        return sorted({*needed, *waits})

    def _is_done(self, strides: Sequence[Stride], place: int, needed: Sequence[int]) -> bool:
        """True if a step's effect holds or a later step used it up.

        A repeated step has to be done as often as then.
        """
        stride = strides[place]
        if self._repeats(stride, strides):
            due = sum(each.command == stride.command for each in strides[: place + 1])
            return self.done.count(stride.command) >= due
        if not stride.names and stride.at != self.where.here:
            return False  # it shows something only at its own place
        later = (strides[other] for other in needed if other > place)
        return self.is_done(stride.command) or any(
            set(stride.names) <= set(each.names)
            and not self._traceless(each)
            and self.is_done(each.command)
            for each in later
        )

    def _traceless(self, stride: Stride) -> bool:
        instance = self.schemas.instance(stride.command)
        return instance is None or not instance.effects

    def _repeats(self, stride: Stride, strides: Sequence[Stride]) -> bool:
        """True if doing a step again is of use: it left no trace, or the snippet itself did it
        several times.
        """
        times = sum(each.command == stride.command for each in strides)
        return self._traceless(stride) or (bool(stride.names) and times > 1)

    def _place(self, stride: Stride) -> str:
        """Place for a step: where its things are known to be, else where it was done then."""
        for name in stride.names:
            seen = self.belief.last_seen.get(name) or self.belief.last_seen.get(kind_of(name))
            if name not in self.belief.holding and seen is not None and seen in self.atlas:
                return seen
        return stride.at

    def _going(self, place: str, steps: Sequence[Stride], price: float = 0.0) -> Trail | None:
        """Steps at a place, after the way there."""
        if place not in self._nearest:
            return None
        ahead: list[Stride] = []
        end = place
        while end != self.where.here:
            commands = [
                command for command in self.atlas.commands(end) if not self.is_done(command)
            ]
            ahead = [
                Stride(0, command, (end,), self.where.here, end) for command in commands
            ] + ahead
            end = self._nearest[end]
        steps = tuple(step for step in (*ahead, *steps) if step.command)
        if not steps or steps[0].command in self.refused:
            return None
        return Trail(steps, f"on the way to {place}" if ahead else "", price + len(ahead))

    @cached_property
    def _nearest(self) -> dict[str, str]:
        """The places that can be gone to; not at once those that turned out not to be next to
        this one, or shut.
        """
        refused = (names_of(command, self.schemas) for command in self.refused)
        barred = {names[0] for names in refused if len(names) == 1 and names[0] in self.atlas}
        return self.atlas.nearest(self.where.here, barred)

    def _again(self, strides: Sequence[Stride]) -> Trail | None:
        """Repeats steps if all is done and the sub-goal is not reached, while that changes
        anything.
        """
        again = [stride for stride in strides if self._repeats(stride, strides) or not stride.names]
        if not again:
            return None
        commands = {stride.command for stride in again}
        times, start = divmod(sum(command in commands for command in self.done), len(again))
        turn = [
            stride
            for stride in (*again[start:], *again[:start])
            if stride.command not in self.tried
        ]
        trail = self._going(turn[0].at, turn, _AGAIN) if turn else None
        return trail and trail._replace(stale=times >= PATIENCE)

    # Places to look.

    def _search(self, stride: Stride, looks: Sequence[Stride]) -> Trail | None:
        """Search for a step's things: where the goal says, where they were found then,
        elsewhere.
        """
        told = self.situation.goal.places()
        likely = dict.fromkeys(
            (*(place for name in stride.names for place in told.get(name, ())), stride.at)
        )
        found = (
            self._look([look for look in looks if look.at == place], place) for place in likely
        )
        if (trail := next(filter(None, found), None)) is not None:
            return trail
        waits = [look for look in looks if not look.names]
        if any(map(self._traceless, waits)):
            return self._again(waits)
        for place in self._nearest:
            lids = [
                Stride(0, lid, names_of(lid, self.schemas), place) for lid in self.atlas.lids(place)
            ]
            if (trail := self._look(lids, place)) is not None:
                return trail._replace(price=trail.price + _EXPLORE)
        return None

    def _look(self, looks: Sequence[Stride], place: str) -> Trail | None:
        """The next thing to do to see more of a place; nothing where all is done."""
        glance = Stride(0, self.atlas.look, (), place)
        here = place == self.where.here
        named = [look for look in looks if look.names]
        due = any(look.command in self.done[-1:] for look in named) or not self.is_done(
            glance.command
        )
        visited = any(self.where.led_to(command, self.schemas) == place for command in self.done)
        if not here and not visited:
            return self._going(place, [glance], _SEARCH)
        if here and due and glance.command and glance.command not in self.tried:
            return Trail((glance,), price=_SEARCH)
        for look in named:
            undone = look.command not in self.done and not self.is_done(look.command)
            if undone and look.command not in self.tried and all(map(self._known, look.names)):
                return self._going(place, [look], _SEARCH)
        return None


def mentions(action: str, word: str) -> bool:
    """True if an action names something by a word, alone or among others."""
    return renamed(action, {word: ""}) != action


def _same(one: str, other: str) -> bool:
    """True if two names are of one thing: `shovel` and `shovel in inventory`."""
    return one == other or one.startswith(f"{other} ") or other.startswith(f"{one} ")
