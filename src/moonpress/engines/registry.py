"""Engines by name.

Owns the lookup among the ``moonpress.engines`` entry points (ours and third parties') and the
options that entry points may be given. Never decides which engine is best.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points

from moonpress.engines.base import Engine
from moonpress.errors import EngineUnavailable, UnknownName

GROUP = "moonpress.engines"


def _say_nothing(_line: str) -> None:
    return


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """Choices about servers that read pages, for engines that use one.

    ``model`` and ``confidence`` also count for engines that run a model themselves.

    Attributes:
        urls: Addresses, such as ``http://host:8000/v1``; several are used at once.
        api_key: Sent as a bearer token.
        model: Name of the model; the server's own when left out.
        ca_file: PEM file of the authority that signed the servers' certificates.
        headers: ``Name: value``, sent with every request.
        image_format: ``png``, ``jpeg`` or ``webp``; the engine's choice when left out.
        confidence: Ask for probabilities, from which each block gets its confidence.
    """

    urls: tuple[str, ...] = ()
    api_key: str | None = None
    model: str | None = None
    ca_file: str | None = None
    headers: tuple[str, ...] = ()
    image_format: str | None = None
    confidence: bool = True


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Choices that a user makes about an engine; each engine ignores what does not concern it.

    Attributes:
        workers: Pages in flight; ``None`` lets the engine choose.
        page_timeout: Seconds that reading one page may take; ``None`` for the engine's own.
        fast: Prefer speed over accuracy.
        languages: Tesseract names of languages, such as ``("ara", "hin")``, for pages in scripts
            that the built-in recogniser lacks.
        ocr: ``auto`` uses a text layer where it can be trusted, ``always`` never, ``never`` always.
        server: About servers.
        batch_size: Pages that a model on this machine writes together.
        announce: Told in one line what an engine that chooses has chosen.
    """

    workers: int | None = None
    page_timeout: float | None = None
    fast: bool = False
    languages: tuple[str, ...] = ()
    ocr: str = "auto"
    server: ServerOptions = field(default_factory=ServerOptions)
    batch_size: int | None = None
    announce: Callable[[str], None] = _say_nothing


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
        return _load(entry)(options)
    raise UnknownName(
        f"no engine is called {name!r}", hint=f"Choose among {', '.join(engine_names())}"
    )


def _load(entry: EntryPoint) -> Callable[[EngineOptions], Engine]:
    """The engine's factory; what it stands on may be an extra that is not installed."""
    try:
        factory: Callable[[EngineOptions], Engine] = entry.load()
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if missing.partition(".")[0] == entry.module.partition(".")[0]:
            raise
        message = f"the engine {entry.name} needs the package {missing}, which is not installed"
        ours = entry.module.startswith("moonpress.")
        hint = f"Run pip install 'moonpress[{entry.name}]'" if ours else None
        raise EngineUnavailable(message, hint=hint) from error
    return factory
