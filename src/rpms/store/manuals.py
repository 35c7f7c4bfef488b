"""Rule manuals on disk: YAML in three tiers, with every mistake reported at its line."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache, partial
from itertools import chain, product

from ruamel.yaml.comments import CommentedMap

from rpms.foreign.shown import excerpt
from rpms.logic.actions import PARAMETER, ActionSchema, Revelation
from rpms.logic.belief import GOAL_PREDICATES
from rpms.logic.errors import FileError
from rpms.logic.facts import Atom, Clause, Kinds, Literal, parse_literal
from rpms.logic.rules import (
    ANYTHING,
    Locality,
    Lore,
    Predicate,
    Prohibition,
    Purpose,
    Rule,
    RuleManual,
    Stage,
    Tier,
)
from rpms.store import manual_forms as forms
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
from rpms.store.yaml_files import At, YamlFile, entries_at, plain, read_yaml, validate, yaml_text

_TIERS = tuple(tier.value for tier in Tier)
_LORE = ("processes", "facts", "kinds", "always", "localities")
_KEYS = ("world", "alone", "predicates", "goals", "procedures", *_LORE, *_TIERS, REWORDED)
MANUAL = manual_kind("a manual", _KEYS)
AS_VARIABLE = "variable of its `over`"
"""The role of a goal's arguments, in messages."""
_GOAL_FIELDS = ("object", "state", "destination")


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
    purposes: list[Purpose] = field(default_factory=list)
    processes: list[ActionSchema] = field(default_factory=list)
    facts: dict[str, dict[str, frozenset[str]]] = field(default_factory=dict)
    always: list[Clause] = field(default_factory=list)
    localities: dict[str, tuple[str, ...]] = field(default_factory=dict)
    syntax: dict[str, str] = field(default_factory=dict)
    """Commands, with their parameters left blank, and the action each belongs to."""

    def build(self, yamls: Sequence[YamlFile]) -> RuleManual:
        self.read_each_in(yamls, "predicates", self._predicate, name=True)
        for yaml, predicate in product(yamls, self.predicates.values()):
            with self.noting():
                self._check_exclusive(yaml, predicate)
        self.read_each_in(yamls, "kinds", self._kinds, name=True)
        self.read_each_in(yamls, Tier.ENVIRONMENT, self._action, name=True)
        self.read_each_in(yamls, "processes", self._process)
        self.read_each_in(yamls, "facts", self._lasting_facts)
        self.read_each_in(yamls, "localities", self._locality)
        for yaml in yamls:
            with self.noting():
                texts = self._names(yaml, ("always",), yaml.tree.get("always") or [])
                self.always += read_each(self._clause, yaml, ("always",), texts)
        for section in ("procedures", "goals"):
            self.read_each_in(yamls, section, partial(self._purpose, section))
        for tier in (Tier.UNIVERSAL, Tier.DOMAIN):
            for yaml, group, _ in self.entries(yamls, tier):
                for _, name, value in self.entries([yaml], tier, group):
                    with self.noting():
                        self._rule(yaml, tier, group, name, value)
        self.read_each_in(yamls, REWORDED, self._reword)
        return RuleManual(
            tuple(self.rules),
            tuple(self.actions.values()),
            self.predicates,
            self.world,
            tuple(self.purposes),
            Lore(
                tuple(self.processes), self.facts, tuple(self.always), self.localities, self.kinds
            ),
        )

    def head(self, yaml: YamlFile) -> None:
        super().head(yaml)
        world = yaml.tree.get("world")
        if world is not None and not isinstance(world, str):
            raise yaml.error(("world",), "`world` must be a text")
        if not isinstance(yaml.tree.get("alone", False), bool):
            raise yaml.error(("alone",), "`alone` must be true or false")
        if world and self.world and str(world) != self.world:
            raise yaml.error(("world",), f"this is a manual of {world}, not of {self.world}")
        self.world = str(world) if world else self.world

    def _predicate(self, yaml: YamlFile, name: str, value: object) -> None:
        path = ("predicates", name)
        read = validate(yaml, forms.PredicateForm, value if value is not None else {}, path)
        if not NAME.fullmatch(name) or name in GOAL_PREDICATES:
            raise yaml.error(path, f"{name!r} cannot name a predicate")
        self.claim(yaml, path, name)
        self.predicates[name] = Predicate(
            name, tuple(read.args), read.yes, read.no, read.exclusive, read.lasting
        )

    def _check_exclusive(self, yaml: YamlFile, predicate: Predicate) -> None:
        together = self.predicates.get(predicate.exclusive)
        paired = together is not None and len(together.args) == 2 and len(predicate.args) == 1
        here = predicate.name in (yaml.tree.get("predicates") or ())
        if here and predicate.exclusive not in ("", "always") and not paired:
            problem = (
                f"{predicate.exclusive!r} is neither `always` nor a predicate of two such arguments"
            )
            raise yaml.error(("predicates", predicate.name, "exclusive"), f"exclusive: {problem}")

    def _action(self, yaml: YamlFile, name: str, value: object) -> None:
        path = (Tier.ENVIRONMENT.value, name)
        read = validate(yaml, forms.ActionForm, value, path)
        for place, syntax in enumerate(read.syntax):
            here = (*path, "syntax", place)
            other = self.syntax.setdefault(PARAMETER.sub("<>", syntax), name)
            if other != name:  # two schemas would contradict each other wherever they differ
                raise yaml.error(
                    here, f"`{syntax}` is a command of {other} already; a command has one schema"
                )
            names_in_order = PARAMETER.findall(syntax)
            if len(set(names_in_order)) < len(names_in_order):
                raise yaml.error(
                    here, f"a parameter stands twice in `{syntax}`; give each its own name"
                )
        if read.id and not ID.fullmatch(read.id):
            raise yaml.error((*path, "id"), f"{read.id!r} is no id; write it like E-HEAT-001")
        schema = ActionSchema(name, tuple(read.syntax), warnings=tuple(read.critical), id=read.id)
        self.claim(yaml, path, schema.id)
        names = schema.parameters
        needs = read_each(self._clause, yaml, (*path, "preconditions"), read.preconditions, names)
        gives = read_each(self._literal, yaml, (*path, "effects"), read.effects, names)
        may = read_each(self._literal, yaml, (*path, "may"), read.may, names)
        gives = (*gives, *may)
        self._check_agreement(yaml, (*path, "preconditions"), needs)
        self._check_agreement(yaml, (*path, "effects"), [Clause((literal,)) for literal in gives])
        self.actions[name] = replace(
            schema,
            preconditions=needs,
            effects=gives,
            supposed=frozenset(may),
            observes=read_each(self._revelation, yaml, (*path, "observes"), read.observes, names),
            plan=read_each(self._clause, yaml, (*path, "plan"), read.plan, names),
            steps=read.steps,
            told=read.told,
        )

    def _revelation(self, yaml: YamlFile, path: At, text: str, names: frozenset[str]) -> Revelation:
        """Read `in(_, place)` or `in(_, place) if not closed(place)`.

        Names that are no parameters stand for any.
        """
        seen, _, given = text.partition(" if ")
        free = frozenset(yaml.parsed(path, parse_literal, seen).atom.args)
        literal = self._literal(yaml, path, seen, names | free)
        if literal.negated:
            raise yaml.error(path, "an action reveals whether a fact holds; leave out `not`")
        clauses: list[Clause] = []
        bound: set[str] = set()
        for piece in given.split(" and "):
            if piece.strip():
                clause = self._clause(yaml, path, piece, names | free)
                clauses.append(clause)
                for each in clause.literals:
                    bound.update(each.atom.args)
        for name in sorted(free - names - bound - {ANYTHING}):
            if not name.startswith('"'):
                choice = ", ".join(sorted(names)) or "none here"
                raise yaml.error(
                    path, f"{name!r} is no {self.role} ({choice}); write `_` for whatever there is"
                )
        return Revelation(literal.atom, tuple(clauses))

    def _locality(self, yaml: YamlFile, name: str, value: object) -> None:
        self.localities[name] = self._names(yaml, ("localities", name), value)

    def _names(self, yaml: YamlFile, path: At, value: object) -> tuple[str, ...]:
        names = plain(value)
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise yaml.error(path, f"`{path[-1]}` must be a list of texts")
        return tuple(names)

    def _lasting_facts(self, yaml: YamlFile, predicate: str, _value: object) -> None:
        path = ("facts", predicate)
        declared = self.predicates.get(predicate)
        if declared is None or len(declared.args) != 2:
            raise yaml.error(path, f"{predicate!r} is no predicate of two arguments")
        rows = {
            name: frozenset(self._names(yaml, (*path, name), others))
            for name, others in entries_at(yaml, path)
        }
        self.facts[predicate] = {**self.facts.get(predicate, {}), **rows}

    def _kinds(self, yaml: YamlFile, predicate: str, value: object) -> None:
        """Read for which kinds a fact holds (`yes`) and for which it does not (`no`); of all
        others, it is unknown.
        """
        path = ("kinds", predicate)
        declared = self.predicates.get(predicate)
        if declared is None or len(declared.args) not in (1, 2):
            raise yaml.error(path, f"{predicate!r} is no predicate of one or two arguments")
        read = validate(yaml, forms.KindsForm, value, path)
        yes = self._kinds_table(yaml, (*path, "yes"), read.yes, len(declared.args))
        no = self._kinds_table(yaml, (*path, "no"), read.no, len(declared.args))
        both = sorted(yes & no)
        if both:
            raise yaml.error(
                path, f"contradicts itself: {', '.join(both[0])} stands under both yes and no"
            )
        self.kinds[predicate] = Kinds(yes, no)

    def _kinds_table(
        self, yaml: YamlFile, path: At, table: forms.Kinds, arguments: int
    ) -> frozenset[tuple[str, ...]]:
        """The kinds under `yes` or `no`: a list for a fact about one thing, a mapping to lists
        for one about two.
        """
        if table and isinstance(table, dict) is not (arguments == 2):
            form = "a mapping of each kind to a list of kinds"
            if arguments == 1:
                form = "a list of kinds"
            raise yaml.error(path, f"of a predicate of {arguments} argument(s), write {form}")
        if not isinstance(table, dict):
            return frozenset((kind,) for kind in table)
        rows: set[tuple[str, ...]] = set()
        for one, others in table.items():
            rows.update((one, other) for other in others)
        return frozenset(rows)

    def _process(self, yaml: YamlFile, name: str, value: object) -> None:
        """Read what a command is good for in particular.

        Every bare word in its facts is a variable.
        """
        path = ("processes", name)
        read = validate(yaml, forms.ProcessForm, value, path)
        if not self.broken - {""}:
            problem = _unknown_command(read.command, self.actions.values())
            if problem:
                raise yaml.error((*path, "command"), f"{name}: {problem}")
        free = _bare_words((*read.effects, *read.needs))
        names = frozenset(free) | frozenset(PARAMETER.findall(read.command))
        needs = read_each(self._clause, yaml, (*path, "needs"), read.needs, names)
        gives = read_each(self._literal, yaml, (*path, "effects"), read.effects, names)
        observes = read_each(self._revelation, yaml, (*path, "observes"), read.observes, names)
        if not gives and not observes:
            raise yaml.error(
                path, f"{name}: write what it brings about, as `effects` or `observes`"
            )
        others = tuple(word for word in free if f"<{word}>" not in read.command)
        unknown = [word for word in read.once if f"<{word}>" not in read.command]
        if unknown:
            raise yaml.error((*path, "once"), f"{unknown[0]!r} is no parameter of {read.command!r}")
        process = ActionSchema(
            name, (read.command,), needs, gives, observes=observes, steps=read.steps, others=others
        )
        self.processes.append(replace(process, once=tuple(read.once)))

    def _purpose(self, section: str, yaml: YamlFile, name: str, value: object) -> None:
        """Read what goals of a type want: the facts of `goals`, or the stages of `procedures`."""
        path = (section, name)
        self.claim(yaml, path, f"{section.removesuffix('s')} {name}")
        if section == "goals":
            goal = validate(yaml, forms.GoalForm, value, path)
            of_goal = partial(self._clause, role=AS_VARIABLE)
            holds = read_each(of_goal, yaml, (*path, "holds"), goal.holds, frozenset(goal.over))
            self._check_variables(yaml, path, goal.over, holds)
            self._check_agreement(yaml, (*path, "holds"), holds)
            steps = tuple(Stage("", (clause,)) for clause in holds)
            self.purposes.append(Purpose(name, goal.over, steps, frozenset({name})))
            return
        read = validate(yaml, forms.ProcedureForm, value, path)
        variables = frozenset((*read.over, *read.each))
        stages = []
        for place, step in enumerate(read.steps):
            if not step or not all(step.values()):
                raise yaml.error(
                    (*path, "steps", place),
                    "a step is a name and what ends it: `fetch: holding(x)`",
                )
            (title, until), *more = step.items()
            if more:
                problem = (
                    f"{excerpt(more[0][0])!r} is a second key of the step {title}, which ends when"
                    " its facts hold"
                )
                raise yaml.error(
                    (*path, "steps", place, more[0][0]), f"{problem}; begin another step with `- `"
                )
            here = (*path, "steps", place, title)
            texts = [until] if isinstance(until, str) else until
            ends = [self._clause(yaml, here, text, variables, AS_VARIABLE) for text in texts]
            stages.append(Stage(title, tuple(ends)))
        goals = frozenset(read.goals)
        objects = frozenset(read.objects)
        self.purposes.append(
            Purpose(name, read.over, tuple(stages), goals, objects, staged=True, each=read.each)
        )

    def _check_variables(
        self, yaml: YamlFile, path: At, over: Mapping[str, str], holds: Sequence[Clause]
    ) -> None:
        """Report a variable of a goal that nothing binds, or that nothing is wanted of."""
        used: set[str] = set()
        for clause in holds:
            used.update(*(literal.atom.args for literal in clause.literals))
        for name, source in over.items():
            if source not in _GOAL_FIELDS:
                choice = ", ".join(_GOAL_FIELDS)
                raise yaml.error(
                    (*path, "over", name),
                    f"{source!r} is no field of a goal; choose one of {choice}",
                )
            if name not in used:
                raise yaml.error(
                    (*path, "over", name), f"{name!r} stands in none of the facts that are to hold"
                )

    def _rule(self, yaml: YamlFile, tier: Tier, group: str, id_: str, value: object) -> None:
        path = (tier.value, group, id_)
        read = validate(
            yaml, forms.RuleForm, {"text": value} if isinstance(value, str) else value, path
        )
        if not ID.fullmatch(id_):
            raise yaml.error(path, f"{id_!r} is no rule id; write it like D-HEAT-001")
        self.claim(yaml, path, id_)
        when = read_each(self._clause, yaml, (*path, "when"), read.when)
        forbids = [
            self._prohibition(yaml, (*path, "forbids", place), item)
            for place, item in enumerate(read.forbids)
        ]
        locality = (
            Locality(read.category, tuple(read.objects), tuple(read.places))
            if read.places
            else None
        )
        text = " ".join(read.text.split())
        self.rules.append(
            Rule(id_, tier, group, text, frozenset(read.goals), when, tuple(forbids), locality)
        )

    def _reword(self, yaml: YamlFile, id_: str, text: object) -> None:
        """Put a world's own words in place of a principle's of tier 1."""
        path = (REWORDED, id_)
        if not isinstance(text, str) or not text.strip():
            raise yaml.error(path, f"write the words that {id_} has in this world")
        shared = [rule.id for rule in self.rules if rule.tier is Tier.UNIVERSAL]
        if shared and id_ not in shared:
            raise yaml.error(path, f"{id_} is no rule of tier 1; it has {', '.join(shared)}")
        words = " ".join(text.split())
        self.rules = [replace(rule, text=words) if rule.id == id_ else rule for rule in self.rules]

    def _prohibition(self, yaml: YamlFile, path: At, read: forms.ForbidsForm) -> Prohibition:
        action = self.actions.get(read.action)
        if action is None and read.action in self.broken:
            return Prohibition(read.action, ())
        if action is None:
            known = ", ".join(self.actions)
            raise yaml.error(
                (*path, "action"), f"no action is called {read.action!r}; known: {known}"
            )
        return Prohibition(
            read.action,
            read_each(self._clause, yaml, (*path, "when"), read.when, action.parameters),
        )

    def known(self) -> Mapping[str, int]:
        return {
            **GOAL_PREDICATES,
            **{name: len(each.args) for name, each in self.predicates.items()},
        }

    def _checked(
        self, yaml: YamlFile, path: At, literal: Literal, names: frozenset[str], role: str
    ) -> Literal:
        read = super()._checked(yaml, path, literal, names, role)
        return replace(read, kinds=self.kinds.get(literal.atom.predicate))

    def _check_agreement(self, yaml: YamlFile, path: At, clauses: Sequence[Clause]) -> None:
        """Report a list of which not all can hold: a fact and its negation, or two facts that
        exclude each other.
        """
        certain: dict[Atom, bool] = {}
        alone: dict[str, Atom] = {}
        for place, clause in sorted(enumerate(clauses), key=lambda item: len(item[1].literals)):
            literal, *others = clause.literals
            if all(
                certain.get(each.atom, each.negated) != each.negated for each in clause.literals
            ):
                raise yaml.error(
                    (*path, place),
                    f"contradicts itself: both {literal.atom} and not {literal.atom}",
                )
            if others:
                continue
            certain[literal.atom] = literal.negated
            declared = self.predicates.get(literal.atom.predicate)
            if declared is not None and declared.exclusive == "always" and not literal.negated:
                other = alone.setdefault(declared.name, literal.atom)
                if other != literal.atom:
                    problem = f"contradicts itself: {other} and {literal.atom} exclude each other"
                    raise yaml.error((*path, place), problem)


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
    blank = not PARAMETER.sub("", command).strip()
    if command == WAIT or blank or any(action.match(written) is not None for action in actions):
        return ""
    known = [WAIT, *chain.from_iterable(action.syntax for action in actions)]
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
            args = [arg.strip() for arg in inside.split(",")]
            found |= dict.fromkeys(arg for arg in args if arg and not arg.startswith('"'))
    return list(found)
