"""The causes of a failure, and the search for the most likely one.

A cause is *said* if the library's answer or its log names it, and *seen* if a fact of the machine would lead to the
same answer. Said causes come first, but one that is no more than a code comes last. Within each kind the order is that
of the table.
"""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from htppower.errors import BackendUnavailable
from htppower.tools.doctor.log_lines import Log
from htppower.tools.review.explain.fastrpc_codes import FASTRPC_TEXTS, Mend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from htppower.errors import VoteRejected
    from htppower.tools.doctor.attempts import Attempts
    from htppower.tools.doctor.machine import Machine
    from htppower.tools.doctor.skel_paths import SkelPaths


@attrs.frozen
class Evidence:
    """All that a cause is judged by.

    Attributes:
        machine: the facts of the machine.
        problem: the failure.
        log: the vendor's log.
        environment: the variables of the process.
        library: the file of the library; empty if none was found.
        arch: the Hexagon architecture, or None.
        soc_model: the SoC that the user named, or None.
        skel_paths: the faults of the variables that lead to the skel.
    """

    machine: Machine
    problem: BackendUnavailable | VoteRejected
    log: Log
    environment: Mapping[str, str]
    library: str
    arch: int | None
    soc_model: str | None
    skel_paths: SkelPaths

    @property
    def code(self) -> int | None:
        """The native code, or None if no call failed."""
        return self.problem.code

    @property
    def mend(self) -> Mend | None:
        """The mend of the first code of FastRPC in the log that has one of its own."""
        mends = [FASTRPC_TEXTS[code.number].mend for code in self.log.fastrpc_codes]
        return next((mend for mend in mends if mend is not Mend.LOG), mends[0] if mends else None)

    @property
    def fastrpc(self) -> str:
        """The first code of FastRPC in the log, with its name and meaning; empty if there is none."""
        code = next(iter(self.log.fastrpc_codes), None)
        return "" if code is None else f"FastRPC answers 0x{code.whole:x} {FASTRPC_TEXTS[code.number].name}. "

    @property
    def of_opening(self) -> bool:
        """Whether the library can't be opened; if not, a vote failed."""
        return isinstance(self.problem, BackendUnavailable)


def never(_evidence: Evidence) -> bool:
    """Return False, for a cause that is only said, or only seen."""
    return False


def nothing(_evidence: Evidence) -> tuple[str, ...]:
    """Return no line, for a cause that no command mends."""
    return ()


def on_linux(lines: Callable[[Evidence], tuple[str, ...]]) -> Callable[[Evidence], tuple[str, ...]]:
    """Return the lines on Linux, and none elsewhere: Windows has no such commands, and on a phone nobody is root."""
    return lambda evidence: lines(evidence) if evidence.machine.system == "linux" else ()


def pip_install(what: str) -> str:
    """Return the line that installs a package for htppower's Python, also if another pip comes first in PATH."""
    pip, python = shutil.which("pip"), sys.executable
    if pip is not None and Path(pip).parent == Path(python).parent:
        return f"pip install {what}"
    quoted = f"& '{python}'" if os.name == "nt" else shlex.quote(python)
    return f"{quoted} -m pip install {what}"


@attrs.frozen
class Cause:
    """A cause.

    Attributes:
        id: its name in JSON.
        said: whether the answer, or the log, names it.
        seen: whether a fact of the machine would lead to that answer.
        says: the cause in sentences.
        lines: the lines to type.
        vague: whether it is no more than a code, so that any other cause is more likely.
    """

    id: str
    said: Callable[[Evidence], bool]
    seen: Callable[[Evidence], bool]
    says: Callable[[Evidence], str]
    lines: Callable[[Evidence], tuple[str, ...]] = nothing
    vague: bool = False


@attrs.frozen
class Found:
    """A cause on this machine: what it is in sentences, and the lines to type."""

    id: str
    says: str
    lines: tuple[str, ...]


def found_causes(causes: Iterable[Cause], evidence: Evidence, attempts: Attempts) -> tuple[Found, ...]:
    """Return the causes, the most likely one first. One that can't be judged is a failure of ``attempts``."""
    said, seen = [], []
    for cause in causes:
        if attempts.of(cause.id, functools.partial(cause.said, evidence), otherwise=False):
            said.append(cause)
        elif attempts.of(cause.id, functools.partial(cause.seen, evidence), otherwise=False):
            seen.append(cause)
    # The log is about the causes that are said.
    unsaid = attrs.evolve(evidence, log=Log())
    order = [
        *((cause, evidence) for cause in said if not cause.vague),
        *((cause, unsaid) for cause in seen),
        *((cause, evidence) for cause in said if cause.vague),
    ]
    told = [attempts.of(cause.id, functools.partial(_told, cause, shown), None) for cause, shown in order]
    return tuple(found for found in told if found is not None)


def _told(cause: Cause, evidence: Evidence) -> Found:
    return Found(cause.id, cause.says(evidence), cause.lines(evidence))
