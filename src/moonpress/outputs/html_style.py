"""The style sheet of the HTML output.

Owns how the standalone page looks, by day and by night and on paper.
"""

from typing import Final

STYLE: Final = """\
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 1rem/1.55 Georgia, "Noto Serif", "Noto Serif CJK SC", serif; max-width: 46rem;
  margin: 2rem auto; padding: 0 1rem; overflow-wrap: break-word; }
header.document { border-bottom: 2px solid var(--line); margin-bottom: 2rem; }
header.document .title { font-size: 1.15rem; font-weight: bold; margin-bottom: 0; }
header.document p, .page-label, .problems { font-family: system-ui, sans-serif; font-size: .85rem; }
.page-label { border-top: 1px solid var(--line); padding-top: .3rem; opacity: .65; }
.page:first-child .page-label { border-top: 0; }
.failed, [data-status="failed"] .page-label, [data-status="failed"] .problems { color: #c22; }
.problems { border-left: 3px solid #d90; padding-left: 1.6rem; }
h1, h2, h3, h4, h5, h6 { line-height: 1.25; margin: 1.6em 0 .6em; }
table { border-collapse: collapse; margin: 1rem 0; font-size: .92rem; display: block;
  overflow-x: auto; }
td, th { border: 1px solid var(--line); padding: .25rem .55rem; vertical-align: top; }
th { background: var(--soft); text-align: start; }
figure { margin: 1.5rem 0; }
img { max-width: 100%; height: auto; background: #fff; }
figcaption, [data-kind="caption"] { font-size: .9rem; opacity: .85; }
aside, header.block, footer.block { font-size: .85rem; opacity: .85; }
.description { font-style: italic; opacity: .75; }
pre { background: var(--soft); padding: .7rem; overflow-x: auto; font-size: .88rem; }
math[display="block"], .math.display { display: block; margin: 1rem 0; overflow-x: auto; }
.math { font-family: ui-monospace, monospace; white-space: pre-wrap; }
@media print { .page-label { break-after: avoid; } figure, table, pre { break-inside: avoid; } }
"""
