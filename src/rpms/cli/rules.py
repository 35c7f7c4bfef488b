"""`rpms rules`: look at a manual, check one, compare two."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from rpms.cli import rules_learn, rules_review
from rpms.cli.screen import make_console, say, stop_at_mistakes
from rpms.cli.shared_options import WorldArgument
from rpms.induction.manuals.manual_compare import Entry, Relation, compare
from rpms.logic.actions import ActionSchema, overlapping
from rpms.logic.errors import InputError
from rpms.logic.facts import grouped
from rpms.logic.goal import Goal
from rpms.logic.rules import Lore, Purpose, Rule, RuleManual, Tier
from rpms.paper.prompt import estimate_tokens
from rpms.paper.wording import rule_line, schema_lines
from rpms.play.sources import (
    choose_manual,
    manual_of,
    universal_tier,
    weakness_of_guard,
)
from rpms.store.manual_reader import manual_text
from rpms.store.manuals import find_mistakes, merged_text, read_manual
from rpms.worlds.registry import find_world, world_named, world_names

app = typer.Typer(help="Show, check, learn, test and compare rule manuals.", no_args_is_help=True)


@app.command("show")
def show(
    world: WorldArgument,
    goal: Annotated[
        str | None,
        typer.Option(
            help=(
                "Only what applies to this goal: its type, a task's name, or the goal in the"
                " world's words."
            )
        ),
    ] = None,
    manual: Annotated[str, typer.Option(help="paper, complete, or your own file.")] = "complete",
    as_yaml: Annotated[
        bool, typer.Option("--yaml", help="Print it as one file to edit, for --manual.")
    ] = False,
) -> None:
    """Print a manual, or what applies to one goal, and how many tokens it takes in a prompt."""
    found = find_world(world)
    whole = manual_of(found, choose_manual(manual))
    if as_yaml:
        say(merged_text(choose_manual(manual).texts(found)[1:]).rstrip("\n"))
        return
    console = make_console(soft_wrap=True)
    shown: tuple[Rule | ActionSchema, ...] = (*whole.rules, *whole.actions)
    purposes: Sequence[Purpose] = whole.purposes
    title = f"{world}: the whole manual"
    if goal:
        parsed = _goal(whole, found.goal(f"Your task is to: {goal}"), goal)
        active = whole.active(parsed.type, parsed.object)
        shown = (*active.rules, *active.environment)
        purposes = [each for each in whole.purposes if parsed.type in each.goals]
        title = f"{world}: active for {parsed.signature}"
    console.print(f"[bold]{escape(title)}[/bold]")
    tokens = _show_tiers(console, shown)
    console.print(f"\n[bold]goals[/bold] ({len(purposes)}), used only by plans")
    for purpose in purposes:
        console.print(escape(_wants(purpose)))
    _show_lore(console, whole.lore)
    console.print(f"\n{len(shown)} rules and actions, about {tokens} tokens in a prompt")


def _show_lore(console: Console, lore: Lore) -> None:
    """Print what no prompt shows, with its users."""
    for name, entries in _beyond(lore).items():
        if entries:
            users = "by plans and the guard" if name == "kinds" else "only by plans"
            console.print(f"\n[bold]{name}[/bold] ({len(entries)}), used {users}")
            console.print(escape("\n".join(entries)))


def _show_tiers(console: Console, shown: Sequence[Rule | ActionSchema]) -> int:
    """Print rules and actions tier by tier; the tokens that they take in a prompt."""
    tokens = 0
    for tier in Tier:
        items = [item for item in shown if _tier_of(item) is tier]
        console.print(f"\n[bold]{tier.value}[/bold] ({len(items)})")
        for item in items:
            text = rule_line(item) if isinstance(item, Rule) else schema_lines(item)
            tokens += estimate_tokens(text)
            console.print(escape(text) + escape(_notes(item)))
    return tokens


def _tier_of(item: Rule | ActionSchema) -> Tier:
    return item.tier if isinstance(item, Rule) else Tier.ENVIRONMENT


def _goal(manual: RuleManual, parsed: Goal, given: str) -> Goal:
    """The goal that was meant: a type or a task that the manual knows by name, or a goal's text."""
    types = _goal_types(manual)
    if given in types:
        return Goal(given)
    matches = [type_ for type_ in types if type_.startswith(given)]
    if len(matches) > 1:
        raise InputError(f"{given!r} fits several goal types: {', '.join(matches)}")
    if matches:
        return Goal(matches[0])
    type_ = _type_of_task(manual, given)
    if type_:
        return Goal(type_, given)
    if parsed.type == "unknown":
        raise InputError(f"unknown goal {given!r}; goal types: {', '.join(types)}")
    return parsed


