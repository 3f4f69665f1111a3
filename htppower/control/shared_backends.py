"""The backends of this process that controllers are on: those on one share it, and the second one logs a warning."""

from __future__ import annotations

import logging
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
    from htppower.control.core.process_settings import ProcessSettings
    from htppower.control.core.shared_backend import Member

_LOGGER = logging.getLogger("htppower")


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


def warn_of_others(settings: ProcessSettings, library: str) -> None:
    """Log, once for each backend, that another controller is on it.

    Args:
        settings: those of the process, as the new controller has them.
        library: what the backend is, in words.
    """
    others = settings.others
    if others and settings.shared.is_to_warn():
        _LOGGER.warning(
            "controller %d is made while %s open on the same backend, %s: the settings of the process, such as RPC"
            " polling, are settled over all of them; one controller with a session for each client does the same",
            settings.number,
            " and ".join(map(_named, others)) + (" is" if len(others) == 1 else " are"),
            library,
        )


def _named(member: Member) -> str:
    owners = () if member.peer is None else member.peer.owners
    return f"controller {member.number}" + (f" ({', '.join(owners)})" if owners else "")


def _alive(references: Iterable[weakref.ref[SharedBackend]]) -> list[SharedBackend]:
    return [shared for reference in references if (shared := reference()) is not None]


# The one state of a module among the controllers: what is set for a process is the process's, whoever sets it. Each
# interpreter of a process has its own, so subinterpreters share nothing.
SHARED_BACKENDS = SharedBackends()
call_in_forked_children(SharedBackends.forked, SHARED_BACKENDS)
