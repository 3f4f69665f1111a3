"""Causes on the way to the DSP: FastRPC, stub, device nodes, processors, sessions, process domains, memory."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from htppower.backends.qnn.library import PACKAGE
from htppower.tools.doctor.answers import LINK_FAILS
from htppower.tools.doctor.causes import Cause, Evidence, never
from htppower.tools.doctor.fastrpc import FASTRPC
from htppower.tools.doctor.machine import HEAP
from htppower.tools.report.words import sentence
from htppower.tools.review.explain.fastrpc_codes import Mend
from htppower.tools.review.explain.log_texts import LogText
from htppower.votes.native_codes import DEVICE_ACCESS_DENIED, DEVICE_INVALID_CONFIG

if TYPE_CHECKING:
    from htppower.tools.doctor.machine import Machine, Node, Processor

_NO_MEMORY, _NOT_PERMITTED, _HAS_ANOTHER_USER = 1002, 1005, 1009
# The packages of FastRPC. Ubuntu has the second kind in a PPA of the vendor up to this version.
_DEBIAN = "libfastrpc1 libfastrpc-dev fastrpc-support"
_UBUNTU_PPA = "qcom-fastrpc1 qcom-fastrpc-dev"
_FIRST_UBUNTU_WITH_DEBIANS = (26, 10)
_RULES = "/etc/udev/rules.d/60-fastrpc.rules"
_GROUP = "fastrpc"


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
        return (f"sudo apt install --only-upgrade {machine.fastrpc.package or packages}",)
    ppa = ("sudo apt-add-repository -y ppa:ubuntu-qcom-iot/qcom-ppa",) if packages == _UBUNTU_PPA else ()
    return (*ppa, f"sudo apt install {packages}")


def _says_no_fastrpc(evidence: Evidence) -> str:
    machine = evidence.machine
    if machine.system == "android":
        name = f'<uses-native-library android:name="{FASTRPC}" android:required="false"/>'
        return f"FastRPC ({FASTRPC}) is not found. An app names it in its manifest: {name}."
    container = " Install it in the image of the container." if machine.container else ""
    return f"FastRPC ({FASTRPC}), through which the library reaches the DSP, is not installed.{container}"


def _lines_for_link(evidence: Evidence) -> tuple[str, ...]:
    version = min(evidence.machine.fastrpc.libraries)
    return (f"sudo ln -s {Path(version).name} {Path(version).parent.as_posix()}/{FASTRPC}",)


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
        return ("pip install --force-reinstall onnxruntime-qnn",)
    return (f"cp /FOLDER/OF/THE/RELEASE/{_missing_file(evidence)} {shlex.quote(str(folder))}/",)


def _closed_nodes(machine: Machine) -> tuple[Node, ...]:
    """Return the nodes of the NPU if this process may open none of them."""
    nodes = machine.npu_nodes
    return () if any(node.may_open for node in nodes) else nodes


def _is_board(machine: Machine) -> bool:
    """Return whether the machine has the NPU of a Linux board or a phone."""
    return machine.soc_number is not None or bool(machine.nodes or machine.processors or machine.fastrpc.libraries)


def _nodes_said(evidence: Evidence) -> bool:
    return evidence.of_opening and (evidence.mend is Mend.NODE or evidence.code == _NOT_PERMITTED)


def _nodes_seen(evidence: Evidence) -> bool:
    machine = evidence.machine
    lacks = not machine.npu_nodes and _is_board(machine)
    return _not_opened(evidence) and (lacks or bool(_closed_nodes(machine)))


def _says_nodes(evidence: Evidence) -> str:
    machine = evidence.machine
    if not machine.npu_nodes:
        where = (
            "the container gets none of the host's device nodes" if machine.container else "the kernel has no driver"
        )
        return f"{evidence.fastrpc}There is no device node of the NPU, such as /dev/fastrpc-cdsp: {where} for it."
    node = (_closed_nodes(machine) or machine.npu_nodes)[0]
    return f"{evidence.fastrpc}{_says_closed(machine, node)}"


def _says_closed(machine: Machine, node: Node) -> str:
    if node.may_open:
        return f"This process may open {node.path}, so the policy of the system (SELinux, a sandbox) may refuse it."
    whose = f"its group is {node.group}, its mode {node.mode}"
    if node.joined:
        return f"{machine.user} is in the group {node.group} of {node.path} since the last login: log in again."
    return f"{machine.user} may not open {node.path}: {whose}."


def _lines_for_nodes(evidence: Evidence) -> tuple[str, ...]:
    machine = evidence.machine
    if not machine.npu_nodes:
        return _lines_for_container(machine) if machine.container else ("sudo modprobe fastrpc",)
    return _lines_for_node(machine, (_closed_nodes(machine) or machine.npu_nodes)[0])


def _lines_for_container(machine: Machine) -> tuple[str, ...]:
    mounted = "-v /sys/devices/soc0:/sys/devices/soc0:ro"
    return (f"{machine.engine} run --device /dev/fastrpc-cdsp --device {HEAP} {mounted} IMAGE",)


def _lines_for_node(machine: Machine, node: Node) -> tuple[str, ...]:
    if node.may_open:
        return ("sudo dmesg | grep -i -e fastrpc -e avc",)
    if node.joined:
        return (f"newgrp {node.group}",)
    if machine.container:
        return (f"{machine.engine} run --device {node.path} --group-add {node.gid} IMAGE",)
    if machine.system == "android":
        return (f"adb shell ls -lZ {node.path}",)
    if node.group_reads and node.gid:
        return (f"sudo usermod -aG {node.group} {machine.user}",)
    pattern = "fastrpc-*|adsprpc-smd*|system"
    return (
        f"sudo groupadd -f {_GROUP}",
        f"""echo 'KERNEL=="{pattern}", GROUP="{_GROUP}", MODE="0660"' | sudo tee {_RULES}""",
        "sudo udevadm control --reload && sudo udevadm trigger",
        f"sudo usermod -aG {_GROUP} {machine.user}",
    )


def _stopped(machine: Machine) -> Processor | None:
    return next((each for each in machine.processors if each.of_npu and each.state not in ("running", "unknown")), None)


def _dsp_said(evidence: Evidence) -> bool:
    if evidence.of_opening:
        return evidence.mend is Mend.DSP_DOWN
    return evidence.code in LINK_FAILS


def _dsp_seen(evidence: Evidence) -> bool:
    return _not_opened(evidence) and _stopped(evidence.machine) is not None


def _says_dsp(evidence: Evidence) -> str:
    stopped = _stopped(evidence.machine)
    if stopped is not None:
        return f"{evidence.fastrpc}The DSP of the NPU ({stopped.name}) is {stopped.state}."
    return f"{evidence.fastrpc}The DSP does not answer: it restarts, or is down."


def _lines_for_dsp(evidence: Evidence) -> tuple[str, ...]:
    stopped = _stopped(evidence.machine)
    if stopped is None:
        return ("grep . /sys/class/remoteproc/*/name /sys/class/remoteproc/*/state",)
    return (f"echo start | sudo tee {stopped.path}/state",)


def _lines_for_users(evidence: Evidence) -> tuple[str, ...]:
    nodes = " ".join(node.path for node in evidence.machine.npu_nodes) or "/dev/fastrpc-cdsp"
    return (f"sudo fuser -v {nodes}",)


def _unsigned_refused(evidence: Evidence) -> bool:
    """Return whether no open was tried: the log has no code of FastRPC, though all that an open needs is there."""
    machine = evidence.machine
    if not _not_opened(evidence) or evidence.log.fastrpc_codes or evidence.soc_model is not None:
        return False
    if evidence.log.message(LogText.UNSIGNED_REFUSED, error=True) is not None:
        return True
    can_open = any(node.may_open for node in machine.npu_nodes)
    loads = not _missing_file(evidence) and not _symbol(evidence) and bool(machine.fastrpc.libraries)
    return can_open and loads and not machine.fastrpc.lacks_link and _stopped(machine) is None


def _says_memory(evidence: Evidence) -> str:
    heap = evidence.machine.heap
    says = f"{evidence.fastrpc}The library gets no queue to the DSP, or no memory that it can share with it"
    if heap is None and _is_board(evidence.machine):
        return f"{says}: {HEAP} is not there."
    if heap is not None and not heap.may_open:
        return f"{says}. {_says_closed(evidence.machine, heap)}"
    return f"{says}. The kernel's log may say why."


def _lines_for_memory(evidence: Evidence) -> tuple[str, ...]:
    machine = evidence.machine
    if machine.heap is None and machine.container:
        return _lines_for_container(machine)
    if machine.heap is not None and not machine.heap.may_open:
        return _lines_for_node(machine, machine.heap)
    return ("sudo dmesg | grep -i fastrpc",)


LINK_CAUSES = (
    Cause(
        "fastrpc_link_missing",
        lambda evidence: (
            _not_opened(evidence) and evidence.machine.fastrpc.lacks_link and not _stub_is_missing(evidence)
        ),
        never,
        lambda _: f"FastRPC is installed without its development link: {FASTRPC}.1 is there, {FASTRPC} is not.",
        _lines_for_link,
    ),
    Cause(
        "fastrpc_missing",
        lambda evidence: _not_opened(evidence) and _missing_file(evidence).startswith(FASTRPC),
        lambda evidence: (
            _not_opened(evidence) and not evidence.machine.fastrpc.libraries and _is_board(evidence.machine)
        ),
        _says_no_fastrpc,
        lambda evidence: _install(evidence.machine),
    ),
    Cause(
        "fastrpc_symbol_missing",
        lambda evidence: _not_opened(evidence) and bool(_symbol(evidence)),
        never,
        _says_symbol,
        lambda evidence: _install(evidence.machine, only_upgrade=True),
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
    Cause("device_node", _nodes_said, _nodes_seen, _says_nodes, _lines_for_nodes),
    Cause("dsp_down", _dsp_said, _dsp_seen, _says_dsp, _lines_for_dsp),
    Cause(
        "no_session",
        lambda evidence: evidence.of_opening and evidence.mend is Mend.USERS,
        never,
        lambda evidence: f"{evidence.fastrpc}All sessions of the DSP are in use: end one of its users.",
        _lines_for_users,
    ),
    Cause(
        "skel_in_use",
        lambda evidence: evidence.code == _HAS_ANOTHER_USER,
        never,
        lambda _: "The skel, the DSP's half of the library, has another user and can't be shared: end that user.",
        _lines_for_users,
    ),
    Cause(
        "device_busy",
        lambda evidence: evidence.code == DEVICE_ACCESS_DENIED,
        never,
        lambda _: "The device is busy, or banned for this process: end its other users.",
        _lines_for_users,
    ),
    Cause(
        "no_shared_memory",
        lambda evidence: evidence.code == _NO_MEMORY or (evidence.of_opening and evidence.mend is Mend.MEMORY),
        never,
        _says_memory,
        _lines_for_memory,
    ),
    Cause(
        "fastrpc_failed",
        lambda evidence: evidence.of_opening and evidence.mend in (Mend.LOG, Mend.RETRY, Mend.UPDATE),
        never,
        lambda evidence: f"{evidence.fastrpc}{sentence(evidence.mend.value if evidence.mend else '')}.",
        lambda _: ("sudo dmesg | grep -i fastrpc",),
    ),
    Cause(
        "unsigned_refused",
        _unsigned_refused,
        never,
        lambda _: (
            "The DSP, or its driver, refuses this process an unsigned process domain: FastRPC has reported no failed "
            "open. The kernel's log may say why; new firmware or a newer kernel may allow it."
        ),
        lambda _: ("sudo dmesg | grep -i fastrpc",),
    ),
)
