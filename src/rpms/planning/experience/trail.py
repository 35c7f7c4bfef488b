"""Past the paper: what a snippet would do from here on, the way to its place included."""

from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from rpms.logic.actions import names_for
from rpms.logic.facts import kind_of
from rpms.paper.memory import Stride, SuccessSnippet
from rpms.paper.verdict import Trail
from rpms.planning.experience.adapt import AdaptContext, which_steps
from rpms.planning.experience.atlas import Atlas, Where, strides_of, words_of
from rpms.planning.lift import names_of, renamed

_SEARCH = 20.0
"""Price in steps of searching a known place: like the next two more than any way, so that steps
that can be done come first."""
_EXPLORE = 40.0
"""Price in steps of searching elsewhere, on top of the search."""
_AGAIN = 60.0
"""Price in steps of repeating actions."""
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
        trail = self._remaining(snippet)
        if trail is None:
            return "nothing of it can be done from here"
        if not self._can_be_reread(snippet):
            return "it is about things of another goal"
        if trail.steps[0].number == len(snippet.actions):
            things = self.atlas.ends(snippet)
            if len(things) > 1:
                return _divided_between(things)
        own_steps = [step for step in trail.steps if step.number]
        told = trail.saying(which_steps(own_steps[:1], len(snippet.actions)))
        return told._replace(note=told.note or "look again", followed=True)

    def _can_be_reread(self, snippet: SuccessSnippet) -> bool:
        """True if a snippet is for the present goal, or its actions name what its own goal was
        about, in place of which what the present goal is about can be put.
        """
        then = snippet.goal_signature
        now = self.situation.goal
        if then.type == now.type and then.object == now.object:
            return True
        return any(_is_mentioned(word, snippet.actions) for word in words_of(then))

    def _remaining(self, snippet: SuccessSnippet) -> Trail | None:
        """Remaining steps of a snippet; None if all is done or nothing can be.

        If all is done with certain things and repeating it does not help, it is read again with
        others of their kinds. Every round uses up at least one name, so this ends.
        """
        used: set[str] = set()
        while True:
            strides = self._in_words_of_now(snippet, used)
            needed = self._needed(strides)
            undone = self._first_undone(strides, needed)
            if undone is not None:
                if used and not self._all_known(strides[undone].names):
                    return None
                return self._leading_to(strides, undone, needed)
            trail = self._again([strides[place] for place in needed])
            unused = _numbered_names(strides) - used
            if trail is not None or not unused:
                return trail
            used |= unused

    def _first_undone(self, strides: Sequence[Stride], needed: Sequence[int]) -> int | None:
        """Index of the first needed step that is not done; None if all are."""
        for place in needed:
            if not self._is_done(strides, place, needed):
                return place
        return None

    def _leading_to(
        self, strides: Sequence[Stride], place: int, needed: Sequence[int]
    ) -> Trail | None:
        """The trail to a step that is due: a search for its things, or the way to its place.

        What can be done at the same place comes with it. If the step was refused, there is
        something about this place that was not seen.
        """
        stride = strides[place]
        unknown = [name for name in stride.names if not self._known(name)]
        if unknown and not stride.to:
            found = self._search(stride, _looks_before(strides, place, needed))
            return None if found is None else found.saying(f"to find {unknown[0]}")
        if stride.command in self.refused:
            return self._look(_looks_before(strides, place, needed), self.where.here)
        later = [strides[other] for other in needed if other > place]
        return self._going(self._place(stride), [stride, *self._doable_at(stride.at, later)])

    def _doable_at(self, place: str, strides: Iterable[Stride]) -> list[Stride]:
        """Steps that were done at a place, with things that are known."""
        there = [stride for stride in strides if stride.at == place]
        return [stride for stride in there if self._all_known(stride.names)]

    # Reading a snippet in the words of the present goal and by the names of the present things.

    def _in_words_of_now(self, snippet: SuccessSnippet, used: Collection[str]) -> list[Stride]:
        """Steps of a snippet with the present goal's words and the present things' names, none
        of these `used` already.
        """
        words = self._words(snippet)
        names: dict[str, str] = {}
        found: list[Stride] = []
        for stride in strides_of(snippet, self.where, self.schemas):
            told = tuple(renamed(name, words) for name in stride.names)
            for name in told:
                if name not in names:
                    names[name] = self._called(name, {*names.values(), *used})
            own = {name: names[name] for name in told}
            command = renamed(renamed(stride.command, words), own)
            called = tuple(names[name] for name in told)
            found.append(stride._replace(command=command, names=called))
        return found

    def _words(self, snippet: SuccessSnippet) -> dict[str, str]:
        """The words that the goal then had, each with the one in its place now.

        If the actions never say a word in full, what makes the two words differ is replaced as
        well: an `unknown E plant` grows from an `unknown E seed`.
        """
        now = self.situation.goal.signature
        then = snippet.goal_signature
        pairs = (
            (then.object, now.object),
            (then.state, now.state),
            (then.destination, now.destination),
        )
        words: dict[str, str] = {}
        for old, new in pairs:
            if not old or not new or old == new:
                continue
            words[old] = new
            old_part, new_part = _without_common_end(old, new)
            if old_part and new_part and not _is_mentioned(old, snippet.actions):
                words[old_part] = new_part
        return words

    def _called(self, name: str, taken: Container[str]) -> str:
        """Name of a thing here: its own if known, or that of another of its kind."""
        if name in self.atlas:
            return name
        numbered = kind_of(name) != name
        if name in self._names and not (numbered and name in taken):
            return name
        for each in self.belief.called(name):
            if each not in taken:
                return each
        return self._another_like(name, taken) if numbered else name

    def _another_like(self, name: str, taken: Container[str]) -> str:
        """Another thing of the same kind that is not taken; without one, the name as it is."""
        kind = kind_of(name)
        for each in self._names:
            if kind_of(each) == kind and each not in taken:
                return each
        return name

    @cached_property
    def _names(self) -> dict[str, None]:
        """Known things that commands can name, without words that only procedures have."""
        parameters: dict[str, None] = {}
        for schema in self.schemas.environment:
            parameters.update(dict.fromkeys(sorted(schema.parameters)))
        names: dict[str, None] = {}
        for parameter in parameters:
            for name in names_for(parameter, self.belief.names):
                if not name.endswith("?"):
                    names[name] = None
        return names

    def _known(self, name: str) -> bool:
        """True if a name is known here, or says more of something known: `apple seed in seed
        jar` of an apple seed.
        """
        return (
            name in self._names
            or name in self.atlas
            or any(name.startswith(f"{each} ") for each in self._names)
        )

    def _all_known(self, names: Iterable[str]) -> bool:
        return all(map(self._known, names))

    # Steps to do.

    def _needed(self, strides: Sequence[Stride]) -> list[int]:
        """Indices of steps that are more than a way or a search; without names, only at the end
        or as waits.
        """
        needed = {*self._needed_deeds(strides), *_ending(strides)}
        named = [place for place in needed if strides[place].names]
        if named:
            needed.update(self._waits(strides, min(named)))
        return sorted(needed)

    def _needed_deeds(self, strides: Sequence[Stride]) -> list[int]:
        """Indices of the deeds that a snippet is about.

        A deed of the kind that is done to see more is only a search, unless it is the last step
        or its things are used later: therefore they are read backwards.
        """
        last = len(strides) - 1
        things: set[str] = set()
        deeds: list[int] = []
        for place in range(last, -1, -1):
            stride = strides[place]
            if not _is_deed(stride):
                continue
            used = place == last or _share_a_thing(stride.names, things)
            if used or not self.atlas.reveals(stride):
                things.update(stride.names)
                deeds.append(place)
        return deeds

    def _waits(self, strides: Sequence[Stride], start: int) -> list[int]:
        """Indices of the waits from a step on: they name nothing and change nothing, but give a
        process time.
        """
        nameless = [place for place in range(start, len(strides)) if not strides[place].names]
        return [place for place in nameless if self._traceless(strides[place])]

    def _is_done(self, strides: Sequence[Stride], place: int, needed: Sequence[int]) -> bool:
        """True if a step's effect holds or a later step used it up.

        A repeated step has to be done as often as then.
        """
        stride = strides[place]
        if self._repeats(stride, strides):
            due = _times(stride.command, strides[: place + 1])
            return self.done.count(stride.command) >= due
        # without names, it shows something only at its own place
        if not stride.names and stride.at != self.where.here:
            return False
        if self.is_done(stride.command):
            return True
        later = (strides[other] for other in needed if other > place)
        return any(self._used_up(stride, each) for each in later)

    def _used_up(self, stride: Stride, later: Stride) -> bool:
        """True if a later step is done that was done with the result of an earlier one."""
        return (
            set(stride.names) <= set(later.names)
            and not self._traceless(later)
            and self.is_done(later.command)
        )

    def _traceless(self, stride: Stride) -> bool:
        """True if nothing that is known tells whether a step was done."""
        instance = self.schemas.instance(stride.command)
        return instance is None or not instance.effects

    def _repeats(self, stride: Stride, strides: Sequence[Stride]) -> bool:
        """True if doing a step again is of use: it left no trace, or the snippet itself did it
        several times.
        """
        if self._traceless(stride):
            return True
        return bool(stride.names) and _times(stride.command, strides) > 1

    def _place(self, stride: Stride) -> str:
        """Place for a step: where its things are known to be, else where it was done then."""
        for name in stride.names:
            seen = self.belief.last_seen.get(name) or self.belief.last_seen.get(kind_of(name))
            if name not in self.belief.holding and seen is not None and seen in self.atlas:
                return seen
        return stride.at

    def _going(self, place: str, steps: Sequence[Stride], price: float = 0.0) -> Trail | None:
        """Steps at a place, after the way there; None if no way is known or the first step was
        refused.
        """
        if place not in self._nearest:
            return None
        way = self._way_to(place)
        steps = tuple(step for step in (*way, *steps) if step.command)
        if not steps or steps[0].command in self.refused:
            return None
        note = f"on the way to {place}" if way else ""
        return Trail(steps, note, price + len(way))

    def _way_to(self, place: str) -> list[Stride]:
        """Steps from here to a place that can be gone to, without those that are done."""
        places: list[str] = []
        while place != self.where.here:
            places.append(place)
            place = self._nearest[place]
        way: list[Stride] = []
        for end in reversed(places):
            for command in self.atlas.commands(end):
                if not self.is_done(command):
                    way.append(Stride(0, command, (end,), self.where.here, end))
        return way

    @cached_property
    def _nearest(self) -> dict[str, str]:
        """The places that can be gone to; not at once those that turned out not to be next to
        this one, or shut.
        """
        barred: set[str] = set()
        for command in self.refused:
            names = names_of(command, self.schemas)
            if len(names) == 1 and names[0] in self.atlas:
                barred.add(names[0])
        return self.atlas.nearest(self.where.here, barred)

    def _again(self, strides: Sequence[Stride]) -> Trail | None:
        """Repeats steps if all is done and the sub-goal is not reached, while that changes
        anything.
        """
        again = [stride for stride in strides if not stride.names or self._repeats(stride, strides)]
        if not again:
            return None
        rounds, start = self._rounds(again)
        turn = (*again[start:], *again[:start])
        untried = [stride for stride in turn if stride.command not in self.tried]
        if not untried:
            return None
        trail = self._going(untried[0].at, untried, _AGAIN)
        return None if trail is None else trail._replace(stale=rounds >= PATIENCE)

    def _rounds(self, strides: Sequence[Stride]) -> tuple[int, int]:
        """Number of times that steps were gone through, and of steps done since."""
        commands = {stride.command for stride in strides}
        done = sum(command in commands for command in self.done)
        return divmod(done, len(strides))

    # Places to look.

    def _search(self, stride: Stride, looks: Sequence[Stride]) -> Trail | None:
        """Search for a step's things: where the goal says, where they were found then,
        elsewhere.

        Where the snippet waited for them to come about, waiting again comes before elsewhere.
        """
        for place in self._likely_places(stride):
            trail = self._look([look for look in looks if look.at == place], place)
            if trail is not None:
                return trail
        waits = [look for look in looks if not look.names]
        if any(map(self._traceless, waits)):
            return self._again(waits)
        return self._explore()

    def _likely_places(self, stride: Stride) -> dict[str, None]:
        """Places to look for a step's things: those that the goal tells, then the step's own."""
        told = self.situation.goal.places()
        likely: dict[str, None] = {}
        for name in stride.names:
            likely.update(dict.fromkeys(told.get(name, ())))
        likely.setdefault(stride.at)
        return likely

    def _explore(self) -> Trail | None:
        """The way to the nearest place of which more can be seen, with what was opened there."""
        for place in self._nearest:
            lids = [
                Stride(0, lid, names_of(lid, self.schemas), place) for lid in self.atlas.lids(place)
            ]
            trail = self._look(lids, place)
            if trail is not None:
                return trail._replace(price=trail.price + _EXPLORE)
        return None

    def _look(self, looks: Sequence[Stride], place: str) -> Trail | None:
        """The next thing to do to see more of a place; nothing where all is done.

        First it is gone to, then looked around in, then the looks at its things are taken one by
        one, with another look around after each.
        """
        glance = Stride(0, self.atlas.look, (), place)
        named = [look for look in looks if look.names]
        if place != self.where.here:
            if not self._was_visited(place):
                return self._going(place, [glance], _SEARCH)
        elif self._is_glance_due(named):
            return Trail((glance,), price=_SEARCH)
        for look in named:
            if self._is_look_due(look):
                return self._going(place, [look], _SEARCH)
        return None

    def _was_visited(self, place: str) -> bool:
        """True if a command of this episode led to a place."""
        return any(self.where.led_to(command, self.schemas) == place for command in self.done)

    def _is_glance_due(self, looks: Iterable[Stride]) -> bool:
        """True if looking around here may show something new: it was not done yet, or the last
        command was one of the looks at single things.
        """
        glance = self.atlas.look
        if not glance or glance in self.tried:
            return False
        last = self.done[-1:]
        return any(look.command in last for look in looks) or not self.is_done(glance)

    def _is_look_due(self, look: Stride) -> bool:
        """True if a look at something known was not taken yet."""
        command = look.command
        if command in self.done or command in self.tried:
            return False
        return not self.is_done(command) and self._all_known(look.names)


