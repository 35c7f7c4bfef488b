"""The learner of this package as a passive and as an active algorithm of AMLGym; limits for all."""

from __future__ import annotations

import resource
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amlgym.algorithms.ActiveAlgorithmAdapter import ActiveAlgorithmAdapter
from amlgym.algorithms.PassiveAlgorithmAdapter import PassiveAlgorithmAdapter
from amlgym.modeling.trajectory import Trajectory as AmlTrajectory
from information_gain_aml.algorithms import InformationGainLearner
from olam.learning.action_generator import ActionGenerator
from olam.learning.learner import Learner as OlamLearner
from olam.modeling.PDDLenv import PDDLEnv
from pddl_world import (
    Domain,
    PddlFact,
    PddlWorld,
    ShownNames,
    Simulator,
    object_types,
    read_trajectory,
    to_pddl,
)
from unified_planning.exceptions import UPInvalidActionError
from unified_planning.model import Problem, UPState
from unified_planning.plans import ActionInstance
from unified_planning.shortcuts import SequentialSimulator

from rpms.induction.exploring.agenda import Exploring
from rpms.induction.exploring.experimenter import Experimenter
from rpms.induction.learn import RulesPlan, learn_rules
from rpms.store import evidence as store
from rpms.store.evidence import Spoken, Trace
from rpms.worlds.base import Setting

_EPISODES = 5
"""Episodes into which the steps are divided: what cannot be undone is there again in the next."""


class RulesFromTraces(PassiveAlgorithmAdapter):
    """`rpms rules learn --from EPISODES`, with trajectories as episodes."""

    def learn(self, domain_path: str, trajectory_paths: Sequence[str]) -> str:
        domain = Domain.read(Path(domain_path).read_text("utf-8"))
        world = PddlWorld(domain)
        with tempfile.TemporaryDirectory() as folder:
            episodes = Path(folder, "traces.episodes.jsonl")
            told = {"world": world.name, "split": "train"}
            with store.keeping(episodes, told) as (_, keep):
                for number, file in enumerate(trajectory_paths):
                    keep(_trace(domain, str(number), Path(file).read_text("utf-8")))
            plan = RulesPlan(world, split="train", runs=(episodes,))
            result = learn_rules(plan, Path(folder, "manual.yaml"))
        return to_pddl(domain, result.learned, cautious=True)


def _trace(domain: Domain, name: str, text: str) -> Trace:
    """A trajectory as an episode."""
    trajectory = read_trajectory(text)
    names = ShownNames(domain, object_types(domain, trajectory))
    steps = [
        Spoken(names.show(step.action), names.describe(step.state)) for step in trajectory.steps
    ]
    return Trace(name, name, "explore", names.opening(trajectory.start), tuple(steps))


