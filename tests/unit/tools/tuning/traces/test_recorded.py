"""A recording of a controller is read exactly: each inference of each session, to the microsecond."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("numpy")

from htppower.control.recording.recorder import PERIOD_US
from htppower.tools.tuning.traces.read import read_trace

if TYPE_CHECKING:
    from pathlib import Path

    from support.bench import Bench


def test_a_recording_is_read_with_its_older_files(bench: Bench, tmp_path: Path) -> None:
    """Begins, ends, waits and the number of lost inferences are read; a cut last line is left out."""
    path = tmp_path / "trace.json"
    camera, other = bench.controller.session("burst", owner="camera"), bench.controller.session("balanced")
    bench.controller.record(path, most_bytes=4096, files=9, most_pending=40)
    expected: dict[str, list[tuple[int, int, bool]]] = {"camera": [], "2": []}
    for number in range(60):
        name, session = ("2", other) if number % 3 else ("camera", camera)
        begun_us, cold = bench.time.now_us, session.state.value != "RAISED"
        bench.infer(session, 100 + number)
        expected[name].append((begun_us, bench.time.now_us, cold))
        bench.time.advance_us(50_000)
    bench.time.advance_us(PERIOD_US)
    for _ in range(45):
        bench.infer(camera, 1)
    bench.controller.close()
    with path.open("ab") as file:
        file.write(b'{"name":"infer')
    trace = read_trace(path)
    read = {
        each.name: list(zip(each.begins_us.tolist(), each.ends_us.tolist(), each.cold.tolist(), strict=True))
        for each in trace.sessions
        if each.cold is not None
    }
    assert (trace.format, read["session 2"], read["camera"][:20]) == ("htppower", expected["2"], expected["camera"])
    assert len(read["camera"]) == 20 + 40
    assert {each.name: each.profile for each in trace.sessions} == {"camera": "burst", "session 2": "balanced"}
    assert any("5 inferences were lost" in note for note in trace.notes)
    assert any("cut off" in note for note in trace.notes)
