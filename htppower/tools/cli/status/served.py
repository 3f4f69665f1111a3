"""The statuses in the runtime folders, and the list of them."""

from __future__ import annotations

import math
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from htppower.control.status.process_identity import Life
from htppower.control.status.runtime_folder import is_own, runtime_folders
from htppower.events import State
from htppower.tools.cli.status.document import Folder, StatusUnreadable, folders_of_others, read_status, seen, user_name
from htppower.tools.cli.status.wording import (
    clock_time,
    clocks,
    inferences,
    lasted_in_list,
    link_lines,
    measured_lines,
    painted,
    profile_in_use,
    share_up,
)
from htppower.tools.report.layout import labelled
from htppower.tools.report.words import rough_duration

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterable, Iterator

    from htppower.tools.cli.status.document import Seen

_LABEL = 11
NONE_SERVED = (
    "no controller of this user serves a status; a host does so with controller.serve_status(), and "
    f"htppower profile NAME -- COMMAND by default{'' if os.name == 'nt' else '; root sees those of all users'}"
)
_ONE_GONE = "1 process, which left no vote up: htppower status --all shows it"
_MORE_GONE = "{} processes, which left no vote up: htppower status --all shows them"


@attrs.frozen
class Served:
    """A status that was found.

    Attributes:
        path: its file.
        seen: its content, or None if it can't be read.
        problem: why it can't be read.
        uid: the user who owns it, if that is another user.
    """

    path: Path
    seen: Seen | None
    problem: str = ""
    uid: int | None = None

    @property
    def gone(self) -> bool:
        """Whether its process is gone."""
        return self.seen is not None and self.seen.process is Life.GONE

    @property
    def may_be_up(self) -> bool:
        """Whether its votes may be in force on hardware."""
        if self.seen is None or not self.seen.document["backend"]["hardware"]:
            return False
        sessions = self.seen.document["sessions"]
        return any(session["state"] in (State.RAISED, State.UNKNOWN) for session in sessions)


def _folders() -> tuple[Folder, ...]:
    """Return the folders of this user, and for root then the folders of every other user."""
    return (*(Folder(path) for path in runtime_folders() if is_own(path)), *folders_of_others())


def find_served(now: datetime.datetime) -> tuple[Served, ...]:
    """Return every status in the folders of this user, and for root of all users.

    Running processes are first and processes that are gone last; within each group, the oldest is first. A folder that
    another user may write to is left out.
    """
    found = []
    for folder in _folders():
        for path in folder.path.glob("*.json"):
            try:
                view = seen(read_status(path, folder.uid), now, folder.uid)
                found.append(Served(path, view, uid=folder.uid))
            except StatusUnreadable as error:
                if _holds_something(path):
                    found.append(Served(path, None, str(error), folder.uid))
    return tuple(sorted(found, key=_place))


def file_of(name: str) -> Folder:
    """Return the file for a path or a process id, and the user who owns it.

    Raises:
        StatusUnreadable: it is a number, and neither a file nor a process that serves a status.
    """
    if name.isdecimal() and not Path(name).exists():
        for folder in _folders():
            for path in sorted(folder.path.glob(f"{name}-*.json")):
                return Folder(path, folder.uid)
        raise StatusUnreadable(f"no process {name} of this user serves a status: htppower status lists those that do")
    return Folder(Path(name))


def listed(found: Iterable[Served], *, everything: bool) -> tuple[tuple[Served, ...], int]:
    """Return the statuses to list, and how many are left out because the process is gone and left no vote up."""
    every = tuple(found)
    kept = tuple(each for each in every if everything or not each.gone or each.may_be_up)
    return kept, len(every) - len(kept)


def overview(found: tuple[Served, ...], width: int, *, everything: bool = False) -> str:
    """Return each controller in a block, and each of its sessions in a few lines."""
    kept, left_out = listed(found, everything=everything)
    blocks = [_block(each) for each in kept]
    if not found:
        blocks.append([("none", NONE_SERVED)])
    if left_out:
        blocks.append([("gone", _ONE_GONE if left_out == 1 else _MORE_GONE.format(left_out))])
    return "\n\n".join("\n".join(_lines(block, width)) for block in blocks)


