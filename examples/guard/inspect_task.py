"""The guard as an Inspect approver, by its name in an approval configuration.

The model is a script.
"""

import json
import tempfile
from os import chdir
from pathlib import Path

from inspect_ai import Task, eval  # noqa: A004
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import tool
from shop_tools import CANCEL, LOOK, cancel_order, get_order

HERE = Path(__file__).parent
chdir(HERE)  # the configuration names the manual from here


@tool(name="get_order")
def look():  # noqa: ANN201
    """Look up an order."""

    async def execute(order_id: str) -> str:
        """Look up an order.

        Args:
            order_id: Which one.
        """
        return json.dumps(get_order(order_id))

    return execute


@tool(name="cancel_order")
def cancel():  # noqa: ANN201
    """Cancel an order."""

    async def execute(order_id: str, user_id: str) -> str:
        """Cancel an order of a user.

        Args:
            order_id: Which one.
            user_id: Whose.
        """
        return cancel_order(order_id, user_id)

    return execute


calls = [("cancel_order", CANCEL), ("get_order", LOOK), ("cancel_order", CANCEL)]
answers = [ModelOutput.for_tool_call("mockllm/model", name, arguments) for name, arguments in calls]
answers.append(ModelOutput.from_content("mockllm/model", "I cannot cancel it."))
for answer in answers:
    answer.usage = ModelUsage()  # else tokens are counted, with a tokenizer from the network
task = Task(
    [Sample("yes")],
    solver=[use_tools(look(), cancel()), generate()],
    approval=str(HERE / "approval.yaml"),
)
with tempfile.TemporaryDirectory() as logs:
    model = get_model("mockllm/model", custom_outputs=answers)
    log = eval(task, model=model, log_dir=logs, display="none")[0]
    for message in log.samples[0].messages:
        error = getattr(message, "error", None)
        print(f"{message.role}: {error.message if error else message.text}")
