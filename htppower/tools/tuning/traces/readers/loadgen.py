"""Reads the trace of MLPerf's LoadGen, ``mlperf_log_trace.json``.

Each sample is a pair of asynchronous events, ``"name":"Sample","ph":"b"`` and ``"ph":"e"``. The ``b`` event has all the
times: ``ts`` is when the query was due, in us; ``issue_start_ns`` is how much later the host received it, and
``complete_ns`` is how much later it was done (loadgen/loadgen.cc and loadgen/logging.cc of mlcommons/inference).
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from htppower.tools.tuning.traces.collected import Inferences, left_out, whole_us
from htppower.tools.tuning.traces.readers.chrome_events import events

if TYPE_CHECKING:
    from htppower.tools.tuning.traces.readers.source import Source

_MOST_QUERIES = 2**63
_NEEDLES = (b'"Sample"',)
_OF_LOADGEN = (b"QuerySamplesComplete", b"GenerateLoadableSets", b"loadgen_version", b"complete_ns")


def is_loadgen(head: bytes) -> bool:
    """Return whether a file with these first bytes is a trace of LoadGen."""
    return head.lstrip()[:1] in (b"{", b"[") and any(each in head for each in _OF_LOADGEN)


def read(source: Source) -> list[Inferences]:
    """Return the samples as the inferences of one session, each from when the host received it until it was done.

    Raises:
        TraceError: an event has an error.
    """
    found = Inferences("LoadGen", source.room)
    queries = array("q")
    unfinished = 0
    for event in events(source, _NEEDLES):
        if event.get("name") != "Sample" or event.get("ph") != "b":
            continue
        args = event.get("args")
        if not isinstance(args, dict) or "complete_ns" not in args:
            unfinished += 1
            continue
        due, issued, done = event.get("ts"), args.get("issue_start_ns", 0), args["complete_ns"]
        for value, what in ((due, "ts"), (issued, "issue_start_ns"), (done, "complete_ns")):
            whole_us(value, what, source)
        begin_us = whole_us(due + issued / 1000, "ts", source)
        end_us = whole_us(due + done / 1000, "ts", source)
        if end_us < begin_us:
            raise source.wrong(f"is done {begin_us - end_us} us before it is issued", "record the run again")
        found.add(begin_us, end_us)
        query = args.get("query_seq")
        if isinstance(query, int) and 0 <= query < _MOST_QUERIES:
            queries.append(query)
    source.notes.extend(left_out(unfinished, "sample", ("was", "were"), "never done"))
    different = int(np.unique(np.frombuffer(queries, dtype=np.int64)).size) if queries else 0
    if 0 < different < len(found):
        several = "a query" if different == 1 else f"{different} queries"
        source.notes.append(f"{several} of several samples: each sample begins when its query was issued")
    return [found]
