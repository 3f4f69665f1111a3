"""Reads any other trace in Chrome's format. The user names the events that are inferences, or the best name is chosen.

Three kinds of events may be inferences: whole events (``X``), pairs (``B`` and ``E``, which nest on a thread), and
asynchronous pairs (``b`` and ``e``, or the old ``S`` and ``F``, matched by category, id and name). The session of an
event is the ``session`` or the ``model`` in its ``args``. If it has neither, the session is the thread, or the process
if the event is asynchronous.
"""

from __future__ import annotations

import bisect
import re
from typing import TYPE_CHECKING, Any

from htppower.errors import TraceError
from htppower.tools.readers.limits import BEGUN_ROOM
from htppower.tools.tuning.traces.collected import Inferences, left_out, span_us, whole_us
from htppower.tools.tuning.traces.readers.chrome_events import events

if TYPE_CHECKING:
    from collections.abc import Callable

    from htppower.tools.tuning.traces.readers.source import Source

    # The keys of a name: the event's, and its session's.
    Key = tuple[str, str, str]

# Words that hosts use for one inference, the most typical first. Names with an earlier word are preferred.
_WORDS = ("inference", "infer", "model_run", "predict", "invoke", "forward", "execute", "run", "decode", "generate")
_OURS = "htppower"
_TIMES = ("ts", "dur")
# Perfetto writes -1 ns for an event that was not finished when the trace ended.
_UNFINISHED = (-1, -0.001)
_BEGINS = {"b": "e", "S": "F"}
_ENDS = {"e", "F"}
# How many names of events are listed in a note, and how many are distinguished, at most.
_MOST_TOLD = 8
_MOST_NAMES = 100_000
_LONGEST_NAME = 200
_LONGEST_LIST = 1_000


def is_chrome(head: bytes) -> bool:
    """Return whether a file with these first bytes is a trace in Chrome's format."""
    return head.lstrip()[:1] in (b"{", b"[") and re.search(rb'"(?:ph|traceEvents)"\s*:', head) is not None


def read(source: Source, name: str | None = None) -> list[Inferences]:
    """Return the inferences of each session.

    Args:
        source: the file.
        name: the name of the events that are inferences, or their category.

    Raises:
        TraceError: an event has an error, or no event has the name.
    """
    collector = _Collector(source, name)
    for event in events(source):
        collector.take(event)
    collector.finish()
    chosen = collector.chosen()
    return [] if chosen is None else collector.sessions(chosen)


class _Times:
    """Sorted times with their sessions, kept in short lists, since an insertion into a long list is slow."""

    def __init__(self) -> None:
        self._lists: list[list[tuple[int, str]]] = []

    def __len__(self) -> int:
        return sum(map(len, self._lists))

    def __bool__(self) -> bool:
        return bool(self._lists)

    def add(self, time: tuple[int, str]) -> None:
        """Add a time."""
        place = max(bisect.bisect_right(self._lists, [time]) - 1, 0)
        if not self._lists:
            self._lists.append([])
        found = self._lists[place]
        bisect.insort(found, time)
        if len(found) > _LONGEST_LIST:
            half = len(found) // 2
            self._lists.insert(place + 1, found[half:])
            del found[half:]

    def take(self, latest_us: int) -> tuple[int, str] | None:
        """Remove and return the latest time up to ``latest_us``; None if there is none."""
        after = (latest_us + 1, "")
        place = bisect.bisect_left(self._lists, [after]) - 1
        if place < 0:
            return None
        found = self._lists[place]
        taken = found.pop(bisect.bisect_left(found, after) - 1)
        if not found:
            del self._lists[place]
        return taken


