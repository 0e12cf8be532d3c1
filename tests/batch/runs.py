"""Runs over small PDF files with an engine that follows a script.

Owns making the files and the parts of a run. Everything but the engine is the real thing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from moonpress.batch.assembler import SinkSettings
from moonpress.batch.ledger import Ledger
from moonpress.batch.meter import Meter
from moonpress.batch.request import BatchRequest, ReadingChoices
from moonpress.batch.start import run_batch
from moonpress.batch.stop import Stop
from moonpress.document import RenderOptions
from moonpress.engines.base import Engine
from moonpress.engines.fake import FakeEngine
from moonpress.sources.inputs.copies import LocalCopies
from moonpress.sources.inputs.item import InputItem, InputProblem
from moonpress.sources.inputs.limits import Limits
from moonpress.sources.inputs.opening import Opener
from tests.cli.small_pdf import small_pdf


def make_documents(folder: Path, page_counts: Iterable[int]) -> list[InputItem]:
    """PDF files ``0.pdf``, ``1.pdf`` ... with so many pages."""
    folder.mkdir(parents=True, exist_ok=True)
    items = []
    for index, count in enumerate(page_counts):
        path = folder / f"{index:02}.pdf"
        path.write_bytes(small_pdf(count))
        items.append(item_of(path))
    return items


def item_of(path: Path) -> InputItem:
    """What a search would find."""
    status = path.stat()
    version = f"{status.st_size}-{status.st_mtime_ns}"
    return InputItem(id=path.name, uri=str(path), name=str(path), version=version)


def request_for(out: Path, **choices: object) -> BatchRequest:
    """A request that writes Markdown and JSON to ``out``."""
    formats = choices.pop("formats", ("markdown", "json"))
    assert isinstance(formats, tuple)
    options = choices.pop("options", RenderOptions())
    assert isinstance(options, RenderOptions)
    settings = {"patience": 5.0, "limit": None, "password": None, "page_timeout": 20.0, **choices}
    return BatchRequest(
        reading=ReadingChoices(pages=settings.pop("pages", None), dpi=36),  # type: ignore[arg-type]
        sink=SinkSettings(kind="folder", root=str(out), formats=formats, options=options),
        ledger=out / ".moonpress" / "ledger.sqlite",
        **settings,  # type: ignore[arg-type]
    )


async def run(
    request: BatchRequest,
    items: Iterable[InputItem | InputProblem],
    engine: Engine | None = None,
    *,
    meter: Meter | None = None,
    stop: Stop | None = None,
) -> list[InputProblem]:
    """Run once, from opening the ledger to closing it."""
    ledger = Ledger(request.ledger)
    scratch = request.ledger.parent / "scratch"
    scratch.mkdir(exist_ok=True)
    try:
        return await run_batch(
            request,
            ledger=ledger,
            engine=engine or FakeEngine(capacity=4),
            opener=Opener(LocalCopies(scratch, Limits())),
            items=iter(items),
            meter=meter or Meter(),
            stop=stop or Stop(),
        )
    finally:
        ledger.close()


def counted(items: Iterable[InputItem], seen: list[str]) -> Iterator[InputItem]:
    """The same items; ``seen`` gets their ids as they are asked for."""
    for item in items:
        seen.append(item.id)
        yield item
