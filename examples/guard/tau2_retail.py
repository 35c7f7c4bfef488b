"""The shop's policy as an Inspect approver before the retail tools of τ²-bench. The model is a
script.

It tries to cancel an order too early twice, then rightly, and then one that is delivered.
"""

import tempfile
from pathlib import Path

from inspect_ai import Task, eval  # noqa: A004
from inspect_ai.approval import ApprovalPolicy
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate, use_tools
from inspect_evals.tau2.retail import tools

from rpms.guard.inspect import guard

POLICY = Path(__file__).parent / "tau2_policies" / "retail.yaml"
PENDING, DELIVERED = "#W5199551", "#W9389413"


def cancel(order: str) -> tuple[str, dict[str, str]]:
    """Cancel an order."""
    return "cancel_pending_order", {"order_id": order, "reason": "no longer needed"}


def look(order: str) -> tuple[str, dict[str, str]]:
    """Look up an order."""
    return "get_order_details", {"order_id": order}


find = (
    "find_user_id_by_name_zip",
    {"first_name": "Fatima", "last_name": "Johnson", "zip": "78712"},
)
calls = [
    cancel(PENDING),
    find,
    cancel(PENDING),
    look(PENDING),
    cancel(PENDING),
    look(DELIVERED),
    cancel(DELIVERED),
]
script = [ModelOutput.for_tool_call("mockllm/model", *call) for call in calls]
script.append(ModelOutput.from_content("mockllm/model", "done"))
for output in script:
    output.usage = ModelUsage()  # else tokens are counted, with a tokenizer from the network
task = Task(
    [Sample("Yes, cancel it.")],
    solver=[use_tools(*(getattr(tools, name)() for name in dict(calls))), generate()],
    approval=[
        ApprovalPolicy(
            guard(str(POLICY), python=str(Path(__file__).with_name("retail_facts.py"))), "*"
        )
    ],
)
with tempfile.TemporaryDirectory() as logs:
    model = get_model("mockllm/model", custom_outputs=script)
    log = eval(task, model=model, log_dir=logs, display="none")[0]
    for message in log.samples[0].messages:
        if message.role == "tool":
            print(f"{message.function} -> {message.error.message if message.error else 'done'}")
