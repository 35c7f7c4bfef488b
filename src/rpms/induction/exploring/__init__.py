"""Which command to try next.

`explorer` plays episode after episode, and in each a `session` chooses, step by step. The `agenda`
has what is still open: `questions` about actions, `goal_guesses` about what a task wants, also
`as_told` by its sentence, and `ventures`, which may score by `past_outcomes`. `standing` has the
present episode as it stands, and `wandering` the places that it has not been to.

A session has several ways to choose: `looking` finds out what is unknown, `novelties` takes actions
that nobody knows, `trying` makes experiments with known ones, `ways_on` leads elsewhere,
`goal_pursuit` goes after the goal, `goal_sentence` does what that says, and `daring` tries what may
end the task.

Where a world declares its commands, `experimenter` chooses instead: `laboratory` finds the trials
of an action that has worked, `first_trials` those of one that never did. `odds` says what the next
trial is likely to tell, `first_guesses` what an action may need that never worked, and
`forward_search` finds the way to a state where it can be tried (`meeting` says which facts can hold
together).
"""
