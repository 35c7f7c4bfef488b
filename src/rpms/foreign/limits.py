"""The limits on all that comes from outside, each with its reason; what exceeds one is refused
in one line.
"""

MEGABYTE = 1_000_000

# --- files, in bytes ---

LARGEST_STUDY = 200_000
"""People write studies; anything larger is something else."""
MOST_CELLS = 1_000
"""Conditions of a study times its models; the largest here has sixty."""
LARGEST_MANUAL = MEGABYTE
"""Likewise; the largest manual here has 20,000 bytes."""
LARGEST_MEMORY = 256 * MEGABYTE
"""Half a million entries."""
LARGEST_EPISODE = 64 * MEGABYTE
"""A long episode has one or two."""
LARGEST_RECORD = 16 * MEGABYTE
"""One question and its answer: twice what a prompt and a response can have."""
LARGEST_TABLE = 64 * MEGABYTE
"""Protocols, timings, indexes: a line or two an episode, for a hundred thousand episodes."""
LARGEST_PAIRS = 2_000 * MEGABYTE
"""Prompts with their answers: 40 games in four conditions have ten."""
LARGEST_SCRIPT = 16 * MEGABYTE
"""A script's answers are lines."""
LARGEST_GAME = 16 * MEGABYTE
"""A hundred times the largest official game file."""

# --- what a small file may become ---

DEEPEST_JSON = 40
"""Brackets within brackets. What is written here has less than ten; past some hundreds Python
itself gives up."""
LONGEST_NUMBER = 2**64
"""The largest whole number: what servers and seeds may have, and short enough for every page
and table."""
MOST_JSON_VALUES = 4_000_000
"""Values in one JSON text: 60 kB of gzip can hold 20 million empty lists, which take 1.5 GB."""
MOST_LISTED_VALUES = 12_000_000
"""Values and lines in a file of JSON lines: the largest memory has ten million, and as many
tiny lists take 0.5 GB."""
MOST_YAML_NODES = 50_000
"""Values in a manual or study with its aliases written out: 430 bytes can stand for billions, and
each takes 75 µs."""
MOST_TRANSCRIPT = 64 * MEGABYTE
"""Bytes of a recorded transcript when it is unpacked; the largest has 4 MB, and 9 kB of xz can
hold 1.6 GB."""
MOST_TRANSCRIPT_LINES = 200_000
"""Lines of a transcript, one a playthrough; the largest has some hundreds."""
MOST_TRANSCRIPT_LINE = 8 * MEGABYTE
"""Characters of one playthrough; a recorded one has about a hundred thousand."""
XZ_MEMORY = 96 * MEGABYTE
"""Memory for unpacking: `xz -9` needs 65 MB, and a header can claim 4 GB."""

LONGEST_OBSERVATION = 100_000
"""Characters that a world says at once; the longest here have some thousands, and every prompt
repeats them."""
MOST_COMMANDS = 200_000
"""Commands that a world lists at once; a room of ScienceWorld has some thousands."""
LONGEST_COMMAND = 10_000
"""Characters of a command; the longest of a tool's calls have some hundreds."""

# --- entries of a memory ---

MOST_COUNTED = 10_000
"""Observations of one entry that names no origins: as many are made up for it."""
MOST_MADE_UP = 200_000
"""Origins made up for all entries of one file."""
LONGEST_FIELD = 20_000
"""Characters of one text of an entry: a prompt holds no more."""
MOST_ITEMS = 1_000
"""Actions, preconditions or effects of one entry: more than any episode has steps."""

# --- one response of a server ---

MOST_RECEIVED = 8 * MEGABYTE
"""Bytes of one response. An answer of 100,000 tokens has half a megabyte."""
MOST_PIECES = 20_000
"""Pieces in which a response comes, and reads that it takes: each costs 20 µs of the processor,
however small it is, and 8 MB in chunks of one byte took 27 s."""
MOST_HEAD = 400_000
"""Bytes of a response before its body: its head, and any number of informational answers ahead of
it."""
MOST_UNPACKED = 8 * MEGABYTE
"""Bytes of its body when it is unpacked."""
LONGEST_RETRY = 366 * 86_400.0
"""Seconds of a Retry-After that are believed; no server can mean more than a year."""
MOST_TOKENS = 10**9
"""Tokens that one response may claim to have used."""
LONGEST_WORD = 60
"""Characters of a server's word for why an answer ended."""

# --- tool calls ---

LARGEST_CALL = 2 * MEGABYTE
"""Characters of a call's arguments: a large file that is written in one piece."""
LARGEST_RESULT = 8 * MEGABYTE
"""Characters of a result that is read for facts; what is larger tells nothing."""
LONGEST_FACT = 2.0
"""Seconds that a fact in Python may take: a model waits for the call."""
MOST_HUNG = 8
"""Functions of facts that took longer and do not end: each keeps a thread."""

# --- what is shown ---

LONGEST_SHOWN = 300
"""Characters of a stranger's text in a message."""
LONGEST_LINE = 2_000
"""Characters of a message as a whole."""

# --- ranges of options ---

MOST_GAMES = 1_000_000
"""Games made at once: each takes milliseconds and a folder."""
