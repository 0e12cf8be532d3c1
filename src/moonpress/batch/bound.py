"""What held a run back: reading, drawing, storing, or finding documents.

Owns the judgement and its evidence. Never measures: see `moonpress.batch.meter`.
"""

from __future__ import annotations

from dataclasses import dataclass

from moonpress.batch.meter import Busy, Meter

# A part that is busy for so much of the time cannot be overtaken by much.
_BUSY = 0.8
_FULL = 0.9


@dataclass(frozen=True, slots=True)
class Bound:
    """What held a run back.

    Attributes:
        by: ``engine``, ``cpu``, ``render``, ``encode``, ``write``, ``input``, or ``start`` when no
            page came.
        evidence: One sentence with the shares that tell.
        shares: How busy each part was, 0 to 1: of the time of all its tasks.
    """

    by: str
    evidence: str
    shares: dict[str, float]


def bound_of(meter: Meter) -> Bound:
    """Judge a run by how busy its parts were.

    The engine is the limit when its places are full: that is what a run should look like.
    Otherwise it is the part in front of it or behind it that is busy, or the input.
    """
    wall = meter.seconds
    shares = {
        "engine": _share(meter.reading, wall),
        "render": _share(meter.drawing, wall) - _share(meter.encoding, wall),
        "encode": _share(meter.encoding, wall),
        "waiting for a reader": _share(meter.offering, wall),
        "open": _share(meter.opening, wall),
        "write": _share(meter.writing, wall),
    }
    places = meter.reading.tasks
    full = f"{shares['engine']:.0%} of {places} place{'' if places == 1 else 's'} of the engine"
    if not meter.pages:
        return Bound("start", "no page was read", shares)
    if shares["engine"] >= _BUSY or shares["waiting for a reader"] >= _BUSY / 2:
        waited = f"{shares['waiting for a reader']:.0%}"
        return Bound(
            "engine", f"{full} were taken; drawn pages waited {waited} of the time", shares
        )
    cores = meter.cores_busy
    if cores is not None:
        shares["cores"] = cores
        if cores >= _FULL:
            reason = (
                f"this machine's cores were busy {cores:.0%} of the time, and only {full} taken"
            )
            return Bound("cpu", reason, shares)
    drawing = shares["render"] + shares["encode"] + shares["open"]
    if drawing >= _BUSY:
        tasks = meter.drawing.tasks
        workers = f"{tasks} render worker{'' if tasks == 1 else 's'}"
        parts = f"{shares['encode']:.0%} encoding for the engine, {shares['open']:.0%} opening"
        name = "encode" if shares["encode"] > drawing / 2 else "render"
        evidence = f"{workers} worked {drawing:.0%} of the time ({parts}); {full} were taken"
        return Bound(name, evidence, shares)
    if shares["write"] >= _BUSY:
        return Bound("write", f"storing took {shares['write']:.0%} of the time; {full}", shares)
    return Bound("input", f"every part waited: {full} were taken; documents came slowly", shares)


def _share(busy: Busy, wall: float) -> float:
    return min(busy.seconds / (busy.tasks * wall), 1.0) if wall else 0.0
