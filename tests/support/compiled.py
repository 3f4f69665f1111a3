"""Programs that use ``htppower.h``, compiled for a test."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from support.checkout import ROOT

import htppower.client

if TYPE_CHECKING:
    from pathlib import Path

WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror")
CLIENTS = ROOT / "docs" / "examples" / "clients"


# The packages of Debian with the tools.
PACKAGES = {
    "gcc": "gcc",
    "g++": "g++",
    "clang": "clang",
    "clang++": "clang",
    "x86_64-w64-mingw32-gcc": "gcc-mingw-w64-x86-64",
    "java": "default-jdk-headless",
    "javac": "default-jdk-headless",
    "kotlinc": "kotlin",
    "mcs": "mono-mcs",
    "mono": "mono-runtime",
}


def tool(name: str) -> str:
    """Return the path of a tool; skip the test without it, or fail it if it is gcc and HTPPOWER_VENDOR=required."""
    found = shutil.which(name)
    if found is None:
        reason = f"there is no {name} (Debian: {PACKAGES.get(name, name)})"
        if name == "gcc" and os.environ.get("HTPPOWER_VENDOR") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


def run_tool(name: str, *arguments: str | Path) -> str:
    """Run a tool, assert that it succeeds, and return its output."""
    command = [tool(name), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def compile_program(source: Path, program: Path, *flags: str, compiler: str = "gcc") -> Path:
    """Compile a program with the header, and assert that the compiler says nothing."""
    standard = "-std=c++11" if compiler.endswith("++") else "-std=c99"
    include = ("-I", htppower.client.include_folder())
    assert run_tool(compiler, standard, *WARNINGS, *include, *flags, source, "-o", program) == ""
    return program
