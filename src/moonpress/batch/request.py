"""What a run is asked to do, and which of it the outputs depend on.

Owns the request and its digest. Never acts on it: see `moonpress.batch.start`.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from moonpress.batch.assembler import SinkSettings


@dataclass(frozen=True, slots=True)
class ReadingChoices:
    """Choices on which the text of a page depends.

    Attributes:
        pages: Selection for documents that bring none of their own; ``None`` for all.
        dpi: Resolution; ``None`` for the engine's.
        max_image_width: Bound of a page picture in pixels.
        fast: Prefer speed over accuracy.
        ocr: What to do with text layers.
        languages: Tesseract packs.
        model: Name of the model, where the user gave one.
        image_format: How pictures travel, where the user chose.
        confidence: Whether blocks get one.
    """

    pages: str | None = None
    dpi: float | None = None
    max_image_width: int | None = None
    fast: bool = False
    ocr: str = "auto"
    languages: tuple[str, ...] = ()
    model: str | None = None
    image_format: str | None = None
    confidence: bool = True


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """One run over many documents.

    Attributes:
        reading: How pages are read.
        sink: Where documents go, and in which formats.
        ledger: The ledger's file.
        password: For encrypted documents that bring none of their own.
        page_timeout: Seconds that drawing one page may take.
        patience: Seconds to wait for an engine that went away.
        limit: Documents to take at most, in the order in which they are found.
    """

    reading: ReadingChoices
    sink: SinkSettings
    ledger: Path
    password: str | None
    page_timeout: float
    patience: float
    limit: int | None

    def choices(self, engine_name: str) -> str:
        """Digest of all that outputs depend on: a document is read again when it changes."""
        depends_on = {
            "engine": engine_name,
            "reading": asdict(self.reading),
            "sink": self.sink.kind,
            "formats": sorted(self.sink.formats),
            "options": asdict(self.sink.options),
        }
        text = orjson.dumps(depends_on, option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(text).hexdigest()[:16]
