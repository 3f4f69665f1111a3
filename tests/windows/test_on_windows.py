"""What only Windows does: its console's arguments, exit codes, processes and open files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from htppower.control.clock.qcnpuperf import Qcnpuperf
from htppower.control.files.file_lock import lock, move
from htppower.control.status.process_identity import Life, life, place, started

pytestmark = pytest.mark.skipif(sys.platform != "win32", reason="only Windows does this")

COMMAND = (sys.executable, "-m", "htppower", "profile", "burst", "--backend", "simulated", "--")


def run(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program, and return its output and exit code."""
    return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=280, cwd=cwd)


def test_a_command_gets_its_arguments_as_they_were_given(tmp_path: Path) -> None:
    """Stars, variables and the tilde after -- are not replaced."""
    (tmp_path / "x.py").touch()
    given = ["*.py", "%OS%", "$OS", "~"]
    done = run(*COMMAND, sys.executable, "-c", "import sys; print(sys.argv[1:])", *given, cwd=tmp_path)
    assert str(given) in done.stdout, done.stderr


def test_a_pattern_of_files_is_replaced_by_the_command(tmp_path: Path) -> None:
    """Lint gets the files that match, and --exclude gets its pattern as it was given."""
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.yaml").write_text(f"profile: {name}\nsummary: Mine.\nextends: burst\n", encoding="utf-8")
    done = run(sys.executable, "-m", "htppower", "lint", "?.yaml", "--exclude", "c*", cwd=tmp_path)
    assert "2 files" in done.stdout, done.stderr


def test_a_batch_file_is_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program such as npm, which is npm.cmd, is found."""
    (tmp_path / "hello.cmd").write_text("@echo off\necho from a batch file\n", encoding="ascii")
    monkeypatch.setenv("PATH", f"{tmp_path};{os.environ['PATH']}")
    assert "from a batch file" in run(*COMMAND, "hello").stdout


def test_what_is_redirected_is_utf_8(tmp_path: Path) -> None:
    """The output of ``show`` can be linted, also with letters that the console's encoding lacks."""
    mine = tmp_path / "camera.yaml"
    mine.write_text("profile: camera\nextends: burst\nsummary: Für die Kamera, 写真.\n", encoding="utf-8")
    with (tmp_path / "shown.yaml").open("wb") as shown:
        subprocess.run([sys.executable, "-m", "htppower", "show", str(mine)], stdout=shown, check=True, timeout=280)
    assert "Für die Kamera, 写真." in (tmp_path / "shown.yaml").read_text(encoding="utf-8")


def test_the_exit_code_of_a_crash_is_kept() -> None:
    """A command that ends with an access violation gives its exit code to ``htppower profile``."""
    crash = "import ctypes; ctypes.windll.kernel32.ExitProcess(0xC0000005)"
    assert run(*COMMAND, sys.executable, "-c", crash).returncode == 0xC0000005


def test_it_is_known_whether_a_process_runs() -> None:
    """A process is running with its own start, gone with another start, and gone after it has ended."""
    own = started(os.getpid())
    assert own is not None
    assert life(os.getpid(), own, place()) is Life.RUNNING
    assert life(os.getpid(), own + 1, place()) is Life.GONE
    with subprocess.Popen([sys.executable, "-c", "pass"]) as ended:
        ended.wait()
        with pytest.raises(ProcessLookupError):
            started(ended.pid)


def test_a_locked_file_can_still_be_read(tmp_path: Path) -> None:
    """A second writer is refused the lock, and a reader reads the file."""
    path = tmp_path / "status.json"
    path.write_text("{}")
    with path.open("r+b", buffering=0) as first, path.open("r+b", buffering=0) as second:
        assert (lock(first), lock(second)) == (True, False)
        assert path.read_text() == "{}"


def test_a_file_is_moved_when_a_reader_has_closed_its_target(tmp_path: Path) -> None:
    """While a reader has the target open, the move is refused; then it succeeds."""
    new, target = tmp_path / "new", tmp_path / "target"
    new.write_text("new")
    target.write_text("old")
    with target.open(), pytest.raises(PermissionError):
        move(new, target)
    assert target.read_text() == "old"
    move(new, target)
    assert target.read_text() == "new"


def test_a_clock_of_linux_says_what_windows_has() -> None:
    """Without a path, no library is looked for that only Linux has."""
    with pytest.raises(OSError, match="meter:RAIL"):
        Qcnpuperf().open()


@pytest.mark.parametrize("event", [1, 2, 6])
def test_the_votes_are_lowered_when_the_console_ends_the_process(event: int) -> None:
    """Ctrl-Break, a closed window and a shutdown close the controller before Windows ends the process."""
    host = f"""
import ctypes, sys, threading
from htppower import VoteController
from htppower.backends import RecordingBackend, SimulatedHtp

recorder = RecordingBackend(SimulatedHtp())
controller = VoteController(recorder)
controller.session("burst").inference().__enter__()
kernel = ctypes.WinDLL("kernel32")
# The routine that Windows calls on a thread of its own. It ends the process when the handlers have returned.
kernel.GetModuleHandleW.restype = kernel.GetProcAddress.restype = ctypes.c_void_p
kernel.GetProcAddress.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
routine = kernel.GetProcAddress(kernel.GetModuleHandleW("kernelbase.dll"), b"CtrlRoutine")
ends = recorder.destroy_power_config_id
recorder.destroy_power_config_id = lambda number: (ends(number), print("destroyed", number, flush=True))
kernel.CreateThread(None, None, ctypes.c_void_p(routine), ctypes.c_void_p({event}), 0, None)
threading.Event().wait(100)
"""
    done = run(sys.executable, "-c", host)
    assert "destroyed" in done.stdout, done.stderr


def test_the_copy_of_the_library_that_is_loaded_is_taken(tmp_path: Path) -> None:
    """A library that a host has loaded, as Windows ML does, is used; a second copy is refused with both paths."""
    spec = find_spec("onnxruntime_qnn")
    if spec is None or spec.origin is None:
        pytest.skip("onnxruntime-qnn is not installed")
    package = Path(spec.origin).parent / "libs" / "amd64"
    shutil.copytree(package, tmp_path / "MSIX package")
    host = """
import ctypes, sys
from htppower.backends import QnnHtp
from htppower.errors import BackendUnavailable
loaded, other = sys.argv[1:]
held = ctypes.WinDLL(loaded)
backend = QnnHtp(soc_model=57)
print(*backend.describe().tried)
QnnHtp(loaded.upper(), 57).close()
try:
    QnnHtp(other, 57)
except BackendUnavailable as error:
    print(error)
backend.close()
"""
    loaded, other = tmp_path / "MSIX package" / "QnnHtp.dll", package / "QnnHtp.dll"
    done = run(sys.executable, "-c", host, str(loaded), str(other))
    assert f"loaded already by this process: {loaded}: loaded" in done.stdout, done.stderr
    assert f"{other} would be a second copy of the library: this process has loaded {loaded}" in done.stdout
