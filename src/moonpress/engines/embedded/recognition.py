"""What stands in a picture of one line.

Owns the PP-OCRv6 recogniser: cutting lines out, batches, and decoding with positions. Never finds
lines and never corrects what it reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from moonpress.engines.embedded.runtime import FloatArray, Network

Pixels = npt.NDArray[np.uint8]

_HEIGHT = 48
_MIN_WIDTH = 320  # narrower crops are padded to this, as in training
_STEP = 8  # pixels of width per column of output


@dataclass(frozen=True, slots=True)
class Reading:
    """A line as the recogniser reads it.

    Attributes:
        text: What it says.
        confidence: Mean over its characters, 0 to 1.
        centres: Where the middle of each character of ``text`` lies, as a share of the width.
    """

    text: str
    confidence: float
    centres: tuple[float, ...]


class LineReader:
    """Reads pictures of lines.

    Args:
        path: The ONNX file.
        letters: A file with one character a line; ``None`` when the ONNX file has them itself.
        threads: Threads it may use.
    """

    def __init__(self, path: Path, letters: Path | None, threads: int) -> None:
        self._network = Network(path, threads)
        self._letters_file = letters

    def read(self, crops: Sequence[Pixels]) -> list[Reading]:
        """Read each of ``crops``, (H, W, 3) uint8 RGB pictures of one line."""
        return [self._read_one(crop) for crop in crops]

    @cached_property
    def _letters(self) -> list[str]:
        if self._letters_file is None:
            letters = self._network.metadata["character"].splitlines()
        else:
            letters = self._letters_file.read_text(encoding="utf-8").split("\n")
            if letters[-1] == "":
                letters.pop()
        return ["", *letters, " "]

    def _read_one(self, crop: Pixels) -> Reading:
        import cv2

        height, width = crop.shape[:2]
        wide = max(1, round(_HEIGHT * width / height))
        scaled = cv2.resize(crop, (wide, _HEIGHT), interpolation=cv2.INTER_LINEAR)
        batch = np.zeros((1, 3, _HEIGHT, max(wide, _MIN_WIDTH)), dtype=np.float32)
        batch[0, :, :, :wide] = ((scaled[:, :, ::-1].astype(np.float32) - 127.5) / 127.5).transpose(
            2, 0, 1
        )
        return self._decode(self._network.run(batch)[0], wide)

    def _decode(self, scores: FloatArray, wide: int) -> Reading:
        """Greedy CTC: the best character of each column, repeats and blanks dropped."""
        best = scores.argmax(axis=1)
        fresh = np.ones(len(best), dtype=bool)
        fresh[1:] = best[1:] != best[:-1]
        at = np.flatnonzero(fresh & (best != 0))
        if not len(at):
            return Reading("", 0.0, ())
        text = "".join(self._letters[i] for i in best[at])
        columns = wide / _STEP
        centres = np.clip((at + 0.5) / columns, 0, 1)
        return Reading(text, float(scores[at, best[at]].mean()), tuple(centres.tolist()))


def cut_line(pixels: Pixels, corners: FloatArray) -> Pixels:
    """The picture of one line, straightened; upright narrow boxes are laid on their side.

    Args:
        pixels: (H, W, 3) uint8.
        corners: (4, 2) top left, top right, bottom right, bottom left.
    """
    import cv2

    top_left, top_right, bottom_right, bottom_left = corners
    wide = max(np.linalg.norm(top_right - top_left), np.linalg.norm(bottom_right - bottom_left))
    high = max(np.linalg.norm(bottom_left - top_left), np.linalg.norm(bottom_right - top_right))
    wide, high = max(int(wide), 1), max(int(high), 1)
    if abs(top_left[1] - top_right[1]) < 0.5 and abs(top_left[0] - bottom_left[0]) < 0.5:
        x, y = round(float(top_left[0])), round(float(top_left[1]))
        crop = pixels[y : y + high, x : x + wide]
    else:
        target = np.array([[0, 0], [wide, 0], [wide, high], [0, high]], dtype=np.float32)
        matrix = cv2.getPerspectiveTransform(corners.astype(np.float32), target)
        crop = cv2.warpPerspective(
            pixels, matrix, (wide, high), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
    return np.ascontiguousarray(np.rot90(crop)) if high > 1.5 * wide else crop
