"""The policies of `examples/guard/tau2_policies`, importable without being installed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "guard"))

from tau2_policies import NAMES, policy_functions, policy_guard, policy_manual, records

__all__ = ["NAMES", "policy_functions", "policy_guard", "policy_manual", "records"]
