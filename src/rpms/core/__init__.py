"""The paper as values and pure functions: no I/O, no model, no world."""
