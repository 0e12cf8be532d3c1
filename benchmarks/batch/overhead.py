"""What a run costs besides drawing, encoding and reading.

``python -m benchmarks.batch.overhead [--pages 4000]`` runs documents whose pages are drawn already
through an engine that takes 0.2 seconds a page and 64 pages at once, and everything else that a
real run has: ledger, assembler process, a folder for each document. Prints the share of the ideal
rate, in all and while the engine is fed, and CPU a page over all processes.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
import numpy as np

from benchmarks.process_tree import cpu_seconds, peak_mb
from moonpress.batch.assembler import SinkSettings
from moonpress.batch.assembly import Assembly
from moonpress.batch.ledger import Ledger
from moonpress.batch.meter import Busy, Meter
from moonpress.batch.page_source import OpenDocument
from moonpress.batch.patience import Patience
from moonpress.batch.run import Run, RunSettings
from moonpress.batch.stop import Stop
from moonpress.document import PageImage, PageSize, RenderOptions
from moonpress.engines.fake import FakeEngine
from moonpress.sources.base import RenderRequest, SourceInfo
from moonpress.sources.inputs.item import InputItem

_CAPACITY = 64
_SECONDS = 0.2
_PAGES_A_DOCUMENT = 20


@dataclass(frozen=True, slots=True)
class _Drawn:
    """A document of pages that are in memory already."""

    info: SourceInfo
    pixels: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]

    async def page(self, number: int, _request: RenderRequest) -> PageImage:
        return PageImage(number, self.pixels, PageSize(612, 792, 64, 64))


class _Source:
    places = 2

    def __init__(self) -> None:
        self._pixels = np.full((64, 64, 3), 255, dtype=np.uint8)

    @asynccontextmanager
    async def open(self, item: InputItem, _fetching: Busy) -> AsyncIterator[OpenDocument]:
        info = SourceInfo("application/pdf", _PAGES_A_DOCUMENT, item.id, 1000)
        yield _Drawn(info, self._pixels)


def main() -> None:
    """Measure and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=4000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = anyio.run(partial(_measure, Path(folder), options.pages))
    sys.stdout.write(json.dumps(result, indent=1) + "\n")


async def _measure(folder: Path, pages: int) -> dict[str, float]:
    ledger = Ledger(folder / "state" / "ledger.sqlite")
    ledger.begin_run()
    sink = SinkSettings("folder", str(folder / "out"), ("markdown", "json"), RenderOptions())
    assembly = Assembly(ledger, sink, "fake")
    engine = FakeEngine(capacity=_CAPACITY, delay=_SECONDS)
    meter, stop = Meter(), Stop()
    request = RenderRequest(dpi=192, max_pixels=8_000_000)
    run = Run(
        ledger=ledger,
        engine=engine,
        source=_Source(),
        assembly=assembly,
        patience=Patience(engine, 1.0, stop),
        settings=RunSettings(None, "x", request, figures=False),
        meter=meter,
        stop=stop,
    )
    began, cpu = time.perf_counter(), cpu_seconds()
    await run.read_all(iter(list(_items(pages // _PAGES_A_DOCUMENT))))
    seconds, spent = time.perf_counter() - began, cpu_seconds() - cpu
    peak = peak_mb()
    await assembly.aclose()
    ledger.close()
    ideal = _CAPACITY / _SECONDS
    fed = [point for point in meter.curve if 0.2 * pages <= point[1] <= 0.9 * pages]
    steady = (fed[-1][1] - fed[0][1]) / (fed[-1][0] - fed[0][0])
    return {
        "pages": meter.pages,
        "pages_per_second": round(meter.pages / seconds, 1),
        "share_of_ideal": round(meter.pages / seconds / ideal, 3),
        "share_of_ideal_while_fed": round(steady / ideal, 3),
        "cpu_ms_per_page": round(spent / meter.pages * 1000, 2),
        "peak_mb": round(peak),
    }


def _items(count: int) -> Iterator[InputItem]:
    for number in range(count):
        name = f"{number // 100:03}/{number:06}.pdf"
        yield InputItem(name, f"/none/{name}", name, version="1")


if __name__ == "__main__":
    main()
