"""The functions that the shop's policy names, as a file: for Inspect's configuration and `rpms
guard --python`.
"""

from rpms.guard.policies import policy_functions

globals().update(policy_functions("retail"))
