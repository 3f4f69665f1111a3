"""Blocks as one page: a self-contained file without a script, light or dark like the reader's system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.report.blocks import Bars, Code, Heading, Lines, Pairs, Paragraph, Picture, Table
from htppower.tools.report.layout import WIDTH
from htppower.tools.report.styled import plain
from htppower.tools.report.svg import element, safe

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from htppower.tools.report.blocks import Block

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
table.numbers :is(th, td), table.bars td:nth-child(n+2) { text-align: right; } meter { width: 16rem; }
table.bars { width: auto; } table.bars td { border: 0; padding: .1rem .6rem; }
table.calls td:nth-child(-n+5), table.findings td:nth-child(-n+2) { white-space: nowrap; }
table.assumed td:last-child { overflow-wrap: anywhere; } table.front td { white-space: nowrap; }
tbody tr:hover { background: var(--box); }
@media (max-width: 820px) {
  table:not(.votes, .front, .bars) :is(thead, td:empty) { display: none; }
  table:not(.votes, .front, .bars) :is(tbody, tr, td, caption) { display: block; }
  table:not(.votes, .front, .bars) tr { border-bottom: 1px solid var(--line); padding: .4rem 0; }
  table:not(.votes, .front, .bars) :is(td, td:first-child) { border: 0; padding: .1rem .6rem; text-align: left;
    white-space: normal; overflow-wrap: anywhere; }
  table:not(.votes, .front, .bars) td::before { content: attr(data-head) " "; color: var(--faint);
    font-family: system-ui, sans-serif; } }
@media print { body { max-width: none; } tr { break-inside: avoid; } }
"""


def as_html(blocks: Iterable[Block], title: str, says: str) -> str:
    """Return a whole document from blocks, a title, and a sentence for its foot."""
    body = "\n".join(_sections(blocks))
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


def _sections(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield the blocks. A heading of level 2 begins a section, and the text below the title is its summary."""
    section, below_title = False, False
    for block in blocks:
        if isinstance(block, Heading) and block.level < 3:  # noqa: PLR2004 - level 3 is within a section
            yield from ["</section>"] * section
            section = block.level == 2  # noqa: PLR2004 - as above
            yield from ["<section>"] * section
        if below_title and isinstance(block, Paragraph):
            yield f'<p class="summary">{cell(block.text)}</p>'
        else:
            yield from _markup(block)
        below_title = isinstance(block, Heading) and block.level == 1
    yield from ["</section>"] * section


def _markup(block: Block) -> Iterator[str]:
    match block:
        case Heading():
            yield f"<h{block.level}>{cell(block.text)}</h{block.level}>"
        case Paragraph():
            yield element("p", cell(block.text))
        case Pairs() if block.rows:
            rows = (f"<div><dt>{cell(label)}</dt><dd>{cell(text)}</dd></div>" for label, text in block.rows)
            yield f"<dl>{''.join(rows)}</dl>"
        case Table() if block.rows:
            kind = " ".join(filter(None, (block.kind, "numbers" if block.numbers else "")))
            yield _table(block.caption, block.head, [list(map(cell, row)) for row in block.rows], kind)
        case Bars() if block.rows:
            bars = [
                [*map(cell, cells), element("meter", "", value=f"{share:.3f}", aria_label=cells[0])]
                for cells, share in block.rows
            ]
            yield _table(block.caption, [""] * len(bars[0]), bars, "bars")
        case Code():
            yield element("pre", element("code", element("bdi", safe(block.text), dir="auto")), tabindex=0)
        case Lines():
            yield element("pre", safe(plain("\n".join(block.draw(WIDTH)))), tabindex=0)
        case Picture():
            # Keys scroll a picture that is wider than the window.
            yield element("figure", block.svg, tabindex=0, aria_label=block.says)


def _table(caption: str, head: Sequence[str], rows: Iterable[Sequence[str]], kind: str) -> str:
    """Return a table of markup. In a narrow window, keys scroll it."""
    heads = "".join(f'<th scope="col">{cell(name)}</th>' for name in head)
    # In a narrow window each cell has its heading before it, and the headings are left out.
    opened = [element("td", "", data_head=name).removesuffix("</td>") for name in head]
    body = "\n".join(
        f"<tr>{''.join(f'{td}{said}</td>' for td, said in zip(opened, row, strict=True))}</tr>" for row in rows
    )
    above = f"<thead><tr>{heads}</tr></thead>\n" if any(head) else ""
    whole = f"<caption>{safe(caption)}</caption>\n{above}<tbody>\n{body}\n</tbody>"
    drawn = f'<table class="{kind}">\n{whole}</table>'
    return element("div", drawn, class_="scroll", role="region", tabindex=0, aria_label=caption)


def cell(said: object) -> str:
    """Return a text with its line breaks, escaped, with its own direction of writing."""
    return f'<bdi dir="auto">{safe(said).replace(chr(10), "<br>")}</bdi>' if said != "" else ""
