"""The readers: the measurements from each form of file, in all its variants."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import attrs
import pytest
from support.measurements import (
    FORMS,
    HEADER,
    ORDER,
    Recipe,
    ai_hub_json,
    genie_json,
    made,
    ort_csv,
    read,
    told,
    viewer_csv,
    viewer_text,
)

from htppower.tools.review.advice.measurement import Event
from htppower.tools.review.advice.readers.recognise import read_measurements

USUAL = Recipe()
INFERENCES = made([USUAL] * 7)
# Shortened from the vendor's documentation; lint has another cycle row, and its own rows below each op.
LINTING = """\
Execute Stats (Average):
------------------------
Total Inference Time:
---------------------
   NetRun:  16792 us
   Backend (RPC (execute) time): 16242  us
   Backend (QNN accelerator (execute) time): 15190  us
   Backend (Num times yield occured): 0  count
   Backend (Accelerator (critical path execute) time (cycles)): 4327266  cycles
      OpId_0 (cycles): 8036  cycles
            Wait (Scheduler) time: 629  cycles
            Overlap time: 4770  cycles
            Resources: HVX, HMX, DMA
"""
# The format of the simulation on x86-64.
SIMULATED = f"""\
{HEADER}
0,FINALIZE,34122,US,BACKEND,ROOT,QNN (finalize) time
0,UNKNOWN,2115,US,BACKEND,SUB-EVENT,Graph Preparation Initializing
0,BACKEND,0,COUNT,BACKEND,ROOT,Number of HVX threads used
0,BACKEND,42022,US,BACKEND,ROOT,Time for HVX + HMX power on and acquire
0,BACKEND,2332952,CYCLES,BACKEND,ROOT,Accelerator (execute) time (cycles)
0,NODE,7230,CYCLES,BACKEND,SUB-EVENT,MatMul3:OpId_17 (cycles)
0,BACKEND,20887,US,BACKEND,ROOT,Accelerator (execute) time
0,EXECUTE,21054,US,BACKEND,ROOT,QNN (execute) time
"""


@pytest.mark.parametrize("form", FORMS)
def test_every_form_holds_the_same_inferences(tmp_path: Path, form: str) -> None:
    """Each number of each inference is read, in the order of the file, whichever tool has written it."""
    (found,) = read(tmp_path, FORMS[form](INFERENCES))
    assert found.count == len(INFERENCES)
    for event in ORDER:
        assert list(found.columns[event]) == [inference[event] for inference in INFERENCES], event
    assert not found.simulated


@pytest.mark.parametrize("write", [viewer_csv, viewer_text])
def test_units_become_us(tmp_path: Path, write: Any) -> None:
    """Times in ms and in us give the same times; the unit of the file is kept."""
    in_us, in_ms = (read(tmp_path, write(INFERENCES, unit=unit))[0] for unit in ("us", "ms"))
    for event in ORDER:
        assert list(in_ms.columns[event]) == pytest.approx(list(in_us.columns[event]), abs=1)
    assert in_ms.units[Event.RPC] == "ms"


def test_the_viewers_text_has_averages_and_their_limits(tmp_path: Path) -> None:
    """Averages stand for the inferences, with the smallest and largest number; other phases are left out."""
    (found,) = read(tmp_path, viewer_text(INFERENCES))
    rpc = [inference[Event.RPC] for inference in INFERENCES]
    assert (found.averaged, found.graph, found.count) == (True, "model", 1)
    assert found.columns[Event.RPC][0] == pytest.approx(sum(rpc) / len(rpc), abs=1)
    assert (found.least[Event.RPC], found.most[Event.RPC]) == (min(rpc), max(rpc))
    (linted,) = read(tmp_path, LINTING)
    assert linted.columns[Event.CRITICAL_PATH][0] == 4327266
    assert linted.columns[Event.NETRUN][0] == 16792
    assert any("Linting" in note for note in linted.notes)


def test_the_viewers_text_of_every_run(tmp_path: Path) -> None:
    """The reader of the HTP prints each run, so these are inferences and not averages."""
    runs = "".join(LINTING.replace("(Average)", "(Overall)").replace("16242", str(16242 + run)) for run in range(3))
    (found,) = read(tmp_path, runs)
    assert (found.averaged, list(found.columns[Event.RPC])) == (False, [16242, 16243, 16244])


@pytest.mark.parametrize("columns", [7, 8])
def test_onnx_runtime_appends_its_runs(tmp_path: Path, columns: int) -> None:
    """Consecutive runs in a file, with or without another header, are sessions of one graph."""
    text = "".join(ort_csv(INFERENCES, columns=columns, header=again) for again in (True, False, True))
    (found,) = read(tmp_path, text)
    assert (found.count, found.starts) == (21, (0, 7, 14))


def test_sessions_of_other_graphs_stay_apart(tmp_path: Path) -> None:
    """Different cycles or ops mean a different graph, in one file or in turn."""
    large = made([attrs.evolve(USUAL, compute=9000.0)] * 7)
    found = read(tmp_path, ort_csv(INFERENCES) + ort_csv(large, header=False))
    assert [(each.graph, each.count) for each in found] == [("graph 1", 7), ("graph 2", 7)]
    rows = [HEADER]
    for small, big in zip(INFERENCES, large, strict=True):
        for inference, name in ((small, "Add"), (big, "Conv")):
            *body, last = ort_csv([inference]).splitlines()[2:]
            rows += [*body, f"0,NODE,7230,CYCLES,BACKEND,SUB-EVENT,{name}:OpId_1 (cycles)", last]
    detailed = read(tmp_path, "\n".join(rows))
    assert [each.columns[Event.COMPUTE][0] for each in detailed] == [
        INFERENCES[0][Event.COMPUTE],
        large[0][Event.COMPUTE],
    ]


def test_the_simulation_is_told_from_a_device(tmp_path: Path) -> None:
    """ONNX Runtime's rows without an RPC row are from the simulation; the viewer may leave out rows."""
    (found,) = read(tmp_path, SIMULATED)
    assert (found.simulated, found.count) == (True, 1)
    no_rpc: list[dict[Event, float]] = [
        {event: number for event, number in each.items() if event is not Event.RPC} for each in INFERENCES
    ]
    assert not read(tmp_path, viewer_csv(no_rpc))[0].simulated
    assert not read(tmp_path, ort_csv(no_rpc))[0].simulated  # the remote side of an RPC, and vector threads in use
    idle: list[dict[Event, float]] = [{**each, Event.HVX_THREADS: 0} for each in no_rpc]
    assert read(tmp_path, ort_csv(idle))[0].simulated


