"""From the options of a command to an engine.

Owns the options about reading that all commands share, and their way into `EngineOptions`. Never
starts an engine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from moonpress.cli.options import split_names
from moonpress.cli.voice import Voice
from moonpress.engines.registry import EngineOptions
from moonpress.settings import server_options


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """Who reads the pages, and how; the fields are options of the commands."""

    engine: str
    fast: bool
    ocr: str
    languages: tuple[str, ...]
    workers: int | None
    batch_size: int | None
    page_timeout: float | None
    urls: tuple[str, ...]
    api_key: str | None
    model: str | None
    ca_file: str | None
    headers: tuple[str, ...]
    image_format: str | None
    confidence: bool

    @classmethod
    def from_options(cls, given: Mapping[str, Any]) -> EngineChoice:
        """From the values of a command's options, by the names of its parameters."""
        same = ("engine", "fast", "ocr", "workers", "batch_size", "page_timeout", "api_key")
        more = ("model", "ca_file", "image_format")
        return cls(
            **{name: given[name] for name in (*same, *more)},
            languages=split_names(given["languages"]),
            urls=split_names(given["url"]),
            headers=tuple(given["header"] or ()),
            confidence=not given["no_confidence"],
        )

    def options(self, voice: Voice) -> EngineOptions:
        """What the engine's factory is given; what ``auto`` chooses is told to a person."""

        def announce(line: str) -> None:
            if voice.chatty:
                voice.say(line)

        return EngineOptions(
            workers=self.workers,
            batch_size=self.batch_size,
            page_timeout=self.page_timeout,
            fast=self.fast,
            languages=self.languages,
            ocr=self.ocr,
            server=server_options(
                urls=self.urls,
                api_key=self.api_key,
                model=self.model,
                ca_file=self.ca_file,
                headers=self.headers,
                image_format=self.image_format,
                confidence=self.confidence,
            ),
            announce=announce,
        )
