"""τ²'s airline and retail: their tools on a database of one's own, their policies, and calls
that break them.
"""
