"""Small plots for reports: a curve and bars, as SVG inside a page.

Owns the drawing. Never decides what is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

PLOT_STYLE: Final = """
svg { background: #f6f7f9; border-radius: 4px; max-width: 100%; }
.bar { fill: #3b6ea8; } .line { fill: none; stroke-width: 2; }
svg text { font-size: 12px; fill: #555; }
"""
_WIDTH, _HEIGHT = 720, 220
_COLOURS = ("#3b6ea8", "#b5562c", "#3d8a4f", "#7b5aa6")


def bars(shares: Mapping[str, float]) -> str:
    """A bar for each share, 0 to 1."""
    rows = []
    for index, (name, share) in enumerate(shares.items()):
        top = 10 + 30 * index
        rows.append(
            f'<text x="8" y="{top + 15}">{escape(name)}</text>'
            f'<rect class="bar" x="170" y="{top}" height="20" width="{share * 480:.0f}"/>'
            f'<text x="{178 + share * 480:.0f}" y="{top + 15}">{share:.0%}</text>'
        )
    height = 20 + 30 * len(shares)
    return f'<svg viewBox="0 0 {_WIDTH} {height}" role="img">{"".join(rows)}</svg>'


def curves(named: Mapping[str, Sequence[Sequence[float]]], unit: str) -> str:
    """Counts over seconds, a curve for each name, on common axes.

    Args:
        named: Pairs of seconds and count, both rising, by name.
        unit: What is counted.
    """
    shown = {name: points for name, points in named.items() if len(points) > 1}
    if not shown:
        return "<p>Too short for a curve.</p>"
    last = max(points[-1][0] for points in shown.values())
    most = max(points[-1][1] for points in shown.values())
    drawn = []
    for index, (name, points) in enumerate(shown.items()):
        colour = _COLOURS[index % len(_COLOURS)]
        path = " ".join(
            f"{50 + at / last * (_WIDTH - 70):.1f},{_HEIGHT - 25 - n / most * (_HEIGHT - 45):.1f}"
            for at, n in points
        )
        drawn.append(f'<polyline class="line" stroke="{colour}" points="{path}"/>')
        if len(shown) > 1:
            label = (
                f'<text x="60" y="{40 + 16 * index}" style="fill:{colour}">{escape(name)}</text>'
            )
            drawn.append(label)
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">{"".join(drawn)}'
        f'<text x="8" y="20">{most:,.0f} {escape(unit)}</text>'
        f'<text x="{_WIDTH - 80}" y="{_HEIGHT - 6}">{last:,.0f} s</text></svg>'
    )
