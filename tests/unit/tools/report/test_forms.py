"""The renderers of blocks: each shows every text of every block, and no text changes the form."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from htppower.tools.report.as_html import as_html
from htppower.tools.report.as_markdown import as_markdown
from htppower.tools.report.as_text import as_text
from htppower.tools.report.blocks import Bars, Block, Code, Heading, Lines, Pairs, Paragraph, Picture, Table
from htppower.tools.report.layout import shown_width
from htppower.tools.report.styled import plain

BLOCKS: tuple[Block, ...] = (
    Heading("title", 1),
    Paragraph("summary"),
    Heading("section"),
    Pairs([("label", "first\nsecond"), ("other", "third")], {"label": "red"}),
    Table("caption", ("name", "what"), [("one", "said"), ("two", "told")]),
    Table("numbers", ("time", "share"), [("1 us", "5 %"), ("100 us", "95 %")], numbers=True),
    Bars("bars", [(("short", "1 us"), 0.0), (("long", "1 ms"), 1.0)]),
    Code("profile: mine\n", "yaml"),
    Lines(lambda width: [f"{width} columns"]),
)
HOSTILE = st.text("a`|<&>\"'\n\x00\x1b*#\ufdd1", max_size=9)


class Outline(HTMLParser):
    """The elements and the texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, _attributes: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        """Note a text."""
        self.texts.append(data)


def test_the_text_is_laid_out_in_lines() -> None:
    """Headings and lines of text are tight; tables, bars and code have an empty line around them."""
    assert plain(as_text(BLOCKS, 40)).splitlines() == [
        "title",
        "summary",
        "",
        "section",
        "label       first",
        "            second",
        "other       third",
        "",
        "name  what",
        "one   said",
        "two   told",
        "",
        "  time  share",
        "  1 us    5 %",
        "100 us   95 %",
        "",
        "short  1 us",
        "long   1 ms  ###########################",
        "",
        "profile: mine",
        "",
        "40 columns",
    ]


def test_the_markdown_quotes_its_texts() -> None:
    """Headings, lists, tables and fenced code of Markdown hold every text."""
    assert as_markdown(BLOCKS).split("\n\n") == [
        "### title",
        "summary",
        "**section**",
        "- label: `first`\n- label: `second`\n- other: `third`",
        "| name | what |\n| --- | --- |\n| `one` | `said` |\n| `two` | `told` |",
        "| time | share |\n| --- | --- |\n| `1 us` | `5 %` |\n| `100 us` | `95 %` |",
        "|  |  |\n| --- | --- |\n| `short` | `1 us` |\n| `long` | `1 ms` |",
        "```yaml\nprofile: mine\n```",
        "```text\n80 columns\n```",
    ]


def test_the_page_has_an_element_for_each_block() -> None:
    """The page has the headings, a list of labels, tables with captions, bars, code, and the picture."""
    outline = Outline(as_html((*BLOCKS, Picture("<svg></svg>", "a picture")), "title", "The foot."))
    counts = {tag: outline.tags.count(tag) for tag in ("h1", "h2", "dl", "table", "caption", "meter", "pre", "figure")}
    assert counts == {"h1": 1, "h2": 1, "dl": 1, "table": 3, "caption": 3, "meter": 2, "pre": 2, "figure": 1}
    assert {"summary", "first", "second", "said", "100 us", "profile: mine\n", "80 columns"} <= set(outline.texts)


@given(HOSTILE, HOSTILE)
def test_no_text_changes_the_form(one: str, other: str) -> None:
    """Any text stays text: it adds no element to a page, no cell to Markdown, and no style to a terminal."""

    def blocks(one: str, other: str) -> tuple[Block, ...]:
        return (
            Heading(one),
            Paragraph(other),
            Pairs([("label", f"x{one}"), ("other", f"x{other}")]),
            Table("caption", ("name", "what"), [(f"x{one}", f"x{other}")]),
            Bars("bars", [((f"x{one}", other), 0.5)]),
            Code(f"x{one}"),
        )

    page = Outline(as_html(blocks(one, other), one, other))
    clean = Outline(as_html(blocks("a" if one else "", "a" if other else ""), "", ""))
    assert [tag for tag in page.tags if tag != "br"] == clean.tags
    rows = [line for line in as_markdown(blocks(one, other)).splitlines() if line.startswith("| `")]
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in rows] == [3, 3]
    assert "\x1b" not in plain(as_text(blocks(one, other), 80))


@pytest.mark.parametrize("width", [40, 80, 200])
def test_no_line_is_wider(width: int) -> None:
    """Long labels, cells and names are wrapped at the width."""
    long = "a long name " * 30
    blocks = (
        Heading(long),
        Paragraph(long),
        Pairs([("label", long)]),
        Table("caption", ("name", "number", "what"), [(long, "1", long)]),
        Table("caption", ("name", "what"), [(long, long)], numbers=True),
        Bars("bars", [((long, "1 us"), 0.5)]),
    )
    assert max(map(shown_width, plain(as_text(blocks, width)).splitlines())) <= width
