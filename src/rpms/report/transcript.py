"""A whole episode as text, in the form that its page has too."""

from __future__ import annotations

from collections.abc import Iterator

from rpms.store.episodes import EpisodeRecord, StepRecord


def transcript(episode: EpisodeRecord, *, belief: bool = False, prompts: bool = False) -> Iterator[str]:
    """Line after line; on demand with the belief and the memories, or each prompt in full."""
    row = episode.row
    yield f"task: {row.task}"
    yield f"goal: {episode.goal}"
    for step in episode.steps:
        yield ""
        yield f"step {step.number}"
        yield step.observation.strip()
        if belief:
            yield from _known(step)
        if prompts:
            for block in episode.prompt(step.number).blocks:
                yield f"--- {block.part}, {block.tokens} tokens"
                yield block.text
            yield "---"
        yield from _done(step)
    if episode.steps:
        yield ""
        yield episode.steps[-1].result.strip()
    yield f"ended: {row.ending}{f': {row.error}' if row.error else ''}"
    yield f"{row.steps} steps, {row.infeasible} infeasible, score {row.score:g}"


def _known(step: StepRecord) -> Iterator[str]:
    yield from (f"  {line}" for line in step.belief.lines)
    yield f"  sub-goal: {step.progress.text} ({step.progress.percent}%)"
    for candidate in step.candidates:
        reason = f": {candidate.reason}" if candidate.reason else ""
        yield f"  memory {candidate.entry} [{candidate.fate}{reason}] {' '.join(candidate.wording.split())}"


def _done(step: StepRecord) -> Iterator[str]:
    if step.thought.strip():
        yield f"thought: {step.thought.strip()}"
    for refusal in step.extras.get("refused", ()):
        yield f"refused: {refusal['command'] or '(no action)'}: {refusal['reason']}"
    if replaced := step.extras.get("replaced"):
        yield f"replaced: {step.action or '(no action)'}: {replaced}"
    yield f"> {step.command or '(no action)'}"
    if step.infeasible:
        yield f"infeasible{f': {step.objection}' if step.objection else ''}"
