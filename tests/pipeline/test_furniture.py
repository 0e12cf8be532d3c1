"""Running headers and footers found over the whole document."""

from moonpress.document import BBox, Block, BlockKind, Page, PageStatus
from moonpress.pipeline.furniture import mark_furniture

TOP = BBox(0.1, 0.03, 0.9, 0.05)
MIDDLE = BBox(0.1, 0.4, 0.9, 0.5)
FOOT = BBox(0.1, 0.95, 0.9, 0.97)


def page(number: int, *blocks: tuple[str, BBox]) -> Page:
    return Page(
        number=number,
        size=None,
        status=PageStatus.OK,
        blocks=tuple(
            Block(id=f"p{number}-b{k}", kind=BlockKind.TEXT, bbox=box, html=f"<p>{text}</p>")
            for k, (text, box) in enumerate(blocks, start=1)
        ),
    )


def kinds(pages: tuple[Page, ...]) -> list[list[BlockKind]]:
    return [[block.kind for block in p.blocks] for p in pages]


def test_lines_that_differ_only_in_their_number_are_furniture() -> None:
    pages = [
        page(n, (f"Journal of Pages, vol. {n}", TOP), (f"Text {n}", MIDDLE), (f"{n} of 4", FOOT))
        for n in range(1, 5)
    ]
    expected = [BlockKind.PAGE_HEADER, BlockKind.TEXT, BlockKind.PAGE_FOOTER]
    assert kinds(mark_furniture(pages)) == [expected] * 4


def test_the_same_words_in_the_body_stay_text() -> None:
    pages = [page(n, ("Same words", MIDDLE)) for n in range(1, 5)]
    assert kinds(mark_furniture(pages)) == [[BlockKind.TEXT]] * 4


def test_twice_is_not_enough() -> None:
    pages = [page(n, ("Same words", TOP)) for n in (1, 2)]
    assert kinds(mark_furniture(pages)) == [[BlockKind.TEXT]] * 2
