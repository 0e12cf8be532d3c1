"""Every hostile file of the shared data through render workers, against its manifest."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from moonpress.errors import InputError, MoonpressError, PageError, PasswordNeeded
from moonpress.pipeline.render import open_in_pool
from moonpress.pipeline.render_pool import RenderLimits, RenderPool
from moonpress.sources.base import RenderRequest

pytestmark = [pytest.mark.shared, pytest.mark.slow, pytest.mark.anyio]

_REQUEST = RenderRequest(dpi=150, max_pixels=8_000_000)
_MOST_PAGES = 5
_SECONDS = 30


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def _entries(shared: Path) -> Iterator[dict[str, Any]]:
    manifest = json.loads((shared / "data" / "nasty_manifest.json").read_bytes())
    yield from manifest


async def _errors(pool: RenderPool, path: Path, password: str | None) -> list[MoonpressError]:
    """What goes wrong with the file or its first pages; what is no error of ours goes through."""
    errors: list[MoonpressError] = []
    try:
        async with open_in_pool(pool, path, name=path.name, password=password) as document:
            for number in range(1, min(document.info.page_count, _MOST_PAGES) + 1):
                try:
                    image = await document.page(number, _REQUEST)
                except PageError as error:
                    errors.append(error)
                else:
                    size = image.size
                    assert image.pixels.shape == (size.height_px, size.width_px, 3)
                    assert size.height_px * size.width_px <= _REQUEST.max_pixels
    except InputError as error:
        errors.append(error)
    return errors


def _verdict(errors: list[MoonpressError], expect: str) -> str:
    """What is wrong with an outcome; empty when it is as expected."""
    lines = [str(error) for error in errors]
    if any("\n" in line or "Traceback" in line for line in lines):
        return f"more than a line: {lines}"
    if expect == "ok" and errors:
        return f"not ok: {lines}"
    if expect == "clean-error" and not errors:
        return "read without an error"
    needs_password = any(isinstance(error, PasswordNeeded) for error in errors)
    if expect == "needs-password" and not needs_password:
        return f"no password was asked for: {lines}"
    return ""


async def test_every_file_ends_as_its_manifest_says(shared: Path) -> None:
    limits = RenderLimits(page_timeout=_SECONDS - 5, open_timeout=_SECONDS - 5)
    wrong: dict[str, str] = {}
    seen = 0
    async with RenderPool(limits, idle=1) as pool:
        for entry in _entries(shared):
            name = entry["file"]
            path = shared / "data" / "nasty" / name
            began = time.monotonic()
            with anyio.fail_after(2 * _SECONDS):
                verdict = _verdict(await _errors(pool, path, None), entry["expect"])
                if not verdict and (password := entry.get("password")):
                    verdict = _verdict(await _errors(pool, path, password), "ok")
            if time.monotonic() - began > _SECONDS:
                verdict += f" took {time.monotonic() - began:.0f} s"
            if verdict:
                wrong[name] = verdict
            seen += 1
    assert wrong == {}
    assert seen > 100
