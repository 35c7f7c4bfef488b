"""Rule manuals on disk: YAML in three tiers, with every mistake reported at its line."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache
from itertools import product

from ruamel.yaml.comments import CommentedMap

from rpms.foreign.shown import excerpt
from rpms.logic.actions import PARAMETER, ActionSchema, Revelation
from rpms.logic.belief import GOAL_PREDICATES
from rpms.logic.errors import FileError
from rpms.logic.facts import Clause, Kinds, Literal, parse_literal
from rpms.logic.rules import (
    ANYTHING,
    Locality,
    Lore,
    Predicate,
    Prohibition,
    Rule,
    RuleManual,
    Tier,
)
from rpms.store import manual_forms as forms
from rpms.store.manual_purposes import PurposeReader, check_agreement
from rpms.store.manual_quantities import QuantityReader
from rpms.store.manual_reader import (
    ID,
    NAME,
    REWORDED,
    ManualReader,
    ManualText,
    give_way,
    manual_kind,
    read_each,
)
from rpms.store.yaml_files import Place, YamlFile, plain, read_yaml, yaml_text

_TIERS = tuple(tier.value for tier in Tier)
_LORE = ("quantities", "processes", "facts", "kinds", "always", "localities")
_KEYS = ("world", "alone", "predicates", "goals", "procedures", *_LORE, *_TIERS, REWORDED)
MANUAL = manual_kind("a manual", _KEYS)


@dataclass
class _Reader(ManualReader[RuleManual]):
    """Builds a world's manual: predicates first, then actions, then the rules, which may speak
    of both.
    """

    kind = MANUAL
    predicates: dict[str, Predicate] = field(default_factory=dict)
    kinds: dict[str, Kinds] = field(default_factory=dict)

    world: str = ""
    rules: list[Rule] = field(default_factory=list)
    actions: dict[str, ActionSchema] = field(default_factory=dict)
    processes: list[ActionSchema] = field(default_factory=list)
    facts: dict[str, dict[str, frozenset[str]]] = field(default_factory=dict)
    always: list[Clause] = field(default_factory=list)
    localities: dict[str, tuple[str, ...]] = field(default_factory=dict)
    numbers: QuantityReader = field(init=False)
    wanted: PurposeReader = field(init=False)
    syntax: dict[str, str] = field(default_factory=dict)
    """Commands, with their parameters left blank, and the action each belongs to."""

    def __post_init__(self) -> None:
        self.numbers = QuantityReader(self._clause, self._literal)
        self.wanted = PurposeReader(self._clause, self.claim, self._is_exclusive)

    def build(self, yamls: Sequence[YamlFile]) -> RuleManual:
        self.read_each_in(yamls, "predicates", self._predicate, name=True)
        for yaml, predicate in product(yamls, self.predicates.values()):
            with self.noting():
                self._check_exclusive(yaml, predicate)
        self.read_each_in(yamls, "kinds", self._kinds, name=True)
        self.read_each_in(yamls, "quantities", self.numbers.add)
        self.mistakes += self.numbers.circular()
        self.read_each_in(yamls, Tier.ENVIRONMENT, self._action, name=True)
        self.read_each_in(yamls, "processes", self._process)
        self.read_each_in(yamls, "facts", self._lasting_facts)
        self.read_each_in(yamls, "localities", self._locality)
        for yaml in yamls:
            with self.noting():
                place = yaml.at("always")
                texts = self._names(place, yaml.tree.get("always") or [])
                self.always += read_each(self._clause, place, texts)
        self.read_each_in(yamls, "procedures", self.wanted.add_procedure)
        self.read_each_in(yamls, "goals", self.wanted.add_goal)
        for tier in (Tier.UNIVERSAL, Tier.DOMAIN):
            for group, _ in self.entries(yamls, tier):
                for place, value in self.entries([group.yaml], tier, group.name):
                    with self.noting():
                        self._rule(tier, group.name, place, value)
        self.read_each_in(yamls, REWORDED, self._reword)
        return RuleManual(
            tuple(self.rules),
            tuple(self.actions.values()),
            self.predicates,
            self.world,
            tuple(self.wanted.purposes),
            Lore(
                tuple(self.processes),
                self.facts,
                tuple(self.always),
                self.localities,
                self.kinds,
                tuple(self.numbers.quantities),
            ),
        )

    def head(self, yaml: YamlFile) -> None:
        super().head(yaml)
        world = yaml.tree.get("world")
        if world is not None and not isinstance(world, str):
            raise yaml.at("world").error("`world` must be a text")
        if not isinstance(yaml.tree.get("alone", False), bool):
            raise yaml.at("alone").error("`alone` must be true or false")
        if world and self.world and str(world) != self.world:
            raise yaml.at("world").error(f"this is a manual of {world}, not of {self.world}")
        self.world = str(world) if world else self.world

    def _predicate(self, place: Place, value: object) -> None:
        name = place.name
        read = place.read(forms.PredicateForm, {} if value is None else value)
        if not NAME.fullmatch(name) or name in GOAL_PREDICATES:
            raise place.error(f"{name!r} cannot name a predicate")
        self.claim(place, name)
        self.predicates[name] = Predicate(
            name, tuple(read.args), read.yes, read.no, read.exclusive, read.lasting
        )

    def _check_exclusive(self, yaml: YamlFile, predicate: Predicate) -> None:
        together = self.predicates.get(predicate.exclusive)
        paired = together is not None and len(together.args) == 2 and len(predicate.args) == 1
        here = predicate.name in (yaml.tree.get("predicates") or ())
        if here and predicate.exclusive not in ("", "always") and not paired:
            place = yaml.at("predicates", predicate.name, "exclusive")
            raise place.error(
                f"exclusive: {predicate.exclusive!r} is neither `always` nor a predicate of two"
                " such arguments"
            )

    def _action(self, place: Place, value: object) -> None:
        """Read the schema of an action, and check that it does not contradict itself."""
        name = place.name
        read = place.read(forms.ActionForm, value)
        for number, syntax in enumerate(read.syntax):
            self._check_syntax(place.at("syntax", number), syntax, name)
        if read.id and not ID.fullmatch(read.id):
            raise place.at("id").error(f"{read.id!r} is no id; write it like E-HEAT-001")
        schema = ActionSchema(name, tuple(read.syntax), warnings=tuple(read.critical), id=read.id)
        self.claim(place, schema.id)
        names = schema.parameters
        needs = read_each(self._clause, place.at("preconditions"), read.preconditions, names)
        gives = read_each(self._literal, place.at("effects"), read.effects, names)
        may = read_each(self._literal, place.at("may"), read.may, names)
        gives = (*gives, *may)
        check_agreement(place.at("preconditions"), needs, self._is_exclusive)
        given = [Clause((each,)) for each in gives]
        check_agreement(place.at("effects"), given, self._is_exclusive)
        self.actions[name] = replace(
            schema,
            preconditions=needs,
            effects=gives,
            supposed=frozenset(may),
            observes=read_each(self._revelation, place.at("observes"), read.observes, names),
            plan=read_each(self._clause, place.at("plan"), read.plan, names),
            steps=read.steps,
            told=read.told,
        )

    def _check_syntax(self, place: Place, syntax: str, name: str) -> None:
        """Refuse a command that another action has, or in which a parameter stands twice."""
        other = self.syntax.setdefault(PARAMETER.sub("<>", syntax), name)
        if other != name:  # two schemas would contradict each other wherever they differ
            raise place.error(
                f"`{syntax}` is a command of {other} already; a command has one schema"
            )
        names_in_order = PARAMETER.findall(syntax)
        if len(set(names_in_order)) < len(names_in_order):
            raise place.error(f"a parameter stands twice in `{syntax}`; give each its own name")

    def _revelation(self, place: Place, text: str, names: frozenset[str]) -> Revelation:
        """Read `in(_, place)` or `in(_, place) if not closed(place)`.

        Names that are no parameters stand for any.
        """
        seen, _, given = text.partition(" if ")
        free = frozenset(place.parsed(parse_literal, seen).atom.args)
        literal = self._literal(place, seen, names | free)
        if literal.negated:
            raise place.error("an action reveals whether a fact holds; leave out `not`")
        clauses: list[Clause] = []
        bound: set[str] = set()
        for piece in given.split(" and "):
            if piece.strip():
                clause = self._clause(place, piece, names | free)
                clauses.append(clause)
                for each in clause.literals:
                    bound.update(each.atom.args)
        for name in sorted(free - names - bound - {ANYTHING}):
            if not name.startswith('"'):
                choice = ", ".join(sorted(names)) or "none here"
                raise place.error(
                    f"{name!r} is no {self.role} ({choice}); write `_` for whatever there is"
                )
        return Revelation(literal.atom, tuple(clauses))

    def _locality(self, place: Place, value: object) -> None:
        self.localities[place.name] = self._names(place, value)

    def _names(self, place: Place, value: object) -> tuple[str, ...]:
        names = plain(value)
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise place.error(f"`{place.name}` must be a list of texts")
        return tuple(names)

    def _lasting_facts(self, place: Place, _value: object) -> None:
        predicate = place.name
        declared = self.predicates.get(predicate)
        if declared is None or len(declared.args) != 2:
            raise place.error(f"{predicate!r} is no predicate of two arguments")
        rows: dict[str, frozenset[str]] = {}
        for row, others in place.entries():
            rows[row.name] = frozenset(self._names(row, others))
        self.facts.setdefault(predicate, {}).update(rows)

    def _kinds(self, place: Place, value: object) -> None:
        """Read for which kinds a fact holds (`yes`) and for which it does not (`no`); of all
        others, it is unknown.
        """
        predicate = place.name
        declared = self.predicates.get(predicate)
        if declared is None or len(declared.args) not in (1, 2):
            raise place.error(f"{predicate!r} is no predicate of one or two arguments")
        read = place.read(forms.KindsForm, value)
        yes = self._kinds_table(place.at("yes"), read.yes, len(declared.args))
        no = self._kinds_table(place.at("no"), read.no, len(declared.args))
        both = sorted(yes & no)
        if both:
            raise place.error(
                f"contradicts itself: {', '.join(both[0])} stands under both yes and no"
            )
        self.kinds[predicate] = Kinds(yes, no)

    def _kinds_table(
        self, place: Place, table: forms.Kinds, arguments: int
    ) -> frozenset[tuple[str, ...]]:
        """The kinds under `yes` or `no`: a list for a fact about one thing, a mapping to lists
        for one about two.
        """
        if table and isinstance(table, dict) is not (arguments == 2):
            form = "a mapping of each kind to a list of kinds"
            if arguments == 1:
                form = "a list of kinds"
            raise place.error(f"of a predicate of {arguments} argument(s), write {form}")
        if not isinstance(table, dict):
            return frozenset((kind,) for kind in table)
        rows: set[tuple[str, ...]] = set()
        for one, others in table.items():
            for other in others:
                rows.add((one, other))
        return frozenset(rows)

    def _process(self, place: Place, value: object) -> None:
        """Read what a command is good for in particular.

        Every bare word in its facts is a variable.
        """
        name = place.name
        read = place.read(forms.ProcessForm, value)
        if not self.broken - {""}:
            problem = _unknown_command(read.command, self.actions.values())
            if problem:
                raise place.at("command").error(f"{name}: {problem}")
        free = _bare_words((*read.effects, *read.needs))
        names = frozenset(free) | frozenset(PARAMETER.findall(read.command))
        needs = read_each(self._clause, place.at("needs"), read.needs, names)
        gives = read_each(self._literal, place.at("effects"), read.effects, names)
        observes = read_each(self._revelation, place.at("observes"), read.observes, names)
        if not gives and not observes:
            raise place.error(f"{name}: write what it brings about, as `effects` or `observes`")
        for word in read.once:
            if f"<{word}>" not in read.command:
                raise place.at("once").error(f"{word!r} is no parameter of {read.command!r}")
        others = tuple(word for word in free if f"<{word}>" not in read.command)
        process = ActionSchema(
            name, (read.command,), needs, gives, observes=observes, steps=read.steps, others=others
        )
        self.processes.append(replace(process, once=tuple(read.once)))

    def _rule(self, tier: Tier, group: str, place: Place, value: object) -> None:
        """Read a rule: its sentence, and what lets it be checked."""
        id_ = place.name
        read = place.read(forms.RuleForm, {"text": value} if isinstance(value, str) else value)
        if not ID.fullmatch(id_):
            raise place.error(f"{id_!r} is no rule id; write it like D-HEAT-001")
        self.claim(place, id_)
        when = read_each(self._clause, place.at("when"), read.when)
        forbids: list[Prohibition] = []
        for number, item in enumerate(read.forbids):
            forbids.append(self._prohibition(place.at("forbids", number), item))
        locality = None
        if read.places:
            locality = Locality(read.category, read.objects, read.places)
        text = " ".join(read.text.split())
        self.rules.append(
            Rule(id_, tier, group, text, frozenset(read.goals), when, tuple(forbids), locality)
        )

    def _reword(self, place: Place, text: object) -> None:
        """Put a world's own words in place of a principle's of tier 1."""
        id_ = place.name
        if not isinstance(text, str) or not text.strip():
            raise place.error(f"write the words that {id_} has in this world")
        shared = [rule.id for rule in self.rules if rule.tier is Tier.UNIVERSAL]
        if shared and id_ not in shared:
            raise place.error(f"{id_} is no rule of tier 1; it has {', '.join(shared)}")
        words = " ".join(text.split())
        for number, rule in enumerate(self.rules):
            if rule.id == id_:
                self.rules[number] = replace(rule, text=words)

    def _prohibition(self, place: Place, read: forms.ForbidsForm) -> Prohibition:
        action = self.actions.get(read.action)
        if action is None and read.action in self.broken:
            return Prohibition(read.action, ())
        if action is None:
            known = ", ".join(self.actions)
            raise place.at("action").error(f"no action is called {read.action!r}; known: {known}")
        when = read_each(self._clause, place.at("when"), read.when, action.parameters)
        return Prohibition(read.action, when)

    def arities(self) -> Mapping[str, int]:
        arities = dict(GOAL_PREDICATES)
        for name, predicate in self.predicates.items():
            arities[name] = len(predicate.args)
        return arities

    def _checked(self, place: Place, literal: Literal, names: frozenset[str], role: str) -> Literal:
        read = super()._checked(place, literal, names, role)
        return replace(read, kinds=self.kinds.get(literal.atom.predicate))

    def _is_exclusive(self, predicate: str) -> bool:
        """True if at most one fact of a predicate holds at a time."""
        declared = self.predicates.get(predicate)
        return declared is not None and declared.exclusive == "always"


_LONGEST_COMPARED = 200
"""Characters of a command in which its nearest neighbour is looked for; finding it takes the
square of that."""
WAIT = "wait"
"""Command that lets time pass. A process may name it without an action: it needs and does
nothing by itself."""


def _unknown_command(command: str, actions: Collection[ActionSchema]) -> str:
    """Fault of a process's command that no action writes, with the nearest one; not of `wait`
    or a mere parameter.
    """
    written = PARAMETER.sub("x", command)
    if command == WAIT or not PARAMETER.sub("", command).strip():
        return ""
    known = [WAIT]
    for action in actions:
        if action.match(written) is not None:
            return ""
        known += action.syntax
    nearest = get_close_matches(command[:_LONGEST_COMPARED], known, 1, 0.0)[0]
    return (
        f"no action writes the command {excerpt(command)!r}; the nearest known one is `{nearest}`"
    )


# a run checks its manual before it plays by it, and each of its parts asks for it again
@lru_cache(maxsize=4)
def read_manual(*sources: ManualText) -> RuleManual:
    """Read a manual made of one or more texts; the first mistake is a FileError with its file
    and line.
    """
    return _Reader().sound(sources)


def find_mistakes(*sources: ManualText) -> list[FileError]:
    """All mistakes of a manual, at most one for each entry, in their order."""
    return _Reader().faults(sources)


def merged_text(sources: Sequence[ManualText]) -> str:
    """A manual of several texts as the text of one that stands alone, with their comments."""
    first, *others = yamls = [read_yaml(source.name, source.text, MANUAL) for source in sources]
    for place, source in enumerate(sources):
        if source.own:
            give_way(yamls[:place], yamls[place])
    for each in others:
        _join(first.tree, each.tree)
    first.tree.insert(1, "alone", value=True)
    return yaml_text(first.tree)


def _join(tree: CommentedMap, more: CommentedMap) -> None:
    for key, value in more.items():
        there = tree.get(key)
        if isinstance(there, CommentedMap):
            _join(there, value)
        elif isinstance(there, list):
            there.extend(value)
        else:
            tree[key] = value
            tree.ca.items.update({key: more.ca.items[key]} if key in more.ca.items else {})


def _bare_words(facts: Iterable[str]) -> list[str]:
    """The arguments of facts that stand in no quotes, each once: variables of a process."""
    found: dict[str, None] = {}
    for fact in facts:
        for inside in re.findall(r"\(([^()]*)\)", fact):
            for arg in map(str.strip, inside.split(",")):
                if arg and not arg.startswith('"'):
                    found[arg] = None
    return list(found)
