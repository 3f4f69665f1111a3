"""Text that fits its width."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import example, given
from hypothesis import strategies as st

from htppower.tools.report.layout import (
    aligned,
    flowed,
    labelled,
    shown_width,
    table,
    terminal_height,
    terminal_width,
    wrapped,
)

if TYPE_CHECKING:
    import pytest

TEXTS = st.text("ab./_-  \u6f22", max_size=120)
WIDTHS = st.integers(8, 60)


@given(TEXTS, WIDTHS, st.integers(0, 6))
def test_wrapping_keeps_the_width_and_every_letter(text: str, width: int, indent: int) -> None:
    """No line is too wide, and only spaces are lost, also with wide letters."""
    lines = wrapped(text, width, " " * indent)
    assert all(shown_width(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(st.text("ab\n \u6f22", max_size=12), st.integers(1, 16))
@example("   a", 4)
def test_a_text_is_wrapped_as_its_words_flow(text: str, width: int) -> None:
    """Words flow as usual; leading spaces are kept up to half the width."""
    words = text.lstrip(" ")
    lead = " " * min(len(text) - len(words), width // 2)
    assert wrapped(text, width) == flowed(words.split(" "), width, lead, lead, " ")


@given(st.lists(TEXTS, max_size=6), WIDTHS)
def test_parts_flow_within_the_width(parts: list[str], width: int) -> None:
    """The same holds for parts."""
    lines = flowed(parts, width, "  ", "    ")
    assert all(shown_width(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join("".join(parts).split())


@given(st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=4), st.integers(20, 120))
def test_a_table_keeps_the_width_and_every_letter(rows: list[tuple[str, str, str]], width: int) -> None:
    """Cells wrap, or move below their row, and none is lost."""
    lines = table(("first", "second", "third"), rows, width)
    assert all(shown_width(line) <= width for line in lines)
    said = sorted("".join("".join(lines).split()))
    for row in rows:
        for letter in "".join(cell for cell in row if cell != "-"):
            assert letter == " " or letter in said


def test_a_word_is_broken_only_where_it_must_be() -> None:
    """Lines end between words; a long path is broken after a slash, and other long words after a joint."""
    assert wrapped("one two three", 9) == ["one two", "three"]
    assert wrapped("in /usr/lib/python3/site-packages/x.so", 20) == ["in", "/usr/lib/python3/", "site-packages/x.so"]
    assert wrapped("a_long_name_without_end", 12) == ["a_long_name_", "without_end"]
    assert wrapped("x" * 25, 10, "  ") == ["x" * 10, "  " + "x" * 8, "  " + "x" * 7]


def test_blanks_at_the_end_make_no_line() -> None:
    """Spaces at the end of a padded line do not become an empty line."""
    padding = " " * 40
    assert wrapped(f"balanced  complete{padding}", 20) == ["balanced  complete"]
    assert wrapped(f"balanced  complete{padding}", 12) == ["balanced", "complete"]


def test_a_part_that_is_too_long_is_broken_between_words() -> None:
    """Parts stay whole if they fit; a longer part is broken at a space, not at a hyphen."""
    assert flowed(["a", "one -> two"], 8) == ["a", "one ->", "two"]
    assert flowed(["one -> two", "b"], 10) == ["one -> two", "b"]


def test_what_does_not_fit_a_table_stands_beneath() -> None:
    """The first columns that fit stay; the others go below with their headings, and prose without a heading."""
    rows = [("burst", "TURBO", "relaxed", "Highest clocks, kept up."), ("none", "-", "-", "No votes.")]
    head = ("name", "corner", "relaxes to", "summary")
    assert table(head, rows, 100)[1] == "burst  TURBO   relaxed     Highest clocks, kept up."
    assert table(head, rows, 21) == [
        "name   corner",
        "burst  TURBO",
        "    relaxes to",
        "    relaxed; Highest",
        "    clocks, kept up.",
        "none   -",
        "    No votes.",
    ]


def test_labels_and_columns() -> None:
    """A label is on the first line of its text; columns are as wide as their widest cell, with wide letters."""
    assert list(labelled("why", "one two three four", 22)) == ["why         one two", "            three four"]
    assert aligned([("a", "b"), ("\u6f22\u6f22", "c")]) == ["a     b", "\u6f22\u6f22  c"]


def test_the_width_is_the_terminals(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """COLUMNS decides first; without a terminal the width is 80; a very narrow terminal counts as 40."""
    assert capsys is not None
    for columns, width in (("132", 132), ("", 80), ("0", 80), ("many", 80), ("7", 40)):
        monkeypatch.setenv("COLUMNS", columns)
        assert terminal_width() == width


def test_a_width_that_no_terminal_has_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python refuses a number of 5000 digits."""
    assert capsys is not None
    for said in ("9" * 5000, "100000", "-5", "0", "wide", "\u00b2"):
        monkeypatch.setenv("COLUMNS", said)
        monkeypatch.setenv("LINES", said)
        assert (terminal_width(), terminal_height()) == (80, 24)
