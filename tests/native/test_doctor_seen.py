"""Causes that ``htppower doctor`` sees on the machine or in the variables, and its lines for a container."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.diagnoses import DOCKER, NO_FILE, diagnosed, fails, opened
from support.fake_machine import LIBRARIES, FakeMachine

from htppower.backends.qnn.library import VARIABLE, library_name
from htppower.tools.doctor.diagnosis import diagnose
from htppower.tools.doctor.document import as_document
from htppower.tools.doctor.report import blocks
from htppower.tools.report.as_text import as_text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.standin import Standin

pytestmark = pytest.mark.needs("modes")


@pytest.fixture
def machine(tmp_path: Path) -> FakeMachine:
    """Return a board with all that the NPU needs."""
    return FakeMachine(tmp_path / "machine")


@pytest.mark.parametrize("container", [False, True])
def test_missing_programs_of_the_process_domain_are_seen(
    standin: Standin, machine: FakeMachine, container: bool
) -> None:
    """On a board their package is missing; a container mounts their folders, and gives the name of the board."""
    machine.without("usr/share/qcom/**/fastrpc_shell_*")
    if container:
        machine.having(".dockerenv")
    first, last = diagnosed(standin, machine, *opened(0x80000401)).causes
    # A code that only says that the call failed is less than what is seen.
    assert (first.id, last.id) == ("shells_missing", "fastrpc_failed")
    assert "are in none of /usr/lib/dsp, /usr/lib/rfsa, /usr/share/qcom" in first.says
    (line,) = first.lines
    assert line == (DOCKER if container else "sudo find / -xdev -name 'fastrpc_shell_*'")


def test_the_lines_of_other_causes_are_whole(standin: Standin, machine: FakeMachine) -> None:
    """They can be pasted into a shell, whatever the width of the terminal."""
    machine.without("usr/share/qcom/**/fastrpc_shell_*").having(".dockerenv")
    document = as_document(diagnosed(standin, machine, *opened(0x8A)))
    assert [cause["id"] for cause in document["other_causes"]] == ["shells_missing"]
    assert f"type        {DOCKER}" in as_text(blocks(document), 60).splitlines()


@pytest.mark.parametrize(
    "change", [lambda machine: machine.closing("system"), lambda machine: machine.without("dev/dma_heap/*")]
)
def test_a_heap_that_can_not_be_opened_is_seen(
    standin: Standin, machine: FakeMachine, change: Callable[[FakeMachine], object]
) -> None:
    """FastRPC needs it for the programs of the process domain, so it may be the cause of any open that fails."""
    change(machine)
    causes = diagnosed(standin, machine, *opened(0x80000401)).causes
    assert [cause.id for cause in causes] == ["no_shared_memory", "fastrpc_failed"]


@pytest.mark.parametrize(
    ("variable", "value", "says", "line"),
    [
        (VARIABLE, "{folder}", "{folder}: a folder; name the file", f"export {VARIABLE}={{library}}"),
        (VARIABLE, "/not/there.so", "/not/there.so: no such file", f"unset {VARIABLE}"),
        (VARIABLE, "lib.so", "lib.so: not an absolute path", f"unset {VARIABLE}"),
        ("QNN_SDK_ROOT", "/opt/qairt", "QNN_SDK_ROOT: /opt/qairt/lib", f"find /opt/qairt -name {library_name()}"),
    ],
)
def test_a_variable_that_leads_to_no_library(
    standin: Standin,
    machine: FakeMachine,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    says: str,
    line: str,
) -> None:
    """The cause has the variable, the place and what is wrong there."""
    names = {"folder": str(standin.path.parent), "library": str(standin.path)}
    monkeypatch.setenv(variable, value.format(**names))
    machine.environment[variable] = value.format(**names)
    monkeypatch.setattr("sys.path", [])
    first = diagnose(None, None, (), machine.here()).causes[0]
    assert (first.id, first.lines) == ("library_missing", (line.format(**names),))
    assert says.format(**names) in first.says


def test_fastrpc_is_installed_in_the_image_of_a_container(standin: Standin, machine: FakeMachine) -> None:
    """There the line is one of the Dockerfile."""
    machine.without(f"{LIBRARIES}/*").having(".dockerenv").having("etc/os-release", "ID=debian\nVERSION_ID=13\n")
    missing = fails(14001, f"stub not loaded: libcdsprpc.so: {NO_FILE}")
    lines = diagnosed(standin, machine, *missing).causes[0].lines
    assert lines == ("RUN apt update && apt install -y libfastrpc1 libfastrpc-dev fastrpc-support",)
    machine.having(f"{LIBRARIES}/libcdsprpc.so.1")
    lines = diagnosed(standin, machine, *missing).causes[0].lines
    assert lines == (f"RUN ln -s libcdsprpc.so.1 /{LIBRARIES}/libcdsprpc.so",)
