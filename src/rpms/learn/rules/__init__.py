"""Rules from interaction: exploration by experiment, induction with evidence, verification, a manual.

`templates` takes commands apart, `attempts`, `goals` and `ledger` keep what was seen, `conclude` draws conclusions,
`session` chooses what to try, `rehearse` plays with the manual, `verify` holds it against episodes, `write` writes it.
"""
