"""τ² telecom as a World: its knowledge in one place, its simulator a lazy import away."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version

from rpms.core.belief import Belief
from rpms.core.goal import UNKNOWN_GOAL, Goal
from rpms.core.recall import Retrieval, Similarity
from rpms.foreign.call_text import NotACall, Tool, WrittenCall, read_call
from rpms.worlds.base import Command, Game, Setting, Task, World, read_wording
from rpms.worlds.tau2_telecom.belief import TelecomBelief, disagreements
from rpms.worlds.tau2_telecom.game import DONE, SPLITS, TelecomGame, list_tasks, load_package, missing
from rpms.worlds.tau2_telecom.observations import refused, update

_TICKET = re.compile(r"Today is (?P<today>\d{4}-\d\d-\d\d)\.\nTicket: (?P<ticket>.+)", re.DOTALL)
_TYPES = {
    "mms_issue": "unable to send MMS messages",
    "mobile_data_issue": "issues with their mobile data",
    "service_issue": "issues with their phone service",
}
_NUMBER = re.compile(r"phone number: ([0-9][0-9-]{2,30}[0-9])")
_PLACE = re.compile(r"current location: (abroad|at home)")
_AMOUNT = re.compile(r"refuel (\d{1,4}(?:\.\d{1,3})?) GB")
_PAYING = "permission to pay all their overdue bills"


@dataclass(frozen=True)
class Ticket(Goal):
    """A goal with what its ticket tells."""

    today: str = ""
    number: str = ""
    amount: str = ""
    """Gigabytes that the customer would pay for."""
    may_pay: bool = False


def parse_ticket(opening: str) -> Goal:
    """Read the opening; type `unknown` where it is no ticket of a known kind."""
    match = _TICKET.match(opening)
    text = match["ticket"].strip() if match else opening
    type_ = next((name for name, words in _TYPES.items() if words in text), UNKNOWN_GOAL)
    if match is None or type_ == UNKNOWN_GOAL or (number := _NUMBER.search(text)) is None:
        return Goal(UNKNOWN_GOAL, text=text)
    place, amount = _PLACE.search(text), _AMOUNT.search(text)
    return Ticket(
        type_,
        state={"abroad": "abroad", "at home": "home"}[place[1]] if place else "",
        text=text,
        today=match["today"],
        number=number[1],
        amount=str(float(amount[1])) if amount else "",
        may_pay=_PAYING in text,
    )


WORDING = read_wording(__package__)
SIGNATURES: Mapping[str, tuple[str, ...]] = {
    **{name: tuple(given.split(", ")) for name, given in re.findall(r"(\w+)\((\w[\w, ]*)\)", WORDING.instruction)},
    "get_bills_for_customer": ("customer_id", "limit"),  # which the prompt does not tell
}
"""The parameters of the tools that have any, in order: how a call is written in one way."""


class Tau2Telecom(World):
    """The World of tickets about phones."""

    name = "tau2-telecom"
    splits: tuple[str, ...] = SPLITS
    wording = WORDING
    retrieval = Retrieval(similarity=Similarity(type=0.6, object=0.0, state=0.4, destination=0.0))
    """Goals differ by the complaint, and by whether the user is abroad."""

    def tasks(self, split: str, setting: Setting) -> Sequence[Task]:
        self.chosen(setting)
        return list_tasks(split)

    def open(self, task: Task, setting: Setting) -> Game:
        self.chosen(setting)
        return TelecomGame(task.id)

    goal = staticmethod(parse_ticket)
    update = staticmethod(update)
    infeasible = staticmethod(refused)
    not_installed = staticmethod(missing)

    def start(self, goal: Goal) -> Belief:
        belief = TelecomBelief().learn("not closed", "not escalated(_)", "not apn_resetting")
        if not isinstance(goal, Ticket):
            return belief
        told = [f"{'' if goal.state == 'abroad' else 'not '}abroad"] if goal.state else []
        told.append(f"{'' if goal.may_pay else 'not '}may_pay")
        named = {"amount": [goal.amount]} if goal.amount else {}
        belief = belief.learn(*told, number=[goal.number], **named)
        return replace(belief, today=goal.today, number=goal.number)

    def command(self, action: str, belief: TelecomBelief) -> Command:  # noqa: ARG002
        """A call in the one way of writing it; what is no call stays as it is, for the sandbox to refuse."""
        text = " ".join(action.split())
        try:
            call = read_call(text, SIGNATURES)
        except NotACall:
            return Command(text)
        name = call.name.lower()
        written = str(WrittenCall(name, call.arguments).ordered(SIGNATURES.get(name, ())))
        return Command(written, ("form",) if written != text else ())

    def tools(self) -> Sequence[Tool]:
        """As the sandbox describes them, and `done`."""
        tools = load_package().tools.items()
        known = [Tool(name, tool.description, tool.parameters.model_dump(exclude_none=True)) for name, tool in tools]
        return (*known, Tool(DONE, "Close the ticket: it is solved."))

    def contradictions(self, belief: TelecomBelief, game: Game) -> tuple[str, ...]:
        return disagreements(belief, game.environment) if isinstance(game, TelecomGame) else ()

    def edition(self, _tasks: Sequence[Task], _setting: Setting) -> Mapping[str, str]:
        """The version of the package: its tasks and tools are what is played."""
        try:
            return {"inspect-evals": version("inspect-evals")}
        except PackageNotFoundError:
            return {}


world: World = Tau2Telecom()