def test_moments_are_taken_where_they_can_be(tmp_path: Path) -> None:
    """Increasing timestamps are the times of the inferences; ONNX Runtime's timestamps are ignored."""
    (found,) = read(tmp_path, viewer_csv(INFERENCES, step_us=500_000))
    assert len(found.begins_us) == 7
    assert read(tmp_path, ort_csv(INFERENCES))[0].begins_us == ()


def test_old_names_and_columns_in_another_order(tmp_path: Path) -> None:
    """An old provider calls the whole call NULL and has no timestamp; columns are found by name."""
    old = f"{HEADER}\nUNKNOWN,EXECUTE,3100,US,BACKEND,ROOT,NULL\nUNKNOWN,BACKEND,2800,US,BACKEND,SUB-EVENT,"
    (found,) = read(tmp_path, f"{old}Accelerator (execute) time\n")
    assert (found.columns[Event.QNN][0], found.columns[Event.ACCELERATOR][0]) == (3100, 2800)
    lines = ort_csv(INFERENCES).splitlines()
    turned = "\n".join(",".join(reversed(line.split(","))) for line in lines)
    assert read(tmp_path, turned)[0].columns[Event.RPC][0] == INFERENCES[0][Event.RPC]
    quoted = "\n".join(",".join(f'"{field}"' for field in line.split(",")) for line in lines)
    assert read(tmp_path, quoted)[0].count == 7


def test_llama_cpp_has_had_two_forms(tmp_path: Path) -> None:
    """The traced form names the graph, and has times in ms."""
    text = "".join(
        f"[profiler][MUL_MAT]print_profile_events start ------\n"
        f"[profiler][MUL_MAT]event[0]: Number of HVX threads used, count: 4\n"
        f"[profiler][MUL_MAT]event[1]: RPC (execute) time, duration: 29.{run}09 ms\n"
        f"[profiler][MUL_MAT]event[2]: QNN accelerator (execute) time, duration: 25.280 ms\n"
        f"[profiler][MUL_MAT]event[6]: Accelerator (execute) time (cycles), sub_count: 3, start ----\n"
        f"[profiler][MUL_MAT]sub_event[0]: Input OpId_2 (cycles), cycles: 340526\n"
        for run in range(3)
    )
    (found,) = read(tmp_path, f"llama: something\n{text}")
    assert (found.graph, list(found.columns[Event.RPC])) == ("MUL_MAT", [29009, 29109, 29209])


