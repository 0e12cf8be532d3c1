"""Reading through a real ``chandra-serve``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from aiohttp import web

from moonpress.document import Block, Page
from moonpress.errors import BadOutput, EngineUnavailable, InputCorrupt
from moonpress.ui.readers import Wanted
from moonpress.ui.service_reader import read_by_service
from moonpress.ui.settings import RemoteService
from tests.batch.command import labelled_pdf
from tests.ui.commands import Running, chandra, end


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("service")
    running = chandra("serve", folder, "--engine", "scripted-batch", SCRIPT_FIGURES="1")
    yield running
    end(running)


class Pages:
    """Keeps the pages that come."""

    def __init__(self) -> None:
        self.pages: list[Page] = []
        self.blocks: list[tuple[int, str]] = []

    def started(self, _source: str, _page_count: int) -> None:
        """Nothing to keep."""

    def page_begun(self, _number: int) -> None:
        """Nothing to keep."""

    def block_done(self, number: int, block: Block, _tokens: int) -> None:
        self.blocks.append((number, block.id))

    def page_done(self, page: Page) -> None:
        self.pages.append(page)


def wanted(folder: Path, data: bytes, *pages: int) -> Wanted:
    path = folder / "document"
    path.write_bytes(data)
    crops = folder / "crops"
    crops.mkdir()
    return Wanted(path, "mine.pdf", pages, None, crops)


def test_pages_stream_in_and_the_document_has_figures(service: Running, tmp_path: Path) -> None:
    order = wanted(tmp_path, labelled_pdf("far", 5), 2, 4)
    seen = Pages()
    document = anyio.run(read_by_service, RemoteService(service.url), order, seen)
    assert [page.number for page in document.pages] == [2, 4]
    assert sorted(page.number for page in seen.pages) == [2, 4]
    assert sorted(seen.blocks) == [(2, "p2-b1"), (2, "p2-b2"), (4, "p4-b1"), (4, "p4-b2")]
    assert "far page 4" in document.to_text()
    assert document.source == "mine.pdf"
    assert sorted(path.stem for path in order.crops.iterdir()) == ["p2-b2", "p4-b2"]


def test_what_the_service_says_of_a_file_is_said_here(service: Running, tmp_path: Path) -> None:
    order = wanted(tmp_path, b"%PDF-1.4 nothing", 1)
    with pytest.raises(InputCorrupt) as caught:
        anyio.run(read_by_service, RemoteService(service.url), order, Pages())
    line = str(caught.value)
    assert line.startswith("mine.pdf: ")
    assert line.count("mine.pdf") == line.count("[input-corrupt]") == 1


def test_a_service_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    order = wanted(tmp_path, labelled_pdf("x", 1), 1)
    with pytest.raises(EngineUnavailable, match="does not answer"):
        anyio.run(read_by_service, RemoteService("http://127.0.0.1:9"), order, Pages())


def test_something_else_at_the_address_is_one_line(tmp_path: Path) -> None:
    order = wanted(tmp_path, labelled_pdf("x", 1), 1)

    async def against_a_stranger() -> None:
        async def hello(_request: web.Request) -> web.Response:
            return web.Response(text="<h1>It works</h1>", status=404)

        app = web.Application()
        app.router.add_route("*", "/{path:.*}", hello)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        try:
            port = runner.addresses[0][1]
            url = f"http://127.0.0.1:{port}"
            await read_by_service(RemoteService(url), order, Pages())
        finally:
            await runner.cleanup()

    with pytest.raises(BadOutput, match="no chandra-serve"):
        anyio.run(against_a_stranger)
