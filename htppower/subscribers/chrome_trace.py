"""A subscriber that writes a trace in Chrome's JSON format, for Perfetto or chrome://tracing.

trace = ChromeTrace("trace.json")
controller.subscribe(trace)
...
controller.close()
trace.close()
"""

from __future__ import annotations

import contextlib
import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from htppower.backends.whole_lock import whole_lock
from htppower.events import CallMade, Event, SessionOpened, State, Transition
from htppower.subscribers.trace_file import PROCESS, TraceFile, event, moment, process, slice_of, track
from htppower.votes.native_codes import code_name

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

_LOGGER = logging.getLogger("htppower")

# The smallest file has room for the names of the tracks and a few events.
_LEAST_BYTES = 4096
_COMMON = frozenset(field.name for field in attrs.fields(Event))


@attrs.define
class _Track:
    """The track of a session: its name and its state. Every new file begins with all tracks."""

    name: str
    state: State


class ChromeTrace:
    """Writes every event to a file: a track for each session, with its states, native calls and other events.

    The file is complete JSON after each event, even if the process is killed. A full file is renamed to
    ``trace.1.json``, as is the file of an earlier run, and a new file begins. Times are from the controller's clock. If
    an event can't be written, for example because the disk is full or the folder is missing, it is dropped, and the log
    reports that once.

    A very slow disk can lose events (``events_lost`` of the status). If the end of a session is lost, its track stays
    in its last state, in later files, too.

    Args:
        path: the file, such as ``trace.json``.
        max_bytes: the largest size of a file, at least 4096. A file begins with the names and states of all tracks, and
            has room for at least half this size of events after them. So with very many open sessions it is larger.
        keep: how many older files are kept, 0 or more.

    Raises:
        OSError: the file can't be written.
        ValueError: ``max_bytes`` or ``keep`` is too small, or ``path`` is not a file.

    Attributes:
        left_out: how many events could not be written.
    """

    def __init__(self, path: str | os.PathLike[str], *, max_bytes: int = 64 * 1024 * 1024, keep: int = 3) -> None:
        if max_bytes < _LEAST_BYTES:
            raise ValueError(f"max_bytes is {max_bytes}: give at least {_LEAST_BYTES}")
        if keep < 0:
            raise ValueError(f"keep is {keep}: give 0 or more")
        # The path is made absolute, since the process may change its working folder.
        self._path = Path(path).absolute()
        if self._path.exists() and not self._path.is_file() and not self._path.is_symlink():
            raise ValueError(f"{self._path} exists and is not a file: name a file for the trace")
        self._max_bytes = max_bytes
        # The largest size of the present file. It is larger than ``max_bytes`` if the tracks at its beginning leave too
        # little room for events.
        self._full_bytes = max_bytes
        self._keep = keep
        self._lock = whole_lock()
        self._tracks: dict[int, _Track] = {}
        self._raised: set[int] = set()
        self._file: TraceFile | None = None
        self._closed = False
        self.left_out = 0
        self._failing = False
        self._begin(0)

    def __call__(self, happened: Event) -> None:
        """Write an event; an error of the file system is logged, never raised."""
        with self._lock:
            if self._closed:
                return
            try:
                self._write(self._elements(happened), happened.time_us)
            except OSError as error:
                self._log_failure(error)
            else:
                self._failing = False
            self._remember(happened)

    def close(self) -> None:
        """Close the file; later events are not written. Closing twice has no effect."""
        with self._lock:
            self._closed = True
            if self._file is not None:
                self._file.close()

    def _log_failure(self, error: OSError) -> None:
        self.left_out += 1
        if not self._failing:
            self._failing = True
            _LOGGER.error("the trace %s can't be written, and events are dropped: %s", self._path, error)

    def _write(self, made: list[dict[str, Any]], now_us: int) -> None:
        elements = _json(made)
        if self._file is None or not self._file.is_in_place:
            self._begin(now_us, made)
        elif self._file.size_with(elements) <= self._full_bytes:
            self._file.add(elements)
        else:
            ends = [event("E", str(each.state), now_us, _tid(number), {}) for number, each in self._tracks.items()]
            if ends:
                self._file.add(_json(ends))
            self._begin(now_us, made)

    def _begin(self, now_us: int, made: Iterable[dict[str, Any]] = ()) -> None:
        """Begin a file with the open sessions; the previous file is renamed."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._path.exists():
            self._rename_older()
        first = [process("htppower"), *_track(0, "controller")]
        for number, open_track in self._tracks.items():
            first += _track(number, open_track.name)
            first.append(event("B", str(open_track.state), now_us, _tid(number), {}))
        header = _json(first)
        self._full_bytes = max(self._max_bytes, len(header) + self._max_bytes // 2)
        self._file = TraceFile(self._path, _json([*first, *made]))

    def _rename_older(self) -> None:
        """Rename ``trace.json`` to ``trace.1.json``, ``trace.1.json`` to ``trace.2.json``, ...; remove the last."""
        older = [self._path.with_suffix(f".{age}{self._path.suffix}") for age in range(1, self._keep + 1)]
        for source, dest in reversed(list(zip([self._path, *older], older, strict=False))):
            with contextlib.suppress(FileNotFoundError):
                source.replace(dest)

    def _elements(self, happened: Event) -> list[dict[str, Any]]:
        """Return the elements that an event adds to the file."""
        tid, now_us = _tid(happened.session), happened.time_us
        if isinstance(happened, CallMade):
            return [
                slice_of(happened.function, now_us - happened.duration_us, happened.duration_us, tid, _fields(happened))
            ]
        if isinstance(happened, (SessionOpened, Transition)):
            return self._change_state(happened)
        return [moment(type(happened).__name__, now_us, tid, _fields(happened))]

    def _change_state(self, happened: SessionOpened | Transition) -> list[dict[str, Any]]:
        """End the slice of the old state, and begin the slice of the new state."""
        tid, now_us = _tid(happened.session), happened.time_us
        old, state = self._tracks.get(happened.session), _state_after(happened)
        if old is None:
            made = _track(happened.session, _name(happened))
        else:
            made = [event("E", str(old.state), now_us, tid, {})]
        if state is not State.DESTROYED:
            made.append(event("B", str(state), now_us, tid, _fields(happened)))
        others = len(self._raised) - (happened.session in self._raised)
        raised = others + (state is State.RAISED)
        return [*made, event("C", "sessions raised", now_us, PROCESS, {"sessions": raised})]

    def _remember(self, happened: Event) -> None:
        if not isinstance(happened, (SessionOpened, Transition)):
            return
        state = _state_after(happened)
        if state is State.DESTROYED:
            self._tracks.pop(happened.session, None)
        else:
            self._tracks[happened.session] = _Track(_name(happened), state)
        (self._raised.add if state is State.RAISED else self._raised.discard)(happened.session)


def _state_after(happened: SessionOpened | Transition) -> State:
    return happened.dest if isinstance(happened, Transition) else State.UNVOTED


def _name(happened: Event) -> str:
    return f"{happened.session} {happened.owner or happened.profile}"


def _tid(session: int) -> int:
    return PROCESS + 1 + session


def _track(session: int, name: str) -> list[dict[str, Any]]:
    return track(_tid(session), name, session)


def _fields(happened: Event) -> dict[str, Any]:
    """Return the fields of an event, for JSON."""
    fields: dict[str, Any] = {"order": happened.order, "profile": happened.profile}
    for field in attrs.fields(type(happened)):
        value = getattr(happened, field.name)
        if field.name not in _COMMON and value is not None:
            fields[field.name] = value if isinstance(value, int) else str(value)
    if isinstance(happened, CallMade):
        fields["result"] = code_name(happened.code)
    return fields


def _json(made: Iterable[dict[str, Any]]) -> bytes:
    return b",\n".join(json.dumps(each).encode("ascii") for each in made)
