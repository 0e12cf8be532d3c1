"""What a reader of our Markdown sees: an independent CommonMark renderer with GitHub's tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

from moonpress.document.html import visible_text


@cache
def _renderer(*, math: bool) -> MarkdownIt:
    renderer = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    renderer.add_render_rule("image", _image)
    if math:
        # Without digits it would refuse those before a formula too, which no other reader does.
        dollarmath_plugin(renderer, allow_space=False, allow_digits=True, double_inline=False)
        renderer.add_render_rule("math_inline", _math)
        renderer.add_render_rule("math_block", _math)
    return renderer


def to_html(markdown: str, *, math: bool = True) -> str:
    """HTML; with ``math``, formulas between dollars become ``<math>``."""
    return str(_renderer(math=math).render(markdown))


def seen(markdown: str, *, math: bool = True) -> str:
    """The words that a reader sees."""
    return visible_text(to_html(markdown, math=math))


def squeezed(text: str) -> str:
    """Text without any white space, which renderers may add and drop between blocks."""
    return "".join(text.split())


def _math(self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    content = tokens[index].content.replace("&", "&amp;").replace("<", "&lt;")
    return f"<math>{content}</math>"


def _image(self: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return f"<p>{self.renderInlineAsText(tokens[index].children or [], options, env)}</p>"
