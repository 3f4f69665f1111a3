"""Diagnoses of the stand-in on a machine in a folder, and the scripts of libraries that can't be opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.standin import ALWAYS

from htppower.tools.doctor.diagnosis import Diagnosis, diagnose

if TYPE_CHECKING:
    from support.fake_machine import FakeMachine
    from support.standin import Standin

SOC0 = "/sys/devices/soc0"
DEVICES = "--device /dev/fastrpc-cdsp --device /dev/dma_heap/system"
GROUPS = '--group-add "$(stat -c %g /dev/fastrpc-cdsp)" --group-add "$(stat -c %g /dev/dma_heap/system)"'
FOLDERS = ("/usr/lib/dsp", "/usr/lib/rfsa", "/usr/share/qcom")
MOUNTS = " ".join(f"-v {folder}:{folder}:ro" for folder in FOLDERS)
NAME = "-e MACHINE_NAME=\"$(tr -d '\\0' < /sys/firmware/devicetree/base/model)\""
DOCKER = f"docker run {DEVICES} {GROUPS} {MOUNTS} {NAME} IMAGE"
KERNEL_LOG = "sudo dmesg | grep -i fastrpc"
NO_FILE = "cannot open shared object file: No such file or directory"


def fails(code: int, *errors: str) -> tuple[str, ...]:
    """Return the script of a library whose deviceCreate logs errors and returns a code."""
    return (*(f"log deviceCreate 1 {text}" for text in errors), f"deviceCreate 1 {ALWAYS} {code} 0")


def opened(code: int) -> tuple[str, ...]:
    """Return the script of a library for which FastRPC refuses to open the link."""
    return fails(14001, f"DspTransport.openSession qnn_open failed, 0x{code:08x}, prio 100", "Failed to load skel")


def diagnosed(standin: Standin, machine: FakeMachine, *script: str) -> Diagnosis:
    """Return the diagnosis of the stand-in on the machine. No fact of it fails."""
    standin.script(*script)
    diagnosis = diagnose(str(standin.path), None, (), machine.here())
    assert diagnosis.failures == ()
    return diagnosis
