"""The native engine against playthroughs recorded from the real one."""

import json
import lzma
from pathlib import Path

import pytest

from rpms.worlds.alfworld.engine.dialect import read_domain, read_grammar, recognise
from rpms.worlds.alfworld.game import NativeGame
from rpms.worlds.alfworld.games.listing import load_game

SHARED = Path(__file__).resolve().parents[4] / "shared" / "alfworld"
TRANSCRIPTS = sorted((SHARED / "transcripts").glob("*.jsonl.xz"))

recorded = pytest.mark.skipif(
    not TRANSCRIPTS, reason="recorded playthroughs are not beside this checkout"
)
DIALECTS = {"put": "0.3", "move": "0.4"}


def playthroughs():
    """Every recorded game: its name, its dialect, and its commands with what they brought."""
    for path in TRANSCRIPTS:
        with lzma.open(path, "rt") as lines:
            for line in lines:
                yield json.loads(line)


@pytest.fixture(scope="session")
def official(tmp_path_factory):
    """The official games that the recordings were made on, laid out as a download would be, in
    the 0.3 dialect.
    """
    root = tmp_path_factory.mktemp("alfworld")
    wanted = {played["game"] for played in playthroughs()}
    domain = (SHARED / "domain_0.3.pddl").read_text()
    grammar = (SHARED / "grammar_0.3.twl2").read_text()
    for split in ("train", "valid_seen"):
        with lzma.open(SHARED / f"{split}.jsonl.xz", "rt") as rows:
            for line in rows:
                row = json.loads(line)
                if row["game"] in wanted:
                    folder = root / "json_2.1.1" / row["game"]
                    folder.mkdir(parents=True)
                    texts = {
                        "grammar": grammar.replace("@@TASK@@", row["goal"]),
                        "pddl_domain": domain,
                    }
                    (folder / "game.tw-pddl").write_text(
                        json.dumps({**texts, "pddl_problem": row["problem"]})
                    )
    return root


@recorded
def test_every_recorded_step_is_replayed_to_the_byte(official):
    games = 0
    steps = 0
    for played in playthroughs():
        file = official / "json_2.1.1" / played["game"] / "game.tw-pddl"
        game = NativeGame(load_game(str(file), DIALECTS[played["dialect"]]))
        for step in played["steps"]:
            command = step["action"]
            outcome = game.reset() if command is None else game.step(command)
            replayed = {
                "action": command,
                "observation": outcome.observation,
                "admissible": list(game.admissible()),
                "won": outcome.won,
                "done": outcome.done,
            }
            assert {field: replayed[field] for field in step} == step
            steps += 1
        games += 1
    assert (games, steps) == (320, 12152)


@recorded
def test_official_files_of_both_dialects_are_recognised():
    for release, goes_to_location in (("0.3", True), ("0.4", False)):
        domain = read_domain((SHARED / f"domain_{release}.pddl").read_text())
        grammar = read_grammar(
            (SHARED / f"grammar_{release}.twl2")
            .read_text()
            .replace("@@TASK@@", "put a mug in desk.")
        )
        dialect, goal = recognise(domain, grammar)
        assert (dialect.name, dialect.arrives_at_location, goal) == (
            release,
            goes_to_location,
            "put a mug in desk.",
        )
        assert (dialect.help is not None) == (release == "0.4")
