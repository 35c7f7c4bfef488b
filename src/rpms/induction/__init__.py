"""Rules from interaction: explore by experiment, conclude with evidence, write a manual.

- `evidence`: what was seen, attempt by attempt
- `conclusions`: what follows from it, for actions, goals, scores and places
- `exploring`: which command to try next
- `manuals`: conclusions as a file, and the files of people: compared, verified, reviewed, mended

A folder imports only from those above it; `exploring` and `manuals` do not know each other.
`learn` goes round the circle: explore, conclude, `rehearse` with what was learned, write.
`tool_rules` learns from the log of a guard, where nobody explores. `thresholds` has every number
that says how much evidence is enough.
"""
