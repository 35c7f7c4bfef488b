"""The guard around tools of Google's ADK. The model is a script, so that no key is needed."""

import asyncio
from pathlib import Path

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types
from shop_tools import CANCEL, LOOK, cancel_order, get_order

from rpms.guard import Guard

guard = Guard(Path(__file__).parent / "shop.yaml")
tools = [
    guard.wrap(tool, refused=lambda ruling: {"error": f"Not done. {ruling.text}"})
    for tool in (get_order, cancel_order)
]
calls = [("cancel_order", CANCEL), ("get_order", LOOK), ("cancel_order", CANCEL)]


class Script(BaseLlm):
    """A model that says what is written."""

    async def generate_content_async(self, *_args, **_options):  # noqa: ANN002, ANN003, ANN201
        """Give the next answer."""
        part = types.Part(text="I cannot cancel it.")
        if calls:
            name, arguments = calls.pop(0)
            part = types.Part.from_function_call(name=name, args=arguments)
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


async def main() -> None:
    """Try to cancel what was delivered."""
    runner = InMemoryRunner(LlmAgent(name="shop", model=Script(model="script"), tools=tools))
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="mia")
    guard.hear("yes")
    message = types.Content(role="user", parts=[types.Part(text="yes")])
    async for event in runner.run_async(user_id="mia", session_id=session.id, new_message=message):
        for part in event.content.parts:
            print(part.text or part.function_call or part.function_response.response)


asyncio.run(main())
