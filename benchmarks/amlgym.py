"""Learned actions beside those of other learners, judged by AMLGym: its traces, simulators, metrics.

    pip install --group amlgym .
    python benchmarks/amlgym.py [--rows FILE] [--domains first|rest|all|NAME,…]
                                [--learners ours|others|all|NAME;…] [--steps 500] [--seconds 10]

The first line brings the other learners and Fast Downward. Passive learners (SAM, OffLAM, NOLAM,
ours) get the ten traces of each domain, which hold no refusals; active ones (OLAM, the
information-gain agent, the random agent, ours) the simulator of its first learning problem and a
number of steps. All get types, predicates and parameters, and nothing else. Only ours goes back to
the first state, four times.

Our learner was developed on the first ten domains in alphabetical order; the others are reported
apart. Rows are kept in FILE as they come, and what FILE has is not measured again, so that a run
that was stopped goes on. The recorded rows, with what they lack measured:

    python benchmarks/amlgym.py --rows benchmarks/amlgym_rows.jsonl

They have every learner in every domain.

Learning has a limit of processor time for each domain. OLAM, the information-gain agent and our
experiments are then judged by what they have learned, and the table names the domain under `stopped`; others `failed`,
with 0 for every measure. A number in brackets counts the domains for which something was measured.
Where the planner runs out of time, a problem counts as not solved. The wheel of Fast Downward is for
x86-64; the kept rows were solved with version 20.06, built for aarch64.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

_HERE = Path(__file__).resolve().parent
# this file has the name of AMLGym's package: Python is to look here last
sys.path = [place for place in sys.path if Path(place or ".").resolve() != _HERE]
_INSTALLED = importlib.util.find_spec("amlgym") is not None
sys.path.append(str(_HERE))

from amlgym_rows import (  # noqa: E402
    ACTIVE,
    DEVELOPED,
    HELD_OUT,
    PASSIVE,
    Job,
    Row,
    append_row,
    read_rows,
    tables,
)

if TYPE_CHECKING:
    from amlgym_learners import TimeLimit

_SEED = 123  # AMLGym's own
_PATIENCE = 900  # Seconds of the clock after which a row is given up, whatever it does
_FORKING = Lock()  # filelock allows no fork while another thread forks (Python 3.12)


# One learner on one domain, in a process and a folder of its own.


def run_one(job: Job, args: argparse.Namespace) -> Row:
    """A row, made in a process and a folder of its own: AMLGym writes files where it stands."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "row.json")
        process = multiprocessing.get_context("fork").Process(
            target=run_here, args=(job, args, result)
        )
        with _FORKING:
            process.start()
        process.join(_PATIENCE)
        end_group(process.pid or 0)
        process.join()
        if result.exists():
            return Row(**json.loads(result.read_text("utf-8")))
        return Row(*job, failed=f"did not end in time (exit code {process.exitcode})")


def end_group(leader: int) -> None:
    """End a process and the planners that it may have left."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return


def run_here(job: Job, args: argparse.Namespace, result: Path) -> None:
    """A child's part: stand in its folder, be silent, leave a row."""
    os.setsid()
    os.chdir(result.parent)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    most = 3 * args.seconds + 60  # A solver in C does not listen to Python's alarm
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))
    row = measured(job, args)
    finished = result.with_suffix(".new")
    finished.write_text(json.dumps(asdict(row)), "utf-8")
    finished.rename(result)
    os._exit(0)  # others' pools of processes would be waited for


def measured(job: Job, args: argparse.Namespace) -> Row:
    """Learn, write the model, judge it."""
    from amlgym_learners import OutOfTime, TimeLimit, processor_seconds  # noqa: PLC0415

    model = Path("model.pddl")
    before = processor_seconds()
    limit = TimeLimit(args.seconds)
    steps = None
    failed = ""
    try:
        with limit.enforced():
            steps = learn(job, model, limit, args)
    except OutOfTime:
        failed = f"more than {args.seconds} s"
    except Exception as error:  # noqa: BLE001  others' learners fail in ways of their own
        failed = told(error)
    seconds = round(processor_seconds() - before, 1)
    row = Row(*job, seconds, steps, limit.stopped, failed)
    return row if failed else judged(row, model, args)


