"""The guard in a loop of your own: an agent that wants to cancel what was delivered."""

from pathlib import Path

from shop_tools import CANCEL, LOOK, cancel_order, get_order

from rpms.guard import Call, Guard

guard = Guard(Path(__file__).parent / "shop.yaml")
guard.hear("yes")
for tool, arguments in ((cancel_order, CANCEL), (get_order, LOOK), (cancel_order, CANCEL)):
    call = Call(tool.__name__, arguments)
    ruling = guard.check(call)
    if ruling.goes_on:
        guard.observe(call, tool(**arguments))
    print(f"{call.tool}: {ruling.word}. {ruling.text}")
