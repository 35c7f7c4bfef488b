"""The house from outside: one name has one meaning, and no two files need each other."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src"
SHARED = {
    "Command": "one command for a simulator in both: a world's, and what a client of OpenEnv sends, who knows no world",
}
"""Public classes of which there are two, and why."""
SHARED_MODULES = {
    "base": "the protocols of worlds and of models, which authors of either import by this name",
    "belief": "the paper's term: the protocol, and what each world keeps of it",
}
"""Names of modules of which there are several outside `cli`, whose modules are named after what
they command."""


@cache
def modules() -> Mapping[str, ast.Module]:
    found = {}
    for file in sorted(SOURCE.rglob("*.py")):
        parts = file.relative_to(SOURCE).with_suffix("").parts
        if "template" not in parts:
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = ast.parse(
                file.read_text("utf-8")
            )
    return found


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                yield name if name in modules() else node.module


def test_nothing_is_evaluated():
    called = (
        (name, node.func)
        for name, tree in modules().items()
        for node in ast.walk(tree)
        if hasattr(node, "func")
    )
    assert [
        name
        for name, func in called
        if getattr(func, "id", "") in {"eval", "exec", "compile", "__import__"}
    ] == []


def test_a_public_class_has_its_name_for_itself():
    homes = defaultdict(list)
    for name, tree in modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(name)
    assert {
        name: found for name, found in homes.items() if len(found) > 1 and name not in SHARED
    } == {}


def test_a_module_has_its_name_for_itself():
    homes = defaultdict(set)
    for name in modules():
        folder, _, module = name.rpartition(".")
        if (
            not folder.startswith("rpms.cli")
            and (SOURCE / f"{name.replace('.', '/')}.py").is_file()
        ):
            world = folder.startswith("rpms.worlds.")  # each world has the same modules
            homes[module].add("rpms.worlds" if world and folder.count(".") == 2 else folder)
    assert {
        name: found
        for name, found in homes.items()
        if len(found) > 1 and name not in SHARED_MODULES
    } == {}


def test_files_need_each_other_in_one_direction_only():
    needs = {
        name: {other for other in imported(tree) if other in modules()}
        for name, tree in modules().items()
    }
    while free := [name for name, others in needs.items() if not others - {name}]:
        needs = {
            name: others.difference(free) for name, others in needs.items() if name not in free
        }
    assert [name for name in needs if _reaches(name, needs)] == []


def _reaches(name: str, needs: Mapping[str, set[str]]) -> bool:
    """True if a file needs itself by way of others."""
    seen: set[str] = set()
    queue = [other for other in needs[name] if other != name]
    while queue:
        other = queue.pop()
        if other not in seen:
            seen.add(other)
            queue += needs[other]
    return name in seen


def defined(tree: ast.Module) -> Iterator[str]:
    """The names that others may import from a module."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.ClassDef(name=name)
                | ast.Name(id=name, ctx=ast.Store())
            ):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (alias.asname or alias.name for alias in names)


PUBLIC_TO_WORLDS = (
    "rpms.worlds.base",
    "rpms.worlds.jvm",
    "rpms.logic.",
    "rpms.paper.recall",
    "rpms.paper.wording",
    "rpms.foreign.call_text",
    "rpms.foreign.json_text",
    "rpms.foreign.shown",
)
"""Modules that a world of others may need, as docs/your_own_world.md names them."""


def test_a_world_of_its_own_needs_public_modules_alone():
    """What the worlds beside this package could not do without, no stranger's world could."""
    packages = sorted(SOURCE.parent.glob("examples/*/*_world"))
    assert len(packages) == 4
    inside = [
        f"{file.relative_to(SOURCE.parent)}: {name}"
        for package in (*packages, SOURCE / "rpms/worlds/template/template_world")
        for file in package.rglob("*.py")
        for name in imported(ast.parse(file.read_text("utf-8")))
        if name.startswith("rpms.") and not name.startswith(PUBLIC_TO_WORLDS)
    ]
    assert inside == []
    page = (SOURCE.parent / "docs" / "your_own_world.md").read_text("utf-8")
    named = [name.rstrip(".").removeprefix("rpms.foreign.") for name in PUBLIC_TO_WORLDS]
    assert [name for name in named if f"`{name}`" not in page] == []


def test_what_benchmarks_and_examples_import_is_there():
    known = {name: set(defined(tree)) for name, tree in modules().items()}
    missing = []
    for file in (
        file
        for folder in ("benchmarks", "examples")
        for file in (SOURCE.parent / folder).rglob("*.py")
    ):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module in known:
                names = {
                    alias.name for alias in node.names if f"{node.module}.{alias.name}" not in known
                }
                missing += [
                    f"{file.name}: {node.module}.{name}"
                    for name in sorted(names - known[node.module])
                ]
    assert missing == []
