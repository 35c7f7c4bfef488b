"""Learning: episodes in, memory out."""
