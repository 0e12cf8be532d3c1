"""The README's picture: a page with the boxes that were found, beside the Markdown made of it.

Owns nothing that is installed; run by hand when the result changes visibly:

    report=docs/report/moonpress-report.pdf
    chandra-pdf $report --pages 3 --output picture/
    python scripts/readme_picture.py $report 3 picture docs/images/result.png

Needs Chromium. Never invents anything: both halves come from the files that Moonpress wrote.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pypdfium2
from markdown_it import MarkdownIt
from PIL import Image, ImageDraw

_PAGE_HEIGHT = 1240
_COLOURS = {
    "heading": "#d62728",
    "text": "#1f77b4",
    "list": "#9467bd",
    "table": "#2ca02c",
    "formula": "#ff7f0e",
    "figure": "#e377c2",
    "caption": "#17becf",
    "footnote": "#8c564b",
    "bibliography": "#9467bd",
}
_OTHER = "#7f7f7f"
_STYLE = """
body { margin: 0; display: flex; gap: 24px; padding: 20px; background: #eceff4; width: 1840px;
  height: 1240px; font: 15.5px/1.42 "Liberation Sans", Arial, sans-serif; overflow: hidden }
img.page { height: 1240px; box-shadow: 0 1px 8px #0004 }
article { background: #fff; box-shadow: 0 1px 8px #0004; padding: 12px 30px; overflow: hidden;
  flex: 1 }
h1 { font-size: 24px } h2 { font-size: 21px } h3 { font-size: 18px }
h1, h2, h3 { margin: 11px 0 5px }
p, ul, ol { margin: 7px 0 } table { border-collapse: collapse; margin: 8px 0; font-size: 14.5px }
td, th { border: 1px solid #bbb; padding: 2px 9px } article img { max-height: 60px; display: block }
"""


def page_with_boxes(pdf: Path, number: int, blocks: list[dict[str, Any]]) -> Image.Image:
    """Page ``number`` (from 1) as a picture, with a coloured frame and kind for each block."""
    page = pypdfium2.PdfDocument(pdf)[number - 1]
    scale = _PAGE_HEIGHT / page.get_height()
    picture: Image.Image = page.render(scale=scale).to_pil().convert("RGB")
    draw = ImageDraw.Draw(picture, "RGBA")
    width, height = picture.size
    for block in blocks:
        x0, y0, x1, y1 = block["bbox"]
        box = (x0 * width - 2, y0 * height - 2, x1 * width + 2, y1 * height + 2)
        colour = _COLOURS.get(block["kind"], _OTHER)
        draw.rectangle(box, outline=colour, width=2)
        draw.text((box[0] + 2, box[1] - 13), block["kind"], fill=colour, font_size=12)
    return picture


def web_page(picture: Image.Image, markdown: str, folder: Path) -> str:
    """One HTML page: the picture on the left, the Markdown rendered on the right."""
    stored = io.BytesIO()
    picture.save(stored, "PNG")
    data = base64.b64encode(stored.getvalue()).decode()
    body = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
    return (
        f'<!doctype html><meta charset="utf-8"><base href="{folder.resolve().as_uri()}/">'
        f"<style>{_STYLE}</style>"
        f'<img class="page" src="data:image/png;base64,{data}"><article>{body}</article>'
    )


def photograph(html: Path, target: Path) -> None:
    """Let Chromium draw ``html`` and store it with few colours, so that it stays small."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome") or "chromium"
    shot = html.with_suffix(".png")
    command = [chromium, "--headless", "--no-sandbox", "--hide-scrollbars", "--disable-gpu"]
    command += ["--window-size=1880,1280", f"--screenshot={shot}", html.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    with Image.open(shot) as picture:
        small = picture.convert("RGB").resize((1410, 960), Image.Resampling.LANCZOS)
    small.quantize(96).save(target, optimize=True)


def main() -> None:
    """Make the picture from a folder that ``chandra-pdf`` wrote."""
    parser = argparse.ArgumentParser(description="Make the README's picture.")
    parser.add_argument("pdf", type=Path)
    parser.add_argument("page", type=int)
    parser.add_argument("results", type=Path)
    parser.add_argument("target", type=Path)
    chosen = parser.parse_args()
    stem = chosen.results.resolve() / chosen.pdf.stem
    document = json.loads(stem.with_suffix(".json").read_text(encoding="utf-8"))
    (page,) = (page for page in document["pages"] if page["number"] == chosen.page)
    picture = page_with_boxes(chosen.pdf, chosen.page, page["blocks"])
    markdown = stem.with_suffix(".md").read_text(encoding="utf-8")
    html = chosen.results.resolve() / "picture.html"
    html.write_text(web_page(picture, markdown, chosen.results), encoding="utf-8")
    photograph(html, chosen.target)


if __name__ == "__main__":
    main()
