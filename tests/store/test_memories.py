from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings

from rpms.logic.errors import FileError, InputError
from rpms.paper.memory import Kind, merge
from rpms.paper.recall import EpisodicMemory
from rpms.store.memories import memory_hash, read_memory, write_memory
from rpms.store.memory_entries import record
from tests.paper.entries import stores

# The four listings of Appendix F, with the line breaks they are printed with.
LISTINGS = """
{
  "id": "success_000008",
  "type": "success",
  "goal_signature":
    "pick_heat_then_place_in_recep:mug:hot:cabinet",
  "state_signature": "holding=none",
  "sub_goal_type": "transformed",
  "precondition": {"holding": null, "action_type": "heat", "tool_location": "microwave 1"},
  "actions": ["open fridge 1", "go to countertop 1", "take mug 2 from countertop 1",
    "go to microwave 1", "open microwave 1", "heat mug 2 with microwave 1"],
  "outcome": {"heat": "mug 2"},
  "success_count": 1
}
{
  "id": "failure_000090",
  "type": "failure",
  "goal_signature": "pick_heat_then_place_in_recep:potato:hot:fridge",
  "state_signature": "holding=none|open=fridge 1,microwave 1",
  "failed_action": "take potato 1 from countertop 3",
  "failure_type": "precondition_not_met",
  "failure_message": "Nothing happens.",
  "corrective_rule":
    "must be at location and container must be
     open before taking",
  "occurrence_count": 3
}
{
  "id": "schema_000222",
  "type": "schema",
  "action_template": "cool {object} with fridge 1",
  "action_type": "cool",
  "preconditions": ["holding target object", "at cool tool location"],
  "effects": ["object cooled", "still holding object"],
  "success_count": 1,
  "failure_count": 0,
  "confidence": 1.0
}
{
  "id": "failure_000078",
  "type": "critical_failure",
  "goal_signature": "F3:melt:water",
  "state_signature":
    "room=kitchen|inventory=empty|progress=0",
  "failed_action": "focus on stove",
  "failure_message": "score = -100, terminated",
  "corrective_rule": "verify object identity
    matches task target before executing focus",
  "occurrence_count": 3,
  "retrieval_weight": 2.0
}
"""


@pytest.fixture
def listings(tmp_path):
    file = tmp_path / "listings.jsonl"
    file.write_text(LISTINGS)
    return file


def test_the_papers_listings_are_read_as_printed(listings):
    memory = read_memory(listings)
    assert [entry.kind for entry in memory.entries] == [
        Kind.SUCCESS,
        Kind.FAILURE,
        Kind.SCHEMA,
        Kind.CRITICAL_FAILURE,
    ]
    success, failure, schema, critical = memory.entries
    assert success.actions[-1] == "heat mug 2 with microwave 1"
    assert (failure.occurrence_count, failure.corrective_rule) == (
        3,
        "must be at location and container must be open before taking",
    )
    assert (schema.success_count, schema.failure_count, schema.confidence) == (1, 0, 1.0)
    assert (critical.retrieval_weight, str(critical.goal_signature)) == (2.0, "F3:melt:water")


def test_what_is_written_has_the_papers_fields_and_the_origins(listings):
    printed = [
        json.loads(text, strict=False) for text in LISTINGS.replace("\n}\n{", "\n}\0{").split("\0")
    ]
    for entry, paper in zip(read_memory(listings).entries, printed, strict=True):
        written = record(entry)
        assert set(written) == {*paper, "origins"}
        assert {key: written[key] for key in ("id", "type")} == {
            key: paper[key] for key in ("id", "type")
        }


def test_merging_a_file_with_itself_counts_nothing_twice(listings):
    once = read_memory(listings).entries
    assert merge(once, once) == merge(once)
    assert sum(len(entry.origins) for entry in merge(once, once)) == 1 + 3 + 1 + 3


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(stores)
def test_a_memory_survives_being_written_and_read(tmp_path, store):
    entries = merge(store)
    file = tmp_path / "memory.jsonl"
    write_memory(file, entries, "kitchen")
    if entries:
        memory = read_memory(file, "kitchen")
        assert memory.entries == entries
        assert memory_hash(memory) == memory_hash(EpisodicMemory(entries, "kitchen"))
    else:
        with pytest.raises(FileError, match="holds no entries"):
            read_memory(file, "kitchen")


SCHEMA = '{"id": "a", "type": "schema", "action_template": "x", "action_type": "x"}'


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", None, "holds no entries"),
        (f"{SCHEMA}\n{{\n", 3, "not valid JSON"),
        (f"{SCHEMA}\n[1]\n", 2, "not an entry"),
        (f"{SCHEMA}\n{SCHEMA}", 2, "already used at line 1"),
        (
            SCHEMA.replace('"schema"', '"scheme"'),
            1,
            "unknown entry type 'scheme'; known: success, failure, schema",
        ),
        (SCHEMA.replace('"schema"', '["schema"]'), 1, "unknown entry type"),
        (
            SCHEMA.replace('"action_type": "x"', '"action_typ": "x"'),
            1,
            "action_typ: is not a known field",
        ),
        (
            SCHEMA.replace('"action_type": "x"', '"action_type": "x", "colour": 1'),
            1,
            "colour: is not a known field",
        ),
        (SCHEMA.replace('"action_type": "x"', '"action_type": 3'), 1, "should be a text"),
        (
            SCHEMA.replace(
                '"action_type": "x"',
                '"action_type": "x", "success_count": 2, "origins": [["e", 1]]',
            ),
            1,
            "counts 2",
        ),
        (SCHEMA[:-1] + ', "success_count": "2"}', 1, "should be a whole number"),
        (
            '{"type": "memory", "world": "alfworld", "version": 1}\n' + SCHEMA,
            1,
            "is a memory of alfworld, not of kitchen",
        ),
        ('{"type": "memory", "world": "kitchen", "version": 9}\n' + SCHEMA, 1, "newer version"),
        ("[" * 100_000, 1, "not valid JSON"),
        (SCHEMA[:-1] + f', "success_count": {"9" * 5_000}}}', 1, "number is too long"),
        (SCHEMA[:-1] + ', "success_count": 20000000}', 1, "10,000 at most"),
        (SCHEMA.replace('"x"', '"\\ud800"', 1), 1, "half of a letter"),
    ],
)
def test_a_mistake_is_reported_at_its_line(tmp_path, text, line, problem):
    file = tmp_path / "memory.jsonl"
    file.write_text(text)
    with pytest.raises(FileError) as caught:
        read_memory(file, "kitchen")
    assert (caught.value.line, "\n" in str(caught.value)) == (line, False)
    assert problem in str(caught.value)


def test_entries_without_ids_are_told_apart_and_a_byte_order_mark_is_no_matter(tmp_path):
    file = tmp_path / "memory.jsonl"
    line = SCHEMA.replace('"id": "a", ', "")
    file.write_text(f"{line}\n{line}\n", encoding="utf-8-sig")
    first, second = (entry.id for entry in read_memory(file).entries)
    assert second == f"{first}_2"


def test_a_missing_file_a_folder_and_bytes_are_refused(tmp_path):
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    for name in ("missing", ".", "bytes"):
        with pytest.raises(FileError):
            read_memory(tmp_path / name)


def test_a_memory_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    (tmp_path / "blocker").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        write_memory(tmp_path / "blocker" / "memory.jsonl", (), "kitchen")
    with pytest.raises(InputError, match="for a world"):
        write_memory(tmp_path / "memory.jsonl", (), "")
    assert [path.name for path in tmp_path.iterdir()] == ["blocker"]
