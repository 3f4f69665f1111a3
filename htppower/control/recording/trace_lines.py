"""The lines of a recording: events of Chrome's trace format, one a line, in an array whose closing bracket is left out.

The format allows that, so a file is whole after a crash up to its last full line. Source: "Trace Event Format", a
document of the Chromium project.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from htppower.control.core.tokens import NOT_TIMED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from htppower.control.core.plans import Plan
    from htppower.control.core.session_record import SessionRecord
    from htppower.control.recording.ring import Ended

VERSION = 1
# How the second line of every file begins; no other trace has it.
MARK = b'[\n{"name":"htppower","ph":"M",'


def header(pid: int, now_us: int, controller: str | None) -> bytes:
    """Return how a file begins: whose it is, and what time it was by both clocks."""
    args = {
        "version": VERSION,
        "clock": "us of the controller's clock",
        "wall_ns": time.time_ns(),
        "clock_us": now_us,
        "controller": controller,
    }
    return MARK + f'"pid":{pid},"tid":0,"args":{json.dumps(args, separators=(",", ":"))}}},\n'.encode("ascii")


class LostLine(str):
    """A line that says that inferences are lost.

    Attributes:
        inferences: how many.
    """

    __slots__ = ("inferences",)

    inferences: int


def lines(pid: int, came: Iterable[Ended]) -> list[str]:
    """Return the lines of inferences."""
    made: list[str] = []
    # By the label itself: a plan takes longer to compare than a line to make.
    parts: dict[int, tuple[str, str]] = {}
    for _, label, begun_ns, ended_ns, cold in came:
        begun_us, ended_us = begun_ns // 1000, ended_ns // 1000
        if begun_ns == NOT_TIMED:
            made.append(lost_line(pid, ended_us, 1))
            continue
        begin, end = parts.get(id(label)) or parts.setdefault(id(label), _parts(pid, *label))
        made.append(f'{begin}{begun_us},"dur":{ended_us - begun_us}{end}{"true" if cold else "false"}}}}},\n')
    return made


def lost_line(pid: int, time_us: int, inferences: int) -> LostLine:
    """Return the line that so many inferences are lost, which had ended by then."""
    args = f'"args":{{"inferences":{inferences}}}'
    line = LostLine(f'{{"name":"lost","ph":"i","s":"p","pid":{pid},"tid":0,"ts":{time_us},{args}}},\n')
    line.inferences = inferences
    return line


def _parts(pid: int, session: SessionRecord, plan: Plan) -> tuple[str, str]:
    """Return what stands before the times of an inference, and after them: the same for most."""
    owner = str(session.number) if session.owner is None else session.owner
    args = f'"session":{json.dumps(owner)},"profile":{json.dumps(plan.profile.name)},"cold":'
    return f'{{"name":"inference","ph":"X","pid":{pid},"tid":{session.number},"ts":', f',"args":{{{args}'
