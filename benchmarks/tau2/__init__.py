"""τ²'s airline and retail: their tools on a database of one's own, what their policies permit, and calls that break them."""
