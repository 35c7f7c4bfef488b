"""Rules from interaction: exploration by experiment, induction with evidence, verification, a manual.

`words` takes commands apart, `attempts`, `wins` and `ledger` keep what was seen, `induce` and `goals` draw conclusions,
`explore` chooses what to try, `verify` holds a manual against episodes, `write` makes YAML of what was learned.
"""
