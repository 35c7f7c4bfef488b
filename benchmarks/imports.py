"""Print who imports whom, by folder, with the number of imports: `make imports`."""

from __future__ import annotations

from collections import Counter, defaultdict

import grimp

GRAPH = grimp.build_graph("rpms", cache_dir=None)


def folder(module: str) -> str:
    """The folder of a module: of the core, the room."""
    _, *parts = module.split(".")
    room = (
        parts[0] == "core" and bool(GRAPH.find_children(".".join(("rpms", *parts[:2]))))
        if parts
        else False
    )
    return ".".join(parts[: 2 if room else 1]) or "rpms"


def main() -> None:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for module in GRAPH.modules:
        for other in map(folder, GRAPH.find_modules_directly_imported_by(module)):
            found[folder(module)][other] += other != folder(module)
    for name in sorted(found, key=lambda each: len(+found[each])):
        print(
            f"{name:18}",
            ", ".join(f"{other} {count}" for other, count in (+found[name]).most_common()),
        )


if __name__ == "__main__":
    main()
