"""Finding the library: the order of the search, places that are never searched, and the errors."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from support.binaries import elf
from support.standin import LIBRARY, WINDOWS, WITHOUT_PROVIDERS, Standin, compile_standin, functions

from htppower.backends import QnnHtp
from htppower.backends.qnn import library as qnn_library
from htppower.errors import BackendUnavailable, Step, Unavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TARGET = {"x86_64": "x86_64-linux-clang", "aarch64": "aarch64-oe-linux-gcc11.2"}
if WINDOWS:
    TARGET = {"x86_64": "x86_64-windows-msvc", "aarch64": "aarch64-windows-msvc"}


@pytest.fixture(autouse=True)
def nothing_else_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Hide the variables and packages of this machine."""
    for name in (qnn_library.VARIABLE, *qnn_library.SDK_VARIABLES, "LD_LIBRARY_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site-packages")])


@pytest.fixture
def places(standin: Standin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Put the library in every searched place."""
    sdk = {name: tmp_path / name / "lib" / TARGET[qnn_library.machine()] for name in qnn_library.SDK_VARIABLES}
    package = tmp_path / "site-packages" / "onnxruntime_qnn"
    found = {"the path given": tmp_path / "given", qnn_library.VARIABLE: tmp_path / "variable", **sdk}
    found["onnxruntime_qnn"] = package
    for folder in found.values():
        folder.mkdir(parents=True)
        shutil.copy(standin.path, folder / LIBRARY)
    (package / "__init__.py").write_text("raise AssertionError('imported')\n", encoding="utf-8")
    monkeypatch.setenv(qnn_library.VARIABLE, str(found[qnn_library.VARIABLE] / LIBRARY))
    for name in qnn_library.SDK_VARIABLES:
        monkeypatch.setenv(name, str(tmp_path / name))
    return found


def _origin(given: Path | None = None) -> str:
    backend = QnnHtp(given)
    backend.close()
    described = backend.describe()
    assert described.tried[-1].outcome == "loaded"
    assert described.path == described.tried[-1].path
    return described.tried[-1].origin


def test_the_order_of_the_search(places: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The order is the given path, the variable, the SDK by either variable, and the installed package."""
    assert _origin(places["the path given"] / LIBRARY) == "the path given"
    assert _origin() == "HTPPOWER_QNN_LIBRARY"
    monkeypatch.delenv("HTPPOWER_QNN_LIBRARY")
    assert _origin() == "QNN_SDK_ROOT"
    # Windows removes no library that is loaded.
    monkeypatch.setenv("QNN_SDK_ROOT", str(places["QNN_SDK_ROOT"] / "none"))
    assert _origin() == "QAIRT_SDK_ROOT"
    monkeypatch.delenv("QAIRT_SDK_ROOT")
    assert _origin() == "onnxruntime_qnn"


def test_what_was_tried_is_described(places: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every step up to the chosen one is described with its result, and so is the choice."""
    monkeypatch.delenv("HTPPOWER_QNN_LIBRARY")
    shutil.rmtree(places["QNN_SDK_ROOT"])
    backend = QnnHtp()
    backend.close()
    missing, chosen = map(str, backend.describe().tried)
    assert missing == f"QNN_SDK_ROOT: {places['QNN_SDK_ROOT'] / LIBRARY}: no such file"
    assert chosen == f"QAIRT_SDK_ROOT: {places['QAIRT_SDK_ROOT'] / LIBRARY}: loaded"
    assert str(places["QAIRT_SDK_ROOT"] / LIBRARY) in backend.describe().library


def test_the_newest_compiler_of_an_sdk_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest compiler's folder for a target wins, by number and not by letter."""
    monkeypatch.setattr(qnn_library, "machine", lambda: "aarch64")
    monkeypatch.setattr(qnn_library, "operating_system", lambda: "linux")
    monkeypatch.setenv("QNN_SDK_ROOT", str(tmp_path))
    for compiler in ("gcc9.3", "gcc11.2", "gcc8.2"):
        folder = tmp_path / "lib" / f"aarch64-oe-linux-{compiler}"
        folder.mkdir(parents=True)
        (folder / "libQnnHtp.so").write_bytes(elf(40))
    with pytest.raises(BackendUnavailable) as caught:
        QnnHtp()
    assert "gcc11.2" in caught.value.message


def _unavailable(given: Path | None = None) -> BackendUnavailable:
    with pytest.raises(BackendUnavailable) as caught:
        QnnHtp(given)
    return caught.value


# From 3.15 on pathlib imports glob at its first use, when the path is already empty.
_SEARCH = """
import glob, json, sys
from htppower.backends import QnnHtp
from htppower.errors import BackendUnavailable
sys.path[:] = sys.argv[1:]
try:
    QnnHtp()
except BackendUnavailable as error:
    assert all(str(step) in str(error) for step in error.tried)
    print(json.dumps([error.reason.name, [str(step) for step in error.tried], error.hint]))
"""


def _search(folder: Path, *entries: str, **environment: str) -> tuple[str, list[str], str]:
    """Search in a separate process: in this process the loader may have the library already."""
    done = subprocess.run(
        [sys.executable, "-c", _SEARCH, *entries],
        cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    reason, tried, hint = json.loads(done.stdout)
    return reason, tried, hint


def test_nothing_found_says_every_step(tmp_path: Path) -> None:
    """The error lists every place, and says what to do."""
    reason, tried, hint = _search(tmp_path, QNN_SDK_ROOT=str(tmp_path), QAIRT_SDK_ROOT="relative")
    assert reason == "NOT_FOUND"
    assert [step.split(": ")[0] for step in tried] == [
        "QNN_SDK_ROOT",
        "QAIRT_SDK_ROOT",
        "onnxruntime_qnn",
        "the system's loader",
    ]
    assert tried[1:3] == ["QAIRT_SDK_ROOT: relative: not an absolute path", "onnxruntime_qnn: not installed"]
    assert "set HTPPOWER_QNN_LIBRARY" in hint


@pytest.mark.parametrize(
    "how", ["current directory", "package there", "link to it", "empty search path", "relative search path"]
)
def test_the_current_directory_is_never_searched(standin: Standin, tmp_path: Path, how: str) -> None:
    """A library or package in the current directory is not used, whatever the search paths hold."""
    here = tmp_path / "here"
    (here / "onnxruntime_qnn").mkdir(parents=True)
    (here / "onnxruntime_qnn" / "__init__.py").touch()
    (here / "lib").mkdir()
    for folder in (here, here / "onnxruntime_qnn", here / "lib"):
        shutil.copy(standin.path, folder / LIBRARY)
    link = tmp_path / "link"
    link.symlink_to(here)
    entries = {"package there": ["", str(here), "."], "link to it": [str(link)]}.get(how, [])
    searched = {"empty search path": "/nowhere:", "relative search path": "/nowhere:lib"}
    environment = {"LD_LIBRARY_PATH": searched[how]} if how in searched else {}
    reason, tried, _ = _search(here, *entries, **environment)
    assert reason == "NOT_FOUND"
    assert standin.trace == []
    assert ("skipped" in tried[-1]) == (how in searched)


@pytest.mark.needs("search path")
def test_a_library_on_the_search_path_is_found(standin: Standin, tmp_path: Path) -> None:
    """The system's loader finds a library in an absolute folder of LD_LIBRARY_PATH."""
    done = subprocess.run(
        [sys.executable, "-c", _SEARCH, str(tmp_path)],
        env={**os.environ, "LD_LIBRARY_PATH": str(standin.path.parent)},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "NOT_FOUND" not in done.stdout
    assert functions(standin.trace)[0] == "QnnInterface_getProviders"


def test_a_named_library_is_not_replaced(
    places: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A missing or relative path or variable is an error, even if other places have a library."""
    assert places
    error = _unavailable(tmp_path / "missing.so")
    assert error.tried == (Step("the path given", str(tmp_path / "missing.so"), "no such file"),)
    assert "correct the path" in error.hint
    monkeypatch.setenv("HTPPOWER_QNN_LIBRARY", LIBRARY)
    error = _unavailable()
    assert error.reason is Unavailable.NOT_FOUND
    assert error.tried == (Step("HTPPOWER_QNN_LIBRARY", LIBRARY, "not an absolute path"),)
    assert "unset it" in error.hint


@pytest.mark.needs("open files")
def test_a_current_directory_that_is_gone(tmp_path: Path) -> None:
    """The search works if the current directory does not exist any more."""
    script = "import os, sys; os.rmdir(os.getcwd()); os.execv(sys.executable, sys.argv[1:])"
    gone = tmp_path / "gone"
    gone.mkdir()
    command = [sys.executable, "-c", script, sys.executable, "-c", _SEARCH, str(tmp_path)]
    done = subprocess.run(command, cwd=gone, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)[0] == "NOT_FOUND", done.stderr


def test_a_file_that_may_not_be_read(standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says that the library can't be read."""
    monkeypatch.setattr(os, "access", lambda _path, _mode: False)
    error = _unavailable(standin.path)
    assert error.reason is Unavailable.NOT_FOUND
    assert error.tried[-1].outcome == "permission denied"


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    """A folder or a FIFO with the library's name is refused, and the FIFO is not read."""
    fifo, full = tmp_path / "fifo", tmp_path / "full"
    os.mkfifo(fifo)
    full.mkdir()
    (full / LIBRARY).touch()
    outcomes = {path: _unavailable(path).tried[-1].outcome for path in (fifo, full)}
    assert outcomes == {fifo: "no such file", full: f"a folder; name the file, {full / LIBRARY}"}


def test_an_sdk_for_other_targets(tmp_path: Path) -> None:
    """A missing SDK, and an SDK with the library for other targets only, have different errors."""
    other = tmp_path / "lib" / "aarch64-android"
    other.mkdir(parents=True)
    (other / LIBRARY).touch()
    environment = {"QNN_SDK_ROOT": str(tmp_path), "QAIRT_SDK_ROOT": str(tmp_path / "nowhere")}
    _, tried, _ = _search(tmp_path, **environment)
    assert tried[0].endswith(": no such file; the SDK has it for aarch64-android")
    assert any(step.startswith("QAIRT_SDK_ROOT") and step.endswith("no such folder") for step in tried)


def test_a_file_that_can_not_be_loaded(tmp_path: Path) -> None:
    """The error has the loader's message."""
    path = tmp_path / LIBRARY
    path.write_text("not a library\n" * 10, encoding="utf-8")
    error = _unavailable(path)
    assert error.reason is Unavailable.NOT_LOADABLE
    assert error.tried[-1].path == str(path)
    assert ("WinError 193" if WINDOWS else "invalid ELF header") in error.tried[-1].outcome
    assert error.tried[-1].outcome in str(error)
    assert "this is not a library" in error.hint


def test_a_library_without_the_symbol(tmp_path: Path) -> None:
    """The error says that the library does not export the providers."""
    error = _unavailable(compile_standin(tmp_path, WITHOUT_PROVIDERS))
    assert error.reason is Unavailable.SYMBOL_MISSING
    assert "does not export QnnInterface_getProviders" in str(error)


@pytest.mark.parametrize(
    ("words", "absent"),
    [
        ("libQnnHtp.so: cannot open shared object file: No such file or directory", True),
        ("Error loading shared library libQnnHtp.so: No such file or directory", True),
        ('dlopen failed: library "libQnnHtp.so" not found', True),
        ("Could not find module 'libQnnHtp.so' (or one of its dependencies)", True),
        ("libcdsprpc.so: cannot open shared object file: No such file or directory", False),
        ('dlopen failed: library "libcdsprpc.so" not found: needed by /vendor/lib64/libQnnHtp.so', False),
        ("libQnnHtp.so: undefined symbol: remote_handle_open", False),
    ],
)
def test_a_missing_library_is_told_from_a_missing_dependency(
    words: str, absent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The loader's message shows whether the library itself is missing, or a dependency."""

    def refuse(_name: str, **_mode: object) -> Iterator[None]:
        raise OSError(words)

    monkeypatch.setattr(qnn_library, "library_name", lambda: "libQnnHtp.so")
    monkeypatch.setattr(ctypes, "CDLL", refuse)
    error = _unavailable()
    assert error.reason is (Unavailable.NOT_FOUND if absent else Unavailable.NOT_LOADABLE)
    assert words in str(error.tried[-1])


def test_a_system_without_gccs_runtime_loads_it_all_the_same(standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without GCC's unwinder, none is loaded first, and nothing is logged."""
    monkeypatch.setattr(qnn_library, "UNWINDER", "libgcc_s.so.none")
    assert qnn_library.load_library(standin.path).path == str(standin.path)
