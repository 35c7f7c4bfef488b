"""Two written policies as manuals: an airline's and a shop's, whose tools are those of τ²-bench.

`policy_guard("retail")` is a guard for one conversation.
"""

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, Final

from rpms.guard.call_facts import Look, PythonFact
from rpms.guard.calls import ToolManual
from rpms.guard.guard import Guard
from rpms.guard.tool_manuals import open_tool_manual
from rpms.logic.errors import InputError
from tau2_policies.airline import AirlineFacts
from tau2_policies.records import PolicyFacts
from tau2_policies.retail import RetailFacts

_FACTS: Final[Mapping[str, type[PolicyFacts]]] = {"airline": AirlineFacts, "retail": RetailFacts}
"""The policies, each a manual and the facts that it names."""
NAMES: Final = tuple(_FACTS)


def policy_guard(name: str) -> Guard:
    """A guard for one conversation under one of the policies."""
    return Guard(policy_manual(name), python=policy_functions(name))


def policy_functions(name: str) -> dict[str, PythonFact]:
    """The functions that a policy's manual names; a record or argument of an unexpected shape
    tells them nothing.
    """

    def told(fact: str, look: Look, *args: Any) -> bool | None:
        try:
            return getattr(_FACTS[name](look), fact)(*args)  # type: ignore[no-any-return]
        except (KeyError, IndexError, TypeError, ValueError, AttributeError):
            return None

    return {
        fact.python: partial(told, fact.python)
        for fact in policy_manual(name).facts.values()
        if fact.python
    }


@cache
def policy_manual(name: str) -> ToolManual:
    """One of the policies, read once."""
    if name not in _FACTS:
        raise InputError(f"no policy is called {name!r}; known: {', '.join(_FACTS)}")
    return open_tool_manual(Path(__file__).with_name(f"{name}.yaml"))
