"""Runs tests on a Windows CPython under Wine: ``python tests/windows/run.py FOLDER [--all | PYTEST_ARGUMENT...]``.

The Windows Python is made in the folder, if it is not there yet, with the requirements of the unit tests and with the
vendor's library; the stand-in library, and programs with ``htppower.h``, are compiled there. Without arguments, the
tests run that differ most on Windows; ``--all`` runs the whole tier, and arguments for pytest choose others. Exit code
1: a test failed.

It needs Python 3.11, wine64 and gcc-mingw-w64-x86-64. If one is missing, or packages can't be fetched, it says so, and
the exit code is 0, so that a machine without Wine or a network passes. What Windows lacks is in
``tests/support/needs.py``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from packaging.requirements import Requirement

if __name__ == "__main__":
    sys.path[:1] = map(str, Path(__file__).resolve().parents[1:3])

from support.c_driver import PROGRAMS
from support.compiled import CLIENTS, compile_program
from support.standin import COMPILED, compile_for_windows
from windows.windows_python import GCC, NotFetched, make, missing_tools, windows_path

ROOT = Path(__file__).resolve().parents[2]
# Windows as the markers of requirements see it. pip would answer them for this machine.
WINDOWS = {
    "extra": "",
    "platform_machine": "AMD64",
    "platform_system": "Windows",
    "python_full_version": "3.11.9",
    "python_version": "3.11",
    "sys_platform": "win32",
}
EXTRAS = ("unit", "vendor")
ALL = tuple(f"tests/{tier}" for tier in ("windows", "native", "vendor", "contract", "corpus", "unit"))
# Where Windows differs: the console, files, processes, clocks, libraries.
MOST = (*ALL[:4], "tests/unit/backends", "tests/unit/client", "tests/unit/hosts/service")
_SKIPPED = "the tests on Windows are skipped"
# Wine has no cluster of processes for them, and no D-Bus.
_LEFT_OUT = ("dask", "dbus-fast")


def requirements() -> list[str]:
    """Return the requirements of the package and of these extras on Windows."""
    import tomllib  # type: ignore[import-not-found] # noqa: PLC0415 - Python 3.10 lacks it, and skips the tests

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras: dict[str, list[str]] = project["optional-dependencies"]
    found: dict[str, None] = {}

    def add(lines: list[str]) -> None:
        for requirement in map(Requirement, lines):
            if requirement.marker is not None and not requirement.marker.evaluate(WINDOWS):
                continue
            if requirement.name == project["name"]:
                for extra in sorted(requirement.extras):
                    add(extras[extra])
            elif requirement.name not in _LEFT_OUT:
                found[f"{requirement.name}{requirement.specifier}"] = None

    add(project["dependencies"])
    for extra in EXTRAS:
        add(extras[extra])
    return list(found)


def main() -> int:
    """Run the tests, and return 1 if one failed."""
    if len(sys.argv) < 2:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    if missing := missing_tools():
        print(f"{_SKIPPED}: {', '.join(missing)} is missing")
        return 0
    folder = Path(sys.argv[1]).resolve()
    python = folder / "python"
    try:
        if not python.exists():
            make(folder, requirements())
    except NotFetched as error:
        print(f"{_SKIPPED}: {error}")
        return 0
    standins = folder / "standins"
    standins.mkdir(exist_ok=True)
    compile_for_windows(GCC, standins)
    for source in (PROGRAMS / "driver.c", CLIENTS / "host.c"):
        compile_program(source, standins / f"{source.stem}.exe", compiler=GCC)
    environment = {**os.environ, "PYTHONPATH": windows_path(ROOT), COMPILED: windows_path(standins)}
    chosen = sys.argv[2:] or list(MOST)
    if chosen == ["--all"]:
        chosen = list(ALL)
    command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", "-q", "-n", "2", "--dist", "loadfile", *chosen]
    return int(subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode != 0)


if __name__ == "__main__":
    sys.exit(main())
