"""Which command to try next.

`explorer` plays episode after episode, and in each a `session` chooses, step by step. The `agenda`
has what is still open: `questions` about actions, `goal_guesses` about what a task wants, also
`as_told` by its sentence, and `ventures`, which may score by `past_outcomes`. `standing` has the
present episode as it stands, `looking` finds out what is unknown in it, and `wandering` has the
places that it has not been to.

Where a world declares its commands, `experimenter` chooses instead: `laboratory` keeps the trials
of each action, `odds` says what the next one is likely to tell, `first_guesses` what an action may
need that never worked, and `forward_search` finds the way to a state where it can be tried
(`meeting` says which facts can hold together).
"""
