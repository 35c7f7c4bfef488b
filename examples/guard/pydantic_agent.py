"""The guard around tools of pydantic-ai. The model is a function, so that no key is needed."""

import asyncio
from pathlib import Path

from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from shop_tools import CANCEL, LOOK, cancel_order, get_order

from rpms.guard import Guard

guard = Guard(Path(__file__).parent / "shop.yaml")


def retry(ruling):  # noqa: ANN001, ANN201
    """Have the model read why, and try something else."""
    raise ModelRetry(f"Not done. {ruling.text}")


tools = [guard.wrap(tool, refused=retry) for tool in (get_order, cancel_order)]
calls = [("cancel_order", CANCEL), ("get_order", LOOK), ("cancel_order", CANCEL)]


def script(messages, _info):  # noqa: ANN001, ANN201
    """Say what is written."""
    said = sum(isinstance(message, ModelResponse) for message in messages)
    if said < len(calls):
        return ModelResponse(parts=[ToolCallPart(*calls[said])])
    return ModelResponse(parts=[TextPart("I cannot cancel it.")])


agent = Agent(FunctionModel(script), tools=tools, retries=3)
guard.hear("yes")
for message in asyncio.run(agent.run("yes")).all_messages():
    for part in message.parts:
        print(f"{part.part_kind}: {getattr(part, 'content', '') or part.tool_name}")