def test_an_ai_hub_job(tmp_path: Path) -> None:
    """All times are read; the notes explain the fastest time and the median, and cycles with times."""
    (found,) = read(tmp_path, ai_hub_json([41_700, 17_600, 41_900]))
    assert list(found.columns[Event.INFERENCE]) == [41_700, 17_600, 41_900]
    assert any("17600 us" in note and "41700 us" in note for note in found.notes)
    assert found.columns[Event.CYCLES][0] / found.columns[Event.COMPUTE][0] == pytest.approx(1420, abs=1)
    job = json.loads(ai_hub_json([5]))
    del job["execution_summary"]["all_inference_times"]
    job["execution_detail"].append({"compute_unit": "CPU", "execution_time": 873})
    (one,) = read(tmp_path, json.dumps({"profile": job}))
    assert (one.count, any("87%" in note for note in one.notes)) == (1, True)
    assert read(tmp_path, json.dumps({**job, "execution_detail": {}}))[0].count == 1


def test_a_profile_of_genie(tmp_path: Path) -> None:
    """Queries have times, tokens and moments; creations are not queries."""
    (found,) = read(tmp_path, genie_json([(1_000, 90_000, 4), (500_000, 60_000, 8)]))
    assert (found.graph, list(found.columns[Event.FIRST_TOKEN])) == ("dialog0", [90_000, 60_000])
    assert list(found.columns[Event.PROMPT_TOKENS]) == [4, 8]
    assert (list(found.begins_us), list(found.ends_us)) == ([1_000, 500_000], [121_000, 590_000])


def test_a_query_of_genie_without_tokens_has_no_rates(command: Any, tmp_path: Path) -> None:
    """Genie writes 0 for an interrupted query, which gives no rate. A query without any number is left out."""
    units = {
        "time-to-first-token": "us",
        "prompt-processing-rate": "toks/sec",
        "token-generation-rate": "toks/sec",
        "num-generated-tokens": "",
    }
    zeros = {key: {"value": 0, "unit": unit} for key, unit in units.items()}
    cut = {"type": "GenieDialog_query", "duration": 90, **zeros}
    file = tmp_path / "genie.json"
    for query, code in ((cut, 0), ({"type": "GenieDialog_query"}, 2)):
        file.write_text(json.dumps({"header": {}, "components": [{"name": "d", "events": [query]}]}))
        result = command.run("advise", str(file))
        assert result.exit_code == code
        assert "tokens/s." not in result.stdout
        assert "first token" not in result.stdout


def test_a_trace_of_optrace(tmp_path: Path) -> None:
    """The tracks of runs and of yields are found by name; nested spans count once."""
    names = [("g Runtraces", 1), ("g Yields", 2), ("ops", 3)]
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "thread_name", "pid": 0, "tid": tid, "args": {"name": name}} for name, tid in names
    ]
    spans = [(1, 0, 1000), (1, 100, 200), (2, 300, 50), (2, 500, 70), (3, 0, 5)]
    events += [{"ph": "X", "name": "x", "pid": 0, "tid": tid, "ts": ts, "dur": dur} for tid, ts, dur in spans]
    (found,) = read(tmp_path, json.dumps({"traceEvents": events}))
    assert found.graph == "g"
    assert {event: column[0] for event, column in found.columns.items()} == {
        Event.ACCELERATOR: 1000,
        Event.YIELDS: 2,
        Event.YIELD_WAIT: 120,
    }


def _inspector(events: list[tuple[str, list[float]]], error: Exception | None = None) -> types.ModuleType:
    """Return a stand-in for ExecuTorch's tools."""
    stand_in = types.ModuleType("executorch.devtools")
    listed = [types.SimpleNamespace(name=name, perf_data=types.SimpleNamespace(raw=raw)) for name, raw in events]
    block = types.SimpleNamespace(name="Execute", events=listed)

    class Inspector:
        """A stand-in with the events."""

        def __init__(self, **given: object) -> None:
            assert given["source_time_scale"] == given["target_time_scale"]
            stand_in.given = given  # type: ignore[attr-defined]
            if error is not None:
                raise error
            self.event_blocks = [block]

    stand_in.Inspector = Inspector  # type: ignore[attr-defined]
    return stand_in


# ExecuTorch's runtime begins a file with the size of the buffer, the offset of the root and the identifier.
ETDUMP = b"\x6c\0\0\0\x10\0\0\0ED00" + bytes(100)


