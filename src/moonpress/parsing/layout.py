"""The layout HTML that Chandra models write, into blocks, also while it still streams.

Owns the tolerant parser: whatever the model writes, no visible text is dropped, every box lies in
the page, and what was wrong is recorded as a typed problem. Never talks to a model and never judges
whether the text is true.

The format (model card of Chandra-OCR-2): top-level ``div`` elements with
``data-bbox="x0 y0 x1 y1"`` in thousandths of the page (version 1: of 1024) and ``data-label``, with
plain HTML inside.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from moonpress.document import BBox, Block, BlockKind, Problem, ProblemCode
from moonpress.document.html import has_text, sanitise

_DIV = re.compile(r"<(/?)div\b([^<>]*)>", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"""data-(bbox|label)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE
)
# A whole block as it should be, without divs in it: nearly all are. Going from tag to tag instead
# costs half as much again.
_WELL_MADE = re.compile(
    r'\s*+<div data-bbox="(\d{1,4}) (\d{1,4}) (\d{1,4}) (\d{1,4})" data-label="([A-Za-z-]++)">'
    r"((?:[^<]++|<(?!/?[Dd][Ii][Vv]\b))*+)</div>"
)
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
_HEADING = re.compile(r"<h([1-6])\b", re.IGNORECASE)
_CUT_TAG = re.compile(r"<(?:/?[A-Za-z][^<>]*|/|!\S*)?$")
_OUTER_P = re.compile(r"^<p\b[^>]*>(.*)</p>$", re.IGNORECASE | re.DOTALL)

_WHOLE_PAGE = BBox(0.0, 0.0, 1.0, 1.0)
_HEADING_WITHOUT_TAG = 2

_KINDS = {
    "caption": BlockKind.CAPTION,
    "footnote": BlockKind.FOOTNOTE,
    "equationblock": BlockKind.FORMULA,
    "listgroup": BlockKind.LIST,
    "pageheader": BlockKind.PAGE_HEADER,
    "pagefooter": BlockKind.PAGE_FOOTER,
    "image": BlockKind.FIGURE,
    "figure": BlockKind.FIGURE,
    "sectionheader": BlockKind.HEADING,
    "table": BlockKind.TABLE,
    "text": BlockKind.TEXT,
    "complexblock": BlockKind.COMPLEX,
    "codeblock": BlockKind.CODE,
    "form": BlockKind.FORM,
    "tableofcontents": BlockKind.CONTENTS,
    "chemicalblock": BlockKind.CHEMISTRY,
    "diagram": BlockKind.DIAGRAM,
    "bibliography": BlockKind.BIBLIOGRAPHY,
    "blankpage": BlockKind.BLANK,
}
# These say something by standing there, even with nothing in them.
_MAY_BE_EMPTY = frozenset(
    {BlockKind.FIGURE, BlockKind.DIAGRAM, BlockKind.CHEMISTRY, BlockKind.BLANK}
)


@dataclass(slots=True)
class _Open:
    """A block whose end has not come yet."""

    attributes: str
    depth: int = 1


def parse_layout(text: str, *, page_number: int, scale: float) -> LayoutParser:
    """Parse a whole reply at once; the parser then has all ``blocks`` and ``problems``."""
    parser = LayoutParser(page_number=page_number, scale=scale)
    parser.feed(text)
    parser.close()
    return parser


