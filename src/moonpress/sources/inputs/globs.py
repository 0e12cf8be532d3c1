"""Patterns of paths: ``*``, ``?``, ``[abc]`` and ``**``, as a shell with globstar has them.

Owns matching a pattern part by part while folders are walked, so that only folders that can hold a
match are listed. Never looks at a disk.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import translate

_MAGIC = re.compile(r"[*?\[]")
_ANY_DEPTH = "**"

# Places in the pattern that are reached: which parts may match next.
State = frozenset[int]


def has_magic(text: str) -> bool:
    """Whether a part of a path is a pattern."""
    return _MAGIC.search(text) is not None


@dataclass(frozen=True, slots=True)
class GlobPattern:
    """A pattern of parts below some folder.

    Attributes:
        parts: At least one; ``**`` stands for any number of folders.
    """

    parts: tuple[str, ...]

    @property
    def names_kind(self) -> bool:
        """Whether the pattern says how names end, so that what it matches was asked for."""
        return not self.parts[-1].endswith("*")

    def start(self) -> State:
        """Where matching begins."""
        return self._spread({0})

    def step(self, state: State, name: str) -> State:
        """Where matching stands after one more part; empty when nothing below can match."""
        reached = set()
        for at in state:
            if at == len(self.parts):
                continue
            part = self.parts[at]
            if part == _ANY_DEPTH:
                if not name.startswith("."):
                    reached.add(at)
            elif _matches(part, name):
                reached.add(at + 1)
        return self._spread(reached)

    def is_match(self, state: State) -> bool:
        """Whether the parts so far are a match."""
        return len(self.parts) in state

    def _spread(self, reached: set[int]) -> State:
        """``**`` may stand for no folder at all."""
        for at in range(len(self.parts)):
            if at in reached and self.parts[at] == _ANY_DEPTH:
                reached.add(at + 1)
        return frozenset(reached)


def _matches(part: str, name: str) -> bool:
    """As a shell: wildcards leave hidden names alone."""
    if name.startswith(".") and not part.startswith("."):
        return False
    return re.match(translate(part), name) is not None
