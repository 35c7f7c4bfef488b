from __future__ import annotations

import json
import re
from dataclasses import asdict
from pathlib import Path

import pytest

from rpms.logic.errors import InputError
from rpms.report.page_data import script
from rpms.report.page_files import open_report
from rpms.report.pages import write_report
from tests.report.hostile import ATTACK, poison


def value_of(file: Path):
    """The value that a data file hands to the page."""
    found = re.fullmatch(
        r'RPMS\.take\(("(?:[^"\\]|\\.)*"),("(?:[^"\\]|\\.)*")\);\n', file.read_text("ascii")
    )
    assert found is not None
    return json.loads(json.loads(found[2]))


def episode_of(file: Path):
    """The episode that a data file hands to the page, as the page puts it together."""
    data = value_of(file)

    def whole(value):
        if isinstance(value, list):
            return [whole(each) for each in value]
        part = data["parts"][value["at"]] if isinstance(value, dict) else value
        return (
            {name: whole(each) for name, each in part.items()} if isinstance(part, dict) else part
        )

    return whole(data["episode"])


def test_a_report_is_pages_tables_figures_and_one_file_an_episode(report):
    folder = report.folder
    assert {"index.html", "tasks.html", "episode.html"} <= {file.name for file in folder.iterdir()}
    assert len(list(folder.glob("data/*/*/*.js"))) == 24
    assert {file.suffix for file in (folder / "tables").iterdir()} == {".md", ".tex", ".csv"}
    assert {file.suffix for file in (folder / "figures").iterdir()} == {".svg", ".png"}


def test_nothing_in_a_report_points_to_a_network(report):
    for file in [*report.folder.glob("*.html"), *report.folder.glob("static/*")]:
        assert not re.search(
            r"""(?:src|href|url|import)\s*[=(]\s*["']?(?:https?:)?//""", file.read_text()
        ), file


def test_every_page_has_the_policy_and_no_inline_code(report):
    for file in report.folder.glob("*.html"):
        text = file.read_text()
        assert (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:" in text
        )
        assert not re.search(r"<script(?![^>]*\bsrc=)", text)
        assert not re.search(r"\s(?:on\w+|style)=", text)


def test_scripts_never_make_markup_of_text(report):
    for file in report.folder.glob("static/*.js"):
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function",
            file.read_text(),
        )


def test_the_overview_shows_conditions_tables_and_protocol(report):
    text = (report.folder / "index.html").read_text()
    for said in ("Full RPMS", "2×2 ablation", "p exact", "step_budget", "tasks_hash", "published"):
        assert said in text


def test_an_episode_file_tells_the_whole_story(report):
    data = episode_of(report.folder / "data/3/0/0.js")
    step = data["steps"][0]
    assert "Your task is to" in step["observation"]
    parts = {block["part"] for block in step["prompt"]}
    assert parts >= {"instruction", "rules.universal", "belief", "observation"}
    assert data["rules"]["environment"]
    fates = {candidate["fate"] for each in data["steps"] for candidate in each["candidates"]}
    assert fates


def test_the_prompt_on_the_page_is_the_prompt_to_the_letter(report, played):
    from rpms.store.runs import RunFolder  # noqa: PLC0415

    run = RunFolder(played["full"])
    record = run.episode(run.protocol.tasks[0])
    data = episode_of(report.folder / "data/3/0/0.js")
    for step in data["steps"]:
        prompt = record.prompt(step["number"])
        shown = [
            "\n".join(filter(None, [block["heading"], *block["items"]])) for block in step["prompt"]
        ]
        assert shown == [block.text for block in prompt.blocks]
    assert data == json.loads(json.dumps(asdict(record)))


def test_what_a_prompt_leaves_out_is_in_the_data_of_its_step(compact, report, tmp_path):
    folder = write_report([compact], tmp_path / "report").folder
    data = episode_of(folder / "data/0/0/0.js")
    active = {name for names in data["rules"].values() for name in names}
    told = [step["left_out"] for step in data["steps"] if step["left_out"]]
    assert told
    assert all(set(names) < active for names in told)
    assert not any(
        step["left_out"] for step in episode_of(report.folder / "data/3/0/0.js")["steps"]
    )


@pytest.mark.parametrize(
    "text", [ATTACK, "</script>", "\u2028\u2029", "\x00\ud800", '"\\', "<!--<script>"]
)
def test_data_files_are_plain_ascii_and_hold_no_markup(text, tmp_path):
    made = script("slot", {text: [text]})
    assert made.isascii()
    assert "<" not in made
    (tmp_path / "x.js").write_text(made)
    assert value_of(tmp_path / "x.js") == {text: [text]}


def test_a_report_replaces_an_older_one_and_nothing_else(played, tmp_path):
    out = tmp_path / "report"
    write_report([played["full"]], out)
    before = {file for file in out.rglob("*") if file.is_file()}
    write_report([played["baseline"]], out, pages=0)
    gone = {file for file in before if not file.exists()}
    assert {file.suffix for file in gone} == {".js"}
    assert [file.name for file in tmp_path.iterdir()] == ["report"]
    other = tmp_path / "precious"
    other.mkdir()
    (other / "thesis.txt").write_text("")
    with pytest.raises(InputError, match="holds something that is not a report"):
        write_report([played["full"]], other)
    with pytest.raises(InputError, match="is a file"):
        write_report([played["full"]], other / "thesis.txt")


