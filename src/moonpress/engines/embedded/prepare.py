"""From a drawn page to an upright page with lines of text: the first stage of the embedded engine.

Owns the decision between text layer and OCR, for each page and for pictures on it. Never finds
blocks or reading order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from moonpress.document import PageImage, Problem, ProblemCode, TextLayer, TextOrigin
from moonpress.engines.blank import is_blank
from moonpress.engines.embedded.glyphs import Floats
from moonpress.engines.embedded.initials import find_initials
from moonpress.engines.embedded.mending import fill_holes
from moonpress.engines.embedded.ocr import Recogniser
from moonpress.engines.embedded.recognition import Reading
from moonpress.engines.embedded.scan import Pixels, Scan, ScanReader
from moonpress.engines.embedded.scripts import settle_scripts
from moonpress.engines.embedded.settings import EmbeddedSettings
from moonpress.engines.embedded.tesseract import Tesseract
from moonpress.engines.embedded.text_lines import lines_of_layer
from moonpress.engines.embedded.trust import compare
from moonpress.engines.embedded.turning import turn_boxes, turn_pixels
from moonpress.engines.embedded.types import Box, Line, Turn, UprightPage
from moonpress.engines.text_trust import Judgement, Trust, judge

_PICTURE_SHARE = 0.12  # of the page, from which a picture may hold text worth reading
_PAGE_SHARE = 0.6  # from which a picture is the page
_COVERED = 0.015  # share of a picture under characters from which its text is in the layer
_LEAST_INK = 20  # contrast of 255 that the faintest text has
_FEW = 3  # lines; a picture with fewer is a figure with a label or two
_LEGIBLE = 0.8  # confidence of lines in pictures that are taken over
_DOUBTFUL = 0.9  # mean confidence of a page below which its reader is warned


class TextStage:
    """Prepares pages; loads its models on first need and keeps them for the process.

    Args:
        settings: What the user chose.
    """

    def __init__(self, settings: EmbeddedSettings) -> None:
        self._settings = settings
        self._recogniser = Recogniser(fast=settings.fast, threads=settings.threads)
        self._scans = ScanReader(self._recogniser, settings.threads)
        self._tesseract = (
            Tesseract(settings.languages, settings.threads) if settings.languages else None
        )

    def prepare(self, image: PageImage) -> UprightPage:
        """Turn ``image`` upright and find its lines of text."""
        layer = image.text_layer if self._settings.ocr != "always" else None
        if layer is not None and not layer.text.strip():
            layer = None
        if layer is None and is_blank(image.pixels):
            drawn = _Drawn.of(image, 0)
            return drawn.page(image, (), TextOrigin.OCR, blank=True)
        if layer is None:
            never = self._settings.ocr == "never"
            return self._unread(image) if never else self._read_scan(image, ())
        return self._read_layer(image, layer)

    def _read_layer(self, image: PageImage, layer: TextLayer) -> UprightPage:
        drawn = _Drawn.of(image, _quarter_of(layer))
        lines = drawn.lines(image, layer)
        if self._settings.ocr == "never":
            return drawn.page(image, lines, TextOrigin.TEXT_LAYER)
        lines = tuple(line for line in lines if _shows(drawn.pixels, line.box))
        share = max((p.area for p in image.pictures), default=0.0)
        judgement = judge(layer, share)
        if judgement.trust is Trust.BAD:
            return self._read_scan(image, (_distrusted(judgement),))
        if judgement.trust is Trust.DOUBTFUL:
            compared = compare(lines, judgement, self._reader_of(drawn))
            if not compared.agrees:
                return self._read_scan(image, (_distrusted(judgement),))
            if judgement.hidden and share >= _PAGE_SHARE and compared.legible and self._best:
                return self._read_scan(image, ())
        return self._with_pictures(image, drawn, fill_holes(lines, self._reader_of(drawn)))

    @property
    def _best(self) -> bool:
        """Whether pages are read here at least as well as by those who made most OCR layers.

        They misplace words and lose some, though a few lines agree. The small networks do better,
        the tiny ones do not, and nothing is known of a tesseract pack.
        """
        return not self._settings.fast and self._tesseract is None

    def _reader_of(self, drawn: _Drawn) -> Callable[[Sequence[Line]], list[Reading]]:
        """What reads the places of some lines in the page's picture."""

        def read(chosen: Sequence[Line]) -> list[Reading]:
            return self._recogniser.texts([_crop(drawn.pixels, x.box, 0.12) for x in chosen])

        return read

    def _with_pictures(
        self, image: PageImage, drawn: _Drawn, lines: tuple[Line, ...]
    ) -> UprightPage:
        """Read what pictures on a page with a good text layer hold, where the layer has nothing."""
        found: list[Line] = []
        for picture in drawn.pictures:
            share = picture.area / (drawn.width * drawn.height)
            text = sum(line.box.overlap(picture) for line in lines)
            if share < _PICTURE_SHARE or text > _COVERED * picture.area:
                continue
            if share >= _PAGE_SHARE and not drawn.quarter:
                return self._read_scan(image, (), drawn, lines)
            found.extend(self._read_picture(drawn, picture))
        fresh = _without_doubles(found, lines)
        origin = TextOrigin.MIXED if fresh else TextOrigin.TEXT_LAYER
        return drawn.page(image, lines + fresh, origin)

    def _read_picture(self, drawn: _Drawn, picture: Box) -> tuple[Line, ...]:
        crop = _crop(drawn.pixels, picture, 0.0)
        boxes = self._recogniser.find(crop)
        long = [b for b in boxes if b.size[0] > 5 * b.size[1]]
        if len(long) < _FEW:
            return ()
        left, top = max(picture.x0, 0.0), max(picture.y0, 0.0)
        read = settle_scripts(self._recogniser.read_boxes(crop, boxes))
        return tuple(_moved(x, left, top) for x in read if x.confidence >= _LEGIBLE)

    def _read_scan(
        self,
        image: PageImage,
        problems: tuple[Problem, ...],
        drawn: _Drawn | None = None,
        known: tuple[Line, ...] = (),
    ) -> UprightPage:
        """Read a page from its pixels; ``known`` are lines of a text layer to keep."""
        scan, noticed = self._scan(image.pixels)
        lines = settle_scripts(scan.lines)
        origin = TextOrigin.OCR
        if drawn is not None and scan.turn == Turn():
            lines, origin = known + _without_doubles(lines, known), TextOrigin.MIXED
        straight = _Drawn.of(image, scan.turn.quarter)
        return UprightPage(
            pixels=scan.pixels,
            page_size=image.size,
            lines=lines,
            # Skew moves lines off their places: pixels have to be asked for them.
            rulings=() if scan.turn.skew else straight.rulings,
            pictures=() if scan.turn.skew else straight.pictures,
            turn=scan.turn,
            origin=origin,
            problems=problems + noticed,
        )

    def _scan(self, pixels: Pixels) -> tuple[Scan, tuple[Problem, ...]]:
        if self._tesseract is not None and self._tesseract.problem is None:
            scan = self._scans.upright(pixels)
            return replace(scan, lines=self._tesseract.read(scan.pixels)), ()
        scan = self._scans.read(pixels)
        initials = find_initials(scan.pixels, scan.lines, self._recogniser.texts)
        scan = replace(scan, lines=scan.lines + initials)
        if self._tesseract is not None and self._tesseract.problem is not None:
            return scan, (self._tesseract.problem,)
        return scan, _doubts(scan.lines)

    def _unread(self, image: PageImage) -> UprightPage:
        return _Drawn.of(image, 0).page(image, (), TextOrigin.TEXT_LAYER)


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """A page picture after a quarter turn, with what the file says stands on it, in pixels."""

    pixels: Pixels
    quarter: int
    rulings: tuple[Box, ...]
    pictures: tuple[Box, ...]

    @classmethod
    def of(cls, image: PageImage, quarter: int) -> _Drawn:
        pictures = np.array(
            [[p.x0, p.y0, p.x1, p.y1] for p in image.pictures], dtype=np.float32
        ).reshape(-1, 4)
        return cls(
            pixels=turn_pixels(image.pixels, quarter),
            quarter=quarter,
            rulings=_boxes(_placed(image, image.rulings, quarter)),
            pictures=_boxes(_placed(image, pictures, quarter)),
        )

    @property
    def width(self) -> int:
        return int(self.pixels.shape[1])

    @property
    def height(self) -> int:
        return int(self.pixels.shape[0])

    def lines(self, image: PageImage, layer: TextLayer) -> tuple[Line, ...]:
        turned = replace(layer, angles=((layer.angles + self.quarter) % 360).astype(np.int16))
        return lines_of_layer(
            turned,
            _placed(image, layer.boxes, self.quarter),
            self.rulings,
            width=self.width,
            height=self.height,
            dpi=image.size.dpi,
        )

    def page(
        self, image: PageImage, lines: tuple[Line, ...], origin: TextOrigin, *, blank: bool = False
    ) -> UprightPage:
        return UprightPage(
            pixels=self.pixels,
            page_size=image.size,
            lines=lines,
            rulings=self.rulings,
            pictures=self.pictures,
            turn=Turn(self.quarter),
            origin=origin,
            blank=blank,
        )


