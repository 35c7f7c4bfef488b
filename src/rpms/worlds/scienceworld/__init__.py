"""ScienceWorld, the second world."""
