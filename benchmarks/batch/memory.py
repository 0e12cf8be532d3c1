"""Memory of a run that is large: very many documents, or one very long one.

``python -m benchmarks.batch.memory documents [--count 100000]`` and ``... pages [--count 5000]``.
The documents are those of `benchmarks.batch.overhead`, drawn already, and read at once. Ledger,
assembler process and a folder for each document are real. Prints resident memory of all processes
and of this one, at each tenth of the way.
"""

from __future__ import annotations

import argparse
import json
import os
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

from benchmarks.process_tree import peak_mb, resident_mb
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

_POINTS = 10
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class _Drawn:
    info: SourceInfo
    pixels: np.ndarray[tuple[int, ...], np.dtype[np.uint8]]

    async def page(self, number: int, _request: RenderRequest) -> PageImage:
        return PageImage(number, self.pixels, PageSize(612, 792, 64, 64))


@dataclass(frozen=True, slots=True)
class _Source:
    pages: int
    places: int = 2

    @asynccontextmanager
    async def open(self, item: InputItem, _fetching: Busy) -> AsyncIterator[OpenDocument]:
        info = SourceInfo("application/pdf", self.pages, item.id, 1000)
        yield _Drawn(info, np.full((64, 64, 3), 255, dtype=np.uint8))


def main() -> None:
    """Measure and print one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shape", choices=["documents", "pages"])
    parser.add_argument("--count", type=int)
    options = parser.parse_args()
    documents, pages = (options.count or 100_000, 1)
    if options.shape == "pages":
        documents, pages = 1, options.count or 5000
    with tempfile.TemporaryDirectory() as folder:
        result = anyio.run(partial(_measure, Path(folder), documents, pages))
    sys.stdout.write(json.dumps(result, indent=1) + "\n")


async def _measure(folder: Path, documents: int, pages: int) -> dict[str, object]:
    ledger = Ledger(folder / "state" / "ledger.sqlite")
    ledger.begin_run()
    sink = SinkSettings("folder", str(folder / "out"), ("markdown",), RenderOptions())
    assembly = Assembly(ledger, sink, "fake")
    engine = FakeEngine(capacity=64, delay=0.002)
    meter, stop = Meter(), Stop()
    run = Run(
        ledger=ledger,
        engine=engine,
        source=_Source(pages),
        assembly=assembly,
        patience=Patience(engine, 1.0, stop),
        settings=RunSettings(None, "x", RenderRequest(dpi=72, max_pixels=10_000), figures=False),
        meter=meter,
        stop=stop,
    )
    points: list[dict[str, float]] = []
    began = time.perf_counter()
    async with anyio.create_task_group() as watching:
        watching.start_soon(_watch, meter, documents, pages, points)
        await run.read_all(_items(documents))
        points.append(_point(meter))
        watching.cancel_scope.cancel()
    peak = peak_mb()
    await assembly.aclose()
    ledger.close()
    return {
        "documents": documents,
        "pages_a_document": pages,
        "seconds": round(time.perf_counter() - began, 1),
        "points": points,
        "peak_mb": round(peak),
    }


async def _watch(meter: Meter, documents: int, pages: int, points: list[dict[str, float]]) -> None:
    """Note a point at each tenth: of documents, or of pages where there is one document."""
    noted = 0
    while True:
        way = meter.done / documents if documents > 1 else meter.pages / pages
        if int(way * _POINTS) > noted:
            noted = int(way * _POINTS)
            points.append(_point(meter))
        await anyio.sleep(0.1)


def _point(meter: Meter) -> dict[str, float]:
    own = int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES / 2**20
    return {
        "documents": meter.done,
        "pages": meter.pages,
        "all_mb": round(resident_mb()),
        "own_mb": round(own),
    }


def _items(count: int) -> Iterator[InputItem]:
    for number in range(count):
        name = f"{number // 1000:03}/{number:06}.pdf"
        yield InputItem(name, f"/none/{name}", name, version="1")


if __name__ == "__main__":
    main()
