"""Text layers written by hand, for tests of what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from moonpress.document import Font, TextLayer

PAGE = 1000.0  # pixels; pages of these tests are square, at 72 dpi


@dataclass
class LayerWriter:
    """Writes characters half as wide as they are high, as PDFium gives them: loose boxes."""

    size: float = 20.0
    chars: list[str] = field(default_factory=list)
    boxes: list[tuple[float, float, float, float]] = field(default_factory=list)
    sizes: list[float] = field(default_factory=list)
    angles: list[int] = field(default_factory=list)
    hidden: list[bool] = field(default_factory=list)

    def put(
        self, text: str, x: float, baseline: float, *, size: float = 0, space: float = 0.25
    ) -> float:
        """Write ``text``; returns where it ends. ``space`` is the width of a space in em."""
        size = size or self.size
        for char in text:
            wide = space * size if char == " " else 0.5 * size
            self._add(char, (x, baseline - 0.78 * size, x + wide, baseline + 0.22 * size), size, 0)
            x += wide
        return x

    def put_upwards(self, text: str, x: float, bottom: float) -> None:
        """Write ``text`` up the page, as stamps in a margin stand."""
        for char in text:
            wide = 0.25 * self.size if char == " " else 0.5 * self.size
            box = (x - 0.78 * self.size, bottom - wide, x + 0.22 * self.size, bottom)
            self._add(char, box, self.size, 270)
            bottom -= wide

    def line_break(self) -> None:
        """What PDFium puts between lines."""
        for char in "\r\n":
            self._add(char, (0, 0, 0, 0), self.size, 0)

    def _add(
        self, char: str, box: tuple[float, float, float, float], size: float, angle: int
    ) -> None:
        self.chars.append(char)
        self.boxes.append(box)
        self.sizes.append(size)
        self.angles.append(angle)
        self.hidden.append(False)

    def layer(self) -> TextLayer:
        """What was written."""
        count = len(self.chars)
        return TextLayer(
            text="".join(self.chars),
            boxes=np.array(self.boxes, dtype=np.float32).reshape(-1, 4) / PAGE,
            sizes=np.array(self.sizes, dtype=np.float32),
            fonts=(Font("Test"),),
            font_ids=np.zeros(count, dtype=np.int16),
            angles=np.array(self.angles, dtype=np.int16),
            invisible=np.array(self.hidden, dtype=np.bool_),
        )
