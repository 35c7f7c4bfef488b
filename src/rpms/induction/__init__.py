"""Rules from interaction: exploration by experiment, induction with evidence, verification, a
manual.

`templates` takes commands apart, `attempts`, `wants` and `ledger` keep what was seen, `conclude`
draws conclusions: `needs` of actions, `conditions` and `action_effects`, `unnamed_effects` and
`scores`. `agenda` has what is open, `ventures` what may score, `session` chooses among it,
`rehearse` plays with the manual, `write` writes it and `manual_verify` tests it.
"""
