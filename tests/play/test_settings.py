"""The settings: read alike from every side, over presets, with a clear word for each mistake."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from rpms.cli.setting_options import SettingOptions
from rpms.logic.errors import FileError, InputError
from rpms.logic.rules import Tier
from rpms.paper.arbitration import Arbitration
from rpms.paper.condition import CONDITIONS, BeliefShown
from rpms.paper.enforcement import PAPER, STRICT, GuardMode, Repair
from rpms.paper.memory import Kind
from rpms.paper.prompt import Form, Layout, Part
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import design_run
from rpms.play.settings import PRESETS, SETTING_NAMES, SettingError, Settings
from rpms.play.sources import ManualChoice, choose_manual, knowledge_of, manual_of
from rpms.play.task_choice import limited
from rpms.worlds.base import Setting, Task
from rpms.worlds.registry import find_world

ALFWORLD, SCIENCE = find_world("alfworld"), find_world("scienceworld")


def design(settings: Settings, world=ALFWORLD):
    tasks, setting = settings.tasks(world, Setting())
    return design_run(
        world,
        "planner",
        lambda: None,
        tasks=tasks,
        condition=settings.condition_value(),
        setting=setting,
        decoding=settings.decoding(world),
        sources=settings.sources(world, settings.context or 0),
        memory=EpisodicMemory(),
    )


@pytest.mark.parametrize(
    ("name", "text", "yaml"),
    [
        ("theta", "0.6", 0.6),
        ("k", "success=2,failure=1", {"success": 2, "failure": 1}),
        ("k", "4", 4),
        (
            "weights",
            "type=0.4,object=0.6,destination=0",
            {"type": 0.4, "object": 0.6, "destination": 0},
        ),
        ("tiers", "environment,universal", ["universal", "environment"]),
        ("enforce", "menu=5", {"menu": 5}),
        ("state_filter", "off", False),
        ("max_tokens", "64", 64),
        ("layout", "cached", Layout.CACHED),
        ("arbitration", "soft", Arbitration.SOFT),
        ("task", "boil", ["boil"]),
    ],
)
def test_a_text_means_what_a_value_means(name, text, yaml):
    from_text, from_value = Settings.read({name: text}), Settings.read({name: yaml})
    if name == "enforce":
        assert from_text.condition_value() == from_value.condition_value()
    else:
        assert from_text == from_value
        assert Settings.read({name: getattr(from_text, name)}) == from_text


def test_every_setting_is_an_option_of_the_command_line():
    assert [each.name for each in fields(SettingOptions)] == list(SETTING_NAMES)


def test_the_presets_give_every_setting_that_one_of_them_gives():
    assert PRESETS["paper"].given.keys() == PRESETS["strict"].given.keys()


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"tempature": 1}, "did you mean temperature?"),
        ({"theta": 1.5}, "from 0 to 1"),
        ({"theta": True}, "from 0 to 1"),
        ({"k": "succes=3"}, "did you mean success?"),
        ({"k": "success=-1"}, "from 0 to"),
        ({"weights": "kind=1"}, "is no name here"),
        ({"tiers": "domain,world"}, "'world' is none of its values"),
        ({"repair": "frm"}, "did you mean form?"),
        ({"enforce": ["menu"]}, "write NAME=VALUE"),
        ({"enforce": {"guard": "maybe"}}, "choose off, advise or block"),
        ({"sample": 0}, "from 1 to"),
        ({"condition": "half"}, "'half' is no condition"),
    ],
)
def test_a_mistake_is_named(given, problem):
    with pytest.raises(SettingError) as caught:
        Settings.read(given)
    assert problem in str(caught.value)
    assert str(caught.value).startswith(f"{next(iter(given))}: ")


def test_the_papers_preset_is_the_papers_and_strict_is_ours():
    assert set(PRESETS) == {"paper", "strict"}
    paper, strict = Settings().condition_value(), Settings(preset="strict").condition_value()
    assert (paper.layout, paper.form, paper.belief) == (Layout.PAPER, Form.CHAT, BeliefShown.PAPER)
    assert (paper.repair, paper.enforcement) == (Repair.FORM, PAPER)
    assert Settings().sources(ALFWORLD).manual.name == "paper"
    assert (strict.layout, strict.form, strict.belief) == (
        Layout.CACHED,
        Form.SINGLE,
        BeliefShown.EXTENDED,
    )
    assert (strict.repair, strict.enforcement) == (Repair.BELIEF, STRICT)
    assert Settings(preset="strict").sources(ALFWORLD).manual.name == "complete"


def test_what_is_given_goes_before_the_preset():
    given = Settings.read(
        {"preset": "strict", "belief": "paper", "enforce": {"guard": "advise"}, "manual": "paper"}
    )
    condition = given.condition_value()
    assert (condition.belief, condition.enforcement.guard) == (BeliefShown.PAPER, GuardMode.ADVISE)
    assert condition.enforcement.menu == STRICT.menu
    assert given.sources(ALFWORLD).manual.name == "paper"


def test_recall_is_set_by_theta_k_and_weights():
    given = Settings.read(
        {"theta": 0.9, "k": "success=7", "weights": "type=0.6,object=0.4,destination=0"}
    )
    found = knowledge_of(ALFWORLD, given.sources(ALFWORLD)).experience.retrieval
    assert (found.threshold, found.top[Kind.SUCCESS]) == (0.9, 7)
    assert found.top[Kind.FAILURE] == ALFWORLD.retrieval.top[Kind.FAILURE]
    assert (found.similarity.type, found.similarity.object, found.similarity.destination) == (
        0.6,
        0.4,
        0,
    )
    assert found.similarity.category is ALFWORLD.retrieval.similarity.category
    with pytest.raises(InputError, match="add up to 1"):
        Settings.read({"weights": "type=0.9"}).sources(ALFWORLD)


def test_the_protocol_records_every_setting():
    first = design(Settings.read({"limit": 2})).protocol()
    for given, field in (
        ({"theta": 0.9}, "retrieval.theta"),
        ({"k": 1}, "retrieval.k.success"),
        ({"manual": "complete"}, "manual.hash"),
        ({"tiers": "universal"}, "condition.tiers"),
        ({"layout": "cached"}, "condition.layout"),
        ({"form": "single"}, "condition.form"),
        ({"belief": "extended"}, "condition.belief"),
        ({"repair": "off"}, "condition.repair"),
        ({"context": 4000}, "context"),
        ({"max_tokens": 9}, "decoding.max_tokens"),
        ({"temperature": 0.5}, "decoding.temperature"),
        ({"limit": 3}, "tasks"),
    ):
        other = design(Settings.read({"limit": 2, **given})).protocol()
        assert field in [line.partition(":")[0] for line in first.differences(other)], given


def test_a_limit_takes_tasks_of_all_types_in_turn():
    tasks = [Task(f"{kind}{number}", "s", kind) for kind in "abc" for number in range(4)]
    assert [task.id for task in limited(tasks, 5)] == ["a0", "a1", "b0", "b1", "c0"]
    assert limited(tasks, None) == tasks
    assert len(limited(tasks, 99)) == 12


def test_simplifications_are_for_worlds_that_have_them():
    setting = Settings.read({"simplifications": "easy"}).setting(SCIENCE, Setting())
    assert setting.options == {"simplifications": "easy"}
    assert Settings.read({"simplifications": "none"}).setting(SCIENCE, Setting()).options == {
        "simplifications": ""
    }
    with pytest.raises(SettingError, match="alfworld has none"):
        Settings.read({"simplifications": "easy"}).setting(ALFWORLD, Setting())


@pytest.mark.parametrize("condition", [name for name, each in CONDITIONS.items() if each.memory])
def test_a_condition_with_memory_wants_one(condition):
    wanting = Settings(condition=condition, split="valid_seen")
    with pytest.raises(
        InputError, match=f"the condition {condition} uses memory.*`rpms learn alfworld"
    ):
        wanting.memory_file(ALFWORLD)
    assert (
        Settings(condition=condition, split="builtin").memory_file(ALFWORLD).name == "memory.jsonl"
    )
    assert Settings.read({"condition": condition, "memory": "none"}).memory_file(SCIENCE) is None
    assert Settings.read({"condition": condition, "memory": "m.jsonl"}).memory_file(
        SCIENCE
    ) == Path("m.jsonl")
    assert Settings(condition="rules-only").memory_file(SCIENCE) is None


@pytest.mark.parametrize(
    ("world", "played", "learned"),
    [
        (ALFWORLD, "valid_unseen", "train"),
        (ALFWORLD, "valid_seen", "train"),
        (SCIENCE, "test", "train"),
        (SCIENCE, None, "train"),
    ],
)
def test_the_command_to_learn_a_memory_names_a_split_that_is_not_played(world, played, learned):
    with pytest.raises(
        InputError, match=f"`rpms learn {world.name} --split {learned} --model planner --out"
    ):
        Settings(split=played).memory_file(world, "planner")


class TestManuals:
    def test_the_papers_has_its_localities_and_no_others(self):
        rules = manual_of(ALFWORLD, ManualChoice("paper")).rules
        assert {rule.id for rule in rules if rule.locality} == {"D-LOC-001", "D-LOC-003"}
        food, electronics = (rule.locality.places for rule in rules if rule.locality)
        assert food == ("fridge", "countertop", "diningtable", "cabinet")
        assert electronics == ("desk", "shelf", "drawer", "sidetable", "bed", "sofa")
        ids = {rule.id for rule in rules}
        assert ids >= {
            *("D-CONT-001", "D-CONT-002", "D-TRANS-001", "D-TRANS-003"),
            *("D-EXAM-001", "D-EXAM-003"),
        }

    def test_the_papers_of_scienceworld_goes_by_family_alone(self):
        rules = [
            rule
            for rule in manual_of(SCIENCE, ManualChoice("paper")).rules
            if rule.tier is Tier.DOMAIN
        ]
        assert {goal for rule in rules for goal in rule.goals} == {"F1", "F2", "F3", "F4"}
        assert len(rules) == 8
        assert not any(rule.locality for rule in rules)
        assert not any(
            word in rule.text for rule in rules for word in ("tortoise", "elephant", "longest")
        )

    def test_both_share_the_actions(self):
        for world in (ALFWORLD, SCIENCE):
            paper, complete = (
                manual_of(world, ManualChoice(name)) for name in ("paper", "complete")
            )
            assert paper.actions == complete.actions
            assert len(paper.rules) < len(complete.rules)

    def test_a_file_of_ones_own_adds_rules_and_stands_in_place_of_actions_by_name(self, tmp_path):
        file = tmp_path / "mine.yaml"
        file.write_text(
            "domain:\n  mine:\n    D-MINE-001: Look under the sofa.\n"
            "environment:\n  look: {syntax: look, critical: It costs a step.}\n  jump: {syntax: jump}\n"
        )
        manual = manual_of(ALFWORLD, choose_manual(file))
        rules = [rule.id for rule in manual.rules if rule.tier is Tier.DOMAIN]
        assert {"D-MINE-001", "D-LOC-001"} <= set(rules)
        assert len(rules) == len(set(rules))
        assert any(rule.tier is Tier.UNIVERSAL for rule in manual.rules)
        actions = {action.name: action for action in manual.actions}
        assert actions["look"].warnings == ("It costs a step.",)
        assert {"jump", "take", "heat"} <= actions.keys()
        assert choose_manual(file).hash(ALFWORLD) != ManualChoice().hash(ALFWORLD)

    @pytest.mark.parametrize(
        ("text", "line", "problem"),
        [
            ("domain:\n  mine:\n    D-MINE-001: {txt: hello}\n", 3, "txt: is not a known field"),
            ("domains: {}\n", 1, "unknown tier or key 'domains'"),
            (
                "world: scienceworld\ndomain: {}\n",
                1,
                "this is a manual of scienceworld, not of alfworld",
            ),
            (
                "domain:\n  a:\n    D-A-001: {text: x, forbids: [{action: fly, when: []}]}\n",
                3,
                "no action is called 'fly'",
            ),
        ],
    )
    def test_mistakes_in_it_are_at_their_line(self, tmp_path, text, line, problem):
        file = tmp_path / "mine.yaml"
        file.write_text(text)
        with pytest.raises(FileError) as caught:
            Settings.read({"manual": str(file)}).sources(ALFWORLD)
        assert (caught.value.file, caught.value.line) == (str(file), line)
        assert problem in str(caught.value)

    def test_one_that_is_not_there_is_said(self):
        with pytest.raises(
            SettingError, match=r"nowhere.yaml: is no manual and no file: choose paper or complete"
        ):
            Settings.read({"manual": "nowhere.yaml"}).sources(ALFWORLD)


class TestPrompts:
    def test_ones_own_stand_in_every_condition(self, tmp_path):
        file = tmp_path / "mine.yaml"
        file.write_text(
            "instruction: |\n  Act well.\nexample: Like this.\nheadings: {belief: '[Now]', memory: '[Past]'}\n"
        )
        given = Settings.read({"prompts": str(file)})
        wording = knowledge_of(ALFWORLD, given.sources(ALFWORLD)).style.wording
        assert (wording.instruction, wording.example, wording.choosing) == (
            "Act well.",
            "Like this.",
            "",
        )
        assert wording.headings[Part.BELIEF] == "[Now]"
        assert wording.headings[Part.GOAL] == ALFWORLD.wording.headings[Part.GOAL]
        before, after = (
            design(Settings(limit=1)).protocol(),
            design(Settings(limit=1, prompts=file)).protocol(),
        )
        assert [line.partition(":")[0] for line in before.differences(after)] == ["prompts"]

    @pytest.mark.parametrize(
        ("text", "line", "problem"),
        [
            ("instructon: hi\n", 1, "did you mean instruction?"),
            ("example: hi\nheadings: {believe: x}\n", 2, "did you mean belief?"),
            ("headings: [a]\n", 1, "a mapping"),
            ("instruction: 3\n", 1, "must be a text"),
            ("- a\n", 1, "a file of prompts is a mapping"),
        ],
    )
    def test_mistakes_are_at_their_line(self, tmp_path, text, line, problem):
        file = tmp_path / "mine.yaml"
        file.write_text(text)
        with pytest.raises(FileError) as caught:
            Settings(prompts=file).sources(ALFWORLD)
        assert caught.value.line == line
        assert problem in str(caught.value)
