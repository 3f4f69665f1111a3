"""All inferences of a controller are read from all the files of its recording."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower import VoteController
from htppower.backends import SimulatedHtp
from htppower.testing import VirtualTime
from htppower.tools.tuning.traces.read import read_trace

if TYPE_CHECKING:
    from pathlib import Path


def test_a_recording_is_read_over_all_its_files(tmp_path: Path) -> None:
    """Begin, end, session, profile and cold start of each come back, after hours of virtual time and rotations."""
    time = VirtualTime()
    path = tmp_path / "trace.json"
    ran: dict[str, list[tuple[int, int, bool]]] = {"camera": [], "session 2": []}
    with VoteController(SimulatedHtp(arch=75), time=time) as controller:
        sessions = {
            "camera": controller.session("burst", owner="camera"),
            "session 2": controller.session("high_performance"),
        }
        with controller.record(path, most_bytes=4096, files=9):
            for number in range(60):
                name = "camera" if number % 3 else "session 2"
                begun_us = time.now_us
                with sessions[name].inference():
                    time.advance_us(2_000 + number)
                # A sustain time of 300 ms, and one of 0.
                ran[name].append((begun_us, time.now_us, name == "session 2" or number == 1 or number > 51))
                time.advance_us(30_000 if number < 50 else 3_600_000_000)
    assert len(list(tmp_path.iterdir())) > 2
    trace = read_trace(path)
    found = {
        each.name: list(zip(each.begins_us.tolist(), each.ends_us.tolist(), each.cold.tolist(), strict=True))
        for each in trace.sessions
        if each.cold is not None
    }
    assert found == ran
    assert {each.name: each.profile for each in trace.sessions} == {"camera": "burst", "session 2": "high_performance"}
