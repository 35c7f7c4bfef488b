"""Checks of a study before anything is played."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rpms.logic.errors import FileError, InputError
from rpms.models.catalogue import parse_model_name
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import overlapping
from rpms.play.settings import ALLOW
from rpms.play.understanding import READER_CONTROLS
from rpms.store.memories import read_frozen
from rpms.study.cells import Means, design_cell, design_round
from rpms.study.studies import Case, Choice, Study
from rpms.worlds.base import Setting, World, game_of


def refuse_overlap(study: Study, means: Means) -> None:
    """Refuse a study that would play games it learns from, unless it says that this is meant."""
    forbidden = any(case.learns and case.settings.overlap != ALLOW for case in study.cases)
    if study.learning is None or not forbidden:
        return
    tested = study.choice.tasks(means.world, means.setting)
    learned_from = study.learning.choice.tasks(means.world, means.setting)
    games = {game_of(task.id) for task in learned_from}
    shared = [task.id for task in tested if game_of(task.id) in games]
    if shared:
        raise InputError(f"{study.file}: {overlapping(len(shared), len(tested), shared[0])}")


def check_study(study: Study, world: World, setting: Setting) -> None:
    """Refuse what a run would refuse on any machine: options, models, readers, methods, memories
    and manuals that do not exist; and, if games are here, splits and tasks that do not exist.
    """
    _check_choice(study.choice, world, setting)
    if study.learning is not None:
        _check_choice(study.learning.choice, world, setting)
        study.learning.settings.sources(world)
    for name in filter(None, (*study.models, study.learner(""))):
        _check_model(study, name)
    for case in study.cases:
        _check_case(study, case, world)


def _check_choice(choice: Choice, world: World, setting: Setting) -> None:
    """Refuse a split that a world does not have, and tasks and options that it does not have
    where its games can be listed: which ones there are is known only then.
    """
    choice.setting(world, setting)
    if choice.can_be_listed(world, setting):
        choice.tasks(world, setting)


def _check_model(study: Study, name: str) -> None:
    with study.written.at("models", "learn"):
        try:
            parse_model_name(name)
        except InputError as error:
            raise InputError(str(error).removeprefix("--model ")) from None


def _check_case(study: Study, case: Case, world: World) -> None:
    try:
        case.settings.sources(world)
        reader = case.settings.reader
        if reader and reader not in READER_CONTROLS:
            parse_model_name(reader)
        case.method(world)
        if file := case.memory_file(world):
            read_frozen(file, world.name)
    except FileError:
        raise
    except InputError as error:
        raise InputError(f"{study.file}: {case.name}: {error}") from None


def check_designs(study: Study, cases: Mapping[str, Sequence[Case]], means: Means) -> None:
    """Make every design once, so that missing games or files, or tasks both learned from and
    played, stop it at once.
    """
    refuse_overlap(study, means)
    no_memory = EpisodicMemory(world=means.world.name)
    cannot_learn = study.learning is None or means.gather is None
    for model, played in cases.items():
        learner = study.learner(model)
        if study.learning is not None and learner:
            design_round(study.learning, 1, learner, means)
        for case in played:
            method = design_cell(study.choice, case, model, means, no_memory).method
            if method.recalled and method.experience is None and cannot_learn:
                what = "give expel `insights: FILE`, or the study a `learn` block"
                raise InputError(f"{study.file}: {case.name}: {what}")
    check_study(study, means.world, means.setting)
