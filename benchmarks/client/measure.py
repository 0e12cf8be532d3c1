"""The measurements; each prints one JSON object: ``python -m benchmarks.client.measure NAME``."""

from __future__ import annotations

import asyncio
import io
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.client.pages import Line, Pixels, page_image, printed, scanned
from moonpress.engines.chandra.engine import ChandraVLLMEngine
from moonpress.engines.chandra.picture import ImageFormat, encode

TOKENS = 1150
Numbers = dict[str, Any]


@contextmanager
def server(tokens: int, rate: float) -> Iterator[str]:
    command = [sys.executable, "-m", "benchmarks.client.server", str(tokens), str(rate)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        try:
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


def _cpu(work: Callable[[], object], repeats: int) -> float:
    """Median CPU milliseconds of one call."""
    times = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return round(1000 * float(np.median(times)), 1)


def _pillow(form: str, **options: Any) -> Callable[[Pixels], bytes]:
    def work(pixels: Pixels) -> bytes:
        buffer = io.BytesIO()
        Image.fromarray(pixels).save(buffer, form, **options)
        return buffer.getvalue()

    return work


def _opencv(suffix: str, *parameters: int) -> Callable[[Pixels], bytes]:
    def work(pixels: Pixels) -> bytes:
        import cv2

        data = cv2.imencode(suffix, cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), parameters)[1]
        return bytes(data.tobytes())

    return work


def _ours(form: ImageFormat) -> Callable[[Pixels], bytes]:
    return lambda pixels: encode(pixels, form, 1.0).data


ENCODINGS: dict[str, Callable[[Pixels], bytes]] = {
    "ours, png": _ours(ImageFormat.PNG),
    "ours, jpeg": _ours(ImageFormat.JPEG),
    "ours, webp": _ours(ImageFormat.WEBP),
    "Pillow, png level 6 (the original client)": _pillow("PNG"),
    "Pillow, png level 1": _pillow("PNG", compress_level=1),
    "OpenCV, png level 3, three channels": _opencv(".png", 16, 3),
    "OpenCV, png level 0, three channels": _opencv(".png", 16, 0),
    "Pillow, jpeg q95 4:4:4": _pillow("JPEG", quality=95, subsampling=0),
    "Pillow, jpeg q85 4:2:0": _pillow("JPEG", quality=85),
    "Pillow, webp lossless": _pillow("WEBP", lossless=True, method=0),
}


