"""Pictures: pages, orientation, colours, damage and bounds."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageCms, TiffImagePlugin

from moonpress.document import PageImage
from moonpress.errors import InputTooLarge, PageUnrenderable, UnsupportedInput
from moonpress.sources.base import RenderRequest
from moonpress.sources.open import open_source
from tests.sources.samples import draw, png

_RED, _BLUE = (255, 0, 0), (0, 0, 255)


def saved(image: Image.Image, form: str, **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


def two_colours(size: tuple[int, int] = (40, 20)) -> Image.Image:
    """Blue with its upper left quarter red."""
    image = Image.new("RGB", size, _BLUE)
    image.paste(_RED, (0, 0, size[0] // 2, size[1] // 2))
    return image


def red_corner(image: PageImage) -> str:
    height, width = image.pixels.shape[:2]
    found = [
        f"{vertical} {horizontal}"
        for vertical, y in (("top", 2), ("bottom", height - 3))
        for horizontal, x in (("left", 2), ("right", width - 3))
        if image.pixels[y, x, 0] > 128
    ]
    return ", ".join(found)


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "TIFF", "BMP", "AVIF", "JPEG2000", "GIF"])
def test_every_format_is_read(form: str) -> None:
    image = draw(saved(two_colours((64, 32)), form))
    assert image.pixels.shape == (32, 64, 3)
    assert image.pixels.dtype == np.uint8
    assert image.pixels.flags.c_contiguous
    assert red_corner(image) == "top left"
    assert image.text_layer is None
    assert image.problems == ()


def test_heic_is_read(checkout: Path) -> None:
    # Made for this project with the colours below: nothing that may be shipped writes HEIC.
    data = (checkout / "tests" / "data" / "two_colours.heic").read_bytes()
    image = draw(data)
    assert image.pixels.shape == (32, 64, 3)
    assert red_corner(image) == "top left"


def test_heic_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pi_heif", None)
    data = b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic" + bytes(64)
    with pytest.raises(UnsupportedInput, match="pip install pi-heif"):
        open_source(data, name="it", password=None)


@pytest.mark.parametrize(
    ("orientation", "corner"),
    [
        (1, "top left"),
        (2, "top right"),
        (3, "bottom right"),
        (4, "bottom left"),
        (5, "top left"),
        (6, "top right"),
        (7, "bottom right"),
        (8, "bottom left"),
        (0, "top left"),
        (99, "top left"),
    ],
)
@pytest.mark.parametrize("form", ["JPEG", "PNG", "TIFF", "WEBP"])
def test_exif_orientation(form: str, orientation: int, corner: str) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    image = draw(saved(two_colours((80, 40)), form, exif=exif, dpi=(150, 150)))
    turned = orientation in {5, 6, 7, 8}
    assert image.pixels.shape == ((80, 40, 3) if turned else (40, 80, 3))
    assert red_corner(image) == corner
    wide = image.size.width_pt > image.size.height_pt
    assert wide != turned


def test_orientation_is_known_by_the_standard_and_not_only_by_us() -> None:
    # EXIF 6: row 0 is the right side of the picture, column 0 its top.
    exif = Image.Exif()
    exif[0x0112] = 6
    stored = Image.new("RGB", (60, 30), _BLUE)
    stored.paste(_RED, (0, 0, 60, 5))
    image = draw(saved(stored, "PNG", exif=exif))
    assert (image.pixels[:, 27:, 0] == 255).all()
    assert (image.pixels[:, :20, 0] == 0).all()


def test_every_frame_of_a_tiff_is_a_page() -> None:
    frames = [Image.new("L", (10 + i, 20), 50 * i) for i in range(4)]
    data = saved(frames[0], "TIFF", save_all=True, append_images=frames[1:])
    source = open_source(data, name="it", password=None)
    assert source.info.page_count == 4
    for number in (3, 1, 4, 2):
        image = source.page(number, RenderRequest(200, 1_000_000))
        assert image.number == number
        assert image.pixels.shape == (20, 9 + number, 3)
        assert image.pixels[0, 0, 0] == 50 * (number - 1)


def test_thumbnails_and_masks_in_a_tiff_are_no_pages() -> None:
    def frame(width: int, kind: int) -> Image.Image:
        image = Image.new("L", (width, 20))
        tags = TiffImagePlugin.ImageFileDirectory_v2()
        tags[254] = kind
        image.encoderinfo = {"tiffinfo": tags}
        return image

    frames = [frame(width, kind) for width, kind in ((30, 1), (40, 4), (50, 2))]
    tags = TiffImagePlugin.ImageFileDirectory_v2()
    tags[254] = 0
    first = Image.new("L", (20, 20))
    data = saved(first, "TIFF", save_all=True, append_images=frames, tiffinfo=tags)
    source = open_source(data, name="it", password=None)
    widths = [
        source.page(n + 1, RenderRequest(200, 10_000)).size.width_px
        for n in range(source.info.page_count)
    ]
    assert widths == [20, 50]


@pytest.mark.parametrize("compression", ["group4", "group3", "tiff_lzw", "packbits", "jpeg"])
def test_tiff_compressions(compression: str) -> None:
    mode = "1" if compression.startswith("group") else "L"
    picture = Image.new(mode, (64, 32), 255 if mode == "L" else 1)
    picture.paste(0, (0, 0, 32, 16))
    image = draw(saved(picture, "TIFF", compression=compression))
    assert image.pixels[4, 4].tolist() == pytest.approx([0, 0, 0], abs=4)
    assert image.pixels[28, 60].tolist() == pytest.approx([255, 255, 255], abs=4)


def test_bigtiff() -> None:
    data = saved(two_colours(), "TIFF", big_tiff=True)
    assert data.startswith(b"II+\x00")
    assert red_corner(draw(data)) == "top left"


@pytest.mark.parametrize("form", ["GIF", "WEBP", "PNG"])
def test_an_animation_is_its_first_frame(form: str) -> None:
    frames = [two_colours(), Image.new("RGB", (40, 20), (0, 255, 0))]
    options = {"lossless": True} if form == "WEBP" else {}
    data = saved(frames[0], form, save_all=True, append_images=frames[1:], **options)
    source = open_source(data, name="it", password=None)
    assert source.info.page_count == 1
    assert red_corner(source.page(1, RenderRequest(200, 10_000))) == "top left"


@pytest.mark.parametrize("mode", ["RGBA", "LA", "PA", "P"])
def test_transparency_lies_on_white(mode: str) -> None:
    clear = Image.new("RGBA", (20, 20), (0, 0, 0, 0))
    clear.paste((0, 0, 0, 255), (0, 0, 10, 20))
    options = {}
    if mode == "P":
        clear = clear.convert("P")
        clear.putpixel((15, 5), 7)
        colour = clear.getpixel((15, 15))
        options = {"transparency": colour}
    elif mode == "PA":
        clear = clear.convert("LA")
    else:
        clear = clear.convert(mode)
    image = draw(saved(clear, "PNG", **options))
    assert image.pixels[15, 15].tolist() == [255, 255, 255]
    assert image.pixels[5, 5].tolist() == [0, 0, 0] or mode == "P"


def test_a_fully_transparent_picture_is_a_blank_page() -> None:
    image = draw(saved(Image.new("RGBA", (30, 30), (0, 0, 0, 0)), "PNG"))
    assert (image.pixels == 255).all()


def test_half_transparent_ink_is_grey() -> None:
    image = draw(saved(Image.new("RGBA", (30, 30), (0, 0, 0, 128)), "PNG"))
    assert image.pixels[0, 0].tolist() == pytest.approx([127, 127, 127], abs=1)


@pytest.mark.parametrize("form", ["PNG", "TIFF"])
def test_sixteen_bits_keep_their_shades(form: str) -> None:
    values = np.linspace(0, 65535, 64, dtype=np.uint16).reshape(1, 64).repeat(8, axis=0)
    image = draw(saved(Image.fromarray(values), form))
    row = image.pixels[0, :, 0].astype(int)
    assert row[0] == 0
    assert row[-1] == 255
    assert np.abs(row - np.linspace(0, 255, 64)).max() <= 1


def test_twelve_bits_in_sixteen_are_not_black() -> None:
    values = np.full((8, 8), 4095, dtype=np.uint16)
    values[0, 0] = 0
    image = draw(saved(Image.fromarray(values), "TIFF"))
    assert image.pixels[4, 4].tolist() == [255, 255, 255]


def test_floating_point_pictures_are_spread() -> None:
    values = np.linspace(-1.5, 2.5, 64, dtype=np.float32).reshape(8, 8)
    values[3, 3] = np.nan
    image = draw(saved(Image.fromarray(values), "TIFF"))
    assert image.pixels[0, 0, 0] == 0
    assert image.pixels[7, 7, 0] == 255


def test_cmyk_black_is_black_and_paper_is_white() -> None:
    picture = Image.new("CMYK", (32, 16), (0, 0, 0, 0))
    picture.paste((0, 0, 0, 255), (0, 0, 16, 16))
    for form in ("JPEG", "TIFF"):
        image = draw(saved(picture, form))
        assert image.pixels[8, 4].max() < 10
        assert image.pixels[8, 28].min() > 245


def test_a_useless_profile_does_not_matter() -> None:
    picture = Image.new("CMYK", (32, 16), (0, 255, 255, 0))
    wrong = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    for profile in (b"rubbish", wrong):
        image = draw(saved(picture, "TIFF", icc_profile=profile))
        assert image.pixels[8, 8].tolist() == pytest.approx([255, 0, 0], abs=20)


def test_large_pictures_are_scaled_down_and_say_so() -> None:
    image = draw(saved(two_colours((400, 200)), "PNG"), request=RenderRequest(200, 20_000))
    assert image.pixels.shape == (100, 200, 3)
    assert [problem.code for problem in image.problems] == ["downscaled"]
    assert "400 x 200 to 200 x 100" in image.problems[0].message
    assert red_corner(image) == "top left"


def test_large_jpegs_are_scaled_down_the_same() -> None:
    image = draw(saved(two_colours((4000, 2000)), "JPEG"), request=RenderRequest(200, 20_000))
    assert image.pixels.shape == (100, 200, 3)
    assert "4000 x 2000" in image.problems[0].message
    assert (image.size.width_pt, image.size.height_pt) == pytest.approx((792, 396))


def test_small_pictures_are_not_scaled_up() -> None:
    image = draw(png((20, 10)), request=RenderRequest(600, 8_000_000, max_image_width=5000))
    assert image.pixels.shape == (10, 20, 3)


def test_the_width_wished_for_is_kept_without_a_problem() -> None:
    image = draw(png((400, 200)), request=RenderRequest(200, 8_000_000, max_image_width=100))
    assert image.pixels.shape == (50, 100, 3)
    assert image.problems == ()


def test_one_pixel_is_a_page() -> None:
    assert draw(png((1, 1))).pixels.tolist() == [[[255, 0, 0]]]


def _noise(size: tuple[int, int]) -> Image.Image:
    values = np.random.default_rng(1).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    return Image.fromarray(values)


@pytest.mark.parametrize(("form", "options"), [("PNG", {}), ("JPEG", {"quality": 90}), ("BMP", {})])
def test_a_picture_cut_short_is_read_as_far_as_it_goes(form: str, options: dict[str, Any]) -> None:
    noise = _noise((200, 400))
    data = saved(noise, form, **options)
    image = draw(data[: len(data) * 6 // 10])
    assert image.pixels.shape == (400, 200, 3)
    assert [problem.code for problem in image.problems] == ["picture-truncated"]
    assert "could be read" in image.problems[0].message
    before = np.asarray(noise).astype(int)
    if form != "BMP":  # BMP begins with its last row
        assert np.abs(image.pixels[:150].astype(int) - before[:150]).mean() < 60
        assert (image.pixels[-100:] == 255).all()


def test_a_picture_of_which_nothing_can_be_read_is_an_error_of_the_page() -> None:
    data = saved(_noise((200, 400)), "PNG")
    with pytest.raises(PageUnrenderable) as caught:
        draw(data[:60])
    assert str(caught.value).startswith("it, page 1: the picture is damaged")


def test_a_bomb_is_refused_before_it_is_decoded() -> None:
    data = bytearray(png())
    data[16:24] = (100_000).to_bytes(4, "big") * 2
    import zlib

    data[29:33] = zlib.crc32(data[12:29]).to_bytes(4, "big")
    with pytest.raises(InputTooLarge) as caught:
        draw(bytes(data))
    assert "more pixels" in str(caught.value)
