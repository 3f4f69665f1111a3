"""Finds extension files that lint or import disagrees with the vendor's parser on."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from support.extension_mutations import extension_text, left_open
from support.voter import VoterEndedError

from htppower.errors import ProfileError
from htppower.tools.extensions.extension_file import FileKind, parse_extension_file
from htppower.tools.extensions.refusals import refusals
from htppower.tools.extensions.to_profiles import to_profiles
from htppower.tools.review.extension_lint.run import lint_extension_file

if TYPE_CHECKING:
    from support.voter import Voter


def accepted(reader: Voter, data: bytes) -> bool:
    """Return whether the vendor's parser accepts a file; a file that ends its process counts as refused."""
    try:
        return reader.accepted(data)
    except VoterEndedError:
        return False


def is_imported(data: bytes) -> bool:
    """Return whether import makes profiles of a file, or calls it an outer file, which has no settings."""
    try:
        file = parse_extension_file(data)
        if file.kind is FileKind.OUTER:
            return not refusals(file)
        for each in to_profiles(file):
            each.texts()
    except ProfileError:
        return False
    return True


def is_refused(data: bytes) -> bool:
    """Return whether lint finds an error that the parser makes of a file."""
    return any(finding.rule < "EXT-20" for finding in lint_extension_file("-", data).findings)


def disagreements(reader: Voter, seeds: range) -> tuple[list[str], int, int]:
    """Return the files that lint or import disagrees with the voter on, and how many it refused and left open."""
    wrong, refused, odd = [], 0, 0
    for seed in seeds:
        data = extension_text(random.Random(seed))
        if left_open(data):
            odd += 1
            continue
        taken = accepted(reader, data)
        refused += not taken
        others = [("lint", not is_refused(data)), ("import", is_imported(data))]
        wrong += [
            f"seed {seed}, the vendor {'takes' if taken else 'refuses'}, not {name}:\n{data.decode('utf-8', 'replace')}"
            for name, agreed in others
            if agreed is not taken
        ]
    return wrong, refused, odd