def _distrusted(judgement: Judgement) -> Problem:
    message = f"the text layer {judgement.reason}; the page was read from its picture"
    return Problem(ProblemCode.TEXT_LAYER_UNTRUSTED, message)


def _quarter_of(layer: TextLayer) -> int:
    """Degrees clockwise by which a page must be turned for most of its text to be upright."""
    quarters = np.round(layer.angles / 90).astype(np.int64) % 4
    return int((4 - np.bincount(quarters, minlength=4).argmax()) % 4 * 90)


def _placed(image: PageImage, fractions: Floats, quarter: int) -> Floats:
    """Boxes in page fractions as pixels of the turned page."""
    height, width = image.pixels.shape[:2]
    scale = np.array([width, height, width, height], dtype=np.float32)
    return turn_boxes(fractions * scale, quarter, width, height)


def _boxes(rows: Floats) -> tuple[Box, ...]:
    return tuple(Box(*row) for row in rows.tolist())


def _crop(pixels: Pixels, box: Box, margin: float) -> Pixels:
    """The part of a picture in a box, widened by a share of its height."""
    more = margin * box.height
    height, width = pixels.shape[:2]
    x0, y0 = int(max(box.x0 - more, 0)), int(max(box.y0 - more, 0))
    x1, y1 = int(min(box.x1 + more, width)) + 1, int(min(box.y1 + more, height)) + 1
    return np.ascontiguousarray(pixels[min(y0, height - 1) : y1, min(x0, width - 1) : x1])


