"""What a person does with the page, in a real browser."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Locator, Page, expect

from tests.batch.command import labelled_pdf
from tests.ui.commands import Running
from tests.ui.conftest import Shoot

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("browser")]
expect.set_options(timeout=60_000)


@pytest.fixture(scope="module")
def report(request: pytest.FixtureRequest) -> Path:
    """A real paper of three pages, with tables, formulas and figures."""
    checkout: Path = request.getfixturevalue("checkout")
    return checkout / "docs" / "report" / "moonpress-report.pdf"


def drop(page: Page, *files: Path | tuple[str, bytes]) -> None:
    payloads: list[Any] = [
        file if isinstance(file, Path) else {"name": file[0], "mimeType": "", "buffer": file[1]}
        for file in files
    ]
    page.locator("input[type=file]").set_input_files(payloads)


def opened(page: Page, file: Path | tuple[str, bytes]) -> None:
    drop(page, file)
    expect(page.locator(".desk .go")).to_be_visible()


def read_all(page: Page, file: Path | tuple[str, bytes]) -> None:
    opened(page, file)
    page.locator(".go").click()
    expect(page.locator(".progress")).to_have_attribute("data-stage", "done")
    expect(page.locator(".panel .block").first).to_be_visible()


def choose(page: Page, label: str, option: str) -> None:
    """Pick in one of Streamlit's boxes."""
    page.get_by_role("combobox", name=re.compile(label)).click()
    page.get_by_role("option", name=re.compile(re.escape(option))).click()


def in_sight(inner: Locator, outer: Locator) -> bool:
    box, frame = inner.bounding_box(), outer.bounding_box()
    assert box is not None
    assert frame is not None
    return box["y"] < frame["y"] + frame["height"] and box["y"] + box["height"] > frame["y"]


def assert_accessible(page: Page) -> None:
    # Headings are those of the paper, whatever their order; the other is Streamlit's box for files,
    # which says twice what it is.
    rules = {name: {"enabled": False} for name in ("heading-order", "presentation-role-conflict")}
    found = Axe().run(page, options={"resultTypes": ["violations"], "rules": rules})
    told = [
        (one["id"], [(node["target"], node["html"][:200]) for node in one["nodes"]])
        for one in found.response["violations"]
    ]
    assert told == []


def test_a_paper_is_read_and_both_panes_are_linked(page: Page, report: Path, shoot: Shoot) -> None:
    shoot(page, "1-empty")
    read_all(page, report)
    assert page.locator(".desk .said").inner_text() == "Read with embedded: 3 pages"
    shoot(page, "2-read")
    boxes, blocks = page.locator(".box"), page.locator(".panel .block")
    assert boxes.count() == blocks.count() > 20
    last = boxes.nth(boxes.count() - 2)
    name = last.get_attribute("data-id")
    block = page.locator(f'.panel [id="{name}"]')
    assert not in_sight(block, page.locator(".panel"))
    last.click()
    expect(last).to_have_attribute("aria-pressed", "true")
    expect(block).to_have_attribute("aria-current", "true")
    page.wait_for_function("() => true")
    expect(block).to_be_in_viewport()
    shoot(page, "3-box-clicked")
    page.locator(".panel").evaluate("panel => { panel.scrollTop = 0; }")
    first = page.locator(".panel h1").first
    first.click()
    chosen = page.locator(".panel .block[aria-current]")
    expect(chosen).to_have_count(1)
    pressed = page.locator('.box[aria-pressed="true"]')
    expect(pressed).to_have_attribute("data-id", chosen.get_attribute("id") or "")
    expect(page.locator(".about .kind")).to_have_text("Heading")


def test_formulas_tables_and_figures_are_shown_as_such(
    page: Page, report: Path, shoot: Shoot
) -> None:
    read_all(page, report)
    page.locator(".after").click()
    expect(page.locator(".at")).to_have_value("2")
    expect(page.locator(".panel table")).not_to_have_count(0)
    picture = page.locator(".panel figure img").first
    expect(picture).to_be_visible()
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") > 100
    page.locator('.box[data-kind="table"]').first.click()
    shoot(page, "4-table")
    for form, words in (
        ("markdown", "| "),
        ("html", "<table"),
        ("json", '"bbox"'),
        ("chunks", '"text"'),
    ):
        page.get_by_role("tab", name=re.compile(form, re.IGNORECASE)).click()
        expect(page.locator("pre.source")).to_contain_text(words)
    shoot(page, "5-chunks")


