"""Game files that are damaged, hostile, or not ALFWorld's."""

import json
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rpms.logic.errors import FileError
from rpms.worlds.alfworld.engine.gamefile import load_engine, read_engine
from rpms.worlds.alfworld.games.listing import builtin_game, builtin_ids

GAME = builtin_game(builtin_ids()[0])
DOMAIN, GRAMMAR, PROBLEM = GAME["pddl_domain"], GAME["grammar"], GAME["pddl_problem"]


def refusal(**changes):
    with pytest.raises(FileError) as caught:
        read_engine({**GAME, **changes}, "some/game.tw-pddl")
    text = str(caught.value)
    assert text.startswith("some/game.tw-pddl: ")
    assert "\n" not in text
    assert len(text) < 250
    return text


def with_goal(goal):
    return PROBLEM[: PROBLEM.index("(:goal")] + f"(:goal {goal}))"


def with_fact(fact):
    return PROBLEM.replace("(:init", f"(:init {fact}", 1)


def test_a_file_without_solvable_plays_and_one_marked_unsolvable_does_not():
    read_engine({key: value for key, value in GAME.items() if key != "solvable"}, "x")
    assert "not solvable" in refusal(solvable=False)
    assert "not solvable" in refusal(solvable="no")


@pytest.mark.parametrize("key", ["pddl_domain", "grammar", "pddl_problem"])
def test_each_text_must_be_there_and_be_text(key):
    assert f"'{key}' is not text" in refusal(**{key: 7})
    with pytest.raises(FileError, match=f"'{key}' is missing"):
        read_engine({name: value for name, value in GAME.items() if name != key}, "x")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"pddl_problem": ""}, "does not start with"),
        ({"pddl_problem": PROBLEM[: len(PROBLEM) // 2]}, "cut off"),
        ({"pddl_problem": PROBLEM + ")"}, "a ')' too many"),
        ({"pddl_problem": PROBLEM + "(x)"}, "goes on after"),
        ({"pddl_problem": "(" * 3_000_000}, "nests deeper"),
        ({"pddl_problem": "(" * 45 + ")" * 45}, "does not start with (define"),
        ({"pddl_problem": "(define " + "x " * 5_000_000}, "characters long"),
        ({"pddl_problem": PROBLEM.replace("alfred", "other")}, "another domain"),
        ({"pddl_problem": PROBLEM.replace("(:init", "(:imit")}, "no :init section"),
        ({"pddl_problem": PROBLEM.replace("(:objects", "(:objects café - object", 1)}, "non-ASCII"),
        (
            {"pddl_problem": PROBLEM.replace("(:objects", "(:objects a|b - object", 1)},
            "a character that no",
        ),
        (
            {"pddl_problem": PROBLEM.replace("(:objects", "(:objects x - ghost", 1)},
            "unknown type 'ghost'",
        ),
        ({"pddl_problem": PROBLEM.replace("(:objects", "(:objects x x - object", 1)}, "'x' twice"),
        (
            {"pddl_problem": PROBLEM.replace("(:objects", "(:objects " + "o " * 4000, 1)},
            "the limit is",
        ),
        ({"pddl_problem": with_fact("(haunted agent1)")}, "unknown predicate 'haunted'"),
        ({"pddl_problem": with_fact("(isHot nobody)")}, "undeclared object 'nobody'"),
        ({"pddl_problem": with_fact("(isHot agent1)")}, "of type agent"),
        ({"pddl_problem": with_fact("(isHot)")}, "0 arguments"),
        ({"pddl_problem": with_fact("((isHot))")}, "malformed fact"),
        ({"pddl_problem": with_fact("()")}, "empty fact"),
        ({"pddl_problem": with_fact("(holdsAny agent1)")}, "the agent's hands"),
        ({"pddl_problem": with_goal("(haunted agent1)")}, "unknown predicate"),
        ({"pddl_problem": with_goal("(holdsAny nobody)")}, "undeclared object 'nobody'"),
        ({"pddl_problem": with_goal("(exists (?x - ghost) (isHot ?x))")}, "type 'ghost'"),
        ({"pddl_problem": with_goal("(and)")}, "always met"),
        ({"pddl_problem": with_goal("(or)")}, "never be met"),
        ({"pddl_problem": with_goal("(isHot agent1)")}, "never be met"),
        (
            {
                "pddl_problem": with_goal("(exists (?o - object) (isHot ?o))").replace(
                    "(heatable", "(cleanable"
                )
            },
            "never be",
        ),
        ({"pddl_problem": with_goal("()")}, "malformed goal"),
        (
            {"pddl_problem": with_goal("(exists (?a ?b ?c ?d ?e ?f) (and (isHot ?a) (isHot ?f)))")},
            "too large to unroll",
        ),
        ({"pddl_domain": "(define (domain alfred))"}, "lacks ALFWorld's action"),
        (
            {"pddl_domain": DOMAIN.replace("(not (opened ?r))", "(opened ?r)", 1)},
            "'openobject' in another way",
        ),
        (
            {"pddl_domain": DOMAIN.replace("location, ?r", "location ?r")},
            "'examineobject' in another way",
        ),
        (
            {"pddl_domain": DOMAIN.replace("(isSliced ?o - object)", "(isSliced ?o - rtype)")},
            "section ':predicates' other",
        ),
        (
            {"pddl_domain": DOMAIN.replace("(isSliced ?o - object)", "(isMelted ?o - object)")},
            "section ':predicates' other",
        ),
        ({"grammar": ""}, "no texts for action"),
        ({"grammar": GRAMMAR[: len(GRAMMAR) // 3]}, "not a TextWorld grammar"),
        (
            {"grammar": GRAMMAR.replace("You close the", "You shut the")},
            "'CloseObject.feedback' in another way",
        ),
        ({"grammar": GRAMMAR.replace("{r.name}", "{__import__('os').getcwd()}")}, "in another way"),
        (
            {"grammar": GRAMMAR.replace("Your task is to: ", "Your task is to: #intro#")},
            "a plain 'Your task",
        ),
        ({"grammar": "x" * 500_000}, "characters long"),
        ({"walkthrough": "look"}, "'walkthrough'"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(change, words):
    assert words in refusal(**change)


@pytest.mark.parametrize("levels", [10, 25, 60, 2000])
def test_rules_that_redouble_are_refused_rather_than_spelled_out(levels):
    rules = {
        f"s{n}": [{"condition": f"c{n}(r:r)", "rhs": f"#s{n + 1}##s{n + 1}#"}, {"rhs": "x"}]
        for n in range(levels)
    }
    bomb = json.dumps({**rules, f"s{levels}": [{"rhs": "x"}]})
    grammar = f'grammar :: """{bomb}""";\n' + GRAMMAR.replace("You close the", "#s0#")
    assert "'CloseObject.feedback' in another way" in refusal(grammar=grammar)


@pytest.mark.parametrize(
    "goal",
    [
        "(forall (?x - object) (and " + "(and) " * 100_000 + "(isHot ?x)))",
        "(exists (?x) " * 20 + "(isHot ?x)" + ")" * 20,
        "(exists (?x) (exists (?y) (and "
        + "(objectType ?x AppleType) " * 20_000
        + "(isHot ?x) (isHot ?y))))",
        "(exists (?a ?b ?c) (and (canContain ?a ?b) (canContain ?c ?b) (opened ?c)))",
    ],
)
def test_goals_that_would_take_ages_are_settled_at_once(goal):
    with suppress(FileError):
        read_engine({**GAME, "pddl_problem": with_goal(goal)}, "x")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is not JSON"),
        (b'{"pddl_domain": "x', "is not JSON"),
        (b"[]", "holds no JSON object"),
        (b"[" * 200_000, "is not JSON"),
        (b'{"solvable": ' + b"9" * 5000 + b"}", "is not JSON"),
        (b"\xff\xfe{}", "is not UTF-8"),
    ],
)
def test_files_that_are_not_games(tmp_path, content, words):
    path = tmp_path / "game.tw-pddl"
    path.write_bytes(content)
    with pytest.raises(FileError, match=words):
        load_engine(path)


def test_missing_files_and_folders_are_named(tmp_path):
    for path in (tmp_path, tmp_path / "none.tw-pddl", tmp_path / "a\x00b"):
        with pytest.raises(FileError):
            load_engine(path)


def test_layout_comments_and_case_do_not_matter():
    domain = "; a comment with ( in it\n" + DOMAIN.upper().replace(" ", "\n  ")
    other = read_engine({**GAME, "pddl_domain": domain, "pddl_problem": PROBLEM + ";end"}, "x")
    assert other.reset() == read_engine(GAME, "x").reset()


PIECES = st.sampled_from(
    [
        "(",
        ")",
        "?",
        "-",
        " ",
        "not",
        "and",
        "(:init",
        ";",
        "{",
        "}",
        "#",
        '"""',
        "\\",
        "é",
        "0",
        "[",
        "|",
    ]
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_no_mutation_of_a_game_raises_anything_but_a_file_error(data):
    key = data.draw(st.sampled_from(["pddl_domain", "grammar", "pddl_problem"]))
    text = GAME[key]
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        width = data.draw(st.sampled_from([0, 1, 2, 5, 40, 500]))
        text = (
            text[:start]
            + data.draw(PIECES) * data.draw(st.sampled_from([0, 1, 1, 3, 200]))
            + text[start + width :]
        )
    with suppress(FileError):
        engine = read_engine({**GAME, key: text}, "x")
        state = engine.reset().state
        for command in engine.admissible(state):
            engine.won(engine.step(state, command).state)


@settings(max_examples=60, deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.text() | st.integers(),
        lambda x: st.lists(x) | st.dictionaries(st.sampled_from(list(GAME)), x),
    )
)
def test_no_json_raises_anything_but_a_file_error(data):
    with pytest.raises(FileError):
        read_engine(data, "x")
