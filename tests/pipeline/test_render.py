"""Pages drawn in workers: what happens to the page, and to the next one, when a worker fails."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import numpy as np
import psutil
import pytest

from moonpress.document import EncodedPicture
from moonpress.engines.chandra.picture import ImageFormat, encoder, fit
from moonpress.errors import (
    InputCorrupt,
    InputEmpty,
    InputMissing,
    InputNotAFile,
    InputTooLarge,
    MoonpressError,
    PageRangeError,
    PageTimeout,
    PageTooLarge,
    PageUnrenderable,
    PasswordNeeded,
)
from moonpress.pipeline.render import RenderedDocument, open_in_pool, open_rendered
from moonpress.pipeline.render_pool import RenderLimits, RenderPool
from moonpress.sources.base import RenderRequest
from tests.sources.raw_pdf import RawPage, form, raw_pdf, text
from tests.sources.samples import encrypted_pdf, png

pytestmark = pytest.mark.anyio

_REQUEST = RenderRequest(dpi=72, max_pixels=4_000_000)
_LIMITS = RenderLimits()
_MIB = 1 << 20
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded on Linux")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def three_pages(second: RawPage | None = None, objects: dict[int, bytes] | None = None) -> bytes:
    pages = [RawPage(text((72, 700), f"Page {word}")) for word in ("one", "two", "three")]
    if second is not None:
        pages[1] = second
    return raw_pdf(*pages, objects=objects or {})


def endless_page() -> bytes:
    """Three pages of which the second draws a form that draws the next one twice, 40 deep."""
    depth = 40
    objects = {
        100 + i: form("/A Do /A Do", f"/Resources << /XObject << /A {101 + i} 0 R >> >>")
        for i in range(depth)
    }
    objects[100 + depth] = form("0 0 1 1 re f")
    return three_pages(RawPage("/A Do", xobjects={"A": 100}), objects)


async def words(document: RenderedDocument, number: int) -> str:
    image = await document.page(number, _REQUEST)
    assert image.text_layer is not None
    return image.text_layer.text.strip()


async def test_pages_of_a_file_and_of_bytes(tmp_path: Path) -> None:
    data = three_pages()
    path = tmp_path / "three.pdf"
    path.write_bytes(data)
    for source in (path, str(path), data):
        async with open_rendered(source, name="three", password=None, limits=_LIMITS) as document:
            assert document.info.page_count == 3
            assert await words(document, 3) == "Page three"
            assert await words(document, 1) == "Page one"
            pid = document.worker_pid
        assert pid is not None
        assert not psutil.pid_exists(pid)


async def test_pictures_are_drawn_in_workers_too() -> None:
    async with open_rendered(png(), name="it", password=None, limits=_LIMITS) as document:
        image = await document.page(1, _REQUEST)
    assert image.pixels.shape == (10, 20, 3)
    assert image.pixels.flags.writeable


async def test_the_password_reaches_the_worker() -> None:
    data = encrypted_pdf("tulip")
    async with open_rendered(data, name="it", password="tulip", limits=_LIMITS) as document:
        assert await words(document, 1) == "Secret"
    with pytest.raises(PasswordNeeded) as caught:
        async with open_rendered(data, name="it", password=None, limits=_LIMITS):
            raise AssertionError("it must not open")
    assert caught.value.file == "it"


@pytest.mark.parametrize("number", [0, 4, -1])
async def test_pages_that_are_not_there(number: int) -> None:
    async with open_rendered(three_pages(), name="it", password=None, limits=_LIMITS) as document:
        with pytest.raises(PageRangeError):
            await document.page(number, _REQUEST)


async def test_cheap_errors_start_no_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> Awaitable[None]:
        raise AssertionError("a process was started")

    monkeypatch.setattr(anyio, "open_process", refuse)
    (tmp_path / "empty").touch()
    expected: list[tuple[Path | bytes, type[MoonpressError]]] = [
        (tmp_path / "none", InputMissing),
        (tmp_path, InputNotAFile),
        (tmp_path / "empty", InputEmpty),
        (b"", InputEmpty),
    ]
    for source, kind in expected:
        with pytest.raises(kind):
            async with open_rendered(source, name="it", password=None, limits=_LIMITS):
                raise AssertionError("it must not open")


async def test_a_page_that_hangs_is_left_behind_and_the_next_one_comes() -> None:
    limits = RenderLimits(page_timeout=1.5)
    async with open_rendered(endless_page(), name="it", password=None, limits=limits) as document:
        assert await words(document, 1) == "Page one"
        first = document.worker_pid
        began = time.monotonic()
        with pytest.raises(PageTimeout) as caught:
            await document.page(2, _REQUEST)
        assert time.monotonic() - began < 10
        assert str(caught.value).startswith("it, page 2: drawing it takes longer than 1.5 s")
        assert await words(document, 3) == "Page three"
        assert document.worker_pid != first
        assert document.info.sha256


async def _while_drawing(document: RenderedDocument, act: Callable[[int], None]) -> None:
    """Draw the endless second page and do something to the worker meanwhile."""

    async def later() -> None:
        await anyio.sleep(0.5)
        assert document.worker_pid is not None
        act(document.worker_pid)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(later)
        with pytest.raises(PageUnrenderable) as caught:
            await document.page(2, _REQUEST)
        assert str(caught.value).startswith("it, page 2: the renderer crashed on it (signal 11)")


async def test_a_page_that_crashes_the_worker_is_left_behind_and_the_next_one_comes() -> None:
    async with open_rendered(endless_page(), name="it", password=None, limits=_LIMITS) as document:
        await _while_drawing(document, lambda pid: os.kill(pid, signal.SIGSEGV))
        assert await words(document, 3) == "Page three"


async def test_a_worker_that_dies_between_pages_costs_no_page() -> None:
    async with open_rendered(three_pages(), name="it", password=None, limits=_LIMITS) as document:
        assert await words(document, 1) == "Page one"
        assert document.worker_pid is not None
        os.kill(document.worker_pid, signal.SIGKILL)
        assert await words(document, 2) == "Page two"


@linux_only
async def test_a_page_that_needs_too_much_memory_is_left_behind(tmp_path: Path) -> None:
    from PIL import Image

    frames = [Image.new("L", size) for size in ((20, 20), (12_000, 12_000), (30, 30))]
    path = tmp_path / "scan.tiff"
    frames[0].save(path, save_all=True, append_images=frames[1:], compression="tiff_deflate")
    limits = RenderLimits(memory=120 * _MIB)
    async with open_rendered(path, name="it", password=None, limits=limits) as document:
        with pytest.raises(PageTooLarge) as caught:
            await document.page(2, _REQUEST)
        assert "page 2: drawing it takes more than 120 MiB of memory" in str(caught.value)
        assert (await document.page(3, _REQUEST)).size.width_px == 30


@linux_only
async def test_a_pdf_page_that_needs_too_much_memory_is_left_behind() -> None:
    limits = RenderLimits(memory=60 * _MIB)
    async with open_rendered(endless_page(), name="it", password=None, limits=limits) as document:
        with pytest.raises(PageTooLarge):
            await document.page(2, _REQUEST)
        assert await words(document, 3) == "Page three"


@linux_only
async def test_a_file_that_needs_too_much_memory_cannot_be_opened() -> None:
    data = three_pages() + bytes(60 * _MIB)
    limits = RenderLimits(memory=30 * _MIB)
    with pytest.raises((InputTooLarge, InputCorrupt)) as caught:
        async with open_rendered(data, name="it", password=None, limits=limits):
            raise AssertionError("it must not open")
    assert caught.value.file == "it"


async def test_opening_that_hangs_is_a_corrupt_input() -> None:
    limits = RenderLimits(open_timeout=1e-4)
    with pytest.raises(InputCorrupt, match="it: opening it takes longer than"):
        async with open_rendered(three_pages(), name="it", password=None, limits=limits):
            raise AssertionError("it must not open")


async def test_a_file_that_vanishes_fails_page_by_page(tmp_path: Path) -> None:
    path = tmp_path / "gone.pdf"
    path.write_bytes(endless_page())
    limits = RenderLimits(page_timeout=1.0)
    async with open_rendered(path, name="it", password=None, limits=limits) as document:
        with pytest.raises(PageTimeout):
            await document.page(2, _REQUEST)
        path.unlink()
        with pytest.raises(PageUnrenderable) as caught:
            await document.page(3, _REQUEST)
        assert "page 3: the file could not be opened again: no such file" in str(caught.value)


async def test_cancelling_a_page_does_not_harm_the_next() -> None:
    async with open_rendered(endless_page(), name="it", password=None, limits=_LIMITS) as document:
        with anyio.move_on_after(1.0) as scope:
            await document.page(2, _REQUEST)
        assert scope.cancelled_caught
        assert await words(document, 3) == "Page three"


async def test_overlapping_calls_are_served_in_turn() -> None:
    async with open_rendered(three_pages(), name="it", password=None, limits=_LIMITS) as document:
        found: dict[int, str] = {}

        async def draw(number: int) -> None:
            found[number] = await words(document, number)

        async with anyio.create_task_group() as tasks:
            for number in (3, 2, 1):
                tasks.start_soon(draw, number)
    assert found == {1: "Page one", 2: "Page two", 3: "Page three"}


async def test_a_worker_is_replaced_after_so_many_pages() -> None:
    limits = RenderLimits(pages_per_worker=2)
    pids = []
    async with open_rendered(three_pages(), name="it", password=None, limits=limits) as document:
        for number in (1, 2, 3):
            pids.append(document.worker_pid)
            assert (await words(document, number)).startswith("Page")
    assert pids[0] is not None
    assert pids[2] is None


@linux_only
async def test_a_worker_that_grew_is_replaced() -> None:
    data = raw_pdf(RawPage(entries="/MediaBox [0 0 2000 2000]"), RawPage())
    limits = RenderLimits(growth=5 * _MIB)
    large = RenderRequest(dpi=144, max_pixels=40_000_000)
    async with open_rendered(data, name="it", password=None, limits=limits) as document:
        image = await document.page(1, large)
        assert image.pixels.nbytes > 40 * _MIB
        assert (image.pixels == 255).all()
        assert np.asarray((await document.page(2, _REQUEST)).pixels).shape == (792, 612, 3)


async def test_a_pool_keeps_workers_warm_for_the_next_document() -> None:
    async with RenderPool(_LIMITS, idle=1) as pool:
        pids = []
        for source in (three_pages(), png(), b"no picture", three_pages()):
            try:
                async with open_in_pool(pool, source, name="it", password=None) as document:
                    await document.page(1, _REQUEST)
                    pids.append(document.worker_pid)
            except MoonpressError:
                pids.append(None)
        assert pids[2] is None
        assert pids[0] == pids[1] == pids[3]
        assert psutil.pid_exists(pids[0] or 0)
    assert not psutil.pid_exists(pids[0] or 0)


async def test_a_pool_survives_the_death_of_an_idle_worker() -> None:
    async with RenderPool(_LIMITS, idle=1) as pool:
        async with open_in_pool(pool, three_pages(), name="it", password=None) as document:
            await document.page(1, _REQUEST)
            pid = document.worker_pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        async with open_in_pool(pool, three_pages(), name="it", password=None) as document:
            assert await words(document, 2) == "Page two"


async def test_documents_at_the_same_time_have_workers_of_their_own() -> None:
    async with (
        RenderPool(_LIMITS, idle=1) as pool,
        open_in_pool(pool, three_pages(), name="a", password=None) as one,
        open_in_pool(pool, png(), name="b", password=None) as other,
    ):
        assert one.worker_pid != other.worker_pid
        assert await words(one, 1) == "Page one"
        assert (await other.page(1, _REQUEST)).size.width_px == 20


async def test_a_picture_is_encoded_in_the_process_that_draws_it() -> None:
    """What travels is a file at the engine's size; boxes are fractions, so they still fit."""
    wanted = encoder(ImageFormat.PNG)
    request = RenderRequest(dpi=100, max_pixels=4_000_000, encoder=wanted)
    async with open_rendered(three_pages(), name="a.pdf", password=None, limits=_LIMITS) as three:
        image = await three.page(2, request)
    assert isinstance(image.picture, EncodedPicture)
    assert image.picture.blank is False
    assert (image.size.width_px, image.size.height_px) == fit(850, 1100, 1.0)
    assert image.pixels.shape == (image.size.height_px, image.size.width_px, 3)
    assert image.pixels.min() < 100


async def test_a_pool_has_no_more_workers_than_it_may_have() -> None:
    pids: set[int | None] = set()
    at_once = most_at_once = 0

    async def read_one(pool: RenderPool) -> None:
        nonlocal at_once, most_at_once
        async with open_in_pool(pool, three_pages(), name="a.pdf", password=None) as document:
            at_once += 1
            most_at_once = max(most_at_once, at_once)
            await document.page(1, _REQUEST)
            pids.add(document.worker_pid)
            if len(pids) == 1:
                os.kill(document.worker_pid or 0, signal.SIGKILL)
                await document.page(2, _REQUEST)
            at_once -= 1

    async with RenderPool(_LIMITS, idle=2, most=2) as pool, anyio.create_task_group() as tasks:
        for _ in range(6):
            tasks.start_soon(read_one, pool)
    assert most_at_once == 2
    assert len(pids) <= 4
