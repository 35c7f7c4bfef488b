"""The Python of docs/environments.md runs as it stands there; what needs a server or a trainer
is marked `py`.
"""

import re
from pathlib import Path

from rpms.worlds.alfworld.games.make import make_games

DOCS = Path(__file__).parents[2] / "docs" / "environments.md"


def test_the_examples_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    make_games(0, 8, Path("games"))
    examples = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        exec(compile(example, str(DOCS), "exec"), {"__name__": "example"})
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith("(0, 0, 0, 0) (False, False, False, False) [")
    assert told[1].endswith(" 0.0 False False")
