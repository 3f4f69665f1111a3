"""The vendor's own voter and the controller: the votes of both for the same profile, field by field.

The voter runs a dialog of two inferences; the controller runs the same phases on the simulated HTP. Compared are the
votes in force after each call that votes on the clocks. The table of ``docs/voter_parts.py`` says which cells may
differ, and which source the shipped profiles use.
"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from support.bench import Bench
from support.checkout import load_page_code

from htppower import profile_names
from htppower.backends import SimulatedHtp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from support.voter import Voter
    from support.voter_log import Call as VendorsCall
    from support.voter_log import Dialog

    from htppower.backends import Call

PARTS = load_page_code("voter_parts.py")
# 12 fields at 51 moments: cells with a vote of at least one side.
FEWEST_CELLS = 550
SUSTAIN_MS = 300
# The log's times are from several threads.
JITTER_MS = 10
# On a busy machine; the timer itself is late by less than a millisecond.
LATEST_MS = 5_000
INFERENCES = 2
# The vendor's voter assumes that the architecture of this platform has no HMX votes.
ARCHITECTURE = 68
MOST_TRIES = 20
DECODE = "llm_decode_"
DECODING = tuple(name for name in profile_names() if name.startswith(DECODE))
SCALARS = {"RPC_CONTROL_LATENCY": "rpc_control_latency", "RPC_POLLING_TIME": "rpc_polling_time"}

Votes = tuple[tuple[str, "Mapping[str, int]"], ...]
Stage = tuple[tuple[str, str], "Sequence[Votes]"]


@attrs.frozen
class Cell:
    """One field at one moment: the vote in force on each side."""

    profile: str
    moment: str
    field: str
    voter: int | None
    ours: int | None


def in_force(stages: Iterable[Stage]) -> Iterator[tuple[str, dict[str, int | None]]]:
    """Yield the votes in force at each moment, after calls that vote on clocks: raised if DCVS is off, else lowered.

    A stage has the names of its raised and lowered moments, and its calls. A stage with other votes only is a raised
    moment. Each further raise or lowering of a stage must give the same votes.
    """
    now: dict[str, int | None] = dict.fromkeys(PARTS.FIELDS)
    now["rpc_polling_time"] = 0  # no vote, or a vote that turns it off
    for names, calls in stages:
        found: dict[str, dict[str, int | None]] = {}
        for votes in calls:
            clocks = False
            for option, fields in votes:
                clocks = clocks or option == "DCVS_V3"
                now = {**now, **dict(set_fields(option, fields))}
            if clocks:
                assert found.setdefault(names[bool(now["dcvsEnable"])], now) == now
        if calls and not found:
            found[names[0]] = now
        yield from found.items()


def set_fields(option: str, fields: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Yield the fields that a vote sets."""
    if option != "DCVS_V3":
        yield option, fields["value"]
        return
    for flag, names in (
        ("setDcvsEnable", ("dcvsEnable", "powerMode")),
        ("setSleepLatency", ("sleepLatency",)),
        ("setSleepDisable", ("sleepDisable",)),
        ("setBusParams", PARTS.CLOCKS[:3]),
        ("setCoreParams", PARTS.CLOCKS[3:]),
    ):
        if fields[flag]:
            yield from ((name, fields[name]) for name in names)


INIT, INFERENCE, DEINIT = (
    ("INIT", "after INIT"),
    ("INFERENCE", "after INFERENCE"),
    ("DE-INIT", "after DE-INIT"),
)


def of_voter(dialog: Dialog) -> dict[str, dict[str, int | None]]:
    """Return the voter's votes in force."""
    created, ran, freed = (
        [call.votes for stage in stages for call in dialog.at(stage)]
        for stages in (("create",), ("query", "idle"), ("free",))
    )
    return dict(in_force([(INIT, created), (INFERENCE, ran), (DEINIT, freed)]))


def of_controller(name: str) -> dict[str, dict[str, int | None]]:
    """Return the controller's votes in force; its times are compared with the profile's, too."""
    bench = Bench.make(SimulatedHtp(arch=ARCHITECTURE))
    session = bench.controller.session(name)
    marks = [0]

    def mark() -> None:
        marks.append(len(bench.sets))

    with session.init():
        bench.time.advance_us(1_000)
    mark()
    for _ in range(INFERENCES):
        bench.infer(session)
    if name.removeprefix(DECODE) in PARTS.TIMED:
        bench.time.advance_us(SUSTAIN_MS * 1_000 - 1)
        assert session.state == "RAISED"
        bench.time.advance_us(1)
    assert session.state == ("UNVOTED" if name == "system_settings" else "LOWERED")
    mark()
    with session.deinit():
        bench.time.advance_us(1_000)
    mark()
    calls = [list(steps_of(bench.sets[start:end])) for start, end in itertools.pairwise(marks)]
    bench.controller.close()
    return dict(in_force(zip((INIT, INFERENCE, DEINIT), calls, strict=True)))


def steps_of(calls: Sequence[Call]) -> Iterator[Votes]:
    """Yield the votes of each step: the clocks, and the settings of the process in a separate call."""
    votes: Votes = ()
    for call in calls:
        if votes and call.config("DCVS_V3") is not None:
            yield votes
            votes = ()
        votes += votes_of(call)
    if votes:
        yield votes


def votes_of(call: Call) -> Votes:
    """Return the votes of a call in the form of the library's log."""
    return tuple(
        (SCALARS[config.option], {"value": next(iter(config.fields.values()))})
        if config.option in SCALARS
        else (config.option, config.fields)
        for config in call.configs
    )


