"""Teaching: the planner's steps as prompts and answers, from which a small model learns to read
what it is told.
"""
