from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from moonpress.document import BBox, Block, BlockKind, PageImage, PageSize
from moonpress.errors import NoSpace
from moonpress.outputs.figures import FigureCrops, encode_crop

SIZE = PageSize(360, 720, 1000, 2000)


def page(pixels: npt.NDArray[np.uint8]) -> PageImage:
    return PageImage(3, pixels, SIZE)


def block(kind: BlockKind, box: BBox, number: int = 1, html: str = "") -> Block:
    return Block(f"p3-b{number}", kind, box, html)


def drawing() -> npt.NDArray[np.uint8]:
    pixels = np.full((2000, 1000, 3), 255, dtype=np.uint8)
    pixels[500:1000, 200:400] = (200, 30, 30)
    return pixels


def test_crop_is_the_block_with_a_millimetre_around_it(tmp_path: Path) -> None:
    crops = FigureCrops(tmp_path)
    crops.keep(page(drawing()), [block(BlockKind.FIGURE, BBox(0.2, 0.25, 0.4, 0.5))])
    with Image.open(crops.paths["p3-b1"]) as picture:
        assert picture.format == "PNG"
        assert picture.size == (200 + 16, 500 + 16)
        assert picture.getpixel((7, 7)) == (255, 255, 255)
        assert picture.getpixel((8, 8)) == (200, 30, 30)
        assert picture.getpixel((207, 507)) == (200, 30, 30)
        assert picture.getpixel((208, 508)) == (255, 255, 255)


def test_only_what_words_cannot_say_is_kept(tmp_path: Path) -> None:
    box = BBox(0, 0, 1, 0.1)
    crops = FigureCrops(tmp_path)
    wanted = {BlockKind.FIGURE, BlockKind.DIAGRAM, BlockKind.CHEMISTRY, BlockKind.FORMULA}
    blocks = [block(kind, box, i, "<p>x</p>") for i, kind in enumerate(BlockKind, 1)]
    blocks.append(block(BlockKind.FORMULA, box, 99, '<math display="block">x</math>'))
    crops.keep(page(drawing()), blocks)
    assert set(crops.paths) == {b.id for b in blocks[:-1] if b.kind in wanted}
    assert {p.name for p in tmp_path.iterdir()} == {f"{key}.png" for key in crops.paths}


def test_photographs_become_jpeg(tmp_path: Path) -> None:
    rng = np.random.default_rng(7)
    coarse = rng.integers(0, 255, (40, 20, 3), dtype=np.uint8)
    photo = np.asarray(Image.fromarray(coarse).resize((1000, 2000), Image.Resampling.BICUBIC))
    crops = FigureCrops(tmp_path)
    crops.keep(page(photo), [block(BlockKind.FIGURE, BBox(0, 0, 1, 1))])
    assert crops.paths["p3-b1"].name == "p3-b1.jpg"
    with Image.open(crops.paths["p3-b1"]) as picture:
        assert picture.format == "JPEG"
        error = np.abs(np.asarray(picture).astype(int) - photo.astype(int)).mean()
    assert error < 3


def test_drawings_are_lossless_and_grey_ones_small() -> None:
    colour = drawing()[400:1100, 100:500]
    data, suffix = encode_crop(colour)
    assert suffix == ".png"
    with Image.open(io.BytesIO(data)) as picture:
        assert np.array_equal(np.asarray(picture), colour)
    grey = np.repeat(colour[..., :1], 3, axis=2)
    with Image.open(io.BytesIO(encode_crop(grey)[0])) as picture:
        assert picture.mode == "L"
        assert np.array_equal(np.asarray(picture), grey[..., 0])


def test_box_of_no_area_still_gives_a_picture(tmp_path: Path) -> None:
    crops = FigureCrops(tmp_path)
    crops.keep(page(drawing()), [block(BlockKind.FIGURE, BBox(1, 1, 1, 1))])
    with Image.open(crops.paths["p3-b1"]) as picture:
        assert min(picture.size) >= 1


def test_id_that_would_leave_the_folder_is_refused(tmp_path: Path) -> None:
    bad = Block("../p3-b1", BlockKind.FIGURE, BBox(0, 0, 1, 1), "")
    with pytest.raises(ValueError, match="cannot name a file"):
        FigureCrops(tmp_path).keep(page(drawing()), [bad])


def test_full_disk_is_named_with_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(NoSpace, match="page 3"):
        FigureCrops(tmp_path).keep(page(drawing()), [block(BlockKind.FIGURE, BBox(0, 0, 1, 1))])


def test_a_figure_on_a_sideways_page_stands_upright(tmp_path: Path) -> None:
    pixels = drawing()
    pixels[500:600, 200:400] = (0, 0, 255)
    crops = FigureCrops(tmp_path)
    crops.keep(page(pixels), [block(BlockKind.FIGURE, BBox(0.2, 0.25, 0.4, 0.5))], rotation=90)
    with Image.open(crops.paths["p3-b1"]) as picture:
        assert picture.size == (500 + 16, 200 + 16)
        # What was on top is on the right after a turn clockwise.
        assert picture.getpixel((507, 100)) == (0, 0, 255)
        assert picture.getpixel((8, 100)) == (200, 30, 30)
