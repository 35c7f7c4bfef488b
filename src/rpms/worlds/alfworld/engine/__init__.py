"""ALFWorld's engine, native: reads official game files and plays them exactly as TextWorld does.

`load_engine` checks a file and prepares its `GameEngine`; an engine is a set of pure functions over `State` values.
"""
