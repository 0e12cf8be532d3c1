"""An engine for whole runs of the command, which it joins as a third party's plug-in would.

Owns what the environment tells it to do. Answers what the text layer of a page says, so that a page
in the wrong document is seen, and writes down each page that it takes.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import anyio

from moonpress.document import BBox, Block, BlockKind, PageImage, PageReading, Usage
from moonpress.engines.registry import EngineOptions
from moonpress.errors import EngineRejected, EngineUnavailable

_INFO = {
    "METADATA": "Metadata-Version: 2.1\nName: scripted-batch-engine\nVersion: 1\n",
    "entry_points.txt": (
        "[moonpress.engines]\nscripted-batch = tests.batch.scripted_engine:create\n"
    ),
}


@dataclass(slots=True)
class ScriptedEngine:
    """Reads pages by the script in the environment.

    ``SCRIPT_LOG`` names a file that gets a line ``took SECONDS TEXT`` and ``gave SECONDS TEXT``
    for each page. ``SCRIPT_DELAY`` is how many seconds a page takes. While the file that
    ``SCRIPT_DOWN`` names exists, nobody answers. Pages with the words of ``SCRIPT_REFUSE`` are
    rejected. With ``SCRIPT_FIGURES`` each page has a figure. While the file that ``SCRIPT_HOLD``
    names exists, pages with the words in it wait.
    """

    script: Mapping[str, str]
    capacity: int
    name: str = "scripted-batch"

    async def prepare(self) -> None:
        """As engines that have servers."""
        if "SCRIPT_ABSENT" in self.script or self._down():
            raise EngineUnavailable("nobody answers", hint="Start it")

    async def read(self, image: PageImage) -> PageReading:
        """Read one page."""
        text = "" if image.text_layer is None else " ".join(image.text_layer.text.split())
        if self._down():
            raise EngineUnavailable("nobody answers")
        self._note("took", text)
        await anyio.sleep(float(self.script.get("SCRIPT_DELAY", "0")))
        while self._held(text):  # noqa: ASYNC110 - another process takes the file away
            await anyio.sleep(0.05)
        refused = self.script.get("SCRIPT_REFUSE")
        if refused and refused in text:
            raise EngineRejected("as the script says")
        self._note("gave", text)
        return PageReading(blocks=self._blocks(image.number, text), usage=Usage(engine=self.name))

    async def aclose(self) -> None:
        """Nothing is open."""

    def _blocks(self, number: int, text: str) -> tuple[Block, ...]:
        box = BBox(0.1, 0.1, 0.9, 0.3)
        blocks = [Block(f"p{number}-b1", BlockKind.TEXT, box, f"<p>{text}</p>")]
        if "SCRIPT_FIGURES" in self.script:
            place = BBox(0.1, 0.4, 0.9, 0.6)
            blocks.append(Block(f"p{number}-b2", BlockKind.FIGURE, place, ""))
        return tuple(blocks)

    def _down(self) -> bool:
        switch = self.script.get("SCRIPT_DOWN")
        return switch is not None and Path(switch).exists()

    def _held(self, text: str) -> bool:
        try:
            words = Path(self.script["SCRIPT_HOLD"]).read_text()
        except (KeyError, FileNotFoundError):
            return False
        return words in text

    def _note(self, what: str, text: str) -> None:
        log = self.script.get("SCRIPT_LOG")
        if log is not None:
            # One write of a short line is never torn, whatever kills the process.
            with Path(log).open("ab", buffering=0) as file:
                file.write(f"{what} {time.time():.3f} {text}\n".encode())


def create(options: EngineOptions) -> ScriptedEngine:
    """What the entry point names."""
    return ScriptedEngine(os.environ, options.workers or 2)


def install(folder: Path) -> Path:
    """Put the package of the plug-in into ``folder``, for ``PYTHONPATH`` to find."""
    info = folder / "scripted_batch_engine-1.dist-info"
    info.mkdir(parents=True)
    for name, text in _INFO.items():
        (info / name).write_text(text)
    return folder
