"""Trace files of every kind: the same inferences make the same trace."""

from __future__ import annotations

import gzip
import io
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import trace_files
from support.examples import examples
from support.slashes import no_such_file
from support.trace_files import Ran

from htppower.errors import TraceError
from htppower.tools.tuning.traces.read import read_trace

if TYPE_CHECKING:
    from pathlib import Path

    from htppower.tools.tuning.traces.trace import Trace

SOME = [Ran(10_000, 12_100), Ran(43_333, 45_000), Ran(44_000, 50_000), Ran(50_000, 50_001), Ran(2_000_000, 2_000_000)]
FORMATS = {kind: kind.partition("-")[0] for kind in trace_files.WRITERS}


def read(text: str | bytes, name: str = "trace", **how: Any) -> Trace:
    """Return the trace from a text."""
    content = text.encode() if isinstance(text, str) else text
    return read_trace(name, stream=io.BytesIO(content), **how)


def spans(trace: Trace) -> list[tuple[int, int]]:
    """Return begin and end of each inference of the only session."""
    (session,) = trace.sessions
    return list(zip(session.begins_us.tolist(), session.ends_us.tolist(), strict=True))


@pytest.mark.parametrize("kind", trace_files.WRITERS)
def test_every_kind_of_file_is_recognised_and_says_the_same(kind: str) -> None:
    """The kind is recognized by content; begins, ends and gaps are exact to the microsecond."""
    trace = read(trace_files.WRITERS[kind](SOME))
    assert trace.format == FORMATS[kind]
    assert spans(trace) == [each[:2] for each in SOME]
    # The second and third overlap, and the fourth begins as they end.
    assert trace.sessions[0].gaps_us().tolist() == [31_233, 0, 1_949_999]


ANY = st.lists(
    st.builds(
        lambda begin_us, took_us: Ran(begin_us, begin_us + took_us), st.integers(2, 10**9), st.integers(0, 10**6)
    ),
    min_size=1,
    max_size=30,
)


@examples(20)
@given(ANY, st.sampled_from(sorted(trace_files.WRITERS)))
def test_any_inferences_come_back(ran: list[Ran], kind: str) -> None:
    """For any inferences, each kind of file gives them back in the order of their begins."""
    trace = read(trace_files.WRITERS[kind](ran))
    assert sorted(spans(trace)) == sorted(each[:2] for each in ran)
    begins_us = trace.sessions[0].begins_us
    assert begins_us.dtype == np.int64
    assert (np.diff(begins_us) >= 0).all()


OWNERS = st.lists(
    st.builds(
        lambda begin_us, took_us, owner, cold: Ran(begin_us, begin_us + took_us, f'{owner}"\\é', owner * 2, cold),
        *(st.integers(0, 10**12), st.integers(0, 10**6), st.sampled_from("abc"), st.booleans()),
    ),
    min_size=1,
    max_size=40,
)


@examples(10)
@given(OWNERS)
def test_a_recording_says_session_profile_and_what_was_cold(ran: list[Ran]) -> None:
    """The session, profile and cold start of each line are read."""
    trace = read(trace_files.own(ran))
    found = {
        (begin_us, end_us, session.name, session.profile, cold)
        for session in trace.sessions
        if session.cold is not None
        for begin_us, end_us, cold in zip(session.begins_us, session.ends_us, session.cold, strict=True)
    }
    assert found == set(ran)
    assert trace.notes == ()


def test_a_file_is_read_packed_and_from_a_stream(tmp_path: Path) -> None:
    """Gzip is recognized by its first bytes, in a file and in a stream."""
    packed = gzip.compress(trace_files.own(SOME).encode())
    (tmp_path / "trace.json").write_bytes(packed)
    assert spans(read_trace(tmp_path / "trace.json")) == spans(read(packed)) == [each[:2] for each in SOME]


def test_a_format_may_be_named() -> None:
    """``format`` overrides the content; an unknown format or unit is refused."""
    text = trace_files.onnxruntime(SOME)
    trace = read(text, format="chrome", name="Relu_1_kernel_time")
    assert (trace.format, spans(trace)) == ("chrome", [each[:2] for each in SOME])
    with pytest.raises(ValueError, match="unknown format: 'perfetto'"):
        read(text, format="perfetto")
    with pytest.raises(ValueError, match="unknown unit: 'min'"):
        read("begin\n1\n", unit="min")


def test_sessions_of_one_name_are_told_apart() -> None:
    """Two sessions of one owner have separate gaps."""
    lines = (trace_files.own_line(Ran(1000 * place, 1000 * place + 10), number=place % 2 + 1) for place in range(6))
    trace = read(trace_files.own_header() + "".join(lines))
    assert [each.name for each in trace.sessions] == ["camera (1)", "camera (2)"]
    assert [each.gaps_us().tolist() for each in trace.sessions] == [[1990, 1990], [1990, 1990]]


def test_of_a_profile_without_a_wrong_run_the_executors_events_do_no_harm() -> None:
    """Errors in events that do not count are ignored; without run events, the executor's events are the runs."""
    run = {"cat": "Session", "pid": 1, "tid": 1, "ph": "X", "name": "model_run", "ts": 10, "dur": 5, "args": {}}
    odd = {**run, "name": "SequentialExecutor::Execute", "ts": -1}
    assert spans(read(json.dumps([odd, run]))) == [(10, 15)]
    with pytest.raises(TraceError, match="trace:1: ts is '-1'"):
        read(json.dumps([odd]))


