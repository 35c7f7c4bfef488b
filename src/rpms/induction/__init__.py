"""Rules from interaction: exploration by experiment, induction with evidence, verification, a
manual.

`templates` takes commands apart, `vocabulary` has the facts that a belief answers; `attempts`,
`linked_attempts`, `wants` and `ledger` keep what was seen, and `witnesses` tells which attempts say
something new. `conclude` draws conclusions: `needs` of actions (the `safe_bound`, `explanations`,
`proofs` and `either_needs` before them), `conditions`, `action_effects`, `revelations` and
`unnamed_effects`; of goals `goal_models`, and of scores `scores` and `deeds`. `learned_manual` has
them as a manual.

`agenda` has what is open: `questions` about actions, by `need_chances`, and about goals, of which
`goal_guesses` says what one may want and `as_told` what its sentence says; `ventures` has what may
score by `past_outcomes`, `contexts` where the agent has been with what; `standing` has an episode
as it stands, `looking` finds out what is unknown in it and `session` chooses. Where commands are
declared, `experimenter` chooses, by the trials of each action in its `laboratory`, the `odds` of
what they tell, the `first_guesses` at what an action needs that never worked, and ways that
`forward_search` finds. `rehearse` plays with the manual, `write` writes it and `learned_claims` its
evidence. `tool_rules` learns from the log of a guard.

Of a manual, learned or not: `manual_verify` holds it against `recorded_episodes`, `mend` finds the
`manual_edits` that episodes ask for, `manual_compare` compares two, `manual_review` takes learned
lines out and puts them in, and `hand_edits` keeps what people changed when it is learned again.
"""
