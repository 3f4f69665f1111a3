"""Causes in the device nodes: of the NPU, and of the memory that the library shares with the DSP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.doctor.causes import Cause, Evidence, on_linux
from htppower.tools.doctor.containers import run_lines
from htppower.tools.doctor.machine import HEAP
from htppower.tools.review.explain.fastrpc_codes import Mend
from htppower.votes.native_codes import DEVICE_INVALID_CONFIG

if TYPE_CHECKING:
    from htppower.tools.doctor.machine import Machine, Node

_NO_MEMORY, _NOT_PERMITTED = 1002, 1005
_RULES = "/etc/udev/rules.d/60-fastrpc.rules"
_GROUP = "fastrpc"


def _closed_nodes(machine: Machine) -> tuple[Node, ...]:
    """Return the nodes of the NPU if this process may open none of them."""
    nodes = machine.npu_nodes
    return () if any(node.may_open for node in nodes) else nodes


def _nodes_said(evidence: Evidence) -> bool:
    # The nodes are made when the DSP starts: without them and with a stopped DSP, the DSP is the cause.
    if not evidence.machine.npu_nodes and evidence.machine.stopped_dsp is not None:
        return False
    return evidence.of_opening and (evidence.mend is Mend.NODE or evidence.code == _NOT_PERMITTED)


def _nodes_seen(evidence: Evidence) -> bool:
    machine = evidence.machine
    # An app on Android may not list /dev.
    lacks = not machine.npu_nodes and machine.is_board and machine.system == "linux" and machine.stopped_dsp is None
    return evidence.code == DEVICE_INVALID_CONFIG and (lacks or bool(_closed_nodes(machine)))


def _says_nodes(evidence: Evidence) -> str:
    machine = evidence.machine
    if not machine.npu_nodes and machine.system != "linux":
        return f"{evidence.fastrpc}This process may not use the NPU, or the driver of the device does not let it."
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
    if node.joined:
        return f"{machine.user} is in the group {node.group} of {node.path} since the last login: log in again."
    join = "Join its group" if node.group_reads and node.gid else "Give a group access, join it"
    then = "" if machine.container else f" {join}, then log in again."
    whose = f"its group is {node.group}, its mode {node.mode}"
    return f"The user {machine.user} may not open {node.path}: {whose}.{then}"


def _lines_for_nodes(evidence: Evidence) -> tuple[str, ...]:
    machine = evidence.machine
    nodes = _closed_nodes(machine) or machine.npu_nodes
    if machine.system != "linux":
        return (f"adb shell ls -lZ {nodes[0].path}",) if machine.system == "android" and nodes else ()
    if not nodes:
        return run_lines(machine) if machine.container else ("sudo modprobe fastrpc",)
    return _lines_for_node(machine, nodes[0])


def _lines_for_node(machine: Machine, node: Node) -> tuple[str, ...]:
    if node.may_open:
        return ("sudo dmesg | grep -i -e fastrpc -e avc",)
    if node.joined:
        return (f"newgrp {node.group}",)
    if machine.container:
        return run_lines(machine)
    if node.group_reads and node.gid:
        return (f"sudo usermod -aG {node.group} {machine.user}",)
    pattern = "fastrpc-*|adsprpc-smd*|accel*|system"
    return (
        f"sudo groupadd -f {_GROUP}",
        f"""echo 'KERNEL=="{pattern}", GROUP="{_GROUP}", MODE="0660"' | sudo tee {_RULES}""",
        "sudo udevadm control --reload && sudo udevadm trigger",
        f"sudo usermod -aG {_GROUP} {machine.user}",
    )


def _memory_seen(evidence: Evidence) -> bool:
    """Return whether the node of the memory is missing or closed, though the nodes of the NPU are not."""
    machine = evidence.machine
    opens = any(node.may_open for node in machine.npu_nodes)
    return evidence.code == DEVICE_INVALID_CONFIG and opens and (machine.heap is None or not machine.heap.may_open)


def _says_memory(evidence: Evidence) -> str:
    heap = evidence.machine.heap
    says = f"{evidence.fastrpc}The library gets no queue to the DSP, or no memory that it can share with it"
    if heap is None and evidence.machine.is_board:
        return f"{says}: {HEAP} is not there."
    if heap is not None and not heap.may_open:
        return f"{says}. {_says_closed(evidence.machine, heap)}"
    return f"{says}. The kernel's log may say why."


def _lines_for_memory(evidence: Evidence) -> tuple[str, ...]:
    machine = evidence.machine
    if machine.heap is None and machine.container:
        return run_lines(machine)
    if machine.heap is not None and not machine.heap.may_open:
        return _lines_for_node(machine, machine.heap)
    return ("sudo dmesg | grep -i fastrpc",)


NODE_CAUSES = (
    Cause("device_node", _nodes_said, _nodes_seen, _says_nodes, _lines_for_nodes),
    Cause(
        "no_shared_memory",
        lambda evidence: evidence.code == _NO_MEMORY or (evidence.of_opening and evidence.mend is Mend.MEMORY),
        _memory_seen,
        _says_memory,
        on_linux(_lines_for_memory),
    ),
)
