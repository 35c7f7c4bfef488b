"""ALFWorld as a World: its knowledge in one place, forgiving harmless form, its simulators a
lazy import away.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from rpms.foreign.file_reader import read_bytes
from rpms.foreign.limits import LARGEST_GAME
from rpms.logic.belief import Belief
from rpms.logic.errors import FileError, InputError, nearest
from rpms.logic.facts import kind_of
from rpms.logic.goal import Goal, Progress
from rpms.paper.recall import Retrieval, Similarity
from rpms.worlds.alfworld import affordances
from rpms.worlds.alfworld.belief import AlfworldBelief
from rpms.worlds.alfworld.game import NativeGame, TextWorldGame, contradictions
from rpms.worlds.alfworld.games import listing
from rpms.worlds.alfworld.goals import make_goal, parse_goal
from rpms.worlds.alfworld.update import NOTHING_HAPPENS, TASK, WORDS, update
from rpms.worlds.base import REQUEST, Command, Game, Setting, Task, World, read_wording

_LONGEST = 300
"""Characters of the longest command; a longer text is no command."""

_JOINTS = {verb: [f" {word} " for word in words] for verb, words in WORDS["joints"].items()}
_PREFIX = re.compile(r"(?:action|act|>)\s*:?\s*", re.IGNORECASE)
_ARTICLES = frozenset({"a", "an", "the", "some", "my"})
_NO_OBJECTS = ("sink", "bathtub", "chair")
"""Kinds of objects that no command is about: people who say so mean a basin, or an armchair."""


def forgive(action: str, belief: AlfworldBelief) -> Command:
    """Read an action in any harmless form.

    The text of an exact command comes back unchanged, without repairs.
    """
    text = action.strip()
    if len(text) > _LONGEST:
        return Command(text)
    cleaned = _cleaned(text)
    said = cleaned.lower()
    repairs = ["form"] if cleaned != text else []
    read = _command_said(said, belief, repairs)
    if read is None or read == text:
        return Command(text)
    if read != cleaned and not repairs:
        repairs.append("letter case" if read == said else "wording")
    return Command(read, tuple(dict.fromkeys(repairs)))


def _command_said(said: str, belief: AlfworldBelief, repairs: list[str]) -> str | None:
    """The command that words in small letters mean; None if they mean none."""
    if said in WORDS["bare"]:
        return str(WORDS["bare"][said])
    spoken = _spoken_verb(said)
    if spoken is None:
        return None
    return _with_names(spoken, said.removeprefix(f"{spoken.words} "), belief, repairs)


@lru_cache(maxsize=4_096)
def _cleaned(text: str) -> str:
    """The first line, without a label, quotes, marks and a full stop."""
    line = text.split("\n", 1)[0].strip()
    prefix = _PREFIX.match(line)
    if prefix is not None:
        is_label = prefix[0].rstrip().endswith(":")
        if is_label or prefix[0].startswith(">"):
            line = line[prefix.end() :]
    command = line.strip(" \t`'\"*").rstrip(".!;, `'\"*")
    return " ".join(command.split())


class _SpokenVerb(NamedTuple):
    """A verb, and the words that say it: `put`, by `place`."""

    verb: str
    words: str


@lru_cache(maxsize=4_096)
def _spoken_verb(said: str) -> _SpokenVerb | None:
    for verb, every in WORDS["verbs"].items():
        for words in every:
            if said.startswith(f"{words} "):
                return _SpokenVerb(verb, words)
    return None


def _with_names(
    spoken: _SpokenVerb, rest: str, belief: AlfworldBelief, repairs: list[str]
) -> str | None:
    """The command for a verb and its things; None if one of them is missing."""
    verb = spoken.verb
    words = spoken.words
    if words == "toggle":
        # `toggle desklamp 1 desk 1`, as the paper's prompt has it
        rest = re.sub(r"^((?:.*? )?\d+) .*", r"\1", rest)
    first, joint, second = _split_at_joint(verb, rest)
    if words not in (verb, "go to"):
        repairs.append(f"`{words}`")
    if joint:
        thing = _name(first, _first_things_for(verb, belief), repairs)
        other = _name(second, belief.holding if verb == "slice" else belief.places, repairs)
        if verb == "put":
            return _put(thing, joint, other, words, belief, repairs)
        return _with_word_between(verb, thing, joint, other, repairs)
    if verb in _JOINTS:
        return _completed(verb, first, belief, repairs)
    name = _name(first, _things_for(verb, belief), repairs)
    return f"go to {name}" if verb == "go" else f"{verb} {name}"


def _with_word_between(verb: str, thing: str, joint: str, other: str, repairs: list[str]) -> str:
    """A command with the word between its two things that the game knows."""
    if joint not in (" from ", " with "):
        repairs.append(f"`{joint.strip()}`")
    between = "from" if verb == "take" else "with"
    return f"{verb} {thing} {between} {other}"


class _Split(NamedTuple):
    """The words after a verb: a thing, the word between, and another thing."""

    first: str
    joint: str = ""
    second: str = ""


def _split_at_joint(verb: str, rest: str) -> _Split:
    """Split words at the one that may stand between two things; of several such words, at the one
    that stands first, or is listed first.
    """
    found = [joint for joint in _JOINTS.get(verb, ()) if joint in rest]
    if not found:
        return _Split(rest)
    return _Split(*rest.partition(min(found, key=rest.find)))


def _first_things_for(verb: str, belief: AlfworldBelief) -> Iterable[str]:
    """Names that the first of a verb's two things may have: those of things in hand, unless the
    verb takes or slices it.
    """
    if verb in ("take", "slice"):
        return belief.names["object"]
    return belief.holding or belief.names["object"]


def _things_for(verb: str, belief: AlfworldBelief) -> Iterable[str]:
    """Names that a verb with one thing may be about."""
    match verb:
        case "use":
            return belief.names["object"]
        case "examine":
            return (*belief.places, *belief.holding)
        case _:
            return belief.places


def _put(
    thing: str, joint: str, place: str, words: str, belief: AlfworldBelief, repairs: list[str]
) -> str:
    """The command to put something down, in the words of the game's dialect. The dialect is known
    from the first arrival that the game announces; before, 0.3 is assumed.
    """
    if belief.dialect == "0.4":
        if (words, joint) != ("move", " to "):
            repairs.append("`put` for the game's `move`")
        return f"move {thing} to {place}"
    if (words, joint) != ("put", " in/on "):
        repairs.append(f"`{words} …{joint.rstrip()}`")
    return f"put {thing} in/on {place}"


def _completed(verb: str, name: str, belief: AlfworldBelief, repairs: list[str]) -> str | None:
    """Fill in a word that an action leaves out, if there is just one candidate: the tool, or the
    place that a thing was seen in.
    """
    if verb == "take":
        return _take_from_here(name, belief, repairs)
    if verb not in affordances.TOOLS:
        return None
    wanted = affordances.TOOLS[verb][0]
    tools = [place for place in belief.places if kind_of(place) == wanted]
    tool = _only(tools, "the only appliance for it", repairs)
    if not tool:
        return None
    return f"{verb} {_name(name, belief.holding, repairs)} with {tool}"


def _take_from_here(name: str, belief: AlfworldBelief, repairs: list[str]) -> str | None:
    """Take a thing from the only place here that holds it."""
    thing = _name(name, belief.names["object"], repairs)
    holding = [place for place, inside in belief.contents.items() if thing in inside]
    here = [place for place in holding if belief.here(place)]
    home = _only(here, "the only place that holds it here", repairs)
    return f"take {thing} from {home}" if home else None


def _name(text: str, candidates: Iterable[str], repairs: list[str]) -> str:
    """A name without its article; with its number added if just one candidate is of that kind."""
    words = text.split()
    if len(words) > 1 and words[0] in _ARTICLES:
        words = words[1:]
        repairs.append("article")
    name = " ".join(words)
    names = tuple(candidates)
    if name in names:
        return name
    if words and words[-1].isdecimal():
        return _numbered_name(words[:-1], words[-1], names, repairs) or name
    return _only(_of_kind(words, names), "number", repairs) or name


def _of_kind(words: Sequence[str], names: Sequence[str]) -> list[str]:
    """The names of the kind that words mean, which people may write apart: `desk lamp`."""
    kind = "".join(words)
    kinds = (kind, _kind_meant(kind))
    return [name for name in names if kind_of(name) in kinds]


def _numbered_name(
    words: Sequence[str], number: str, names: Sequence[str], repairs: list[str]
) -> str:
    """The name that words and a number mean; empty if they are left as they are."""
    numbered = [name for name in _of_kind(words, names) if name.endswith(f" {number}")]
    only = _only(numbered, "name", repairs)
    if only:
        return only
    meant = _kind_meant("".join(words))
    if len(words) < 2 or not meant:
        return ""
    repairs.append("name")
    return f"{meant} {number}"


def _only(names: Sequence[str], repair: str, repairs: list[str]) -> str:
    """The one name that there is, noted as a repair; empty if there are none or several."""
    if len(names) != 1:
        return ""
    repairs.append(repair)
    return names[0]


def _kind_meant(word: str) -> str:
    """The kind that a word means, in singular or plural; empty if there is none."""
    for form in (word, word.removesuffix("s"), word.removesuffix("es")):
        if form in _kinds():
            return _kinds()[form]
    return ""


@cache
def called() -> Mapping[str, Sequence[str]]:
    """People's words for kinds and goals: kind or goal type → words, names written together."""
    kinds = dict.fromkeys(sorted(affordances.objects() | affordances.places()), "")
    words = WORDS["goals"] | kinds | WORDS["objects"] | WORDS["places"]
    return {kind: said.split() for kind, said in words.items()}


