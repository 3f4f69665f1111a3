"""The meaning of each native code that was measured, by what the call carried."""

from __future__ import annotations

import pytest

from htppower.control.core.meaning import CallKind, Meaning, meaning, tells_of_a_lost_link

DONE, LOST, DEAD, SUSPECT, REFUSED, ABSENT, BAD_ID = Meaning

# The four meanings of each code: for a create, for votes of an id, for a destroy, and for settings of the process.
TABLE = {
    0: (DONE, DONE, DONE, DONE),
    1007: (LOST, LOST, LOST, LOST),
    1011: (DEAD, DEAD, DEAD, DEAD),
    13003: (SUSPECT, SUSPECT, SUSPECT, REFUSED),
    13006: (REFUSED, REFUSED, REFUSED, REFUSED),
    13002: (REFUSED, ABSENT, ABSENT, ABSENT),
    13004: (REFUSED, ABSENT, ABSENT, ABSENT),
    13001: (REFUSED, BAD_ID, REFUSED, BAD_ID),
    14000: (REFUSED, BAD_ID, BAD_ID, BAD_ID),
    1003: (REFUSED, REFUSED, REFUSED, REFUSED),
    13005: (REFUSED, REFUSED, REFUSED, REFUSED),
    7: (REFUSED, REFUSED, REFUSED, REFUSED),
}


@pytest.mark.parametrize("code", TABLE)
def test_what_a_code_means(code: int) -> None:
    """A code has the meaning from the table; an unknown code, such as 7, means only that the call failed."""
    assert tuple(meaning(code, carried) for carried in CallKind) == TABLE[code]


@pytest.mark.parametrize("code", TABLE)
def test_which_codes_a_host_may_tell(code: int) -> None:
    """Only 1007 and 1011 mean that all votes of the process are lost."""
    assert tells_of_a_lost_link(code) == (code in (1007, 1011))
