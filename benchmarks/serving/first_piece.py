"""How long after the engine's first closed block its Markdown is at the client.

``python -m benchmarks.serving.first_piece [--pages N] [--at-once K]``. A page of 1,632 x 2,112
pixels is sent as a chat with ``stream``; the model server writes the moment at which it closed a
block into the block, on the clock that all processes of a machine share.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import io
import os
import re
import time

import httpx
import numpy as np
import orjson
from PIL import Image

from benchmarks.serving.gateway import quantile
from benchmarks.serving.load import Target
from benchmarks.serving.started import gateway, printing_its_port

_CLOSED = re.compile(r"closed at (\d+\.\d+) s")
_BAR = 50.0


def page_body() -> bytes:
    """A page with some ink on it, as JPEG."""
    pixels = np.full((2112, 1632, 3), 255, dtype=np.uint8)
    draw = np.random.default_rng(3)
    for top in range(150, 1950, 36):
        pixels[top : top + 14, 150:1480] = draw.integers(0, 2, (14, 1330, 1), dtype=np.uint8) * 255
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=90)
    url = f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode()}"
    content = [{"type": "image_url", "image_url": {"url": url}}]
    messages = [{"role": "user", "content": content}]
    return orjson.dumps({"model": "chandra", "stream": True, "messages": messages})


async def delays(client: httpx.AsyncClient, target: Target, body: bytes) -> list[float]:
    """Of every block of one page, in seconds; the first is what counts."""
    found: list[float] = []
    url = f"http://127.0.0.1:{target.port}/v1/chat/completions"
    headers = {"content-type": "application/json"}
    async with client.stream("POST", url, content=body, headers=headers) as answer:
        async for line in answer.aiter_lines():
            now = time.monotonic()
            found += [now - float(closed) for closed in _CLOSED.findall(line)]
    assert found, "no piece came"
    return found


async def measure(target: Target, *, pages: int, at_once: int) -> list[list[float]]:
    body = page_body()
    places = asyncio.Semaphore(at_once)
    async with httpx.AsyncClient(timeout=120, trust_env=False) as client:
        await delays(client, target, body)

        async def one() -> list[float]:
            async with places:
                return await delays(client, target, body)

        return await asyncio.gather(*(one() for _ in range(pages)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=40)
    parser.add_argument("--at-once", type=int, default=2)
    given = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    print(f"load before: {os.getloadavg()[0]:.2f}")
    with (
        printing_its_port(
            "benchmarks.serving.writing_upstream", "3", "0.15", core=cores[0]
        ) as upstream,
        gateway(upstream, cores[-1]) as target,
    ):
        found = asyncio.run(measure(target, pages=given.pages, at_once=given.at_once))
    first = [one[0] for one in found]
    later = [delay for one in found for delay in one[1:]]
    print(f"{given.pages} pages, {given.at_once} at once; milliseconds after a block was closed")
    for name, values in (("first piece", first), ("later pieces", later)):
        print(f"{name:14} p50 {quantile(values, 50):6.1f}  p95 {quantile(values, 95):6.1f}")
    well = quantile(first, 50) <= _BAR
    print(f"first piece p50 <= {_BAR:g}: {'yes' if well else 'NO'}")
    return 0 if well else 1


if __name__ == "__main__":
    raise SystemExit(main())