class _Collector:
    """Collects the spans of every name: only at the end is it known which name stands for inferences."""

    def __init__(self, source: Source, name: str | None) -> None:
        self._source = source
        self._name = name
        self._found: dict[str, dict[str, Inferences]] = {}
        # The first error by name of the event. Only the error of the chosen name is raised.
        self._wrong: dict[str, TraceError] = {}
        self._open: dict[tuple[str, str], list[tuple[str, Any, str]]] = {}
        # Unmatched begins and ends by asynchronous key. The ends are negative, so that ``_Times.take`` finds the next.
        self._begins: dict[tuple[str, str, str, str], _Times] = {}
        self._early_ends: dict[tuple[str, str, str, str], _Times] = {}
        self._threads: dict[str, str] = {}
        # The method for each kind of event that has a name.
        self._takes = {"X": self._whole}
        self._takes |= dict.fromkeys(_BEGINS, self._begin_async) | dict.fromkeys(_ENDS, self._end_async)
        self._without_end = 0
        self._without_begin = 0

    def take(self, event: dict[str, Any]) -> None:
        """Take an event."""
        kind, name = str(event.get("ph")), self._wanted(event)
        if kind == "B":
            self._source.room.take(BEGUN_ROOM)
            self._open.setdefault(_thread(event), []).append((name, event.get("ts"), self._session(event)))
        elif kind == "E":
            self._end(event)
        elif kind == "M" and event.get("name") == "thread_name":
            args = event.get("args")
            if isinstance(args, dict) and isinstance(args.get("name"), str):
                self._source.room.take(BEGUN_ROOM)
                self._threads["\0".join(_thread(event))] = args["name"][:_LONGEST_NAME]
        elif name and (take := self._takes.get(kind)) is not None:
            self._try(name, take, event, name, kind)

    def _try(self, name: str, take: Callable[..., None], *arguments: Any) -> None:
        """Take an event. Keep its error, since it matters only if its name is chosen."""
        if self._name is not None:
            self._named(name)
        try:
            take(*arguments)
        except TraceError as error:
            self._named(name)
            self._wrong.setdefault(name, error)

    def _end(self, event: dict[str, Any]) -> None:
        stack = self._open.get(_thread(event))
        if not stack:
            self._without_begin += 1
            return
        name, begin, session = stack.pop()
        self._source.room.left += BEGUN_ROOM
        if name:
            self._try(name, self._add, name, session, begin, event.get("ts"))

    def _whole(self, event: dict[str, Any], name: str, _: str) -> None:
        if event.get("dur", -1) in _UNFINISHED:
            self._without_end += 1
            return
        begin_us, end_us = span_us(event.get("ts"), event["dur"], _TIMES, self._source)
        self._of(name, self._session(event)).add(begin_us, end_us)

    def _begin_async(self, event: dict[str, Any], name: str, kind: str) -> None:
        """Take a begin; its end may precede it in the file if the writer collects events by thread."""
        key, session = _async_key(event, _BEGINS[kind]), self._session(event, "process")
        begin_us = whole_us(event.get("ts"), "ts", self._source)
        ends = self._early_ends.get(key)
        end = None if ends is None else ends.take(-begin_us)
        if end is None:
            self._source.room.take(BEGUN_ROOM)
            self._begins.setdefault(key, _Times()).add((begin_us, session))
        else:
            self._source.room.left += BEGUN_ROOM
            self._of(name, session).add(begin_us, -end[0])

    def _end_async(self, event: dict[str, Any], name: str, kind: str) -> None:
        """Take an end, and match it with the latest begin before it, since pairs with the same id nest."""
        key = _async_key(event, kind)
        end_us = whole_us(event.get("ts"), "ts", self._source)
        begins = self._begins.get(key)
        begin = None if begins is None else begins.take(end_us)
        if begin is None:
            self._source.room.take(BEGUN_ROOM)
            self._early_ends.setdefault(key, _Times()).add((-end_us, ""))
            return
        self._source.room.left += BEGUN_ROOM
        if not begins:
            del self._begins[key]
        self._of(name, begin[1]).add(begin[0], end_us)

    def _add(self, name: str, session: str, begin: object, end: object) -> None:
        begin_us, end_us = whole_us(begin, "ts", self._source), whole_us(end, "ts", self._source)
        if end_us < begin_us:
            raise self._source.wrong(f"{name!r} ends {begin_us - end_us} us before it begins", "record it again")
        self._of(name, session).add(begin_us, end_us)

    def _wanted(self, event: dict[str, Any]) -> str:
        """Return the name of an event that may be an inference; empty if it can't be one."""
        said = event.get("name")
        name = said[:_LONGEST_NAME] if isinstance(said, str) else ""
        categories = event.get("cat")
        if self._name is None:
            # The events of htppower's own drawings are states and calls, and phases in a dry run.
            return "" if categories == _OURS and name.lower() not in _WORDS else name
        of_category = self._name in str(categories).split(",")
        return self._name if name == self._name or of_category else ""

    def _session(self, event: dict[str, Any], of: str = "thread") -> str:
        args = event.get("args")
        if isinstance(args, dict):
            for key in ("session", "model"):
                if isinstance(args.get(key), str | int):
                    return f"={str(args[key])[:_LONGEST_NAME]}"
        process, thread = _thread(event)
        return f"{process}\0{thread}" if of == "thread" else f"process {process}"

    def _named(self, name: str) -> dict[str, Inferences]:
        sessions = self._found.get(name)
        if sessions is None:
            self._source.room.take(BEGUN_ROOM)
            if len(self._found) >= _MOST_NAMES:
                raise self._source.wrong(f"has more than {_MOST_NAMES} names of events", "give one with --name", line=0)
            sessions = self._found[name] = {}
        return sessions

    def _of(self, name: str, session: str) -> Inferences:
        sessions = self._named(name)
        found = sessions.get(session)
        if found is None:
            found = sessions[session] = Inferences(session, self._source.room)
        return found

    def finish(self) -> None:
        """Add notes about events that have no beginning or no end."""
        self._without_end += sum(map(len, self._begins.values()))
        self._without_end += sum(bool(each[0]) for stack in self._open.values() for each in stack)
        self._without_begin += sum(map(len, self._early_ends.values()))
        for count, lacks in ((self._without_end, "end"), (self._without_begin, "beginning")):
            self._source.notes.extend(left_out(count, "event", ("has", "have"), f"no {lacks}"))

    def chosen(self) -> str | None:
        """Return the name of the events that are inferences; None if there are none.

        Raises:
            TraceError: no event has the requested name, or an event of the chosen name has an error.
        """
        chosen = self._most_plausible()
        if chosen in self._wrong:
            raise self._wrong[chosen]
        return chosen

    def _most_plausible(self) -> str | None:
        """Return the requested name; without a request, the most plausible name, with a note about the others."""
        if self._name is not None:
            if self._name not in self._found:
                raise self._source.wrong(
                    f"no event or category is called {self._name!r}", "run without --name to see the names", line=0
                )
            return self._name
        counted = {name: sum(map(len, each.values())) for name, each in self._found.items()}
        if not counted:
            return None
        chosen = max(counted, key=lambda name: (_likeness(name), *self._repeated_us(name)))
        beside = sorted((name for name in counted if name != chosen and counted[name]), key=lambda name: -counted[name])
        others = beside[:_MOST_TOLD]
        if others:
            told = ", ".join(f"{name!r} ({counted[name]})" for name in others)
            more = len(beside) - len(others)
            self._source.notes.append(
                f"{chosen!r} ({counted[chosen]}) is taken for the inferences; --name picks another: {told}"
                f"{f' and {more} more' if more else ''}"
            )
        return chosen

    def _repeated_us(self, name: str) -> tuple[bool, int]:
        """Return whether there are several events, and their total time, which is longer for enclosing events."""
        sessions = self._found[name].values()
        return sum(map(len, sessions)) > 1, sum(each.total_us for each in sessions)

    def sessions(self, name: str) -> list[Inferences]:
        """Return the sessions of a name, named after their threads if these have names."""
        found = list(self._found[name].values())
        by_thread = [each for each in found if "\0" in each.name]
        for each in found:
            key = each.name
            process, _, thread = key.partition("\0")
            each.name = key[1:] if key[0] == "=" else self._threads.get(key, f"thread {thread}") if thread else process
        if len(by_thread) > 1:
            self._source.notes.append(f"each of {len(by_thread)} threads counts as a session")
        return found


def _likeness(name: str) -> int:
    """Return how much a name resembles the usual names of inferences."""
    said = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    ranks = (len(_WORDS) - place for place, word in enumerate(_WORDS) if re.search(rf"(?<![a-z]){word}", said))
    return 2 * max(ranks, default=0) + (said in _WORDS)


def _thread(event: dict[str, Any]) -> tuple[str, str]:
    return str(event.get("pid", "")), str(event.get("tid", ""))


def _async_key(event: dict[str, Any], end: str) -> tuple[str, str, str, str]:
    number = event.get("id", event.get("id2", ""))
    name = event.get("name", "")
    return f"{end}{event.get('cat', '')}", str(number), str(event.get("pid", "")), str(name)
