"""Predicates of ScienceWorld's procedures over a belief: the only module that knows its tasks
beyond the manual.

A predicate is a function of the scene and its arguments. A word is a goal's or a procedure's term
for things; a role is the kind of thing that a command's parameter takes.
"""
