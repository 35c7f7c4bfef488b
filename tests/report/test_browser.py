"""The pages in a real browser, opened from disk as a reader would."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from rpms.cli.report import transcript
from rpms.paper.prompt import Message
from rpms.paper.recall import EpisodicMemory
from rpms.play.design import NamedModel
from rpms.play.run import run
from rpms.play.settings import Settings
from rpms.report.comparison import Comparison
from rpms.report.outcomes import Results
from rpms.report.page_data import meta, script, task_chunks
from rpms.report.pages import write_report
from rpms.store.runs import RunFolder
from rpms.worlds.registry import find_world
from tests.report import made
from tests.report.hostile import ATTACK, poison

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"),
            executable_path=BROWSER,
            headless=True,
            args=list(FLAGS),
            viewport={"width": 1400, "height": 1000},
            slow_mo=60,  # milliseconds after each act: the page answers keys when it gets to them
        )
        yield opened
        opened.close()


@pytest.fixture
def page(context):
    """A page on which nothing may go wrong, and which may ask for nothing but files."""
    opened = context.new_page()
    troubles: list[str] = []
    opened.on(
        "console",
        lambda said: troubles.append(said.text) if said.type in ("error", "warning") else None,
    )
    opened.on("pageerror", lambda error: troubles.append(str(error)))
    opened.on(
        "dialog", lambda dialog: (troubles.append(f"dialog: {dialog.message}"), dialog.dismiss())
    )
    opened.on(
        "request",
        lambda asked: (
            None if asked.url.startswith(("file:", "data:")) else troubles.append(asked.url)
        ),
    )
    yield opened
    opened.close()
    assert troubles == []


@pytest.fixture
def folder(report) -> Path:
    return report.folder


def until(page, expression):
    """Wait until an expression is true.

    The page's own policy forbids the browser's way of waiting, which evaluates.
    """
    for _ in range(200):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"never true: {expression}")


def url(folder: Path, name: str) -> str:
    return folder.as_uri() + "/" + name


def current_step(page) -> str:
    return page.locator(".step h2").first.inner_text()


def test_the_overview_opens_from_disk_with_its_figures(page, folder):
    page.goto(url(folder, "index.html"))
    assert page.locator(".card").count() == 4
    for theme in ("light", "dark"):  # each has figures of its own, and only those are loaded
        page.emulate_media(color_scheme=theme)
        page.locator("figure img:visible").last.scroll_into_view_if_needed()
        shown = "[...document.images].filter((image) => image.offsetParent !== null)"
        until(
            page,
            f"{shown}.length > 0 && {shown}.every((image) => image.complete && image.naturalWidth > 0)",
        )
    assert page.locator("tr.published").count() > 0


def test_the_task_list_filters_by_type_outcome_and_flips(page, folder):
    page.goto(url(folder, "tasks.html"))
    rows = page.locator("#rows tr")
    page.wait_for_selector("#rows tr")
    assert rows.count() == 6
    page.select_option("select[name=type]", "pick_heat_then_place_in_recep")
    assert rows.count() == 1
    page.click("button[type=reset]")
    rows.nth(5).wait_for()
    page.fill("input[name=q]", "heat")
    assert rows.count() == 1
    page.fill("input[name=q]", "")
    page.select_option("select[name=o0]", "won")
    won = rows.count()
    page.select_option("select[name=o0]", "lost")
    lost = rows.count()
    assert won + lost == 6
    page.select_option("select[name=o0]", "")
    page.select_option("select[name=flip]", "0-3")
    assert "flip=0-3" in page.url
    for row in rows.all():
        assert "✗" in row.locator("td .outcome").nth(0).evaluate(
            "e => getComputedStyle(e, '::before').content"
        )
        assert "won" in row.locator("td .outcome").nth(3).inner_text()
    shown = rows.count()
    page.reload()
    page.wait_for_selector("#summary:not(:empty)")
    assert rows.count() == shown


def test_on_a_narrow_screen_the_list_scrolls_beside_its_tasks(page, folder):
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(url(folder, "tasks.html"))
    page.wait_for_selector("#rows tr")
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.evaluate("(list => list.scrollTo(list.scrollWidth, 0))(document.querySelector('.scroll'))")
    task, last = (
        page.locator("#rows tr").first.locator(cell).bounding_box()
        for cell in ("th", "td:last-child")
    )
    assert (
        0 <= task["x"] < task["x"] + task["width"] <= last["x"] < last["x"] + last["width"] <= 390
    )


def test_a_task_opens_by_keyboard(page, folder):
    page.goto(url(folder, "tasks.html"))
    page.wait_for_selector("#rows tr")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    page.wait_for_selector(".step h2")
    assert "task=0&condition=0#step-1" in page.url


def test_an_episode_is_walked_through_by_keyboard(page, folder):
    page.goto(url(folder, "episode.html?task=3&condition=3"))
    page.wait_for_selector(".step h2")
    assert current_step(page).startswith("Step 1 ")
    for key, step in (("j", 2), ("ArrowRight", 3), ("k", 2), ("ArrowLeft", 1), ("k", 1)):
        page.keyboard.press(key)
        assert current_step(page).startswith(f"Step {step} ")
    page.keyboard.press("G")
    last = page.locator("a[data-step]").count()
    assert current_step(page).startswith(f"Step {last} ")
    assert page.url.endswith(f"#step-{last}")
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("?")
    assert not page.locator("#keys").is_visible()


def test_a_link_to_a_step_shows_that_step(page, folder):
    page.goto(url(folder, "episode.html?task=4&condition=3#step-4"))
    page.wait_for_selector(".step h2")
    assert current_step(page).startswith("Step 4 ")
    assert page.locator("a[aria-current=step]").inner_text().startswith("4")
    page.click("a[data-step='2']")
    assert current_step(page).startswith("Step 2 ")
    page.go_back()
    assert current_step(page).startswith("Step 4 ")


def test_a_step_is_explained_completely(page, folder):
    page.goto(url(folder, "episode.html?task=3&condition=3#step-2"))
    page.wait_for_selector(".step h2")
    titles = [text.split("\n")[0] for text in page.locator(".part h3").all_inner_texts()]
    assert [re.match(r"\w+( \w+)?", title)[0].split(" ")[0] for title in titles] == [
        "Observation",
        "Belief",
        "Plan",
        "Active",
        "Memory",
        "Prompt",
        "Answer",
        "Result",
    ]
    assert page.locator(".candidates tbody tr").count() > 0
    assert page.locator(".candidates .why").count() > 0
    block = page.locator(".block", has_text="rules.universal")
    assert re.search(r"\d+ tokens", block.inner_text())
    block.locator("summary").click()
    block.get_by_text("U-STATE-001").wait_for()
    page.keyboard.press("j")
    page.locator(".block", has_text="rules.universal").get_by_text("U-STATE-001").wait_for()


def test_rules_that_a_sub_goal_leaves_out_of_the_prompt_are_marked(page, folder, compact, tmp_path):
    report, run = write_report([compact], tmp_path / "report"), RunFolder(compact)
    seen = set()
    page.goto(url(report.folder, "episode.html?task=0&condition=0"))
    page.wait_for_selector(".step h2")
    for step in run.episode(run.protocol.tasks[0]).steps:
        rules = page.locator(".part", has_text="Active rules").first
        marked = rules.locator(".tag.away[title='not shown at this sub-goal']").all_text_contents()
        assert tuple(marked) == step.left_out
        said = rules.locator("h3").inner_text()
        assert (
            f"{len(marked)} not shown at this sub-goal" in said
            if marked
            else "not shown" not in said
        )
        seen.add(step.left_out)
        page.keyboard.press("j")
    assert len(seen) > 1
    page.goto(url(folder, "episode.html?task=0&condition=3"))
    page.wait_for_selector(".step h2")
    assert page.locator(".tag.rule").count() > 0
    assert page.locator(".tag.away").count() == 0


def test_an_infeasible_action_names_the_precondition_that_failed(page, folder):
    page.goto(url(folder, "episode.html?task=4&condition=0"))
    page.wait_for_selector(".step h2")
    for _ in range(30):
        page.keyboard.press("i")
        if page.locator(".infeasible .objection").count():
            break
    assert re.search(r"\bnot\b|\bno\b", page.locator(".infeasible .objection").inner_text())


def test_two_conditions_stand_beside_each_other_where_they_part(page, folder):
    page.goto(url(folder, "tasks.html"))
    page.wait_for_selector("a.compare")
    page.locator("a.compare").first.click()
    page.wait_for_selector(".columns.two .step h2")
    assert page.locator(".column").count() == 2
    said = page.locator("#parting").inner_text()
    step = re.search(r"step (\d+)", said)[1]
    assert current_step(page).startswith(f"Step {step} ")
    commands = [
        column.locator(f"a[data-step='{step}']").inner_text()
        for column in page.locator(".column").all()
    ]
    for before in range(1, int(step)):
        pair = [
            column.locator(f"a[data-step='{before}']").inner_text()
            for column in page.locator(".column").all()
        ]
        assert pair[0] == pair[1]
    assert len(commands) == 2
    page.keyboard.press("j")
    page.keyboard.press("d")
    assert current_step(page).startswith(f"Step {step} ")
    page.keyboard.press("x")
    page.wait_for_selector(".columns.one .step h2")


@pytest.mark.parametrize("name", ["index.html", "tasks.html", "episode.html?task=0&condition=0"])
def test_both_colour_schemes_are_readable(page, folder, name):
    seen = {}
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.goto(url(folder, name))
        page.wait_for_selector("h1")
        seen[scheme] = page.evaluate(
            "(() => { const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]; })()"
        )
    luminance = {
        scheme: [sum(map(int, re.findall(r"\d+", colour)[:3])) for colour in pair]
        for scheme, pair in seen.items()
    }
    assert luminance["light"][0] < 200 < 600 < luminance["light"][1]
    assert luminance["dark"][1] < 200 < 600 < luminance["dark"][0]


def test_the_reader_may_choose_colours_and_they_stay(page, folder):
    page.emulate_media(color_scheme="light")
    page.goto(url(folder, "index.html"))
    page.click("#theme")
    page.click("#theme")
    assert page.locator("html").get_attribute("data-theme") == "dark"
    page.goto(url(folder, "tasks.html"))
    assert page.locator("html").get_attribute("data-theme") == "dark"
    page.keyboard.press("t")
    assert page.locator("html").get_attribute("data-theme") is None


def test_a_missing_episode_and_a_wrong_address_say_so(page, copied, tmp_path):
    for file in (copied["full"] / "episodes").glob("*.json.gz"):
        file.unlink()
    report = write_report([copied["baseline"], copied["full"]], tmp_path / "report")
    page.goto(url(report.folder, "tasks.html"))
    page.wait_for_selector("#rows tr")
    assert page.locator(".outcome.none").count() == 6
    page.goto(url(report.folder, "episode.html?task=2&condition=1"))
    assert "no episode of this task" in page.locator(".column .callout").inner_text()
    page.goto(url(report.folder, "episode.html?task=999&condition=9#step-1"))
    said = page.locator("#unknown").inner_text()
    assert "task 999 and condition 9" in said
    assert "task 0, condition 0 (Baseline)" in said
    page.goto(url(report.folder, "episode.html?task=0&condition=0#step-999"))
    assert "step 999" in page.locator("#unknown").inner_text()
    page.keyboard.press("g")
    assert page.locator("#unknown").count() == 0


def test_a_condition_without_memory_says_so(page, folder):
    page.goto(url(folder, "episode.html?task=0&condition=0"))
    page.wait_for_selector(".step h2")
    assert "off in this condition" in page.locator(".part", has_text="Memory").first.inner_text()


def test_ten_thousand_tasks_are_listed_page_by_page(page, folder, tmp_path):
    copy = Path(shutil.copytree(folder, tmp_path / "large"))
    rows = {
        f"t{n}": made.row(f"t{n}", f"type {n % 7}", "out of steps" if n % 3 else "won", 1.0, 9)
        for n in range(10_000)
    }
    comparison = Comparison({"full": Results("full", rows)})
    (copy / "data" / "meta.js").write_text(script("meta", meta(comparison, "Large", len(rows))))
    for number, chunk in enumerate(
        task_chunks(comparison, {task: f"goal of {task}" for task in rows})
    ):
        (copy / "data" / f"tasks-{number}.js").write_text(script(f"tasks-{number}", chunk))
    page.goto(url(copy, "tasks.html"))
    page.wait_for_selector("#rows tr")
    assert (
        page.locator("#summary")
        .inner_text()
        .startswith("10000 of 10000 tasks. Won: Full RPMS 3334")
    )
    assert page.locator("#rows tr").count() == 100
    page.keyboard.press("]")
    assert "page 2 of 100" in page.locator("#pager").inner_text()
    page.fill("input[name=q]", "t9999")
    assert page.locator("#rows tr").count() == 1


def test_nothing_that_a_game_or_a_model_says_is_run(page, played, tmp_path):
    runs = {
        f"{name}{ATTACK}": poison(played[name], tmp_path / f"{name}<b>").name
        for name in ("baseline", "full")
    }
    study = {"title": f"A{ATTACK}", "about": f"B{ATTACK}", "runs": runs}
    (tmp_path / "study.json").write_text(json.dumps(study))
    report = write_report([tmp_path], tmp_path / "report")
    assert all(note.isprintable() for note in report.notes)
    for name in ("index.html", "tasks.html", "episode.html?task=0&condition=1&with=0#step-1"):
        page.goto(url(report.folder, name))
        page.wait_for_selector("h1")
        if name.startswith("episode"):
            page.wait_for_selector(".step h2")
            page.evaluate(
                "for (const details of document.querySelectorAll('details')) details.open = true"
            )
            until(
                page,
                "[...document.querySelectorAll('.block > div')].every((body) => body.firstChild)",
            )
            assert ATTACK.partition("\u2028")[0] in page.locator(".said.model").first.inner_text()
            assert page.locator(".tag.away").count() == 1
        page.wait_for_timeout(100)
        assert page.evaluate("window.ran") is None
        assert page.locator("img[src=x]").count() == 0
        assert page.evaluate("[...document.scripts].every((script) => script.src)")
        links = page.evaluate("[...document.links].map((link) => link.protocol)")
        assert set(links) <= {"file:"}


def test_the_whole_episode_is_on_its_page_in_the_words_of_rpms_show(page, folder, played):
    run = RunFolder(next(iter(played.values())))
    page.goto(url(folder, "episode.html?task=0&condition=0"))
    page.locator("details.whole summary").click()
    until(page, "document.querySelector('pre.transcript').textContent !== ''")
    shown = page.locator("pre.transcript").text_content().splitlines()
    told = "\n".join(transcript(run.episode(run.protocol.tasks[0]))).splitlines()
    assert shown == told[1:-1]  # less the task and the counts, which the page has elsewhere


def one_message(blocks):
    return [Message("user", "ALL IN ONE\n\n" + "\n\n".join(block.text for block in blocks))]


def test_a_step_shows_the_messages_that_a_part_made(page, tmp_path):
    world = find_world("alfworld")
    design = Settings(prompt=one_message, split="builtin", condition="rules-only").design(
        world, "planner", NamedModel("planner"), limit=1, memory=EpisodicMemory()
    )
    run(design, tmp_path / "run")
    written = write_report([tmp_path / "run"], tmp_path / "report")
    page.goto(url(written.folder, "episode.html?task=0&condition=0"))
    page.locator(".sent pre").first.wait_for()
    assert page.locator(".sent pre").first.inner_text().startswith("ALL IN ONE")
    part, role = page.locator(".sent code").all_inner_texts()[:2]
    assert part.endswith(":one_message")
    assert role == "user"
