"""A paper's reading as files to take away.

Owns the archive. The files in it are those that ``chandra-pdf`` writes. Never keeps them.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from moonpress.document import Document, RenderOptions
from moonpress.document.rendering import output_names
from moonpress.outputs.figures import StoredCrops
from moonpress.outputs.targets import targets_in_folder
from moonpress.outputs.writer import write_document

_STRANGE = re.compile(r"[^\w .()+,=@-]+")
_LONGEST = 80
# Pictures are compressed already.
_STORED = {".png", ".jpg"}


def stem_of(name: str) -> str:
    """A name for files made of ``name``: no folders, nothing that a system refuses."""
    stem = Path(name.replace("\\", "/")).stem
    return _STRANGE.sub("_", stem)[:_LONGEST].strip(" .") or "document"


def archive(document: Document, figures: Mapping[str, Path]) -> bytes:
    """All formats and the figures as a zip.

    Args:
        document: With edits.
        figures: Crop by block id.

    Raises:
        OutputError: the disk is full.
    """
    with TemporaryDirectory(prefix="moonpress-") as made:
        folder = Path(made) / "files"
        targets = targets_in_folder(folder, stem_of(document.source), output_names())
        write_document(document, targets, StoredCrops(figures), RenderOptions())
        stream = BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as into:
            for path in sorted(folder.rglob("*")):
                if path.is_file():
                    how = zipfile.ZIP_STORED if path.suffix in _STORED else zipfile.ZIP_DEFLATED
                    into.write(path, path.relative_to(folder), compress_type=how)
        return stream.getvalue()
