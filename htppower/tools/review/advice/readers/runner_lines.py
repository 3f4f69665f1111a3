"""The lines of runners: LiteRT's and TensorFlow Lite's ``benchmark_model``, and ExecuTorch's runners.

``benchmark_model`` prints statistics of its warm-up and of its runs, not the single times (tensorflow/lite/tools/
benchmark of google-ai-edge/LiteRT): ``count=50 first=9 curr=8 min=8 max=9 avg=8.2 std=1 p5=8 median=8 p95=9``, and then
``Inference timings in us: Init: ...``. Older versions have no quantiles. LiteRT's ``litert-benchmark`` prints the same
in ms, one number a line.

``qnn_executor_runner`` prints ``100 inference took 1096.6 ms, avg 10.966 ms`` for each input; the runners of language
models print ``PyTorchObserver {...}`` (extension/llm/runner/stats.h of pytorch/executorch).
"""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar

from htppower.tools.review.advice.measurement import Event, Measurement, Spread
from htppower.tools.review.advice.readers.llama_lines import of_queries

if TYPE_CHECKING:
    from htppower.tools.review.advice.readers.source import Source

_LITERT = "log of LiteRT's benchmark"
_FIELD = re.compile(r"\b(?P<name>count|first|min|max|avg|std|p5|median|p95)=(?P<number>\d[\d.]{0,17}(?:e\+?\d{1,2})?)")
_IN_US = re.compile(
    r"Inference timings in us: Init: (?P<init>[\d.e+]{1,20}), First inference: (?P<first>[\d.e+]{1,20}), "
    r"Warmup \(avg\): (?P<warm>[\d.e+]{1,20}), Inference \(avg\): (?P<avg>[\d.e+]{1,20})"
)
_IN_MS = re.compile(
    r"\b(?P<what>Model initialization|Warmup \((?:first|avg)\)|Inference \((?:avg|min|max|median|p5|p95)\)): +"
    r"(?P<ms>\d{1,12}(?:\.\d{1,6})?) ms(?: \((?P<count>\d{1,9}) runs\))?"
)
_GRAPH = re.compile(r"\bGraph: \[(?P<path>[^\]]{1,500})\]")
_THREADS = re.compile(r"\bNum threads: \[(?P<count>\d{1,4})\]")
_DELEGATE = re.compile(
    r"\bReplacing (?P<some>\d{1,9}) out of (?P<all>\d{1,9}) node\(s\) with delegate \((?P<name>[\w-]{1,80})\)"
)
_ONLY_STATISTICS = "The file has statistics of the runs, not their single times."
_LAST_IN_MS = "Inference (p95)"
_ENDS = (("min", 0.0), ("p5", 0.05), ("median", 0.5), ("p95", 0.95), ("max", 1.0))

_EXECUTORCH = "log of ExecuTorch's runner"
_TOOK = re.compile(r"\b(?P<count>\d{1,9}) inference took (?P<ms>\d{1,12}(?:\.\d{1,9})?) ms")
_LOADED = re.compile(r"\b(?P<h>\d\d):(?P<min>\d\d):(?P<s>\d\d(?:\.\d{1,9})?) executorch:\S{1,100} Method loaded\.")
_OBSERVER = re.compile(r"\bPyTorchObserver (?P<json>\{[^{}]{1,5000}\})")
_OF_HOST = "The times are the host's: they are not device time."
_US = 1_000.0


class LiteRtLines:
    """The lines of ``benchmark_model`` and of ``litert-benchmark``: a measurement for each benchmark in the log."""

    marks: ClassVar[tuple[str, ...]] = (
        "curr=",
        "Inference timings in us",
        "Graph: [",
        "Num threads: [",
        "Replacing ",
        " ms",
    )

    def __init__(self, source: Source) -> None:
        self._source = source
        self._graph = ""
        self._facts: dict[str, str] = {}
        self._notes: list[str] = []
        self._fields: dict[str, float] = {}
        self._in_ms: dict[str, float] = {}
        self._found: list[Measurement] = []

    def take(self, line: str) -> None:
        """Read a line."""
        if found := _IN_US.search(line):
            took = {name: _number(found[name]) for name in ("init", "first", "warm", "avg")}
            self._keep({"avg": took["avg"], **self._fields}, (took["init"], took["first"], took["warm"]))
        elif "curr=" in line:
            self._fields = {each["name"]: _number(each["number"]) for each in _FIELD.finditer(line)}
        elif found := _IN_MS.search(line):
            self._ms(found)
        elif found := _GRAPH.search(line):
            self._graph, self._facts, self._notes = PurePosixPath(found["path"]).name, {}, []
        elif found := _THREADS.search(line):
            self._facts["threads"] = found["count"]
        elif found := _DELEGATE.search(line):
            self._facts["delegate"] = found["name"]
            rest = max(0, int(found["all"]) - int(found["some"]))
            self._facts["outside the NPU"] = f"{rest} of {found['all']} nodes"
            if rest:
                self._notes.append(f"{rest} of {found['all']} nodes are not in the delegate {found['name']}.")

    def finish(self) -> list[Measurement]:
        """Return what was measured."""
        return self._found

    def _ms(self, found: re.Match[str]) -> None:
        """Read a line of ``litert-benchmark``."""
        self._in_ms[found["what"]] = float(found["ms"]) * _US
        if found["what"] == "Inference (avg)":
            self._in_ms["count"] = float(found["count"] or 0)
        if found["what"] != _LAST_IN_MS:
            return
        read, self._in_ms = self._in_ms, {}
        fields = {name.removeprefix("Inference (").removesuffix(")"): number for name, number in read.items()}
        once = (read.get(what, 0.0) for what in ("Model initialization", "Warmup (first)", "Warmup (avg)"))
        self._keep(fields, tuple(once))

    def _keep(self, fields: dict[str, float], once: tuple[float, ...]) -> None:
        """Keep a measurement: by its median, or by its average if the log has no median."""
        middle_us = fields.get("median", fields.get("avg", 0.0))
        quantiles = tuple((share, fields[name]) for name, share in _ENDS if name in fields)
        names = ("load", "first inference", "warm-up")
        self._found.append(
            Measurement(
                self._source.path,
                _LITERT,
                {Event.INFERENCE: (middle_us,)},
                {Event.INFERENCE: "us"},
                self._graph,
                averaged=True,
                least={Event.INFERENCE: fields["min"]} if "min" in fields else {},
                most={Event.INFERENCE: fields["max"]} if "max" in fields else {},
                notes=(_OF_HOST, _ONLY_STATISTICS, *self._notes),
                spread=Spread(int(fields.get("count", 0)), quantiles if "median" in fields else ()),
                once={name: time_us for name, time_us in zip(names, once, strict=True) if time_us},
                facts=self._facts,
            )
        )
        self._fields = {}


