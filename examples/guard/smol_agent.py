"""The guard around tools of smolagents. The model is a script, so that no key is needed."""

import json
from pathlib import Path

from shop_tools import CANCEL, LOOK, cancel_order, get_order
from smolagents import Model, ToolCallingAgent, tool
from smolagents.models import (
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
)

from rpms.guard import Guard

guard = Guard(Path(__file__).parent / "shop.yaml")
tools = []
for function in (get_order, cancel_order):
    tools.append(tool(function))
    tools[-1].forward = guard.wrap(function)


class Script(Model):
    """A model that says what is written."""

    calls = [  # noqa: RUF012
        ("cancel_order", CANCEL),
        ("get_order", LOOK),
        ("cancel_order", CANCEL),
        ("final_answer", {"answer": "I cannot cancel it."}),
    ]

    def generate(self, *_args, **_options):  # noqa: ANN002, ANN003, ANN201
        """Give the next answer."""
        name, arguments = self.calls.pop(0)
        call = ChatMessageToolCall(
            ChatMessageToolCallFunction(json.dumps(arguments), name),
            str(len(self.calls)),
            "function",
        )
        return ChatMessage(MessageRole.ASSISTANT, tool_calls=[call])


agent = ToolCallingAgent(tools, Script(), verbosity_level=0)
guard.hear("yes")
agent.run("yes")
for step in agent.memory.steps:
    print(getattr(step, "error", None) or getattr(step, "observations", None) or "")
