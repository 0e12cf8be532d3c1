"""What ``chandra-bench load`` does after its options are read.

Owns the order of the steps and the words of the result. Never sends pages itself.
"""

from __future__ import annotations

import sys
from contextlib import aclosing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import orjson

from moonpress.bench.figures import figures_of
from moonpress.bench.load import Load, Run
from moonpress.bench.load_page import load_page
from moonpress.bench.pictures import Pictures, draw_pages
from moonpress.bench.watch import Watched, watch
from moonpress.cli.errors import NOTHING_READ, SOME_PAGES_FAILED
from moonpress.cli.interrupts import run_interruptible
from moonpress.cli.voice import Voice
from moonpress.engines.chandra.address import Address, base_of
from moonpress.engines.chandra.client import ChatClient, Patience
from moonpress.engines.chandra.facts import PREFERRED_DPI
from moonpress.engines.chandra.model import choose_model
from moonpress.engines.chandra.picture import ImageFormat
from moonpress.engines.chandra.prompt import layout_prompt
from moonpress.outputs.disk import write_whole

_DIFFERENT_PAGES = 32


@dataclass(frozen=True, slots=True)
class LoadCommand:
    """One call of ``chandra-bench load``; the fields are its options."""

    inputs: tuple[str, ...]
    urls: tuple[str, ...]
    api_key: str | None
    model: str | None
    pages: int
    clients: int
    mean_tokens: int | None
    dpi: float | None
    image_format: str | None
    logprobs: bool
    prepared: int
    name: str
    output: str | None


def run_load(command: LoadCommand, voice: Voice) -> int:
    """Send the load to each server and print the figures as JSON.

    Returns:
        0 when every page was answered, 3 when some were not, 4 when none was.

    Raises:
        InputError: an input cannot be opened.
        UsageError: there are no pages.
        EngineUnavailable: a server does not answer.
    """
    form = ImageFormat(command.image_format or ImageFormat.JPEG)
    dpi = command.dpi or PREFERRED_DPI
    pages = list(draw_pages(command.inputs, most=_DIFFERENT_PAGES, dpi=dpi))
    pictures = Pictures(pages, form)
    if not voice.quiet:
        voice.say(f"Sending {command.pages} copies of {len(pictures)} pages")
    results: dict[str, Any] = {}
    for index, url in enumerate(command.urls):
        results[url] = run_interruptible(partial(_measure, command, url, pictures, index))
    options = asdict(command) | {"api_key": None}
    report = {"name": command.name, "command": options, "servers": results}
    text = orjson.dumps(report, option=orjson.OPT_INDENT_2)
    sys.stdout.write(text.decode() + "\n")
    if command.output is not None:
        folder = Path(command.output)
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / f"{command.name}.json", text)
        write_whole(folder / f"{command.name}.html", load_page(report).encode())
    failed = sum(result["figures"]["failed"] for result in results.values())
    if failed == command.pages * len(results):
        return NOTHING_READ
    return SOME_PAGES_FAILED if failed else 0


async def _measure(
    command: LoadCommand, url: str, pictures: Pictures, index: int
) -> dict[str, Any]:
    address = Address(base_of(url), command.api_key, None, ())
    async with aclosing(ChatClient(address, Patience(), connections=command.clients + 1)) as client:
        served = choose_model(address.base, await client.models(), command.model)
        load = Load(
            pages=command.pages,
            clients=command.clients,
            model=served.name,
            prompt=layout_prompt("vllm"),
            mean_tokens=command.mean_tokens,
            logprobs=command.logprobs,
            prepared=command.prepared,
        )
        run, watched = Run(load), Watched()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch, address.root, watched)
            await run.send_all(client, pictures, (index + 1) * 100_000)
            tasks.cancel_scope.cancel()
    ended = sorted(one.ended for one in run.samples if one.error is None)
    step = max(len(ended) // 300, 1)
    return {
        "figures": figures_of(load, run.samples),
        **watched.figures(),
        "curve": [[round(at, 2), count + 1] for count, at in enumerate(ended)][::step],
    }
