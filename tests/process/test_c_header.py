"""``htppower.h`` compiles without a warning, and the example hosts in C and C++ get votes from a service."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.c_driver import PROGRAMS
from support.checkout import ROOT
from support.compiled import CLIENTS, compile_program, tool
from support.service_process import environment, served, sums

import htppower.client

HOST = {"gcc": "host.c", "g++": "host.cpp", "clang": "host.c", "clang++": "host.cpp"}
MINGW = "x86_64-w64-mingw32-gcc"
# With -std=c99 this include hides the clock of POSIX from the header.
AFTER = "#include <time.h>\n"
WITH_POSIX = f"#define _POSIX_C_SOURCE 200809L\n{AFTER}"


def test_the_folder_has_the_header() -> None:
    """``include_folder`` names the folder of the header."""
    assert (Path(htppower.client.include_folder()) / "htppower.h").is_file()


@pytest.mark.parametrize(
    ("compiler", "before"),
    [*((each, "") for each in (*HOST, MINGW)), ("gcc", AFTER), ("gcc", WITH_POSIX), ("clang", AFTER), ("g++", AFTER)],
)
def test_the_header_compiles_without_a_warning(compiler: str, before: str, tmp_path: Path) -> None:
    """Alone and after other headers, as C99 and C++11."""
    source = tmp_path / HOST.get(compiler, "host.c")
    source.write_text(before + (CLIENTS / HOST.get(compiler, "host.c")).read_text(encoding="utf-8"), encoding="utf-8")
    compile_program(source, tmp_path / "host", "-O2", compiler=compiler)


@pytest.mark.parametrize("standard", ["-std=gnu99", "-std=gnu17"])
def test_the_header_compiles_with_other_standards(standard: str, tmp_path: Path) -> None:
    """A C file with extensions, or of a later standard, may include it."""
    compile_program(PROGRAMS / "driver.c", tmp_path / "driver", "-O2", standard)


@pytest.mark.parametrize("compiler", ["gcc", "g++"])
def test_an_example_host_gets_votes(compiler: str, tmp_path: Path) -> None:
    """Each of its inferences has votes, and it leaves no lease."""
    host = compile_program(CLIENTS / HOST.get(compiler, "host.c"), tmp_path / "host", compiler=compiler)
    place = tmp_path / "socket"
    with served(place):
        done = subprocess.run([str(host), "50"], env=environment(place), capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "50 inferences, 50 with votes\n", "")
        assert sums(place)["leases"] == 0


@pytest.mark.parametrize("compiler", ["gcc", "g++"])
def test_an_example_host_runs_without_a_service(compiler: str, tmp_path: Path) -> None:
    """It says so once, and its inferences run."""
    host = compile_program(CLIENTS / HOST.get(compiler, "host.c"), tmp_path / "host", compiler=compiler)
    place = tmp_path / "socket"
    done = subprocess.run([str(host), "50"], env=environment(place), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "50 inferences, 0 with votes\n")
    reason = "can't be reached: No such file or directory; tried again later"
    assert done.stderr == f"htppower: no votes: the service at {place} {reason}\n"


def test_the_page_builds_and_runs_its_host(tmp_path: Path) -> None:
    """The commands of the page make both programs, and the host prints what the page shows."""
    page = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
    build, _ = re.findall(r"^```sh\n(.*?)```", page, re.MULTILINE | re.DOTALL)
    for name in ("host.c", "host.cpp"):
        shutil.copy(CLIENTS / name, tmp_path)
    commands = build.replace("$(python ", f"$({sys.executable} ")
    subprocess.run([tool("bash"), "-euc", commands], cwd=tmp_path, check=True)
    place = tmp_path / "socket"
    with served(place):
        for host in ("./host", "./host_cpp"):
            done = subprocess.run([host], cwd=tmp_path, env=environment(place), stdout=subprocess.PIPE, check=True)
            assert f"```text\n{done.stdout.decode()}```" in page