class LayoutParser:
    """Turns the reply for one page into blocks as they close.

    Args:
        page_number: 1-based, for block ids.
        scale: What the model's box coordinates count up to: 1000, or 1024 for version 1.

    Attributes:
        blocks: All blocks so far, in the order in which they were written.
        problems: What was wrong so far.
        spans: For each block where its content stands in the reply, as ``(start, end)`` indexes.
    """

    def __init__(self, *, page_number: int, scale: float) -> None:
        self.blocks: list[Block] = []
        self.problems: list[Problem] = []
        self.spans: list[tuple[int, int]] = []
        self._page = page_number
        self._scale = scale
        self._buffer = ""
        self._scanned = 0
        self._dropped = 0
        self._open: _Open | None = None
        self._wrappers = 0

    def feed(self, chunk: str) -> list[Block]:
        """Take the next piece of the reply and return the blocks that it finished."""
        before = len(self.blocks)
        self._buffer += chunk
        if self._open is None:
            self._take_well_made()
        while tag := _DIV.search(self._buffer, self._scanned):
            if tag[1]:
                self._closing(tag)
            else:
                self._opening(tag)
            if self._open is None:
                self._take_well_made()
        # A tag may be cut at the end of this chunk: look at it again with the next one.
        start = self._buffer.rfind("<", self._scanned)
        cut = start >= 0 and ">" not in self._buffer[start:]
        self._scanned = start if cut else len(self._buffer)
        return self.blocks[before:]

    def close(self) -> list[Block]:
        """The reply has ended: return what was still open."""
        before = len(self.blocks)
        if self._open is None:
            self._take_outside(len(self._buffer))
        else:
            rest = _CUT_TAG.sub("", self._buffer)
            block = self._finish(self._open.attributes, rest)
            self._note(ProblemCode.BLOCK_UNCLOSED, "the reply ends inside this block", block)
        self._drop(len(self._buffer))
        self._open = None
        return self.blocks[before:]

    def _take_well_made(self) -> None:
        """Take the blocks at the beginning of the buffer that are as they should be."""
        end = 0
        while found := _WELL_MADE.match(self._buffer, end):
            left, top, right, bottom, label, inner = found.groups()
            box = BBox(
                int(left) / self._scale,
                int(top) / self._scale,
                int(right) / self._scale,
                int(bottom) / self._scale,
            )
            in_page = box.x0 <= box.x1 <= 1.0 and box.y0 <= box.y1 <= 1.0
            if not in_page or _kind_of(label) is None:
                # The long way knows what to say of it.
                break
            end = found.end()
            self._keep(label, box, inner, self._dropped + found.start(6))
        if end:
            self._drop(end)

    def _opening(self, tag: re.Match[str]) -> None:
        has_attributes = _ATTRIBUTE.search(tag[2]) is not None
        if self._open is not None and not has_attributes:
            self._open.depth += 1
            self._scanned = tag.end()
            return
        if self._open is None:
            self._take_outside(tag.start())
        else:
            # A block inside a block, or one that was never closed: both become blocks in a row.
            self._wrappers += self._open.depth
            block = self._finish(self._open.attributes, self._buffer[: tag.start()])
            message = "the next block began before this one was closed"
            if block is not None:
                self._note(ProblemCode.BLOCK_UNCLOSED, message, block)
        self._drop(tag.end())
        self._open = _Open(tag[2])

    def _closing(self, tag: re.Match[str]) -> None:
        if self._open is None:
            self._take_outside(tag.start())
            if self._wrappers:
                self._wrappers -= 1
            else:
                self._note(ProblemCode.STRAY_TAG, "a block was closed that was never opened", None)
            self._drop(tag.end())
            return
        self._open.depth -= 1
        self._scanned = tag.end()
        if self._open.depth == 0:
            attributes, self._open = self._open.attributes, None
            self._finish(attributes, self._buffer[: tag.start()])
            self._drop(tag.end())

    def _drop(self, end: int) -> None:
        self._dropped += end
        self._buffer = self._buffer[end:]
        self._scanned = 0

    def _take_outside(self, end: int) -> None:
        """Text between blocks is kept as a block of its own."""
        text = self._buffer[:end]
        if not text.strip():
            return
        html = sanitise(_CUT_TAG.sub("", text).strip())
        if not has_text(html):
            return
        block = self._add(BlockKind.TEXT, _WHOLE_PAGE, html, None)
        self.spans.append((self._dropped, self._dropped + end))
        self._note(ProblemCode.TEXT_OUTSIDE_BLOCK, "text stands outside every block", block)

    def _finish(self, attributes: str, inner: str) -> Block | None:
        found = {
            match[1].lower(): match[2] or match[3] or match[4] or ""
            for match in _ATTRIBUTE.finditer(attributes)
        }
        box, complaint = _box(found.get("bbox"), self._scale)
        label = found.get("label", "")
        block = self._keep(label, box, inner, self._dropped)
        if block is not None and complaint is not None:
            self._note(*complaint, block)
        if block is not None and _kind_of(label) is None:
            self._note(ProblemCode.LABEL_UNKNOWN, f"the block's label is {label!r}", block)
        return block

    def _keep(self, label: str, box: BBox, inner: str, start: int) -> Block | None:
        """The block whose content stands at ``start`` of the reply, unless it says nothing."""
        kind = _kind_of(label)
        html = sanitise(inner.strip())
        if not has_text(html) and "<i" not in html and kind not in _MAY_BE_EMPTY:
            return None
        level = None
        if kind is BlockKind.HEADING:
            html, level = _as_heading(html)
        block = self._add(kind or BlockKind.TEXT, box, html, level)
        self.spans.append((start, start + len(inner)))
        return block

    def _add(self, kind: BlockKind, box: BBox, html: str, level: int | None) -> Block:
        identity = f"p{self._page}-b{len(self.blocks) + 1}"
        block = Block(id=identity, kind=kind, bbox=box, html=html, level=level)
        self.blocks.append(block)
        return block

    def _note(self, code: ProblemCode, message: str, block: Block | None) -> None:
        self.problems.append(Problem(code, message, None if block is None else block.id))


@lru_cache(maxsize=256)
def _kind_of(label: str) -> BlockKind | None:
    """The kind that a label means, however it is spelt."""
    return _KINDS.get(re.sub(r"[^a-z]", "", label.lower()))


def _box(raw: str | None, scale: float) -> tuple[BBox, tuple[ProblemCode, str] | None]:
    """The box that the model meant, and what was wrong with how it wrote it."""
    numbers = list(map(float, _NUMBER.findall(raw or "")))
    if len(numbers) != 4:
        what = "has no box" if raw is None else f"has the box {raw!r}"
        code = ProblemCode.BOX_MISSING if raw is None else ProblemCode.BOX_MALFORMED
        return _WHOLE_PAGE, (code, f"the block {what}; the whole page is given instead")
    x0, y0, x1, y1 = (n / scale for n in numbers)
    if 0.0 <= x0 <= x1 <= 1.0 and 0.0 <= y0 <= y1 <= 1.0:
        return BBox(x0, y0, x1, y1), None
    box = BBox.ordered(x0, y0, x1, y1)
    if not all(0.0 <= n <= 1.0 for n in (x0, y0, x1, y1)):
        return box, (ProblemCode.BOX_MALFORMED, f"the box {raw!r} reaches beyond the page")
    return box, (ProblemCode.BOX_MALFORMED, f"the corners of the box {raw!r} are swapped")


def _as_heading(html: str) -> tuple[str, int]:
    """Heading HTML and its level; a heading that the model wrote without a tag gets one."""
    tag = _HEADING.search(html)
    if tag is not None:
        return html, int(tag[1])
    bare = _OUTER_P.sub(r"\1", html)
    if "<p" in bare:
        bare = html
    return f"<h{_HEADING_WITHOUT_TAG}>{bare}</h{_HEADING_WITHOUT_TAG}>", _HEADING_WITHOUT_TAG
