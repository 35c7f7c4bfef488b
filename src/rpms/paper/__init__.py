"""The paper: Algorithm 1 as values and pure functions. No I/O, no model, no world."""
