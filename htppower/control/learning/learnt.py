"""What sessions have learnt, by owner and profile, and the file in which it outlives a restart of the process.

The file is read whole or not at all, and replaced whole.
"""

from __future__ import annotations

import errno
import functools
import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from htppower._version import __version__
from htppower.backends.whole_lock import whole_lock
from htppower.control.files.background_work import BackgroundWork
from htppower.control.files.new_file import begin_of, put_in_place, something_else
from htppower.profiles.made_in_code import wrong_sustain
from htppower.profiles.sustain import Adaptive
from htppower.sustain.learner import make_learner

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from htppower.control.core.session_record import SessionRecord
    from htppower.control.plans.plans import Plan
    from htppower.control.time.base import Time
    from htppower.sustain.base import Learner, LearnerState

_LOGGER = logging.getLogger("htppower")

PERIOD_US = 600_000_000
# How long ``close`` waits for the disk, in seconds.
LONGEST_WRITE_S = 1.0
# The number of entries is limited, since a host may make up an owner for each request.
MOST_ENTRIES = 1000
KIND = "htppower learnt"
FORMAT = 1
# An entry takes some 500 bytes. A larger file was not written by this code. Only its beginning is read, which is then
# invalid JSON.
_MOST_BYTES = 16 * 1024 * 1024
# The kind of a file must be named within this many bytes.
_ENOUGH_TO_TELL = 4096


@attrs.frozen
class Entry:
    """What the sessions of one owner have learnt with one profile.

    Attributes:
        owner: the owner.
        profile: the name of the profile.
        further: whether this is the time until the second power state, and not the sustain time.
        sustain: how the profile lets the time be learnt. If the profile changes this, the state can't be used any more.
        state: the state of the learner.
    """

    owner: str
    profile: str
    further: bool
    sustain: Adaptive
    state: LearnerState

    @property
    def key(self) -> tuple[str, str, bool]:
        """The owner, the profile, and which time."""
        return self.owner, self.profile, self.further

    @property
    def gaps(self) -> int:
        """How many gaps it was learnt from."""
        return make_learner(self.sustain, self.state).gaps


def read_or_put_aside(path: Path) -> tuple[Entry, ...]:
    """Return the entries of a file. If it is damaged, or of a later version, it is renamed, and the log reports this.

    Raises:
        OSError: the file can't be read, or its folder is missing.
        ValueError: the file has other contents.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "its folder is missing: make that first", str(path))
    text = begin_of(path, _MOST_BYTES, "what is learnt")
    if text is None:
        return ()
    if text and KIND.encode("ascii") not in text[:_ENOUGH_TO_TELL]:
        raise something_else(path, "what sessions have learnt")
    try:
        document = json.loads(text)
        if document["format"] != FORMAT or type(document["entries"]) is not list:
            raise ValueError(f"it has no entries in the format {FORMAT}")  # noqa: TRY301
        return tuple(map(_entry, document["entries"]))
    except (TypeError, ValueError, LookupError, RecursionError) as error:
        aside = path.replace(f"{path}.bad")
        _LOGGER.warning("%s is not used, and is now %s: %s; sessions begin without learnt times", path, aside, error)
        return ()


def write(path: Path, entries: Iterable[Entry]) -> None:
    """Replace the file.

    Raises:
        OSError: the file can't be written; the old file is unchanged.
    """
    document = {
        "format": FORMAT,
        "kind": KIND,
        "htppower": __version__,
        "entries": [attrs.asdict(each, recurse=False) | {"sustain": attrs.asdict(each.sustain)} for each in entries],
    }
    # The data must reach the disk, since robots and cars may lose their power at any time.
    put_in_place(path, f"{json.dumps(document, separators=(',', ':'))}\n".encode("ascii"), lasting=True).close()


def _entry(entry: Any) -> Entry:
    """Return the entry that a JSON object describes.

    Raises:
        TypeError, ValueError, LookupError: no learner can continue with it.
    """
    owner, profile, further = entry["owner"], entry["profile"], entry["further"]
    sustain = Adaptive(**entry["sustain"])
    kinds = type(owner), type(profile), type(further)
    if kinds != (str, str, bool) or any(wrong_sustain(sustain, ("sustain",))):
        raise TypeError("an entry has a value of another type")
    make_learner(sustain, entry["state"])
    return Entry(owner, profile, further, sustain, entry["state"])


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
        # The process may change its folder.
        self._path = Path(path).absolute()
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