def lowered(calls: Sequence[VendorsCall]) -> list[float]:
    """Return the times of lowered votes: only votes of a power state let DCVS move the clocks."""
    return [call.at_ms for call in calls for option, fields in call.votes if fields.get("dcvsEnable")]


@pytest.fixture(scope="module")
def dialogs(voter: Voter) -> dict[str, Dialog]:
    """Return a dialog for each shipped profile, with a raise for an inference if it votes."""
    return {name: whole_dialog(voter, name) for name in PARTS.ALL}


def hold_dialog(voter: Voter, name: str) -> Dialog:
    """Run a dialog that ends when the votes of its inferences are lowered.

    If the voter's thread is late, it skips the lowering between two inferences: the wait for it is one second.
    """
    timed = name.removeprefix(DECODE) in PARTS.TIMED
    lowerings = 1 if timed else INFERENCES

    def are_lowered(calls: Sequence[VendorsCall]) -> bool:
        return len(lowered([call for call in calls if call.stage in ("query", "idle")])) >= lowerings

    text = json.dumps({"devices": [{"cores": [{"perf_profile": name}]}]})
    idle_s = 0 if name == "system_settings" else LATEST_MS / 1_000 if timed else 1
    return voter.dialog(text, tokens=INFERENCES - 1, idle_s=idle_s, until=are_lowered)


def whole_dialog(voter: Voter, name: str) -> Dialog:
    """Run a dialog, and repeat it if the voter's thread was too late on a busy machine."""
    for _ in range(MOST_TRIES):
        dialog = hold_dialog(voter, name)
        ran = (*dialog.at("query"), *dialog.at("idle"))
        raised = len(lowered(ran)) < len(ran)
        if name == "system_settings" or (lowered(ran) and (raised or name in DECODING)):
            break
    return dialog


def cells_of(name: str, dialog: Dialog) -> list[Cell]:
    """Return every cell of either side."""
    voter, ours = of_voter(dialog), of_controller(name)
    return [
        Cell(name, moment, field, *((side.get(moment) or {}).get(field) for side in (voter, ours)))
        for moment in {**ours, **voter}
        for field in PARTS.FIELDS
    ]


def sources_of(cell: Cell) -> list[Any]:
    """Return the rows of the table for a cell."""
    return [
        row
        for row in PARTS.SOURCES
        if cell.profile in row.profiles and cell.moment in row.moments and cell.field in row.fields
    ]


@pytest.mark.parametrize("name", PARTS.ALL)
def test_what_is_voted_is_what_the_voter_votes(dialogs: dict[str, Dialog], name: str) -> None:
    """Every cell is in one row of the table, and differs only if that row follows the documentation."""
    dialog = dialogs[name]
    assert (dialog.refused, dialog.code, {call.code for call in dialog.calls}) == (False, 0, {0})
    assert len(dialog.executed_ms) == INFERENCES
    cells = cells_of(name, dialog)
    assert [cell for cell in cells if len(sources_of(cell)) != 1] == []
    differing = [cell for cell in cells if cell.voter != cell.ours]
    assert [cell for cell in differing if sources_of(cell)[0].source != PARTS.DOCUMENTATION] == []


def test_every_row_of_the_table_is_of_some_cells(dialogs: dict[str, Dialog]) -> None:
    """Each row has cells of each of its profiles; they differ exactly if the row follows the documentation."""
    cells = [cell for name, dialog in dialogs.items() for cell in cells_of(name, dialog)]
    for row in PARTS.SOURCES:
        for name in row.profiles:
            own = [cell for cell in cells if cell.profile == name and sources_of(cell) == [row]]
            assert own, (row.what, name)
            contradicted = any(cell.voter != cell.ours for cell in own)
            assert contradicted is (row.source == PARTS.DOCUMENTATION), (row.what, name)
    voted = [cell for cell in cells if (cell.voter, cell.ours) != (None, None)]
    assert len(voted) > FEWEST_CELLS


@pytest.mark.parametrize("name", PARTS.VOTING)
def test_votes_come_down_when_the_voters_do(dialogs: dict[str, Dialog], name: str) -> None:
    """With a timer, 300 ms after the last inference; without a timer, once for each inference."""
    dialog = dialogs[name]
    found = lowered((*dialog.at("query"), *dialog.at("idle")))
    if name in PARTS.TIMED:
        (lowered_ms,) = found
        assert SUSTAIN_MS - JITTER_MS <= lowered_ms - dialog.executed_ms[-1][1] < LATEST_MS
        return
    # The lowering between the two is skipped if the voter's thread is late.
    assert 1 <= len(found) <= INFERENCES
    assert found[-1] - dialog.executed_ms[-1][1] < SUSTAIN_MS


def test_the_table_is_of_every_shipped_profile() -> None:
    """The others are for decode; the voter raises none of them on this platform."""
    assert {*PARTS.ALL, *DECODING} == set(profile_names())


@pytest.mark.parametrize("name", DECODING)
def test_a_profile_for_decode_is_lowered_as_the_voter_lowers_it(voter: Voter, name: str) -> None:
    """The power states and the control latency are equal. The voter raises these profiles only on V79 and later."""
    dialog = whole_dialog(voter, name)
    theirs, ours = of_voter(dialog), of_controller(name)
    assert dialog.calls, "QAIRT 2.48 and later know it"
    assert set(theirs) == {"after INIT", "after INFERENCE", "after DE-INIT"}
    for moment, votes in theirs.items():
        for field in (*PARTS.CLOCKS_AND_SLEEP, "powerMode", "sleepDisable", *PARTS.LATENCY):
            assert (moment, field, votes[field]) == (moment, field, ours[moment][field])
