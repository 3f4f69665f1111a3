"""What sessions have learnt, by their owners and profiles: begun with what a file holds, and written to it."""

from __future__ import annotations

import errno
import functools
import logging
import os
from typing import TYPE_CHECKING

from htppower.backends.whole_lock import whole_lock
from htppower.control.files.background_work import BackgroundWork
from htppower.control.learning.learnt_file import KIND, Entry, NotLearntError, read, write
from htppower.profiles.regular_file import NotRegular, read_regular_file
from htppower.sustain.learner import make_learner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from htppower.control.core.plans import Plan
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.time.base import Time
    from htppower.profiles.sustain import Adaptive
    from htppower.sustain.learner import Learner

_LOGGER = logging.getLogger("htppower")

PERIOD_US = 600_000_000
# How long closing waits for the disk.
LONGEST_WRITE_S = 1.0
# Owners whose names are made up for each request must not fill the file.
MOST_ENTRIES = 1000
# The kind stands near the beginning.
_ENOUGH_TO_TELL = 4096


class Learnt:
    """What the sessions of a controller begin with, and what stays of them.

    Sessions without an owner are not in it: nobody could tell which is which after a restart. Of several sessions of
    one owner with one profile that counts which has learnt from most gaps.

    It is written every ten minutes while a session learns, where something has changed, and at the end, on a thread of
    its own. A file that can't be written is logged as a WARNING, once, and is tried again.

    Args:
        path: the file.
        time: clock and alarms.
        sessions: returns those that are open.

    Raises:
        OSError: the file can't be read, or its folder is missing.
        ValueError: it holds something else.
    """

    def __init__(
        self, path: str | os.PathLike[str], time: Time, sessions: Callable[[], Iterable[SessionRecord]]
    ) -> None:
        # The process may change its folder.
        self._path = os.path.abspath(os.fspath(path))  # noqa: PTH100 - as the text that os takes
        self._time = time
        self._sessions = sessions
        # The first protects the rest; under the other the file is written. What is read is replaced whole.
        self._lock = whole_lock()
        self._writing = whole_lock()
        self._entries = {each.key: each for each in _read(self._path)}
        self._written = self._entries
        self._told: set[tuple[str, str, bool]] = set()
        # Whether nothing is written any more, and whether it is closed.
        self._failed = self._finished = self._closed = False
        self._background = BackgroundWork(time, "htppower-learnt", self._look, wait_us=PERIOD_US)
        self._ask_soon = functools.partial(time.call_soon, self._background.ask)

    def make(self, session: SessionRecord, plan: Plan, sustain: Adaptive, *, further: bool = False) -> Learner:
        """Return what a session begins to learn a time with, or the one until it relaxes further.

        The gate of the session may be held.
        """
        owner, profile = session.owner, plan.profile.name
        if owner is None:
            return make_learner(sustain)
        self._ask_soon()
        key = owner, profile, further
        known = self._entries.get(key)
        if known is not None and known.sustain == sustain:
            return make_learner(sustain, known.state)
        if known is not None:
            self._tell(key, f"{known.sustain}, and it has {sustain}")
        elif others := sorted(name for each, name, which in self._entries if (each, which) == (owner, further)):
            self._tell(key, f"the profile {', '.join(others)}")
        return make_learner(sustain)

    def keep(self, session: SessionRecord) -> None:
        """Take over what a session has learnt."""
        owner = session.owner
        if owner is None:
            return
        with session.gate.lock:
            pace = session.gate.pace
            watch, further = (None, None) if pace is None else (pace.watch, pace.further)
            known = [] if watch is None else watch.learnt()
            known_further = [] if further is None else further.learners.states()
        made = [Entry(owner, profile, False, sustain, state) for profile, sustain, state in known]
        made += [Entry(owner, profile, True, sustain, state) for profile, sustain, state in known_further]
        # Of a profile that was changed counts what was learnt with the form that was used last.
        latest = {each.key: each for each in made}
        with self._lock:
            self._add(latest.values())

    def _add(self, made: Iterable[Entry]) -> None:
        self._entries = _with(self._entries, [each for each in made if self._counts(each)])

    def flush(self, timeout_s: float = LONGEST_WRITE_S) -> None:
        """Write what is known now, and wait for that no longer than this, in seconds."""
        self._background.do(self._write, timeout_s)

    def close(self) -> None:
        """Write what is known, and nothing from then on. Closing twice is fine."""
        if self._closed:
            return
        self._background.do(self._finish, LONGEST_WRITE_S)
        self._background.close()
        # Last: where an exception from outside comes before, closing again goes on.
        self._closed = True

    def disown(self) -> None:
        """In a forked child: the file is the parent's."""
        self._lock, self._writing = whole_lock(), whole_lock()
        self._finished = self._closed = True
        self._background.disown()

    def _tell(self, key: tuple[str, str, bool], otherwise: str) -> None:
        if key not in self._told:
            self._told.add(key)
            owner, profile, _ = key
            text = "what %r has learnt is not used with the profile %s: it was learnt with %s"
            # On another thread: the gate is held here, and a log may be slow.
            self._time.call_soon(functools.partial(_LOGGER.warning, text, owner, profile, otherwise))

    def _counts(self, entry: Entry) -> bool:
        """Return whether an entry takes the place of the one before it."""
        before = self._entries.get(entry.key)
        if before is None or before.sustain != entry.sustain:
            return entry.gaps > 0
        return entry.gaps > before.gaps

    def _look(self) -> None:
        """Write what has changed (on the worker)."""
        self._write()
        if self._failed or any(session.owner and _learns(session) for session in self._sessions()):
            self._background.ask()

    def _write(self) -> None:
        with self._writing:
            if not self._finished:
                self._keep_all()
                self._write_entries(self._entries)

    def _finish(self) -> None:
        """Write what is known a last time, which may be after ``close`` where the disk is slow (on the worker)."""
        self._write()
        self._finished = True

    def _keep_all(self) -> None:
        for session in self._sessions():
            self.keep(session)

    def _write_entries(self, entries: dict[tuple[str, str, bool], Entry]) -> None:
        if entries == self._written:
            return
        try:
            write(self._path, entries.values())
        except OSError as error:
            if not self._failed:
                _LOGGER.warning("what is learnt can't be written to %s: %s; tried again", self._path, error)
            self._failed = True
        else:
            self._written, self._failed = entries, False


