"""Where the results of one document go, decided before anything is read.

Owns the meaning of ``--output`` and ``--format``. Never writes a result: see `writer`.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from moonpress.document.rendering import find_output, output_names
from moonpress.errors import NoSpace, OutputError, OutputUnwritable, UsageError
from moonpress.outputs.disk import output_errors, temporary_name
from moonpress.outputs.figures import CROP_NAME

STDOUT: Final = "-"
_DEFAULT_FORMAT: Final = "markdown"
_UNNAMED: Final = "document"
# A folder gets all other formats unasked: these show no document.
_ON_REQUEST: Final = frozenset({"chunks"})


@dataclass(frozen=True, slots=True)
class Targets:
    """Where each format goes.

    Attributes:
        files: Path by format name; empty when the result goes to standard output.
        figures: Folder for the crops beside the files; ``None`` for standard output and devices.
        stdout: Name of the format that goes to standard output, if one does.
        folder: Folder to make for the files where it is missing.
    """

    files: Mapping[str, Path]
    figures: Path | None
    stdout: str | None = None
    folder: Path | None = None


def resolve_targets(source_name: str, output: str | None, formats: Sequence[str]) -> Targets:
    """Decide where the results go.

    Args:
        source_name: Path or name of the input, as the user gave it.
        output: Value of ``--output``: a file, whose suffix names the format unless ``formats``
            does; a folder (existing, or ending in a slash); ``-`` for standard output; or ``None``
            for ``<stem>.md`` in the current folder.
        formats: Values of ``--format``; empty for Markdown, and in a folder for all formats but
            chunks.

    Raises:
        UnknownName: no output format has this name.
        UsageError: the combination makes no sense.
        OutputUnwritable: a result would replace the input.
    """
    names = tuple(dict.fromkeys(formats))
    for name in names:
        find_output(name)
    if output == STDOUT:
        name = _single(names or (_DEFAULT_FORMAT,), "standard output takes one format")
        return Targets(files={}, figures=None, stdout=name)
    if output is not None and (not output or "\0" in output):
        raise UsageError("--output is empty", hint="Name a file or a folder")
    targets = _on_disk(source_name, output, names)
    _spare_input(source_name, targets)
    return targets


def targets_in_folder(folder: Path, stem: str, formats: Sequence[str]) -> Targets:
    """Where the results go in a folder of their own, which is made where it is missing.

    Args:
        folder: It.
        stem: Name of the files without suffix.
        formats: Names of formats; empty for all but chunks.

    Raises:
        UnknownName: no output format has one of the names.
    """
    return _in_folder(folder, stem, tuple(dict.fromkeys(formats)) or _unasked(), make=True)


def check_writable(targets: Targets) -> None:
    """Find out, before reading starts, whether the results can be written.

    Tries it: makes and removes an empty file in the folder, or in the folder above that exists.

    Raises:
        OutputUnwritable: they cannot.
        NoSpace: the disk is full already.
    """
    for path in targets.files.values():
        _check_file(path)
    if targets.figures is not None and targets.files:
        _check_figures(targets.figures)
    places = {p.resolve().parent for p in targets.files.values() if not is_device(p)}
    for folder in sorted(places):
        _check_folder(folder, may_make=targets.folder is not None)


def is_device(path: Path) -> bool:
    """Whether ``path`` is something to write into, not to replace: a pipe, ``/dev/null``."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _on_disk(source_name: str, output: str | None, names: tuple[str, ...]) -> Targets:
    stem = Path(source_name).stem.strip() if source_name != STDOUT else ""
    stem = stem or _UNNAMED
    if output is None:
        return _in_folder(Path(), stem, names or (_DEFAULT_FORMAT,), make=False)
    path = Path(output)
    if output.endswith(("/", os.sep)) or _is_folder(path):
        return _in_folder(path, stem, names or _unasked(), make=True)
    name = _single(names, "one file takes one format") if names else _by_suffix(path)
    figures = None if is_device(path) else path.with_name(f"{_stem(path, name)}_files")
    return Targets(files={name: path}, figures=figures)


def _unasked() -> tuple[str, ...]:
    return tuple(name for name in output_names() if name not in _ON_REQUEST)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        # A name too long, a folder that may not be looked into: `check_writable` says so.
        return False


def _in_folder(folder: Path, stem: str, names: Iterable[str], *, make: bool) -> Targets:
    return Targets(
        files={name: folder / f"{stem}{find_output(name).suffix}" for name in names},
        figures=folder / f"{stem}_files",
        folder=folder if make else None,
    )


def _single(names: Sequence[str], rule: str) -> str:
    if len(names) > 1:
        raise UsageError(
            f"{rule}, and {len(names)} are asked for: {', '.join(names)}",
            hint="Name one with --format, or write into a folder: --output results/",
        )
    return names[0]


def _by_suffix(path: Path) -> str:
    known = {find_output(name).suffix: name for name in output_names()}
    file_name = path.name.lower()
    found = [suffix for suffix in known if file_name.endswith(suffix) and file_name != suffix]
    if not found:
        raise UsageError(
            f"no output format has the suffix {path.suffix!r}",
            file=str(path),
            hint=f"End it in {', '.join(sorted(known))}, or in / for a folder; or give --format",
        )
    return known[max(found, key=len)]


def _stem(path: Path, format_name: str) -> str:
    """The file's name without the format's suffix, which may have two parts."""
    suffix = find_output(format_name).suffix
    stem = path.name[: -len(suffix)] if path.name.lower().endswith(suffix) else ""
    return stem or path.stem


def _spare_input(source_name: str, targets: Targets) -> None:
    source = Path(source_name)
    try:
        if not source.exists():
            return
        taken = [path for path in targets.files.values() if path.exists() and path.samefile(source)]
    except (OSError, ValueError):
        # What cannot be looked at is reported by those who open it.
        return
    inside = targets.figures is not None and targets.figures.resolve() in source.resolve().parents
    if taken or inside:
        raise OutputUnwritable("writing the results here would replace the input", file=source_name)


def _check_file(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise OutputUnwritable(f"cannot be written: {error.strerror}", file=str(path)) from error
    if stat.S_ISDIR(mode):
        raise OutputUnwritable("is a folder", file=str(path))
    if not os.access(path, os.W_OK):
        raise OutputUnwritable("is there already and write-protected", file=str(path))


def _check_figures(folder: Path) -> None:
    """A folder of this name is replaced as a whole, so it must hold our crops only."""
    if not os.path.lexists(folder):
        return
    if not folder.is_dir():
        raise OutputUnwritable("is in the way of the folder for figures", file=str(folder))
    try:
        strange = [p.name for p in folder.iterdir() if not CROP_NAME.fullmatch(p.name)]
    except OSError as error:
        raise OutputUnwritable(f"cannot be read: {error.strerror}", file=str(folder)) from error
    if strange:
        raise OutputUnwritable(
            f"would be replaced, and holds what is not a figure of ours: {sorted(strange)[0]}",
            file=str(folder),
        )


def _check_folder(folder: Path, *, may_make: bool) -> None:
    existing = folder
    while may_make and not os.path.lexists(existing):
        existing = existing.parent
    if not existing.is_dir():
        reason = "is not a folder" if os.path.lexists(existing) else "there is no such folder"
        raise OutputUnwritable(reason, file=str(existing))
    trial = temporary_name(existing)
    try:
        with output_errors(str(folder)):
            trial.touch(exist_ok=False)
            trial.unlink()
    except NoSpace:
        raise
    except OutputError as error:
        raise OutputUnwritable(error.message, file=str(folder)) from error
