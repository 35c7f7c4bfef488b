"""Manuals for tool-calling agents: YAML on what tools need and do, what policies forbid, where
facts are from.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from rpms.foreign.shown import excerpt
from rpms.guard import calls
from rpms.guard.calls import GIVEN, RESULT, Policy, ToolManual
from rpms.guard.comparisons import ALIKE, COMPARISONS, moment_of, now_and, pattern_mistake
from rpms.guard.json_facts import Path, Reading, Take
from rpms.guard.likely_mistakes import likely_mistakes
from rpms.guard.provenance import FROM_TOOL, PREDICATES
from rpms.guard.tool_forms import FactForm, PolicyForm, RecordForm, SettingsForm, ToolForm
from rpms.logic.errors import FileError
from rpms.logic.facts import Atom, Literal, parse_literal
from rpms.logic.rules import Predicate, Rule, Tier
from rpms.store.manual_reader import (
    ID,
    NAME,
    ManualReader,
    ManualSource,
    manual_kind,
    manual_text,
    read_each,
)
from rpms.store.yaml_files import Place, YamlFile, plain

_SETTINGS = ("guard", "now", "unknown", "errors", "others", "repeats", "circles", "masks", "fails")
_SECTIONS = ("records", "facts", "tools", "policies")
TOOL_MANUAL = manual_kind("a guard's manual", (*_SETTINGS, *_SECTIONS))
LAST_LINE = "..."
"""The end of a YAML document, by which a whole file is told from a half-saved one."""
AS_MANY = "argument of this tool, or part of one"
"""The role of arguments that may stand for many: `items.*`."""
ARGUMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class _Takes(NamedTuple):
    """Values that a comparison takes."""

    kind: Any
    words: str


_NUMBERS = _Takes(int | float, "a number or an argument, `<limit>`")
_MOMENTS = _Takes(str, "a moment: `now`, `now - 24h`, `now + 3d`, or 2024-05-15")
_TAKES: Mapping[str, _Takes] = {
    "exists": _Takes(bool, "true or false"),
    "matches": _Takes(str, "a regular expression"),
    "in": _Takes(list, "a list"),
    **dict.fromkeys(("at_least", "at_most", "above", "below"), _NUMBERS),
    **dict.fromkeys(("before", "after"), _MOMENTS),
}
"""What a comparison takes; those that are not here take every value."""
_COMPARED_TO_TEXT = ("starts", "ends", "contains", "matches", "inside", "under")
"""Comparisons with a text, so that `.py` is a text here and not the path of another field."""
_MEANS_PATH = re.compile(r"<[A-Za-z_][A-Za-z0-9_]*>.*|\..+")


class _FactRead(NamedTuple):
    """A fact as it is written."""

    form: FactForm
    compared: dict[str, Any]
    """Its comparisons, each of which is a key of its own."""


class _Source(NamedTuple):
    """The source of a reading's values: how they are taken, and from which path or field."""

    take: Take
    path: str


