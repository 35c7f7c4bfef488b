"""What was seen.

A command is taken apart by `templates` into a verb and its slots; `vocabulary` lists the facts
that a belief can answer, and `states` keeps these answers as bits. Each time that a command was
given is one of the `attempts`; `linked_attempts` tell what else changed that the command does not
name, `revelations` what became known, and `wants` what the goal wanted. `witnesses` says which
attempts count as independent: the same again in one episode is no news.

For the questions of the other folders the attempts of an action are a table of bits, whose
`columns` are `literals`: facts, or their opposites. `bindings` finds names with which given facts
hold, and `drawing` draws such names at random. `contexts` has where the agent has been with what,
and `recorded_episodes` reads the episodes of a run again.
"""
