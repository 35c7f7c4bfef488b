"""Lines of knowledge of tasks beyond reading text in ALFWorld and ScienceWorld.

    python benchmarks/world_size.py [--at COMMIT]

Counted as knowledge of tasks: what says how a goal is reached or when it is (`TASKS`), in code and
YAML, with the goals of a manual and what its actions say for plans alone. Not counted: reading
text, goals and commands, beliefs and what they answer, prompts, simulators, and the rest of the
manuals, which prompts and guard use too: facts, actions, rules. Lines are those with code or YAML
on them: no blank line, comment or docstring.

`--at` counts an earlier state of the repository: e948465 is the last one before plans came from the
manual.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[1]
WORLDS = "src/rpms/worlds/"
TASKS = (
    "alfworld/goals.py",  # reads goals too, and is counted whole
    "scienceworld/answers.yaml",
    "scienceworld/procedures.yaml",
    "scienceworld/recipes/*",
    "scienceworld/scene.py",
    # What there was in earlier states.
    "alfworld/conditions.py",
    "scienceworld/focus.py",
    "alfworld/guidance.py",
    "alfworld/planner.py",
    "alfworld/progress.py",
    "scienceworld/conditions.py",
    "scienceworld/guidance/*",
    "scienceworld/planner/*",
    "scienceworld/procedures.py",
    "scienceworld/progress.py",
    "scienceworld/tallies.py",
)
FOR_PLANS = re.compile(r"\s+(?:observes|plan):")
"""Keys of an action that only plans use."""
WANTED = 1_200
SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_lines(text: str) -> int:
    """Lines of Python with code on them."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {
        line
        for token in tokens
        if token.type not in SILENT
        for line in range(token.start[0], token.end[0] + 1)
    }
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def yaml_lines(text: str) -> list[str]:
    return [
        line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")
    ]


def planning_lines(text: str) -> int:
    """Lines of a manual's tier 3 that only plans use: its goals, and what actions reveal or see
    to first.
    """
    count, section = 0, ""
    for line in yaml_lines(text):
        if not line.startswith(" "):
            section = line.partition(":")[0]
        count += section == "goals" or FOR_PLANS.match(line) is not None
    return count


def task_lines(path: str, text: str) -> int:
    """Lines of a world's file that are knowledge of its tasks."""
    if path.endswith("environment.yaml"):
        return planning_lines(text)
    if not any(fnmatch(path, pattern) for pattern in TASKS):
        return 0
    return code_lines(text) if path.endswith(".py") else len(yaml_lines(text))


def files(commit: str | None) -> Iterator[tuple[str, str]]:
    """The two worlds' files by their paths, as they are or as they were."""
    folders = [f"{WORLDS}{world}" for world in ("alfworld", "scienceworld")]
    if commit is None:
        found = [file for folder in folders for file in (ROOT / folder).rglob("*.*")]
        paths = sorted(str(file.relative_to(ROOT)) for file in found)
    else:
        paths = git("ls-tree", "-r", "--name-only", commit, "--", *folders).splitlines()
    for path in paths:
        if path.endswith((".py", ".yaml")):
            text = (
                (ROOT / path).read_text(encoding="utf-8")
                if commit is None
                else git("show", f"{commit}:{path}")
            )
            yield path.removeprefix(WORLDS), text


def git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"git {words[0]}: {done.stderr.strip()}")
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--at", metavar="COMMIT", help="An earlier commit of this repository.")
    counts = {path: task_lines(path, text) for path, text in files(parser.parse_args().at)}
    print("| file | lines |\n| --- | ---: |")
    for path, count in counts.items():
        if count:
            print(
                f"| {path}{', for plans' if path.endswith('environment.yaml') else ''} | {count} |"
            )
    total = sum(counts.values())
    data = sum(count for path, count in counts.items() if path.endswith(".yaml"))
    print(f"| all | {total:,} |\n")
    print(
        f"{total - data:,} lines of code and {data:,} of YAML; wanted: under {WANTED:,}, {met(total)}"
    )


def met(total: int) -> str:
    return "which is met" if total < WANTED else f"which is missed by {total - WANTED + 1:,}"


if __name__ == "__main__":
    main()
