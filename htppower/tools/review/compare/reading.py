"""Reads one side of a comparison: a profiler's file, a log of a runtime, or a trace; and chooses its graph."""

from __future__ import annotations

import io
import statistics
from array import array
from pathlib import Path
from typing import IO, TYPE_CHECKING

from htppower.errors import HtpPowerError, ProfileError
from htppower.errors.root import TraceError, UnreadableFile
from htppower.profiles.loading import load_profile
from htppower.tools.readers.limits import JSON_BYTES, raised
from htppower.tools.readers.opening import open_given
from htppower.tools.report.words import percent, three_digits
from htppower.tools.review.advice.measurement import Event, Measurement
from htppower.tools.review.advice.readers.recognise import read_measurements
from htppower.tools.review.compare.side import MOST_RUNS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from htppower.profiles.profile import Profile
    from htppower.tools.tuning.traces.trace import SessionTrace, Trace

_FORMS = {
    "htppower": "recording of htppower",
    "loadgen": "trace of LoadGen",
    "onnxruntime": "profile of ONNX Runtime",
    "chrome": "trace of events",
    "csv": "table of begins and ends",
}
_ONLY_WHOLE = "The file has begins and ends of inferences: it does not show where the time goes."
# More names would not help to choose one.
_MOST_NAMED = 12


def read_side(
    path: str,
    stream: IO[bytes] | None = None,
    progress: Callable[[int], None] = lambda _: None,
    *,
    name: str | None = None,
    unit: str | None = None,
) -> list[Measurement]:
    """Return what a file holds, one measurement for each graph or session.

    Args:
        path: the file.
        stream: is read instead of the file.
        progress: is called with the number of bytes, each time some are read.
        name: only for trace events: the name or the category of the events that are inferences.
        unit: only for tables: the unit of times whose column does not state it.

    Raises:
        UnreadableFile: the file can't be read, or is of an unknown kind.
        ImportError: it is a trace, and numpy is not installed.
    """
    # A trace is recognised after the other kinds, so what can be read only once is kept.
    if stream is None and Path(path).is_fifo():
        with open_given(path) as pipe:
            return read_side(path, io.BufferedReader(pipe), progress, name=name, unit=unit)
    most = raised(JSON_BYTES)
    content = None if stream is None else stream.read(most + 1)
    if content is not None and len(content) > most:
        hint = "name the file instead: what can be read only once is kept in memory"
        raise UnreadableFile(path, "", f"is larger than {most // 2**20} MiB", hint)
    try:
        return read_measurements(path, None if content is None else io.BytesIO(content), progress)
    except UnreadableFile as error:
        # An error with a place is in a file of a known kind.
        if error.place:
            raise
        other = error
    from htppower.tools.tuning.traces.read import read_trace  # noqa: PLC0415 - needs numpy

    try:
        given = None if content is None else io.BytesIO(content)
        trace = read_trace(path, name=name, unit=unit, stream=given, progress=progress)
    except TraceError as error:
        if error.line > 1:
            raise
        if not error.line:
            raise other from None
        # Any text may be a table, so an error in its first line only says that it is none.
        hint = "htppower compare --help lists the formats; a table has begin_us and end_us in its first line"
        raise UnreadableFile(path, "", "is neither the output of a known profiler nor a trace", hint) from None
    return [_of_session(trace, session) for session in trace.sessions]


def _of_session(trace: Trace, session: SessionTrace) -> Measurement:
    facts: dict[str, str] = {} if session.profile is None else {"profile": session.profile}
    if session.cold is not None:
        facts["waited for a raise"] = percent(float(session.cold.mean()))
    khz = [point.khz for clock in trace.clocks for point in clock.points]
    if khz:
        facts["clock"] = f"{three_digits(statistics.median(khz) / 1000)} MHz"
    return Measurement(
        trace.source,
        _FORMS[trace.format],
        {Event.INFERENCE: array("d", (session.ends_us - session.begins_us).astype(float).tobytes())},
        {Event.INFERENCE: "us"},
        session.name,
        # The gaps between the first ones show the pace.
        begins_us=session.begins_us[:MOST_RUNS].tolist(),
        ends_us=session.ends_us[:MOST_RUNS].tolist(),
        notes=(_ONLY_WHOLE, *trace.notes),
        profile=_known_profile(session.profile),
        facts=facts,
    )


def _known_profile(name: str | None) -> Profile | None:
    """Return a profile by its name; None if it is not found here, since the trace may be from another machine."""
    try:
        return None if name is None else load_profile(name)
    except ProfileError:
        return None


def pair(
    of_a: Sequence[Measurement], of_b: Sequence[Measurement], names: Sequence[str] = ()
) -> tuple[Measurement, Measurement]:
    """Return the graph of each side that is compared.

    Args:
        of_a: what A holds.
        of_b: what B holds.
        names: the name of the graph, or the names on both sides; by default the only one, or the only common one.

    Raises:
        HtpPowerError: there is no such graph, or several.
    """
    if names:
        return _named(of_a, names[0]), _named(of_b, names[-1])
    if len(of_a) == 1 and len(of_b) == 1:
        return of_a[0], of_b[0]
    common = {each.graph for each in of_a} & {each.graph for each in of_b}
    if len(common) == 1:
        (name,) = common
        return _named(of_a, name), _named(of_b, name)
    several = of_a if len(of_a) > 1 else of_b
    raise HtpPowerError(f"{_listed(several)}: choose with --graph NAME, and a second --graph if B calls it otherwise")


def _named(measurements: Sequence[Measurement], name: str) -> Measurement:
    found = [each for each in measurements if each.graph == name]
    found = found or [each for each in measurements if name.lower() in each.graph.lower()]
    if len(found) == 1:
        return found[0]
    what = "several graphs" if found else "no graph"
    raise HtpPowerError(f"{_listed(measurements)}: {what} of the name {name!r}")


def _listed(measurements: Sequence[Measurement]) -> str:
    names = [each.graph or "a graph without a name" for each in measurements]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{measurements[0].source} has {', '.join(names[:_MOST_NAMED])}{more}"
