"""What others have published of Chandra-OCR-2 on vLLM, beside what the planner says of it.

Owns the figures, their conditions, and the error that follows from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final

from moonpress.bench.gpu_kinds import find_kind
from moonpress.bench.roofline import ORIGINAL, TUNED, Flags, PageWork, speed_of


@dataclass(frozen=True, slots=True)
class Published:
    """A figure.

    Attributes:
        gpu: Name of the kind.
        pages_per_second: Of one GPU.
        flags: How the server was started, as far as is known.
        conditions: In words.
        measured_here: By us, and what the planner is fitted to.
        comparable: Whether its pages can have been like those of the planner.
    """

    gpu: str
    pages_per_second: float
    flags: Flags
    conditions: str
    measured_here: bool = False
    comparable: bool = True

    @property
    def predicted(self) -> float:
        """What the roofline says of it, in pages a second."""
        speed = speed_of(find_kind(self.gpu), PageWork(), self.flags)
        return 0.0 if speed is None else speed.pages_per_second

    @property
    def ratio(self) -> float:
        """Published to predicted."""
        return self.pages_per_second / self.predicted


PUBLISHED: Final = (
    Published("h200", 3.86, TUNED, "random weights, 256 in flight, steady", measured_here=True),
    Published("h200", 2.30, ORIGINAL, "random weights, 96 in flight", measured_here=True),
    Published("h100", 1.44, ORIGINAL, "the vendor's figure, 96 in flight, olmOCR-bench pages"),
    Published("l40s", 60 * 20 / 3600, ORIGINAL, "16 GPUs, 27,000 papers of some 20 pages"),
    Published(
        "3090",
        1.359,
        ORIGINAL,
        "16 workers, one clean PDF; the operations of a full page alone take 0.96 s, so its pages "
        "were smaller or shorter",
        comparable=False,
    ),
)


def field_ratios() -> tuple[float, ...]:
    """Published to predicted, of the figures by others that can be compared."""
    return tuple(one.ratio for one in PUBLISHED if one.comparable and not one.measured_here)


def field_factor() -> float:
    """By what the roofline is multiplied on GPUs that we have not measured: the mean ratio."""
    ratios = field_ratios()
    return float(prod(ratios) ** (1 / len(ratios)))


def is_measured(gpu: str) -> bool:
    """Whether the planner is fitted to this kind of GPU."""
    return any(one.gpu == gpu and one.measured_here for one in PUBLISHED)
