"""Generated games in ALFWorld's own engine: the same observations and admissible commands, and the
walkthrough wins.

It plays in another process, by the Python that RPMS_TEXTWORLD_PYTHON names or else this one (extra
`alfworld`).
"""

import json
import os
import subprocess
import sys

import pytest

from rpms.worlds.alfworld.engine.gamefile import load_engine
from rpms.worlds.alfworld.engine.texts import DIALECTS
from rpms.worlds.alfworld.games.house import Dice
from rpms.worlds.alfworld.games.make import make_game, make_games

PYTHON = os.environ.get("RPMS_TEXTWORLD_PYTHON", sys.executable)

PLAYER = """
import json, sys
job, result = sys.argv[1:]
sys.argv[1:] = []
import textworld
from alfworld.agents.utils.misc import Demangler

class Names(textworld.core.Wrapper):
    def load(self, *args, **kwargs):
        super().load(*args, **kwargs)
        demangler = Demangler(game_infos=self._entity_infos, shuffle=False)
        for info in self._entity_infos.values():
            info.name = demangler.demangle_alfred_name(info.id)

def seen(state):
    return [state.feedback, sorted(state["admissible_commands"]), bool(state["won"])]

games = []
for path, plays in json.load(open(job)):
    infos = textworld.EnvInfos(won=True, admissible_commands=True)
    env = textworld.start(path, infos, wrappers=[Names])
    games.append([[seen(env.reset())] + [seen(env.step(command)[0]) for command in play] for play in plays])
    env.close()
json.dump(games, open(result, "w"))
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [PYTHON, "-W", "ignore", "-c", *arguments], capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module", autouse=True)
def real_engine() -> None:
    if run("import textworld, alfworld.agents.utils.misc").returncode != 0:
        pytest.skip(
            f"ALFWorld's own engine is not installed for {PYTHON} (pip install 'rpms[alfworld]')"
        )


def native(path: str, commands: list[str]) -> list[list[object]]:
    engine = load_engine(path)
    state, observation = engine.reset()
    seen: list[list[object]] = [[observation, list(engine.admissible(state)), engine.won(state)]]
    for command in commands:
        state, observation = engine.step(state, command)
        seen.append([observation, list(engine.admissible(state)), engine.won(state)])
    return seen


def random_walk(path: str, dice: Dice, steps: int) -> list[str]:
    """Walk at random but not home: a step is drawn from what is possible, mostly from what is
    not mere going.
    """
    engine = load_engine(path)
    state, commands = engine.start, []
    while len(commands) < steps and not engine.won(state):
        possible = engine.admissible(state)
        doing = [command for command in possible if not command.startswith("go to")]
        commands.append(dice.pick(doing if dice.chance(65) else possible))
        state = engine.step(state, commands[-1]).state
    return commands


@pytest.mark.timeout(
    600
)  # the real engine takes about three seconds to load a game and 100 ms a step
@pytest.mark.parametrize("dialect", DIALECTS)
def test_generated_games_play_alike_in_the_real_engine(tmp_path, dialect):
    made = make_games(5, 6, tmp_path / "games", dialect=dialect)
    jobs = []
    for index, name in enumerate(made):
        path = str(tmp_path / "games" / "json_2.1.1" / "train" / name / "game.tw-pddl")
        walkthrough = make_game(5, index, dialect).walkthrough
        jobs.append(
            (
                path,
                [["look", "inventory", *walkthrough], random_walk(path, Dice("walk", index), 15)],
            )
        )
    (tmp_path / "jobs.json").write_text(json.dumps(jobs))
    ran = run(PLAYER, str(tmp_path / "jobs.json"), str(tmp_path / "seen.json"))
    assert ran.returncode == 0, ran.stderr
    real = json.loads((tmp_path / "seen.json").read_text())
    for (path, plays), games in zip(jobs, real, strict=True):
        assert [won for _, _, won in games[0]] == [False] * (len(games[0]) - 1) + [True]
        for commands, seen in zip(plays, games, strict=True):
            assert native(path, commands) == seen
