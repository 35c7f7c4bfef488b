"""OpenTelemetry for a guard: a span for each check and a counter of rulings; needs `pip install
'rpms[otel]'`.
"""

import time

from rpms.guard.calls import Call, Ruling
from rpms.guard.setup import Watch
from rpms.logic.errors import InputError

try:
    from opentelemetry import metrics, trace
except ModuleNotFoundError as error:
    raise InputError(f"this needs {error.name}: pip install 'rpms[otel]'") from None


def telemetry() -> Watch:
    """A Guard's `watch`, which reports by the providers that the process has set up.

    Names of tools, rules and rulings are reported, arguments and results never.
    """
    tracer = trace.get_tracer("rpms.guard")
    meter = metrics.get_meter("rpms.guard")
    rulings = meter.create_counter(
        "rpms.guard.calls", description="Calls that were checked, by ruling and rule"
    )
    seconds = meter.create_histogram(
        "rpms.guard.check.duration", unit="s", description="Time of a check"
    )

    def watch(call: Call, ruling: Ruling, took: float) -> None:
        said = {
            "rpms.guard.ruling": ruling.word,
            "rpms.guard.rule": ruling.rule,
            "gen_ai.tool.name": call.tool[:200],
        }
        end = time.time_ns()
        tracer.start_span(
            "rpms.guard.check", start_time=end - int(took * 1e9), attributes=said
        ).end(end)
        rulings.add(1, said)
        seconds.record(took, said)

    return watch
