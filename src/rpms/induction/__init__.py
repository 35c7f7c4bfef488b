"""Rules from interaction: exploration by experiment, induction with evidence, verification, a
manual.

`templates` takes commands apart, `attempts`, `linked_attempts`, `wants` and `ledger` keep what was
seen, `conclude` draws conclusions: `needs` of actions, `conditions` and `action_effects`,
`unnamed_effects` and `scores`. `agenda` has what is open, `ventures` what may score, by
`past_outcomes`, `session` chooses among it, and `looking` looks for what is unknown. `rehearse` plays with the manual, `write` writes it,
`learned_claims` its evidence.

Of a manual, learned or not: `manual_verify` holds it against `recorded_episodes`, `mend` finds the
`manual_edits` that episodes ask for, `manual_compare` compares two, `manual_review` takes learned
lines out and puts them in, and `hand_edits` keeps what people changed when it is learned again.
"""
