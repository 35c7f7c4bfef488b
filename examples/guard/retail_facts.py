"""The functions that the shop's policy names, as a file: for Inspect's configuration and `rpms
guard --python`.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from tau2_policies import policy_functions

globals().update(policy_functions("retail"))
