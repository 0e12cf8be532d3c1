"""PDF files of a few lines of text, written by hand.

Owns the smallest file that a reader accepts without repair. For pages with structure see
`tests.generators`.
"""

from __future__ import annotations

from collections.abc import Sequence


def small_pdf(page_count: int) -> bytes:
    """A PDF whose page N says "Leaf N has words." in the middle."""
    first_page = 4
    kids = " ".join(f"{first_page + 2 * index} 0 R" for index in range(page_count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {page_count} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for index in range(page_count):
        drawing = f"BT /F1 24 Tf 72 400 Td (Leaf {index + 1} has words.) Tj ET"
        content = first_page + 2 * index + 1
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(drawing)} >>\nstream\n{drawing}\nendstream")
    return _file(objects)


def endless_pdf() -> bytes:
    """Two pages; the first calls a form that calls another twice, 40 deep: 2**40 drawings."""
    depth, first_form = 40, 6
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 /MediaBox [0 0 200 200] >>",
        "<< /Type /Page /Parent 2 0 R /Contents 5 0 R "
        f"/Resources << /XObject << /F {first_form} 0 R >> >> >>",
        "<< /Type /Page /Parent 2 0 R >>",
        "<< /Length 5 >>\nstream\n/F Do\nendstream",
    ]
    form = "<< /Type /XObject /Subtype /Form /BBox [0 0 200 200] /Length {} {} >>"
    for number in range(first_form + 1, first_form + depth):
        resources = f"/Resources << /XObject << /F {number} 0 R >> >>"
        objects.append(f"{form.format(11, resources)}\nstream\n/F Do /F Do\nendstream")
    objects.append(f"{form.format(11, '')}\nstream\n0 0 9 9 re f\nendstream")
    return _file(objects)


def _file(objects: Sequence[str]) -> bytes:
    body = "%PDF-1.4\n"
    offsets = []
    for number, text in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{text}\nendobj\n"
    table = "".join(f"{offset:010d} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    return f"{body}xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode()
