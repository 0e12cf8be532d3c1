"""The measurements, each meant to run in a process of its own.

Owns what is read and how the numbers are taken; pages are made by the project's generators.

    python -m benchmarks.speed.measure digital

prints one JSON object.
"""

from __future__ import annotations

import io
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio
import pypdfium2 as pdfium

from benchmarks.process_tree import cpu_seconds, peak_mb, resident_mb
from moonpress.api import convert_async
from moonpress.document import Page, PageStatus
from moonpress.engines.base import Engine
from moonpress.engines.registry import EngineOptions, create_engine
from tests.generators import GeneratedPage, as_scan, image_only_pdf, join_pages, prose, tables

Numbers = dict[str, float]
_COMMAND = Path(sys.executable).with_name("chandra-pdf")
_REPEATS = 7


@dataclass(slots=True)
class Watch:
    """An observer that notes when pages come out and what memory is held then."""

    memory: bool = False
    times: list[float] = field(default_factory=list)
    resident: list[float] = field(default_factory=list)
    failed: int = 0

    def started(self, _source: str, _page_count: int) -> None:
        """Nothing to note."""

    def page_done(self, page: Page) -> None:
        """Note the page."""
        self.times.append(time.perf_counter())
        self.failed += page.status is PageStatus.FAILED
        if self.memory and len(self.times) % 10 == 0:
            self.resident.append(resident_mb())


def digital() -> Numbers:
    """CPU-seconds of a born-digital page: prose, columns, headings, lists and tables."""
    return anyio.run(partial(_cost, join_pages(_digital_pages() * 2)))


def digital_fast() -> Numbers:
    """The same with the small models."""
    return anyio.run(partial(_cost, join_pages(_digital_pages() * 2), fast=True))


def scan() -> Numbers:
    """CPU-seconds of a clean 200 dpi scan of the same pages."""
    return anyio.run(partial(_cost, _scans(_digital_pages())))


def scan_fast() -> Numbers:
    """The same with the small models."""
    return anyio.run(partial(_cost, _scans(_digital_pages()), fast=True))


def two_processes() -> Numbers:
    """Pages a second with two reader processes against one, on scans."""
    data = _scans(_digital_pages() * 2)
    one = anyio.run(partial(_rate, data, 1))
    two = anyio.run(partial(_rate, data, 2))
    return {"one_pages_per_s": one, "two_pages_per_s": two, "gain": two / one}


def memory() -> Numbers:
    """Resident memory over 500 pages, every tenth of them a scan."""
    pages = _digital_pages()
    many = [pages[i % len(pages)] for i in range(450)]
    data = _with_scans(join_pages(many), _scans(pages), every=9)
    watch = Watch(memory=True)
    anyio.run(partial(_read, data, watch))
    early = statistics.fmean(watch.resident[5:15])
    late = statistics.fmean(watch.resident[-10:])
    return {
        "pages": len(watch.times),
        "failed": watch.failed,
        "resident_mb_pages_50_150": early,
        "resident_mb_last_100": late,
        "growth_mb": late - early,
        "peak_mb": peak_mb(),
    }


def help_time() -> Numbers:
    """Wall seconds of ``chandra-pdf --help``: median and best of seven."""
    times = [_timed([str(_COMMAND), "--help"]) for _ in range(_REPEATS)]
    return {"median_s": statistics.median(times), "best_s": min(times)}


def first_page() -> Numbers:
    """Wall seconds from the start of the command to the written first page of a paper."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "paper.pdf"
        source.write_bytes(join_pages(_digital_pages()))
        target = str(Path(folder) / "paper.md")
        command = [str(_COMMAND), str(source), "--pages", "1", "--output", target, "--quiet"]
        times = [_timed(command) for _ in range(3)]
        if not Path(target).read_text(encoding="utf-8").strip():
            raise RuntimeError("nothing was written")
    return {"median_s": statistics.median(times), "best_s": min(times)}


MEASURES: dict[str, Callable[[], Numbers]] = {
    "digital": digital,
    "digital-fast": digital_fast,
    "scan": scan,
    "scan-fast": scan_fast,
    "two-processes": two_processes,
    "memory": memory,
    "help": help_time,
    "first-page": first_page,
}


def _digital_pages() -> list[GeneratedPage]:
    return [
        prose.columns(2),
        prose.one_column(),
        prose.headings(),
        prose.header_footer(),
        tables.simple_tables()[0],
        tables.simple_tables()[1],
        tables.spanned_tables()[0],
        prose.columns(3),
    ]


def _scans(pages: list[GeneratedPage]) -> bytes:
    wrapped = [
        GeneratedPage(p.name, image_only_pdf(as_scan(p, 200, codec="jpeg")), 0, 0, ())
        for p in pages
    ]
    return join_pages(wrapped)


def _with_scans(digital_pdf: bytes, scans_pdf: bytes, *, every: int) -> bytes:
    """One scanned page after each ``every`` pages of the first file."""
    target = pdfium.PdfDocument.new()
    with pdfium.PdfDocument(digital_pdf) as plain, pdfium.PdfDocument(scans_pdf) as scanned:
        for start in range(0, len(plain), every):
            target.import_pages(plain, list(range(start, min(start + every, len(plain)))))
            target.import_pages(scanned, [start // every % len(scanned)])
    buffer = io.BytesIO()
    target.save(buffer)
    target.close()
    return buffer.getvalue()


def _engine(workers: int, *, fast: bool) -> Engine:
    return create_engine("embedded", EngineOptions(workers=workers, fast=fast))


async def _cost(data: bytes, *, fast: bool = False) -> Numbers:
    """CPU and wall seconds a page at one process, models loaded before."""
    engine = _engine(1, fast=fast)
    try:
        await convert_async(data, engine=engine, pages="1-2")
        watch = Watch()
        begin, cpu = time.perf_counter(), cpu_seconds()
        await convert_async(data, engine=engine, observer=watch)
        pages = len(watch.times)
        return {
            "cpu_seconds_per_page": (cpu_seconds() - cpu) / pages,
            "seconds_per_page": (time.perf_counter() - begin) / pages,
            "peak_mb": peak_mb(),
            "pages": pages,
            "failed": watch.failed,
        }
    finally:
        await engine.aclose()


async def _rate(data: bytes, workers: int) -> float:
    """Pages a second with ``workers`` processes that have met pages of every size before."""
    engine = _engine(workers, fast=False)
    try:
        await convert_async(data, engine=engine)
        watch = Watch()
        begin = time.perf_counter()
        await convert_async(data, engine=engine, observer=watch)
        return len(watch.times) / (time.perf_counter() - begin)
    finally:
        await engine.aclose()


async def _read(data: bytes, watch: Watch) -> None:
    engine = _engine(1, fast=False)
    try:
        await convert_async(data, engine=engine, observer=watch)
    finally:
        await engine.aclose()


def _timed(command: list[str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    return time.perf_counter() - begin


if __name__ == "__main__":
    sys.stdout.write(json.dumps(MEASURES[sys.argv[1]]()) + "\n")