def mentions(action: str, word: str) -> bool:
    """True if an action names something by a word, alone or among others."""
    return renamed(action, {word: ""}) != action


def _is_mentioned(word: str, actions: Iterable[str]) -> bool:
    """True if one of the actions names something by a word."""
    return any(mentions(action, word) for action in actions)


def _divided_between(things: Sequence[str]) -> str:
    """The reason not to follow snippets that end alike with different things: it is not known
    which is right here.
    """
    more = f" and {len(things) - _NAMED} more" if len(things) > _NAMED else ""
    return f"experience is divided between {', '.join(things[:_NAMED])}{more}"


def _numbered_names(strides: Iterable[Stride]) -> set[str]:
    """Names of things that have others of their kind: `cup 1`."""
    numbered: set[str] = set()
    for stride in strides:
        numbered.update(name for name in stride.names if kind_of(name) != name)
    return numbered


def _looks_before(strides: Sequence[Stride], place: int, needed: Container[int]) -> list[Stride]:
    """Steps before one that were a search: not needed for themselves, and no way."""
    earlier = [each for each in range(place) if each not in needed]
    return [strides[each] for each in earlier if not strides[each].to]


def _without_common_end(one: str, other: str) -> tuple[str, str]:
    """Two phrases without the words that both end with."""
    ours = one.split()
    others = other.split()
    while ours and others and ours[-1] == others[-1]:
        ours.pop()
        others.pop()
    return " ".join(ours), " ".join(others)


def _is_deed(stride: Stride) -> bool:
    """True of a step that was done with something, and did not lead elsewhere."""
    return bool(stride.names) and not stride.to


def _ending(strides: Sequence[Stride]) -> list[int]:
    """Index of the last step, which reached the sub-goal.

    Unless it was done with something itself, the steps without names just before it belong to it:
    they may have shown what was to be seen.
    """
    if not strides:
        return []
    place = len(strides) - 1
    ending = [place]
    if _is_deed(strides[place]):
        return ending
    while place > 0 and not strides[place - 1].names:
        place -= 1
        ending.append(place)
    return ending


def _times(command: str, strides: Iterable[Stride]) -> int:
    """Number of steps with a command."""
    return sum(stride.command == command for stride in strides)


def _share_a_thing(names: Iterable[str], others: Iterable[str]) -> bool:
    """True if one of the names is of the same thing as one of the others."""
    for name in names:
        for other in others:
            if _same(name, other):
                return True
    return False


def _same(one: str, other: str) -> bool:
    """True if two names are of one thing: `shovel` and `shovel in inventory`."""
    return one == other or one.startswith(f"{other} ") or other.startswith(f"{one} ")
