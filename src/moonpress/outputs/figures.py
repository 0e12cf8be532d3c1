"""Crops of figures and of formulas without LaTeX, cut from the page picture while it is in memory.

Owns which blocks get a picture and how it is stored. Never decides where crops end up beside the
outputs: the writer places them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from moonpress.document import Block, PageImage


class FigureCrops:
    """Crops kept so far; one per document.

    `keep` is called from worker threads, one call a page; distinct pages may run at once.

    Args:
        folder: An existing folder for the crops; the caller owns and removes it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._paths: dict[str, Path] = {}

    @property
    def paths(self) -> Mapping[str, Path]:
        """Crop by block id."""
        return MappingProxyType(self._paths)

    def keep(self, image: PageImage, blocks: Sequence[Block]) -> None:
        """Cut out and store what among ``blocks`` needs a picture.

        Raises:
            NoSpace: the disk is full.
            OutputError: the crop cannot be written.
        """
        raise NotImplementedError
