"""The guard around LangChain's tools. The model is a script, so that no key is needed."""

from pathlib import Path

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from shop_tools import CANCEL, LOOK, cancel_order, get_order

from rpms.guard import Guard

guard = Guard(Path(__file__).parent / "shop.yaml")
tools = [
    guard.wrap(tool, refused=lambda ruling: f"Not done. {ruling.text}")
    for tool in (get_order, cancel_order)
]


class Script(GenericFakeChatModel):
    """A model that says what is written."""

    def bind_tools(self, _tools, **_options):  # noqa: ANN001, ANN003, ANN201
        """Take the tools, as any chat model does."""
        return self


calls = [("cancel_order", CANCEL), ("get_order", LOOK), ("cancel_order", CANCEL)]
turns = [
    AIMessage("", tool_calls=[{"name": n, "args": a, "id": str(i)}])
    for i, (n, a) in enumerate(calls)
]
model = Script(messages=iter([*turns, AIMessage("I cannot cancel it.")]))
agent = create_agent(model, tools)
guard.hear("yes")
for message in agent.invoke({"messages": [("user", "yes")]})["messages"]:
    print(f"{message.type}: {message.text}")
