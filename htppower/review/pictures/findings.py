"""Findings as a page shows them: whoever finds something hands it over in this shape."""

from __future__ import annotations

import attrs


@attrs.frozen
class Shown:
    """What a page shows of a finding, as plain texts.

    Attributes:
        severity: ``error``, ``warning`` or ``note``.
        rule: the rule's id.
        place: where it is, such as ``burst.yaml:12:5``; empty where that is not known.
        message: what is wrong.
        hint: what to write instead; may be empty.
    """

    severity: str
    rule: str
    place: str
    message: str
    hint: str = ""
