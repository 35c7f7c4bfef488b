"""The commands, put together: thin.

Each reads its options, calls one function and prints what it returns.
"""

import ast
import re
import sys
from collections.abc import Callable
from importlib import import_module
from inspect import Parameter, cleandoc, signature
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

import rpms
from rpms.cli.screen import complain, say, show_logs

ENTRY_POINTS = "rpms.commands"
"""Functions that add the commands of a world, or of another package, to the application they
are given."""

_PLAY, _LOOK, _KNOW, _MORE = (
    "Play and learn",
    "Look at results",
    "Rules, memory and worlds",
    "Beyond",
)
_KINDS: dict[str, Any] = {
    str(kind.__name__ if isinstance(kind, type) else kind).replace("pathlib.", ""): kind
    for one in (str, int, float, bool, Path)
    for kind in (one, one | None, list[one], list[one] | None)  # type: ignore[valid-type]
}
_KINDS |= {"Resources": Any, "Settings": Any}
"""Types of parameters by how a source writes them; the last two stand for options that several
commands share."""


class Known(NamedTuple):
    """A command of this package: its panel in `rpms --help`, and its function or group in its
    module.
    """

    panel: str
    module: str
    name: str = "app"

    @property
    def source(self) -> str:
        return (
            Path(rpms.__file__)
            .parent.joinpath(*self.module.split("."))
            .with_suffix(".py")
            .read_text("utf-8")
        )

    def load(self) -> Any:
        return getattr(import_module(f"rpms.{self.module}"), self.name)

    def unloaded(self, part: str = "") -> Callable[..., Any] | None:
        """The command, or one of the group's, as its source tells it: it is loaded when it is
        called, or None.
        """
        for node in (
            each for each in ast.parse(self.source).body if isinstance(each, ast.FunctionDef)
        ):
            decorated = f"{self.name}.command({part!r})" in map(ast.unparse, node.decorator_list)
            if decorated if part else node.name == self.name:
                return _unloaded(self._replace(name=node.name), node)
        return None

    @property
    def summary(self) -> str:
        """First line of its help, read from the source: to import them all takes seconds."""
        told = rf'^(?:def {self.name}\b.*?"""|{self.name} = typer\.Typer\(.*?help=")(.*?)("|$)'
        if (found := re.search(told, self.source, re.MULTILINE | re.DOTALL)) is None:
            raise LookupError(self)
        return found[1]


def _unloaded(known: Known, node: ast.FunctionDef) -> Callable[..., Any] | None:
    """A function with a definition's parameters that loads the defined one; None if their
    source does not tell them.
    """
    arguments = [*node.args.args, *node.args.kwonlyargs]
    defaults: list[Any] = [*node.args.defaults, *node.args.kw_defaults]
    parameters = []
    for argument, default in zip(
        arguments, [""] * (len(arguments) - len(defaults)) + defaults, strict=True
    ):
        kind = _KINDS.get(ast.unparse(argument.annotation) if argument.annotation else "")
        if kind is None or not isinstance(default, str | ast.Constant):
            return None
        usual = default.value if isinstance(default, ast.Constant) else Parameter.empty
        parameters.append(
            Parameter(argument.arg, Parameter.KEYWORD_ONLY, default=usual, annotation=kind)
        )

    def command(**given: Any) -> Any:
        return known.load()(**given)

    command.__doc__ = ast.get_docstring(node)
    import_module("rpms.cli.knobs").sign(command, parameters)
    return command


_WORLD = "worlds.alfworld.cli"
COMMANDS = {
    "play": Known(_PLAY, "cli.play", "main"),
    "run": Known(_PLAY, "cli.run", "main"),
    "learn": Known(_PLAY, "cli.run", "learn_memory"),
    "study": Known(_PLAY, "cli.study"),
    "insights": Known(_PLAY, "cli.run", "gather_insights"),
    "report": Known(_LOOK, "cli.report", "report"),
    "view": Known(_LOOK, "cli.report", "view"),
    "show": Known(_LOOK, "cli.report", "show"),
    "table": Known(_LOOK, "cli.report", "table"),
    "leaderboard": Known(_LOOK, "cli.report", "leaderboard"),
    "export": Known(_LOOK, "cli.report", "export_runs"),
    "convert": Known(_LOOK, "cli.report", "convert"),
    "worlds": Known(_KNOW, "cli.worlds"),
    "prompts": Known(_KNOW, "cli.worlds", "prompts"),
    "models": Known(_KNOW, "cli.models"),
    "rules": Known(_KNOW, "cli.rules"),
    "memory": Known(_KNOW, "cli.memory"),
    "docs": Known(_LOOK, "cli.docs", "search_docs"),
    "guard": Known(_MORE, "cli.guard"),
    "envs": Known(_MORE, "cli.worlds", "envs"),
    "games": Known(_KNOW, _WORLD, "games"),
    "verify": Known(_KNOW, _WORLD, "verify"),
}
ELSEWHERE = {
    ("rules", "learn"): Known(_KNOW, "cli.rules_learn", "learn"),
    ("rules", "verify"): Known(_KNOW, "cli.rules_learn", "check_against"),
    ("study", "run"): Known(_PLAY, "cli.study", "main"),
}
"""Commands of groups that stand in another module than their group."""


