"""PDF files written by hand, with every entry under the test's control.

Owns the syntax around pages. For pages of real text see `tests.generators`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

FONT, BOLD, MONO = "F1", "F2", "F3"
_FIRST_PAGE = 10


@dataclass(frozen=True, slots=True)
class RawPage:
    """One page: its content stream and the entries of its dictionary.

    ``entries`` overrides the media box of US Letter where it has one of its own; ``xobjects`` and
    ``annotations`` are numbers of objects given to `raw_pdf`.
    """

    content: str = ""
    entries: str = ""
    xobjects: Mapping[str, int] = field(default_factory=dict)
    annotations: tuple[int, ...] = ()


def raw_pdf(
    *pages: RawPage,
    objects: Mapping[int, bytes | str] | None = None,
    catalog: str = "",
    info: str = "",
) -> bytes:
    """The bytes of a file; ``objects`` have numbers from 100."""
    numbers = [_FIRST_PAGE + 2 * index for index in range(len(pages))]
    kids = " ".join(f"{number} 0 R" for number in numbers)
    bodies: dict[int, bytes] = {
        1: f"<< /Type /Catalog /Pages 2 0 R {catalog} >>".encode(),
        2: f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        3: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        4: b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-BoldOblique >>",
        5: b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>",
        6: f"<< {info} >>".encode("latin-1"),
    }
    for number, page in zip(numbers, pages, strict=True):
        bodies[number] = _page(page, number + 1).encode()
        bodies[number + 1] = stream(page.content.encode("latin-1"))
    for number, body in (objects or {}).items():
        bodies[number] = body.encode("latin-1") if isinstance(body, str) else body
    return _file(bodies)


def stream(data: bytes, entries: str = "") -> bytes:
    """A stream object."""
    return f"<< /Length {len(data)} {entries} >>\nstream\n".encode() + data + b"\nendstream"


def form(content: str, entries: str = "") -> bytes:
    """A form XObject over the whole page."""
    fonts = "/Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R >>"
    resources = entries if "/Resources" in entries else f"{entries} /Resources << {fonts} >>"
    box = "" if "/BBox" in entries else "/BBox [0 0 1000 1000]"
    return stream(content.encode(), f"/Type /XObject /Subtype /Form {box} {resources}")


def picture(width: int, height: int, rgb: bytes) -> bytes:
    """An image XObject of one colour."""
    entries = (
        f"/Type /XObject /Subtype /Image /Width {width} /Height {height} "
        "/ColorSpace /DeviceRGB /BitsPerComponent 8"
    )
    return stream(rgb * (width * height), entries)


def text(at: tuple[float, float], words: str, *, size: float = 12, font: str = FONT) -> str:
    """Operators that print ``words`` with the baseline beginning at a point."""
    return f"BT /{font} {size} Tf {at[0]} {at[1]} Td ({words}) Tj ET\n"


def _page(page: RawPage, content: int) -> str:
    box = "" if "/MediaBox" in page.entries else "/MediaBox [0 0 612 792]"
    xobjects = " ".join(f"/{name} {number} 0 R" for name, number in page.xobjects.items())
    annotations = " ".join(f"{number} 0 R" for number in page.annotations)
    return (
        f"<< /Type /Page /Parent 2 0 R {box} {page.entries} /Contents {content} 0 R "
        f"/Annots [{annotations}] /Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R >> "
        f"/XObject << {xobjects} >> >> >>"
    )


def _file(bodies: Mapping[int, bytes]) -> bytes:
    out = b"%PDF-1.7\n"
    table = [b"0000000000 65535 f \n"]
    for number in range(1, max(bodies) + 1):
        if number not in bodies:
            table.append(b"0000000000 00000 f \n")
            continue
        table.append(f"{len(out):010d} 00000 n \n".encode())
        out += f"{number} 0 obj\n".encode() + bodies[number] + b"\nendobj\n"
    trailer = f"trailer\n<< /Size {len(table)} /Root 1 0 R /Info 6 0 R >>\nstartxref\n{len(out)}\n"
    return out + f"xref\n0 {len(table)}\n".encode() + b"".join(table) + f"{trailer}%%EOF\n".encode()