@cache
def _kinds() -> dict[str, str]:
    """Words, written together, that name a kind of objects or places."""
    kinds = {kind: kind for kind in affordances.objects() if kind not in _NO_OBJECTS}
    for table in ("objects", "places"):
        for kind, words in WORDS[table].items():
            kinds |= dict.fromkeys(words.split(), kind)
    for kind in affordances.places():
        kinds[kind] = kind
    return kinds


_DATA = "ALFWORLD_DATA"


def paper_lines(belief: Belief, _progress: Progress) -> tuple[str, ...]:
    """The block as Appendix D prints it: the hand, and, once they are known, the place and what
    stands open.
    """
    lines = [f"  Holding: {', '.join(belief.holding) or 'nothing'}"]
    if belief.location is not None:
        lines.append(f"  Location: {belief.location}")
    opened = [place for place, is_open in belief.containers.items() if is_open]
    if opened:
        lines.append(f"  Open: {', '.join(opened)}")
    return tuple(lines)


_ALL_ACTIONS = read_wording(__package__, brief=paper_lines)
PRINTED = re.sub(r"^1[0-3]\. .*\n", "", _ALL_ACTIONS.instruction, flags=re.MULTILINE)
"""The instruction with the nine actions that the paper prints; its `toggle`, which the engine
rejects, is `use`."""


