"""A real Chromium before a real ``chandra-ui``.

Owns both, and where screenshots go: the folder that ``MOONPRESS_SCREENSHOTS`` names, else one of
pytest's. Never clicks.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.ui.batch import finished_run
from tests.ui.commands import Running, chandra, end

_NAMES = ("chromium", "chromium-browser", "google-chrome")
# Chromium as root, as in CI, runs without its sandbox only.
_FLAGS = ["--no-sandbox", "--disable-dev-shm-usage", "--use-fake-device-for-media-stream"]
_PATIENCE_MS = 60_000

Shoot = Callable[[Page, str], None]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Chromium; closed after the module, because Playwright's loop would be in others' way."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip(f"no Chromium on this machine (looked for {', '.join(_NAMES)})")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=_FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def hold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """While it exists, pages with the words in it are read for ever by ``scripted-batch``."""
    return tmp_path_factory.mktemp("hold") / "hold"


@pytest.fixture(scope="module")
def ui(tmp_path_factory: pytest.TempPathFactory, hold: Path) -> Iterator[Running]:
    """The page, with a finished run to look into."""
    runs = finished_run(tmp_path_factory.mktemp("runs"))
    folder = tmp_path_factory.mktemp("ui")
    options = ("--engine", "embedded", "--workers", "1", "--runs", str(runs))
    running = chandra("ui", folder, *options, SCRIPT_HOLD=str(hold))
    yield running
    code, said = end(running)
    assert (code, said.count("\n")) == (0, 1), said


@pytest.fixture
def page(chromium: Browser, ui: Running) -> Iterator[Page]:
    """The page just opened in a tab of its own; it must ask nobody else for anything."""
    context = chromium.new_context(viewport={"width": 1400, "height": 900}, accept_downloads=True)
    made = context.new_page()
    made.set_default_timeout(_PATIENCE_MS)
    outside: list[str] = []
    broken: list[str] = []

    def note(url: str) -> None:
        if not url.startswith((ui.url, "data:", "blob:", ui.url.replace("http", "ws"))):
            outside.append(url)

    made.on("request", lambda request: note(request.url))
    made.on("pageerror", lambda error: broken.append(str(error)))
    made.goto(ui.url)
    made.get_by_test_id("stFileUploaderDropzone").wait_for()
    yield made
    context.close()
    assert outside == [], "nothing may be fetched from elsewhere"
    assert broken == []


@pytest.fixture(scope="session")
def shoot(tmp_path_factory: pytest.TempPathFactory) -> Shoot:
    """Keep a picture of the page as it is."""
    folder = Path(os.environ.get("MOONPRESS_SCREENSHOTS") or tmp_path_factory.mktemp("screens"))
    folder.mkdir(parents=True, exist_ok=True)

    def taken(page: Page, name: str) -> None:
        page.screenshot(path=folder / f"{name}.png", animations="disabled")

    return taken