def _goal_types(manual: RuleManual) -> list[str]:
    """Types of goals that rules or purposes of a manual are for."""
    types: set[str] = set()
    for rule in manual.rules:
        types |= rule.goals
    for purpose in manual.purposes:
        types |= purpose.goals
    return sorted(types)


def _type_of_task(manual: RuleManual, name: str) -> str:
    """The one goal type whose rules name a task, as ScienceWorld's do; empty if there is none."""
    types: set[frozenset[str]] = set()
    for rule in manual.rules:
        if rule.locality is not None and name in rule.locality.objects:
            types.add(rule.goals)
    match [tuple(goals) for goals in types]:
        case [(type_,)]:
            return type_
    return ""


def _wants(purpose: Purpose) -> str:
    """A goal or procedure with the facts that it wants, stage by stage, under its title."""
    lines = [f"  {_title(purpose)}:"]
    for step in purpose.steps:
        name = f"{step.name}: " if step.name else ""
        lines.append(f"    {name}{' and '.join(map(str, step.until))}")
    return "\n".join(lines)


def _title(purpose: Purpose) -> str:
    """A goal's name, the goals that a procedure is for, and what its variables mean."""
    title = purpose.name
    if purpose.staged:
        title += f", for {_listed(purpose.goals)}"
    if purpose.staged and purpose.objects:
        title += f" of {_listed(purpose.objects)}"
    variables = [f"{name} is the {field}" for name, field in purpose.over.items()]
    variables += [f"{name} is each of the {field}" for name, field in purpose.each.items()]
    return f"{title} ({', '.join(variables)})" if variables else title


def _beyond(lore: Lore) -> dict[str, list[str]]:
    """Knowledge for plans beyond actions and goals, by its key in a manual."""
    facts = []
    for predicate, table in lore.facts.items():
        rows = [f"    {name}: {_listed(others)}" for name, others in table.items()]
        facts.append("\n".join((f"  {predicate}:", *rows)))
    tables = []
    for predicate, kinds in lore.kinds.items():
        rows = [*_rows("yes", kinds.yes), *_rows("no", kinds.no)]
        tables.append("\n".join((f"  {predicate}:", *rows)))
    localities = []
    for name, places in lore.localities.items():
        localities.append(f"  {name}: {', '.join(places)}")
    return {
        "quantities": ["\n".join(quantity.lines()) for quantity in lore.quantities],
        "processes": [schema_lines(process) + _notes(process) for process in lore.processes],
        "facts": facts,
        "kinds": tables,
        "localities": localities,
        "always": [f"  {clause}" for clause in lore.always],
    }


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _rows(title: str, table: frozenset[tuple[str, ...]]) -> list[str]:
    """Lines of a table: single kinds all in one, pairs in one for each first kind."""
    alone: list[str] = []
    seconds: dict[str, list[str]] = {}
    for first, *others in sorted(table):
        if others:
            seconds.setdefault(first, []).append(others[0])
        else:
            alone.append(first)
    lines = [f"    {title}: {_listed(alone)}"] if alone else []
    lines += [f"    {title}: {first} with {_listed(names)}" for first, names in seconds.items()]
    return lines


def _notes(item: Rule | ActionSchema) -> str:
    """Notes on a rule or an action that its line in a prompt lacks."""
    return _notes_on_action(item) if isinstance(item, ActionSchema) else _notes_on_rule(item)


def _notes_on_action(action: ActionSchema) -> str:
    notes = {
        "Gives": "; ".join(map(str, action.effects)),
        "Reveals": "; ".join(map(str, action.observes)),
        "Plans first see to": "; ".join(map(str, action.plan)),
        "Takes": f"{action.steps:g} steps" if action.steps != 1 else "",
    }
    return "".join(f"\n    {name}: {text}" for name, text in notes.items() if text)


def _notes_on_rule(rule: Rule) -> str:
    said = [f"forbids {ban}" for ban in rule.forbids]
    if rule.when:
        said.insert(0, f"when {' and '.join(map(str, rule.when))}")
    if rule.goals:
        said.insert(0, f"for {_listed(rule.goals)}")
    return f"  ({'; '.join(said)})" if said else ""


