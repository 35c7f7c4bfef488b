"""Learned actions beside those of other learners, judged by AMLGym: its traces, simulators, metrics.

    python benchmarks/amlgym.py [--domains first|rest|all|NAME,…] [--learners ours|others|NAME;…]
                                [--steps 500] [--metrics syntactic,predicted,solving] [--states 10]
                                [--jobs 2] [--rows FILE] [--models FOLDER]

Needs `pip install amlgym`, which brings the other learners and Fast Downward. Passive learners
(SAM, OffLAM, NOLAM, ours) get the ten traces of each domain, which hold no refusals; active ones
(OLAM, the information-gain agent, the random agent, ours) the simulator of its first learning
problem and a number of steps. All get types, predicates and parameters, and nothing else.

Our learner was developed on the first ten domains in alphabetical order; the others are reported
apart. By default ours is measured anew. Rows of the others are read from `amlgym_rows.jsonl` beside
this file, because OLAM alone takes an hour; `--learners others --rows NEW` measures them again, and
goes on where it was stopped. Where the planner runs out of time, a problem counts as not solved.
Seconds are processor time, but for OLAM's, which are of the clock. OLAM was measured on the first ten
domains, by its lines alone; the information-gain agent not yet. A number in brackets counts the
domains for which something was measured. The wheel of Fast Downward is for x86-64; the kept rows
were solved with version 20.06, built for aarch64.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

_HERE = Path(__file__).resolve().parent
# this file has the name of AMLGym's package, and Python would look here first
sys.path = [place for place in sys.path if Path(place or ".").resolve() != _HERE]
warnings.filterwarnings("ignore")

DEVELOPED = (
    "barman",
    "blocksworld",
    "childsnack",
    "depots",
    "elevators",
    "ferry",
    "floortile",
    "goldminer",
    "grippers",
    "matchingbw",
)
HELD_OUT = (
    "miconic",
    "nomystery",
    "npuzzle",
    "parking",
    "rovers",
    "satellite",
    "sokoban",
    "spanner",
    "tpp",
    "transport",
    "visitall",
)
PASSIVE = ("ours, from traces", "SAM", "OffLAM", "NOLAM")
ACTIVE = ("ours, by experiment", "OLAM", "InformationGainAgent", "RandomAgent")
FIRST_FIELD = {"syntactic": "precision", "predicted": "applicable_precision", "solving": "solved"}
"""By metric, a field of a row that it fills."""
_SEED = 123  # AMLGym's own
_PATIENCE = 1_500  # Seconds after which a learner on a domain is given up


@dataclass(frozen=True)
class Row:
    """Results of one learner on one domain; None where it was not measured."""

    algorithm: str
    domain: str
    seconds: float = 0.0  # Of processor time, to learn
    steps: int | None = None  # Commands tried, by those who try
    failed: str = ""
    precision: float | None = None
    recall: float | None = None
    applicable_precision: float | None = None
    applicable_recall: float | None = None
    effects_precision: float | None = None
    effects_recall: float | None = None
    solved: float | None = None
    false_plans: float | None = None


class Column(NamedTuple):
    """One column of the table."""

    title: str
    field: str


COLUMNS = (
    Column("precision", "precision"),
    Column("recall", "recall"),
    Column("applicability precision", "applicable_precision"),
    Column("recall", "applicable_recall"),
    Column("effects precision", "effects_precision"),
    Column("recall", "effects_recall"),
    Column("solved", "solved"),
    Column("false plans", "false_plans"),
)


# One learner on one domain, in a process and a folder of its own.


def work(algorithm: str, domain: str, known: Row | None, args: argparse.Namespace) -> Row:
    """Learn, write the model, measure it; go on from a known row where the model is there."""
    from amlgym.benchmarks import get_domain_path  # noqa: PLC0415  after the path was put right

    reference = get_domain_path(domain)
    model = args.models / f"{algorithm.replace(', ', '_').replace(' ', '_')}-{domain}.pddl"
    row = known
    if row is None or not model.exists():
        row = learned_row(algorithm, domain, reference, model, args)
    if row.failed:
        return row
    found: dict[str, Any] = {}
    for metric in lacking(row, args.metrics):
        match metric:
            case "syntactic":
                found |= syntactic(str(model), reference)
            case "predicted":
                found |= predicted(str(model), reference, domain, args.states)
            case "solving":
                found |= solving(str(model), reference, domain, args.planner)
    return replace(row, **found)


def learned_row(
    algorithm: str, domain: str, reference: str, model: Path, args: argparse.Namespace
) -> Row:
    """Learn and write the model."""
    before = processor_seconds()
    try:
        text, steps = learn(algorithm, domain, reference, args)
    except Exception as error:  # noqa: BLE001  others' learners fail in ways of their own
        failed = f"{type(error).__name__}: {error}"[:200]
        return Row(algorithm, domain, round(processor_seconds() - before, 1), failed=failed)
    model.write_text(text, encoding="utf-8")
    return Row(algorithm, domain, round(processor_seconds() - before, 1), steps)


def lacking(row: Row | None, metrics: Sequence[str]) -> list[str]:
    """The metrics that are still to be measured for a row."""
    if row is None:
        return list(metrics)
    if row.failed:
        return []
    return [each for each in metrics if getattr(row, FIRST_FIELD[each]) is None]


def processor_seconds() -> float:
    """Processor time of this process and of those it waited for."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def learn(
    algorithm: str, domain: str, reference: str, args: argparse.Namespace
) -> tuple[str, int | None]:
    """A learned domain, and the number of commands that were tried for it."""
    sys.path.append(str(_HERE))
    from amlgym.algorithms import get_algorithm  # noqa: PLC0415
    from amlgym.benchmarks import get_problems_path, get_trajectories_path  # noqa: PLC0415
    from amlgym_learners import RulesByExperiment, RulesFromTraces, counted  # noqa: PLC0415
    from pddl_world import Domain  # noqa: PLC0415
    from unified_planning.io import PDDLReader  # noqa: PLC0415
    from unified_planning.shortcuts import get_environment  # noqa: PLC0415

    get_environment().credits_stream = None
    given = Path("given.pddl")
    given.write_text(Domain.read(Path(reference).read_text("utf-8")).emptied(), "utf-8")
    if algorithm in PASSIVE:
        passive = RulesFromTraces() if algorithm == PASSIVE[0] else get_algorithm(algorithm)
        return passive.learn(str(given), get_trajectories_path(domain, kind="learning")), None
    problem = PDDLReader().parse_problem(reference, get_problems_path(domain, kind="learning")[0])
    simulator, tried = counted(problem)
    if algorithm == ACTIVE[0]:
        active = RulesByExperiment(str(given))
    else:
        active = get_algorithm(algorithm, input_domain_path=str(given))
    text, _ = active.learn(simulator, max_steps=args.steps, seed=_SEED + args.seed)
    return text, tried()


