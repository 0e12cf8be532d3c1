"""The HTML output: one file that shows the document and says where on the page everything stood.

Owns the page's structure, attributes and style. No scripts, nothing fetched from elsewhere; figures
are relative links. Never writes files.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import PurePath
from typing import Final

import lxml.etree
import lxml.html
from lxml.html import HtmlElement

from moonpress.document import BBox, Block, BlockKind, Document, Metadata, Page, RenderOptions
from moonpress.document.html import clean_text, inner_html, tag_of
from moonpress.outputs.continued import PART
from moonpress.outputs.html_style import STYLE
from moonpress.outputs.latex import bare_latex
from moonpress.outputs.mathml import Formulas
from moonpress.outputs.pages import Shown, block_tree, needs_picture, shown_pages, shown_tree

# Even if markup slipped through, a browser would run and fetch nothing but pictures.
_POLICY: Final = "default-src 'none'; img-src * data:; style-src 'unsafe-inline'"
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_FORMULA_MARK: Final = re.compile(r"<!--formula-(\d+)-->")
_WRAPPERS: Final = {
    BlockKind.FIGURE: "figure",
    BlockKind.DIAGRAM: "figure",
    BlockKind.CHEMISTRY: "figure",
    BlockKind.FOOTNOTE: "aside",
    BlockKind.PAGE_HEADER: "header",
    BlockKind.PAGE_FOOTER: "footer",
    BlockKind.CONTENTS: "nav",
}


@dataclass(frozen=True, slots=True)
class HtmlOutput:
    """Renders documents as one standalone HTML file."""

    name: str = "html"
    suffix: str = ".html"

    def render(self, document: Document, options: RenderOptions) -> str:
        """The whole document."""
        formulas = Formulas()
        # The name alone: a page that is passed on need not say where the file lay.
        title = _text(document.metadata.title or PurePath(document.source).name)
        pages = "\n".join(
            _page(page, shown, options, formulas) for page, shown in shown_pages(document, options)
        )
        return (
            "<!DOCTYPE html>\n<html>\n<head>\n"
            '<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
            f'<header class="document"><p class="title">{title}</p>{_summary(document)}</header>\n'
            f"<main>\n{pages}\n</main>\n</body>\n</html>\n"
        )


def blocks_html(page: Page, options: RenderOptions) -> str:
    """The blocks of one page alone, marked up as in the whole file; what goes on stands apart."""
    alone = Document("", "", (page,), Metadata(page_count=1, media_type=""))
    formulas = Formulas()
    return "\n".join(
        _block(shown, page, options, formulas)
        for _, all_shown in shown_pages(alone, options)
        for shown in all_shown
    )


def _summary(document: Document) -> str:
    meta = document.metadata
    words = f"{len(document.pages)} of {meta.page_count} pages"
    if meta.engine:
        words += f", read by {meta.engine}"
    failed = document.failed_pages
    warning = ""
    if failed:
        links = ", ".join(f'<a href="#p{n}">{n}</a>' for n in failed)
        warning = f'<p class="failed">Not read: page {links}</p>'
    return f"<p>{_text(words)}</p>{warning}"


def _page(
    page: Page, blocks_shown: Sequence[Shown], options: RenderOptions, formulas: Formulas
) -> str:
    size = page.size
    measures = ""
    if size is not None:
        measures = (
            f' data-width-pt="{_number(size.width_pt)}" data-height-pt="{_number(size.height_pt)}"'
            f' data-width-px="{size.width_px}" data-height-px="{size.height_px}"'
        )
    problems = "".join(
        f"<li><code>{_text(p.code)}</code> {_text(p.message)}</li>" for p in page.problems
    )
    blocks = [_block(shown, page, options, formulas) for shown in blocks_shown]
    status = "" if page.status == "ok" else f" ({_text(page.status)})"
    return (
        f'<section class="page" id="p{page.number}" data-page="{page.number}"'
        f' data-status="{_text(page.status)}" data-rotation="{page.rotation}"{measures}>\n'
        f'<p class="page-label">Page {page.number}{status}</p>\n'
        + (f'<ul class="problems">{problems}</ul>\n' if problems else "")
        + "\n".join([*blocks, "</section>"])
    )


def _block(shown: Shown, page: Page, options: RenderOptions, formulas: Formulas) -> str:
    block = shown.block
    wrapper = _WRAPPERS.get(block.kind, "div")
    root = shown_tree(shown)
    _place_parts(root, shown)
    if needs_picture(block):
        _show_crop(root, options.figures.get(block.id), shown.caption_text)
    inside = _inside(root, block, formulas)
    captions = "".join(
        f"\n<figcaption{_attributes(c, page)}>{_inside(block_tree(c), c, formulas)}</figcaption>"
        for c in shown.captions
    )
    return f"<{wrapper}{_attributes(block, page)}>{inside}{captions}</{wrapper}>"


def _place_parts(root: HtmlElement, shown: Shown) -> None:
    """Say of what came from later pages where it stood; its first element has the block's id."""
    pages = {block.id: (block, page) for block, page in shown.parts}
    named: set[str] = set()
    for element in root.iter():
        block, page = pages.get(element.get(PART, ""), (None, None))
        if block is None or page is None:
            continue
        element.set("data-page", str(page.number))
        element.set("data-bbox", _box(block.bbox))
        if block.id not in named:
            named.add(block.id)
            element.set("id", block.id)