@app.command("check")
def check(
    files: Annotated[
        list[Path],
        typer.Argument(help="The YAML files of one manual, or a world's name.", show_default=False),
    ],
) -> None:
    """Check a manual. Mistakes are printed with file and line, and the exit code is 2."""
    if len(files) == 1 and not files[0].exists() and str(files[0]) in world_names():
        _found_sound(manual_of(find_world(str(files[0]))))
        return
    texts = [manual_text(file) for file in files]
    stop_at_mistakes(find_mistakes(*texts))
    manual = read_manual(*texts)
    if not any(rule.tier is Tier.UNIVERSAL for rule in manual.rules):
        stop_at_mistakes(find_mistakes(universal_tier(), *texts))
    _found_sound(manual)


def _found_sound(manual: RuleManual) -> None:
    """Say what a manual without mistakes holds, and what may still be weak in it."""
    checkable = sum(bool(action.preconditions or action.effects) for action in manual.actions)
    counts = [
        f"{len(manual.rules)} rules",
        f"{len(manual.actions)} actions ({checkable} with checkable preconditions or effects)",
        f"{len(manual.predicates)} predicates",
    ]
    if manual.purposes:
        counts.append(f"{len(manual.purposes)} goals and procedures")
    if manual.lore.processes:
        counts.append(f"{len(manual.lore.processes)} processes")
    say(f"ok: {', '.join(counts)}")
    weak = weakness_of_guard(manual)
    if weak:
        say(f"note: {weak}")
    for narrower, other in overlapping(manual.actions):
        say(
            f"note: every `{narrower}` is also a `{other}`; it is read as `{narrower}`, which is"
            " more specific"
        )


@app.command("diff")
def diff(
    first: Annotated[
        str, typer.Argument(help="A manual's file, or a world for its own manual.", metavar="A")
    ],
    second: Annotated[str, typer.Argument(help="The same, to compare with A.", metavar="B")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare the lines of two manuals. The exit code is 0 if they are equal, 1 if they differ.

    Actions are matched by their commands, not by their names. `stricter` means that B has more
    needs, prohibitions or wanted facts than A, `looser` the opposite. A line is marked `=` if both
    have it, `-` if only A has it, `+` if only B.
    """
    entries = compare(_opened(first), _opened(second))
    if as_json:
        say(json.dumps([asdict(entry) for entry in entries], ensure_ascii=True, indent=1))
    else:
        say("\n".join((f"A: {first}", f"B: {second}", *_difference_lines(entries))))
    raise typer.Exit(int(any(entry.relation is not Relation.EQUAL for entry in entries)))


def _opened(name: str) -> RuleManual:
    """A manual as it is used: a file over the manual of the world that it names, or a world's."""
    file = Path(name)
    if file.is_file():
        return _opened_file(file)
    means_a_file = "/" in name or file.suffix in (".yaml", ".yml")
    if means_a_file and not file.is_dir():
        raise InputError(f"{name}: there is no such manual")
    return manual_of(find_world(name))


def _opened_file(file: Path) -> RuleManual:
    alone = read_manual(universal_tier(), manual_text(file))
    if not alone.world:
        return alone
    try:
        world = world_named(alone.world, file)
    except InputError:
        return alone  # its world is not installed here; it can be read all the same
    return manual_of(world, choose_manual(file))


def _difference_lines(entries: list[Entry]) -> Iterator[str]:
    """Lines about two manuals' differences, by sort of entry, with a count of each relation."""
    in_order = list(Relation)
    for sort, same_sort in grouped((entry.sort, entry) for entry in entries).items():
        counts = Counter(entry.relation for entry in same_sort)
        numbers = [f"{counts[each]} {each.value}" for each in in_order if counts[each]]
        yield f"\n{sort}s: {', '.join(numbers)}"
        for entry in sorted(same_sort, key=lambda each: in_order.index(each.relation)):
            yield f"  {entry.relation.value}: {entry.name}"
            if entry.relation is not Relation.EQUAL:
                for line in entry.lines:
                    yield f"      {line.sign} {line.part}: {line.text}"


app.command("review")(rules_review.review)
app.command("mend")(rules_review.mend)
app.command("learn")(rules_learn.learn)
app.command("verify")(rules_learn.check_against)
