"""Writing results whole or not at all.

Owns temporary names, syncing, renaming and cleaning up. Never decides where results go: see
`targets`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from moonpress.document import Document, RenderOptions
from moonpress.outputs.figures import FigureCrops
from moonpress.outputs.targets import Targets


@contextmanager
def staged_crops(targets: Targets) -> Iterator[FigureCrops | None]:
    """A place for crops on the disk that the results go to, removed at the end whatever happens.

    Yields ``None`` when the targets hold no figures (standard output).
    """
    raise NotImplementedError
    yield


def write_document(
    document: Document, targets: Targets, crops: FigureCrops | None, options: RenderOptions
) -> list[Path]:
    """Render and write ``document``; each file appears whole, or not at all.

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
    raise NotImplementedError
