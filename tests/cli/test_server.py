"""``chandra-pdf`` with a server: what a user sees when it is there, and when it is not."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import get_args

import pytest
from aiohttp import web

from moonpress.cli import options
from moonpress.engines.chandra.picture import ImageFormat
from tests.cli.command import Chandra
from tests.engines.scripted import CLEAN, LOOPING, ScriptedServer, refusing, running, streaming

HELLO = Path(__file__).resolve().parents[1] / "data" / "hello.pdf"


@contextmanager
def served(server: ScriptedServer, port: int = 0) -> Iterator[str]:
    """The server in a loop and thread of its own, while a command runs."""
    loop = asyncio.new_event_loop()
    ready, done = threading.Event(), asyncio.Event()

    async def serve() -> None:
        async with running(server, port):
            ready.set()
            await done.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    ready.wait(10)
    try:
        yield server.url
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join(10)
        loop.close()


def test_a_page_is_read_by_the_server(chandra: Chandra) -> None:
    server = ScriptedServer()
    with served(server) as url:
        result = chandra(
            HELLO, "--url", url, "-o", "-", "--header", "X-Team: papers", MOONPRESS_API_KEY="k"
        )
    assert result.code == 0, result.err
    assert result.out.decode() == "The page says this and that.\n"
    assert result.err == ""
    assert server.headers[-1]["X-Team"] == "papers"
    assert server.headers[-1]["Authorization"] == "Bearer k"


def test_json_tells_what_the_server_did(chandra: Chandra) -> None:
    answers = [streaming(LOOPING), streaming(CLEAN)]

    async def chat(request: web.Request) -> web.StreamResponse:
        return await answers.pop(0)(request)  # type: ignore[no-any-return]

    server = ScriptedServer(chat=chat)
    with served(server) as url:
        result = chandra(HELLO, "-f", "json", "-o", "-", MOONPRESS_URL=url)
    assert result.code == 0, result.err
    page = json.loads(result.out)["pages"][0]
    assert page["usage"]["engine"] == "vllm"
    assert page["usage"]["attempts"] == 2
    assert page["blocks"][0]["confidence"] == pytest.approx(0.7788, abs=1e-3)
    assert page["size"]["dpi"] == pytest.approx(192, abs=1)


def test_a_page_that_only_loops_is_partial(chandra: Chandra) -> None:
    with served(ScriptedServer(chat=streaming(LOOPING))) as url:
        result = chandra(HELLO, "--url", url, "-o", "-")
    assert result.code == 3
    assert "\nThe page says this and that.\n" in result.out.decode()
    assert result.out.decode().count("and so on") < 4
    assert "warning: " in result.line
    assert result.line.endswith("[repetition]")


def test_no_server_is_one_line_and_soon(chandra: Chandra) -> None:
    began = time.perf_counter()
    result = chandra(HELLO, "--engine", "vllm", "--url", "127.0.0.1:9", "-o", "out.md")
    assert result.code == 5
    assert "http://127.0.0.1:9/v1 cannot be used: connection refused" in result.line
    assert not (chandra.folder / "out.md").exists()
    # The interpreter and its imports take most of that on a busy machine.
    assert time.perf_counter() - began < 40


def test_a_missing_key_and_a_wrong_model_are_named(chandra: Chandra) -> None:
    with served(ScriptedServer(models=refusing(401, {"error": "Unauthorized"}))) as url:
        result = chandra(HELLO, "--url", url, "-o", "-")
    assert result.code == 5
    assert "MOONPRESS_API_KEY" in result.line
    with served(ScriptedServer()) as url:
        result = chandra(HELLO, "--url", url, "--model", "gpt", "-o", "-")
    assert result.code == 2
    assert "has no model 'gpt': it has chandra" in result.line


def test_a_context_that_is_too_small_is_told_in_numbers(chandra: Chandra) -> None:
    small = refusing(200, {"data": [{"id": "chandra", "max_model_len": 1024}]})
    with served(ScriptedServer(models=small)) as url:
        result = chandra(HELLO, "--url", url, "-o", "-")
    assert result.code == 4
    assert "context of 1024" in result.line


def test_the_configuration_file_names_the_server(chandra: Chandra, tmp_path: Path) -> None:
    path = tmp_path / "servers.toml"
    with served(ScriptedServer()) as url:
        path.write_text(f'url = "{url}"\n')
        result = chandra(HELLO, "-o", "-", MOONPRESS_CONFIG=str(path))
    assert result.out.decode() == "The page says this and that.\n"


@pytest.mark.parametrize(
    "arguments",
    [("--url", "ftp://host"), ("--url", "http://h", "--header", "x"), ("--image-format", "gif")],
)
def test_choices_that_make_no_sense_are_bad_usage(
    chandra: Chandra, arguments: tuple[str, ...]
) -> None:
    assert chandra(HELLO, *arguments, "-o", "-").code == 2


def test_picture_formats_are_those_of_the_engine() -> None:
    assert set(get_args(options.ImageFormatChoice)) == {form.value for form in ImageFormat}
