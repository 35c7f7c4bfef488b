"""Rules from interaction: exploration by experiment, induction with evidence, verification, a
manual.

`templates` takes commands apart, `attempts`, `linked_attempts`, `wants` and `ledger` keep what was
seen, `conclude` draws conclusions: `needs` of actions, `conditions`, `action_effects` and
`unnamed_effects`; of goals `goal_models`, and of scores `scores` and `deeds`. `agenda` has what is
open, `goal_guesses` what a goal may want, `ventures` what may score by `past_outcomes`; `standing`
has an episode as it stands, `looking` finds out what is unknown in it and `session` chooses.
`rehearse` plays with the manual, `write` writes it and `learned_claims` its evidence. `tool_rules`
learns from the log of a guard.

Of a manual, learned or not: `manual_verify` holds it against `recorded_episodes`, `mend` finds the
`manual_edits` that episodes ask for, `manual_compare` compares two, `manual_review` takes learned
lines out and puts them in, and `hand_edits` keeps what people changed when it is learned again.
"""
