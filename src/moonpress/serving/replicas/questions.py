"""What a replica is asked while it runs: its health and its counters.

Owns the requests. Never judges the answers: see `moonpress.serving.replicas.watch`.
"""

from __future__ import annotations

import asyncio

import aiohttp

from moonpress.serving.replicas.watch import Progress

_NETWORK = (aiohttp.ClientError, OSError, TimeoutError)
_RUNNING = "vllm:num_requests_running"
_TOKENS = ("vllm:generation_tokens_total", "vllm:prompt_tokens_total")


async def health(session: aiohttp.ClientSession, root: str) -> str | None:
    """What is wrong with a replica, by its own words; ``None`` when nothing is.

    Waits for as long as the replica takes: whoever asks bounds it.
    """
    try:
        async with session.get(f"{root}/health") as answer:
            return None if answer.status == 200 else f"status {answer.status}"
    except _NETWORK as error:
        return str(error) or type(error).__name__


async def progress(session: aiohttp.ClientSession, root: str, *, seconds: float) -> Progress | None:
    """What it counts; ``None`` when it does not say so in time."""
    try:
        async with asyncio.timeout(seconds), session.get(f"{root}/metrics") as answer:
            text = await answer.text()
    except (*_NETWORK, UnicodeDecodeError):
        return None
    return progress_in(text)


def progress_in(text: str) -> Progress | None:
    """The counters in Prometheus' text format; ``None`` where they are missing."""
    running: float | None = None
    tokens = 0.0
    for line in text.splitlines():
        name, _, rest = line.partition("{")
        if name != _RUNNING and name not in _TOKENS:
            continue
        value = float(rest.rpartition(" ")[2])
        if name == _RUNNING:
            running = (running or 0.0) + value
        else:
            tokens += value
    return None if running is None else Progress(int(running), int(tokens))
