"""Lint of extension files against the vendor's parser: a file is refused if and only if lint finds an error in it."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

from extension_mutations import CHAT_APP, extension_text, left_open
from voter import VoterEndedError

from htppower.review.extension_lint.run import is_refused

if TYPE_CHECKING:
    from voter import Voter

FILES = 700
OPEN = 0.15


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
        data = extension_text(random.Random(seed))  # noqa: S311 - nothing secret
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


def test_refused_by_the_vendor_if_and_only_if_an_error_of_lint(reader: Voter) -> None:
    """Lint and the parser agree on every file that a seed makes and breaks, and on both answers often."""
    wrong, refused, odd = disagreements(reader, range(FILES))
    assert not wrong, wrong[0]
    assert FILES / 4 < refused < FILES * 3 / 4
    assert odd < FILES * OPEN


def test_a_real_file_is_taken(reader: Voter) -> None:
    """The file that ChatApp ships is taken, by both."""
    data = json.dumps(CHAT_APP).encode()
    assert accepted(reader, data)
    assert not is_refused(data)