def encodings() -> Numbers:
    """CPU, size and what the recogniser then reads in lines, for each way to encode."""
    import cv2

    from moonpress.engines.embedded.ocr import Recogniser

    cv2.setNumThreads(1)
    recogniser = Recogniser(fast=False, threads=1)
    clean, lines = printed(2)
    lines = lines[:: max(len(lines) // 30, 1)]
    results: Numbers = {}
    for paper, pixels in (("printed", clean), ("scanned", scanned(clean))):
        truth = _errors(recogniser, pixels, lines)
        results[f"{paper}, no encoding"] = {"ms": 0.0, "kb": pixels.nbytes // 1000, "cer": truth}
        for name, work in ENCODINGS.items():
            data = work(pixels)
            with Image.open(io.BytesIO(data)) as image:
                seen = np.asarray(image.convert("RGB"))
            results[f"{paper}, {name}"] = {
                "ms": _cpu(lambda work=work, pixels=pixels: work(pixels), 5),  # type: ignore[misc]
                "kb": len(data) // 1000,
                "cer": _errors(recogniser, seen, lines),
            }
    return results


def _errors(recogniser: Any, pixels: Pixels, lines: list[Line]) -> float:
    """Share of wrong characters over all lines, spaces apart."""
    import jiwer

    crops = [
        np.ascontiguousarray(pixels[top:bottom, left:right])
        for left, top, right, bottom in (line.box for line in lines)
    ]
    found = ["".join(reading.text.split()) for reading in recogniser.texts(crops)]
    return round(float(jiwer.cer([line.text for line in lines], found)), 4)


async def _read(engine: ChandraVLLMEngine, pixels: Pixels, pages: int, at_once: int) -> None:
    gate = asyncio.Semaphore(at_once)

    async def one(number: int) -> None:
        async with gate:
            await engine.read(page_image(pixels, number))

    await engine.prepare()
    await asyncio.gather(*(one(number) for number in range(1, pages + 1)))


def _page_cost(tokens: int, *, form: str, confidence: bool, pixels: Pixels) -> float:
    """CPU milliseconds of this process for one page."""
    pages = 12
    with server(tokens, 0) as url:

        async def go() -> float:
            engine = ChandraVLLMEngine(url, image_format=form, confidence=confidence)
            await _read(engine, pixels, 3, 1)
            began = time.process_time()
            await _read(engine, pixels, pages, 2)
            spent = time.process_time() - began
            await engine.aclose()
            return spent

        return round(1000 * asyncio.run(go()) / pages, 1)


def overhead() -> Numbers:
    """CPU of a page from pixels to the last token, for a short and an ordinary reply."""
    import cv2

    cv2.setNumThreads(1)
    clean, _ = printed(2)
    scan = scanned(clean)
    results: Numbers = {}
    for paper, pixels in (("printed", clean), ("scanned", scan)):
        for form in ("png", "jpeg"):
            key = f"{paper}, {form}, request alone"
            results[key] = _page_cost(1, form=form, confidence=True, pixels=pixels)
    key = f"printed, png, {TOKENS} tokens"
    results[key] = _page_cost(TOKENS, form="png", confidence=True, pixels=clean)
    results[f"{key}, no confidence"] = _page_cost(
        TOKENS, form="png", confidence=False, pixels=clean
    )
    for paper, pixels in (("printed", clean), ("scanned", scan)):
        results[f"original client, {paper}, whole reply at once"] = _original(pixels)
    return results


def _original(pixels: Pixels) -> float:
    """The same by the original client's own function."""
    from chandra.model.schema import BatchInputItem
    from chandra.model.vllm import generate_vllm

    image = Image.fromarray(pixels)
    pages = 6
    with server(TOKENS, 0) as url:

        def work(count: int) -> None:
            items = [BatchInputItem(image=image, prompt_type="ocr_layout") for _ in range(count)]
            replies = generate_vllm(items, max_workers=2, vllm_api_base=url)
            assert not any(reply.error for reply in replies)

        work(2)
        began = time.process_time()
        work(pages)
        return round(1000 * (time.process_time() - began) / pages, 1)


def flight() -> Numbers:
    """64 pages at once from one process: how late the event loop is.

    On a machine that others use, most of that is not ours. So the same is measured before and after
    with tasks that do nothing but take the same time of the CPU, as often.
    """
    pages, at_once, tokens, rate = 192, 64, 300, 20
    clean, _ = printed(2)
    with server(tokens, rate) as url:

        async def go() -> Numbers:
            control = await _lags(_spin(at_once, rate, 60e-6))
            engine = ChandraVLLMEngine(url, pages_per_server=at_once)
            await engine.prepare()
            began, cpu, loop = time.perf_counter(), time.process_time(), time.thread_time()
            busy = await _lags(_read(engine, clean, pages, at_once))
            wall, spent = time.perf_counter() - began, time.process_time() - cpu
            each = (time.thread_time() - loop) / (pages * tokens)
            await engine.aclose()
            control += await _lags(_spin(at_once, rate, each))
            return {
                **_percentiles("lag", busy),
                **_percentiles("lag_of_spinning_tasks", control),
                "loop_us_a_token": round(1e6 * each, 1),
                "pages_a_second": round(pages / wall, 1),
                "cpu_ms_a_page": round(1000 * spent / pages, 1),
            }

        return asyncio.run(go())


async def _spin(tasks: int, rate: float, seconds: float) -> None:
    """For ten seconds, ``tasks`` tasks take ``seconds`` of the CPU ``rate`` times a second."""

    async def one() -> None:
        for _ in range(round(10 * rate)):
            until = time.thread_time() + seconds
            while time.thread_time() < until:
                pass
            await asyncio.sleep(1 / rate)

    await asyncio.gather(*(one() for _ in range(tasks)))


async def _lags(work: Awaitable[None]) -> list[float]:
    """Seconds by which sleeping tasks were woken too late while ``work`` was done."""
    lags: list[float] = []

    async def watch() -> None:
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.005)
            lags.append(time.perf_counter() - began - 0.005)

    watcher = asyncio.create_task(watch())
    await work
    watcher.cancel()
    return lags


def _percentiles(name: str, lags: list[float]) -> Numbers:
    return {
        f"{name}_p50_ms": round(1000 * float(np.percentile(lags, 50)), 2),
        f"{name}_p99_ms": round(1000 * float(np.percentile(lags, 99)), 2),
        f"{name}_worst_ms": round(1000 * max(lags), 1),
    }


def parser() -> Numbers:
    """MB of layout HTML a second, and the original client's way to read it."""
    from pathlib import Path

    from chandra.output import parse_html

    from moonpress.parsing import parse_layout

    folder = Path(__file__).resolve().parents[2] / "tests" / "golden" / "chandra"
    ordinary = ("paper_first_page", "lists", "simple_table", "figure_and_caption", "bibliography")
    reply = "\n".join((folder / f"{name}.reply").read_text() for name in ordinary)
    prose = reply.replace("Bridges sway.", "Bridges sway when few walk in step. " * 60)

    def rate(text: str, work: Callable[[str], object], repeats: int) -> float:
        best = min(_once(text, work, repeats) for _ in range(5))
        return round(len(text) * repeats / best / 1e6, 2)

    def ours(text: str) -> object:
        return parse_layout(text, page_number=1, scale=1000)

    return {
        "page_bytes": len(prose),
        "mb_a_second": rate(prose, ours, 40),
        "mb_a_second_without_prose": rate(reply, ours, 60),
        "original_mb_a_second": rate(prose, parse_html, 4),
    }


def _once(text: str, work: Callable[[str], object], repeats: int) -> float:
    began = time.process_time()
    for _ in range(repeats):
        work(text)
    return time.process_time() - began


MEASURES: dict[str, Callable[[], Numbers]] = {
    "encodings": encodings,
    "overhead": overhead,
    "flight": flight,
    "parser": parser,
}

if __name__ == "__main__":
    sys.stdout.write(json.dumps(MEASURES[sys.argv[1]](), indent=1) + "\n")
