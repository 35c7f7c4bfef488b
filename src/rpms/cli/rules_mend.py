"""`rpms rules mend`: what recorded runs contradict in a manual, and edits that pass a replay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from rpms.cli.screen import say
from rpms.core.errors import InputError
from rpms.learn.mend import moments_of, propose, write_edit
from rpms.play.sources import choose_manual, manual_of
from rpms.store.files import write_whole
from rpms.store.manuals import MANUAL, ManualText, manual_text
from rpms.store.runs import RunFolder
from rpms.store.yaml_files import read_yaml, yaml_text
from rpms.worlds.registry import world_named

_STEPS_SHOWN = 3


def mend(
    manual: Annotated[Path, typer.Argument(help="A manual's file.")],
    runs: Annotated[list[Path], typer.Argument(help="Folders of `rpms run`, of one world.")],
    write: Annotated[bool, typer.Option("--write", help="Write the edits that pass into the manual.")] = False,
) -> None:
    """Print each line that recorded runs contradict, with the steps, and an edit that would have foretold them.

    An edit passes if, replayed over all given runs, it surprises at no step at which the manual was right.
    """
    folders = [RunFolder(run) for run in runs]
    names = {str(folder.protocol.settings.get("world", "")) for folder in folders}
    if len(names) > 1:
        raise InputError(f"the runs are of several worlds: {', '.join(sorted(names))}; give those of one")
    world = world_named(names.pop(), runs[0])
    moments = [moment for folder in folders for moment in moments_of(world, folder)]
    choice = choose_manual(str(manual))
    proposals, _ = propose(manual_of(world, choice), moments)
    edits = list(dict.fromkeys(each.edit for each in proposals if each.edit is not None))
    for each in proposals:
        say(f"{each.line}: contradicted {len(each.where)} times, such as at {'; '.join(each.where[:_STEPS_SHOWN])}")
        say(f"  {each.said}")
        say(f"  edit: {each.edit}" if each.edit else "  no single edit passes the replay")
    say(f"{len(moments)} steps, {len(proposals)} lines contradicted, {len(edits)} edits pass")
    if write and edits:
        yaml = read_yaml(str(manual), manual_text(manual).text, MANUAL)
        done = [edit for edit in edits if write_edit(yaml.tree, edit)]
        text = yaml_text(yaml.tree)
        manual_of(world, replace(choice, own=ManualText(str(manual), text, own=True)))  # or it has a mistake
        write_whole(manual, text)
        say(f"{len(done)} edits written to {manual}")
        for edit in edits:
            if edit not in done:
                say(f"  not written, since the file does not hold it: {edit}")
