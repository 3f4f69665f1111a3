"""What sessions have learnt, by owner and profile, kept in a file so that it survives a restart of the process."""

from __future__ import annotations

import functools
import logging
import os
from typing import TYPE_CHECKING

from htppower.backends.whole_lock import whole_lock
from htppower.control.files.background_work import BackgroundWork
from htppower.control.learning.learnt_file import Entry, read_or_put_aside, write
from htppower.sustain.learner import make_learner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from htppower.control.core.session_record import SessionRecord
    from htppower.control.plans.plans import Plan
    from htppower.control.time.base import Time
    from htppower.profiles.sustain import Adaptive
    from htppower.sustain.base import Learner

_LOGGER = logging.getLogger("htppower")

PERIOD_US = 600_000_000
# How long ``close`` waits for the disk, in seconds.
LONGEST_WRITE_S = 1.0
# The number of entries is limited, since a host may make up an owner for each request.
MOST_ENTRIES = 1000


class Learnt:
    """Keeps what the sessions of a controller have learnt when the process restarts.

    Sessions without an owner are left out, since they can't be told apart after a restart. If several sessions have the
    same owner and profile, the session with the most gaps counts.

    A separate thread writes the file every ten minutes if something has changed, and at the end. If it can't be
    written, a WARNING is logged once, and the next write tries again.

    Args:
        path: the file.
        time: clock and alarms.
        sessions: returns the open sessions.

    Raises:
        OSError: the file can't be read, or its folder is missing.
        ValueError: the file has other contents.
    """

    def __init__(
        self, path: str | os.PathLike[str], time: Time, sessions: Callable[[], Iterable[SessionRecord]]
    ) -> None:
        # The path is made absolute, since the process may change its working folder.
        self._path = os.path.abspath(os.fspath(path))  # noqa: PTH100 - as the text that os takes
        self._time = time
        self._sessions = sessions
        # Held while the entries are replaced; they are never changed in place.
        self._lock = whole_lock()
        self._entries = self._written = {each.key: each for each in read_or_put_aside(self._path)}
        self._told: set[tuple[str, str, bool]] = set()
        # Whether the last write failed, and whether nothing is written any more.
        self._failed = self._closed = False
        self._background = BackgroundWork(time, "htppower-learnt", self._look, wait_us=PERIOD_US)

    def make(self, session: SessionRecord, plan: Plan, sustain: Adaptive, *, further: bool) -> Learner:
        """Return a learner that continues with the learnt times, if there are any. The session's gate may be held.

        ``further``: whether it learns the time until the second power state.
        """
        owner, profile = session.owner, plan.profile.name
        if owner is None:
            return make_learner(sustain)
        self._time.call_soon(self._background.ask)
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
            learning = session.gate.learning
            if learning is None:
                return
            made = [
                Entry(owner, profile, further, sustain, state)
                for learners, further in learning.all_learners()
                for profile, sustain, state in learners.states()
            ]
        # If a profile was changed, the contents that were used last count.
        self._add({each.key: each for each in made}.values())

    def _add(self, made: Iterable[Entry]) -> None:
        with self._lock:
            self._entries = self._with(made)

    def _with(self, made: Iterable[Entry]) -> dict[tuple[str, str, bool], Entry]:
        """Return the entries with some more, the latest at the end."""
        latest = {each.key: each for each in made if self._counts(each)}
        kept = {key: each for key, each in self._entries.items() if key not in latest}
        return dict([*kept.items(), *latest.items()][-MOST_ENTRIES:])

    def _counts(self, entry: Entry) -> bool:
        """Return whether an entry is newer or better than the present entry with the same key, and so replaces it."""
        before = self._entries.get(entry.key)
        return entry.gaps > (before.gaps if before is not None and before.sustain == entry.sustain else 0)

    def flush(self, timeout_s: float = LONGEST_WRITE_S) -> None:
        """Write the file now, and wait for the write up to this time, in seconds."""
        self._background.do(self._write, timeout_s)

    def close(self) -> None:
        """Write the file a last time. Closing twice has no effect."""
        if not self._closed:
            self._background.do(self._finish, LONGEST_WRITE_S)
            self._background.close()

    def disown(self) -> None:
        """In a forked child: write nothing, since the file is the parent's."""
        self._lock = whole_lock()
        self._closed = True
        self._background.disown()

    def _tell(self, key: tuple[str, str, bool], otherwise: str) -> None:
        if key not in self._told:
            self._told.add(key)
            owner, profile, _ = key
            text = "what %r has learnt is not used with the profile %s: it was learnt with %s"
            # Logged on another thread: the gate is held here, and logging may be slow.
            self._time.call_soon(functools.partial(_LOGGER.warning, text, owner, profile, otherwise))

    # The methods below run on the worker.

    def _look(self) -> None:
        self._write()
        if self._failed or any(each.owner and each.gate.learning is not None for each in self._sessions()):
            self._background.ask()

    def _finish(self) -> None:
        self._write()
        self._closed = True

    def _write(self) -> None:
        if self._closed:
            return
        for session in self._sessions():
            self.keep(session)
        entries = self._entries
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
