"""Text that Streamlit is to show as it is.

Owns escaping: file names come from anybody, and Streamlit takes labels and messages for Markdown,
in which they could bring pictures from elsewhere.
"""

from __future__ import annotations

import re

_MARKS = re.compile(r"([!-/:-@\[-`{-~])")


def plain(text: str) -> str:
    r"""``text`` as Markdown that shows every letter of it, on one line.

    >>> plain("a_b [x](y)")
    'a\\_b \\[x\\]\\(y\\)'
    """
    return _MARKS.sub(r"\\\1", " ".join(text.split()))
