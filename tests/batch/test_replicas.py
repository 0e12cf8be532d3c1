"""Servers that read pages die during a run, come back or do not: nothing is lost, nothing fails."""

from __future__ import annotations

import asyncio
import subprocess
from contextlib import ExitStack, suppress
from urllib.parse import urlsplit

import psutil
import pytest
from aiohttp import web

from tests.batch.command import Batch, family, make_inputs, wait_for
from tests.cli.test_server import served
from tests.engines.scripted import CLEAN, ScriptedServer, streaming

_PAGES = {"a.pdf": 12, "b.pdf": 12, "c.pdf": 12}


async def _slowly(request: web.Request) -> web.StreamResponse:
    await asyncio.sleep(0.4)
    return await streaming(CLEAN)(request)  # type: ignore[no-any-return]


def _server() -> ScriptedServer:
    return ScriptedServer(chat=_slowly)


def _all_read(batch: Batch) -> None:
    for name, count in _PAGES.items():
        assert [page["status"] for page in batch.pages(name)] == ["ok"] * count


def test_engine_replica_dies(batch: Batch) -> None:
    make_inputs(batch.inputs, _PAGES)
    first, second = _server(), _server()
    with served(first) as one, ExitStack() as other:
        two = other.enter_context(served(second))
        options = ("--url", one, "--url", two, "--workers", "4")
        process = batch.start(*options, MOONPRESS_ENGINE="vllm")
        wait_for(lambda: len(second.requests) > 4 and len(first.requests) > 4)
        other.close()
        before = len(first.requests)
        result = batch.finish(process)
    assert result.code == 0, result.err
    assert len(first.requests) > before
    _all_read(batch)


@pytest.mark.slow
def test_all_replicas_die_and_come_back(batch: Batch) -> None:
    make_inputs(batch.inputs, _PAGES)
    server = _server()
    with ExitStack() as first:
        url = first.enter_context(served(server))
        port = urlsplit(url).port
        assert port is not None
        options = ("--url", url, "--workers", "4", "--verbose")
        process = batch.start(*options, MOONPRESS_ENGINE="vllm")
        wait_for(lambda: len(server.requests) > 8)
    wait_for(lambda: "engine_gone" in batch.err.read_text(), seconds=60)
    again = _server()
    with served(again, port):
        result = batch.finish(process)
    assert result.code == 0, result.err
    assert "engine_back" in result.err
    assert again.requests
    _all_read(batch)


@pytest.mark.slow
def test_all_replicas_stay_away(batch: Batch) -> None:
    make_inputs(batch.inputs, _PAGES)
    server = _server()
    with served(server) as url:
        options = ("--url", url, "--workers", "4", "--engine-wait", "1")
        process = batch.start(*options, MOONPRESS_ENGINE="vllm")
        wait_for(lambda: len(server.requests) > 8)
    result = batch.finish(process)
    assert result.code == 5, result.err
    assert batch.report()["pages"]["failed"] == 0
    last = result.err.splitlines()[-1]
    assert last.startswith("error: ")
    assert "waited 1 s for it. Start it again, then the same command" in last
    read = batch.report()["pages"]["read_now"]
    again = _server()
    with served(again) as url:
        assert batch.read("--url", url, MOONPRESS_ENGINE="vllm").code == 0
    _all_read(batch)
    assert len(again.requests) == sum(_PAGES.values()) - read


def _readers(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Children with networks in memory, which no other child has."""
    found = []
    for child in family(process)[1:]:
        with suppress(psutil.NoSuchProcess):
            if child.memory_info().rss > 150 << 20:
                found.append(child)
    return found


@pytest.mark.slow
def test_a_reader_of_this_machine_dies(batch: Batch) -> None:
    """The embedded engine reads in processes of its own."""
    make_inputs(batch.inputs, _PAGES)
    process = batch.start("--workers", "2", "--ocr", "never", MOONPRESS_ENGINE="embedded")
    wait_for(lambda: len(family(process)) > 3, seconds=60)
    wait_for(lambda: bool(_readers(process)), seconds=60)
    _readers(process)[0].kill()
    result = batch.finish(process)
    assert result.code in {0, 3}, result.err
    assert batch.report()["documents"]["done"] == len(_PAGES)
    assert batch.report()["pages"]["failed"] <= 1