def syntactic(model: str, reference: str) -> dict[str, float]:
    """Precision and recall of the lines."""
    from amlgym.metrics import syntactic_precision, syntactic_recall  # noqa: PLC0415

    return {
        "precision": float(syntactic_precision(model, reference)["mean"]),
        "recall": float(syntactic_recall(model, reference)["mean"]),
    }


def predicted(model: str, reference: str, domain: str, most: int) -> dict[str, float]:
    """Predicted applicability and effects in some states of some problems, as many of each."""
    from amlgym.benchmarks import get_problems_path, get_test_states  # noqa: PLC0415
    from amlgym.metrics import predictive_power  # noqa: PLC0415
    from amlgym.modeling.UPEnv import UPEnv  # noqa: PLC0415

    problems = {Path(file).name: file for file in get_problems_path(domain, "predictive_power")}
    some = list(get_test_states(domain, kind="predictive_power_fast").items())[:most]
    learned = []
    real = []
    states = []
    for name, found in some:
        file = problems[Path(name).name]
        learned.append(UPEnv(model, file))
        real.append(UPEnv(reference, file))
        listed = found.values() if isinstance(found, dict) else found
        states.append([each["fluents"] for each in list(listed)[:most]])
    power = predictive_power(learned, real, states, show_progress=False)
    return {
        "applicable_precision": float(power["applicability"]["mean_precision"]),
        "applicable_recall": float(power["applicability"]["mean_recall"]),
        "effects_precision": float(power["predicted_effects"]["mean_precision"]),
        "effects_recall": float(power["predicted_effects"]["mean_recall"]),
    }