@dataclass
class RulesByExperiment(ActiveAlgorithmAdapter):
    """`rpms rules learn`, in a few episodes that each begin in the problem's first state."""

    def learn(
        self, simulator: SequentialSimulator, max_steps: int = 500, seed: int = 123
    ) -> tuple[str, AmlTrajectory]:
        domain = Domain.read(Path(self.input_domain_path).read_text("utf-8"))
        walk = _Walk(simulator)
        episode = max(1, -(-max_steps // _EPISODES))
        world = PddlWorld(domain, [walk.simulator()])
        exploring = Exploring(
            steps=max_steps, per_episode=episode, seed=seed, played=0.0, aside=0, growth=1.5
        )
        tasks = tuple(world.tasks("train", Setting()))
        plan = RulesPlan(world, tasks, split="train", exploring=exploring)
        with tempfile.TemporaryDirectory() as folder:
            result = learn_rules(plan, Path(folder, "manual.yaml"))
        return to_pddl(domain, result.learned), AmlTrajectory(walk.states, walk.actions)


class _Walk:
    """One walk through a simulator's states, kept as AMLGym wants it."""

    def __init__(self, simulator: SequentialSimulator) -> None:
        self._simulator = simulator
        self._problem: Problem = simulator._problem  # noqa: SLF001  as AMLGym's own agents do
        UPState.MAX_ANCESTORS = None
        self.state = simulator.get_initial_state()
        self.states: list[Any] = [self.state]
        self.actions: list[ActionInstance] = []

    def simulator(self) -> Simulator:
        types = {thing.name: thing.type.name for thing in self._problem.all_objects}
        return Simulator(types, self.restart, self.act)

    def restart(self) -> frozenset[PddlFact]:
        """Go back to the first state."""
        self.state = self._simulator.get_initial_state()
        return self.facts()

    def facts(self) -> frozenset[PddlFact]:
        """All that is true now."""
        found = set()
        for fluent, value in self.state._values.items():  # noqa: SLF001
            if value.is_true():
                found.add(PddlFact(fluent.fluent().name, tuple(map(str, fluent.args))))
        return frozenset(found)

    def act(self, action: PddlFact) -> frozenset[PddlFact] | None:
        """Try an action."""
        objects = [self._problem.object(name) for name in action.args]
        instance = ActionInstance(self._problem.action(action.name), tuple(objects))
        try:
            after = self._simulator.apply(self.state, instance)
        except UPInvalidActionError:
            after = None
        self.actions.append(instance)
        self.states.append(after)
        if after is None:
            return None
        self.state = after
        return self.facts()


# Steps and time, counted for learners that are not ours too.


def counted(problem: Problem) -> tuple[SequentialSimulator, Callable[[], int]]:
    """A simulator, and a function that says how many actions were tried in it.

    OLAM asks the simulator whether an action can be done before it does it; that is one try.
    """
    simulator = SequentialSimulator(problem)
    tried = 0
    apply = simulator.apply
    step = PDDLEnv.step

    def counting_apply(state: Any, action: Any, *more: Any) -> Any:
        nonlocal tried
        tried += 1
        return apply(state, action, *more)

    def counting_step(environment: PDDLEnv, action: Any) -> Any:
        nonlocal tried
        before = tried
        result = step(environment, action)
        tried = before + 1
        return result

    simulator.apply = counting_apply
    PDDLEnv.step = counting_step
    return simulator, lambda: tried


def processor_seconds() -> float:
    """Processor time of this process and of those it waited for."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def select_in_one_process(select: Callable[..., Any]) -> Callable[..., Any]:
    """The information-gain agent's choice without its pool, whose time could not be counted."""

    def alone(learner: InformationGainLearner, state: Any) -> Any:
        learner.num_workers = 1
        return select(learner, state)

    return alone


class OutOfTime(BaseException):
    """A learner has used its time; no `except Exception` of its own may hide that."""


class TimeLimit:
    """A limit on the processor time of this process and its children, looked at every second.

    OLAM, the information-gain agent and our experiments stop by themselves when they find nothing
    to do. Past the limit they find nothing, and give what they have learned. Any other learner is
    interrupted.
    """

    def __init__(self, seconds: float) -> None:
        self._end = processor_seconds() + seconds
        self._may_interrupt = True
        self.stopped = False
        """True once a learner was stopped."""

    @contextmanager
    def enforced(self) -> Iterator[None]:
        """Watch the time."""
        signal.signal(signal.SIGALRM, self._look)
        signal.setitimer(signal.ITIMER_REAL, 1, 1)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _look(self, *_: Any) -> None:
        if self._may_interrupt and self._passed():
            self.stopped = True
            raise OutOfTime

    def _passed(self) -> bool:
        return processor_seconds() > self._end

    def let_others_stop(self) -> None:
        """Interrupt those learners that can stop by themselves only while they choose."""
        self._may_interrupt = False
        select = select_in_one_process(InformationGainLearner.select_action)
        InformationGainLearner.select_action = self._stopping(select, ("no_action", []))
        Experimenter.choose = self._stopping(Experimenter.choose, "")
        OlamLearner.plan_for_operator = self._stopping(OlamLearner.plan_for_operator, None)
        for name in ("get_learning_actions_precs", "get_learning_actions_effs"):
            choose = getattr(ActionGenerator, name)
            setattr(ActionGenerator, name, self._stopping(choose, []))

    def _stopping(self, choose: Callable[..., Any], nothing: Any) -> Callable[..., Any]:
        """A method that chooses nothing once the time is over."""

        def limited(*args: Any, **options: Any) -> Any:
            if self._passed():
                self.stopped = True
                return nothing
            self._may_interrupt = True
            try:
                return choose(*args, **options)
            except OutOfTime:
                return nothing
            finally:
                self._may_interrupt = False

        return limited
