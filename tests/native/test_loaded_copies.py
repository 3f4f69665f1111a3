"""A copy of the library that the process has loaded already: it is used, and a second copy is refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from support.standin import Standin, compile_standin

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.needs("descriptors")

# Names the library for the loader, as the vendor's library is named.
NAMED = "-Wl,-soname,libQnnHtp.so"
# Loads the libraries of the first argument, then opens a backend with the keywords of the second.
_HOST = """
import ctypes, json, logging, os, sys
logging.basicConfig(format="%(message)s")
from htppower.backends import QnnHtp
from htppower.errors import BackendUnavailable
loaded, given, remove = map(json.loads, sys.argv[1:])
hosts = [ctypes.CDLL(path) for path in loaded]
for path in remove:
    os.unlink(path)
try:
    backend = QnnHtp(**given)
except BackendUnavailable as error:
    print(json.dumps({"reason": error.reason.name, "text": str(error)}))
else:
    described = backend.describe()
    backend.close()
    print(json.dumps({"path": described.path, "library": described.library, "tried": list(map(str, described.tried))}))
"""


class Host:
    """Runs a process that loads copies of the library first."""

    def __init__(self, standin: Standin, folder: Path) -> None:
        self.library = standin.path
        self.folder = folder
        self.log: list[str] = []

    def copy(self, *folders: str) -> Path:
        """Return another copy of the library, in this folder of the host's."""
        path = self.folder.joinpath(*folders, "libQnnHtp.so")
        path.parent.mkdir(parents=True)
        shutil.copy(self.library, path)
        return path

    def open(self, *loaded: Path, remove: tuple[Path, ...] = (), variables: Any = None, **given: Any) -> dict[str, Any]:
        """Return what a backend describes, or its error, in a process that has loaded these files."""
        hidden = ("HTPPOWER_QNN_LIBRARY", "QNN_SDK_ROOT", "QAIRT_SDK_ROOT", "LD_LIBRARY_PATH")
        environment = {name: value for name, value in os.environ.items() if name not in hidden}
        arguments = [list(map(str, loaded)), given, list(map(str, remove))]
        done = subprocess.run(
            [sys.executable, "-c", _HOST, *map(json.dumps, arguments)],
            env=environment | (variables or {}), capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        # The stand-in also logs.
        self.log = [line for line in done.stderr.splitlines() if line.startswith("votes go to")]
        # The stand-in prints a line of its own later.
        found: dict[str, Any] = json.loads(done.stdout.partition("\n")[0])
        return found


@pytest.fixture
def host(standin: Standin, tmp_path: Path) -> Host:
    """Return a host whose folder has a space in its name."""
    folder = tmp_path / "a folder"
    folder.mkdir()
    return Host(standin, folder)


def test_the_loaded_copy_is_taken(host: Host, standin: Standin) -> None:
    """It is used before the SDK and the package are searched, and the steps say that it was loaded."""
    loaded = host.copy("host's own")
    sdk = {"QNN_SDK_ROOT": str(host.folder)}
    found = host.open(loaded, variables=sdk)
    assert found["path"] == str(loaded)
    assert found["tried"] == [f"loaded already by this process: {loaded}: loaded"]
    assert found["library"].endswith("from loaded already by this process")
    assert standin.calls("deviceCreate")
    assert host.log == []


def test_without_a_loaded_copy_the_search_goes_on(host: Host) -> None:
    """Nothing says that a library was loaded if none was."""
    found = host.open(library=str(host.library))
    assert found["tried"] == [f"the path given: {host.library}: loaded"]


@pytest.mark.parametrize("how", ["argument", "variable"])
def test_a_second_copy_is_refused(host: Host, how: str, standin: Standin) -> None:
    """The error names both files and what to do, whether the path or the variable names the second copy."""
    loaded, other = host.copy("loaded"), host.copy("other")
    if how == "argument":
        error = host.open(loaded, library=str(other))
        assert "omit the path to use the loaded copy" in error["text"]
    else:
        error = host.open(loaded, variables={"HTPPOWER_QNN_LIBRARY": str(other)})
        assert "unset HTPPOWER_QNN_LIBRARY to use the loaded copy" in error["text"]
    assert error["reason"] == "ALREADY_LOADED"
    assert f"{other} would be a second copy of the library: this process has loaded {loaded}" in error["text"]
    assert "second_copy=True" in error["text"]
    assert standin.trace == []


def test_a_second_copy_can_be_forced(host: Host) -> None:
    """With second_copy=True the search takes place as if no copy was loaded."""
    loaded, other = host.copy("loaded"), host.copy("other")
    assert host.open(loaded, library=str(other), second_copy=True)["path"] == str(other)
    variables = {"HTPPOWER_QNN_LIBRARY": str(other)}
    assert host.open(loaded, variables=variables, second_copy=True)["path"] == str(other)


def test_a_copy_that_only_htppower_has_loaded_is_no_obstacle(host: Host) -> None:
    """A host may try one file after the other: a closed backend, or one that failed, keeps no other file out."""
    one, other = host.copy("one"), host.copy("other")
    code = (
        "import sys\nfrom htppower.backends import QnnHtp\nQnnHtp(sys.argv[1]).close()\nopened = QnnHtp(sys.argv[2])\n"
        "print(opened.describe().path)\nopened.close()"
    )
    command = [sys.executable, "-c", code, str(one), str(other)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert str(other) in done.stdout.splitlines()


def test_a_provider_is_given_the_loaded_copy(host: Host) -> None:
    """ONNX Runtime is told the file that the process has loaded; the package's own only if no other is loaded."""
    loaded, own = host.copy("loaded"), host.copy("own")
    code = (
        "import ctypes, sys\nfrom htppower.backends.qnn.loaded import file_in_use\n"
        "_, loaded, own = sys.argv\nfor path in (None, loaded, own):\n"
        "    path and ctypes.CDLL(path)\n    print(file_in_use(own, 'libQnnHtp.so'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(loaded), str(own)], capture_output=True, text=True, check=True
    )
    assert [line for line in done.stdout.splitlines() if "line on" not in line] == list(map(str, (own, loaded, own)))


@pytest.mark.parametrize("link", ["symbolic", "hard"])
@pytest.mark.parametrize("loaded_by_link", [True, False])
def test_a_link_is_the_same_copy(host: Host, link: str, loaded_by_link: bool) -> None:
    """The same file under two paths is one copy, whichever path was loaded."""
    file = host.copy("file")
    other = host.folder / "link.so"
    (other.symlink_to if link == "symbolic" else other.hardlink_to)(file)
    loaded, named = (other, file) if loaded_by_link else (file, other)
    if link == "hard" and loaded_by_link:
        loaded = host.folder / "other name" / file.name
        loaded.parent.mkdir()
        other.rename(loaded)
    found = host.open(loaded, library=str(named))
    assert found["path"] == str(named)
    assert [step.split(": ")[-1] for step in found["tried"]] == ["the same file", "loaded"]


def test_of_two_copies_the_one_of_the_search_is_taken(host: Host, tmp_path: Path) -> None:
    """The copy of the SDK is taken although the other was loaded first; the steps and the log name both."""
    host.library = compile_standin(tmp_path, NAMED)
    machine = {"x86_64": "x86_64-linux-clang", "aarch64": "aarch64-oe-linux-gcc11.2"}[os.uname().machine]
    first = host.copy("first")
    sdk = host.copy("sdk", "lib", machine)
    found = host.open(first, sdk, variables={"QNN_SDK_ROOT": str(host.folder / "sdk")})
    assert found["path"] == str(sdk)
    assert found["tried"][0] == f"loaded already by this process: {first}: not chosen: the search finds {sdk} first"
    assert host.log == [f"votes go to {sdk}, but this process has also loaded {first}"]
    # The last step of the search is the loader, which gives the copy that was loaded first.
    assert host.open(first, sdk)["path"] == str(first)
    assert host.open(sdk, first)["path"] == str(sdk)


def test_a_deleted_file_can_still_be_used(host: Host) -> None:
    """A copy that was upgraded or removed while it is loaded is used as it is."""
    loaded = host.copy("removed")
    assert host.open(loaded, remove=(loaded,))["path"] == str(loaded)


def test_a_copy_in_memory_is_used(tmp_path: Path, standin: Standin) -> None:
    """A library without a file, such as one in an APK, is known by the name that it has for the loader."""
    named = compile_standin(tmp_path, NAMED)
    code = """
import ctypes, os, sys
from htppower.backends import QnnHtp
file = os.memfd_create(sys.argv[2])
os.write(file, open(sys.argv[1], "rb").read())
held = ctypes.CDLL(f"/proc/self/fd/{file}")
backend = QnnHtp()
backend.close()
print(backend.describe().path, backend.describe().tried[-1].origin)
"""
    for name, path in (("libQnnHtp.so", "/memfd:libQnnHtp.so"), ("anything", "libQnnHtp.so")):
        command = [sys.executable, "-c", code, str(named), name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.stdout.startswith(f"{path} loaded already by this process\n"), done.stderr
    assert standin.calls("deviceCreate")


def test_a_copy_that_was_unloaded_is_forgotten(host: Host) -> None:
    """A refusal does not keep the loaded copy in the process: after the host has unloaded it, another is loaded."""
    loaded, other = host.copy("loaded"), host.copy("other")
    code = """
import _ctypes, ctypes, sys
from htppower.backends import QnnHtp
from htppower.errors import BackendUnavailable
held = ctypes.CDLL(sys.argv[1])
try:
    QnnHtp(sys.argv[2])
except BackendUnavailable as error:
    print(error.reason.name)
_ctypes.dlclose(held._handle)
backend = QnnHtp(sys.argv[2])
backend.close()
print(backend.describe().path)
"""
    command = [sys.executable, "-c", code, str(loaded), str(other)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split("\n")[:2] == ["ALREADY_LOADED", str(other)], done.stderr
