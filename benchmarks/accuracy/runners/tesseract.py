"""The tesseract program, page segmentation 3, on the page drawn at 300 dpi or the picture as is."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

Read = Callable[[Path, int], str]
_LIMIT = 300


def create(*, languages: str = "") -> Read:
    """Use the named packs joined by ``+``; by default English, and Chinese where it is there."""
    chosen = languages or ("eng+chi_sim" if "chi_sim" in _packs() else "eng")

    def read(path: Path, page: int) -> str:
        with tempfile.TemporaryDirectory() as folder:
            picture = path
            if path.suffix == ".pdf":
                picture = _drawn(path, page, Path(folder))
            command = ["tesseract", str(picture), "-", "-l", _for(path, chosen), "--psm", "3"]
            done = subprocess.run(
                command,
                capture_output=True,
                timeout=_LIMIT,
                check=True,
                text=True,
                env={"OMP_THREAD_LIMIT": "1", "PATH": "/usr/local/bin:/usr/bin:/bin"},
            )
            return done.stdout.replace("\f", "")

    return read


def version(_python: str) -> str:
    """First line of ``tesseract --version``."""
    done = subprocess.run(["tesseract", "--version"], capture_output=True, text=True, check=True)
    return (done.stdout or done.stderr).splitlines()[0].removeprefix("tesseract ")


def _packs() -> str:
    done = subprocess.run(["tesseract", "--list-langs"], capture_output=True, text=True, check=True)
    return done.stdout


def _for(path: Path, chosen: str) -> str:
    """English alone where the file's name does not say Chinese: the second pack only costs."""
    chinese = "chinese" in path.name or "-zh" in path.name or "cjk" in path.name
    return chosen if chinese else chosen.split("+", maxsplit=1)[0]


def _drawn(path: Path, page: int, folder: Path) -> Path:
    import pypdfium2 as pdfium

    with pdfium.PdfDocument(path) as document:
        bitmap = document[page - 1].render(scale=300 / 72)
        target = folder / "page.png"
        bitmap.to_pil().save(target, compress_level=1, dpi=(300, 300))
    return target
