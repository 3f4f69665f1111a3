"""The process with the vendor's voter, which other tests use."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.voter import Voter, VoterEndedError

if TYPE_CHECKING:
    from support.voter_log import Dialog

BURST = json.dumps({"devices": [{"cores": [{"perf_profile": "burst"}]}]})


def created(dialog: Dialog) -> list[list[str]]:
    """Return the options of the calls during creation; later calls are on a thread, which may be late."""
    return [[option for option, _ in call.votes] for call in dialog.at("create")]


def test_a_process_reads_many_files(reader: Voter) -> None:
    """Each file gets its own answer: an unknown profile or invalid JSON is refused, whatever came earlier."""
    for text in (BURST, BURST.replace("burst", "bursty"), "{}", "{", BURST.encode(), b"\xff", BURST):
        assert reader.accepted(text) is (text in (BURST, "{}", BURST.encode()))


def test_a_process_holds_many_dialogs(voter: Voter) -> None:
    """A dialog sends the same votes after other dialogs and files; a refused file and a silent profile send none."""
    first = voter.dialog(BURST, tokens=2)
    assert {"create", "free"} <= {call.stage for call in first.calls}
    assert {call.code for call in first.calls} == {first.code} == {0}
    assert len(first.executed_ms) == 3
    assert not voter.accepted("{")
    assert voter.dialog("{").refused
    for text in ("{", None):
        assert voter.dialog(text).calls == ()
    assert created(voter.dialog(BURST)) == created(first)
    assert len(created(first)) == 4


def test_a_process_that_died_is_told_and_replaced(reader: Voter) -> None:
    """The death of the library's process is an error with its code, and the next file is still read."""
    assert reader.accepted(BURST)
    assert reader.process is not None
    reader.process.kill()
    with pytest.raises(VoterEndedError, match="ended with -9"):
        reader.accepted(BURST)
    assert reader.accepted(BURST)