def _learns(session: SessionRecord) -> bool:
    return session.gate.pace is not None


def _with(entries: dict[tuple[str, str, bool], Entry], later: Iterable[Entry]) -> dict[tuple[str, str, bool], Entry]:
    """Return entries with later ones in their places; of those, as many as there may be, the latest."""
    made = {each.key: each for each in later}
    kept = {key: each for key, each in entries.items() if key not in made}
    return dict([*kept.items(), *made.items()][-MOST_ENTRIES:])


def _read(path: str) -> tuple[Entry, ...]:
    """Return what a file holds; put it aside, and return nothing, where it is damaged or of a later version.

    Raises:
        OSError, ValueError: as ``Learnt``.
    """
    folder = os.path.dirname(path)  # noqa: PTH120 - as the text that os takes
    if not os.path.isdir(folder):  # noqa: PTH112 - as above
        raise FileNotFoundError(errno.ENOENT, "its folder is missing: make that first", path)
    _require_ours(path)
    try:
        return read(path)
    except NotLearntError as error:
        aside = f"{path}.bad"
        os.replace(path, aside)  # noqa: PTH105 - as above
        _LOGGER.warning("%s is not used, and is now %s: %s; sessions learn anew", path, aside, error)
        return ()


def _require_ours(path: str) -> None:
    try:
        held = read_regular_file(path, _ENOUGH_TO_TELL)
    except FileNotFoundError:
        return
    except NotRegular:
        if os.path.isdir(path):  # noqa: PTH112 - as above
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path) from None
        raise ValueError(f"{path} is no file: name one for what is learnt") from None
    if held and KIND.encode("ascii") not in held:
        raise ValueError(f"{path} holds something else than what sessions have learnt: remove it, or name another file")
