"""How quickly ``chandra-ui`` is there, and how quickly a page is turned, as a browser sees it.

Owns a server and a browser of its own for each start. Two times count: from the start of the
command to the first paint (the page's outline; words follow) in a browser that already runs and
asks as soon as somebody listens; and from a click to the page's picture and reading both shown, for
neighbouring pages and for jumps to pages that nobody has drawn yet. The best of several is what the
code takes, the median what this machine gave.
"""

from __future__ import annotations

import argparse
import json
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from playwright.sync_api import Browser, Page, sync_playwright

from tests.batch.command import labelled_pdf

_PAGES = 300
_READ = 24
_PATIENCE_MS = 60_000
_PAINTS = """() => Object.fromEntries(performance.getEntriesByType("paint").map(
  (one) => [one.name, (performance.timeOrigin + one.startTime) / 1000]))"""
# Inside the page, because a call from outside takes milliseconds itself.
_TURN = """async ([number, click]) => {
  const roots = [...document.querySelectorAll("*")].map((one) => one.shadowRoot).filter(Boolean);
  const desk = roots.find((root) => root.querySelector(".desk"));
  const began = performance.now();
  if (click) desk.querySelector(".after").click();
  else {
    const field = desk.querySelector(".at");
    field.value = number;
    field.dispatchEvent(new Event("change"));
  }
  const image = desk.querySelector(".picture");
  const shown = () => image.complete && image.naturalWidth && image.src.includes(`/${number}/large`)
    && desk.querySelector(`.panel [id="p${number}-b1"]`);
  while (!shown()) await new Promise((next) => requestAnimationFrame(next));
  return performance.now() - began;
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--document", type=Path, help="for page turns; made where left out")
    options = parser.parse_args()
    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        sys.exit("no Chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        starts = [_start(browser) for _ in range(options.starts)]
        turns = _turns(browser, options.document)
        browser.close()
    figures = {name: _summary([start[name] for start in starts]) for name in starts[0]}
    figures |= {name: _summary(times) for name, times in turns.items()}
    print(json.dumps(figures, indent=2))


def _start(browser: Browser) -> dict[str, float]:
    """Seconds from the start of the command."""
    page = browser.new_context().new_page()
    with _Command() as command:
        page.goto(command.url)
        page.get_by_test_id("stFileUploaderDropzone").wait_for(timeout=_PATIENCE_MS)
        usable = time.time() - command.began
        paints = page.evaluate(_PAINTS)
        page.context.close()
        return {
            "listens_s": command.listens - command.began,
            "first_paint_s": paints["first-paint"] - command.began,
            "first_words_s": paints["first-contentful-paint"] - command.began,
            "usable_s": usable,
        }


def _turns(browser: Browser, document: Path | None) -> dict[str, list[float]]:
    """Milliseconds for a page turn."""
    with tempfile.TemporaryDirectory() as folder, _Command() as command:
        path = document or Path(folder) / "long.pdf"
        if document is None:
            path.write_bytes(labelled_pdf("long", _PAGES))
        page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
        page.set_default_timeout(_PATIENCE_MS)
        page.goto(command.url)
        began = time.time()
        page.locator("input[type=file]").set_input_files(path)
        page.locator(".desk .go").wait_for()
        opened = 1000 * (time.time() - began)
        count = int(page.locator(".desk .at").get_attribute("max") or 1)
        pages = list(range(1, min(count, _READ) + 1))
        page.locator(".range").fill(f"1-{pages[-1]}")
        page.locator(".go").click()
        page.locator('.progress[data-stage="done"]').wait_for()
        return {"open_ms": [opened], **_turn_all(page, pages)}


def _turn_all(page: Page, pages: Sequence[int]) -> dict[str, list[float]]:
    jumps = [page.evaluate(_TURN, [number, False]) for number in pages[6::3]]
    page.evaluate(_TURN, [pages[0], False])
    neighbours = []
    for number in pages[1:6]:
        # A person looks at a page before turning on.
        page.wait_for_timeout(500)
        neighbours.append(page.evaluate(_TURN, [number, True]))
    return {"next_page_ms": neighbours, "jump_ms": jumps}


def _summary(values: Sequence[float]) -> dict[str, float]:
    return {
        "best": round(min(values), 3),
        "median": round(statistics.median(values), 3),
        "worst": round(max(values), 3),
    }


class _Command:
    """``chandra-ui`` from its start on."""

    def __enter__(self) -> Self:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        command = Path(sys.executable).with_name("chandra-ui")
        self.began = time.time()
        self._process = subprocess.Popen(
            [command, "--headless", "--quiet", "--port", str(port), "--engine", "embedded"]
        )
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.01)
        self.listens = time.time()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(20)


if __name__ == "__main__":
    main()
