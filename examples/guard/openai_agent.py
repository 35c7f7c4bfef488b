"""The guard around tools of the OpenAI Agents SDK.

The model is a script, so that no key is needed.
"""

import asyncio
import json
from pathlib import Path

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)
from shop_tools import CANCEL, LOOK, cancel_order, get_order

from rpms.guard import Guard

guard = Guard(Path(__file__).parent / "shop.yaml")
tools = [
    function_tool(
        guard.wrap(tool, refused=lambda ruling: f"Not done. {ruling.text}"), strict_mode=False
    )
    for tool in (get_order, cancel_order)
]


class Script(Model):
    """A model that says what is written."""

    def __init__(self, *answers) -> None:  # noqa: ANN002
        self._answers = list(answers)

    async def get_response(self, *_args, **_options):  # noqa: ANN002, ANN003, ANN201
        """Give the next answer."""
        return ModelResponse(output=[self._answers.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *_args, **_options):  # noqa: ANN002, ANN003, ANN201
        """Not used here."""
        raise NotImplementedError


calls = [("cancel_order", CANCEL), ("get_order", LOOK), ("cancel_order", CANCEL)]
text = ResponseOutputText(text="I cannot cancel it.", type="output_text", annotations=[])
said = ResponseOutputMessage(
    id="m", role="assistant", status="completed", type="message", content=[text]
)
asked = [
    ResponseFunctionToolCall(type="function_call", call_id=str(i), name=n, arguments=json.dumps(a))
    for i, (n, a) in enumerate(calls)
]
agent = Agent(name="shop", model=Script(*asked, said), tools=tools)
guard.hear("yes")
result = asyncio.run(Runner.run(agent, "yes", run_config=RunConfig(tracing_disabled=True)))
for item in result.to_input_list():
    print(item.get("output") or item.get("content") or f"{item['name']}({item['arguments']})")
