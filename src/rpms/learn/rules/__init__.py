"""Rules from interaction: exploration by experiment, induction with evidence, verification, a manual.

`templates` takes commands apart, `attempts`, `goals` and `ledger` keep what was seen, `conclude` draws conclusions,
`session` chooses what to try, `rehearse` plays with the manual, `write` writes it and `learn.manual_verify` tests it.
"""
