"""Near misses: changes that an agent made without knowing, or against, what the policy asks.

    python benchmarks/near_misses.py [--page FOLDER] [--records FILE]

Two kinds of conversations are written to a guard's log, as a host that only observes would, and
audited as `rpms guard audit` does: τ²-bench's reference actions of the official train tasks, with the
lookups of a careful agent, where next to nothing should be found; and records of gpt-4o as an
airline's agent (`../shared/records`), which are skipped where they are absent.

Twenty successful conversations were labelled by hand, by the written policy, before the audit existed
(`near_misses_labels.json`); agreement with those labels is Cohen's kappa.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))

from tau2.cases import replay
from tau2.measure import policy_guard, policy_of
from tau2.sandbox import DOMAINS, available, tasks

from rpms.guard import Call, Guard
from rpms.guard.call_audit import Audited, Grade, audit
from rpms.play.success_rate import wilson

HERE = Path(__file__).resolve().parent
RECORDS = HERE.parents[1] / "shared" / "records" / "gpt-4o-airline_even.jsonl.xz"
LABELS = HERE / "near_misses_labels.json"
REASONS = {
    "change of plan": (
        "change of plan",
        "change in plan",
        "changed my plan",
        "plans changed",
        "plans have changed",
    ),
    "health": ("health", "sick", "medical", "hospital"),
    "weather": ("weather",),
    "airline cancelled": ("airline cancel", "cancelled by the airline", "canceled by the airline"),
}
"""Words by which the host of the records takes down why a customer cancels. Written before the audit ran."""


class Graded(NamedTuple):
    """A call with its label and its grade."""

    label: str
    grade: str


def observing(domain: str, log: Path, session: str) -> Guard:
    """A guard that judges, writes down and lets pass."""
    guard = policy_guard(domain)
    return Guard(guard.manual, python=guard.python, log=log, session=session, observe_only=True)


def make(guard: Guard, call: Call, result: object, *, failed: bool | None = None) -> None:
    guard.check(call)
    guard.observe(call, result, failed=failed)


# --- τ²'s reference actions ---


def write_references(domain: str, log: Path) -> None:
    """Reference actions of the train tasks, with the lookups of a careful agent."""
    policy = policy_of(domain)
    for task in tasks(domain, "train"):
        guard = observing(domain, log, f"{domain} {task.id}")
        heard = 0
        for session, call in replay(policy, domain, task):
            for earlier, result in session.turns[heard:]:
                read = Call(earlier.name, earlier.arguments)
                if earlier.name not in policy.WRITES:
                    make(guard, read, result.text, failed=result.failed)
            heard = len(session.turns)
            if call.name not in policy.WRITES:
                continue
            guard.tell("confirmed")
            if session.reason is not None:
                guard.tell(f'reason("{session.reason}")')
            done = session.again().sandbox.call(call)
            make(guard, Call(call.name, call.arguments), done.text, failed=done.failed)


# --- records of a real agent ---


def read_records(file: Path = RECORDS) -> list[Mapping[str, Any]]:
    with lzma.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def name_of(record: Mapping[str, Any]) -> str:
    return f"{record['task_id']}/{record['trial']}"


def write_record(record: Mapping[str, Any], log: Path) -> None:
    """One conversation: what the customer said, calls, results."""
    guard = observing("airline", log, name_of(record))
    calls: dict[str, Call] = {}
    for message in record["traj"]:
        if message["role"] == "user":
            hear(guard, message["content"] or "")
        for asked in message.get("tool_calls") or ():
            wanted = asked["function"]
            calls[asked["id"]] = Call(wanted["name"], json.loads(wanted["arguments"]), asked["id"])
        if message["role"] == "tool":
            call = calls[message["tool_call_id"]]
            make(guard, call, as_now(call, message["content"] or ""))


def hear(guard: Guard, text: str) -> None:
    guard.hear(text)
    for reason, words in REASONS.items():
        if any(word in text.lower() for word in words):
            guard.tell(f'reason("{reason}")')


def as_now(call: Call, result: str) -> object:
    """A result of τ-bench in the form of τ²'s: profiles name their user, and reservations have a
    status, which is null unless they were cancelled.
    """
    if not result.startswith("{"):
        return result
    record = json.loads(result)
    if call.tool == "get_user_details":
        return {**record, "user_id": call.arguments["user_id"]}
    return {"status": None, **record} if "reservation_id" in record else record


# --- what is found ---


def rate(part: int, whole: int) -> str:
    low, high = wilson(part, whole)
    return f"{part} of {whole}, {part / max(1, whole):.1%} ({low:.1%}–{high:.1%})"


def say_grades(title: str, found: Sequence[Audited]) -> None:
    counts = Counter(each.grade for each in found)
    print(f"\n{title}: {len(found)} calls that change something")
    for grade in Grade:
        print(f"  {grade}: {rate(counts[grade], len(found))}")
    rules = Counter((each.rule, each.grade) for call in found for each in call.objections)
    for (rule, grade), count in rules.most_common(12):
        print(f"    {count} {grade} by {rule}")


def near_misses(found: Iterable[Audited]) -> tuple[int, int]:
    """Conversations with a change that was not informed, of all with a change."""
    worst: dict[str, bool] = {}
    for each in found:
        worst[each.session] = worst.get(each.session, False) or each.grade is not Grade.INFORMED
    return sum(worst.values()), len(worst)


def kappa(pairs: Sequence[Graded]) -> float:
    """Cohen's kappa."""
    size = len(pairs)
    agreed = sum(each.label == each.grade for each in pairs) / size
    labels = Counter(each.label for each in pairs)
    grades = Counter(each.grade for each in pairs)
    chance = sum(labels[grade] * grades[grade] for grade in Grade) / size**2
    return (agreed - chance) / (1 - chance) if chance < 1 else 1.0


