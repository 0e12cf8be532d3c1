"""Writing results whole or not at all.

Owns the order of writing, renaming and cleaning up. Never decides where results go: see `targets`.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

from moonpress.document import Document, RenderOptions
from moonpress.document.rendering import find_output
from moonpress.errors import OutputError
from moonpress.outputs.disk import output_errors, sync, temporary_name, write_new
from moonpress.outputs.figures import Crops
from moonpress.outputs.targets import Targets, is_device

# Characters that end or change a relative link, in HTML or in Markdown.
_LINK_BREAKERS: Final = {
    code: f"%{code:02X}" for code in (*range(33), *map(ord, "%\"#<>?[]\\^`{|}()&'*~$:"))
}
_NO_LINKS: Final = frozenset({errno.EXDEV, errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.EACCES})


def write_document(
    document: Document, targets: Targets, crops: Crops | None, options: RenderOptions
) -> list[Path]:
    """Render and write ``document``; each file appears whole, or not at all.

    Everything is first written under temporary names in the folders of the results, then renamed:
    if something fails before that, older results stay untouched.

    Args:
        document: What to write.
        targets: From `resolve_targets`.
        crops: Crops of its figures; ``None`` renders figures without a picture.
        options: Choices for rendering; ``figures`` is filled in here.

    Returns:
        The files written, then the figures folder if there is one. Empty for standard output.

    Raises:
        NoSpace: the disk or the quota is full.
        OutputError: writing failed for another reason.
    """
    if targets.stdout is not None:
        options = replace(options, figures={})
        _write_stdout(find_output(targets.stdout).render(document, options))
        return []
    kept = _crops_of(document, crops) if targets.figures is not None else {}
    if targets.folder is not None:
        with output_errors(str(targets.folder)):
            targets.folder.mkdir(parents=True, exist_ok=True)
    if targets.figures is not None:
        links = {key: link(targets.figures.name, path.name) for key, path in kept.items()}
        options = replace(options, figures=links)
    with _temporary() as temporary:
        renames = _write_files(document, targets, options, temporary)
        figures = _write_figures(targets.figures, kept, temporary)
        if figures is not None and targets.figures is not None:
            with output_errors(str(targets.figures)):
                _swap_folder(figures, targets.figures.resolve(), temporary)
        for path, place in renames.items():
            with output_errors(str(place)):
                path.replace(place)
                sync(place.parent)
    written = list(targets.files.values())
    return [*written, targets.figures] if kept and targets.figures is not None else written


def link(*names: str) -> str:
    """A relative link of path ``names``, for HTML and Markdown alike."""
    return "/".join(name.translate(_LINK_BREAKERS) for name in names)


def _crops_of(document: Document, crops: Crops | None) -> Mapping[str, Path]:
    if crops is None:
        return {}
    ids = {block.id for page in document.pages for block in page.blocks}
    return {key: path for key, path in sorted(crops.paths.items()) if key in ids}


@contextmanager
def _temporary() -> Iterator[list[Path]]:
    """Paths to be removed at the end, whatever happens, unless they were renamed away."""
    paths: list[Path] = []
    try:
        yield paths
    finally:
        for path in paths:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def _write_files(
    document: Document, targets: Targets, options: RenderOptions, temporary: list[Path]
) -> dict[Path, Path]:
    """Write every format under a temporary name, and say what to rename each to."""
    renames: dict[Path, Path] = {}
    for name, path in targets.files.items():
        data = _encode(find_output(name).render(document, options))
        with output_errors(str(path)):
            if is_device(path):
                path.write_bytes(data)
                continue
            # The file behind a link is replaced, not the link.
            place = path.resolve()
            new = temporary_name(place.parent)
            temporary.append(new)
            write_new(new, data)
            if place.exists():
                shutil.copymode(place, new)
            renames[new] = place
    return renames


def _write_figures(
    folder: Path | None, crops: Mapping[str, Path], temporary: list[Path]
) -> Path | None:
    """Bring the crops together in a temporary folder beside ``folder``."""
    if folder is None or not crops:
        return None
    with output_errors(str(folder)):
        place = folder.resolve()
        new = temporary_name(place.parent)
        temporary.append(new)
        new.mkdir()
        for path in crops.values():
            copy = new / path.name
            _link_or_copy(path, copy)
            sync(copy)
        sync(new)
    return new


def _link_or_copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        shutil.copyfile(source, target)


def _swap_folder(new: Path, place: Path, temporary: list[Path]) -> None:
    """Put ``new`` in the place of an older folder, which comes back if that fails."""
    if not place.exists():
        new.rename(place)
        return
    old = temporary_name(place.parent)
    place.rename(old)
    try:
        new.rename(place)
    except BaseException:
        old.rename(place)
        raise
    temporary.append(old)


def _write_stdout(text: str) -> None:
    try:
        with output_errors("standard output"):
            sys.stdout.flush()
            sys.stdout.buffer.write(_encode(text))
            sys.stdout.buffer.flush()
    except OutputError as error:
        if isinstance(error.__cause__, BrokenPipeError):
            raise OutputError("nobody reads standard output any more") from error
        raise


def _encode(text: str) -> bytes:
    # Outputs of third parties may let half of a surrogate pair through.
    return text.encode("utf-8", errors="replace")
