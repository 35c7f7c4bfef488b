"""Many episodes at once on a Ray cluster of any size.

The design goes out once: only tasks and finished episodes are sent, and these are written by the
process that started the run. Models are opened in each process.
"""

from __future__ import annotations

import copyreg
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from rpms.logic.errors import InputError, ModelUnavailable, RPMSError
from rpms.models.base import Model
from rpms.play.design import RunDesign
from rpms.play.runners import HandsOut
from rpms.play.seats import Finished, Seat
from rpms.worlds.base import Task, World
from rpms.worlds.registry import find_world, world_names

_PATIENCE = 1.0
"""Seconds between looks at whether the cluster has grown or shrunk."""
_AHEAD_ON_RAY = 2
"""Episodes handed out for each that the cluster can play at once, so that no node waits for the
next."""


@dataclass(frozen=True)
class OnRay:
    """Makes runners that play on a cluster: `run(design, out, runner=OnRay())`."""

    address: str | None = None
    """Address of the cluster; by default the one that `RAY_ADDRESS` names or that runs here, or
    else one started for the run."""
    cpus: float = 1.0
    """CPUs of a node that each episode takes. An episode that waits for a model's server needs a
    tenth of one or less."""

    def __call__(self, design: RunDesign, tasks: Sequence[Task], workers: int | None) -> RayRunner:
        return RayRunner(design, tasks, workers, self)


class RayRunner(HandsOut):
    """Plays tasks on a cluster, at most `workers` at once; as many as it has CPUs for if that
    is None.
    """

    def __init__(
        self, design: RunDesign, tasks: Sequence[Task], workers: int | None, options: OnRay
    ) -> None:
        self._ray = _import_ray()
        self._started_here = not self._ray.is_initialized()
        if self._started_here:
            try:
                self._ray.init(
                    options.address,
                    log_to_driver=False,
                    logging_level="error",
                    include_dashboard=False,
                )
            except (ConnectionError, ValueError, RuntimeError) as error:
                line = " ".join(str(error).split())[:200]
                raise InputError(
                    f"no Ray cluster at {options.address or 'the default address'}: {line}"
                ) from None
        super().__init__(design, tasks)
        self._workers = workers
        self._cpus = options.cpus
        self._pending: dict[Any, Task] = {}
        self._limit = workers or 1
        self._looked = -_PATIENCE
        copyreg.pickle(type(design.world), travelling)
        self._ticket = (uuid.uuid4().hex, self._ray.put(design))
        self._play = self._ray.remote(num_cpus=options.cpus, max_retries=0)(_play)

    def results(self) -> Iterator[Sequence[Finished]]:
        while self._todo or self._pending:
            self._hand_out()
            ready, _ = self._ray.wait(list(self._pending), num_returns=1, timeout=_PATIENCE)
            for reference in ready:
                yield [*self._take(reference)]

    def _hand_out(self) -> None:
        now = time.monotonic()
        if self._workers is None and now - self._looked >= _PATIENCE:
            self._looked = now
            cpus = float(self._ray.cluster_resources().get("CPU", 1.0))
            self._limit = max(1, _AHEAD_ON_RAY * int(cpus / self._cpus))
        while self._todo and len(self._pending) < self._limit:
            task = self._todo.popleft()
            self._pending[self._play.remote(self._ticket, task)] = task

    def _take(self, reference: Any) -> Iterator[Finished]:
        """The episode of a task that has ended; none if it was lost and will be played again."""
        task = self._pending.pop(reference)
        try:
            done = self._ray.get(reference)
        except self._ray.exceptions.RayTaskError:
            raise  # a bug, with the traceback of where it happened
        except self._ray.exceptions.RayError as error:
            yield from self._lose(task, type(error).__name__)
            return
        if isinstance(done, RPMSError):
            raise done
        assert isinstance(done, Finished)
        yield done

    def stop(self) -> list[Finished]:
        """Take what is finished, cancel the rest, and leave the cluster as it was."""
        late: list[Finished] = []
        if self._pending:
            ready, _ = self._ray.wait(
                list(self._pending), num_returns=len(self._pending), timeout=0
            )
            for reference in ready:
                with suppress(self._ray.exceptions.RayError, ModelUnavailable, InputError):
                    late += self._take(reference)
            for reference in self._pending:
                self._ray.cancel(reference, force=True)
        self._pending.clear()
        if self._started_here:
            self._ray.shutdown()
        return late


def _import_ray() -> Any:
    try:
        import ray  # noqa: PLC0415  an extra
        import ray.exceptions  # noqa: PLC0415
    except ImportError:
        raise InputError("the runner 'ray' needs Ray: pip install 'rpms[ray]'") from None
    return ray


def travelling(world: World) -> Any:
    """Reduce a world for other machines: one that is installed there as well goes by its name."""
    installed = world.name in world_names() and find_world(world.name) is world
    return (find_world, (world.name,)) if installed else world.__reduce_ex__(4)


class _Opened(NamedTuple):
    """Everything that a process plays with."""

    model: Model
    seat: Seat


_OPEN: dict[str, _Opened] = {}
"""State of this process: one run's model and seat, by its ticket, however many episodes of it
are played here."""


def _play(ticket: tuple[str, Any], task: Task) -> Finished | RPMSError:
    """Play one episode somewhere on the cluster.

    An error for the user is returned in words alone, which travel.
    """
    run, shared = ticket
    try:
        if run not in _OPEN:
            for other in list(_OPEN):
                _OPEN.pop(other).model.close()
            design = _import_ray().get(shared)
            model = design.open_model()
            _OPEN[run] = _Opened(model, Seat(design, model))
        done = _OPEN[run].seat.play(task)
    except ModelUnavailable as error:
        return ModelUnavailable(str(error))
    except InputError as error:
        return InputError(f"on a node of the cluster: {error}")
    assert done is not None
    return done