def pair(found: Iterable[Audited], labels: Mapping[str, Sequence[str]]) -> Iterator[Graded]:
    """The labelled calls, in the order in which they were made."""
    graded: dict[str, list[str]] = {}
    for each in found:
        graded.setdefault(each.session, []).append(str(each.grade))
    for session, wanted in labels.items():
        for label, grade in zip(wanted, graded.get(session, []), strict=True):
            yield Graded(label, grade)


def say_agreement(pairs: Sequence[Graded], what: str) -> None:
    agreed = sum(each.label == each.grade for each in pairs)
    print(f"\nAgreement, {what}: {rate(agreed, len(pairs))}, Cohen's kappa {kappa(pairs):.2f}")


def say_table(pairs: Sequence[Graded]) -> None:
    table = Counter(pairs)
    print("| by hand | audited: informed | uninformed | violating |")
    print("| --- | ---: | ---: | ---: |")
    for label in Grade:
        cells = [str(table[Graded(label, grade)]) for grade in Grade]
        print(f"| {label} | {' | '.join(cells)} |")


def as_yes_or_no(pairs: Iterable[Graded]) -> list[Graded]:
    """The same pairs, in which only informed and not informed are told apart."""

    def coarse(grade: str) -> str:
        return grade if grade == Grade.INFORMED else Grade.VIOLATING

    return [Graded(coarse(each.label), coarse(each.grade)) for each in pairs]


def judge_records(folder: Path, file: Path, page: Path | None) -> None:
    log = folder / "records.jsonl"
    records = read_records(file)
    for record in records:
        write_record(record, log)
    found = list(audit(policy_guard("airline"), log))
    succeeded = {name_of(record) for record in records if record["reward"] == 1}
    good = [each for each in found if each.session in succeeded]
    say_grades(f"gpt-4o, airline, all {len(records)} conversations", found)
    say_grades(f"gpt-4o, airline, the {len(succeeded)} successful ones", good)
    print(f"  with a change that was not informed: {rate(*near_misses(good))} with a change")
    names = {name_of(record) for record in records}
    labels = json.loads(LABELS.read_text())
    if names.issuperset(labels):
        pairs = list(pair(found, labels))
        say_agreement(pairs, "three grades")
        say_table(pairs)
        say_agreement(as_yes_or_no(pairs), "informed or not")
    if page is not None:
        write_page(found, log, page)


def write_page(found: Iterable[Audited], log: Path, page: Path) -> None:
    from rpms.report.guard_pages import write_audit  # noqa: PLC0415  needs Jinja

    write_audit(found, log, page)
    print(f"wrote {page / 'index.html'}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--page", type=Path, help="also write the page of the records' audit")
    parser.add_argument("--records", type=Path, default=RECORDS, help="τ-bench's, packed by xz")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if available():
            for domain in DOMAINS:
                log = folder / f"{domain}.jsonl"
                write_references(domain, log)
                found = list(audit(policy_guard(domain), log))
                say_grades(f"τ² {domain}, reference actions of the train tasks", found)
                for each in found:
                    if each.objections:
                        print(
                            f"    {each.session}: {each.grade} {[one.rule for one in each.objections]}"
                        )
        else:
            print("τ²: skipped, inspect-evals is not installed")
        if chosen.records.is_file():
            judge_records(folder, chosen.records, chosen.page)
        else:
            print(f"records: skipped, {chosen.records} is not here")
    return 0


if __name__ == "__main__":
    sys.exit(main())
