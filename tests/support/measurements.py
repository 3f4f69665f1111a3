"""Artificial measurements: inferences with noise, and the same inferences in the format of every profiler."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import attrs
import pytest

from htppower.errors.root import UnreadableFile
from htppower.tools.review.advice.measurement import Event, Kind
from htppower.tools.review.advice.readers.recognise import read_measurements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from htppower.tools.review.advice.measurement import Measurement

    Inference = Mapping[Event, float]

HEADER = "Msg Timestamp,Message,Time,Unit of Measurement,Timing Source,Event Level,Event Identifier"
_UNITS = {Kind.TIME: "US", Kind.CYCLES: "CYCLES", Kind.COUNT: "COUNT"}
# The events in the order that the HTP prints them.
ORDER = (
    Event.HVX_THREADS,
    Event.RPC,
    Event.QNN_ACCELERATOR,
    Event.YIELDS,
    Event.VTCM,
    Event.POWER_ON,
    Event.CYCLES,
    Event.COMPUTE,
    Event.ACCELERATOR,
    Event.QNN,
)


@attrs.frozen
class Recipe:
    """The parts of an inference, in us.

    Attributes:
        compute, waits, around, way, host: the work, the waits and the overhead of the HTP, the overhead of the call,
            and the overhead of the host.
        power, vtcm: the time for power-up and for VTCM; they are within ``waits`` or ``around`` if there is room.
        yields: how often it yields.
        mhz: the clock, which determines the number of cycles.
    """

    compute: float = 2500.0
    waits: float = 20.0
    around: float = 90.0
    way: float = 260.0
    host: float = 40.0
    power: float = 12.0
    vtcm: float = 60.0
    yields: float = 0.0
    mhz: float = 1000.0

    def made(self, noise: random.Random, spread: float = 0.03) -> dict[Event, float]:
        """Return an inference; every part is spread by a factor."""

        def some(part: float) -> float:
            return max(0.0, part * noise.lognormvariate(0, spread)) if part else 0.0

        compute, waits, around, way, host = map(some, (self.compute, self.waits, self.around, self.way, self.host))
        accelerator = compute + waits
        on_htp = accelerator + around
        return {
            Event.HVX_THREADS: 4,
            Event.RPC: round(on_htp + way),
            Event.QNN_ACCELERATOR: round(on_htp),
            Event.YIELDS: round(self.yields),
            Event.VTCM: round(some(self.vtcm)),
            Event.POWER_ON: round(some(self.power)),
            Event.CYCLES: round(self.compute * self.mhz * noise.lognormvariate(0, 0.002)),
            Event.COMPUTE: round(compute),
            Event.ACCELERATOR: round(accelerator),
            Event.QNN: round(on_htp + way + host),
        }


def made(recipes: Iterable[Recipe], seed: int = 1, spread: float = 0.03) -> list[dict[Event, float]]:
    """Return an inference for each recipe."""
    noise = random.Random(seed)
    return [recipe.made(noise, spread) for recipe in recipes]


def ort_csv(
    inferences: Iterable[Inference], *, order: Sequence[Event] = ORDER, columns: int = 7, header: bool = True
) -> str:
    """Return the CSV of ONNX Runtime."""
    more = ",ONNX Source Ops" if columns > 7 else ""
    lines = [f"{HEADER}{more}"] if header else []
    lines.append(f"0,FINALIZE,51569,US,BACKEND,ROOT,QNN (finalize) time{',' if more else ''}")
    for inference in inferences:
        for event in order:
            if event in inference:
                message = "EXECUTE" if event is Event.QNN else "BACKEND"
                unit = _UNITS[event.kind]
                row = f"0,{message},{inference[event]:.0f},{unit},BACKEND,ROOT,{event.printed}"
                lines.append(f"{row}{',' if more else ''}")
    return "\n".join(lines) + "\n"


def viewer_csv(
    inferences: Iterable[Inference],
    *,
    graph: str = "model",
    unit: str = "US",
    step_us: float = 0,
    begin_us: int = 10**9,
) -> str:
    """Return the CSV of qnn-profile-viewer, with a timestamp for each inference; times in ``US`` or ``MS``."""
    lines = ["Qnn profile viewer v2.48", "Input: qnn-profiling-data_0.log", "", HEADER.replace(",", ", ")]
    lines.append("15423026,FINALIZE,256372,US,NETRUN,ROOT,Graph 0: " + graph)
    now = float(begin_us)
    for inference in inferences:
        whole = inference.get(Event.QNN, 3000.0)
        netrun = spelt(whole + 3, unit)
        lines.append(f"{now:.0f},EXECUTE,{netrun},{unit},NETRUN,ROOT,Graph 0: {graph}")
        for event in ORDER:
            if event in inference:
                timed = event.kind is Kind.TIME
                number = spelt(inference[event], unit) if timed else f"{inference[event]:.0f}"
                said = unit if timed else _UNITS[event.kind]
                lines.append(f"{now:.0f},EXECUTE,{number},{said},BACKEND,ROOT,{event.printed}")
        now += whole + step_us + 1
    lines.append("15423999,EXECUTE IPS,214.8888,INF/SEC,NETRUN,ROOT,NetRun IPS")
    return "\n".join(lines) + "\n"


def spelt(time_us: float, unit: str) -> str:
    """Return a time in a unit."""
    return f"{time_us:.0f}" if unit.lower() == "us" else f"{time_us / 1000:.6f}"


def viewer_text(inferences: Sequence[Inference], *, graph: str = "model", unit: str = "us") -> str:
    """Return the output of qnn-profile-viewer: averages, minima and maxima."""
    lines = ["Init Stats:", "-----------", "    NetRun:  331158 us", "", "Finalize Stats:", "---------------"]
    lines += [f"Graph 0 ({graph}):", "    NetRun:  256372 us", ""]
    kinds: dict[str, Callable[[list[float]], float]] = {
        "Average": lambda numbers: sum(numbers) / len(numbers),
        "Min": min,
        "Max": max,
    }
    for kind, of in kinds.items():
        lines += [
            f"Execute Stats ({kind}):",
            "------------------------",
            "Total Inference Time:",
            "---------------------",
        ]
        lines += [f"Graph 0 ({graph}):"]
        for event in ORDER:
            numbers = [inference[event] for inference in inferences if event in inference]
            if numbers:
                timed = event.kind is Kind.TIME
                said = f"{spelt(of(numbers), unit)} {unit}" if timed else f"{of(numbers):.0f} {event.kind.value}"
                lines.append(f"    Backend ({event.printed}): {said}")
        lines.append("")
    lines += ["Execute Stats (Overall):", "---", "    NetRun IPS:  214.8888 inf/sec"]
    return "\n".join(lines) + "\n"


def qairt_json(inferences: Iterable[Inference]) -> str:
    """Return a report of qairt.Profiler."""
    units = {Kind.TIME: "MICROSEC", Kind.CYCLES: "CYCLES", Kind.COUNT: "COUNT"}
    messages: list[dict[str, object]] = [{"method": "BACKEND_CREATE_FROM_BINARY", "profilingEvents": []}]
    for inference in inferences:
        events = [
            {
                "identifier": event.printed,
                "unit": units[event.kind],
                "type": "EXECUTE" if event is Event.QNN else "",
                "value": inference[event],
            }
            for event in ORDER
            if event in inference
        ]
        messages.append({"method": "BACKEND_EXECUTE", "profilingEvents": events})
    return json.dumps({"metadata": {"appName": "qnn-net-run"}, "messages": messages})


def llama_log(inferences: Iterable[Inference]) -> str:
    """Return lines of llama.cpp's QNN backend, between others."""
    lines = ["llama_model_load: loading model"]
    for inference in inferences:
        lines += [
            f"[ROOT][{event.printed}] BACKEND : {inference[event]:.0f} {_UNITS[event.kind]}"
            for event in ORDER
            if event in inference
        ]
    return "\n".join([*lines, "llama_perf_context_print: total time = 1 ms"]) + "\n"


