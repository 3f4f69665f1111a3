"""Reads the profile that ONNX Runtime writes for each session (``SessionOptions.enable_profiling``).

``model_run`` of the category ``Session`` is one call of ``run``, from its begin to its end, in us since the session
began. Every op has its own event, so most lines are skipped.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import TYPE_CHECKING

from htppower.errors import TraceError
from htppower.tools.tuning.traces.collected import Inferences, span_us
from htppower.tools.tuning.traces.readers.chrome_events import events

if TYPE_CHECKING:
    from htppower.tools.tuning.traces.readers.source import Source

_RUN = "model_run"
# If the profile has no model_run, the executor's events are used.
_EXECUTE = ("SequentialExecutor::Execute", "ParallelExecutor::Execute")
_OF_ONNXRUNTIME = re.compile(rb'"cat"\s*:\s*"Session"|"session_initialization"|"model_loading_|_kernel_time"')
# ``global_max_num_events_`` in onnxruntime/core/common/profiler.cc: later events are not recorded.
_MOST_EVENTS = 1_000_000
# ONNX Runtime appends this to the prefix that the host chose.
_STAMP = re.compile(r"_\d{4}-\d\d-\d\d_\d\d[-:]\d\d[-:]\d\d(?:[._]\d+)?$")


def is_onnxruntime(head: bytes) -> bool:
    """Return whether a file with these first bytes is a profile of ONNX Runtime."""
    return head.lstrip()[:1] in (b"{", b"[") and _OF_ONNXRUNTIME.search(head) is not None


def read(source: Source) -> list[Inferences]:
    """Return the runs as the inferences of one session, named after the file.

    Raises:
        TraceError: an event has an error.
    """
    name = _STAMP.sub("", PurePath(source.path.removesuffix(".gz")).stem) or "ONNX Runtime"
    runs, executions = Inferences(name, source.room), Inferences(name, source.room)
    wrong: TraceError | None = None
    for event in events(source, (b"model_run", b"Executor::Execute")):
        said = event.get("name")
        of = runs if said == _RUN else executions if said in _EXECUTE else None
        if of is None or event.get("ph") != "X":
            continue
        try:
            of.add(*span_us(event.get("ts"), event.get("dur"), ("ts", "dur"), source))
        except TraceError as error:
            if of is runs:
                raise
            wrong = wrong or error
    if source.line >= _MOST_EVENTS:
        source.notes.append(f"ONNX Runtime records at most {_MOST_EVENTS} events: later runs may be missing")
    if not len(runs) and wrong is not None:
        raise wrong
    if not len(runs) and len(executions):
        source.notes.append("there is no model_run: the executor's Execute is used instead")
    return [runs if len(runs) else executions]
