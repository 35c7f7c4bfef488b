"""Show where two recordings differ: `python tests/golden/compare.py A B [--lines N]`.

Both are folders that `record.py --out` wrote. Only cases that both of them have are compared.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from itertools import islice
from pathlib import Path

WIDTH = 160


def compared_names(a: Path, b: Path) -> list[str]:
    """The outputs of all cases that both folders have."""
    cases = {folder.name for folder in a.iterdir()} & {folder.name for folder in b.iterdir()}
    names = set()
    for top in (a, b):
        for case in cases:
            names |= {path.relative_to(top).as_posix() for path in (top / case).glob("*.txt")}
    return sorted(names)


def first_differences(a: Path, b: Path, lines: int) -> list[str]:
    """The first lines of the difference between two files; either may be missing."""
    if not a.exists():
        return ["only in the second"]
    if not b.exists():
        return ["only in the first"]
    old = wrapped(a)
    new = wrapped(b)
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    window = slice(max(start - 2, 0), start + 200)  # a whole page would take long to compare
    changes = difflib.unified_diff(old[window], new[window], n=2, lineterm="")
    shown = list(islice(changes, 3, 3 + lines))
    return [f"from line {start + 1} on:", *shown]


def wrapped(path: Path) -> list[str]:
    """The lines of a file, long ones in several pieces, so that a difference in one is seen."""
    pieces = []
    for line in path.read_text(encoding="utf-8").splitlines():
        pieces += [line[at : at + WIDTH] for at in range(0, max(len(line), 1), WIDTH)]
    return pieces


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("a", type=Path)
    parser.add_argument("b", type=Path)
    parser.add_argument("--lines", type=int, default=20, help="the most lines shown of an output")
    given = parser.parse_args()
    for folder in (given.a, given.b):
        if not folder.is_dir():
            parser.error(f"{folder} is no folder of a recording")
    differing = 0
    names = compared_names(given.a, given.b)
    for name in names:
        first = given.a / name
        second = given.b / name
        if first.exists() and second.exists() and first.read_bytes() == second.read_bytes():
            continue
        differing += 1
        print(f"##### {name}")
        for line in first_differences(first, second, given.lines):
            print(line)
    print(f"{differing} of {len(names)} outputs differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
