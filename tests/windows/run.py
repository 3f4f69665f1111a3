"""Runs tests on a Windows CPython under Wine: ``python tests/windows/run.py FOLDER [PYTEST_ARGUMENT...]``.

The Windows Python is made in the folder, if it is not there yet, with the requirements of the unit tests and with the
vendor's library. Without arguments for pytest, the tests of ``tests/windows`` run. It needs Python 3.11, wine64 and
gcc-mingw-w64-x86-64; if one is missing, it says so, and the exit code is 0, so that a machine without Wine passes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import tomllib  # type: ignore[import-not-found] # mypy checks for 3.10
from packaging.requirements import Requirement

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from windows.windows_python import make, missing_tools

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
# Wine has no cluster of processes for them, and no D-Bus.
_LEFT_OUT = ("dask", "dbus-fast")


def requirements() -> list[str]:
    """Return the requirements of the package and of these extras on Windows."""
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
    """Run the tests, and return the exit code of pytest."""
    if len(sys.argv) < 2:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    if missing := missing_tools():
        print(f"the tests on Windows are skipped: {', '.join(missing)} is missing")
        return 0
    folder = Path(sys.argv[1]).resolve()
    python = folder / "python"
    if not python.exists():
        make(folder, requirements())
    arguments = sys.argv[2:] or ["tests/windows"]
    environment = {**os.environ, "PYTHONPATH": "Z:" + str(ROOT).replace("/", "\\")}
    command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", "-q", "-n", "0", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
