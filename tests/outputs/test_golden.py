"""Every output of the hand-made sample against a file that a person has looked at.

Refresh with ``pytest tests/outputs/test_golden.py --refresh-golden`` and read the difference.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from moonpress.document import Delimiters, RenderOptions
from moonpress.document.rendering import find_output, output_names
from tests.outputs.sample import FIGURES, make_document

OUTPUTS = ["chunks", "html", "json", "markdown", "text"]
EVERYTHING = RenderOptions(headers_footers=True, page_anchors=True, figures=FIGURES)
PLAIN = RenderOptions(delimiters=Delimiters.BRACKET)


def test_every_installed_output_is_listed_here() -> None:
    assert list(output_names()) == OUTPUTS


@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.parametrize(("case", "options"), [("everything", EVERYTHING), ("plain", PLAIN)])
def test_sample_looks_as_agreed(
    name: str, case: str, options: RenderOptions, checkout: Path, request: pytest.FixtureRequest
) -> None:
    output = find_output(name)
    text = output.render(make_document(), options)
    golden = checkout / "tests" / "golden" / f"sample_{case}{output.suffix}"
    if request.config.getoption("--refresh-golden", default=False):
        golden.write_bytes(text.encode())
    assert text == golden.read_bytes().decode()


@pytest.mark.parametrize("name", OUTPUTS)
def test_output_keeps_the_contract(name: str) -> None:
    output = find_output(name)
    assert output.name == name
    assert output.suffix.startswith(".")
    document = make_document()
    text = output.render(document, RenderOptions())
    assert text == output.render(document, RenderOptions())
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    # Nothing silently missing: words of the last page that was read, and the page that was not.
    assert "Only this." in text
    assert "took longer than 60 s" in text
    assert "alert(1)</script>" not in text or name in {"chunks", "json", "text", "markdown"}