def _lines(block: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    for label, text in block:
        lines = labelled(label, text, width, _LABEL)
        yield from map(painted, lines) if label.startswith("session ") else lines


def _block(served: Served) -> Iterable[tuple[str, str]]:
    if served.seen is None:
        return [("unreadable", served.problem)]
    view, document = served.seen, served.seen.document
    backend = document["backend"]
    block = [
        ("process", f"{process_name(served)}; {life(view)}"),
        ("backend", f"{backend['name']}{'' if backend['hardware'] else '; no vote reaches hardware'}"),
    ]
    if served.gone and served.may_be_up:
        block.append(("not known", "whether the driver has removed its votes; all below is as last written"))
    block += link_lines(document)
    for session in document["sessions"]:
        block += _session(session, view)
    if not document["sessions"]:
        block.append(("sessions", "none is open"))
    block += measured_lines(view)
    only = served.path.name == f"{document['pid']}-1.json"
    return [*block, ("more", f"htppower status {document['pid'] if only else served.path}")]


def process_name(served: Served) -> str:
    """Return a process by its id, the name of its program, and its user if that is another user."""
    if served.seen is None:
        return served.path.name
    user = "" if served.uid is None else f" of user {user_name(served.uid)}"
    return f"{served.seen.document['pid']}{_command(served.seen)}{user}"


def life(view: Seen) -> str:
    """Return whether a process runs, and when it wrote its status."""
    written = f"written {rough_duration(view.age_us)} ago, at {clock_time(view, view.time_us)} UTC"
    if view.document["closed"]:
        return f"closed; {written}"
    said = {
        Life.RUNNING: "running",
        Life.GONE: "gone",
        Life.ELSEWHERE: "of another boot, container or machine",
        Life.UNKNOWN: "whether it runs is not known",
    }[view.process]
    return f"{said}; {written}"


def _command(view: Seen) -> str:
    """Return the name of a running process, if the system has it."""
    if view.process is not Life.RUNNING:
        return ""
    comm = Path(f"/proc/{view.document['pid']}/comm")
    try:
        return f", {comm.read_text(encoding='utf-8', errors='replace').strip()}"
    except OSError:
        return ""


def _session(session: dict[str, Any], view: Seen) -> Iterator[tuple[str, str]]:
    owner = session["owner"] or "no owner is named"
    state = f"{session['state']} for {lasted_in_list(view, session['since_us'])}"
    in_flight = f", {session['in_flight']} in flight" if session["in_flight"] else ""
    profile = profile_in_use(session)
    yield f"session {session['number']}", f"{owner}: {state}, {profile}{in_flight}; {share_up(session, view)}"
    yield "  since", why(session, view)
    voted = clocks(session)
    if voted:
        yield "  votes", voted
    count = inferences(session, view.document)
    if count:
        yield "  begun", count


def why(session: dict[str, Any], view: Seen) -> str:
    """Return since when and why a session is in its state, and since when a hold or a cap decides."""
    decides = session["decided_by"]
    cause = "" if session["cause"] is None else f": {session['cause']}"
    decided = "" if decides is None else f"; the {decides['kind']} since {clock_time(view, decides['since_us'])}"
    return f"{clock_time(view, session['since_us'])}{cause}{decided}"


def _holds_something(path: Path) -> bool:
    """Return whether a file has content. A controller reserves an empty one at its start, and removes it at its end."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return not stat.S_ISREG(found.st_mode) or found.st_size > 0


def _place(served: Served) -> tuple[bool, float, tuple[int, ...], Path]:
    """Return the sort key: whether the process may run, when it was started, and the numbers in the name of the file.

    Each write makes a new file, so the file's time does not help. Unknown starts are last.
    """
    ticks = None if served.seen is None else served.seen.document["started_ticks"]
    numbers = tuple(int(part) for part in served.path.stem.split("-") if part.isdecimal())
    return served.seen is None or served.gone, math.inf if ticks is None else ticks, numbers, served.path
