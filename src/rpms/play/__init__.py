"""Episodes: one, and many at once."""
