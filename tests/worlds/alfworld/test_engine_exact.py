"""The native engine against playthroughs recorded from the real one."""

import json
import lzma
from pathlib import Path

import pytest

from rpms.logic.errors import FileError, InputError
from rpms.worlds.alfworld.cli import read_playthroughs, verify_transcripts
from rpms.worlds.alfworld.engine.dialect import read_domain, read_grammar, recognise

SHARED = Path(__file__).resolve().parents[4] / "shared" / "alfworld"
TRANSCRIPTS = sorted((SHARED / "transcripts").glob("*.jsonl.xz"))

recorded = pytest.mark.skipif(
    not TRANSCRIPTS, reason="recorded playthroughs are not beside this checkout"
)


@pytest.fixture(scope="session")
def official(tmp_path_factory):
    """The official games that the recordings were made on, laid out as a download would be, in
    the 0.3 dialect.
    """
    root = tmp_path_factory.mktemp("alfworld")
    wanted = {played.game for path in TRANSCRIPTS for played in read_playthroughs(path)}
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
    result = verify_transcripts(TRANSCRIPTS, official)
    assert result.differences == ()
    assert (result.games, result.steps, result.mismatches) == (320, 12152, 0)


@recorded
def test_a_changed_recording_is_noticed_and_shown(official, tmp_path):
    with lzma.open(TRANSCRIPTS[0], "rt") as lines:
        played = json.loads(next(lines))
    played["steps"][3]["observation"] += "!"
    played["steps"][3]["won"] = True
    played["steps"][5]["admissible"].append("fly")
    (tmp_path / "t.jsonl").write_text(json.dumps(played) + "\n")
    result = verify_transcripts([tmp_path / "t.jsonl"], official)
    assert result.mismatches == 2
    assert [(d.step, d.field) for d in result.differences] == [
        (3, "observation"),
        (3, "won"),
        (5, "admissible"),
    ]
    assert result.differences[0].recorded == played["steps"][3]["observation"]


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


WHOLE = '{"game": "train/x/y", "steps": [{"action": null, "observation": "", "admissible": [], "won": false}]}\n'


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (f'{WHOLE}{{"game": "a/b", "ste', 2, "damaged"),
        ('{"game": "a/b", "steps": []}\n', 1, "nothing to verify"),
        (
            '{"game": "a/b", "steps": [{"action": null, "observation": "x", "admissible": []}]}\n',
            1,
            "no 'won'",
        ),
        ("[1, 2]\n", 1, "needs 'game' and 'steps'"),
        ('{"game": "../x", "steps": []}\n', 1, "outside"),
        ('{"game": "a/b", "dialect": "drop", "steps": []}\n', 1, "dialect"),
        ('{"game": "a/b", "steps": [{"observation": "x"}]}\n', 1, "'action'"),
        ('{"game": "a/b", "steps": [{"action": "look"}]}\n', 1, "'observation'"),
        ("[" * 100_000, 1, "damaged"),
    ],
)
def test_a_damaged_transcript_is_one_line_with_its_place(tmp_path, text, line, words):
    path = tmp_path / "t.jsonl"
    path.write_text(text)
    with pytest.raises(FileError, match=words) as caught:
        list(read_playthroughs(path))
    assert (caught.value.line, "\n" in str(caught.value)) == (line, False)


def test_a_cut_off_xz_transcript_is_one_line(tmp_path):
    path = tmp_path / "t.jsonl.xz"
    path.write_bytes(lzma.compress(b'{"game": "a", "steps": []}\n' * 500)[:60])
    with pytest.raises(FileError, match="cut off"):
        list(read_playthroughs(path))


def test_a_transcript_without_games_verifies_nothing_and_says_so(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text("")
    with pytest.raises(FileError, match="nothing to verify"):
        verify_transcripts([path], tmp_path)


def test_a_missing_game_or_folder_is_named(tmp_path, monkeypatch):
    path = tmp_path / "t.jsonl"
    path.write_text(WHOLE)
    with pytest.raises(FileError, match=r"t\.jsonl:1: was recorded from train/x/y"):
        verify_transcripts([path], tmp_path)
    monkeypatch.delenv("ALFWORLD_DATA", raising=False)
    with pytest.raises(InputError, match="--data"):
        verify_transcripts([path])
    with pytest.raises(FileError, match="no such transcript"):
        verify_transcripts([tmp_path / "none.jsonl"], tmp_path)
