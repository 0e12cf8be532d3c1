"""What held a run back: reading, the network, drawing, storing, or finding documents.

Owns the judgement and its evidence. Never measures: see `moonpress.batch.meter`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from moonpress.batch.meter import Busy, Meter

# A part that is busy for so much of the time cannot be overtaken by much.
_BUSY = 0.8
_FULL = 0.9
_MOST = 0.5


@dataclass(frozen=True, slots=True)
class Bound:
    """What held a run back.

    Attributes:
        by: ``engine``, ``network``, ``cpu``, ``render``, ``encode``, ``write``, ``input``, or
            ``start`` when no page came.
        evidence: One sentence with the shares that tell.
        shares: How busy each part was, 0 to 1: of the time of all its tasks.
    """

    by: str
    evidence: str
    shares: dict[str, float]


def bound_of(meter: Meter) -> Bound:
    """Judge a run by how busy its parts were.

    The engine is the limit when its places are full: that is what a run should look like, unless
    the pages in those places were still on their way to it. Otherwise it is the part in front of it
    or behind it that is busy, or the input.
    """
    shares = _shares(meter)
    if not meter.pages:
        return Bound("start", "no page was read", shares)
    for judge in (_engine, _cores, _drawing, _storing):
        found = judge(meter, shares)
        if found is not None:
            return Bound(*found, shares)
    reason = f"every part waited: {_taken(meter, shares)} were taken; documents came slowly"
    return Bound("input", reason, shares)


def _shares(meter: Meter) -> dict[str, float]:
    wall = meter.seconds
    shares = {
        "engine": _share(meter.reading, wall),
        "sending": _share(meter.sending, wall),
        "render": _share(meter.drawing, wall) - _share(meter.encoding, wall),
        "encode": _share(meter.encoding, wall),
        "waiting for a reader": _share(meter.offering, wall),
        "open": _share(meter.opening, wall),
        "fetch": _share(meter.fetching, wall),
        "write": _share(meter.writing, wall),
    }
    cores = meter.cores_busy
    return shares if cores is None else {**shares, "cores": cores}


_Found = tuple[str, str] | None


def _engine(meter: Meter, shares: Mapping[str, float]) -> _Found:
    waited = shares["waiting for a reader"]
    if shares["engine"] < _BUSY and waited < _BUSY / 2:
        return None
    taken = _taken(meter, shares)
    if meter.sending.seconds >= _MOST * meter.reading.seconds:
        way = meter.sending.seconds / meter.reading.seconds
        return "network", f"{taken} were taken, {way:.0%} of that by pages on their way to a server"
    return "engine", f"{taken} were taken; drawn pages waited {waited:.0%} of the time"


def _cores(meter: Meter, shares: Mapping[str, float]) -> _Found:
    cores = shares.get("cores", 0.0)
    if cores < _FULL:
        return None
    taken = _taken(meter, shares)
    return "cpu", f"this machine's cores were busy {cores:.0%} of the time, and only {taken} taken"


def _drawing(meter: Meter, shares: Mapping[str, float]) -> _Found:
    drawing = shares["render"] + shares["encode"] + shares["open"]
    if drawing < _BUSY:
        return None
    tasks = meter.drawing.tasks
    workers = f"{tasks} render worker{'' if tasks == 1 else 's'}"
    parts = f"{shares['encode']:.0%} encoding for the engine, {shares['open']:.0%} opening"
    if shares["fetch"]:
        parts += f" of which {shares['fetch']:.0%} fetching"
    largest = max(("encode", "fetch"), key=lambda part: shares[part])
    name = {"encode": "encode", "fetch": "network"}[largest]
    name = name if shares[largest] > drawing * _MOST else "render"
    taken = _taken(meter, shares)
    return name, f"{workers} worked {drawing:.0%} of the time ({parts}); {taken} were taken"


def _storing(meter: Meter, shares: Mapping[str, float]) -> _Found:
    if shares["write"] < _BUSY:
        return None
    taken = _taken(meter, shares)
    return "write", f"storing took {shares['write']:.0%} of the time; {taken} were taken"


def _taken(meter: Meter, shares: Mapping[str, float]) -> str:
    places = meter.reading.tasks
    return f"{shares['engine']:.0%} of {places} place{'' if places == 1 else 's'} of the engine"


def _share(busy: Busy, wall: float) -> float:
    return min(busy.seconds / (busy.tasks * wall), 1.0) if wall else 0.0