def test_a_changed_block_is_in_the_zip(page: Page, report: Path, shoot: Shoot) -> None:
    read_all(page, report)
    page.locator(".panel h1").first.click()
    page.locator(".about .change").click()
    field = page.locator(".editor .field")
    expect(field).to_be_focused()
    field.press("ControlOrMeta+A")
    field.press_sequentially("My own title")
    shoot(page, "6-editor")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".panel h1").first).to_have_text("My own title")
    expect(page.locator(".box.edited")).to_have_count(1)
    shoot(page, "7-edited")
    page.locator(".save summary").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="All in a zip").click()
    assert download.value.suggested_filename == "moonpress-report.zip"
    data = Path(download.value.path()).read_bytes()
    with zipfile.ZipFile(io.BytesIO(data)) as files:
        assert files.testzip() is None
        assert "# My own title" in files.read("moonpress-report.md").decode()
        assert any(name.startswith("moonpress-report_files/") for name in files.namelist())
    page.locator(".about .undo").click()
    expect(page.locator(".panel h1").first).to_contain_text("Moonpress")


def test_chosen_pages_are_read_and_a_run_is_cancelled(page: Page, hold: Path, shoot: Shoot) -> None:
    opened(page, ("long.pdf", labelled_pdf("long", 300)))
    assert page.locator(".tile").count() == 300
    expect(page.locator(".tile img").first).to_be_visible()
    assert page.locator(".tile img").count() < 60, "only thumbnails in sight are drawn"
    choose(page, "Read with", "scripted-batch")
    page.get_by_role("checkbox", name="Choose page 2", exact=True).check()
    page.get_by_role("checkbox", name="Choose page 4", exact=True).click(modifiers=["Shift"])
    expect(page.locator(".range")).to_have_value("2-4")
    expect(page.locator(".go")).to_have_text("Read 3 pages")
    hold.write_text("long page 3")
    page.locator(".go").click()
    tiles = page.locator(".tile")
    expect(tiles.nth(1)).to_have_attribute("data-mark", "o")
    expect(tiles.nth(2)).to_have_attribute("data-mark", "b")
    expect(tiles.nth(0)).to_have_attribute("data-mark", ".")
    page.get_by_role("button", name="Show page 2, read").click()
    expect(page.locator(".panel")).to_contain_text("long page 2")
    shoot(page, "8-while-reading")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator(".progress")).to_have_attribute("data-stage", "cancelled")
    expect(page.locator(".desk .said")).to_contain_text("Cancelled: 1 of 3 pages read")
    hold.unlink()
    page.locator(".range").fill("3")
    page.locator(".go").click()
    expect(tiles.nth(2)).to_have_attribute("data-mark", "o")
    page.locator(".range").fill("7-400")
    expect(page.locator(".go")).to_be_disabled()


def test_bad_files_get_a_line_each_and_the_rest_goes_on(page: Page, shoot: Shoot) -> None:
    drop(
        page,
        ("bad ![x](http://e.example/x.png).pdf", b"%PDF-1.4 nothing"),
        ("empty.pdf", b""),
        ("good.pdf", labelled_pdf("good", 1)),
    )
    expect(page.locator(".desk .name")).to_have_text("good.pdf")
    lines = page.get_by_test_id("stAlert")
    expect(lines).to_have_count(2)
    expect(lines.first).to_contain_text("the PDF is damaged beyond reading")
    expect(lines.first).to_contain_text("[input-corrupt]")
    shoot(page, "9-bad-files")
    page.get_by_role("button", name="Understood").click()
    expect(lines).to_have_count(0)
    page.locator(".go").click()
    expect(page.locator(".panel")).to_contain_text("good page 1")


