"""Generated games against the official ones, where those lie beside the repository."""

import json
import lzma
import re

import pytest

from rpms.worlds.alfworld.affordances import tables
from rpms.worlds.alfworld.engine.gamefile import read_engine
from rpms.worlds.alfworld.engine.texts import DIALECTS, domain, grammar
from rpms.worlds.alfworld.games.make import find_walkthrough
from rpms.worlds.alfworld.goals import GameGoal

FACT = re.compile(r"\(([A-Za-z]+) ([^()]*)\)")


def read_pddl(text: str) -> list:
    stack: list[list] = [[]]
    for token in re.findall(r"[()]|[^\s()]+", re.sub(r";.*", "", text)):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    return stack[0]


def read_grammar(text: str) -> tuple[dict, dict]:
    rules: dict = {}
    for block in re.findall(r'grammar\s*::\s*"""(.*?)"""', text, re.DOTALL):
        rules |= json.loads(block)
    action = r'action (\w+) \{\s*template :: "(.*?)";\s*feedback :: "(.*?)";'
    return rules, {
        name: (template, feedback) for name, template, feedback in re.findall(action, text)
    }


@pytest.fixture(scope="module")
def seen(shared):
    with lzma.open(shared / "alfworld" / "valid_seen.jsonl.xz", "rt") as rows:
        return [json.loads(row) for row in rows]


def goal_of(row: dict, sentence: int = 0) -> GameGoal:
    task_type, thing, _, receptacle, _ = row["game"].split("/")[1].split("-")
    return GameGoal(task_type, thing, receptacle, sentence)


def facts_of(row: dict) -> list[tuple[str, ...]]:
    init = row["problem"].split("(:init")[1].split("(:goal")[0]
    return [(name, *arguments.split()) for name, arguments in FACT.findall(init)]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_domain_means_the_same(shared, dialect):
    official = (shared / "alfworld" / f"domain_{dialect}.pddl").read_text()
    assert read_pddl(domain(dialect)) == read_pddl(official)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_rule_and_command_of_the_grammar_is_official_and_no_action_lacks_one(shared, dialect):
    official = read_grammar((shared / "alfworld" / f"grammar_{dialect}.twl2").read_text())
    ours = read_grammar(grammar(dialect, "@@TASK@@"))
    for part, whole in zip(ours, official, strict=True):
        assert part.items() <= whole.items()
    assert set(ours[1]) == set(re.findall(r"\(:action (\w+)", domain(dialect)))


def test_goals_are_said_and_meant_as_in_official_games(seen):
    for row in seen:
        assert row["goal"] in {goal_of(row, sentence).text for sentence in range(2)}
        stated = read_pddl(row["problem"])[0][-1]
        assert stated == [":goal", read_pddl(goal_of(row).pddl())[0]]


def test_plans_are_as_short_as_the_official_ones(seen):
    for row in seen:
        texts = {
            "pddl_domain": domain("0.3"),
            "grammar": grammar("0.3", row["goal"]),
            "pddl_problem": row["problem"],
        }
        engine = read_engine(texts, row["game"])
        assert len(find_walkthrough(engine, facts_of(row), goal_of(row))) == len(row["walkthrough"])


def test_attributes_and_what_fits_where_agree_with_games_the_tables_were_not_measured_on(seen):
    known = tables()
    for row in seen:
        facts = facts_of(row)
        types = {fact[1]: fact[2].removesuffix("Type") for fact in facts if fact[0] == "objectType"}
        for name, *arguments in facts:
            if name == "canContain":
                place, thing = (kind.removesuffix("Type") for kind in arguments)
                assert thing in known["can_contain"][place]
            elif name in known["attributes"] and types[arguments[0]] != "Footstool":
                assert types[arguments[0]] in known["attributes"][name]
