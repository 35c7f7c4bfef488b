"""Plans over manual, belief and goal; no simulator is asked."""