class Alfworld(World):
    """The World of ALFWorld's household games."""

    name = "alfworld"
    splits: tuple[str, ...] = (
        *listing.MADE_SPLITS,
        "valid_seen",
        "valid_unseen",
        "train",
        "valid_train",
    )
    engines: tuple[str, ...] = ("native", "textworld")
    options: tuple[str, ...] = ("dialect", "goals")
    """`dialect`: 0.3 (put … in/on) or 0.4 (move … to); by default each game's own. `goals`: `human`
    makes a task of each sentence in which people put a goal; by default the games' own sentences,
    `template`."""
    step_budget = 50
    max_tokens = 256
    retrieval = Retrieval(similarity=Similarity(category=affordances.category))
    wording = replace(_ALL_ACTIONS, printed=PRINTED)
    manual_names = ("environment.yaml", "domain.yaml")
    paper_names = ("environment.yaml", "domain_paper.yaml")
    """Files with the rules of Appendices D and E, and no more."""

    def tasks(self, split: str, setting: Setting) -> Sequence[Task]:
        if split not in self.splits:
            raise InputError(f"ALFWorld has no split {split!r}; {nearest(split, self.splits)}")
        self._dialect(setting)
        goals = self.chosen(setting).get("goals", "template")
        if goals not in ("template", "human"):
            raise InputError(f"ALFWorld has no goals={goals!r}; choose template or human")
        if split in listing.MADE_SPLITS:
            tasks = listing.builtin_tasks(split)
        else:
            tasks = listing.list_tasks(_data_folder(setting), split)
        return listing.requested(tasks, split) if goals == "human" else tasks

    def edition(self, tasks: Sequence[Task], setting: Setting) -> Mapping[str, str]:
        """The dialect and a hash of the game files: the official releases share their games'
        names.
        """
        digest = hashlib.sha256()
        chosen = self._dialect(setting)
        dialects = set()
        for task in tasks:
            text = json.dumps(listing.task_data(task)) if "builtin" in task.source else _read(task)
            digest.update(text.encode())
            digest.update(task.source.get(REQUEST, "").encode())
            dialects.add(chosen or ("0.4" if "move {o} to {r}" in text else "0.3"))
        return {"dialect": " and ".join(sorted(dialects)), "games": digest.hexdigest()}

    def open(self, task: Task, setting: Setting) -> Game:
        if setting.engine not in self.engines:
            raise InputError(
                f"ALFWorld has no engine {setting.engine!r}; choose one of"
                f" {', '.join(self.engines)}"
            )
        dialect = self._dialect(setting)
        if setting.engine == "native":
            return NativeGame(listing.load_task(task, dialect))
        if "builtin" not in task.source and not dialect:
            return TextWorldGame(task.source["path"])
        with TemporaryDirectory() as folder:
            file = Path(folder, "game.tw-pddl")
            data = listing.task_data(task, dialect)
            file.write_text(json.dumps(data), encoding="utf-8")
            return TextWorldGame(file)

    def _dialect(self, setting: Setting) -> str:
        """The dialect that a setting asks for; nothing where each game keeps its own."""
        return listing.known_dialect(self.chosen(setting).get("dialect", "")) or ""

    def embedded_memory(self) -> str:
        """Memory that the planner learned: `rpms learn alfworld --split builtin_train --rounds
        1 --harvest clean`.
        """
        return str(files("rpms.worlds.alfworld").joinpath("builtin", "memory.jsonl"))

    goal = staticmethod(parse_goal)
    called = staticmethod(called)
    start = staticmethod(AlfworldBelief)
    update = staticmethod(update)
    command = staticmethod(forgive)
    contradictions = staticmethod(contradictions)

    def stating(self, opening: str, request: str) -> str:
        before, found, _ = opening.partition(TASK)
        return f"{before}{TASK}{request}" if found else super().stating(opening, request)

    def goal_of(self, type_: str, named: Mapping[str, str], text: str) -> Goal:
        return make_goal(type_, named.get("object", ""), named.get("destination", ""), text)

    def form(self, action: str, belief: AlfworldBelief) -> Command:
        """Repair the form alone: nothing is added of what was seen, is held or is known to be near.
        The dialect is the game's own.
        """
        return forgive(action, AlfworldBelief(belief.goal, dialect=belief.dialect))

    def infeasible(self, observation: str) -> bool:
        return observation.strip() == NOTHING_HAPPENS


def _read(task: Task) -> str:
    """A game file as it is; empty if it cannot be read, which playing it will report."""
    try:
        return read_bytes(task.source["path"], LARGEST_GAME).decode("utf-8", "replace")
    except FileError:
        return ""


def _data_folder(setting: Setting) -> Path:
    data = setting.data or os.environ.get(_DATA)
    if not data:
        raise InputError(
            f"the environment variable {_DATA} is not set: set it to the folder of ALFWorld's games"
            " (`pip install alfworld` and `alfworld-download` fetch them), or give --data. The"
            " embedded games need neither: --split builtin"
        )
    return Path(data)


world = Alfworld()