@dataclass
class _Reader(ManualReader[ToolManual]):
    """Builds one manual out of one or more files: facts, then tools, then policies, which speak
    of both.
    """

    kind = TOOL_MANUAL
    noun = "fact"
    role = "argument of this tool"
    manual: ToolManual = field(default_factory=ToolManual)
    likely: bool = False
    """True if likely mistakes are noted where there are no others."""

    def build(self, yamls: Sequence[YamlFile]) -> ToolManual:
        self.read_each_in(yamls, "records", self._record, name=True)
        self.read_each_in(yamls, "facts", self._fact, name=True)
        self.read_each_in(yamls, "tools", self._tool, name=True)
        self.read_each_in(yamls, "policies", self._policy, name=True)
        if self.likely and not self.mistakes:
            self._note_likely_mistakes(yamls)
        return self.manual

    def _note_likely_mistakes(self, yamls: Sequence[YamlFile]) -> None:
        for section, name, problem in likely_mistakes(self.manual):
            for yaml in yamls:
                if name in (yaml.tree.get(section) or ()):
                    self.mistakes.append(yaml.at(section, name).error(problem))
                    break

    def head(self, yaml: YamlFile) -> None:
        super().head(yaml)
        given = _given_settings(yaml)
        read = yaml.at().read(SettingsForm, given)
        settings = {name: getattr(read, name) for name in given}
        if "fails" in given:
            settings["fails"] = self._failures(yaml.at("fails"), read.fails)
        now = moment_of(read.now) if read.now else None
        if "now" in given:
            settings["now"] = now or self.manual.now
        # the other settings count even if the moment is a mistake
        self.manual = replace(self.manual, **settings)
        if read.now and now is None:
            raise yaml.at("now").error(
                f"{excerpt(read.now)!r} is no moment; write it like 2024-05-15T15:00:00"
            )

    def _failures(
        self, place: Place, values: Iterable[str | Mapping[str, Any]]
    ) -> tuple[str | Reading, ...]:
        found: list[str | Reading] = []
        for number, value in enumerate(values):
            found.append(self._failure(place.at(number), value))
        return tuple(found)

    def _failure(self, place: Place, value: str | Mapping[str, Any]) -> str | Reading:
        """Beginning of a failed result, or a condition on its JSON: `{path: ok, is: false}`."""
        if isinstance(value, str):
            return value
        read = self._fact_form(place, {**value, "of": RESULT})
        return self._reading(place, read.form, read.compared)

    # --- where facts are from ---

    def _record(self, place: Place, value: object) -> None:
        """Read what kind of record some tools return, and where its key and its parts are."""
        name = place.name
        read = place.read(RecordForm, value)
        if not NAME.fullmatch(name):
            raise place.error(f"{name!r} cannot name a record; write it like `reservation`")
        self.claim(place, f"record {name}")
        heads = frozenset({"arguments", RESULT})
        if read.each:
            heads |= {"item"}
        key = read_each(self._from, place.at("key"), read.key, heads)
        each = self._from(place.at("each"), read.each, heads - {"item"}) if read.each else None
        at = self._from(place.at("at"), read.at, heads) if read.at else None
        asked = None
        if read.asked:
            asked = self._from(place.at("asked"), read.asked, frozenset({"arguments"}))
        ask = read.ask or f"look up the {name}"
        self.manual.records[name] = calls.RecordKind(name, read.from_, key, each, at, ask, asked)

    def _from(self, place: Place, text: str, heads: frozenset[str]) -> Path:
        """A path whose first word is one of a few."""
        head = re.split(r"[.\[]", text, maxsplit=1)[0]
        if head not in heads:
            raise place.error(f"`{excerpt(text)}` must begin with {', '.join(sorted(heads))}")
        return place.parsed(Path.parse, f"<{head}>{text[len(head) :]}")

    def _fact(self, place: Place, value: object) -> None:
        """Read a fact: its words, and where its truth comes from."""
        name = place.name
        read, compared = self._fact_form(place, {} if value is None else value)
        if not NAME.fullmatch(name) or name == GIVEN or name in PREDICATES:
            raise place.error(f"{name!r} cannot name a fact; use small letters and `_`")
        self.claim(place, name)
        if read.of in self.broken:
            return
        if read.of:
            self._require_record(place, read)
        reading = None
        if _is_read(read, compared):
            reading = self._reading(place, read, compared)
        _require_one_source(place, read, reading)
        self.manual.facts[name] = calls.ToolFact(
            predicate=Predicate(name, read.args, read.yes, read.no),
            reading=reading,
            record=read.of,
            python=read.python,
            initially=read.initially,
            alike=ALIKE.get(read.as_),
            shared=read.shared,
        )

    def _require_record(self, place: Place, read: FactForm) -> None:
        """Raise if a fact belongs to no record, or has no argument for the record's key."""
        kind = self.manual.records.get(read.of)
        if kind is None:
            known = ", ".join(self.manual.records)
            raise place.at("of").error(f"no record is called {read.of!r}; known: {known}")
        if len(kind.key) > len(read.args):
            raise place.error(f"the first of `args` must name the {read.of}")

    def _fact_form(self, place: Place, value: object) -> _FactRead:
        """Read a fact, without the comparisons that are keys of it."""
        if not isinstance(value, Mapping):
            return _FactRead(place.read(FactForm, value), {})
        compared = {key: plain(value[key]) for key in COMPARISONS if key in value}
        read = place.read(FactForm, {key: value[key] for key in value if key not in compared})
        if read.as_ and read.as_ not in ALIKE:
            raise place.at("as").error(f"{place.name}: as: should be one of {', '.join(ALIKE)}")
        return _FactRead(read, compared)

    def _reading(self, place: Place, read: FactForm, compared: Mapping[str, Any]) -> Reading:
        source = self._source(place, read, compared)
        if read.initially is not None:
            raise place.at("initially").error("what is read from a record is not so at first")
        compare, other = next(iter(compared.items()))
        way = place.at("path").parsed(Path.parse, source.path)
        if not way.head and not read.of:
            raise place.error(
                "say of which record: `of: NAME`; or begin the path with an argument: `<items>.*`",
            )
        other = self._other(place.at(compare), compare, other)
        used = way.parameters | (other.parameters if isinstance(other, Path) else frozenset())
        for name in sorted(used - set(read.args)):
            raise place.error(f"<{name}> is none of the `args` of this fact")
        return Reading(way, compare, other, read.which, source.take, ALIKE.get(read.as_))

    def _source(self, place: Place, read: FactForm, compared: Mapping[str, Any]) -> _Source:
        """The source of a reading's values. It must have exactly one, and one comparison."""
        possible = (
            _Source(Take.EACH, read.path),
            _Source(Take.COUNT, read.count),
            _Source(Take.SUM, read.sum),
        )
        given = [source for source in possible if source.path]
        if not given and not compared:
            raise place.error("say what is read: a `path`, `count` or `sum`, and a comparison")
        if len(given) != 1 or len(compared) != 1:
            choice = ", ".join(COMPARISONS)
            raise place.error(
                f"a reading is one of `path`, `count` and `sum`, and one comparison: {choice}"
            )
        return given[0]

    def _other(self, place: Place, compare: str, other: Any) -> Any:
        """Value of a comparison, checked for what the comparison can use."""
        if isinstance(other, date):
            other = other.isoformat()
        if isinstance(other, str):
            dotted = other.startswith(".") and compare in _COMPARED_TO_TEXT
            if _MEANS_PATH.fullmatch(other) and not dotted:
                return place.parsed(Path.parse, other.removeprefix("."))
        if not _fits(compare, other):
            raise place.error(f"`{compare}` takes {_TAKES[compare].words}")
        mistake = pattern_mistake(other) if compare == "matches" else ""
        if mistake:
            raise place.error(f"the pattern {mistake}")
        return other

    # --- what is done ---

    def _tool(self, place: Place, value: object) -> None:
        """Read what a tool needs, and what its calls change."""
        name = place.name
        given = {"args": plain(value)} if isinstance(value, list) else value or {}
        read = place.read(ToolForm, given)
        self.claim(place, f"tool {name}")
        for number, argument in enumerate(read.args):
            if not ARGUMENT.fullmatch(argument) or argument == RESULT:
                raise place.at("args", number).error(
                    f"{excerpt(argument)!r} cannot be spoken of as an argument",
                )
        names = frozenset(read.args)
        needs = read_each(self._clause, place.at("needs"), read.needs, names)
        effects = read_each(self._effect, place.at("effects"), read.effects, names)
        failing = read_each(self._effect, place.at("on_failure"), read.on_failure, names)
        forgets = read_each(self._forgotten, place.at("forgets"), read.forgets, names)
        unknown = read.unknown or self.manual.unknown
        self.manual.tools[name] = calls.ToolSchema(
            name, names, needs, effects, failing, forgets, unknown, read.reads
        )

    def _effect(self, place: Place, text: str, names: frozenset[str]) -> calls.ToolEffect:
        """Read `exchanged(order_id)`, or with a condition: `confirmed if agrees(text)`."""
        head, _, condition = text.partition(" if ")
        names |= {RESULT}
        literal = self._literal(place, head, names, AS_MANY)
        fact = self.manual.facts.get(literal.atom.predicate)
        if fact is not None and not fact.set_by_calls:
            raise place.error(f"{literal.atom.predicate} is read from results; no call makes it so")
        pieces = filter(str.strip, condition.split(" and "))
        return calls.ToolEffect(
            literal, tuple(self._clause(place, piece, names) for piece in pieces)
        )

    def _forgotten(self, place: Place, text: str, names: frozenset[str]) -> Atom:
        """Read which record a tool makes stale, by its key."""
        atom = place.parsed(parse_literal, text).atom
        kind = self.manual.records.get(atom.predicate)
        if kind is None:
            raise place.error(
                f"no record is called {atom.predicate!r}; known: {', '.join(self.manual.records)}",
            )
        if len(kind.key) != len(atom.args):
            raise place.error(
                f"a {kind.name} has a key of {len(kind.key)}: write it like `{kind.name}(id)`"
            )
        args: list[str] = []
        for number in range(len(atom.args)):
            args.append(self.argument(place, Literal(atom), number, names | {RESULT}, AS_MANY))
        return Atom(atom.predicate, tuple(args))

    def _policy(self, place: Place, value: object) -> None:
        """Read a policy: the tools that it is for, when it holds, and what it then requires."""
        id_ = place.name
        read = place.read(PolicyForm, value)
        if not ID.fullmatch(id_):
            raise place.error(f"{excerpt(id_)!r} is no rule id; write it like P-CANCEL-001")
        self.claim(place, id_)
        for number, tool in enumerate(read.tools):
            if tool in self.broken:
                return
            if tool not in self.manual.tools:
                known = ", ".join(self.manual.tools) or "none"
                raise place.at("tools", number).error(
                    f"no tool is called {excerpt(tool)!r}; known: {known}"
                )
        shared = frozenset.intersection(*(self.manual.tools[tool].arguments for tool in read.tools))
        each = self._each(place.at("each"), read.each, shared)
        bound = shared | frozenset(each)
        when = read_each(self._clause, place.at("when"), read.when, bound)
        requires = read_each(self._clause, place.at("requires"), read.requires, bound)
        policy = Policy(
            rule=Rule(id_, Tier.DOMAIN, "policies", " ".join(read.text.split())),
            tools=read.tools,
            when=when,
            requires=requires,
            each=each,
            unknown=read.unknown or self.manual.unknown,
            instead=read.instead,
            warns=read.warns,
            asks=read.asks,
            sets=self._sets(place, read, shared),
        )
        self.manual = replace(self.manual, policies=(*self.manual.policies, policy))

    def _each(
        self, place: Place, sources: Mapping[str, str], names: frozenset[str]
    ) -> Mapping[str, Path]:
        """Variables that stand for each element of a list, with the way to its elements."""
        each: dict[str, Path] = {}
        for variable, source in sources.items():
            where = place.at(variable)
            text = self.argument(where, Literal(Atom("each", (source,))), 0, names, AS_MANY)
            way = where.parsed(Path.parse, text)
            each[variable] = way if way.many else Path(way.head, (*way.steps, "*"))
        return each

    def _sets(self, place: Place, read: PolicyForm, names: frozenset[str]) -> Mapping[str, Any]:
        """Arguments for a call that breaks a policy, as JSON."""
        if sum((bool(read.sets), read.warns, read.asks)) > 1:
            raise place.at("sets").error(
                "a rule `warns`, `asks` a person or `sets` arguments; choose one"
            )
        if read.sets and not (read.when or read.requires):
            raise place.at("sets").error("say when they are set: `when` or `requires`")
        sets = {}
        for name, value in read.sets.items():
            if name not in names:
                choice = ", ".join(sorted(names)) or "none here"
                raise place.at("sets", name).error(
                    f"{excerpt(name)!r} is no argument of these tools ({choice})",
                )
            try:
                sets[name] = json.loads(json.dumps(plain(value), allow_nan=False))
            except (TypeError, ValueError):
                raise place.at("sets", name).error("is not JSON; put a date in quotes") from None
        return sets

    def arities(self) -> Mapping[str, int]:
        arities = {GIVEN: 1}
        for name, fact in self.manual.facts.items():
            arities[name] = len(fact.predicate.args)
        for name, predicate in PREDICATES.items():
            arities[name] = len(predicate.args)
        return arities

    def argument(
        self,
        place: Place,
        literal: Literal,
        number: int,
        names: frozenset[str],
        role: str,
    ) -> str:
        """A fixed name without its quotes, or a path from an argument of the call, as
        `<items>.*`.
        """
        arg = literal.atom.args[number]
        if literal.atom.predicate == FROM_TOOL and number == 1 and not arg.startswith('"'):
            raise place.error(f'put the tool\'s name in double quotes: from_tool(…, "{arg}")')
        head = re.split(r"[.\[]", arg, maxsplit=1)[0]
        if head not in names:
            if arg.startswith('"<'):
                raise place.error("a fixed name cannot begin with `<`")
            return super().argument(place, literal, number, names - {arg}, role)
        text = f"<{head}>{arg[len(head) :]}"
        if place.parsed(Path.parse, text).many:
            if role != AS_MANY:
                raise place.error(f"`{excerpt(arg)}` stands for many; use `each` for that")
            if any(re.search(r"\*|\[", other) for other in literal.atom.args[:number]):
                raise place.error("only one of the arguments may stand for many")
        return text


