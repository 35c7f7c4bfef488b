"""The guard before plain functions: an agent that wants to cancel what was delivered."""

from pathlib import Path

from shop_tools import CANCEL, LOOK, cancel_order, get_order

from rpms.guard import CallRefused, Guard

guard = Guard(Path(__file__).parent / "shop.yaml")
guard.hear("yes")
tools = {tool.__name__: guard.wrap(tool) for tool in (get_order, cancel_order)}
for name, arguments in (("cancel_order", CANCEL), ("get_order", LOOK), ("cancel_order", CANCEL)):
    try:
        print(f"{name}: {tools[name](**arguments)}")
    except CallRefused as refused:
        print(f"{name}: {refused}")