def test_the_profile_that_most_used_stands_for_a_session() -> None:
    """A session that changed its profile has the profile of most inferences, and a note says this."""
    ran = [Ran(0, 1), Ran(10, 11, profile="balanced"), Ran(20, 21, profile="balanced")]
    trace = read(trace_files.own(ran))
    assert trace.sessions[0].profile == "balanced"
    assert trace.notes == ("camera used several profiles, balanced (2), burst (1); the first is used for all",)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "trace: is empty"),
        ("\x00\x01\x02", "trace: is not a text"),
        ('{"a": 1}', "is JSON, but has no trace events"),
        ('{"traceEvents": []}', "trace: has no inferences"),
        ("[1, 2]", "is JSON, but has no trace events"),
        (trace_files.own_header(), "trace: has no inferences"),
        (trace_files.own_header(version=2), "trace:2: is of version 2, not 1"),
        (trace_files.own_header() + trace_files.own_line(Ran(5, 4)), "trace:3: dur is '-1'"),
        (trace_files.own_header() + trace_files.own_line(Ran(-5, 4)), "trace:3: ts is '-5'"),
        (trace_files.own_header() + trace_files.own_line(Ran(10**17, 10**17)), "trace:3: ts is '100000000000000000'"),
        (trace_files.own(SOME).replace('"ts":43333,', ""), "trace:4: ts is missing"),
        (trace_files.own(SOME).replace('"ts":43333,', '"ts":NaN,'), "trace:4: ts is 'nan'"),
        (trace_files.own(SOME).replace('"ts":43333,', '"ts":"x",'), "trace:4: ts is 'x'"),
        (trace_files.own(SOME).replace('"ts":43333,', '"ts":true,'), "trace:4: ts is 'True'"),
        (trace_files.own(SOME).replace('"ts":43333,', f'"ts":{"9" * 5000},'), "trace:4: has a number that is too long"),
        (trace_files.own(SOME).replace('"ts":43333,', '"ts" 43333,'), "trace:4: is not an event of a trace"),
        (trace_files.own(SOME).replace('"ts":43333,', f'"x":{"[" * 100_000},'), "trace:4: is nested too deeply"),
        (trace_files.loadgen(SOME).replace('"complete_ns":2100000', '"complete_ns":-1'), "complete_ns is '-1'"),
    ],
)
def test_a_file_that_is_wrong_is_refused_with_its_line(text: str, says: str) -> None:
    """The error has the file, the line, the problem and the fix."""
    with pytest.raises(TraceError) as caught:
        read(text)
    assert says in str(caught.value)
    assert caught.value.hint
    assert caught.value.path == "trace"


def test_what_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    """A missing file, a folder and damaged packed bytes are errors of the file."""
    with pytest.raises(TraceError, match=rf"none\.json: can't be read: {no_such_file()}"):
        read_trace(tmp_path / "none.json")
    with pytest.raises(TraceError, match="is a folder"):
        read_trace(tmp_path)
    packed = gzip.compress(trace_files.own(SOME * 10).encode())
    with pytest.raises(TraceError, match="can't be read"):
        read(packed[:100] + bytes(20) + packed[120:])
    with pytest.raises(TraceError, match="is empty"):
        read(packed[:5])
    with pytest.raises(TraceError, match="is not a path"):
        read_trace("a\0b")


WRONG_BYTES = st.lists(st.tuples(st.integers(0, 2**16), st.binary(max_size=3)), max_size=6)


@examples(45)
@given(st.sampled_from(sorted(trace_files.WRITERS)), WRONG_BYTES, st.integers(0, 2**16), st.booleans())
def test_a_damaged_file_is_read_or_refused(kind: str, wrong: list[tuple[int, bytes]], cut: int, whole: bool) -> None:
    """If any bytes are overwritten or cut off, the result is a valid trace or a TraceError."""
    content = bytearray(trace_files.WRITERS[kind](SOME).encode())
    for place, put in wrong:
        at = place % len(content)
        content[at : at + len(put)] = put
    content = content if whole else content[: cut % len(content)]
    try:
        trace = read(bytes(content))
    except TraceError as error:
        assert str(error).startswith("trace")  # noqa: PT017 - either is right
        return
    for session in trace.sessions:
        assert (session.ends_us >= session.begins_us).all()
        assert (np.diff(session.begins_us) >= 0).all()
        assert (session.gaps_us() >= 0).all()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Msg Timestamp,Message,Time,Unit of Measurement\n0,EXECUTE,26756,US\n", "htppower advise trace"),
        ("Execute Stats (Average):\n  NetRun: 12 us\n", "htppower advise trace"),
        ('{"header": {"artifact_type": "GENIE_PROFILE"}, "components": []}', "htppower advise trace"),
        (':::MLLOG {"key": "loadgen_version"}\n', "enable_trace"),
        ("=====\nMLPerf Results Summary\n", "enable_trace"),
        ("[INFO] [Qnn ExecuTorch]: Deserializing\n", "is a log of ExecuTorch"),
        ("[INFO] a log\n", "no column is the begin of an inference"),
        ('{"something": "else"}', "is JSON, but has no trace events"),
    ],
)
def test_a_file_that_is_no_trace_is_told_as_what_it_is(text: str, says: str) -> None:
    """A profiler's file is for htppower advise; LoadGen's other logs have no samples."""
    with pytest.raises(TraceError) as caught:
        read(text)
    assert says in str(caught.value)
