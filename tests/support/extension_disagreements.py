"""Where lint of extension files and the vendor's parser disagree."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from extension_mutations import extension_text, left_open
from voter import VoterEndedError

from htppower.review.extension_lint.run import is_refused

if TYPE_CHECKING:
    from voter import Voter


def accepted(reader: Voter, data: bytes) -> bool:
    """Return whether the vendor's parser takes a file; one that ends its process is refused, too."""
    try:
        return reader.accepted(data)
    except VoterEndedError:
        return False


def disagreements(reader: Voter, seeds: range) -> tuple[list[str], int, int]:
    """Return the files of which lint and the parser disagree, how many were refused, and how many were left open."""
    wrong, refused, odd = [], 0, 0
    for seed in seeds:
        data = extension_text(random.Random(seed))
        if left_open(data):
            odd += 1
            continue
        taken = accepted(reader, data)
        refused += not taken
        if taken is is_refused(data):
            wrong.append(
                f"seed {seed}, the vendor {'takes' if taken else 'refuses'}:\n{data.decode('utf-8', 'replace')}"
            )
    return wrong, refused, odd
