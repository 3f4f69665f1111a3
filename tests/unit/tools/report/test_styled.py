"""Text with styles: the output has no terminal sequences but the styles."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from htppower.errors import printable
from htppower.tools.report.styled import coloured, plain, styled

# Letters of all kinds, line ends and tabs, and terminal sequences.
CHARACTERS = "ab z~\n\t\x00\x1b\x9b\u00e9\u200b\u6f22"
WORDS = st.text(CHARACTERS, max_size=8)


def kept(text: str) -> str:
    """Return a text with escapes for unprintable characters, except line ends and tabs."""
    return "".join(each if each in "\n\t" else printable(each) for each in text)


@given(WORDS, WORDS, WORDS)
def test_what_is_written_holds_styles_and_escapes_and_no_more(before: str, word: str, behind: str) -> None:
    """Without colours the styles are removed, with colours they become sequences; the rest is the same."""
    text = f"{before}{styled(word, 'bold', 'red')}{behind}"
    assert plain(text) == f"{kept(before)}{printable(word)}{kept(behind)}"
    assert coloured(text) == f"{kept(before)}\x1b[1m\x1b[31m{printable(word)}\x1b[0m{kept(behind)}"