def solving(model: str, reference: str, domain: str, seconds: int) -> dict[str, float]:
    """Problems solved, and plans that do not work."""
    from amlgym.benchmarks import get_problems_path  # noqa: PLC0415
    from amlgym.metrics import problem_solving  # noqa: PLC0415

    problems = get_problems_path(domain, kind="solving")
    found = problem_solving(model, reference, problems, timeout=seconds, show_progress=False)
    return {"solved": found["solving_ratio"], "false_plans": found["false_plans_ratio"]}


# All of them, and the table.


def kept_rows(file: Path) -> dict[tuple[str, str], Row]:
    """Rows by learner and domain."""
    found: dict[tuple[str, str], Row] = {}
    if file.exists():
        for line in file.read_text("utf-8").splitlines():
            row = Row(**json.loads(line))
            found[row.algorithm, row.domain] = row
    return found


def run_all(
    jobs: Sequence[tuple[str, str]], known: Mapping[tuple[str, str], Row], args: argparse.Namespace
) -> Iterator[Row]:
    """Rows of jobs as they are done, each in a process of its own, and keep them."""
    if not jobs:
        return
    import amlgym.algorithms  # noqa: PLC0415  once for all: this takes half a minute
    import amlgym.metrics  # noqa: F401, PLC0415

    with ThreadPoolExecutor(args.jobs) as pool:
        for row in pool.map(lambda job: run_one(*job, known.get(job), args), jobs):
            if args.rows is not None:
                with args.rows.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(row)) + "\n")
            yield row


def run_one(algorithm: str, domain: str, known: Row | None, args: argparse.Namespace) -> Row:
    """One job in a process and a folder of its own: AMLGym writes files where it stands."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "row.json")
        process = multiprocessing.get_context("fork").Process(
            target=run_here, args=(algorithm, domain, known, args, result)
        )
        process.start()
        process.join(_PATIENCE)
        if process.is_alive():
            os.killpg(process.pid or 0, signal.SIGKILL)
            process.join()
            return Row(algorithm, domain, _PATIENCE, failed=f"more than {_PATIENCE} s")
        if not result.exists():
            return Row(algorithm, domain, failed=f"ended with {process.exitcode}")
        return Row(**json.loads(result.read_text("utf-8")))


def run_here(
    algorithm: str, domain: str, known: Row | None, args: argparse.Namespace, result: Path
) -> None:
    """A child's part: stand in its folder, be silent, leave a row."""
    os.setsid()
    os.chdir(result.parent)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    row = work(algorithm, domain, known, args)
    result.write_text(json.dumps(asdict(row)), "utf-8")


def table(rows: Sequence[Row], algorithms: Sequence[str], ours: str) -> Iterator[str]:
    """Means over domains, the steps and seconds, and by how many domains ours is better or worse."""
    titles = [column.title for column in COLUMNS]
    yield "| " + " | ".join(("learner", *titles, "steps", "seconds", "failed")) + " |"
    yield "| --- |" + " ---: |" * (len(COLUMNS) + 3)
    for algorithm in algorithms:
        own = [row for row in rows if row.algorithm == algorithm]
        if not own:
            continue
        cells = [average(own, column.field) for column in COLUMNS]
        steps = [row.steps for row in own if row.steps is not None]
        cells.append(f"{mean(steps):.0f}" if steps else "")
        cells.append(f"{mean(row.seconds for row in own):.0f}")
        cells.append(str(sum(bool(row.failed) for row in own) or ""))
        yield f"| {algorithm} | " + " | ".join(cells) + " |"
    for algorithm in algorithms:
        if algorithm != ours:
            yield from comparison(rows, ours, algorithm)


def value_of(row: Row, field: str) -> float | None:
    """A measure: 0 for a learner that failed, None where it was not measured."""
    return 0.0 if row.failed else getattr(row, field)


