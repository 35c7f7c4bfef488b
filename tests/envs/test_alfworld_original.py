"""The same script, with one import changed, against ALFWorld's own environment: every field is the
same.

The original plays in another process, by the Python that RPMS_TEXTWORLD_PYTHON names or else this
one.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.envs.games import config_of, make_folder

TIMES = 3 if os.environ.get("RPMS_SLOW") else 1  # the original takes seconds to load a game
PYTHON = os.environ.get("RPMS_TEXTWORLD_PYTHON", sys.executable)

ORIGINAL = """
import os, types, alfworld.agents
# The package's own __init__ also imports its visual half, which needs a simulator of rooms.
package = types.ModuleType("alfworld.agents.environment")
package.__path__ = [os.path.join(os.path.dirname(alfworld.agents.__file__), "environment")]
sys.modules[package.__name__] = package
from alfworld.agents.environment.alfred_tw_env import AlfredTWEnv
"""
OURS = "from rpms.envs.alfworld import AlfredTWEnv\n"

SCRIPT = """
import json, random, sys
job, result = sys.argv[1:]
sys.argv[1:] = []
{chosen}

NONSENSE = ["help", "", " look ", "open the door", "put x in/on y", "go to nowhere 9"]

def told(values):
    return {{name: list(values[name]) for name in ("won", "admissible_commands", "extra.gamefile")}}

seen = []
for config, part, batch, resets in json.load(open(job)):
    dice = random.Random(3)
    env = AlfredTWEnv(config, train_eval=part).init_env(batch_size=batch)
    for _ in range(resets):
        texts, infos = env.reset()
        seen.append([type(texts).__name__, list(texts), told(infos)])
        for _ in range(7):
            commands = [dice.choice(NONSENSE + 4 * list(each)) for each in infos["admissible_commands"]]
            texts, scores, dones, infos = env.step(commands)
            kinds = [type(value).__name__ for value in (texts, scores, dones, scores[0], dones[0], infos["won"][0])]
            seen.append([kinds, commands, list(texts), list(scores), list(dones), told(infos)])
    env.close()
json.dump(seen, open(result, "w"))
"""


@pytest.fixture(scope="module", autouse=True)
def real_engine() -> None:
    found = subprocess.run(
        [PYTHON, "-c", "import textworld, fast_downward, alfworld"],
        capture_output=True,
        check=False,
    )
    if found.returncode != 0:
        pytest.skip(
            f"ALFWorld's own environment is not installed for {PYTHON} (pip install 'rpms[alfworld]')"
        )


def played(python: str, chosen: str, job: Path) -> list:
    result = job.with_suffix(".played")
    script = SCRIPT.format(chosen=chosen)
    done = subprocess.run(
        [python, "-W", "ignore", "-c", script, str(job), str(result)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(result.read_text())


@pytest.mark.parametrize("dialect", ["0.3", "0.4"])
def test_every_field_is_the_originals(tmp_path, dialect):
    data = make_folder(tmp_path, 5, dialect)
    make_folder(tmp_path, 2, dialect, "valid_seen")
    config = config_of(data, steps=6)
    config["dataset"]["eval_id_data_path"] = str(
        tmp_path / f"games-{dialect}-valid_seen" / "json_2.1.1" / "valid_seen"
    )
    job = tmp_path / "job.json"
    job.write_text(
        json.dumps([(config, "train", 1, 2 * TIMES), (config, "eval_in_distribution", 2, TIMES)])
    )
    ours = played(sys.executable, OURS, job)
    assert ours == played(PYTHON, ORIGINAL, job)
    assert len(ours) == 8 * 3 * TIMES
