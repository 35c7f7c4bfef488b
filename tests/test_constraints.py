"""The versions that the tests run with are written down, and used."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PINNED = re.compile(r"[a-z0-9][a-z0-9._-]*==[0-9][0-9a-z.!]*")
"""A name and a version that any index has: no address, no path, no build of one's own."""


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins() -> list[str]:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_every_line_is_a_name_and_a_version():
    assert len(pins()) > 100
    assert [line for line in pins() if not PINNED.fullmatch(line)] == []
    names = [normal(line.partition("==")[0]) for line in pins()]
    assert len(set(names)) == len(names)


def test_all_that_the_tests_install_is_in_it():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    extras = re.search(r"^EXTRAS = (.*)$", makefile, re.MULTILINE)[1].split(",")
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["test"]]
    for extra in extras:
        wanted += project["project"]["optional-dependencies"][extra]
    folders = re.search(r"^WORLDS = (.*)$", makefile, re.MULTILINE)[1].split()
    for folder in folders:
        world = tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))
        wanted += [each for each in world["project"]["dependencies"] if each != "rpms"]
    names = {normal(re.split(r"[<>=\[ ;!~]", each)[0]) for each in wanted}
    assert names <= {normal(line.partition("==")[0]) for line in pins()}


def test_make_installs_with_it():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "LOCKED = -c constraints.txt" in makefile
    installs = re.findall(r"^\t\$\(PIP\) install .*-e .*$", makefile, re.MULTILINE)
    assert len(installs) == 3
    assert all("$(LOCKED)" in line for line in installs)
    assert "make install" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
