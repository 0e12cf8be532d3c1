"""Engines by name.

Owns the lookup among the ``moonpress.engines`` entry points (ours and third parties') and the
options that entry points may be given. Never decides which engine is best.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points

from moonpress.engines.base import Engine
from moonpress.errors import UnknownName

GROUP = "moonpress.engines"
# A dense page takes seconds on a busy core; this is for pages that never end.
READING_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Choices that a user makes about an engine; each engine ignores what does not concern it.

    Attributes:
        workers: Pages in flight; ``None`` lets the engine choose.
        page_timeout: Seconds that reading one page may take.
        fast: Prefer speed over accuracy.
        languages: Tesseract names of languages, such as ``("ara", "hin")``, for pages in scripts
            that the built-in recogniser lacks.
        ocr: ``auto`` uses a text layer where it can be trusted, ``always`` never, ``never`` always.
    """

    workers: int | None = None
    page_timeout: float = READING_SECONDS
    fast: bool = False
    languages: tuple[str, ...] = ()
    ocr: str = "auto"


def engine_names() -> tuple[str, ...]:
    """Names of all installed engines, sorted."""
    return tuple(sorted({entry.name for entry in entry_points(group=GROUP)}))


def create_engine(name: str, options: EngineOptions) -> Engine:
    """Make the engine called ``name``.

    Raises:
        UnknownName: no engine has this name.
        EngineUnavailable: it is known and cannot run here.
    """
    for entry in entry_points(group=GROUP, name=name):
        factory: Callable[[EngineOptions], Engine] = entry.load()
        return factory(options)
    raise UnknownName(
        f"no engine is called {name!r}", hint=f"Choose among {', '.join(engine_names())}"
    )