class ExecuTorchLines:
    """The lines of ExecuTorch's runners: of graphs, and of language models."""

    marks: ClassVar[tuple[str, ...]] = ("inference took", "PyTorchObserver", "Method loaded.")

    def __init__(self, source: Source) -> None:
        self._source = source
        self._once: dict[str, float] = {}
        self._runs: list[tuple[int, float]] = []
        self._queries: list[dict[Event, float]] = []

    def take(self, line: str) -> None:
        """Read a line."""
        if found := _TOOK.search(line):
            count = int(found["count"])
            if count:
                self._runs.append((count, float(found["ms"]) * _US / count))
        elif found := _LOADED.search(line):
            loaded_s = int(found["h"]) * 3600 + int(found["min"]) * 60 + float(found["s"])
            self._once.setdefault("load", 1e6 * loaded_s)
        elif found := _OBSERVER.search(line):
            self._query(found["json"])

    def finish(self) -> list[Measurement]:
        """Return what was measured."""
        found = []
        if self._queries:
            found.append(of_queries(self._source.path, _EXECUTORCH, self._queries, self._once, _OF_HOST))
        if self._runs:
            found.append(self._of_runs())
        return found

    def _of_runs(self) -> Measurement:
        """Return a measurement of the inputs, whose times are averages if each ran several times."""
        most = max(count for count, _ in self._runs)
        alone = len(self._runs) == 1 and most > 1
        notes = [_OF_HOST]
        if most > 1:
            notes.append(f"Each time is the average of {most} runs of one input.")
        return Measurement(
            self._source.path,
            _EXECUTORCH,
            {Event.INFERENCE: [time_us for _, time_us in self._runs]},
            {Event.INFERENCE: "ms"},
            averaged=alone,
            spread=Spread(most, ()) if alone else None,
            notes=tuple(notes),
            once=self._once,
        )

    def _query(self, text: str) -> None:
        """Read the times of one query. ``SCALING_FACTOR_UNITS_PER_SECOND`` is the unit of its moments."""
        try:
            read: dict[str, Any] = json.loads(text)
            scale = 1e6 / float(read.get("SCALING_FACTOR_UNITS_PER_SECOND", 1000))
            begin, prompt, end, first = (
                float(read[key]) * scale
                for key in ("inference_start_ms", "prompt_eval_end_ms", "inference_end_ms", "first_token_ms")
            )
            load_us = scale * (float(read["model_load_end_ms"]) - float(read["model_load_start_ms"]))
            tokens, prompt_tokens = float(read["generated_tokens"]), float(read["prompt_tokens"])
        except (ValueError, KeyError, TypeError, ZeroDivisionError):
            # Other programs of PyTorch print other numbers after the same word.
            return
        query = {Event.FIRST_TOKEN: first - begin, Event.PROMPT_TOKENS: prompt_tokens, Event.TOKENS: tokens}
        if prompt > begin and prompt_tokens:
            query[Event.PROMPT_RATE] = 1e6 * prompt_tokens / (prompt - begin)
        if end > prompt and tokens:
            query[Event.TOKEN_RATE] = 1e6 * tokens / (end - prompt)
        self._queries.append({event: number for event, number in query.items() if number >= 0})
        if load_us > 0:
            self._once.setdefault("load", load_us)


def _number(text: str) -> float:
    """Return a number of a log; 0 if it is cut off."""
    try:
        return float(text)
    except ValueError:
        return 0.0
