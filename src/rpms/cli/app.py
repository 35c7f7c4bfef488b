"""The commands, put together: thin. Each reads its options, calls one function and prints what it returns."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

import rpms
from rpms.cli.screen import complain, say, show_logs

ENTRY_POINTS = "rpms.commands"
"""Functions that add the commands of a world, or of another package, to the application they are given."""

_PLAY, _LOOK, _KNOW, _MORE = "Play and learn", "Look at results", "Rules, memory and worlds", "Beyond"


class Known(NamedTuple):
    """A command of this package: its panel in `rpms --help`, and its function, group or options in its module."""

    panel: str
    module: str
    name: str = "app"

    @property
    def summary(self) -> str:
        """First line of its help, read from the source: to import them all takes seconds."""
        source = Path(rpms.__file__).parent.joinpath(*self.module.split(".")).with_suffix(".py").read_text("utf-8")
        told = rf'^(?:(?:def|class) {self.name}\b.*?"""|{self.name} = typer\.Typer\(.*?help=")(.*?)("|$)'
        if (found := re.search(told, source, re.MULTILINE | re.DOTALL)) is None:
            raise LookupError(self)
        return found[1]


_WORLD = "worlds.alfworld.cli"
COMMANDS = {
    "play": Known(_PLAY, "cli.playing", "PlayOptions"),
    "run": Known(_PLAY, "cli.playing", "RunOptions"),
    "learn": Known(_PLAY, "cli.playing", "LearnOptions"),
    "study": Known(_PLAY, "cli.study"),
    "insights": Known(_PLAY, "cli.learn", "gather_insights"),
    "report": Known(_LOOK, "cli.report", "report"),
    "view": Known(_LOOK, "cli.report", "view"),
    "show": Known(_LOOK, "cli.export", "show"),
    "table": Known(_LOOK, "cli.report", "table"),
    "leaderboard": Known(_LOOK, "cli.report", "leaderboard"),
    "export": Known(_LOOK, "cli.export", "export_runs"),
    "convert": Known(_LOOK, "cli.export", "convert"),
    "worlds": Known(_KNOW, "cli.worlds"),
    "prompts": Known(_KNOW, "cli.worlds", "prompts"),
    "models": Known(_KNOW, "cli.models"),
    "rules": Known(_KNOW, "cli.rules"),
    "memory": Known(_KNOW, "cli.memory"),
    "docs": Known(_LOOK, "cli.docs", "search_docs"),
    "guard": Known(_MORE, "cli.guard"),
    "envs": Known(_MORE, "cli.envs"),
    "games": Known(_KNOW, _WORLD, "games"),
    "verify": Known(_KNOW, _WORLD, "verify"),
}
_OWN_WORLD = f"rpms.{_WORLD}:register"
"""The entry point behind this package's own world's commands."""


def make_app(word: str | None = None) -> typer.Typer:
    """The application: whole, or for a command line that begins with `word`, with that command loaded and no other."""
    alone = word in COMMANDS  # options of the application itself stand before a command, and typer is slow to read them
    app = typer.Typer(
        name="rpms",
        cls=_Commands,
        help="Rules, memory and a deterministic belief for LLM agents in closed text worlds.",
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        add_help_option=not alone,
        add_completion=not alone,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name, known in COMMANDS.items():
        if word not in (None, name):
            summary = "" if alone else known.summary
            app.command(name, help=summary, rich_help_panel=known.panel)(lambda: None)  # the command line names another
            continue
        from rpms.cli.knobs import declare  # noqa: PLC0415  a mistyped command does not wait for it

        found = getattr(import_module(f"rpms.{known.module}"), known.name)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name, rich_help_panel=known.panel)
            for each in found.registered_commands:
                declare(each.callback, f"{name} {each.name}")
        else:
            command = import_module("rpms.cli.playing").command_of(name, found) if isinstance(found, type) else found
            declare(command, name)
            app.command(name, rich_help_panel=known.panel)(command)
    if not alone:
        problems = add_others(app, (_OWN_WORLD,))

        @app.callback()
        def _main(
            _version: Annotated[
                bool,
                typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit."),
            ] = False,
        ) -> None:
            for problem in problems:
                complain(f"note: {problem}")

    join_lines(app)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"rpms {rpms.__version__}")
        raise typer.Exit


def __getattr__(name: str) -> typer.Typer:
    """Make the whole application when it is first asked for."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()["app"] = app = make_app()
    return app


def add_others(app: typer.Typer, but: Sequence[str] = ()) -> list[str]:
    """Add the commands that worlds and other packages bring; says of those that cannot be loaded why."""
    from importlib.metadata import entry_points  # noqa: PLC0415  few commands wait for it

    problems = []
    for point in sorted(entry_points(group=ENTRY_POINTS)):
        if point.value in but:
            continue
        try:
            point.load()(app)
        except Exception as error:  # noqa: BLE001  a stranger's package may raise anything
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            problems.append(f"the commands of {point.name} ({point.value}) cannot be loaded: {reason}")
    return problems


class _OnDemand:
    """A class of another module, which is loaded when it is called."""

    def __new__(cls, *given: Any, **named: Any) -> Any:
        return getattr(import_module(cls.__module__), cls.__name__)(*given, **named)


def _load_help() -> None:
    """Load typer's help without Markdown and tracebacks, which it imports and does not draw: a quarter of the start."""
    unused = {"rich.markdown": "Markdown", "rich.traceback": "Traceback"}
    modules = {module: ModuleType(module) for module in unused.keys() - sys.modules.keys()}
    for module, stand_in in modules.items():
        setattr(stand_in, unused[module], type(unused[module], (_OnDemand,), {"__module__": module}))
    sys.modules.update(modules)
    import_module("typer.rich_utils")
    for module in modules:
        del sys.modules[module]


class _Commands(TyperGroup):
    """The commands, as their help lists them."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _load_help()
        super().format_help(ctx, formatter)


class _Explained(TyperCommand):
    """A command whose options' help may name what only the settings know: `{conditions}`."""

    def invoke(self, ctx: Any) -> Any:
        """Run it; one that is interrupted and says how to go on is heard."""
        show_logs()
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            if str(stop):
                complain(f"rpms: {stop}")
                raise typer.Exit(130) from None
            raise

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _load_help()
        for each in self.params:
            if isinstance(each, TyperOption) and each.help and "{" in each.help:
                from rpms.play.settings import NAMES  # noqa: PLC0415  few ask for help

                each.help = each.help.format_map({name: ", ".join(known) for name, known in NAMES.items()})
        super().format_help(ctx, formatter)


def join_lines(app: typer.Typer) -> None:
    """Make each paragraph of every command's help one line; typer does so with the first alone."""
    for command in app.registered_commands:
        command.cls = _Explained
        text = command.help or (command.callback.__doc__ if command.callback else None) or ""
        command.help = "\n\n".join(" ".join(each.split()) for each in cleandoc(text).split("\n\n"))
    for group in app.registered_groups:
        if group.typer_instance is not None:
            join_lines(group.typer_instance)
