"""The backends of this process that controllers are on: those on one share it."""

from __future__ import annotations

import sys
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from htppower.backends.forks import call_in_forked_children
from htppower.backends.whole_lock import whole_lock
from htppower.control.core.shared_backend import SharedBackend

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.backends.base import Backend


class SharedBackends:
    """The backends of a process that controllers are on; each goes with the last of these."""

    def __init__(self) -> None:
        self._lock = whole_lock()
        self._all: list[weakref.ref[SharedBackend]] = []

    def find(self, backend: Backend, path: str) -> SharedBackend:
        """Return that of a backend, by the path of its library where it has one; a recorder is what it records."""
        # Nobody has a recorder where that is not imported.
        recording, behind = sys.modules.get("htppower.backends.recording"), backend
        while recording is not None and isinstance(behind, recording.RecordingBackend):
            behind = behind.inner
        # Not so a bare name, which is the system's loader's to find.
        if Path(path).is_absolute():
            path = str(Path(path).resolve())
        with self._lock:
            known = _alive(self._all)
            found = next((shared for shared in known if shared.is_for(behind, path)), None)
            if found is None:
                found = SharedBackend(behind, path)
                known.append(found)
            self._all = [weakref.ref(shared) for shared in known]
            return found

    def forked(self) -> None:
        """In a forked child: the backends are the parent's."""
        self._lock = whole_lock()
        self._all = []


def _alive(references: Iterable[weakref.ref[SharedBackend]]) -> list[SharedBackend]:
    return [shared for reference in references if (shared := reference()) is not None]


# The one state of a module among the controllers: what is set for a process is the process's, whoever sets it. Each
# interpreter of a process has its own, so subinterpreters share nothing.
SHARED_BACKENDS = SharedBackends()
call_in_forked_children(SharedBackends.forked, SHARED_BACKENDS)
