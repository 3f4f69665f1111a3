"""The statuses that the controllers of this user serve where no file is named, and as an overview of them."""

from __future__ import annotations

import math
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from htppower.cli.status.document import StatusUnreadable, read_status, seen
from htppower.cli.status.history import now_of
from htppower.cli.status.painted import painted
from htppower.cli.status.sessions import share_up
from htppower.control.status.process_identity import Life
from htppower.control.status.runtime_folder import is_own, runtime_folders
from htppower.review.durations import rough_duration
from htppower.review.layout import labelled

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterable, Iterator

    from htppower.cli.status.document import Seen
    from htppower.cli.status.history import Histories

_LABEL = 11
NONE_SERVED = (
    "no controller of this user serves a status; a host does so by controller.serve_status(), and "
    "htppower profile NAME -- COMMAND by itself"
)


class Served(NamedTuple):
    """A status that was found: its file, and what is in it, or why that can't be read."""

    path: Path
    seen: Seen | None
    problem: str = ""


def find_served(now: datetime.datetime) -> tuple[Served, ...]:
    """Return every status in the folders of this user, those of the oldest processes first.

    What another user could have written is passed over.
    """
    found = []
    for folder in filter(is_own, runtime_folders()):
        for path in folder.glob("*.json"):
            try:
                found.append(Served(path, seen(read_status(path), now)))
            except StatusUnreadable as error:
                if _holds_something(path):
                    found.append(Served(path, None, str(error)))
    return tuple(sorted(found, key=_age))


def file_of(name: str) -> Path:
    """Return the file that a user means: a path, or the status of a process id.

    Raises:
        StatusUnreadable: it is a number, and neither a file nor a process of this user that serves a status.
    """
    if name.isdecimal() and not Path(name).exists():
        for folder in filter(is_own, runtime_folders()):
            for path in sorted(folder.glob(f"{name}-*.json")):
                return path
        raise StatusUnreadable(f"no process {name} of this user serves a status: htppower status lists those that do")
    return Path(name)


def overview(found: tuple[Served, ...], width: int, histories: Histories | None = None) -> str:
    """Return each controller in a block, and each of its sessions in a line or two."""
    if not found:
        return "\n".join(labelled("none", NONE_SERVED, width, _LABEL))
    blocks = (_block(each, width, histories) for each in found)
    return "\n\n".join("\n".join(_lines(block, width)) for block in blocks)


def _lines(block: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    for label, text in block:
        lines = labelled(label, text, width, _LABEL)
        yield from map(painted, lines) if label.startswith("session ") else lines


def _block(served: Served, width: int, histories: Histories | None) -> Iterator[tuple[str, str]]:
    if served.seen is None:
        yield "unreadable", served.problem
        return
    view, document = served.seen, served.seen.document
    yield "process", f"{document['pid']}{_command(view)}; {_life(view)}"
    backend = document["backend"]
    yield "backend", f"{backend['name']}{'' if backend['hardware'] else '; no vote reaches hardware'}"
    for session in document["sessions"]:
        yield f"session {session['number']}", _session(session, view)
        if histories is not None:
            yield "  timeline", histories.strip((str(served.path), session["number"]), now_of(view), width)
    if not document["sessions"]:
        yield "sessions", "none is open"
    only = served.path.name == f"{document['pid']}-1.json"
    yield "more", f"htppower status {document['pid'] if only else served.path}"


def _life(view: Seen) -> str:
    written = f"written {rough_duration(view.age_us)} ago"
    if view.document["closed"]:
        return f"closed; {written}"
    said = {
        Life.RUNNING: "running",
        Life.GONE: "gone",
        Life.ELSEWHERE: "of another boot, container or machine",
        Life.UNKNOWN: "whether it runs can't be told",
    }[view.process]
    return f"{said}; {written}"


def _command(view: Seen) -> str:
    """Return the name of a running process, where the system tells it."""
    if view.process is not Life.RUNNING:
        return ""
    comm = Path(f"/proc/{view.document['pid']}/comm")
    try:
        return f", {comm.read_text(encoding='utf-8', errors='replace').strip()}"
    except OSError:
        return ""


def _session(session: dict[str, Any], view: Seen) -> str:
    owner = session["owner"] or "no owner is named"
    since = rough_duration(view.time_us - session["since_us"])
    in_flight = f", {session['in_flight']} in flight" if session["in_flight"] else ""
    return f"{owner}: {session['state']} for {since}, {session['profile']}{in_flight}; {share_up(session)}"


def _holds_something(path: Path) -> bool:
    """Return whether there is a file: a controller that begins has reserved an empty one, one that ends removes it."""
    try:
        found = path.stat()
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and found.st_size > 0


def _age(served: Served) -> tuple[float, tuple[int, ...], Path]:
    """Return what sorts by when the process was started, and then by the numbers in the name of the file.

    Each writing makes a new file, of which the time says nothing. What can't be told comes last.
    """
    ticks = None if served.seen is None else served.seen.document["started_ticks"]
    numbers = tuple(int(part) for part in served.path.stem.split("-") if part.isdecimal())
    return math.inf if ticks is None else ticks, numbers, served.path