def average(rows: Sequence[Row], field: str) -> str:
    """The mean of a measure, and of how many domains where it was not measured for all."""
    values = [value_of(row, field) for row in rows]
    measured = [value for value in values if value is not None]
    if not measured:
        return ""
    number = f" ({len(measured)})" if len(measured) < len(rows) else ""
    return f"{mean(measured):.3f}{number}"


def comparison(rows: Sequence[Row], ours: str, other: str) -> Iterator[str]:
    """Wilcoxon's signed-rank test over the domains for which both were measured."""
    from scipy.stats import wilcoxon  # noqa: PLC0415

    mine = {row.domain: row for row in rows if row.algorithm == ours}
    theirs = {row.domain: row for row in rows if row.algorithm == other}
    both = sorted(mine.keys() & theirs.keys())
    told = []
    for column in COLUMNS:
        differences = []
        for domain in both:
            one = value_of(mine[domain], column.field)
            two = value_of(theirs[domain], column.field)
            if one is not None and two is not None and abs(one - two) > 1e-9:
                differences.append(one - two)
        if differences:
            better = sum(each > 0 for each in differences)
            chance = wilcoxon(differences).pvalue
            worse = len(differences) - better
            told.append(f"{column.field} {better}:{worse} (p = {chance:.3f})")
    if told:
        yield f"{ours} beside {other}, domains higher:lower: {', '.join(told)}"


def chosen_domains(name: str) -> list[str]:
    """`first`, `rest`, `all`, or names with commas between."""
    every = {"first": DEVELOPED, "rest": HELD_OUT, "all": (*DEVELOPED, *HELD_OUT)}
    return list(every.get(name) or name.split(","))


def chosen_learners(name: str) -> list[str]:
    """`ours`, `others`, or names with semicolons between."""
    ours = (PASSIVE[0], ACTIVE[0])
    every = {"ours": ours, "others": (*PASSIVE[1:], *ACTIVE[1:])}
    return list(every.get(name) or name.split(";"))


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--domains", type=chosen_domains, default=chosen_domains("all"))
    parser.add_argument("--learners", type=chosen_learners, default=chosen_learners("ours"))
    parser.add_argument("--steps", type=int, default=500, help="of an active learner")
    parser.add_argument("--states", type=int, default=10, help="problems, and states of each")
    parser.add_argument("--planner", type=int, default=10, help="seconds a problem")
    parser.add_argument("--metrics", type=lambda text: text.split(","), default=list(FIRST_FIELD))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rows", type=Path, help="rows are kept here, and read from here")
    parser.add_argument("--models", type=Path, help="learned domains are written here")
    return parser.parse_args()


def main() -> None:
    """Measure what is missing and print the tables."""
    args = arguments()
    with tempfile.TemporaryDirectory() as folder:
        args.models = (args.models or Path(folder)).resolve()
        args.models.mkdir(parents=True, exist_ok=True)
        args.rows = args.rows.resolve() if args.rows else None
        rows = kept_rows(_HERE / "amlgym_rows.jsonl")
        known = kept_rows(args.rows) if args.rows else {}
        rows.update(known)
        jobs = []
        for learner in args.learners:
            jobs += [(learner, domain) for domain in args.domains]
        left = [job for job in jobs if lacking(known.get(job), args.metrics)]
        for row in run_all(left, known, args):
            rows[row.algorithm, row.domain] = row
            told = row.failed or f"{row.precision} {row.recall}, solved {row.solved}"
            print(f"{row.algorithm}, {row.domain}: {told}", file=sys.stderr, flush=True)
    print_tables([row for row in rows.values() if row.domain in args.domains])


def print_tables(rows: Sequence[Row]) -> None:
    """Four tables: both tracks, over the domains developed on and over the others."""
    for title, track in (("passive", PASSIVE), ("active", ACTIVE)):
        for told, domains in (("the first ten", DEVELOPED), ("the others", HELD_OUT)):
            some = [row for row in rows if row.algorithm in track and row.domain in domains]
            if some:
                print(f"\n## {title}, {told}: {len({row.domain for row in some})} domains\n")
                print("\n".join(table(some, track, track[0])))


if __name__ == "__main__":
    main()
