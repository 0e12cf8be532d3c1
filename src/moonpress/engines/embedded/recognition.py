"""What stands in a picture of one line.

Owns the PP-OCRv6 recogniser: cutting lines out, the choice of alphabet for a page, and decoding
with positions. Never finds lines and never corrects what it reads.
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
_WIDTH_STEP = 160
_STEP = 8  # pixels of width per column of output
_SAMPLE = 6  # lines read with the whole alphabet before the page is taken for Western
_DOUBTFUL = 0.8  # confidence below which a line of a Western page is read again
_FIRST_EASTERN = 0x2E80  # CJK radicals; all code points of East Asian scripts lie above


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
    """Reads the lines of a page.

    Pages on which a sample of lines has no East Asian character are read with the Western part of
    the alphabet: that takes two thirds of the time, and a dash cannot come out as a Chinese one.

    Args:
        path: The ONNX file.
        letters: A file with one character a line; ``None`` when the ONNX file has them itself.
        threads: Threads it may use.
    """

    def __init__(self, path: Path, letters: Path | None, threads: int) -> None:
        self._path = path
        self._threads = threads
        self._letters_file = letters
        self._whole = Network(path, threads)

    def read(self, crops: Sequence[Pixels]) -> list[Reading]:
        """Read ``crops``, (H, W, 3) uint8 RGB pictures of one line each, all of one page."""
        longest = sorted(range(len(crops)), key=lambda i: -crops[i].shape[1] / crops[i].shape[0])
        spread = longest[:: max(1, len(longest) // _SAMPLE)][:_SAMPLE]
        done = {i: self._read_whole(crops[i]) for i in spread}
        western = not any(is_eastern(c) for reading in done.values() for c in reading.text)
        for i in longest:
            if i not in done:
                done[i] = self._read_western(crops[i]) if western else self._read_whole(crops[i])
        return [done[i] for i in range(len(crops))]

    def read_quickly(self, crops: Sequence[Pixels]) -> list[Reading]:
        """Read a few lines of a page, whatever they are."""
        return [self._read_whole(crop) for crop in crops]

    @cached_property
    def _letters(self) -> list[str]:
        if self._letters_file is None:
            letters = self._whole.metadata("character").splitlines()
        else:
            letters = self._letters_file.read_text(encoding="utf-8").split("\n")
            if letters[-1] == "":
                letters.pop()
        # The first class of CTC is "nothing new", the last one the space.
        return ["", *letters, " "]

    @cached_property
    def _western(self) -> tuple[Network, list[str]]:
        classes = [i for i, c in enumerate(self._letters) if not any(map(is_eastern, c))]
        network = Network(self._path, self._threads, np.array(classes, dtype=np.int64))
        return network, [self._letters[i] for i in classes]

    def _read_whole(self, crop: Pixels) -> Reading:
        batch, wide = _scaled(crop)
        return _decode(self._whole.run(batch)[0], self._letters, wide)

    def _read_western(self, crop: Pixels) -> Reading:
        network, letters = self._western
        batch, wide = _scaled(crop)
        reading = _decode(network.run(batch)[0], letters, wide)
        if reading.confidence >= _DOUBTFUL:
            return reading
        again = _decode(self._whole.run(batch)[0], self._letters, wide)
        eastern = sum(map(is_eastern, again.text))
        if again.confidence > reading.confidence and 2 * eastern > len(again.text) > 1:
            return again
        return reading


def is_eastern(char: str) -> bool:
    """Whether ``char`` is of an East Asian script or a full-width form."""
    return ord(char) >= _FIRST_EASTERN and not 0xFB00 <= ord(char) <= 0xFB4F


def _scaled(crop: Pixels) -> tuple[FloatArray, int]:
    """The network's input for a line, and how much of its width is the line."""
    import cv2

    height, width = crop.shape[:2]
    wide = max(1, round(_HEIGHT * width / height))
    scaled = cv2.resize(crop, (wide, _HEIGHT), interpolation=cv2.INTER_LINEAR)
    batch = np.zeros((1, 3, _HEIGHT, _padded(wide)), dtype=np.float32)
    batch[0, :, :, :wide] = scaled[:, :, ::-1].transpose(2, 0, 1)
    batch[0, :, :, :wide] -= 127.5
    batch[0, :, :, :wide] /= 127.5
    return batch, wide


def _padded(width: int) -> int:
    """The next width that the network is used with: each one costs it time and memory once."""
    step = _WIDTH_STEP if width <= 8 * _WIDTH_STEP else 2 * _WIDTH_STEP
    return max(_MIN_WIDTH, -(-width // step) * step)


def _decode(scores: FloatArray, letters: Sequence[str], wide: int) -> Reading:
    """Greedy CTC: the best class of each column, repeats and "nothing new" dropped."""
    best = scores.argmax(axis=1)
    fresh = np.ones(len(best), dtype=bool)
    fresh[1:] = best[1:] != best[:-1]
    at = np.flatnonzero(fresh & (best != 0))
    if not len(at):
        return Reading("", 0.0, ())
    text = "".join(letters[i] for i in best[at])
    centres = np.clip((at + 0.5) * _STEP / wide, 0, 1)
    return Reading(text, float(scores[at, best[at]].mean()), tuple(centres.tolist()))


def cut_line(pixels: Pixels, corners: FloatArray) -> Pixels:
    """The picture of one line, straightened; upright narrow boxes are laid on their side.

    Args:
        pixels: (H, W, 3) uint8.
        corners: (4, 2) top left, top right, bottom right, bottom left.
    """
    import cv2

    top_left, top_right, bottom_right, bottom_left = corners
    wide = int(max(_length(top_right - top_left), _length(bottom_right - bottom_left), 1))
    high = int(max(_length(bottom_left - top_left), _length(bottom_right - top_right), 1))
    if abs(top_left[1] - top_right[1]) < 0.5 and abs(top_left[0] - bottom_left[0]) < 0.5:
        x, y = round(float(top_left[0])), round(float(top_left[1]))
        crop = pixels[y : y + high, x : x + wide]
    else:
        target = np.array([[0, 0], [wide, 0], [wide, high], [0, high]], dtype=np.float32)
        matrix = cv2.getPerspectiveTransform(corners.astype(np.float32), target)
        crop = cv2.warpPerspective(
            pixels, matrix, (wide, high), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        ).astype(np.uint8, copy=False)
    return np.ascontiguousarray(np.rot90(crop)) if high > 1.5 * wide else crop


def _length(vector: FloatArray) -> float:
    return float(np.hypot(vector[0], vector[1]))
