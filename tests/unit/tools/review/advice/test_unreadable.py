"""Files that no reader accepts: the error and its place."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest
from support.measurements import HEADER, Recipe, made, ort_csv, read, told
from support.slashes import no_such_file

from htppower.errors.root import UnreadableFile
from htppower.tools.review.advice.measurement import Event
from htppower.tools.review.advice.readers.recognise import read_measurements

if TYPE_CHECKING:
    from pathlib import Path

INFERENCES = made([Recipe()] * 7)
WRONG = {
    ort_csv(INFERENCES).replace("0,BACKEND,4,COUNT", "0,BACKEND,x4,COUNT", 1): "FILE:3:3: Number of HVX threads used",
    ort_csv(INFERENCES).replace("US,BACKEND,ROOT,RPC", "PARSECS,BACKEND,ROOT,RPC", 1): "FILE:4:4: RPC (execute) time",
    f"{HEADER}\n0,BACKEND,4": "FILE:2:12: has 3 columns, not 7",
    f'{HEADER}\n0,BACKEND,4,COUNT,BACKEND,ROOT,"Num': "FILE:2:1: is not CSV",
    f"{HEADER}\n0,BACKEND,-4,COUNT,BACKEND,ROOT,Num times yield occured": "FILE:2:3:",
    f"{HEADER}\n0,BACKEND,nan,US,BACKEND,ROOT,RPC (execute) time": "FILE:2:3:",
    f"{HEADER}\n0,BACKEND,1e999,US,BACKEND,ROOT,RPC (execute) time": "FILE:2:3:",
    f"{HEADER}\n0,FINALIZE,4,US,BACKEND,ROOT,QNN (finalize) time": "FILE: has no known row of an inference",
    "Execute Stats (Average):\n  Backend (RPC (execute) time): lots us\n": "FILE:2:",
    "Execute Stats (Average):\n  NetRun: 12 parsecs\n": "FILE:2:",
    "Init Stats:\n  NetRun: 12 us\n": "FILE: has no statistics of an inference",
    "[ROOT][RPC (execute) time] BACKEND : many US\n": "FILE:1:",
    '{"messages": [{"method": "BACKEND_EXECUTE", "profilingEvents": 3}]}': "FILE:messages[0].profilingEvents: is a num",
    '{"messages": [3]}': "FILE:messages[0]: is a number, not an object",
    '{"messages": [{"method": "BACKEND_EXECUTE", "profilingEvents": [{"identifier": "RPC (execute) time", "unit": '
    '"MICROSEC", "value": "3"}]}]}': "FILE:messages[0].profilingEvents[0].value: is a text, not a number",
    '{"messages": []}': "FILE: has no message BACKEND_EXECUTE",
    '{"execution_summary": {"all_inference_times": [1, null]}}': "FILE:execution_summary.all_inference_times[1]: is nu",
    '{"execution_summary": []}': "FILE:execution_summary: is an array, not an object",
    '{"components": [{"events": [{"type": "GenieDialog_query", "time-to-first-token": {"unit": "us"}}]}]}': (
        "FILE:components[0].events[0].time-to-first-token: has no value"
    ),
    '{"components": []}': "FILE: has no query",
    '{"traceEvents": []}': "FILE: has no track of Runtraces",
    '{"messages": [\n  {]}': "FILE:2:4: is not JSON",
    '{"something": "else"}': "FILE: is JSON, but not",
    "[1, 2]": "FILE: is JSON, but not",
    "[" * 100_000: "FILE: is nested too deeply",
    '{"messages": 1' + "0" * 5000 + "}": "FILE: has a number that is too long",
    "profile: burst\n": "FILE: is not the output of a known profiler",
    "": "FILE: is empty",
    " \n": "FILE: is empty",
}


# Files of a known kind that advise does not read, and the error for each.
OTHERS = {
    "[INFO] a log\nof something\n": "FILE: is not the output of a known profiler",
    "[2026-01-01 12:30:01] a log\n": "FILE: is not the output of a known profiler",
    "[12.5] a log\n": "FILE: is not the output of a known profiler",
    ':::MLLOG {"key": "loadgen_version"}\n': "FILE: is the detail log of LoadGen, without samples (set enable_trace",
    "=====\nMLPerf Results Summary\n=====\n": "FILE: is the summary of LoadGen (set enable_trace",
    "[INFO] [Qnn ExecuTorch]: Deserializing\n": "FILE: is a log of ExecuTorch (htppower advise reads its times",
    "I 00:00:00.000522 executorch:runner.cpp:131] Model loaded\n": "FILE: is a log of ExecuTorch",
    "llama: x\nggml-hex: Hexagon backend\n": "FILE: is a log of llama.cpp's Hexagon backend",
    '{"traceEvents":[\n{"name":"QuerySamplesComplete","x":""}}': "FILE: is a trace of LoadGen (htppower trace",
    '[{"cat": "Session", "ph": "X", "ts": 1, "dur": 5}]': "FILE: is a trace of events, such as ONNX Runtime's profile",
    '{"traceEvents": [{"ph": "X", "ts": 1, "dur": 5}]}': "FILE: has no track of Runtraces (make it with runtrace: true "
    "in the viewer's configuration; htppower trace reads other traces of events)",
}


@pytest.mark.parametrize("content", OTHERS, ids=[f"{number}" for number in range(len(OTHERS))])
def test_a_file_of_another_kind_is_told_as_what_it_is(tmp_path: Path, content: str) -> None:
    """A log that begins with a bracket is not JSON; a trace is for htppower trace, and LoadGen's logs have none."""
    assert told(tmp_path, content).startswith(OTHERS[content])


