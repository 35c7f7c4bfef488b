"""The controls: models that choose from the menu without reading anything."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import pytest

from rpms.logic.errors import InputError, ModelError
from rpms.models.catalogue import FROM_MENU, PROVIDERS, available, open_model
from rpms.models.parsing import parse_answer
from rpms.paper.beyond import Menu, MenuItem
from rpms.store.answers import FolderOfAnswers
from tests.models.prompts import request


@dataclass
class Decided:
    menu: Menu


COMMANDS = tuple(f"go to place {number}" for number in range(8))


def asking(episode="e", turns=2, commands=COMMANDS):
    items = tuple(MenuItem(command, len(commands) - rank) for rank, command in enumerate(commands))
    return replace(request(episode, turns=turns), decision=Decided(Menu(items)))


def action(model, *arguments, **options):
    return parse_answer(model.answer(asking(*arguments, **options)).text).action


def test_the_first_entry_is_the_one_that_is_shown_first():
    assert action(open_model("menu-first")) == COMMANDS[0]


def test_the_best_entry_is_the_one_that_ranks_first_wherever_it_is_shown():
    assert action(open_model("menu-best")) == COMMANDS[-1]


def test_a_random_choice_follows_from_seed_episode_and_step_whatever_the_schedule():
    asked = [(f"e{n % 7}", n // 7) for n in range(70)]
    one, two, other = (
        open_model("menu-random"),
        open_model("menu-random/0"),
        open_model("menu-random/1"),
    )
    alone = [action(one, *what) for what in asked]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda what: action(two, *what), reversed(asked)))
    assert together[::-1] == alone
    assert [action(other, *what) for what in asked] != alone
    assert len({action(one, "e1", turns) for turns in range(8)}) > 2
    assert len({action(one, f"e{n}") for n in range(8)}) > 2


def test_a_random_choice_is_uniform():
    model = open_model("menu-random")
    counts = Counter(action(model, f"e{n}") for n in range(4000))
    assert set(counts) == set(COMMANDS)
    assert all(abs(count - 500) < 110 for count in counts.values())  # five standard deviations


@pytest.mark.parametrize(
    "name", [name for name in PROVIDERS if PROVIDERS[name].backend in FROM_MENU]
)
def test_without_a_menu_there_is_no_action(name):
    model = open_model(name)
    assert action(model, commands=()) is None
    with pytest.raises(ModelError, match="menu"):
        model.answer(request())


def test_a_wrong_seed_a_wrong_form_and_a_record_are_refused(tmp_path):
    for name in ("menu-random/x", "menu-random/-1", "menu-random/1.5"):
        with pytest.raises(InputError, match="whole number"):
            open_model(name)
    with pytest.raises(InputError, match="menu-first alone"):
        open_model("menu-first/3")
    with pytest.raises(InputError, match="only answers of an LLM"):
        open_model("menu-first", record=FolderOfAnswers(tmp_path))


def test_they_are_listed_as_ready():
    ready = {provider.form: available(provider)[0] for provider in PROVIDERS.values()}
    assert ready["menu-random[/SEED]"]
    assert ready["menu-first"]