def _attributes(block: Block, page: Page) -> str:
    values = {
        "id": block.id,
        "class": "block",
        "dir": "auto",
        "data-kind": block.kind,
        "data-page": str(page.number),
        "data-bbox": _box(block.bbox),
        "data-origin": block.origin,
    }
    if block.confidence is not None:
        values["data-confidence"] = _number(block.confidence)
    if block.caption_for is not None:
        values["data-caption-for"] = block.caption_for
    return "".join(f' {name}="{_text(value)}"' for name, value in values.items())


def _show_crop(root: HtmlElement, link: str | None, caption: str) -> None:
    """Give the first picture of the block its crop, making one where there is none."""
    pictures: list[HtmlElement] = [e for e in root.iter() if tag_of(e) == "img"]
    if link is None:
        for picture in pictures:
            # A picture that leads nowhere is shown as broken: keep its description.
            words = lxml.html.Element("p")
            words.set("class", "description")
            words.text = picture.get("alt", "")
            words.tail = picture.tail
            picture.getparent().replace(picture, words)
        return
    if not pictures:
        picture = lxml.html.Element("img", alt=caption)
        picture.tail, root.text = root.text, None
        root.insert(0, picture)
        pictures = [picture]
    pictures[0].set("src", link)


def _inside(root: HtmlElement, block: Block, formulas: Formulas) -> str:
    """The block's own HTML with formulas as MathML and headings at their level."""
    made: list[str] = []
    for element in list(root.iter()):
        tag = tag_of(element)
        if tag in _HEADINGS and block.kind is BlockKind.HEADING and block.level:
            element.tag = f"h{min(max(block.level, 1), 6)}"
        elif tag == "math":
            mark = lxml.etree.Comment(f"formula-{len(made)}")
            made.append(_formula(element, formulas))
            mark.tail = element.tail
            element.getparent().replace(element, mark)
        elif tag == "chem":
            element.tag = "code"
            element.set("class", "chem")
        elif tag in {"input", "textarea", "select"}:
            element.set("disabled", "")
        elif tag == "a":
            element.set("rel", "noopener noreferrer")
    return _FORMULA_MARK.sub(lambda mark: made[int(mark[1])], inner_html(root))


def _formula(element: HtmlElement, formulas: Formulas) -> str:
    """MathML, or where that fails the LaTeX in a ``span`` that KaTeX can be pointed at."""
    latex = element.text_content()
    display = element.get("display") == "block"
    mathml = formulas.mathml(latex, display=display)
    if mathml is not None:
        return mathml
    source = escape(bare_latex(latex))
    kind = "math display" if display else "math"
    return f'<span class="{kind}" data-latex="{source}">{source}</span>'


def _box(box: BBox) -> str:
    return " ".join(_number(value) for value in (box.x0, box.y0, box.x1, box.y1))


def _number(value: float) -> str:
    return f"{value:.5f}".rstrip("0").rstrip(".")


def _text(text: str) -> str:
    return escape(clean_text(text))


OUTPUT = HtmlOutput()
