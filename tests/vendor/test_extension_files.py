"""Lint and import of extension files against the vendor's parser.

A file is refused if and only if lint finds an error in it, and import makes no profile of it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from extension_disagreements import accepted, disagreements, is_imported
from extension_mutations import CHAT_APP

from htppower.review.extension_lint.run import is_refused

if TYPE_CHECKING:
    from voter import Voter

FILES = 700
OPEN = 0.15


def test_refused_by_the_vendor_if_and_only_if_by_lint_and_import(reader: Voter) -> None:
    """Lint, import and the parser agree on every file that a seed makes and breaks, and on both answers often."""
    wrong, refused, odd = disagreements(reader, range(FILES))
    assert not wrong, wrong[0]
    assert FILES / 4 < refused < FILES * 3 / 4
    assert odd < FILES * OPEN


def test_a_real_file_is_taken(reader: Voter) -> None:
    """The file that ChatApp ships is taken, by both."""
    data = json.dumps(CHAT_APP).encode()
    assert accepted(reader, data)
    assert not is_refused(data)
    assert is_imported(data)
