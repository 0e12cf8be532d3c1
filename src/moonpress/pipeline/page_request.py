"""How pages are to be drawn for an engine.

Owns the default resolution and the bound of a page picture. Never draws.
"""

from __future__ import annotations

from moonpress.engines.base import Engine, picture_encoder, preferred_dpi
from moonpress.sources.base import RenderRequest

_DEFAULT_DPI = 200.0
# About A3 at 200 dpi; larger pages are scaled down to it.
_MAX_PIXELS = 8_000_000


def request_for(engine: Engine, *, dpi: float | None, max_image_width: int | None) -> RenderRequest:
    """The request for pages that ``engine`` reads; it must have been prepared.

    Args:
        engine: Who reads them.
        dpi: The caller's resolution; ``None`` for the engine's own.
        max_image_width: The caller's bound in pixels, if any.
    """
    return RenderRequest(
        dpi=dpi or preferred_dpi(engine) or _DEFAULT_DPI,
        max_pixels=_MAX_PIXELS,
        max_image_width=max_image_width,
        encoder=picture_encoder(engine),
    )
