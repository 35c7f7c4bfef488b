"""What follows from what was seen. `conclude` asks all of the others, and `learned_manual` has the
answers as a manual; the `ledger` is where the evidence of all actions is kept.

Of an action: what it needs (`needs`, which builds on the `safe_bound`, on `explanations` of
refusals, on `proofs` and on `either_needs`, each a step further; `implications` tell which needs
follow from others, `need_chances` how likely each is), what it does (`action_effects`), under
which more `conditions`, to things that it does not name (`unnamed_effects`), and what it shows
(`looks_around`). Of tasks: their goals (`goal_models`), what scores (`scores`) and what has to be
done, whatever holds (`deeds`). `place_maps` has where things are found. An `action_model` is what
is known of one action.
"""
