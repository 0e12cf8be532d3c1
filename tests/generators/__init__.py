"""Pages made by the project itself, whose content is known to the letter.

Nothing is copied from any document: words come from `tests.generators.words`, fonts from
``tests/data/fonts``. Every page is the same each time it is made from the same seed.
"""

from tests.generators.page import (
    GeneratedPage,
    TruthBlock,
    TruthCell,
    TruthLine,
    TruthTable,
    join_pages,
)
from tests.generators.scans import Wear, as_scan, image_only_pdf, mixed

__all__ = [
    "GeneratedPage",
    "TruthBlock",
    "TruthCell",
    "TruthLine",
    "TruthTable",
    "Wear",
    "as_scan",
    "image_only_pdf",
    "join_pages",
    "mixed",
]