def ai_hub_json(times_us: Sequence[float]) -> str:
    """Return a profile job of AI Hub."""
    layer = {
        "name": "conv",
        "type": "CONV_2D",
        "compute_unit": "NPU",
        "execution_time": 127,
        "execution_cycles": 180315,
    }
    summary = {"estimated_inference_time": min(times_us), "all_inference_times": list(times_us)}
    return json.dumps({"execution_summary": summary, "execution_detail": [layer]})


def genie_json(queries: Iterable[tuple[float, float, int]], rate: float = 72.0) -> str:
    """Return a profile of Genie from when each query begins, its time to the first token, and the prompt's tokens.

    ``rate`` is how many tokens a second it generates.
    """
    events = [
        {
            "type": "GenieDialog_query",
            "duration": first + 30_000,
            "start": begin,
            "stop": begin + first + 30_000,
            "num-prompt-tokens": {"value": tokens, "unit": ""},
            "prompt-processing-rate": {"value": tokens / first * 1e6, "unit": "toks/sec"},
            "time-to-first-token": {"value": first, "unit": "us"},
            "num-generated-tokens": {"value": 3, "unit": ""},
            "token-generation-rate": {"value": rate, "unit": "toks/sec"},
            "token-generation-time": {"value": 27_776, "unit": "us"},
        }
        for begin, first, tokens in queries
    ]
    created = {"type": "GenieDialog_create", "duration": 84_529, "init-time": {"value": 80_980, "unit": "us"}}
    component = {"name": "dialog0", "type": "dialog", "events": [created, *events]}
    header = {"header_version": {"major": 0, "minor": 1, "patch": 0}, "artifact_type": "GENIE_PROFILE"}
    return json.dumps({"header": header, "metadata": {"timestamp": 1}, "components": [component]})


FORMS: Mapping[str, Callable[[Sequence[Inference]], str]] = {
    "ort.csv": ort_csv,
    "viewer.csv": viewer_csv,
    "qairt.json": qairt_json,
    "llama.log": llama_log,
}


def read(folder: Path, content: str | bytes) -> list[Measurement]:
    """Write a file with this content into a folder, and return its measurements."""
    path = folder / "measured"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_measurements(str(path))


def told(folder: Path, content: str | bytes) -> str:
    """Return the error of a file, without its path."""
    with pytest.raises(UnreadableFile) as caught:
        read(folder, content)
    return str(caught.value).replace(str(folder / "measured"), "FILE")