def _given_settings(yaml: YamlFile) -> dict[str, Any]:
    """The settings that a manual has; YAML reads moments as dates, which are taken as texts."""
    given = {name: yaml.tree[name] for name in _SETTINGS if name in yaml.tree}
    if isinstance(given.get("now"), date):
        given["now"] = given["now"].isoformat()
    return given


def _fits(compare: str, other: object) -> bool:
    """True if a comparison can use a value."""
    takes = _TAKES.get(compare)
    if takes is None:
        return True
    if isinstance(other, bool):
        return takes.kind is bool
    if takes is _MOMENTS and isinstance(other, str):
        return (now_and(other, datetime.now().astimezone()) or moment_of(other)) is not None
    return isinstance(other, takes.kind)


def _is_read(read: FactForm, compared: Mapping[str, Any]) -> bool:
    """True if a fact is read from a record or from arguments."""
    says_what = bool(compared or read.path or read.count or read.sum)
    return says_what or bool(read.of and not read.python)


def _require_one_source(place: Place, read: FactForm, reading: Reading | None) -> None:
    """Raise for a fact that is told in two ways."""
    name = place.name
    if read.python and (reading or read.initially is not None):
        raise place.error(
            f"{name}: a fact is read by a path, by Python, or told by effects; choose one"
        )
    if read.shared and (reading or read.python):
        raise place.error(f"{name}: only what effects tell is shared")


def read_tool_manual(*sources: ManualSource) -> ToolManual:
    """Read a manual of one or more texts, each with its name; the first mistake is a FileError
    at its line.
    """
    return _Reader().sound(sources)


def find_tool_mistakes(*sources: ManualSource) -> list[FileError]:
    """All mistakes of a manual, in their order."""
    return _Reader().faults(sources)


def find_likely_mistakes(*sources: ManualSource) -> list[FileError]:
    """Likely mistakes in a manual without errors, in its order."""
    reader = _Reader(likely=True)
    faults = reader.faults(sources)
    return [] if reader.broken else faults


def open_tool_manual(*files: FilePath | str) -> ToolManual:
    """Read a manual from files."""
    return read_tool_manual(*map(manual_text, files))