def test_a_picture_is_pasted(page: Page) -> None:
    page.evaluate(
        """async () => {
          const canvas = new OffscreenCanvas(600, 300);
          const pen = canvas.getContext("2d");
          pen.fillStyle = "white"; pen.fillRect(0, 0, 600, 300);
          pen.fillStyle = "black"; pen.font = "40px sans-serif";
          pen.fillText("Pasted words", 60, 150);
          const blob = await canvas.convertToBlob({ type: "image/png" });
          const clipboardData = new DataTransfer();
          clipboardData.items.add(new File([blob], "shot.png", { type: "image/png" }));
          document.dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true }));
        }"""
    )
    expect(page.locator(".desk .name")).to_have_text("shot.png")
    page.locator(".go").click()
    expect(page.locator(".panel")).to_contain_text("Pasted words")


def test_a_page_is_photographed(chromium: Browser, ui: Running) -> None:
    context = chromium.new_context(permissions=["camera"])
    page = context.new_page()
    page.goto(ui.url)
    page.get_by_text("Use the camera").click()
    shot = page.get_by_role("button", name="Take Photo")
    expect(shot).to_be_enabled()
    shot.click()
    expect(page.locator(".desk .name")).to_have_text("photo.jpg")
    context.close()


def test_a_paper_is_still_there_after_loading_again(page: Page) -> None:
    read_all(page, ("again.pdf", labelled_pdf("again", 2)))
    page.reload()
    expect(page.locator(".panel")).to_contain_text("again page 1")


def test_two_engines_are_compared(page: Page, report: Path, shoot: Shoot) -> None:
    opened(page, report)
    page.get_by_role("link", name="Compare").click()
    choose(page, "Second engine", "scripted-batch")
    page.get_by_role("button", name="Compare").click()
    expect(page.locator(".compare .sides")).to_be_visible()
    expect(page.locator(".compare .said")).to_contain_text("only with scripted-batch")
    for side in ("left", "right"):
        expect(page.locator(f".{side} mark").first).to_be_visible()
        assert page.locator(f".{side} mark").count() < 200
    shoot(page, "10-compare")
    assert_accessible(page)


def test_a_batch_run_is_shown_with_links(page: Page, shoot: Shoot) -> None:
    page.get_by_role("link", name="Runs").click()
    expect(page.get_by_text("5 of 5 pages")).to_be_visible()
    expect(page.get_by_role("cell", name="broken.pdf")).to_be_visible()
    expect(page.get_by_role("cell", name=re.compile("as the script says"))).to_be_visible()
    shoot(page, "11-runs")
    assert_accessible(page)
    with page.expect_popup() as popup:
        page.get_by_role("link", name="alpha.md").click()
    expect(popup.value.locator("body")).to_contain_text("alpha page 3")
    popup.value.close()


def test_everything_is_done_with_keys(page: Page, report: Path) -> None:
    read_all(page, report)
    page.locator(".box").first.focus()
    page.keyboard.press("ArrowDown")
    second = page.locator(".box").nth(1)
    expect(second).to_be_focused()
    expect(second).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".at")).to_have_value("2")
    page.get_by_role("tab", name="Reading").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Markdown")).to_be_focused()
    expect(page.locator("pre.source")).to_be_visible()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator(".panel .block").first).to_be_focused()


@pytest.mark.parametrize("look", ["light", "dark"])
def test_nothing_stands_in_the_way_of_a_screen_reader(
    page: Page, report: Path, shoot: Shoot, look: Any
) -> None:
    page.emulate_media(color_scheme=look, reduced_motion="reduce")
    assert_accessible(page)
    read_all(page, report)
    page.locator(".box").nth(2).click()
    page.locator(".about .change").click()
    expect(page.locator(".editor")).to_be_visible()
    shoot(page, f"12-{look}")
    assert_accessible(page)


def test_a_phone_shows_everything_below_each_other(page: Page, report: Path, shoot: Shoot) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.get_by_test_id("stFileUploaderDropzone")).to_be_visible()
    shoot(page, "13-phone-empty")
    read_all(page, report)
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 390
    page.locator(".box").nth(4).click()
    expect(page.locator(".panel .block[aria-current]")).to_be_in_viewport()
    shoot(page, "14-phone")
    assert_accessible(page)
