"""Every kind of generated page by name, and the scans that are measured.

Owns the list; harness and tests go through it, so that a new kind is measured at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.generators import formulas, prose, structures, tables
from tests.generators.page import GeneratedPage
from tests.generators.scans import as_scan, image_only_pdf, mixed


@dataclass(frozen=True, slots=True)
class Sample:
    """One file to read, and the page whose truth it has.

    Attributes:
        name: Unique, fit for a file name.
        group: What is measured together: ``digital``, ``scan``, ``worn``, ``turned``, ``mixed``.
        suffix: ``.pdf``, ``.png`` or ``.jpg``.
        data: The file.
        page: The truth.
    """

    name: str
    group: str
    suffix: str
    data: bytes
    page: GeneratedPage


def prose_pages() -> tuple[GeneratedPage, ...]:
    """Latin pages of running text and structures."""
    return (
        prose.one_column(),
        prose.ragged(),
        prose.columns(2),
        prose.columns(3),
        prose.headings(),
        prose.header_footer(),
        prose.footnotes(),
        structures.lists(),
        structures.code(),
        structures.figure(),
        structures.form(),
        formulas.displayed(),
        formulas.inline(),
    )


def chinese_pages() -> tuple[GeneratedPage, ...]:
    """Chinese pages of running text, the last with Latin words between."""
    return (prose.chinese(), prose.chinese_columns(), prose.chinese_latin())


def table_pages() -> tuple[GeneratedPage, ...]:
    """All pages with tables."""
    return (*tables.simple_tables(), *tables.spanned_tables(), *tables.long_cell_tables())


def all_pages() -> tuple[GeneratedPage, ...]:
    """Every kind of page once, or a few times where variants matter."""
    return (*prose_pages(), *chinese_pages(), *table_pages())


def samples() -> tuple[Sample, ...]:
    """The files that the accuracy harness reads, about seventy."""
    found = [Sample(p.name, "digital", ".pdf", p.pdf, p) for p in all_pages()]
    scanned = (*prose_pages()[:7], *chinese_pages(), *table_pages())
    found.extend(_scan(page, "scan", ".png", as_scan(page, 200)) for page in scanned)
    for seed, page in enumerate((*prose_pages()[:4], *chinese_pages()[:2])):
        data = as_scan(page, 130, degrade=True, skew=(-1) ** seed * 0.8, seed=seed, codec="jpeg")
        found.append(_scan(page, "worn", ".jpg", data))
    upright = (prose.one_column(), prose.columns(2), tables.simple_tables()[0])
    for page in upright:
        for angle in (90, 180, 270):
            data = as_scan(page, 150, rotate=angle, codec="jpeg")
            found.append(_scan(page, f"turned-{angle}", ".jpg", data))
        for skew in (-3.0, 3.0):
            data = as_scan(page, 150, skew=skew, codec="jpeg")
            found.append(_scan(page, f"skewed{skew:+.0f}", ".jpg", data))
    column = prose.columns(2)
    found.append(_scan(column, "image-only", ".pdf", image_only_pdf(as_scan(column, 200))))
    found.append(_scan(column, "mixed", ".pdf", mixed(column)))
    return tuple(found)


def _scan(page: GeneratedPage, group: str, suffix: str, data: bytes) -> Sample:
    return Sample(f"{page.name}.{group}", group, suffix, data, page)
