"""Reading pages in languages that the built-in recogniser lacks, by an installed tesseract.

Owns finding language packs, running the program and reading its table. Never chooses the language:
the user does.
"""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from moonpress.document import Problem, ProblemCode, TextOrigin
from moonpress.engines.embedded.types import Box, Line, Word

Pixels = npt.NDArray[np.uint8]

_TIMEOUT = 120.0
_WORD_LEVEL = "5"
_LEAST_CONFIDENCE = 0.2
# Marks of direction that it puts around words of Arabic and Hebrew.
_MARKS = dict.fromkeys((0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)))


class Tesseract:
    """An installed tesseract with some languages.

    Args:
        languages: Names of language packs, such as ``ara`` or ``chi_sim``.
        threads: Threads it may use.
    """

    def __init__(self, languages: Sequence[str], threads: int) -> None:
        self._languages = tuple(languages)
        self._threads = threads

    @cached_property
    def problem(self) -> Problem | None:
        """Why it cannot be used, or ``None`` when it can."""
        program = shutil.which("tesseract")
        missing = [x for x in self._languages if x not in self._packs] if program else []
        if program and not missing:
            return None
        packages = ["tesseract-ocr-" + x.replace("_", "-") for x in missing or self._languages]
        what = (
            f"tesseract lacks the language pack {', '.join(missing)}"
            if program
            else "tesseract, which reads these languages, is not installed"
        )
        if not program:
            packages.insert(0, "tesseract-ocr")
        return Problem(
            ProblemCode.LANGUAGE_PACK_MISSING,
            f"{what}; on Debian and Ubuntu: apt-get install {' '.join(packages)}",
        )

    def read(self, pixels: Pixels) -> tuple[Line, ...]:
        """All lines in ``pixels``, (H, W, 3) uint8 RGB; none when tesseract fails on them."""
        import cv2

        encoded = cv2.imencode(".png", pixels[:, :, ::-1], [cv2.IMWRITE_PNG_COMPRESSION, 1])[1]
        command = ["tesseract", "stdin", "stdout", "-l", "+".join(self._languages), "--psm", "3"]
        answer = self._run([*command, "tsv"], encoded.tobytes())
        return _lines(answer) if answer is not None else ()

    @cached_property
    def _packs(self) -> frozenset[str]:
        answer = self._run(["tesseract", "--list-langs"], b"") or ""
        return frozenset(line.strip() for line in answer.splitlines()[1:])

    def _run(self, command: list[str], data: bytes) -> str | None:
        try:
            done = subprocess.run(
                command,
                input=data,
                capture_output=True,
                timeout=_TIMEOUT,
                check=True,
                env={"OMP_THREAD_LIMIT": str(self._threads), "PATH": _path(), "LC_ALL": "C.UTF-8"},
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.decode("utf-8", errors="replace")


def _path() -> str:
    import os

    return os.environ.get("PATH", os.defpath)


def _lines(table: str) -> tuple[Line, ...]:
    """Lines from tesseract's table of words."""
    rows = csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE)
    groups: dict[tuple[str, ...], list[tuple[Word, float]]] = {}
    for row in rows:
        text = (row.get("text") or "").translate(_MARKS).strip()
        if row.get("level") != _WORD_LEVEL or not text:
            continue
        left, top = float(row["left"]), float(row["top"])
        box = Box(left, top, left + float(row["width"]), top + float(row["height"]))
        key = (row["block_num"], row["par_num"], row["line_num"])
        groups.setdefault(key, []).append((Word(box, text), float(row["conf"]) / 100))
    return tuple(line for group in groups.values() for line in _split(group))


def _split(group: list[tuple[Word, float]]) -> list[Line]:
    """A line, or several where tesseract ran through the gap between two columns."""
    height = float(np.median([word.box.height for word, _ in group]))
    pieces: list[list[tuple[Word, float]]] = [[group[0]]]
    for before, item in pairwise(group):
        one, two = before[0].box, item[0].box
        gap = max(two.x0 - one.x1, one.x0 - two.x1)
        if gap > 2.5 * height:
            pieces.append([])
        pieces[-1].append(item)
    made = [_line(piece) for piece in pieces]
    return [line for line in made if line.confidence >= _LEAST_CONFIDENCE]


def _line(piece: list[tuple[Word, float]]) -> Line:
    words = tuple(word for word, _ in piece)
    box = words[0].box
    for word in words[1:]:
        box = box.union(word.box)
    return Line(
        box=box,
        text=" ".join(word.text for word in words),
        confidence=max(0.0, float(np.mean([c for _, c in piece]))),
        origin=TextOrigin.OCR,
        size=float(np.median([w.box.height for w in words])),
        words=words,
    )
