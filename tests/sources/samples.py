"""Small inputs that several tests need.

Owns making them; each is made anew. Never reads files.
"""

from __future__ import annotations

import io

from PIL import Image
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen import canvas

from moonpress.document import PageImage
from moonpress.sources.base import RenderRequest
from moonpress.sources.open import open_source

REQUEST = RenderRequest(dpi=72, max_pixels=8_000_000)


def png(size: tuple[int, int] = (20, 10), colour: str = "red") -> bytes:
    """A picture of one colour."""
    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, "PNG")
    return file.getvalue()


def encrypted_pdf(password: str) -> bytes:
    """One page that only a password opens."""
    file = io.BytesIO()
    page = canvas.Canvas(file, encrypt=StandardEncryption(password, strength=128))
    page.drawString(72, 700, "Secret")
    page.save()
    return file.getvalue()


def draw(data: bytes, number: int = 1, request: RenderRequest = REQUEST) -> PageImage:
    """One page of a file."""
    source = open_source(data, name="it", password=None)
    try:
        return source.page(number, request)
    finally:
        source.close()