def test_a_log_may_begin_with_a_bracket(tmp_path: Path) -> None:
    """The events of a log may come after other lines."""
    (found,) = read(tmp_path, "[INFO] begins\n[ROOT][RPC (execute) time] BACKEND : 3039 US\n")
    assert list(found.columns[Event.RPC]) == [3039]


@pytest.mark.parametrize("content", WRONG, ids=[f"{number}" for number in range(len(WRONG))])
def test_what_is_wrong_is_told_with_its_place(tmp_path: Path, content: str) -> None:
    """The error begins with the file and the line and column, or the path of keys, and names the problem."""
    assert told(tmp_path, content).startswith(WRONG[content])


def test_binary_files_are_refused_with_a_hint(tmp_path: Path) -> None:
    """The log next to ONNX Runtime's CSV is for qnn-profile-viewer; other bytes are not UTF-8."""
    assert "qnn-profile-viewer --input_log" in told(tmp_path, b"QNN\0\x01\x02log")
    assert told(tmp_path, ort_csv(INFERENCES).encode() + b"\n0,BACKEND,\xff\n").startswith("FILE:74:11:")


@pytest.mark.parametrize("times", [1, 2000])
@pytest.mark.parametrize("how", ["cut", "overwritten", "no block", "another sum"])
def test_a_packed_file_that_is_damaged_is_to_be_copied_again(tmp_path: Path, how: str, times: int) -> None:
    """The hint is to copy the file again, wherever the damage is."""
    row = "{},BACKEND,{},US,BACKEND,ROOT,RPC (execute) time\n"
    lines = "".join(row.format(number, number * 7919 % 104729) for number in range(10 * times))
    packed = bytearray(gzip.compress(f"{HEADER}\n{lines}".encode()))
    if how == "cut":
        del packed[-30:]
    elif how == "overwritten":
        packed[-60:-40] = bytes(20)
    elif how == "no block":
        packed[10:20] = b"\xff" * 10
    else:
        packed[-6] ^= 1
    path = tmp_path / "profile.csv.gz"
    path.write_bytes(packed)
    with pytest.raises(UnreadableFile, match=r"can't be read.*copy it again"):
        read_measurements(str(path))


@pytest.mark.parametrize(
    ("path", "said"),
    [(".", "is a folder"), ("/no/where", f"can't be read: {no_such_file()}"), ("a\0b", "is not a path")],
)
def test_what_is_no_file_is_told(path: str, said: str) -> None:
    """A folder, a missing path, and an impossible path are errors."""
    with pytest.raises(UnreadableFile, match=said):
        read_measurements(path)
