"""What a start of the page decides.

Owns the plain types that the command line fills in. Never reads options or variables itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from moonpress.engines.registry import EngineOptions

SERVICE_ENGINE = "chandra-serve"


@dataclass(frozen=True, slots=True)
class RemoteService:
    """A ``chandra-serve`` that reads in place of this machine.

    Attributes:
        url: Its address without path, such as ``http://gpu1:8080``.
        api_key: Sent as a bearer token.
    """

    url: str
    api_key: str | None = None


@dataclass(frozen=True, slots=True)
class UiSettings:
    """One start of the page.

    Attributes:
        engine: Who reads unless the person chooses another.
        options: For all engines of this machine.
        service: Who else can read.
        runs: Folders of batch runs that may be looked into.
        upload_mib: The largest file that is taken.
        kept_papers: How many documents stay open; the one not looked at longest is closed.
    """

    engine: str
    options: EngineOptions
    service: RemoteService | None = None
    runs: tuple[Path, ...] = ()
    upload_mib: int = 256
    kept_papers: int = 64
