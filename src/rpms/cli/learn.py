"""`rpms learn`: play seen tasks and keep what they teach; `rpms insights`: draw from runs what expel plays with."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from rpms.cli import options
from rpms.cli.options import Resources
from rpms.cli.screen import complain, make_console, say
from rpms.core.condition import LATER, named_condition
from rpms.core.errors import InputError
from rpms.foreign.file_reader import is_there
from rpms.foreign.shown import one_line
from rpms.learn.insights import gather_experience
from rpms.learn.rounds import LearningPlan, continued, learn, learned, round_folder
from rpms.models.base import Decoding
from rpms.models.catalogue import FROM_MENU, Backend, ModelOptions, parse_model_name
from rpms.models.windows import context_window
from rpms.play.display import progress
from rpms.play.plan import NamedModel, OpenModel
from rpms.play.run import How, Listener, trial_folders
from rpms.play.settings import Settings
from rpms.store.answers import write_experience
from rpms.store.runs import RunFolder
from rpms.worlds.registry import find_world, world_named

USUAL_MASK = 0.2
"""Share of memories that an audit hides by default: small, so that a round still plays as usual."""


def _wording(lessons: str, model: NamedModel, how: How) -> OpenModel | None:
    """The model, if it is to word lessons; one that reads no text is refused."""
    if lessons not in ("seen", "model"):
        raise InputError(f"--lessons {lessons!r}: choose seen or model")
    if lessons == "seen":
        return None
    if parse_model_name(model.name).provider.backend in (Backend.PLANNER, *FROM_MENU):
        raise InputError(f"--lessons model: {model.name} writes no text; name an LLM with --model")
    meter = how["meter"]
    return model if meter is None else meter.watching(model, how["price"])


def main(
    resources: Resources,
    settings: Settings,
    world: str,
    out: Path,
    rounds: int = 3,
    engine: str = "native",
    model: str = "planner",
    later: str = "full",
    option: list[str] | None = None,
    go_on: bool = False,
    audit: bool = False,
    lessons: str = "seen",
) -> None:
    """Play a split round by round and write what it teaches as a frozen memory: snippets, lessons and schemas.

    With --memory, learning starts from that memory; with --continue, from the one in --out.
    """
    options.refuse_folders(out)
    found = find_world(world)
    if later not in LATER:
        raise InputError(f"--later {later!r}: choose {' or '.join(LATER)}")
    if go_on and settings.memory:
        raise InputError("--continue starts from the memory in --out, --memory from another: give only one of them")
    if audit and settings.mask is None:
        settings = replace(settings, mask=USUAL_MASK)
    names = (settings.condition or "rules-only", later)
    if settings.memory is None and named_condition(names[0]).memory:
        raise InputError(f"--condition {names[0]}: the first round has no memory; give one with --memory")
    first, after_it = (replace(settings, condition=name).condition_value() for name in names)
    options.refuse_choosing_without_menu(first.enforcement, model)
    tasks, setting = settings.tasks(found, options.make_setting(found, resources.data, engine, option))
    named, player = resources.model(model, settings), resources.player()
    known = resources.price_of(model)
    how = How(engine=player, price=known, meter=resources.meter({model: known}))
    window = context_window(model, settings.context, resources.base_url).tokens
    plan = LearningPlan(
        settings.plan(found, model, named, window, tasks=tasks, setting=setting, condition=first),
        rounds,
        first=first,
        later=after_it,
        start=options.memory_of(settings, found, model) if settings.memory else None,
        audit=audit,
        harvest=settings.harvesting,
        words=_wording(lessons, named, how),
    )
    if go_on:
        plan = continued(plan, out)
    if audit and not (after_it.memory and plan.before + rounds > 1):
        raise InputError("--audit needs a round that plays with a memory: --rounds 2 or more, with --later full")
    resources.check(named, begun=RunFolder(round_folder(out, plan.before + 1)).begun)
    options.note_idle_parts(found, [first.enforcement], model)
    console = make_console()

    def listen(number: int) -> Listener:
        say(f"round {number} of {plan.before + rounds}")
        return progress(console, known)

    results = learn(
        plan, out, resources.workers, listen, after=lambda each: say("\n".join(learned([each]))), empty=False, **how
    )
    last = results[-1]
    say(f"{last.entries} entries in {out}, frozen: sha256 {last.hash[:16]}…")


def gather_insights(
    runs: list[Path],
    out: Path,
    model: str,
    base_url: str | None = None,
    record: Path | None = None,
    context: int | None = None,
    max_tokens: int | None = None,
) -> None:
    """Let a model draw insights from recorded runs; `--agent expel` plays with these and with the won episodes.

    Use runs of tasks that you will not test on. Runs of `--agent reflexion` are best: a failure and a success at the
    same task teach most.
    """
    if parse_model_name(model).provider.backend in (Backend.PLANNER, *FROM_MENU):
        raise InputError(f"{model} writes no text; name an LLM with --model")
    if is_there(out):
        raise InputError(f"{out}: exists already; choose another file or remove it")
    folders = [RunFolder(each) for folder in runs for each in trial_folders(folder)]
    name = str(folders[0].protocol.settings.get("world", ""))
    world = world_named(name, folders[0].folder)
    opens = NamedModel(model, ModelOptions(base_url=base_url), record.absolute() if record else None)
    with closing(opens()) as answering:
        decoding = Decoding(max_tokens=max_tokens or world.max_tokens)
        window = context_window(model, context, base_url).tokens
        found = gather_experience(folders, name, answering, decoding, window, lambda line: complain(f"note: {line}"))
    if not found.trajectories:
        raise InputError("no episode of these runs was won, so there is nothing to learn from")
    write_experience(out, found)
    say(*(f"{insight.votes:3d}  {one_line(insight.text)}" for insight in found.insights))
    say(f"{len(found.insights)} insights and {len(found.trajectories)} trajectories are in {out}")
