"""ALFWorld's engine, native: plays official game files exactly as TextWorld does;
`gamefile.load_engine` opens one.
"""
