"""Manuals for tool-calling agents: YAML on what tools need and do, what policies forbid, where
facts are from.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path as FilePath
from typing import Any, NamedTuple

from rpms.foreign.shown import excerpt
from rpms.guard import calls
from rpms.guard.calls import GIVEN, RESULT, Policy, ToolManual
from rpms.guard.comparisons import ALIKE, COMPARISONS, moment_of, now_and, pattern_mistake
from rpms.guard.json_facts import Path, Reading, Take
from rpms.guard.manual_doubts import doubts_of
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
from rpms.store.yaml_files import At, YamlFile, plain, validate

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
"""Comparisons that do not take any value."""
_COMPARED_TO_TEXT = ("starts", "ends", "contains", "matches", "inside", "under")
"""Comparisons whose value may begin with a dot without naming another field: `.py`."""
_MEANS_PATH = re.compile(r"<[A-Za-z_][A-Za-z0-9_]*>.*|\..+")


@dataclass
class _Reader(ManualReader[ToolManual]):
    """Builds one manual out of one or more files: facts, then tools, then policies, which speak
    of both.
    """

    kind = TOOL_MANUAL
    noun = "fact"
    role = "argument of this tool"
    manual: ToolManual = field(default_factory=ToolManual)
    doubting: bool = False
    """True if likely mistakes are noted where there are no others."""

    def build(self, yamls: Sequence[YamlFile]) -> ToolManual:
        for section, read in zip(
            _SECTIONS, (self._record, self._fact, self._tool, self._policy), strict=True
        ):
            self.read_each_in(yamls, section, read, name=True)
        for section, name, problem in (
            doubts_of(self.manual) if self.doubting and not self.mistakes else ()
        ):
            yaml = next(each for each in yamls if name in (each.tree.get(section) or ()))
            self.mistakes.append(yaml.error((section, name), problem))
        return self.manual

    def head(self, yaml: YamlFile) -> None:
        super().head(yaml)
        given = _given_settings(yaml)
        mine = validate(yaml, SettingsForm, given, ())
        now = moment_of(mine.now) if mine.now else None
        chosen = {name: getattr(mine, name) for name in given}
        if "fails" in given:
            failures = [self._failure(yaml, place, each) for place, each in enumerate(mine.fails)]
            chosen["fails"] = tuple(failures)
        if "now" in given:
            chosen["now"] = now or self.manual.now
        self.manual = replace(self.manual, **chosen)
        if mine.now and now is None:
            raise yaml.error(
                ("now",), f"{excerpt(mine.now)!r} is no moment; write it like 2024-05-15T15:00:00"
            )

    def _failure(self, yaml: YamlFile, place: int, value: str | Mapping[str, Any]) -> str | Reading:
        """Beginning of a failed result, or a condition on its JSON: `{path: ok, is: false}`."""
        if isinstance(value, str):
            return value
        path = ("fails", place)
        return self._reading(yaml, path, *self._fact_form(yaml, path, {**value, "of": RESULT}))

    # --- where facts are from ---

    def _record(self, yaml: YamlFile, name: str, value: object) -> None:
        path = ("records", name)
        read = validate(yaml, RecordForm, value, path)
        if not NAME.fullmatch(name):
            raise yaml.error(path, f"{name!r} cannot name a record; write it like `reservation`")
        self.claim(yaml, path, f"record {name}")
        heads = frozenset({"arguments", RESULT, *(["item"] if read.each else [])})
        key = tuple(
            self._from(yaml, (*path, "key", place), text, heads)
            for place, text in enumerate(read.key)
        )
        each = self._from(yaml, (*path, "each"), read.each, heads - {"item"}) if read.each else None
        at = self._from(yaml, (*path, "at"), read.at, heads) if read.at else None
        asked = (
            self._from(yaml, (*path, "asked"), read.asked, frozenset({"arguments"}))
            if read.asked
            else None
        )
        ask = read.ask or f"look up the {name}"
        self.manual.records[name] = calls.RecordKind(name, read.from_, key, each, at, ask, asked)

    def _from(self, yaml: YamlFile, path: At, text: str, heads: frozenset[str]) -> Path:
        """A path whose first word is one of a few."""
        head = re.split(r"[.\[]", text, maxsplit=1)[0]
        if head not in heads:
            raise yaml.error(path, f"`{excerpt(text)}` must begin with {', '.join(sorted(heads))}")
        return yaml.parsed(path, Path.parse, f"<{head}>{text[len(head) :]}")

    def _fact(self, yaml: YamlFile, name: str, value: object) -> None:
        path = ("facts", name)
        read, compared = self._fact_form(yaml, path, {} if value is None else value)
        if not NAME.fullmatch(name) or name == GIVEN or name in PREDICATES:
            raise yaml.error(path, f"{name!r} cannot name a fact; use small letters and `_`")
        self.claim(yaml, path, name)
        if read.of in self.broken:
            return
        if read.of:
            self._require_record(yaml, path, read)
        reading = None
        if _is_read(read, compared):
            reading = self._reading(yaml, path, read, compared)
        _require_one_source(yaml, path, read, reading)
        self.manual.facts[name] = calls.ToolFact(
            predicate=Predicate(name, read.args, read.yes, read.no),
            reading=reading,
            record=read.of,
            python=read.python,
            initially=read.initially,
            alike=ALIKE.get(read.as_),
            shared=read.shared,
        )

    def _require_record(self, yaml: YamlFile, path: At, read: FactForm) -> None:
        """Raise where a fact is of no record, or has no argument for its key."""
        kind = self.manual.records.get(read.of)
        if kind is None:
            known = ", ".join(self.manual.records)
            raise yaml.error((*path, "of"), f"no record is called {read.of!r}; known: {known}")
        if len(kind.key) > len(read.args):
            raise yaml.error(path, f"the first of `args` must name the {read.of}")

    def _fact_form(
        self, yaml: YamlFile, path: At, value: object
    ) -> tuple[FactForm, dict[str, Any]]:
        """A fact as it is written, and its comparisons, each of which is a key of its own."""
        if not isinstance(value, Mapping):
            return validate(yaml, FactForm, value, path), {}
        compared = {key: plain(value[key]) for key in COMPARISONS if key in value}
        read = validate(
            yaml, FactForm, {key: value[key] for key in value if key not in compared}, path
        )
        if read.as_ and read.as_ not in ALIKE:
            raise yaml.error((*path, "as"), f"{path[-1]}: as: should be one of {', '.join(ALIKE)}")
        return read, compared

    def _reading(
        self, yaml: YamlFile, path: At, read: FactForm, compared: Mapping[str, Any]
    ) -> Reading:
        take, text = self._taken(yaml, path, read, compared)
        if read.initially is not None:
            raise yaml.error((*path, "initially"), "what is read from a record is not so at first")
        compare, other = next(iter(compared.items()))
        way = yaml.parsed((*path, "path"), Path.parse, text)
        if not way.head and not read.of:
            raise yaml.error(
                path,
                "say of which record: `of: NAME`; or begin the path with an argument: `<items>.*`",
            )
        other = self._other(yaml, (*path, compare), compare, other)
        used = way.parameters | (other.parameters if isinstance(other, Path) else frozenset())
        for name in sorted(used - set(read.args)):
            raise yaml.error(path, f"<{name}> is none of the `args` of this fact")
        return Reading(way, compare, other, read.which, take, ALIKE.get(read.as_))

    def _taken(
        self, yaml: YamlFile, path: At, read: FactForm, compared: Mapping[str, Any]
    ) -> tuple[Take, str]:
        """What a reading takes from a record, and where: it has one of these, and one
        comparison.
        """
        given = ((Take.EACH, read.path), (Take.COUNT, read.count), (Take.SUM, read.sum))
        taken = [(take, text) for take, text in given if text]
        if not taken and not compared:
            raise yaml.error(path, "say what is read: a `path`, `count` or `sum`, and a comparison")
        if len(taken) != 1 or len(compared) != 1:
            choice = ", ".join(COMPARISONS)
            raise yaml.error(
                path, f"a reading is one of `path`, `count` and `sum`, and one comparison: {choice}"
            )
        return taken[0]

    def _other(self, yaml: YamlFile, path: At, compare: str, other: Any) -> Any:
        """Value of a comparison, checked for what the comparison can use."""
        if isinstance(other, date):
            other = other.isoformat()
        if isinstance(other, str):
            dotted = other.startswith(".") and compare in _COMPARED_TO_TEXT
            if _MEANS_PATH.fullmatch(other) and not dotted:
                return yaml.parsed(path, Path.parse, other.removeprefix("."))
        if not _fits(compare, other):
            raise yaml.error(path, f"`{compare}` takes {_TAKES[compare].words}")
        mistake = pattern_mistake(other) if compare == "matches" else ""
        if mistake:
            raise yaml.error(path, f"the pattern {mistake}")
        return other

    # --- what is done ---

    def _tool(self, yaml: YamlFile, name: str, value: object) -> None:
        path = ("tools", name)
        read = validate(
            yaml,
            ToolForm,
            {"args": plain(value)} if isinstance(value, list) else value or {},
            path,
        )
        self.claim(yaml, path, f"tool {name}")
        for place, argument in enumerate(read.args):
            if not ARGUMENT.fullmatch(argument) or argument == RESULT:
                raise yaml.error(
                    (*path, "args", place),
                    f"{excerpt(argument)!r} cannot be spoken of as an argument",
                )
        names = frozenset(read.args)
        needs = read_each(self._clause, yaml, (*path, "needs"), read.needs, names)
        effects = read_each(self._effect, yaml, (*path, "effects"), read.effects, names)
        failing = read_each(self._effect, yaml, (*path, "on_failure"), read.on_failure, names)
        forgets = read_each(self._forgotten, yaml, (*path, "forgets"), read.forgets, names)
        unknown = read.unknown or self.manual.unknown
        self.manual.tools[name] = calls.ToolSchema(
            name, names, needs, effects, failing, forgets, unknown, read.reads
        )

    def _effect(
        self, yaml: YamlFile, path: At, text: str, names: frozenset[str]
    ) -> calls.ToolEffect:
        """Read `exchanged(order_id)`, or with a condition: `confirmed if agrees(text)`."""
        head, _, condition = text.partition(" if ")
        names |= {RESULT}
        literal = self._literal(yaml, path, head, names, AS_MANY)
        fact = self.manual.facts.get(literal.atom.predicate)
        if fact is not None and not fact.told:
            raise yaml.error(
                path, f"{literal.atom.predicate} is read from results; no call makes it so"
            )
        pieces = filter(str.strip, condition.split(" and "))
        return calls.ToolEffect(
            literal, tuple(self._clause(yaml, path, piece, names) for piece in pieces)
        )

    def _forgotten(self, yaml: YamlFile, path: At, text: str, names: frozenset[str]) -> Atom:
        atom = yaml.parsed(path, parse_literal, text).atom
        kind = self.manual.records.get(atom.predicate)
        if kind is None:
            raise yaml.error(
                path,
                f"no record is called {atom.predicate!r}; known: {', '.join(self.manual.records)}",
            )
        if len(kind.key) != len(atom.args):
            raise yaml.error(
                path, f"a {kind.name} has a key of {len(kind.key)}: write it like `{kind.name}(id)`"
            )
        places = range(len(atom.args))
        named = Literal(atom)
        args = [
            self.argument(yaml, path, named, place, names | {RESULT}, AS_MANY) for place in places
        ]
        return Atom(atom.predicate, tuple(args))

    def _policy(self, yaml: YamlFile, id_: str, value: object) -> None:
        path = ("policies", id_)
        read = validate(yaml, PolicyForm, value, path)
        if not ID.fullmatch(id_):
            raise yaml.error(path, f"{excerpt(id_)!r} is no rule id; write it like P-CANCEL-001")
        self.claim(yaml, path, id_)
        for place, tool in enumerate(read.tools):
            if tool in self.broken:
                return
            if tool not in self.manual.tools:
                known = ", ".join(self.manual.tools) or "none"
                raise yaml.error(
                    (*path, "tools", place), f"no tool is called {excerpt(tool)!r}; known: {known}"
                )
        shared = frozenset.intersection(*(self.manual.tools[tool].arguments for tool in read.tools))
        each = self._each(yaml, (*path, "each"), read.each, shared)
        bound = shared | frozenset(each)
        when = read_each(self._clause, yaml, (*path, "when"), read.when, bound)
        requires = read_each(self._clause, yaml, (*path, "requires"), read.requires, bound)
        rule = Rule(id_, Tier.DOMAIN, "policies", " ".join(read.text.split()))
        policy = Policy(
            rule,
            read.tools,
            when,
            requires,
            each,
            read.unknown or self.manual.unknown,
            read.instead,
            read.warns,
            read.asks,
            self._sets(yaml, path, read, shared),
        )
        if read.draft:
            self.manual = replace(self.manual, drafts=(*self.manual.drafts, policy))
        else:
            self.manual = replace(self.manual, policies=(*self.manual.policies, policy))

    def _each(
        self, yaml: YamlFile, path: At, sources: Mapping[str, str], names: frozenset[str]
    ) -> Mapping[str, Path]:
        """Variables that stand for each element of a list, with the way to its elements."""
        each: dict[str, Path] = {}
        for variable, source in sources.items():
            where = (*path, variable)
            text = self.argument(yaml, where, Literal(Atom("each", (source,))), 0, names, AS_MANY)
            way = yaml.parsed(where, Path.parse, text)
            each[variable] = way if way.many else Path(way.head, (*way.steps, "*"))
        return each

    def _sets(
        self, yaml: YamlFile, path: At, read: PolicyForm, names: frozenset[str]
    ) -> Mapping[str, Any]:
        """Arguments for a call that breaks a policy, as JSON."""
        if sum((bool(read.sets), read.warns, read.asks)) > 1:
            raise yaml.error(
                (*path, "sets"), "a rule `warns`, `asks` a person or `sets` arguments; choose one"
            )
        if read.sets and not (read.when or read.requires):
            raise yaml.error((*path, "sets"), "say when they are set: `when` or `requires`")
        sets = {}
        for name, value in read.sets.items():
            if name not in names:
                choice = ", ".join(sorted(names)) or "none here"
                raise yaml.error(
                    (*path, "sets", name),
                    f"{excerpt(name)!r} is no argument of these tools ({choice})",
                )
            try:
                sets[name] = json.loads(json.dumps(plain(value), allow_nan=False))
            except (TypeError, ValueError):
                raise yaml.error(
                    (*path, "sets", name), "is not JSON; put a date in quotes"
                ) from None
        return sets

    def known(self) -> Mapping[str, int]:
        return {
            **{name: len(fact.predicate.args) for name, fact in self.manual.facts.items()},
            **{name: len(predicate.args) for name, predicate in PREDICATES.items()},
            GIVEN: 1,
        }

    def argument(
        self,
        yaml: YamlFile,
        path: At,
        literal: Literal,
        place: int,
        names: frozenset[str],
        role: str,
    ) -> str:
        """A fixed name without its quotes, or a path from an argument of the call, as
        `<items>.*`.
        """
        arg = literal.atom.args[place]
        if literal.atom.predicate == FROM_TOOL and place == 1 and not arg.startswith('"'):
            raise yaml.error(path, f'put the tool\'s name in double quotes: from_tool(…, "{arg}")')
        head = re.split(r"[.\[]", arg, maxsplit=1)[0]
        if head not in names:
            if arg.startswith('"<'):
                raise yaml.error(path, "a fixed name cannot begin with `<`")
            return super().argument(yaml, path, literal, place, names - {arg}, role)
        text = f"<{head}>{arg[len(head) :]}"
        if yaml.parsed(path, Path.parse, text).many:
            if role != AS_MANY:
                raise yaml.error(path, f"`{excerpt(arg)}` stands for many; use `each` for that")
            if any(re.search(r"\*|\[", other) for other in literal.atom.args[:place]):
                raise yaml.error(path, "only one of the arguments may stand for many")
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


def _require_one_source(yaml: YamlFile, path: At, read: FactForm, reading: Reading | None) -> None:
    """Raise for a fact that is told in two ways."""
    name = path[-1]
    if read.python and (reading or read.initially is not None):
        raise yaml.error(
            path, f"{name}: a fact is read by a path, by Python, or told by effects; choose one"
        )
    if read.shared and (reading or read.python):
        raise yaml.error(path, f"{name}: only what effects tell is shared")


def read_tool_manual(*sources: ManualSource) -> ToolManual:
    """Read a manual of one or more texts, each with its name; the first mistake is a FileError
    at its line.
    """
    return _Reader().sound(sources)


def find_tool_mistakes(*sources: ManualSource) -> list[FileError]:
    """All mistakes of a manual, in their order."""
    return _Reader().faults(sources)


def find_tool_doubts(*sources: ManualSource) -> list[FileError]:
    """Likely mistakes in a manual without errors, in its order."""
    reader = _Reader(doubting=True)
    faults = reader.faults(sources)
    return [] if reader.broken else faults


def open_tool_manual(*files: FilePath | str) -> ToolManual:
    """Read a manual from files."""
    return read_tool_manual(*map(manual_text, files))