def make_app(word: str | None = None, part: str = "") -> typer.Typer:
    """The application: whole, or for a command line that begins with `word` (and `part`), with
    that command alone.
    """
    alone = (
        word in COMMANDS
    )  # options of the application itself stand before a command, and typer is slow to read them
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
            app.command(name, help=summary, rich_help_panel=known.panel)(
                lambda: None
            )  # the command line names another
        elif f"\n{known.name} = typer.Typer(" in known.source:
            app.add_typer(_group(name, known, part), name=name, rich_help_panel=known.panel)
        else:
            command = command_of(name, known)
            import_module("rpms.cli.knobs").declare(
                command, name
            )  # a mistyped command does not wait for it
            app.command(name, rich_help_panel=known.panel)(command)
    if not alone:
        problems = add_others(app, but=f"rpms.{_WORLD}:register")  # its commands are known already

        @app.callback()
        def _main(
            _version: Annotated[
                bool,
                typer.Option(
                    "--version",
                    callback=_show_version,
                    is_eager=True,
                    help="Print the version and exit.",
                ),
            ] = False,
        ) -> None:
            complain(*(f"note: {problem}" for problem in problems))

    join_lines(app)
    return app


def _group(name: str, known: Known, part: str) -> typer.Typer:
    """A group of commands: with the one that is named, where that can be told without loading
    it, or with all.
    """
    apart = {word: each for (group, word), each in ELSEWHERE.items() if group == name}
    one = command_of(f"{name} {part}", apart[part]) if part in apart else known.unloaded(part)
    if one is not None:
        group = typer.Typer(
            add_help_option=False
        )  # typer reads it slowly, and the command has its own
        group.command(part)(one)
    else:
        group = known.load()
        for word, other in apart.items():
            group.command(word)(command_of(f"{name} {word}", other))
    for each in group.registered_commands:
        import_module("rpms.cli.knobs").declare(each.callback, f"{name} {each.name}")
    return group


def command_of(name: str, known: Known) -> Callable[..., Any]:
    """A command: loaded when it is called, where its source tells its options."""
    found = known.unloaded() or known.load()
    takes = signature(found).parameters
    return (
        import_module("rpms.cli.knobs").with_shared(name, found) if "settings" in takes else found
    )


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"rpms {rpms.__version__}")
        raise typer.Exit


def add_others(app: typer.Typer, but: str = "") -> list[str]:
    """Add the commands that worlds and other packages bring, all but one; says of those that
    cannot be loaded why.
    """
    from importlib.metadata import entry_points  # noqa: PLC0415  few commands wait for it

    problems = []
    for point in sorted(each for each in entry_points(group=ENTRY_POINTS) if each.value != but):
        try:
            point.load()(app)
        except Exception as error:  # noqa: BLE001  a stranger's package may raise anything
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            problems.append(
                f"the commands of {point.name} ({point.value}) cannot be loaded: {reason}"
            )
    return problems


class _OnDemand:
    """A class of another module, which is loaded when it is called."""

    def __new__(cls, *given: Any, **named: Any) -> Any:
        return getattr(import_module(cls.__module__), cls.__name__)(*given, **named)


def _load_help() -> None:
    """Load typer's help without Markdown and tracebacks, which it imports and does not draw: a
    quarter of the start.
    """
    unused = {"rich.markdown": "Markdown", "rich.traceback": "Traceback"}
    modules = {module: ModuleType(module) for module in unused.keys() - sys.modules.keys()}
    for module, stand_in in modules.items():
        setattr(
            stand_in, unused[module], type(unused[module], (_OnDemand,), {"__module__": module})
        )
    sys.modules.update(modules)
    import_module("typer.rich_utils")
    for module in modules:
        del sys.modules[module]


class _Commands(TyperGroup):
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

                each.help = each.help.format_map(
                    {name: ", ".join(known) for name, known in NAMES.items()}
                )
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
