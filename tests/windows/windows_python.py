"""Makes a Windows CPython 3.11 for x86-64 under Wine, from packages of Debian and wheels alone.

``python tests/windows/windows_python.py FOLDER [REQUIREMENT...]`` makes ``FOLDER/python``, a program that runs it: with
arguments, the current folder and an exit code like any Python. Paths have the drive Z. It needs wine64
and gcc-mingw-w64-x86-64. ``python311.dll`` and the modules in C are python.org's; a wheel of panda3d contains them. The
modules in Python are copied from the Python that runs this program, so it must be Python 3.11.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

# This release carries Python 3.11.9.
INTERPRETER = "panda3d==1.10.16"
# pip answers markers for this machine, so it does not find what only Windows needs. NumPy 2 needs functions on complex
# numbers that Wine's C library lacks.
ONLY_WINDOWS = ("colorama", "tzdata", "numpy<2")
GCC, DLLTOOL, OBJDUMP = (f"x86_64-w64-mingw32-{name}" for name in ("gcc-posix", "dlltool", "objdump"))
_LEFT_OUT = ("__pycache__", "site-packages", "dist-packages", "lib-dynload", "test", "tkinter", "idlelib", "config-3*")

_PROGRAM = """
#include <windows.h>
#include <shellapi.h>
__declspec(dllimport) int Py_Main(int, wchar_t **);
int main(void) {
  int count;
  wchar_t **arguments = CommandLineToArgvW(GetCommandLineW(), &count);
  return Py_Main(count, arguments);
}
"""
# Modules in Rust ask for this function, and Wine before 9 lacks it.
_RANDOM = """
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL ProcessPrng(PBYTE data, SIZE_T size) { return SystemFunction036(data, (ULONG)size); }
"""
# Wine gives Python no usable handle for a redirected file or terminal, but it gives one for a pipe. So both outputs
# pass through a pipe to ``cat``.
_LAUNCHER = """#!/bin/bash
set -o pipefail
export WINEPREFIX='{prefix}' WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml=' PYTHONPYCACHEPREFIX='{bytecode}'
{{ '{wine}' '{program}' "$@" < /dev/null 3>&1 1>&2 2>&3 | cat; }} 3>&1 1>&2 2>&3 | cat
"""


class NotFetched(RuntimeError):  # noqa: N818 - reads as what it is
    """A package can't be fetched: there is no network, or no such package."""


def missing_tools() -> list[str]:
    """Return what this machine lacks to make it; empty if it can be made."""
    missing = [tool for tool in (GCC, DLLTOOL, OBJDUMP) if shutil.which(tool) is None]
    if _wine() is None:
        missing.append("wine64")
    if platform.machine() != "x86_64":
        missing.append("a machine with x86-64")
    if sys.version_info[:2] != (3, 11):
        missing.append("Python 3.11")
    return missing


def make(folder: Path, requirements: list[str]) -> Path:
    """Make it with some requirements, names that pip knows or paths of wheels, and return the program that runs it.

    Raises:
        RuntimeError: a tool is missing.
        NotFetched: a package can't be fetched.
        CalledProcessError: a tool has failed.
    """
    if missing := missing_tools():
        raise RuntimeError(f"missing: {', '.join(missing)} (Debian: wine64, gcc-mingw-w64-x86-64)")
    home, work = folder / "py", folder / "work"
    for each in (home / "DLLs", home / "Lib" / "site-packages", work):
        each.mkdir(parents=True, exist_ok=True)
    _unpack_interpreter(home, work)
    shutil.copytree(
        sysconfig.get_path("stdlib"), home / "Lib", ignore=shutil.ignore_patterns(*_LEFT_OUT), dirs_exist_ok=True
    )
    _link(home, work)
    _pip("install", "--no-compile", "--target", str(home / "Lib" / "site-packages"), *ONLY_WINDOWS, *requirements)
    # At the end: a folder with this program is whole.
    program = folder / "python"
    text = _LAUNCHER.format(
        prefix=folder / "prefix",
        bytecode=windows_path(folder / "bytecode"),
        wine=_wine(),
        program=windows_path(home / "python.exe"),
    )
    program.write_text(text, encoding="utf-8")
    program.chmod(0o755)
    return program


def windows_path(path: Path) -> str:
    """Return a path of this machine as Wine names it."""
    return "Z:" + str(path).replace("/", "\\")


def _unpack_interpreter(home: Path, work: Path) -> None:
    _pip("download", "--no-deps", "--dest", str(work), INTERPRETER)
    with zipfile.ZipFile(next(work.glob("panda3d-*.whl"))) as wheel:
        for name in wheel.namelist():
            part = Path(name)
            if part.parts[0] == "deploy_libs" or name == "panda3d/MSVCP140.dll":
                is_interpreter = part.name.lower() in ("python311.dll", "vcruntime140.dll", "msvcp140.dll")
                is_unwanted = part.name.startswith("api-ms-win-") or "tkinter" in part.name
                if not is_unwanted and not name.endswith("/"):
                    (home / ("" if is_interpreter else "DLLs") / part.name).write_bytes(wheel.read(name))


def _link(home: Path, work: Path) -> None:
    """Compile the program, and the libraries that modules of the stable ABI and modules in Rust load."""
    (work / "main.c").write_text(_PROGRAM, encoding="ascii")
    (work / "random.c").write_text(_RANDOM, encoding="ascii")
    (work / "python311.def").write_text("LIBRARY python311.dll\nEXPORTS\nPy_Main\n", encoding="ascii")
    _run(DLLTOOL, "-d", str(work / "python311.def"), "-l", str(work / "libpython311.a"))
    _run(GCC, "-O2", "-s", "-o", str(home / "python.exe"), str(work / "main.c"), str(work / "libpython311.a"))
    # Every name of python3.dll leads to python311.dll.
    exports = _run(OBJDUMP, "-p", str(home / "python311.dll")).partition("Ordinal/Name Pointer] Table")[2]
    names = [line.split()[-1] for line in exports.splitlines() if line.startswith("\t[")]
    lines = ["LIBRARY python3.dll", "EXPORTS", *(f" {name} = python311.{name}" for name in names), ""]
    (work / "python3.def").write_text("\n".join(lines), encoding="ascii")
    shared = ("-shared", "-nostdlib", "-Wl,--entry=0", "-s")
    _run(GCC, *shared, "-o", str(home / "python3.dll"), str(work / "python3.def"))
    _run(GCC, "-shared", "-O2", "-s", "-o", str(home / "bcryptprimitives.dll"), str(work / "random.c"), "-ladvapi32")


def _pip(command: str, *arguments: str) -> None:
    wheels = ("--only-binary=:all:", "--platform", "win_amd64", "--python-version", "3.11", "--implementation", "cp")
    try:
        _run(sys.executable, "-m", "pip", command, *wheels, "--quiet", "--disable-pip-version-check", *arguments)
    except subprocess.CalledProcessError as error:
        raise NotFetched(f"pip can't {command} the packages for Windows") from error


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def _wine() -> str | None:
    return shutil.which("wine64") or shutil.which("wine64", path="/usr/lib/wine")


def main() -> int:
    """Make it, and print its version."""
    if len(sys.argv) < 2:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    program = make(Path(sys.argv[1]).resolve(), sys.argv[2:])
    print(_run(str(program), "-c", "import sys, ctypes, sqlite3, ssl, numpy; print(sys.version, sys.platform)"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
