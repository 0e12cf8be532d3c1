"""How a document becomes text without the model knowing its outputs.

Owns the `Output` protocol, the options that all outputs share, and the lookup of outputs by name
among the ``moonpress.outputs`` entry points (ours and third parties'). Never renders itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Protocol

from moonpress.errors import UnknownName

if TYPE_CHECKING:
    from moonpress.document.document import Document

GROUP = "moonpress.outputs"


class Delimiters(StrEnum):
    r"""How LaTeX stands in Markdown: ``$x$`` and ``$$x$$``, or ``\(x\)`` and ``\[x\]``."""

    DOLLAR = "dollar"
    BRACKET = "bracket"


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """Choices that outputs share; each output ignores what does not concern it.

    Attributes:
        delimiters: Marks around LaTeX in Markdown.
        headers_footers: Include page headers and footers in Markdown, HTML and text.
        page_anchors: Mark where each page begins (``<a id="p3"></a>``).
        figures: Relative link of the crop of each figure, by block id; blocks that are missing
            here are rendered without a picture.
        chunk_tokens: Size that chunks are filled up to, in estimated tokens.
        chunk_limit: Size above which a paragraph is cut, in estimated tokens; what cannot be cut
            stays whole.
    """

    delimiters: Delimiters = Delimiters.DOLLAR
    headers_footers: bool = False
    page_anchors: bool = False
    figures: Mapping[str, str] = field(default_factory=dict)
    chunk_tokens: int = 512
    chunk_limit: int = 1024


class Output(Protocol):
    """One output format."""

    @property
    def name(self) -> str:
        """As in ``--format``."""
        ...

    @property
    def suffix(self) -> str:
        """File suffix with its dot."""
        ...

    def render(self, document: Document, options: RenderOptions) -> str:
        """The whole document as text."""
        ...


def output_names() -> tuple[str, ...]:
    """Names of all installed outputs, sorted."""
    return tuple(sorted({e.name for e in entry_points(group=GROUP)}))


def find_output(name: str) -> Output:
    """Look an output up by name.

    Raises:
        UnknownName: no output has this name.
    """
    for entry in entry_points(group=GROUP, name=name):
        output: Output = entry.load()
        return output
    raise UnknownName(
        f"no output format is called {name!r}", hint=f"Choose among {', '.join(output_names())}"
    )
