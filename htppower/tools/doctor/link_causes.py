"""Causes on the way to the DSP: FastRPC, the stub, the state of the DSP, its other users, process domains."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from htppower.backends.qnn.library import PACKAGE
from htppower.tools.doctor.answers import LINK_FAILS
from htppower.tools.doctor.causes import Cause, Evidence, never, on_linux, pip_install
from htppower.tools.doctor.containers import run_lines
from htppower.tools.doctor.fastrpc import FASTRPC
from htppower.tools.doctor.machine import SHELL_FOLDERS
from htppower.tools.report.words import sentence
from htppower.tools.review.explain.fastrpc_codes import Mend
from htppower.tools.review.explain.log_texts import LogText
from htppower.votes.native_codes import DEVICE_ACCESS_DENIED, DEVICE_INVALID_CONFIG

if TYPE_CHECKING:
    from htppower.tools.doctor.machine import Machine

_HAS_ANOTHER_USER = 1009
# The packages of FastRPC. Ubuntu has the second kind in a PPA of the vendor up to this version.
_DEBIAN = "libfastrpc1 libfastrpc-dev fastrpc-support"
_UBUNTU_PPA = "qcom-fastrpc1 qcom-fastrpc-dev"
_FIRST_UBUNTU_WITH_DEBIANS = (26, 10)
_ADD_PPA = "apt-add-repository -y ppa:ubuntu-qcom-iot/qcom-ppa"


def _not_opened(evidence: Evidence) -> bool:
    return evidence.code == DEVICE_INVALID_CONFIG


def _missing_file(evidence: Evidence) -> str:
    message = evidence.log.message(LogText.LIBRARY_MISSING)
    return "" if message is None else Path(message.file).name


def _install(machine: Machine, *, only_upgrade: bool = False) -> tuple[str, ...]:
    name, _, version = machine.distribution.partition(" ")
    if name not in ("ubuntu", "debian"):
        return ()
    numbers = tuple(int(part) for part in version.split(".") if part.isdecimal())
    packages = _UBUNTU_PPA if name == "ubuntu" and numbers < _FIRST_UBUNTU_WITH_DEBIANS else _DEBIAN
    if only_upgrade:
        packages = machine.fastrpc.package or packages
        return _in_image(machine, f"apt install --only-upgrade {packages}")
    ppa = packages == _UBUNTU_PPA
    if machine.container:
        adding = f"software-properties-common && {_ADD_PPA} && apt install -y " if ppa else ""
        return (f"RUN apt update && apt install -y {adding}{packages}",)
    return (*((f"sudo {_ADD_PPA}",) if ppa else ()), f"sudo apt install {packages}")


def _in_image(machine: Machine, command: str) -> tuple[str, ...]:
    """Return a command that changes the files of the system; in a container, as a line of its Dockerfile."""
    return (f"{'RUN' if machine.container else 'sudo'} {command}",)


def _says_no_fastrpc(evidence: Evidence) -> str:
    machine = evidence.machine
    if machine.system == "android":
        name = f'<uses-native-library android:name="{FASTRPC}" android:required="false"/>'
        return f"FastRPC ({FASTRPC}) is not found. An app names it in its manifest: {name}."
    if machine.fastrpc.libraries:
        return f"The loader does not find {FASTRPC}, although {machine.fastrpc.libraries[0]} is there."
    container = " Install it in the image of the container, or mount the host's file." if machine.container else ""
    return f"FastRPC ({FASTRPC}), through which the library reaches the DSP, is not installed.{container}"


def _fastrpc_said(evidence: Evidence) -> bool:
    named = _missing_file(evidence).startswith(FASTRPC)
    return _not_opened(evidence) and named and not evidence.machine.fastrpc.lacks_link


def _lines_for_fastrpc(evidence: Evidence) -> tuple[str, ...]:
    machine = evidence.machine
    return _in_image(machine, "ldconfig") if machine.fastrpc.libraries else _install(machine)


def _lines_for_link(evidence: Evidence) -> tuple[str, ...]:
    version = min(evidence.machine.fastrpc.libraries)
    return _in_image(evidence.machine, f"ln -s {Path(version).name} {Path(version).parent.as_posix()}/{FASTRPC}")


def _symbol(evidence: Evidence) -> str:
    message = evidence.log.message(LogText.SYMBOL_MISSING)
    return "" if message is None else message.file


def _says_symbol(evidence: Evidence) -> str:
    fastrpc = evidence.machine.fastrpc
    version = f" {fastrpc.version}" if fastrpc.version else ""
    return f"FastRPC{version} lacks the function {_symbol(evidence)}, which the library calls: update it."


def _stub_is_missing(evidence: Evidence) -> bool:
    return _not_opened(evidence) and "Stub" in _missing_file(evidence)


def _lines_for_stub(evidence: Evidence) -> tuple[str, ...]:
    folder = Path(evidence.library).parent
    if PACKAGE in folder.parts:
        return (pip_install("--force-reinstall onnxruntime-qnn"),)
    if evidence.machine.system == "windows":
        return ()
    return (f"cp /FOLDER/OF/THE/RELEASE/{_missing_file(evidence)} {shlex.quote(str(folder))}/",)


def _dsp_said(evidence: Evidence) -> bool:
    if evidence.of_opening:
        return evidence.mend is Mend.DSP_DOWN
    return evidence.code in LINK_FAILS


def _dsp_seen(evidence: Evidence) -> bool:
    return _not_opened(evidence) and evidence.machine.stopped_dsp is not None


def _says_dsp(evidence: Evidence) -> str:
    stopped = evidence.machine.stopped_dsp
    if stopped is not None:
        nodes = "" if evidence.machine.npu_nodes else " The kernel makes its device nodes when it starts."
        why = "If it does not start, the kernel's log says why (sudo dmesg | grep -i remoteproc)."
        return f"{evidence.fastrpc}The DSP of the NPU ({stopped.name}) is {stopped.state}.{nodes} {why}"
    return f"{evidence.fastrpc}The DSP does not answer: it restarts, or is down."


def _lines_for_dsp(evidence: Evidence) -> tuple[str, ...]:
    stopped = evidence.machine.stopped_dsp
    if stopped is None:
        return ("grep . /sys/class/remoteproc/*/name /sys/class/remoteproc/*/state",)
    start = f"echo start | sudo tee {stopped.path}/state"
    # The kernel starts a crashed processor only after it was stopped.
    return (f"echo stop | sudo tee {stopped.path}/state", start) if stopped.state == "crashed" else (start,)


def _lines_for_users(evidence: Evidence) -> tuple[str, ...]:
    nodes = " ".join(node.path for node in evidence.machine.npu_nodes) or "/dev/fastrpc-cdsp"
    return (f"sudo fuser -v {nodes}",)


def _says_failed(evidence: Evidence) -> str:
    mend = evidence.mend or Mend.LOG
    unknown = evidence.log.unknown_code
    says = evidence.fastrpc or (
        f"FastRPC answers 0x{unknown:x}, which is not in the tables of htppower. " if unknown else ""
    )
    return f"{says}{sentence(mend.value)}."


def _shells_missing(evidence: Evidence) -> bool:
    machine = evidence.machine
    can_open = any(node.may_open for node in machine.npu_nodes)
    return _not_opened(evidence) and machine.system == "linux" and can_open and not machine.shells


def _says_shells(evidence: Evidence) -> str:
    whose = "They belong to the firmware of the board"
    mend = f"{whose}: install its package."
    if evidence.machine.container:
        mend = f"{whose}: mount those folders that the host has."
    folders = ", ".join(SHELL_FOLDERS)
    return f"The programs of the process domain, fastrpc_shell_unsigned_3, are in none of {folders}. {mend}"


def _lines_for_shells(evidence: Evidence) -> tuple[str, ...]:
    if evidence.machine.container:
        return run_lines(evidence.machine)
    return ("sudo find / -xdev -name 'fastrpc_shell_*'",)


def _unsigned_refused(evidence: Evidence) -> bool:
    """Return whether no open was tried: the log has no code of FastRPC, though all that an open needs is there."""
    machine = evidence.machine
    if not _not_opened(evidence) or evidence.log.failed_open or evidence.soc_model is not None:
        return False
    if evidence.log.message(LogText.UNSIGNED_REFUSED, error=True) is not None:
        return True
    can_open = any(node.may_open for node in machine.npu_nodes)
    loads = not _missing_file(evidence) and not _symbol(evidence) and bool(machine.fastrpc.libraries)
    return can_open and loads and not machine.fastrpc.lacks_link and machine.stopped_dsp is None


LINK_CAUSES = (
    Cause(
        "fastrpc_link_missing",
        lambda evidence: (
            _not_opened(evidence) and evidence.machine.fastrpc.lacks_link and not _stub_is_missing(evidence)
        ),
        never,
        lambda _: f"FastRPC is installed without its development link: {FASTRPC}.1 is there, {FASTRPC} is not.",
        on_linux(_lines_for_link),
    ),
    Cause(
        "fastrpc_missing",
        _fastrpc_said,
        lambda evidence: _not_opened(evidence) and not evidence.machine.fastrpc.libraries and evidence.machine.is_board,
        _says_no_fastrpc,
        on_linux(_lines_for_fastrpc),
    ),
    Cause(
        "fastrpc_symbol_missing",
        lambda evidence: _not_opened(evidence) and bool(_symbol(evidence)),
        never,
        _says_symbol,
        on_linux(lambda evidence: _install(evidence.machine, only_upgrade=True)),
    ),
    Cause(
        "stub_missing",
        _stub_is_missing,
        never,
        lambda evidence: (
            f"The stub {_missing_file(evidence)} of the library's release is missing in the folder of the library, "
            f"{Path(evidence.library).parent}."
        ),
        _lines_for_stub,
    ),
    Cause("dsp_down", _dsp_said, _dsp_seen, _says_dsp, on_linux(_lines_for_dsp)),
    Cause(
        "no_session",
        lambda evidence: evidence.of_opening and evidence.mend is Mend.USERS,
        never,
        lambda evidence: f"{evidence.fastrpc}All sessions of the DSP are in use: end one of its users.",
        on_linux(_lines_for_users),
    ),
    Cause(
        "skel_in_use",
        lambda evidence: evidence.code == _HAS_ANOTHER_USER,
        never,
        lambda _: "The skel, the DSP's half of the library, has another user and can't be shared: end that user.",
        on_linux(_lines_for_users),
    ),
    Cause(
        "device_busy",
        lambda evidence: evidence.code == DEVICE_ACCESS_DENIED,
        never,
        lambda _: "The device is busy, or banned for this process: end its other users.",
        on_linux(_lines_for_users),
    ),
    Cause(
        "fastrpc_failed",
        lambda evidence: (
            evidence.of_opening
            and (evidence.mend in (Mend.LOG, Mend.RETRY, Mend.UPDATE) or evidence.log.unknown_code is not None)
        ),
        never,
        _says_failed,
        on_linux(lambda _: ("sudo dmesg | grep -i fastrpc",)),
        vague=True,
    ),
    Cause("shells_missing", never, _shells_missing, _says_shells, on_linux(_lines_for_shells)),
    Cause(
        "unsigned_refused",
        _unsigned_refused,
        never,
        lambda _: (
            "The DSP, or its driver, refuses this process an unsigned process domain: FastRPC has reported no failed "
            "open. The kernel's log may say why; new firmware or a newer kernel may allow it."
        ),
        on_linux(lambda _: ("sudo dmesg | grep -i fastrpc",)),
    ),
)
