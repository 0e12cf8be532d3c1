"""The figures of a load as a page for people.

Owns the page. Never measures: see `moonpress.bench.figures`.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from moonpress.outputs.plots import PLOT_STYLE, curves

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; color: #222; }
td, th { padding: .2rem .8rem .2rem 0; text-align: left; }
"""


def load_page(report: dict[str, Any]) -> str:
    """The report as one HTML page that needs nothing else."""
    servers = report["servers"]
    parts = [f"<h1>{escape(report['name'])}</h1>"]
    parts.append(curves({url: one["curve"] for url, one in servers.items()}, "pages"))
    for url, one in servers.items():
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(str(value))}</td></tr>"
            for name, value in _rows(one)
        )
        parts.append(f"<h2>{escape(url)}</h2><table>{rows}</table>")
    head = f'<meta charset="utf-8"><title>{escape(report["name"])}</title>'
    style = f"<style>{_STYLE}{PLOT_STYLE}</style>"
    body = "".join(parts)
    return f"<!doctype html>\n<html lang=en><head>{head}{style}</head><body>{body}</body></html>\n"


def _rows(server: dict[str, Any]) -> Iterator[tuple[str, object]]:
    for name, value in server["figures"].items():
        label = name.replace("_", " ")
        if isinstance(value, dict):
            for inner, number in value.items():
                yield f"{label}, {inner.replace('_', ' ')}", number
        else:
            yield label, value
    for name, value in server["server"].items():
        yield f"server: {name}", value
    for index, gpu in enumerate(server["gpus"]):
        for name, value in gpu.items():
            yield f"GPU {index}: {name.replace('_', ' ')}", value
