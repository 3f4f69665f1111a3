"""Logs of runtimes, in the forms that they print."""

from __future__ import annotations

import json
import statistics
from typing import TYPE_CHECKING

from htppower.tools.review.advice.measurement import Event, Measurement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def litert_log(times_us: Sequence[float], *, graph: str = "net.tflite", outside: int = 0, old: bool = False) -> str:
    """Return the log of LiteRT's ``benchmark_model``: two warm-up runs, and these runs; ``old`` has no quantiles."""
    ordered = sorted(times_us)
    p5, p95 = (ordered[round(share * (len(ordered) - 1))] for share in (0.05, 0.95))
    quantiles = "" if old else f" p5={p5:.0f} median={statistics.median(ordered):.0f} p95={p95:.0f}"
    mean = f"{statistics.mean(ordered):.6g}"
    replaced = f"Replacing {64 - outside} out of 64 node(s) with delegate (TfLiteQnnDelegate) node"
    averages = f"Warmup (avg): 5.5e+04, Inference (avg): {mean}"
    ends = f"min={ordered[0]:.0f} max={ordered[-1]:.0f}"
    return "\n".join(
        (
            f"INFO: Graph: [/data/local/tmp/{graph}]",
            "INFO: Num threads: [4]",
            f"VERBOSE: {replaced}, yielding 1 partitions for subgraph 0.",
            "INFO: Initialized session in 80.579ms.",
            "INFO: count=2 first=90000 curr=20000 min=20000 max=90000 avg=55000 std=3",
            f"INFO: count={len(ordered)} first={times_us[0]:.0f} curr=9 {ends} avg={mean} std=2565{quantiles}",
            "",
            f"INFO: Inference timings in us: Init: 80579, First inference: 90000, {averages}",
        )
    )


def executorch_log(times_us: Sequence[float], runs: int = 1) -> str:
    """Return the log of ``qnn_executor_runner``: a line for each input, each run several times."""
    begin = "I 00:00:00.133366 executorch:qnn_executor_runner.cpp:156] Method loaded."
    lines = [
        f"I 00:00:0{place % 10}.8 executorch:qnn_executor_runner.cpp:298] {runs} inference took "
        f"{us * runs / 1000:.6f} ms, avg {us / 1000:.6f} ms"
        for place, us in enumerate(times_us)
    ]
    return "\n".join((begin, *lines, "[INFO][Qnn ExecuTorch] Destroy Qnn backend"))


def observer_line(first_ms: int, prompt_tokens: int, tokens: int, answer_ms: int) -> str:
    """Return what ExecuTorch's runners of language models print of a query."""
    moments = {
        "prompt_tokens": prompt_tokens,
        "generated_tokens": tokens,
        "model_load_start_ms": 1000,
        "model_load_end_ms": 3500,
        "inference_start_ms": 3500,
        "inference_end_ms": 3500 + first_ms + answer_ms,
        "prompt_eval_end_ms": 3500 + first_ms,
        "first_token_ms": 3500 + first_ms,
        "aggregate_sampling_time_ms": 9,
        "SCALING_FACTOR_UNITS_PER_SECOND": 1000,
    }
    return f"PyTorchObserver {json.dumps(moments, separators=(',', ':'))}"


OPS = ("MUL_MAT|blk.0.q x a", "SOFT_MAX|kq", "MUL_MAT|blk.0.o x a")


def hexagon_log(op_us: Sequence[float], mhz: float = 1400.0, form: str = "new", arch: int = 79) -> str:
    """Return the log of llama.cpp's Hexagon backend: for each token three ops, the first of this time.

    ``form`` is ``new``, ``middle``, ``old`` or ``batches``.
    """
    lines = [f"ggml-hex: Hexagon Arch version v{arch}", "ggml-hex: new session: HTP0 : default"]
    for first in op_us:
        times = (first, 40.0, 60.0)
        if form == "batches":
            whole = sum(times)
            numbers = f"usec {whole:.0f} cycles {whole * mhz:.0f} start 9 mhz {mhz:.1f}"
            lines.append(f"ggml-hex: HTP0 profile-op OPBATCH|----|n-ops 3|----|----|----|{numbers}")
        for op, us in zip(OPS, times, strict=True):
            numbers = f"usec {us:.0f} cycles {us * mhz:.0f}"
            if form in ("new", "batches"):
                rest = f"{op}|64:64|q4_0 x f32|1:1|hmx vtcm 9|{numbers} start 5 mhz {mhz:.1f} pmu [1,2,3]"
            elif form == "middle":
                rest = f"{op.replace('|', ': ')} : 64:64 : q4_0 : 1:1 : {numbers}"
            else:
                old = f"op-usec {us:.0f} op-cycles {us * mhz:.0f} op-pkts 9 (1.5) call-usec {us + 70:.0f}"
                rest = f"{op.replace('|', ': ')} : 64:64 : q4_0 : 1:1 : hb : {old}"
            lines.append(f"0.12.3 D ggml-hex: HTP0 profile-op {rest}")
    return "\n".join(lines) + "\n"


def llama_times(prompt: tuple[float, int], answer: tuple[float, int]) -> str:
    """Return the times that llama.cpp prints at its end: ms and tokens of the prompt and of the answer."""
    return "\n".join(
        (
            "0.08.700 I common_perf_print:        load time =    4924.25 ms",
            f"0.08.701 I common_perf_print: prompt eval time = {prompt[0]:10.2f} ms / {prompt[1]:5} tokens (x)",
            f"0.08.702 I common_perf_print:        eval time = {answer[0]:10.2f} ms / {answer[1]:5} runs   (y)",
            "0.08.703 I common_perf_print:       total time =    2733.40 ms /    16 tokens",
        )
    )


def qhas_json(rows: Sequence[tuple[float, float]]) -> str:
    """Return the summary of optrace: the time and the cycles of each execution."""
    table = [{"graph_execute_us": us, "timeline_cycles": cycles, "time_us": us, "inf_per_s": 9} for us, cycles in rows]
    return json.dumps({"model_id": "net", "data": {"htp_overall_summary": {"data": table}}})


def measured(inferences: Sequence[Mapping[Event, float]], **more: object) -> Measurement:
    """Return a measurement of some inferences."""
    events = [event for event in Event if event in inferences[0]]
    columns = {event: [each[event] for each in inferences] for event in events}
    return Measurement("file", "form", columns, **more)  # type: ignore[arg-type] # any of its attributes