def test_a_report_without_figures_is_replaced_too(played, tmp_path):
    groups = [{"title": title, "runs": {"full": str(played["full"])}} for title in "ab"]
    (tmp_path / "study.json").write_text(json.dumps({"title": "Both", "groups": groups}))
    for _ in range(2):
        folder = write_report([tmp_path], tmp_path / "report", pages=0).folder
        assert not (folder / "figures").exists()


def test_a_refused_comparison_leaves_the_older_report(copied, tmp_path):
    out = tmp_path / "report"
    write_report([copied["full"]], out)
    before = (out / "index.html").read_bytes()
    file = copied["baseline"] / "protocol.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "step_budget": 99}))
    with pytest.raises(InputError, match="cannot be compared"):
        write_report(list(copied.values()), out)
    assert (out / "index.html").read_bytes() == before


def test_partial_and_damaged_runs_are_shown_and_marked(copied, tmp_path):
    one, two, *_ = sorted((copied["full"] / "episodes").glob("*.json.gz"))
    one.unlink()
    two.write_bytes(two.read_bytes()[:-50])
    report = write_report(list(copied.values()), tmp_path / "report")
    assert len(list(report.folder.glob("data/*/*/*.js"))) == 22
    assert any("full: 2 of 6 episodes missing" in note for note in report.notes)
    text = (report.folder / "index.html").read_text()
    assert "partial" in text
    assert two.name in text
    assert "is not a whole episode file" in text


def test_a_study_of_several_comparisons_has_a_page_that_leads_to_each(played, tmp_path):
    runs = {name: str(played[name]) for name in ("baseline", "full")}
    groups = [{"title": f"Model <{n}>", "runs": runs} for n in "ab"]
    (tmp_path / "study.json").write_text(json.dumps({"title": "Both", "groups": groups}))
    report = write_report([tmp_path], tmp_path / "report")
    assert len(list(report.folder.glob("*/data/*/*/*.js"))) == 24
    text = (report.folder / "index.html").read_text()
    assert "Model &lt;a&gt;" in text
    assert "<h1>Both</h1>" in text
    assert 'href="2/index.html"' in text
    assert 'href="../index.html"' in (report.folder / "1/tasks.html").read_text()


def test_each_comparison_is_introduced_in_its_own_words(played, tmp_path):
    runs = {"full": str(played["full"])}

    def words(*groups):
        (tmp_path / "study.json").write_text(json.dumps({"about": "Of both.", "groups": groups}))
        folder = write_report([tmp_path], tmp_path / "report").folder
        return [
            re.findall('<p class="about">(.*)</p>', (folder / page).read_text())
            for page in ("index.html", "1/index.html", "2/index.html")
        ]

    plain, told = {"title": "A", "runs": runs}, {"title": "B", "about": "Of B.", "runs": runs}
    assert words(plain, told) == [["Of both.", "Of B."], ["Of both."], ["Of B."]]
    assert words(plain, {**told, "about": ""}) == [["Of both."]] * 3


def test_the_same_runs_give_the_same_report(played, tmp_path):
    one = write_report([played["full"]], tmp_path / "one").folder
    two = write_report([played["full"]], tmp_path / "two").folder
    files = sorted(file.relative_to(one) for file in one.rglob("*") if file.is_file())
    assert files == sorted(file.relative_to(two) for file in two.rglob("*") if file.is_file())
    assert all((one / file).read_bytes() == (two / file).read_bytes() for file in files)


def test_hostile_text_is_escaped_on_the_static_page(played, tmp_path):
    report = write_report([poison(played["full"], tmp_path / "bad")], tmp_path / "report")
    text = (report.folder / "index.html").read_text()
    assert "window.ran" in text
    assert "<script>window" not in text
    assert "<img src=x" not in text


def test_no_report_is_said_in_one_line(tmp_path):
    with pytest.raises(InputError, match="there is no report here"):
        open_report(tmp_path)
    with pytest.raises(InputError, match="nothing to report on"):
        write_report([], tmp_path / "report")


def test_of_many_episodes_the_first_tasks_have_pages_and_tables_count_all(played, tmp_path):
    written = write_report([played["baseline"], played["full"]], tmp_path / "report", pages=4)
    assert len(list((tmp_path / "report").glob("data/*/*/*.js"))) == 4
    assert value_of(tmp_path / "report/data/meta.js")["shown"] == 2
    tasks = value_of(tmp_path / "report/data/tasks-0.js")
    assert len(tasks) == 6
    assert all(outcome for task in tasks for outcome in task[3:])
    (note,) = [note for note in written.notes if "tables count all 6 tasks" in note]
    assert note in (tmp_path / "report/index.html").read_text().replace("&#39;", "'")
