"""The knobs of an experiment as a command line's help tells them: light, so that a typing error is answered at once.

`rpms.play.settings` reads their values, and knows the names that stand in the texts' braces.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Knob(NamedTuple):
    """A knob in words."""

    doc: str
    values: str
    """Values that may be given."""
    tasks: bool = False
    """True if it chooses what is played."""


KNOBS: Mapping[str, Knob] = {
    "condition": Knob("Which parts of RPMS are on: {conditions}.", "NAME"),
    "preset": Knob(
        "Defaults for all other settings: paper (its manual, prompt and belief, nothing enforced) or strict.", "NAME"
    ),
    "enforce": Knob(
        "One part of the enforcement, such as menu=5: {parts}. docs/enforcement.md lists their values.", "NAME=VALUE"
    ),
    "arbitration": Knob(
        "What to do with memories that conflict with rules: {arbitration}; or a judge of your own.", "MODE|MODULE:NAME"
    ),
    "retriever": Knob("A retriever of your own in place of Eq. 4. docs/change_the_method.md.", "MODULE:NAME"),
    "consistency": Knob("A state filter (COMPAT) of your own in place of Eq. 6.", "MODULE:NAME"),
    "prompt": Knob("Your own way to make messages of the prompt's blocks.", "MODULE:NAME"),
    "state_filter": Knob("Leave out memories that were learned in another state than the present one.", "on|off"),
    "theta": Knob("θ: how similar a memory's goal must be to this one, from 0 to 1.", "NUMBER"),
    "k": Knob("How many memories a prompt shows, for all kinds or by kind: {kinds}.", "KIND=N,…"),
    "schemas": Knob("Verified schemas are recalled by the goals they were tried for, or for any goal.", "goal|any"),
    "memory_tokens": Knob("Tokens of the memory block; by default 280, and more where --k asks for more.", "TOKENS"),
    "warnings": Knob("Critical failures and lessons together in a prompt; by default 3, or as --k asks.", "N"),
    "examined": Knob("Memories of a kind that are judged before giving up on finding enough; by default 100.", "N"),
    "weights": Knob("How much each field of a goal counts in recall; they add up to 1: {weights}.", "FIELD=N,…"),
    "mask": Knob(
        "Hide each memory in this share of the episodes, drawn with the seed, for `rpms memory audit`; 0.2 is usual.",
        "NUMBER",
    ),
    "manual": Knob("Rules: paper, complete, or a file with tiers 2 and 3.", "paper|complete|FILE"),
    "tiers": Knob("Tiers of the manual to use: {tiers}.", "TIER,…"),
    "prompts": Knob("A file with your own instruction, example and headings.", "FILE"),
    "layout": Knob("Order of the prompt's blocks: paper or cached.", "NAME"),
    "form": Knob("How the prompt is sent: chat (one message per turn) or single.", "NAME"),
    "belief": Knob("How much of the belief is shown: paper or extended.", "NAME"),
    "repair": Knob("What to correct in the way an action is written: off, form or belief.", "NAME"),
    "calls": Knob("How tools are called, where actions are tool calls: as text, or natively.", "text|native"),
    "memory": Knob("Episodic memory: a file, embedded, or none.", "FILE|embedded|none"),
    "harvest": Knob(
        "What learning keeps of an episode: snippets as the paper's, refused steps included; or each "
        "sub-goal apart, and only what worked.",
        "as_paper|clean|MODULE:NAME",
    ),
    "reader": Knob(
        "Who reads goals in people's words: a model, or a control (words, nearest, random); by default the "
        "model that plays. docs/requests.md.",
        "MODEL|words|nearest|random",
    ),
    "overlap": Knob(
        "Tasks that the memory was learned from: refuse to play them, or allow it; then every table says so.",
        "refuse|allow",
    ),
    "agent": Knob(
        "The method: {methods}. All but react play the baseline where no condition is given; docs/methods.md.", "NAME"
    ),
    "trials": Knob(
        "At most N attempts at a task, for reflexion and clin; by default 12 and 5, as in their papers.", "N"
    ),
    "insights": Knob("The file that expel plays with; `rpms insights` writes it.", "FILE"),
    "context": Knob("The model's context window; by default looked up, or asked of its server.", "TOKENS"),
    "max_tokens": Knob("The most new tokens in an answer.", "TOKENS"),
    "temperature": Knob("Sampling temperature; the default, 0, is greedy.", "NUMBER"),
    "seed": Knob("Seed for drawing tasks, hiding memories and sampling models; recorded.", "NUMBER"),
    "split": Knob("The split of tasks; by default the world's first.", "NAME", tasks=True),
    "task": Knob(
        "Only these tasks, by type, name or id; several with commas, or repeat the option.", "NAME,…", tasks=True
    ),
    "per_task": Knob("Only the first N tasks of each type.", "N", tasks=True),
    "sample": Knob("Only N tasks, drawn at random with the seed.", "N", tasks=True),
    "limit": Knob("Only N tasks, taken from all types in turn.", "N", tasks=True),
    "steps": Knob("The most steps in an episode; by default the world's own limit.", "N", tasks=True),
    "simplifications": Knob(
        "A world's simplifications, such as ScienceWorld's easy; none by default.", "NAME,…", tasks=True
    ),
}
