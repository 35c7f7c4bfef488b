"""Input from outside: limits, the one reader of files, JSON held to a form, texts made safe to
show.
"""