def with_inspector(monkeypatch: pytest.MonkeyPatch, tools: types.ModuleType) -> None:
    """Replace ExecuTorch's tools with a stand-in."""
    scale = types.ModuleType("executorch.devtools.inspector")
    scale.TimeScale = types.SimpleNamespace(CYCLES="cycles")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "executorch", types.ModuleType("executorch"))
    monkeypatch.setitem(sys.modules, "executorch.devtools", tools)
    monkeypatch.setitem(sys.modules, "executorch.devtools.inspector", scale)


@pytest.mark.parametrize("dump", [ETDUMP, ETDUMP[4:]], ids=["with its size", "without"])
def test_an_etdump_is_given_to_executorch(dump: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The Inspector gets the bytes of the file, packed or not; without ExecuTorch the error names the package."""
    monkeypatch.setitem(sys.modules, "executorch", None)
    assert "pip install executorch torch" in told(tmp_path, dump)
    tools = _inspector([("RPC (execute) time (us)", [3000, 3100]), ("Accelerator (execute) time (cycles)", [5e6, 6e6])])
    with_inspector(monkeypatch, tools)
    for packed in (dump, gzip.compress(dump)):
        (found,) = read(tmp_path, packed)
        assert list(found.columns[Event.RPC]) == [3000, 3100]
        assert list(found.columns[Event.CYCLES]) == [5e6, 6e6]
        assert tools.given["etdump_data"] == dump
    with_inspector(monkeypatch, _inspector([("aten::add", [1.0])]))
    assert "no event of the QNN backend" in told(tmp_path, dump)


def test_an_etdump_that_executorch_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ExecuTorch's error is shown; if the file has no size, which the Inspector refuses, the error explains this."""
    with_inspector(monkeypatch, _inspector([], ValueError("broken")))
    assert "ExecuTorch can't read: ValueError: broken (copy it again)" in told(tmp_path, ETDUMP)
    assert "are not the size of the buffer" in told(tmp_path, ETDUMP[4:])


def test_a_text_is_no_etdump(tmp_path: Path) -> None:
    """The identifier must follow zeros."""
    assert "ETDump" not in told(tmp_path, b"1234567 ED00 is a text")


def test_an_etdump_of_executorchs_own_tools(tmp_path: Path) -> None:
    """If ExecuTorch is installed, a file made by its schema compiler is read."""
    pytest.importorskip("executorch.devtools")
    import executorch  # noqa: PLC0415 - as above

    root = Path(executorch.__path__[0])
    names = ["RPC (execute) time (us)", "Accelerator (execute excluding wait) time (us)"]
    events = [
        {"profile_event": {"delegate_debug_id_str": name, "instruction_id": 5, "start_time": 0, "end_time": time}}
        for name, time in zip(names, (3000, 2400), strict=True)
    ]
    document = tmp_path / "dump.json"
    document.write_text(json.dumps({"run_data": [{"name": "forward", "events": events}]}), encoding="utf-8")
    compiler: list[str | Path] = [root / "data/bin/flatc", "--binary", "--size-prefixed", "-o", tmp_path]
    subprocess.run([*compiler, root / "devtools/etdump/etdump_schema_flatcc.fbs", document], check=True)
    (found,) = read_measurements(str(tmp_path / "dump.etdp"))
    assert (found.graph, list(found.columns[Event.RPC]), list(found.columns[Event.COMPUTE])) == (
        "forward",
        [3000],
        [2400],
    )


def test_packed_files_and_the_standard_input(tmp_path: Path) -> None:
    """A file packed with gzip is read like its content; the path - is the standard input."""
    text = ort_csv(INFERENCES)
    assert read(tmp_path, gzip.compress(text.encode()))[0].count == 7
    assert read(tmp_path, f"\ufeff{text}".replace("\n", "\r\n"))[0].count == 7
    (found,) = read_measurements("-", io.BytesIO(text.encode()))
    assert (found.source, found.count) == ("-", 7)
    assert "can't be read to its end" in told(tmp_path, gzip.compress(text.encode() * 900)[:-900])


def test_a_large_file_is_read_as_a_stream(tmp_path: Path) -> None:
    """The rows of ops, most of a detailed file, are not kept: only the columns take memory."""
    import tracemalloc  # noqa: PLC0415 - it costs nothing while it is not started

    ops = (f"0,NODE,{op},CYCLES,BACKEND,SUB-EVENT,Conv:OpId_{op % 50} (cycles)\n" for op in range(400))
    body = f"{ort_csv(INFERENCES[:1], header=False)}{''.join(ops)}"
    path = tmp_path / "large.csv"
    path.write_text(HEADER + "\n" + body * 120, encoding="utf-8")
    tracemalloc.start()
    try:
        (found,) = read_measurements(str(path))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found.count == 120
    assert peak < path.stat().st_size / 3
