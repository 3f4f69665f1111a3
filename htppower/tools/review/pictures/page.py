"""The frame of every page: one self-contained file, in the reader's colour scheme."""

from __future__ import annotations

from htppower.tools.report.svg import element, safe

# The page loads and runs nothing, whatever texts a profile holds. Its style sheets are inline.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

_STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --faint: #59636e; --ground: #ffffff; --line: #d1d9e0; --box: #f6f8fa;
  --error: #cf222e; --warning: #9a6700; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --faint: #9198a1; --ground: #0d1117; --line: #3d444d;
  --box: #151b23; --error: #f85149; --warning: #d29922; } }
body { margin: 0 auto; padding: 1.5rem; max-width: 1000px; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "Helvetica Neue", Arial, sans-serif; }
h1, h2, h3, p { overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .3rem; }
pre { overflow-x: auto; background: var(--box); padding: .7rem; font-size: .8rem; }
p.summary { margin: .2rem 0 1rem; font-size: 1.05rem; } p { margin: .5rem 0; }
footer { margin-top: 2.5rem; color: var(--faint); font-size: .85rem; padding-top: .6rem;
  border-top: 1px solid var(--line); }
dl { margin: .5rem 0; } dl div { display: flex; gap: 1rem; padding: .1rem 0; }
dt { flex: 0 0 7.5rem; color: var(--faint); } dd { margin: 0; overflow-wrap: anywhere; }
figure { margin: 1rem 0; overflow-x: auto; } figure svg { display: block; min-width: 720px; }
.scroll { overflow-x: auto; margin: .5rem 0; }
caption { text-align: left; color: var(--faint); padding: 0 .6rem .3rem; }
:focus-visible { outline: 2px solid var(--faint); outline-offset: 2px; }
table { border-collapse: collapse; width: 100%; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid var(--line); }
th { color: var(--faint); font-weight: 600; border-bottom-width: 2px; white-space: nowrap; }
table.votes td, table.calls td:nth-child(n+5), code { font-family: ui-monospace, "SF Mono", Consolas, monospace; }
table.votes td, table.calls td { font-size: .8rem; } table.calls td:first-child { text-align: right; }
table.calls td:nth-child(-n+5), table.findings td:nth-child(-n+2) { white-space: nowrap; }
table.assumed td:last-child { overflow-wrap: anywhere; } table.front td { white-space: nowrap; }
tbody tr:hover { background: var(--box); }
.columns { display: grid; grid-template-columns: 1fr 1fr; gap: 0 2rem; }
@media (max-width: 820px) { .columns { grid-template-columns: 1fr; }
  table:not(.votes, .front) :is(thead, td:empty) { display: none; }
  table:not(.votes, .front) :is(tbody, tr, td, caption) { display: block; }
  table:not(.votes, .front) tr { border-bottom: 1px solid var(--line); padding: .4rem 0; }
  table:not(.votes, .front) :is(td, td:first-child) { border: 0; padding: .1rem .6rem; text-align: left;
    white-space: normal; overflow-wrap: anywhere; }
  table:not(.votes, .front) td::before { content: attr(data-head) " "; color: var(--faint);
    font-family: system-ui, sans-serif; } }
@media print { body { max-width: none; } tr { break-inside: avoid; } }
"""

_SIMULATED = "Nothing was sent to hardware: this is the simulated HTP."


def page(title: str, body: str, says: str = _SIMULATED) -> str:
    """Return a whole document from a title, which is text, a body, which is markup, and a sentence for its foot."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{safe(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<main>
{body}
</main>
<footer>Made by htppower. {safe(says)}</footer>
</body>
</html>"""


def figure(picture: str, says: str) -> str:
    """Return a picture, which is markup, with its name; keys scroll it in a narrow window."""
    return element("figure", picture, tabindex=0, aria_label=says)
