"""The reference page of errors, made from the error tree.

Owns the text of ``docs/reference/errors.md``. Never writes it: `scripts.generate_docs` does.
"""

from __future__ import annotations

from collections.abc import Iterator

from moonpress.document import ProblemCode
from moonpress.errors import MoonpressError, PasswordNeeded

_FORM = """\
Every failure is one line: the file, the page where it is one, what is wrong, what can be done, and
a stable code in brackets.
"""
_CLASSES = """
The same names are the classes of `moonpress.errors`; each has the attributes `code`, `message`,
`file`, `page`, `hint`, `retryable`, `exit_code` and `http_status`. Catch a class to catch
everything below it.
"""


def error_page(notice: str) -> str:
    """The page, with ``notice`` after its title."""
    example = PasswordNeeded("the document is encrypted", file="report.pdf")
    lines = ["# Errors", "", notice, "", _FORM, f"    {example}", _CLASSES]
    lines += [
        "| Class | Code | Exit code | Meaning | What to do |",
        "| --- | --- | --- | --- | --- |",
    ]
    lines += [_row(kind, depth) for kind, depth in _walk(MoonpressError, 0)]
    lines += ["", "## Problems of pages", ""]
    lines += [
        "A page that was read can still carry problems; JSON lists them with these codes.",
        "",
    ]
    lines += [f"- `{code.value}`" for code in ProblemCode]
    return "\n".join(lines) + "\n"


def _walk(kind: type[MoonpressError], depth: int) -> Iterator[tuple[type[MoonpressError], int]]:
    """The tree in order of definition, parents before children, ours only."""
    yield kind, depth
    for child in kind.__subclasses__():
        if child.__module__ == MoonpressError.__module__:
            yield from _walk(child, depth + 1)


def _row(kind: type[MoonpressError], depth: int) -> str:
    meaning = (kind.__doc__ or "").strip().splitlines()[0]
    indent = "&nbsp;" * 4 * depth
    cells = (f"{indent}`{kind.__name__}`", f"`{kind.code}`", str(kind.exit_code), meaning)
    return f"| {' | '.join(cells)} | {kind.default_hint} |"
