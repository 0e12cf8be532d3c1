"""Crops of figures and of formulas without LaTeX, cut from the page picture while it is in memory.

Owns which blocks get a picture and how it is stored. Never decides where crops end up beside the
outputs: the writer places them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
from PIL import Image

from moonpress.document import Block, PageImage
from moonpress.outputs.disk import output_errors, sync
from moonpress.outputs.pages import needs_picture

# Letters and lines at the very edge of a box would be cut in two.
_MARGIN_INCHES: Final = 0.04
# Drawings have few colours. On 31 figures of the test papers, those in which the eight commonest
# colours (5 bits a channel) cover less than this share are photographs or maps: as JPEG they take
# 0.1-0.3 bytes a pixel and 1/10 of the time, as PNG 0.6-1.5. The others take 0.1-0.5 as PNG.
_DRAWING_SHARE: Final = 0.7
_COMMON_COLOURS: Final = 8
_SAMPLED_PIXELS: Final = 20_000
_JPEG_QUALITY: Final = 90
# zlib level 6 takes twice the time of level 1 for 9 % less.
_PNG_LEVEL: Final = 1

CROP_NAME: Final = re.compile(r"p\d+-b[\w-]+\.(?:png|jpg)")


class Crops(Protocol):
    """Pictures of figures that are stored somewhere."""

    @property
    def paths(self) -> Mapping[str, Path]:
        """Crop by block id."""
        ...


@dataclass(frozen=True, slots=True)
class StoredCrops:
    """Crops that another process has kept."""

    paths: Mapping[str, Path]


class FigureCrops:
    """Crops kept so far; one per document.

    `keep` is called from worker threads, one call a page; distinct pages may run at once.

    Args:
        folder: An existing folder for the crops; the caller owns and removes it.
        durable: Wait for the disk after each, for crops that must outlast a power cut.
    """

    def __init__(self, folder: Path, *, durable: bool = False) -> None:
        self.folder = folder
        self._durable = durable
        self._paths: dict[str, Path] = {}

    @property
    def paths(self) -> Mapping[str, Path]:
        """Crop by block id: ``<block id>.png``, or ``.jpg`` for photographs."""
        return MappingProxyType(self._paths)

    def keep(self, image: PageImage, blocks: Sequence[Block], rotation: int = 0) -> None:
        """Cut out and store what among ``blocks`` needs a picture.

        Args:
            image: The page as displayed.
            blocks: Of that page.
            rotation: Degrees clockwise (0, 90, 180, 270) by which the page was turned to be read;
                crops are turned likewise, so that figures stand upright.

        Raises:
            NoSpace: the disk is full.
            OutputError: the crop cannot be written.
            ValueError: a block's id is not of the form ``p3-b12``.
        """
        shown = [block for block in blocks if needs_picture(block)]
        if shown:
            pixels = image.pixels
            for block in shown:
                upright = np.rot90(cut(pixels, image.size.dpi, block), -(rotation // 90))
                data, suffix = encode_crop(upright)
                name = f"{block.id}{suffix}"
                if not CROP_NAME.fullmatch(name):
                    raise ValueError(f"block id {block.id!r} cannot name a file")
                path = self.folder / name
                with output_errors(str(path), page=image.number):
                    path.write_bytes(data)
                    if self._durable:
                        sync(path)
                        sync(self.folder)
                self._paths[block.id] = path


def cut(pixels: npt.NDArray[np.uint8], dpi: float, block: Block) -> npt.NDArray[np.uint8]:
    """The block's part of a page of (H, W, 3) uint8 RGB, with a small margin."""
    height, width = pixels.shape[:2]
    margin = round(dpi * _MARGIN_INCHES)
    left, top, right, bottom = block.bbox.to_pixels(width, height)
    return pixels[
        max(top - margin, 0) : min(bottom + margin, height),
        max(left - margin, 0) : min(right + margin, width),
    ]


def encode_crop(crop: npt.NDArray[np.uint8]) -> tuple[bytes, str]:
    """File content and suffix: lossless PNG for drawings, JPEG for photographs."""
    grey = bool((crop[..., 0] == crop[..., 1]).all() and (crop[..., 1] == crop[..., 2]).all())
    picture = Image.fromarray(np.ascontiguousarray(crop[..., 0] if grey else crop))
    stream = io.BytesIO()
    if _is_drawing(crop):
        picture.save(stream, "PNG", compress_level=_PNG_LEVEL)
        return stream.getvalue(), ".png"
    picture.save(stream, "JPEG", quality=_JPEG_QUALITY)
    return stream.getvalue(), ".jpg"


def _is_drawing(crop: npt.NDArray[np.uint8]) -> bool:
    step = max(1, int((crop.shape[0] * crop.shape[1] / _SAMPLED_PIXELS) ** 0.5))
    sample = (crop[::step, ::step].reshape(-1, 3) >> 3).astype(np.int32)
    colours = (sample[:, 0] << 10) | (sample[:, 1] << 5) | sample[:, 2]
    counts = np.sort(np.unique(colours, return_counts=True)[1])
    return bool(counts[-_COMMON_COLOURS:].sum() >= _DRAWING_SHARE * len(colours))
