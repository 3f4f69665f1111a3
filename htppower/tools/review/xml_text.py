"""Texts for XML 1.0 and HTML, which can't hold every character, not even escaped."""

from __future__ import annotations

import re

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    """Return a text with U+FFFD in place of each character that XML can't hold. The text is not escaped."""
    return _NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text)