def _shows(pixels: Pixels, box: Box) -> bool:
    """Whether anything is drawn in a box: white text on white paper is not on the page."""
    part = _crop(pixels, box, 0.0)
    part = part[:: max(1, part.shape[0] // 24), :: max(1, part.shape[1] // 400)]
    return bool((part.max(axis=(0, 1)).astype(int) - part.min(axis=(0, 1))).max() > _LEAST_INK)


def _moved(line: Line, left: float, top: float) -> Line:
    def moved(box: Box) -> Box:
        return Box(box.x0 + left, box.y0 + top, box.x1 + left, box.y1 + top)

    words = tuple(replace(word, box=moved(word.box)) for word in line.words)
    return replace(line, box=moved(line.box), words=words)


def _without_doubles(found: Sequence[Line], known: Sequence[Line]) -> tuple[Line, ...]:
    """Lines read from pixels that are not in the text layer already."""
    return tuple(
        line
        for line in found
        if sum(line.box.overlap(k.box) for k in known) < 0.4 * max(line.box.area, 1.0)
    )


def _doubts(lines: Sequence[Line]) -> tuple[Problem, ...]:
    """Say so when a page was read with little confidence."""
    long = [line for line in lines if len(line.text) >= 4]
    if len(long) < 2:
        return ()
    mean = sum(x.confidence for x in long) / len(long)
    if mean >= _DOUBTFUL:
        return ()
    message = (
        f"read with a confidence of {mean:.0%}: if this is print in another script than Latin, "
        "Chinese or Japanese, name its language, such as --languages rus or --languages ara,eng"
    )
    return (Problem(ProblemCode.LOW_CONFIDENCE, message),)
