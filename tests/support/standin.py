"""The stand-in for the vendor's library: compiled once, copied for each test, scripted, and its trace read back."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import pytest
from support.checkout import TESTS

from htppower.control.files.file_lock import move

if TYPE_CHECKING:
    from collections.abc import Iterable

WINDOWS = sys.platform == "win32"
LIBRARY = "QnnHtp.dll" if WINDOWS else "libQnnHtp.so"
SOURCE = TESTS / "native" / "standin.c"
# Wine runs no compiler of this machine, so ``tests/windows/run.py`` names a folder with the compiled libraries here.
COMPILED = "HTPPOWER_STANDINS"
WITHOUT_PROVIDERS = "-DWITHOUT_PROVIDERS"
_COMMON = ("-shared", "-O1", "-Wall", "-Wextra", "-Werror")
FIRST_ID = 0x90000000
DCVS_V3, RPC_CONTROL_LATENCY, RPC_POLLING_TIME, HMX_V2 = 1, 2, 3, 5
# FastRPC's errors after a restart: connection reset, no such connection, connection refused; and after a crash of
# the process domain.
RESET, GONE, REFUSED, CRASHED = 0x68, 0x27, 0x72, 0x8000040D
# The stand-in answers like the device library.
DEVICE = "device 1"
_FREED_ON_DEAD_LINK = 1003
ALWAYS = 10**6
_CORE_TARGET, _CORE_SET = 14, 12


def compile_standin(folder: Path, *flags: str, source: Path = SOURCE, library: str = LIBRARY) -> Path:
    """Compile a stand-in, by default of the vendor's library.

    Without a compiler skip the test, or fail it with HTPPOWER_VENDOR=required.
    """
    path = folder / library
    if COMPILED in os.environ:
        if source != SOURCE:
            pytest.skip(f"{source.name} is compiled for Linux only")
        shutil.copy(compiled_for_windows(Path(os.environ[COMPILED]), *flags), path)
        return path
    compiler = shutil.which("gcc" if WINDOWS else "cc")
    if compiler is None:
        reason = "no C compiler for the stand-in library"
        if os.environ.get("HTPPOWER_VENDOR") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    system = ("-static",) if WINDOWS else ("-fPIC", "-lpthread")
    _compile(compiler, *_COMMON, str(source), "-o", str(path), *system, *flags)
    return path


def compile_for_windows(compiler: str, folder: Path) -> None:
    """Compile each form of it for Windows into a folder: what COMPILED names."""
    for flags in ((), (WITHOUT_PROVIDERS,)):
        output = str(compiled_for_windows(folder, *flags))
        _compile(compiler, *_COMMON, str(SOURCE), "-o", output, "-static", *flags)


def compiled_for_windows(folder: Path, *flags: str) -> Path:
    """Return the path of the form with these flags in such a folder."""
    return folder / f"QnnHtp{''.join(flags)}.dll"


def _compile(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@attrs.frozen
class Line:
    """A call in the trace: the time of its end, the function, the result and the arguments."""

    time_ns: int
    function: str
    code: int
    arguments: tuple[str, ...]

    @property
    def power_config_id(self) -> int:
        """The id of a call that has one."""
        return int(self.arguments[2 if self.function == "createPowerConfigId" else 0])

    def option(self, number: int) -> tuple[int, ...] | None:
        """Return the words of an option of a setPowerConfig, None if it is not in the list."""
        for argument in self.arguments[1:]:
            option, words = argument.split(":")
            if int(option) == number:
                return tuple(map(int, words.split(",")))
        return None

    @property
    def core_target(self) -> int | None:
        """The core target in a setPowerConfig; None if it has none."""
        dcvs = self.option(DCVS_V3)
        return dcvs[_CORE_TARGET] if dcvs is not None and dcvs[_CORE_SET] else None


class Standin:
    """A copy of the library for one test, with its script and its trace.

    Attributes:
        path: the library.
    """

    def __init__(self, compiled: Path, folder: Path) -> None:
        self.path = folder / LIBRARY
        shutil.copy(compiled, self.path)
        self.script_path, self.trace_path = folder / "script", folder / "trace"
        self.trace_path.touch()
        self._restarts = 0
        self.script()

    @property
    def environment(self) -> dict[str, str]:
        """The variables that the library reads."""
        return {"STANDIN_SCRIPT": str(self.script_path), "STANDIN_TRACE": str(self.trace_path)}

    def script(self, *lines: str) -> None:
        """Set the answers from now on; calls are counted from 1 again."""
        written = self.script_path.with_suffix(".new")
        written.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        # On Windows the library may have the script open at this moment.
        move(written, self.script_path)

    def restart(self, *lines: str, answer: int = RESET) -> None:
        """Restart the DSP: FastRPC answers so to the next call that needs the link. The script is these lines."""
        self._restarts += 1
        self.script(DEVICE, f"restart {self._restarts} {answer}", *lines)

    @property
    def trace(self) -> list[Line]:
        """The calls so far."""
        lines = []
        for text in self.trace_path.read_text(encoding="utf-8").splitlines():
            time_ns, function, code, *arguments = text.split()
            lines.append(Line(int(time_ns), function, int(code), tuple(arguments)))
        return lines

    def calls(self, function: str) -> list[Line]:
        """Return the calls of one function so far."""
        return [line for line in self.trace if line.function == function]

    @property
    def sets(self) -> list[Line]:
        """The setPowerConfig calls so far."""
        return self.calls("setPowerConfig")

    def assert_nothing_left(self) -> None:
        """Assert that every id that was created is destroyed or gone, and that polling is off.

        An id is gone with a device that is freed on a dead link.
        """
        alive: set[int] = set()
        polling_us = 0
        for line in self.trace:
            if line.code == 0 and line.function == "createPowerConfigId":
                alive.add(line.power_config_id)
            elif line.function == "destroyPowerConfigId":
                alive.discard(line.power_config_id)
            elif line.function == "deviceFree" and line.code == _FREED_ON_DEAD_LINK:
                alive.clear()
                polling_us = 0
            elif line.code == 0 and line.function == "setPowerConfig":
                (polling_us,) = line.option(RPC_POLLING_TIME) or (polling_us,)
        assert (alive, polling_us) == (set(), 0)


def functions(trace: Iterable[Line]) -> list[str]:
    """Return the names of the functions that were called, in order."""
    return [line.function for line in trace]
