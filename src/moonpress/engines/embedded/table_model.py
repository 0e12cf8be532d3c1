"""The table model: structure of a table from its picture.

Owns running SLANet-1M and decoding its answer into a `Grid`. Never reads text.
"""

from __future__ import annotations

import re
from functools import cached_property
from importlib.resources import as_file, files
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from moonpress.engines.embedded.table_cells import Cell, Grid
from moonpress.engines.embedded.types import Box

_SIDE = 488
_MEAN = np.array([0.485, 0.456, 0.406], dtype=np.float32)
_DEVIATION = np.array([0.229, 0.224, 0.225], dtype=np.float32)
_MARGIN = 6
_CELL = "<td></td>"
_SPAN = re.compile(r'\s*(row|col)span="(\d+)"')


class TableModel:
    """Predicts rows, columns, spans and the place of text of each cell.

    Args:
        threads: Threads that one run of the network may use.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads

    def read(self, pixels: npt.NDArray[np.uint8], box: Box) -> Grid | None:
        """The grid of the table in ``box``, with boxes around the text of cells.

        Args:
            pixels: (H, W, 3) uint8 RGB of the page.
            box: Of the table, in pixels.

        Returns:
            ``None`` where the model sees no row, or its rows contradict each other.
        """
        x0, y0 = max(int(box.x0) - _MARGIN, 0), max(int(box.y0) - _MARGIN, 0)
        crop = pixels[y0 : int(box.y1) + _MARGIN, x0 : int(box.x1) + _MARGIN]
        if min(crop.shape[:2]) < 8:
            return None
        session, alphabet = self._loaded
        boxes, classes = session.run(None, {session.get_inputs()[0].name: _prepared(crop)})
        best = classes[0].argmax(axis=1)
        ends = np.flatnonzero(best[1:] == len(alphabet) - 1)
        count = int(ends[0]) + 1 if len(ends) else len(best)
        height, width = crop.shape[:2]
        scaled = boxes[0] * np.array([width, height, width, height], dtype=np.float32)
        scaled += np.array([x0, y0, x0, y0], dtype=np.float32)
        return _decoded([alphabet[k] for k in best[:count]], scaled)

    @cached_property
    def _loaded(self) -> tuple[Any, list[str]]:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self._threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # The arena keeps the memory of the largest table ever seen.
        options.enable_cpu_mem_arena = False
        with as_file(files("moonpress.engines.embedded") / "models" / "slanet_1m.onnx") as path:
            session = onnxruntime.InferenceSession(
                str(path), options, providers=["CPUExecutionProvider"]
            )
        listed = session.get_modelmeta().custom_metadata_map["character"].split("\n")
        # The network was trained with one token for a cell without spans, last in its alphabet.
        inner = [token for token in listed if token not in ("<td>", _CELL)]
        return session, ["", *inner, _CELL, ""]


def _prepared(crop: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """The crop at the top left of a square, (1, 3, 488, 488), normalised; blue first."""
    height, width = crop.shape[:2]
    ratio = _SIDE / max(height, width)
    size = max(int(width * ratio), 1), max(int(height * ratio), 1)
    small = cv2.resize(crop, size)[:, :, ::-1].astype(np.float32) / 255
    square = np.zeros((_SIDE, _SIDE, 3), dtype=np.float32)
    square[: size[1], : size[0]] = (small - _MEAN) / _DEVIATION
    return np.ascontiguousarray(square.transpose(2, 0, 1)[None])


class _Decoder:
    """Follows the tokens of rows and cells."""

    def __init__(self) -> None:
        self.cells: list[Cell] = []
        self.taken: set[tuple[int, int]] = set()
        self.rows = 0
        self.header = 0
        self._spans = {"row": 1, "col": 1}
        self._opened: int | None = None

    def step(self, word: str, position: int, boxes: npt.NDArray[np.float32]) -> None:
        """Take one token; a cell's box stands at the position of its first token."""
        if word == "<tr>":
            self.rows += 1
        elif word == "</thead>":
            self.header = self.rows
        elif word == "<td":
            self._opened = position
        elif match := _SPAN.fullmatch(word):
            self._spans[match[1]] = int(match[2])
        elif self.rows and word in (_CELL, ">"):
            self._put(boxes[position if self._opened is None else self._opened])

    def _put(self, box: npt.NDArray[np.float32]) -> None:
        row, column = self.rows - 1, 0
        height, width = self._spans["row"], self._spans["col"]
        while (row, column) in self.taken:
            column += 1
        self.taken.update((row + r, column + c) for r in range(height) for c in range(width))
        self.cells.append(Cell(row, column, height, width, Box(*(float(v) for v in box))))
        self._spans = {"row": 1, "col": 1}
        self._opened = None


def _decoded(words: list[str], boxes: npt.NDArray[np.float32]) -> Grid | None:
    """The grid that tokens spell; ``None`` where cells overlap or leave the table."""
    decoder = _Decoder()
    for position, word in enumerate(words):
        decoder.step(word, position, boxes)
    cells, rows = decoder.cells, decoder.rows
    if not cells or len(decoder.taken) != sum(c.row_span * c.column_span for c in cells):
        return None
    if any(c.row + c.row_span > rows for c in cells):
        return None
    columns = max(c.column + c.column_span for c in cells)
    return Grid(rows, columns, tuple(cells), decoder.header if decoder.header < rows else 0)
