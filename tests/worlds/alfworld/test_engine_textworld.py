"""The real engine behind the same interface, and the two compared where it is installed."""

import json
import random

import pytest

from rpms.logic.errors import FileError, InputError, WorldError
from rpms.worlds.alfworld.engine.gamefile import load_engine
from rpms.worlds.alfworld.game import NativeGame, TextWorldGame, textworld_available
from rpms.worlds.alfworld.games.listing import builtin_game, builtin_ids

installed = pytest.mark.skipif(
    not textworld_available(), reason="the real engine, extra 'alfworld', is not installed"
)


@pytest.fixture
def path(tmp_path):
    place = tmp_path / "game.tw-pddl"
    place.write_text(json.dumps(builtin_game(builtin_ids()[0])))
    return place


@pytest.mark.skipif(textworld_available(), reason="the real engine is installed")
def test_without_it_the_extra_is_named(path):
    with pytest.raises(InputError, match=r"pip install 'rpms\[alfworld\]'"):
        TextWorldGame(path)


@installed
def test_both_engines_tell_the_same_story(path):
    real, native, dice = TextWorldGame(path), NativeGame(load_engine(path)), random.Random(3)
    assert real.reset() == native.reset()
    for _ in range(12):
        assert real.admissible() == native.admissible()
        command = dice.choice([*native.admissible(), "", "Look", "go to nowhere"])
        assert real.step(command) == native.step(command)
    real.close()


@installed
def test_closing_ends_the_process_and_further_use_is_refused(path):
    game = TextWorldGame(path)
    game.close()
    game.close()
    assert game._process.poll() is not None
    with pytest.raises(WorldError, match="closed"):
        game.step("look")


@installed
def test_a_slow_engine_is_stopped(path):
    with pytest.raises(WorldError, match="took over"):
        TextWorldGame(path, load_timeout=0.01)


@installed
def test_what_it_cannot_load_is_one_line(tmp_path):
    bad = tmp_path / "bad.tw-pddl"
    bad.write_text("{}")
    with pytest.raises(FileError, match="TextWorld cannot load it"):
        TextWorldGame(bad)
