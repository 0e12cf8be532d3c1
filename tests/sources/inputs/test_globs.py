"""Patterns match part by part what the shell would match."""

from __future__ import annotations

import pytest

from moonpress.sources.inputs.globs import GlobPattern


def matches(pattern: str, path: str) -> bool:
    parts = GlobPattern(tuple(pattern.split("/")))
    state = parts.start()
    for name in path.split("/"):
        state = parts.step(state, name)
    return parts.is_match(state)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.pdf", "a.pdf", True),
        ("*.pdf", "x/a.pdf", False),
        ("**/*.pdf", "a.pdf", True),
        ("**/*.pdf", "x/y/a.pdf", True),
        ("**/*.pdf", "x/.y/a.pdf", False),
        ("x/**/b/*.pdf", "x/b/a.pdf", True),
        ("x/**/b/*.pdf", "x/1/b/2/b/a.pdf", True),
        ("x/**/b/*.pdf", "x/1/b/2/a.pdf", False),
        ("**", "a/b.pdf", True),
        ("*.pdf", ".a.pdf", False),
        (".*.pdf", ".a.pdf", True),
        ("[ab]?.pdf", "b1.pdf", True),
        ("[!ab]?.pdf", "b1.pdf", False),
        ("*.PDF", "a.pdf", False),
        ("*.pdf", "new\nline.pdf", True),
    ],
)
def test_matching(pattern: str, path: str, expected: bool) -> None:
    assert matches(pattern, path) is expected


def test_folders_that_hold_no_match_are_not_entered() -> None:
    pattern = GlobPattern(("2024-*", "*.pdf"))
    assert not pattern.step(pattern.start(), "2023-01")
    assert pattern.step(pattern.start(), "2024-01")
