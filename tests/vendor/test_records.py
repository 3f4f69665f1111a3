"""The records of the vendor's own voter: the shipped files hold the votes that it casts, from load to the end."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from htppower import load_profile
from htppower.profiles.loading import record_names
from htppower.profiles.names import own_name
from htppower.votes.native_codes import SUCCESS

if TYPE_CHECKING:
    from support.voter import Voter
    from support.voter_log import Dialog

    from htppower.votes.vote_set import VoteSet

NAMES = [own_name(name) for name in record_names() if name.startswith("vendor:")]
TRIES = 4
# The timer of the vendor's extension, and its possible delay on a busy machine.
SUSTAIN_MS = 300
LATE_MS = 3000


def expected(votes: VoteSet) -> dict[str, dict[str, int]]:
    """Return the log that a vote set must give, by option and without the id."""
    found: dict[str, dict[str, int]] = {}
    for config in votes.native(0):
        fields = {name: value for name, value in config.fields.items() if name != "contextId"}
        dcvs = config.option == "DCVS_V3"
        found["DCVS_V3" if dcvs else config.option.lower()] = fields if dcvs else {"value": next(iter(fields.values()))}
    return found


def cast(dialog: Dialog, stage: str) -> list[dict[str, dict[str, int]]]:
    """Return the votes of each call of a stage, by option and without the id; the size of memory is not a vote."""
    calls = [dict(call.votes) for call in dialog.at(stage)]
    return [
        {
            option: {name: value for name, value in fields.items() if name != "contextId"}
            for option, fields in call.items()
        }
        for call in calls
        if call
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_record_is_what_the_voter_casts(voter: Voter, name: str) -> None:
    """The process's settings are sent once, raised votes before a run, relaxed after it, released at the end."""
    record = load_profile(f"vendor:{name}")
    assert record.relax is not None
    sustain_us = record.relax.after_inference_us
    text = json.dumps({"devices": [{"cores": [{"perf_profile": name}]}]})
    for _ in range(TRIES):
        dialog = voter.dialog(text, tokens=2, idle_s=5 if sustain_us else 0)
        # On a busy machine the voter's timer may fire between the inferences, and then not after them.
        if not sustain_us or dialog.at("idle"):
            break
    assert not dialog.refused
    assert {call.code for call in dialog.calls} <= {SUCCESS}
    wanted = expected(record.votes)
    once: dict[str, Any] = {}
    for call in cast(dialog, "create"):
        once |= {option: fields for option, fields in call.items() if option != "DCVS_V3"}
    assert once == {option: fields for option, fields in wanted.items() if option != "DCVS_V3"}
    clocks = [
        call["DCVS_V3"] for stage in ("create", "query", "idle") for call in cast(dialog, stage) if "DCVS_V3" in call
    ]
    lowered = expected(record.relax.to.votes).get("DCVS_V3")
    if "DCVS_V3" not in wanted:
        assert clocks == []
        return
    assert lowered is not None
    raised = wanted["DCVS_V3"]
    assert {json.dumps(each) for each in clocks} == {json.dumps(each) for each in (raised, lowered)}
    assert cast(dialog, "free")[-1] == {"DCVS_V3": expected(record.relax.after_deinit_to.votes)["DCVS_V3"]}
    if sustain_us:
        (down,) = dialog.at("idle")
        after_ms = down.at_ms - dialog.executed_ms[-1][1]
        assert SUSTAIN_MS - 5 <= after_ms <= SUSTAIN_MS + LATE_MS
        assert sustain_us == SUSTAIN_MS * 1000
        assert clocks[-1] == lowered
    else:
        # The voter lowers on its own thread: on a busy machine the next inference may begin first.
        assert clocks[0] == raised


def test_every_profile_of_the_vendors_table_has_a_record() -> None:
    """The records are of nine profiles with raised votes, and of two that never raise."""
    assert len(NAMES) == 11
