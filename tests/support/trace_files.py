"""The same inferences as a trace of each kind of file, written as each tool writes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Ran(NamedTuple):
    """One inference."""

    begin_us: int
    end_us: int
    session: str = "camera"
    profile: str = "burst"
    cold: bool = False


WALL_NS = 1_764_000_000_000_000_000


def compact(event: object) -> str:
    """Return JSON without spaces."""
    return json.dumps(event, separators=(",", ":"))


def own_line(ran: Ran, number: int = 1, pid: int = 4711) -> str:
    """Return the line that htppower records for an inference."""
    args = {"session": ran.session, "profile": ran.profile, "cold": ran.cold}
    times = {"ts": ran.begin_us, "dur": ran.end_us - ran.begin_us}
    return f"{compact({'name': 'inference', 'ph': 'X', 'pid': pid, 'tid': number, **times, 'args': args})},\n"


def own_header(pid: int = 4711, version: int = 1, clock_us: int = 0) -> str:
    """Return the first lines of a recording."""
    wall_ns = WALL_NS + 1000 * clock_us
    args = {"version": version, "clock": "us of the controller's clock", "wall_ns": wall_ns, "clock_us": clock_us}
    header = {"name": "htppower", "ph": "M", "pid": pid, "tid": 0, "args": {**args, "controller": None}}
    return f"[\n{compact(header)},\n"


def own(ran: Sequence[Ran], pid: int = 4711, clock_us: int = 0) -> str:
    """Return a recording that began then; each inference is written when it ends."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(each.session for each in ran), start=1)}
    ended = sorted(ran, key=lambda each: each.end_us)
    return own_header(pid, clock_us=clock_us) + "".join(own_line(each, numbers[each.session], pid) for each in ended)


def loadgen(ran: Sequence[Ran]) -> str:
    """Return LoadGen's trace: times in us with three decimals, and lines about the log that are no JSON."""
    lines = [
        '{"name":"GenerateLoadableSets","ph":"X","pid":7,"tid":7,"ts":0.656,"dur":29.574,"args":{}},',
        '{"name":"LogDetail","ph":"X","pid":7,"tid":8,"ts":1.511,"dur":14.802,"args":{"key":""loadgen_version""}},',
    ]
    for number, each in enumerate(ran):
        issued_ns = 1000 * (number % 3)
        due_us = each.begin_us - issued_ns / 1000
        done_ns = 1000 * (each.end_us - each.begin_us) + issued_ns
        args = f'"sample_seq":{number},"query_seq":{number},"issue_start_ns":{issued_ns},"complete_ns":{done_ns}'
        sample = f'"name":"Sample","cat":"default","pid":7,"id":{number}'
        lines += [
            f'{{"name":"Latency","ph": "C","pid":7,"ts":{due_us:.3f},"args":{{ "issue_delay":{issued_ns}}}}},',
            f'{{{sample},"ph":"b","ts":{due_us:.3f},"args":{{{args}}}}},',
            f'{{{sample},"ph":"e", "ts":{each.end_us:.3f}}},',
            f'{{"name":"QuerySamplesComplete","ph":"X","pid":7,"tid":7,"ts":{each.end_us:.3f},"dur":8.8,"args":{{}}}},',
        ]
    end = '{"name":"LastTrace"}\n],\n"displayTimeUnit":"ns",\n"otherData":{\n"version":"MLPerf LoadGen v1.0"\n}\n}\n'
    return "\n".join(['{"traceEvents":[', *lines, end])


def onnxruntime(ran: Sequence[Ran]) -> str:
    """Return the profile of ONNX Runtime, with an op and the executor in each run."""

    def line(cat: str, begin_us: int, end_us: int, name: str) -> str:
        return (
            f'{{"cat" : "{cat}","pid" :5,"tid" :5,"dur" :{end_us - begin_us},"ts" :{begin_us},"ph" : "X",'
            f'"name" :"{name}","args" : {{}}}}'
        )

    lines = [line("Session", 0, 0, "session_initialization")]
    for each in ran:
        span = (each.begin_us, each.end_us)
        lines += [
            line("Node", *span, "Relu_1_kernel_time"),
            line("Session", *span, "SequentialExecutor::Execute"),
            line("Session", *span, "model_run"),
        ]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def chrome_whole(ran: Sequence[Ran]) -> str:
    """Return whole events, all on one line."""
    events = [
        {"name": "run", "ph": "X", "pid": 1, "tid": 2, "ts": each.begin_us, "dur": each.end_us - each.begin_us}
        for each in ran
    ]
    return compact({"displayTimeUnit": "ms", "traceEvents": events})


def chrome_pretty(ran: Sequence[Ran]) -> str:
    """Return asynchronous pairs over several lines each."""
    events = []
    for number, each in enumerate(ran):
        common = {"name": "predict", "cat": "app", "id": number, "pid": 1}
        events += [{**common, "ph": "b", "ts": each.begin_us}, {**common, "ph": "e", "ts": each.end_us}]
    return json.dumps(events, indent=2)


def csv_ends(ran: Sequence[Ran]) -> str:
    """Return begin and end in us."""
    return "begin_us,end_us\n" + "".join(f"{each.begin_us},{each.end_us}\n" for each in ran)


def csv_durations(ran: Sequence[Ran]) -> str:
    """Return begin in s and duration in ms, with a semicolon between."""
    rows = (f"{each.begin_us / 1e6:.6f};{(each.end_us - each.begin_us) / 1e3:.3f}\n" for each in ran)
    return "Start (s);Latency [ms]\n" + "".join(rows)


WRITERS: dict[str, Callable[[Sequence[Ran]], str]] = {
    "htppower": own,
    "loadgen": loadgen,
    "onnxruntime": onnxruntime,
    "chrome-whole": chrome_whole,
    "chrome-pretty": chrome_pretty,
    "csv-ends": csv_ends,
    "csv-durations": csv_durations,
}


def camera(bursts: int = 6, frames: int = 40) -> list[Ran]:
    """Return a camera at 30 Hz: bursts of frames with seconds between; the first frame of each burst is cold."""
    ran = []
    begin_us = 1_000_000
    for burst in range(bursts):
        for frame in range(frames + 5 * burst):
            jitter_us = (frame * 7919 + burst * 104_729) % 201 - 100
            took_us = 2_000 + (frame * 31) % 300
            begun_us = begin_us + jitter_us
            ran.append(Ran(begun_us, begun_us + took_us, "camera", "burst", frame == 0))
            begin_us += 33_333
        begin_us += 2_000_000 + 700_000 * burst
    return ran


def assistant(turns: int = 30) -> list[Ran]:
    """Return an assistant with occasional questions: gaps of all lengths from 50 ms to 1.6 s."""
    ran = []
    begin_us = 1_500_000
    for turn in range(turns):
        took_us = 20_000 + (turn * 7919) % 15_000
        ran.append(Ran(begin_us, begin_us + took_us, "assistant", "sustained_high_performance", True))
        begin_us += took_us + 50_000 * 2 ** (turn * 5 % 6) + (turn * 4801) % 40_000
    return ran
