"""Manuals, learned or not: conclusions written down, and what may be done with the file.

`write` writes what was learned, and `learned_claims` the evidence of each line. `manual_verify`
holds a manual against recorded episodes, `mend` proposes the `manual_edits` that these episodes ask
for, `manual_compare` compares two manuals, `manual_review` takes learned lines out and puts them
back, and `hand_edits` keeps what people changed when the manual is learned again.
"""
