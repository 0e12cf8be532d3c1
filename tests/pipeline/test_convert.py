"""One document through the pipeline: nothing lost, bounded, failures stay on their page."""

from __future__ import annotations

import io

import anyio
import numpy as np
import pypdfium2 as pdfium
import pytest
from PIL import Image

from moonpress import convert
from moonpress.document import Page, PageStatus
from moonpress.engines.fake import FakeEngine
from moonpress.errors import BadOutput, EngineRejected, EngineUnavailable, PageRangeError
from moonpress.pipeline.convert import ConvertSettings, Quiet, convert_document


def blank_pdf(pages: int) -> bytes:
    document = pdfium.PdfDocument.new()
    for _ in range(pages):
        document.new_page(200, 300)
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


class Watcher:
    def __init__(self) -> None:
        self.heard: tuple[str, int] | None = None
        self.pages: list[Page] = []

    def started(self, source: str, page_count: int) -> None:
        self.heard = (source, page_count)

    def page_done(self, page: Page) -> None:
        self.pages.append(page)


async def run(engine: FakeEngine, pages: int, selection: str | None = None) -> tuple[Page, ...]:
    document = await convert_document(
        blank_pdf(pages),
        name="blank.pdf",
        engine=engine,
        settings=ConvertSettings(pages=selection),
        observer=Quiet(),
        crops=None,
    )
    return document.pages


def test_every_page_comes_out_once_and_in_order() -> None:
    engine = FakeEngine(capacity=4, delay=0.01)
    pages = anyio.run(run, engine, 23)
    assert [page.number for page in pages] == list(range(1, 24))
    assert all(page.status is PageStatus.OK for page in pages)


def test_engine_is_kept_full_and_never_over_its_capacity() -> None:
    engine = FakeEngine(capacity=3, delay=0.2)
    anyio.run(run, engine, 9)
    assert engine.most_in_flight == 3


def test_selection_is_kept_in_its_order() -> None:
    pages = anyio.run(run, FakeEngine(), 5, "4,-1,1")
    assert [page.number for page in pages] == [4, 5, 1]


def test_page_beyond_the_end_is_a_usage_error() -> None:
    with pytest.raises(PageRangeError, match="99"):
        anyio.run(run, FakeEngine(), 3, "99")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (EngineRejected("too odd"), "engine-failed"),
        (BadOutput("nonsense"), "engine-failed"),
        (EngineUnavailable("gone"), "engine-unavailable"),
        (ZeroDivisionError("somebody's bug"), "engine-failed"),
    ],
)
def test_a_page_that_the_engine_refuses_fails_alone(error: Exception, code: str) -> None:
    pages = anyio.run(run, FakeEngine(capacity=2, failures={2: error}), 3)
    assert [page.status for page in pages] == [
        PageStatus.OK,
        PageStatus.FAILED,
        PageStatus.OK,
    ]
    assert pages[1].problems[0].code == code
    assert str(error.args[0]) in pages[1].problems[0].message


def test_a_picture_of_which_the_end_is_missing_is_read_in_part() -> None:
    noise = np.random.default_rng(0).integers(0, 255, (400, 300, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(noise).save(buffer, "JPEG")
    half = buffer.getvalue()[: buffer.tell() // 2]
    document = convert(half, engine=FakeEngine())
    assert document.pages[0].status is PageStatus.PARTIAL
    assert [p.code for p in document.pages[0].problems] == ["picture-truncated"]


def test_the_observer_hears_of_every_page() -> None:
    watcher = Watcher()

    async def watched() -> None:
        await convert_document(
            blank_pdf(4),
            name="blank.pdf",
            engine=FakeEngine(failures={3: BadOutput("nonsense")}),
            settings=ConvertSettings(),
            observer=watcher,
            crops=None,
        )

    anyio.run(watched)
    assert watcher.heard == ("blank.pdf", 4)
    assert sorted(page.number for page in watcher.pages) == [1, 2, 3, 4]


def test_cancelling_reaches_the_engine_at_once() -> None:
    engine = FakeEngine(delay=60)

    async def cancelled() -> None:
        reading = anyio.Event()
        engine.on_read = reading.set
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run, engine, 2)
            await reading.wait()
            assert engine.in_flight == 1
            tasks.cancel_scope.cancel()

    anyio.run(cancelled)
    assert engine.in_flight == 0