def learn(job: Job, model: Path, limit: TimeLimit, args: argparse.Namespace) -> int | None:
    """Write a learned domain, and say how many actions were tried for it."""
    from amlgym.algorithms import get_algorithm  # noqa: PLC0415
    from amlgym.benchmarks import (  # noqa: PLC0415
        get_domain_path,
        get_problems_path,
        get_trajectories_path,
    )
    from amlgym_learners import RulesByExperiment, RulesFromTraces, counted  # noqa: PLC0415
    from pddl_world import Domain  # noqa: PLC0415
    from unified_planning.io import PDDLReader  # noqa: PLC0415
    from unified_planning.shortcuts import get_environment  # noqa: PLC0415

    get_environment().credits_stream = None
    reference = get_domain_path(job.domain)
    given = Path("given.pddl")
    given.write_text(Domain.read(Path(reference).read_text("utf-8")).emptied(), "utf-8")
    if job.algorithm in PASSIVE:
        ours = job.algorithm == PASSIVE[0]
        passive = RulesFromTraces() if ours else get_algorithm(job.algorithm)
        traces = get_trajectories_path(job.domain, kind="learning")
        model.write_text(passive.learn(str(given), traces), "utf-8")
        return None
    first = get_problems_path(job.domain, kind="learning")[0]
    simulator, tried = counted(PDDLReader().parse_problem(reference, first))
    if job.algorithm == ACTIVE[0]:
        active = RulesByExperiment(str(given))
    else:
        active = get_algorithm(job.algorithm, input_domain_path=str(given))
    if job.algorithm in {ACTIVE[0], "OLAM", "InformationGainAgent"}:
        limit.let_others_stop()
    text, _ = active.learn(simulator, max_steps=args.steps, seed=_SEED + args.seed)
    # AMLGym's measures cannot read the first of these, which the information-gain agent writes
    model.write_text(text.replace(":effect ()", ":effect (and )"), "utf-8")
    return tried()


def judged(row: Row, model: Path, args: argparse.Namespace) -> Row:
    """A row with all measures. A measure that fails is told, and those after it are left out."""
    from amlgym.benchmarks import get_domain_path  # noqa: PLC0415
    from amlgym_measures import Measures, predicted, solving, syntactic  # noqa: PLC0415

    learned = str(model)
    reference = get_domain_path(row.domain)
    found: Measures = {}
    failed = ""
    try:
        found |= syntactic(learned, reference)
        found |= predicted(learned, reference, row.domain, args.states, args.states)
        found |= solving(learned, reference, row.domain, args.problems, args.planner)
    except Exception as error:  # noqa: BLE001  what others write may not be read by others
        failed = told(error)
    return replace(row, failed=failed, **found)


def told(error: Exception) -> str:
    """An error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


# All of them.


def run_all(jobs: Sequence[Job], args: argparse.Namespace) -> Iterator[Row]:
    """Rows of jobs as they are done."""
    if not jobs:
        return
    for module in ("amlgym.algorithms", "amlgym_learners", "amlgym_measures"):
        importlib.import_module(module)  # Once for all: this takes half a minute

    with ThreadPoolExecutor(args.jobs) as pool:
        futures = [pool.submit(run_one, job, args) for job in jobs]
        for future in as_completed(futures):
            yield future.result()


def chosen_domains(text: str) -> list[str]:
    """`first`, `rest`, `all`, or names with commas between."""
    every = {"first": DEVELOPED, "rest": HELD_OUT, "all": (*DEVELOPED, *HELD_OUT)}
    return chosen(text.split(","), every, (*DEVELOPED, *HELD_OUT))


def chosen_learners(text: str) -> list[str]:
    """`ours`, `others`, `all`, or names with semicolons between."""
    every = {
        "ours": (PASSIVE[0], ACTIVE[0]),
        "others": (*PASSIVE[1:], *ACTIVE[1:]),
        "all": (*PASSIVE, *ACTIVE),
    }
    return chosen(text.split(";"), every, (*PASSIVE, *ACTIVE))


def chosen(
    names: Sequence[str], groups: dict[str, tuple[str, ...]], known: Sequence[str]
) -> list[str]:
    """Names, with those of a group in its place."""
    found: list[str] = []
    for name in names:
        if name not in groups and name not in known:
            possible = ", ".join((*groups, *known))
            raise argparse.ArgumentTypeError(f"no {name!r}; there are: {possible}")
        found += groups.get(name, (name,))
    return found


def arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--domains", type=chosen_domains, default=chosen_domains("all"))
    parser.add_argument("--learners", type=chosen_learners, default=chosen_learners("all"))
    parser.add_argument("--steps", type=int, default=500, help="actions an active learner may try")
    parser.add_argument("--seconds", type=int, default=10, help="of processor time to learn")
    parser.add_argument("--states", type=int, default=10, help="problems, and states of each")
    parser.add_argument("--problems", type=int, default=2, help="to be solved, of ten")
    parser.add_argument("--planner", type=int, default=10, help="seconds a problem")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--rows", type=Path, default=Path("amlgym_rows.jsonl"))
    return parser.parse_args()


def main() -> None:
    """Measure the rows that are missing and print the tables."""
    args = arguments()
    rows = read_rows(args.rows)
    wanted = []
    for domain in args.domains:
        wanted += [Job(learner, domain) for learner in args.learners]
    missing = [job for job in wanted if job not in rows]
    if missing and not _INSTALLED:
        print(f"{len(missing)} rows skipped: amlgym is not installed: pip install --group amlgym .")
        missing = []
    warnings.filterwarnings("ignore")
    for row in run_all(missing, args):
        append_row(args.rows, row)
        rows[row.job] = row
        said = row.failed or f"{row.precision} {row.recall}, solved {row.solved}"
        print(f"{row.algorithm}, {row.domain}: {said}", file=sys.stderr, flush=True)
    print("\n".join(tables(row for job, row in rows.items() if job in wanted)))


if __name__ == "__main__":
    main()
