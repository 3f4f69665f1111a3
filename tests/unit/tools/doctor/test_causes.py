"""The lines to type fit the system of the machine."""

from __future__ import annotations

import re

import attrs
import pytest
from support.fake_machine import FakeMachine

from htppower.errors import BackendUnavailable, Step, Unavailable
from htppower.tools.doctor.attempts import Attempts
from htppower.tools.doctor.causes import Evidence, found_causes, pip_install
from htppower.tools.doctor.diagnosis import CAUSES
from htppower.tools.doctor.log_lines import read_log
from htppower.tools.doctor.machine import Machine, read_machine
from htppower.tools.doctor.skel_paths import SkelPaths

pytestmark = pytest.mark.needs("modes")

CODES = (None, 1002, 1005, 1008, 1009, 4000, 14001, 14002)
LOGGED = (
    "",
    "qnn_open failed 0x72",
    "qnn_open failed 0x4e",
    "qnn_open failed 0x8000048a",
    "qnn_open failed 0x80000406",
)
# Commands that the other systems do not have. A phone has a shell, but nobody is root in it.
FOREIGN = {
    "android": re.compile(r"\b(?:sudo|ln|docker|podman)\b"),
    "windows": re.compile(r"\b(?:sudo|unset|grep|cp|ln|docker|podman)\b|^export HTPPOWER"),
}


@pytest.fixture(params=["board", "bare"])
def machine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    """Return a board with a stopped DSP, and a machine with nothing that can be read."""
    fake = FakeMachine(tmp_path_factory.mktemp("machine"))
    if request.param == "bare":
        return read_machine(attrs.evolve(fake.here(), root=tmp_path_factory.mktemp("bare")), Attempts())
    fake.write("sys/class/remoteproc/remoteproc1/state", "offline\n")
    return read_machine(fake.here(), Attempts())


def lines_of(machine: Machine, code: int | None, logged: str) -> list[str]:
    """Return the lines of all causes of a failure."""
    tried = (Step("HTPPOWER_QNN_LIBRARY", "C:\\qnn\\QnnHtp.dll", "missing"),)
    reason = Unavailable.NOT_FOUND if code is None else Unavailable.DEVICE_CREATE_FAILED
    problem = BackendUnavailable(reason, "it failed", code=code, tried=tried)
    log = read_log([("ERROR", logged)] if logged else [])
    evidence = Evidence(machine, problem, log, {}, "C:\\qnn\\QnnHtp.dll", 75, None, SkelPaths())
    attempts = Attempts()
    found = found_causes(CAUSES, evidence, attempts)
    assert attempts.failures == []
    return [line for cause in found for line in cause.lines]


@pytest.mark.parametrize("logged", LOGGED)
@pytest.mark.parametrize("code", CODES)
def test_no_line_for_another_system(machine: Machine, code: int | None, logged: str) -> None:
    """A phone and a Windows laptop get no command of a Linux shell."""
    for system, foreign in FOREIGN.items():
        lines = lines_of(attrs.evolve(machine, system=system), code, logged)
        assert [line for line in lines if foreign.search(line)] == [], system


def test_a_package_is_installed_for_the_python_of_htppower(monkeypatch: pytest.MonkeyPatch) -> None:
    """If another pip comes first in PATH, the line names the Python."""
    monkeypatch.setattr("sys.executable", "/venv/bin/python")
    monkeypatch.setattr("shutil.which", lambda _: "/venv/bin/pip")
    assert pip_install("onnxruntime-qnn") == "pip install onnxruntime-qnn"
    for other in ("/usr/bin/pip", None):
        monkeypatch.setattr("shutil.which", lambda _, pip=other: pip)
        assert pip_install("onnxruntime-qnn").endswith("-m pip install onnxruntime-qnn")
