"""Forgiving harmless form: what a model writes, as the engine wants it. What is not understood stays as it is."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from rpms.core.facts import kind_of
from rpms.worlds.alfworld import affordances
from rpms.worlds.alfworld.belief import AlfworldBelief
from rpms.worlds.alfworld.update import WORDS
from rpms.worlds.base import Command

_LONGEST = 300
"""No command is longer; a longer text is no command."""

_JOINTS = {verb: [f" {word} " for word in words] for verb, words in WORDS["joints"].items()}
_PREFIX = re.compile(r"(?:action|act|>)\s*:?\s*", re.IGNORECASE)
_ARTICLES = frozenset({"a", "an", "the", "some", "my"})


def forgive(action: str, belief: AlfworldBelief) -> Command:
    """Read an action in any harmless form. The text of an exact command comes back unchanged, without repairs."""
    text = action.strip()
    if len(text) > _LONGEST:
        return Command(text)
    line = text.split("\n", 1)[0].strip()
    prefix = _PREFIX.match(line)
    if prefix is not None and (prefix[0].rstrip().endswith(":") or prefix[0].startswith(">")):
        line = line[prefix.end() :]
    cleaned = " ".join(line.strip(" \t`'\"*").rstrip(".!;, `'\"*").split())
    repairs = ["form"] if cleaned != text else []
    read = _read(cleaned.lower(), belief, repairs)
    if read is None:
        return Command(text)
    if read != cleaned and not repairs:
        repairs.append("letter case" if read == cleaned.lower() else "wording")
    return Command(read, tuple(dict.fromkeys(repairs)) if read != text else ())


def _read(text: str, belief: AlfworldBelief, repairs: list[str]) -> str | None:
    if text in WORDS["bare"]:
        return str(WORDS["bare"][text])
    spoken = (
        (words, verb) for verb, every in WORDS["verbs"].items() for words in every if text.startswith(f"{words} ")
    )
    words, verb = next(spoken, ("", ""))
    return _with_names(verb, words, text[len(words) + 1 :], belief, repairs) if verb else None


def _with_names(verb: str, words: str, rest: str, belief: AlfworldBelief, repairs: list[str]) -> str | None:
    if verb == "use" and words == "toggle":
        rest = re.sub(r"^((?:.*? )?\d+) .*", r"\1", rest)  # `desklamp 1 desk 1`, as the paper's prompt has it
    found = [joint for joint in _JOINTS.get(verb, ()) if joint in rest]  # the one that stands first, or is listed first
    first, joint, second = rest.partition(min(found, key=rest.find)) if found else (rest, "", "")
    if words not in (verb, "go to"):
        repairs.append(f"`{words}`")
    if verb in _JOINTS and not joint:
        return _completed(verb, first, belief, repairs)
    if not joint:
        known = {"use": belief.names["object"], "examine": (*belief.places, *belief.holding)}.get(verb, belief.places)
        name = _name(first, known, repairs)
        return f"go to {name}" if verb == "go" else f"{verb} {name}"
    things = belief.holding if verb not in ("take", "slice") else ()
    thing = _name(first, things or belief.names["object"], repairs)
    other = _name(second, belief.holding if verb == "slice" else belief.places, repairs)
    if verb == "put":
        return _put(thing, joint, other, words, belief, repairs)
    if joint not in (" from ", " with "):
        repairs.append(f"`{joint.strip()}`")
    return f"{verb} {thing} {'from' if verb == 'take' else 'with'} {other}"


def _put(thing: str, joint: str, place: str, words: str, belief: AlfworldBelief, repairs: list[str]) -> str:
    """In the words of the game's dialect, known since the first arrival that was announced; else those of 0.3."""
    if belief.dialect == "0.4":
        if (words, joint) != ("move", " to "):
            repairs.append("`put` for the game's `move`")
        return f"move {thing} to {place}"
    if (words, joint) != ("put", " in/on "):
        repairs.append(f"`{words} …{joint.rstrip()}`")
    return f"put {thing} in/on {place}"


def _completed(verb: str, name: str, belief: AlfworldBelief, repairs: list[str]) -> str | None:
    """Add what an action leaves out, where there is just one candidate: the tool, or the place it was seen in."""
    if verb == "take":
        thing = _name(name, belief.names["object"], repairs)
        homes = [place for place, inside in belief.contents.items() if thing in inside and belief.here(place)]
        if len(homes) == 1:
            repairs.append("the only place that holds it here")
            return f"take {thing} from {homes[0]}"
    elif verb in affordances.TOOLS:
        tools = [place for place in belief.places if kind_of(place) == affordances.TOOLS[verb][0]]
        if len(tools) == 1:
            repairs.append("the only appliance for it")
            return f"{verb} {_name(name, belief.holding, repairs)} with {tools[0]}"
    return None


def _name(text: str, candidates: Iterable[str], repairs: list[str]) -> str:
    """A name without its article; with its number added if just one candidate is of that kind."""
    words = text.split()
    if len(words) > 1 and words[0] in _ARTICLES:
        words = words[1:]
        repairs.append("article")
    name = " ".join(words)
    known = tuple(candidates)
    if name in known:
        return name
    number = words.pop() if words and words[-1].isdecimal() else ""
    kind = "".join(words)
    forms = (kind, kind.removesuffix("s"), kind.removesuffix("es"))  # in singular or plural
    found = next((_kinds()[form] for form in forms if form in _kinds()), "")
    fitting = [each for each in known if kind_of(each) in (kind, found) and (not number or each.endswith(f" {number}"))]
    if len(fitting) == 1:
        repairs.append("number" if not number else "name")
        return fitting[0]
    if number and len(words) > 1 and found:
        repairs.append("name")
        return f"{found} {number}"
    return name


@cache
def called() -> Mapping[str, Sequence[str]]:
    """People's words for kinds and goals: kind or goal type → words, names written together."""
    kinds = dict.fromkeys(sorted(affordances.objects() | affordances.places()), "")
    words = WORDS["goals"] | kinds | WORDS["objects"] | WORDS["places"]
    return {kind: said.split() for kind, said in words.items()}


@cache
def _kinds() -> dict[str, str]:
    """Words, written together, that name a kind of objects or places."""
    kinds = {kind: kind for kind in affordances.objects() if kind not in ("sink", "bathtub", "chair")}
    for table in ("objects", "places"):
        kinds |= {word: kind for kind, words in WORDS[table].items() for word in words.split()}
    return kinds | {kind: kind for kind in affordances.places()}
